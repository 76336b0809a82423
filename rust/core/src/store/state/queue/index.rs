//! The index of the queue: a row of the store for each chunk.

use super::chunk::{Cell, Chunk};
use crate::store::state::StateError;

/// The rows of the index, as far as batches are applied.
pub(in crate::store::state) trait Index {
    /// Calls `visit` with each row in `from..to` (`to` empty: no end), in order, until it returns false: all of
    /// one moment, so that a batch is seen whole or not at all.
    fn rows(
        &self,
        from: &[u8],
        to: &[u8],
        visit: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), StateError>;
}

fn damaged() -> StateError {
    StateError::Format("a row of the queue's index is damaged".to_owned())
}

/// Behind the last row of a cell: row keys go on with eight bytes.
pub(super) fn behind(cell: &[u8]) -> Vec<u8> {
    [cell, &[0xff; 9]].concat()
}

/// The chunks of the first cell that has some with row keys in `from..to`. The end is the store's too: without it
/// a look-up would go through all rows that were removed behind the cell.
pub(super) fn first_cell(
    index: &dyn Index,
    from: &[u8],
    to: &[u8],
) -> Result<Vec<Chunk>, StateError> {
    let mut chunks: Vec<Chunk> = Vec::new();
    let mut wrong = false;
    index.rows(from, to, &mut |key, value| {
        let Some(chunk) = Chunk::of_row(key, value) else {
            wrong = true;
            return false;
        };
        if chunks.first().is_some_and(|first| first.cell != chunk.cell) {
            return false;
        }
        chunks.push(chunk);
        true
    })?;
    if wrong { Err(damaged()) } else { Ok(chunks) }
}

/// The chunks of a cell.
pub(super) fn chunks_of(index: &dyn Index, cell: &Cell) -> Result<Vec<Chunk>, StateError> {
    first_cell(index, cell, &behind(cell))
}

/// Gives every chunk to `visit`.
pub(super) fn all(index: &dyn Index, mut visit: impl FnMut(&Chunk)) -> Result<(), StateError> {
    let mut wrong = false;
    index.rows(&[], &[], &mut |key, value| {
        match Chunk::of_row(key, value) {
            Some(chunk) => visit(&chunk),
            None => wrong = true,
        }
        !wrong
    })?;
    if wrong { Err(damaged()) } else { Ok(()) }
}
