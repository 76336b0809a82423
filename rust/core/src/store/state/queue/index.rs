//! The index of the queue: a row of the store for each chunk.

use super::chunk::{Cell, Chunk};
use crate::store::state::StateError;

/// The rows of the index, as far as batches are applied.
pub(in crate::store::state) trait Index {
    /// Calls `visit` with each row from `from` on, in order, until it returns false.
    fn rows(
        &self,
        from: &[u8],
        visit: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), StateError>;
}

fn damaged() -> StateError {
    StateError::Format("a row of the queue's index is damaged".to_owned())
}

/// The chunks of the first cell whose key is `from` or later and before `end`.
pub(super) fn first_cell(
    index: &dyn Index,
    from: &[u8],
    is_end: &dyn Fn(&Cell) -> bool,
) -> Result<Vec<Chunk>, StateError> {
    let mut chunks: Vec<Chunk> = Vec::new();
    let mut wrong = false;
    index.rows(from, &mut |key, value| {
        let Some(chunk) = Chunk::of_row(key, value) else {
            wrong = true;
            return false;
        };
        let same = chunks.first().is_none_or(|first| first.cell == chunk.cell);
        if !same || is_end(&chunk.cell) {
            return false;
        }
        chunks.push(chunk);
        true
    })?;
    if wrong { Err(damaged()) } else { Ok(chunks) }
}

/// The chunks of a cell.
pub(super) fn chunks_of(index: &dyn Index, cell: &Cell) -> Result<Vec<Chunk>, StateError> {
    first_cell(index, cell, &|found| found != cell)
}

/// Gives every chunk to `visit`.
pub(super) fn all(index: &dyn Index, mut visit: impl FnMut(&Chunk)) -> Result<(), StateError> {
    let mut wrong = false;
    index.rows(&[], &mut |key, value| {
        match Chunk::of_row(key, value) {
            Some(chunk) => visit(&chunk),
            None => wrong = true,
        }
        !wrong
    })?;
    if wrong { Err(damaged()) } else { Ok(()) }
}
