//! The queue on disk: queued URLs in segments, an index over chunks of them.
//!
//! A queued URL is written once, read once, in the order of its host's queue, and forgotten. So its
//! record goes to the end of a file and is never moved by its neighbours' coming and going:
//!
//! ```text
//! DIR/queue/NNNNNNNN.seg   blocks, each the records of one cell that came with one batch
//! space `chunks`           a row for each block: where it is, and which of its places are queued
//! ```
//!
//! Takes the changes of [`Space::Queue`](super::Space) of a batch, gives look-ups and ordered scans;
//! to everybody else the space is a sorted map like the others. Keys of URLs that wait for a time are
//! rows of the store: they are few, and their order is not the order of their coming.
//!
//! Guarantees:
//!
//! * Atomic with the batch: blocks are written first, the rows that name them go with the batch. What
//!   a crash leaves in a segment beyond that is named by nobody. A new process writes to a new segment.
//! * Durable with the batch: a durable batch flushes the segments before its rows. Only such a batch moves
//!   blocks, so that no power cut finds a row that came to the device before its block. (Where no batch is
//!   durable, `store.fsync = "never"`, every batch may.)
//! * Disk is given back: a segment of which less than half is of use is read through, a piece with each
//!   durable batch, its live blocks are written anew, and it is removed after the next durable batch.
//! * RAM: a few numbers for each segment, and one file handle for each of the last 64 that were read.
//!
//! Why, and what else was measured: `docs/decisions/0026-the-queue-on-disk.md`.

mod block;
mod chunk;
mod collect;
mod draft;
mod files;
mod index;
mod places;
mod read;
mod segments;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chunk::{Cell, RowKey};
use draft::Draft;
use files::Files;
pub(super) use index::Index;
use places::Places;
use segments::Segments;

use super::{DiskSettings, Space, StateError, Write, Writes};

/// Whether a queue key is kept in segments, not as a row of the store.
pub(super) fn is_in_segments(key: &[u8]) -> bool {
    chunk::place_of(key).is_some()
}

/// The queue of a state that is open.
#[derive(Debug)]
pub(super) struct Queue {
    files: Files,
    segments: Mutex<Segments>,
}

/// Is called with a key and its record; false: no more are wanted.
pub(super) type Visit<'a> = dyn FnMut(&[u8], &[u8]) -> Result<bool, StateError> + 'a;

/// Changes of the index that must go with the batch.
pub(super) type Rows = Vec<(RowKey, Option<Vec<u8>>)>;

/// A batch's blocks are written; its rows must be applied, and then [`Prepared::applied`] be called.
pub(super) struct Prepared<'a> {
    segments: MutexGuard<'a, Segments>,
    files: &'a Files,
    live: Vec<(u32, i64)>,
    blocks: u64,
    applied: bool,
    pub rows: Rows,
}

impl Queue {
    /// Opens the segments in `dir`.
    pub fn open(
        dir: &Path,
        settings: &DiskSettings,
        index: &dyn Index,
    ) -> Result<Queue, StateError> {
        let files = Files::new(dir);
        let segments = Segments::open(&files, settings, index)?;
        Ok(Queue {
            files,
            segments: Mutex::new(segments),
        })
    }

    /// Writes the blocks of a batch, flushed if it is to be durable.
    pub fn prepare(
        &self,
        writes: &Writes,
        durable: bool,
        index: &dyn Index,
    ) -> Result<Prepared<'_>, StateError> {
        let mut segments = self.segments.lock().unwrap_or_else(PoisonError::into_inner);
        segments.count_again(&self.files, index)?;
        let (segment, start) = segments.end();
        let may_move = durable || !segments.flushed;
        let mut draft = Draft::new(index, &self.files, segment, start, may_move);
        for (cell, changes) in by_cell(writes) {
            draft.change(cell, &changes.puts(), &changes.removed())?;
        }
        if may_move {
            segments.collect(&self.files, index, &mut draft)?;
        }
        let Draft {
            blocks, rows, live, ..
        } = draft;
        segments.append(&self.files, &blocks)?;
        if durable {
            segments.flush(&self.files)?;
        }
        Ok(Prepared {
            segments,
            files: &self.files,
            live: live.into_iter().collect(),
            blocks: blocks.len() as u64,
            applied: false,
            rows,
        })
    }

    pub fn get(&self, index: &dyn Index, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        read::get(&self.files, index, key)
    }

    pub fn contains(&self, index: &dyn Index, key: &[u8]) -> Result<bool, StateError> {
        read::contains(index, key)
    }

    /// As [`Reads::scan`](super::Reads), of what is kept in segments.
    pub fn scan(
        &self,
        index: &dyn Index,
        from: &[u8],
        to: &[u8],
        visit: &mut Visit<'_>,
    ) -> Result<(), StateError> {
        read::scan(&self.files, index, from, to, visit)
    }

    /// Returns when the files of removed segments have gone.
    #[cfg(test)]
    pub fn wait_for_removal(&self) {
        let mut segments = self.segments.lock().unwrap_or_else(PoisonError::into_inner);
        segments.removal.wait();
    }

    /// Bytes of all segments.
    pub fn disk_bytes(&self) -> u64 {
        let segments = self.segments.lock().unwrap_or_else(PoisonError::into_inner);
        segments.disk_bytes()
    }
}

impl Prepared<'_> {
    /// The batch is applied, and with `durable` it will stay.
    pub fn applied(mut self, durable: bool) {
        self.applied = true;
        self.segments.applied(&self.live, self.blocks);
        if durable || !self.segments.flushed {
            self.segments.remove_obsolete(self.files);
        }
    }
}

impl Drop for Prepared<'_> {
    /// A batch that failed may be found applied when the store is opened anew, so its blocks must stay,
    /// and only the index knows what is live.
    fn drop(&mut self) {
        if !self.applied {
            self.segments.is_uncounted = true;
        }
    }
}

/// The last change of each place of a cell.
#[derive(Default)]
struct CellChanges<'a>(BTreeMap<u8, Option<&'a [u8]>>);

impl<'a> CellChanges<'a> {
    fn puts(&self) -> Vec<(u8, &'a [u8])> {
        let puts = self.0.iter();
        puts.filter_map(|(place, record)| Some((*place, (*record)?)))
            .collect()
    }

    fn removed(&self) -> Places {
        let removed = self.0.iter().filter(|(_, record)| record.is_none());
        removed.map(|(place, _)| *place).collect()
    }
}

/// A batch's changes of the queue, in the order of the keys: what a host's turn reads together is
/// written together.
fn by_cell(writes: &Writes) -> BTreeMap<Cell, CellChanges<'_>> {
    let mut cells: BTreeMap<Cell, CellChanges<'_>> = BTreeMap::new();
    for write in &writes.list {
        let (key, record) = match write {
            Write::Put {
                space: Space::Queue,
                key,
                value,
            } => (key, Some(value.as_slice())),
            Write::Remove {
                space: Space::Queue,
                key,
            } => (key, None),
            _ => continue,
        };
        if let Some((cell, place)) = chunk::place_of(key) {
            cells.entry(cell).or_default().0.insert(place, record);
        }
    }
    cells
}
