//! Reading the queue, while batches are applied.
//!
//! The rows of a cell are read at one moment and its blocks after it. When a segment has gone between
//! the two, what was live in it has moved: the rows are read again.

use super::Visit;
use super::block::Block;
use super::chunk::{Cell, Chunk, key_of, place_of};
use super::files::{Files, Unread};
use super::index::{Index, behind, chunks_of, first_cell};
use super::places::Places;
use crate::store::state::StateError;

/// How often a cell may move while it is read.
const PATIENCE: usize = 8;

/// The record of a key that is kept in segments.
pub(super) fn get(
    files: &Files,
    index: &dyn Index,
    key: &[u8],
) -> Result<Option<Vec<u8>>, StateError> {
    let Some((cell, place)) = place_of(key) else {
        return Ok(None);
    };
    let mut reader = CellReader::new(files, index, chunks_of(index, &cell)?);
    Ok(reader.get(place)?.map(<[u8]>::to_vec))
}

/// Whether there is one.
pub(super) fn contains(index: &dyn Index, key: &[u8]) -> Result<bool, StateError> {
    let Some((cell, place)) = place_of(key) else {
        return Ok(false);
    };
    let chunks = chunks_of(index, &cell)?;
    Ok(chunks.iter().any(|chunk| chunk.live.has(place)))
}

/// Calls `visit` with each queued record whose key is in `from..to` (`to` empty: no end), in order.
pub(super) fn scan(
    files: &Files,
    index: &dyn Index,
    from: &[u8],
    to: &[u8],
    visit: &mut Visit<'_>,
) -> Result<(), StateError> {
    let mut next = from[..from.len().min(size_of::<Cell>())].to_vec();
    // Where the rows of the last cell end that may have something.
    let end = match to.split_at_checked(size_of::<Cell>()) {
        Some((cell, rest)) if !rest.is_empty() => behind(cell),
        _ => to.to_vec(),
    };
    loop {
        let chunks = first_cell(index, &next, &end)?;
        let Some(cell) = chunks.first().map(|chunk| chunk.cell) else {
            return Ok(());
        };
        let mut reader = CellReader::new(files, index, chunks);
        let mut at = Some(0);
        while let Some(place) = at.and_then(|at| reader.live.next(at)) {
            at = place.checked_add(1);
            let key = key_of(&cell, place);
            if key.as_slice() < from {
                continue;
            }
            if !to.is_empty() && key.as_slice() >= to {
                return Ok(());
            }
            if let Some(record) = reader.get(place)?
                && !visit(&key, record)?
            {
                return Ok(());
            }
        }
        next = behind(&cell);
    }
}

/// The chunks of a cell; blocks are read when something of them is asked for.
struct CellReader<'a> {
    files: &'a Files,
    index: &'a dyn Index,
    chunks: Vec<(Chunk, Option<Block>)>,
    live: Places,
}

impl<'a> CellReader<'a> {
    fn new(files: &'a Files, index: &'a dyn Index, chunks: Vec<Chunk>) -> CellReader<'a> {
        let live = chunks
            .iter()
            .fold(Places::default(), |live, chunk| live.with(&chunk.live));
        CellReader {
            files,
            index,
            chunks: chunks.into_iter().map(|chunk| (chunk, None)).collect(),
            live,
        }
    }

    /// The record at a place; none: it has gone from the queue since the rows were read.
    fn get(&mut self, place: u8) -> Result<Option<&[u8]>, StateError> {
        for _ in 0..PATIENCE {
            let holds = |(chunk, _): &(Chunk, Option<Block>)| chunk.live.has(place);
            let Some(at) = self.chunks.iter().position(holds) else {
                return Ok(None);
            };
            let (chunk, block) = &mut self.chunks[at];
            if block.is_none() {
                match self.files.read(chunk) {
                    Ok(read) => *block = Some(read),
                    Err(Unread::Error(error)) => return Err(error),
                    Err(Unread::Moved) => {
                        let moved = chunks_of(self.index, &chunk.cell)?;
                        if moved.contains(chunk) {
                            return Err(self.files.missing(chunk.segment));
                        }
                        self.chunks = moved.into_iter().map(|chunk| (chunk, None)).collect();
                        continue;
                    }
                }
            }
            // Asked for again, because the borrow of a found block would last for the whole loop.
            return Ok(self.chunks[at]
                .1
                .as_ref()
                .and_then(|block| block.get(place)));
        }
        Err(StateError::Store(
            "a part of the queue kept moving while it was read".to_owned(),
        ))
    }
}
