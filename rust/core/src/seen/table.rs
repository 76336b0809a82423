//! `table`: the URLs themselves as keys of a plain table of the store, no table in front. The
//! simplest thing that works, and the yardstick for `exact`: compares texts, so not even a clash
//! of hashes can hold a URL back.

use std::collections::HashSet;

use super::pending::Batches;
use super::{Candidate, Mark, Seen, SeenKind};
use crate::store::state::{MAX_KEY, Reads, Space, StateError, Writes};

/// One look-up in the store per URL.
#[derive(Debug)]
pub struct Table {
    mark: Mark,
    pending: HashSet<Vec<u8>>,
    batches: Batches<Vec<u8>>,
}

impl Table {
    pub(super) fn new(mark: Mark) -> Table {
        Table {
            mark,
            pending: HashSet::new(),
            batches: Batches::default(),
        }
    }

    /// The URL, or for one that is too long for the store its beginning and its key.
    fn row(candidate: &Candidate<'_>) -> Vec<u8> {
        let url = candidate.url.as_bytes();
        if url.is_empty() {
            return candidate.key.0.to_vec();
        }
        if url.len() < MAX_KEY {
            return url.to_vec();
        }
        let mut row = url[..MAX_KEY - 16].to_vec();
        row.extend_from_slice(&candidate.key.0);
        row
    }
}

impl Seen for Table {
    fn kind(&self) -> SeenKind {
        SeenKind::Table
    }

    fn admit(
        &mut self,
        urls: &[Candidate<'_>],
        reads: &dyn Reads,
        writes: &mut Writes,
        fresh: &mut Vec<bool>,
    ) -> Result<(), StateError> {
        let rows: Vec<Vec<u8>> = urls.iter().map(Table::row).collect();
        let mut known = Vec::new();
        let mut keys = rows.iter().map(Vec::as_slice);
        reads.contains_each(Space::Seen, &mut keys, &mut known)?;
        fresh.clear();
        for (row, known) in rows.into_iter().zip(known) {
            let new = !known && self.pending.insert(row.clone());
            fresh.push(new);
            if new {
                writes.put(Space::Seen, row.clone(), []);
                self.batches.add(row);
            }
        }
        Ok(())
    }

    fn seal(&mut self, writes: &mut Writes) -> Result<u64, StateError> {
        self.mark.write(writes);
        Ok(self.batches.seal())
    }

    fn applied(&mut self, batch: u64, _durable: bool) {
        for (_, rows) in self.batches.take_applied(batch) {
            for row in rows {
                self.pending.remove(&row);
            }
        }
    }

    fn forget_pending(&mut self) {
        self.batches.take_all_back();
        self.pending.clear();
    }

    fn ram_bytes(&self) -> u64 {
        let texts: usize = self.pending.iter().map(|row| 2 * row.capacity()).sum();
        (texts + self.pending.capacity() * (size_of::<Vec<u8>>() + 1) + self.batches.bytes()) as u64
    }
}
