//! `exact`: keys in the store, a bounded table of popular keys in front of it.

use super::cache::Cache;
use super::pending::{Batches, KeySet};
use super::{Candidate, Kind, Mark, Seen, UrlKey};
use crate::state::{Reads, Space, StateError, Writes};

/// The default kind: never wrong, RAM bounded by the table and the batches under way.
#[derive(Debug)]
pub struct Exact {
    mark: Mark,
    cache: Cache,
    pending: KeySet,
    batches: Batches<UrlKey>,
    /// Candidates of a call that only the store can answer, and its answers; kept for their room.
    asked: Vec<(UrlKey, usize)>,
    keys: Vec<UrlKey>,
    known: Vec<bool>,
}

impl Exact {
    pub(super) fn new(mark: Mark, cache_bytes: usize) -> Exact {
        Exact {
            mark,
            cache: Cache::new(cache_bytes),
            pending: KeySet::default(),
            batches: Batches::default(),
            asked: Vec::new(),
            keys: Vec::new(),
            known: Vec::new(),
        }
    }
}

impl Seen for Exact {
    fn kind(&self) -> Kind {
        Kind::Exact
    }

    fn admit(
        &mut self,
        urls: &[Candidate<'_>],
        reads: &dyn Reads,
        writes: &mut Writes,
        fresh: &mut Vec<bool>,
    ) -> Result<(), StateError> {
        fresh.clear();
        fresh.resize(urls.len(), false);
        self.asked.clear();
        for (at, candidate) in urls.iter().enumerate() {
            if !self.cache.touch(candidate.key) && !self.pending.contains(&candidate.key) {
                self.asked.push((candidate.key, at));
            }
        }
        if self.asked.is_empty() {
            return Ok(());
        }
        // In the order of the keys: the links of a page are neighbours, and equal keys meet, the
        // first of the page in front.
        self.asked.sort_unstable();
        self.keys.clear();
        self.keys.extend(self.asked.iter().map(|(key, _)| *key));
        self.keys.dedup();
        reads.contains_each(
            Space::Seen,
            &mut self.keys.iter().map(|key| &key.0[..]),
            &mut self.known,
        )?;
        let mut asked = self.asked.iter().peekable();
        for (key, known) in self.keys.iter().zip(&self.known) {
            let first = asked.next();
            while asked.next_if(|(other, _)| other == key).is_some() {}
            if *known {
                self.cache.add(*key);
            } else if let Some((_, at)) = first {
                fresh[*at] = true;
                self.pending.insert(*key);
                self.batches.add(*key);
                writes.put(Space::Seen, key.0, []);
            }
        }
        self.mark.write(writes);
        Ok(())
    }

    fn seal(&mut self) -> u64 {
        self.mark.next_batch();
        self.batches.seal()
    }

    fn applied(&mut self, batch: u64) {
        for key in self.batches.take_applied(batch) {
            self.pending.remove(&key);
            self.cache.add(key);
        }
    }

    fn forget_pending(&mut self) {
        self.mark.next_batch();
        self.batches.take_all_back();
        self.pending.clear();
    }

    fn ram_bytes(&self) -> u64 {
        let pending = self.pending.capacity() * (size_of::<UrlKey>() + 1);
        (self.cache.bytes() + pending + self.batches.bytes()) as u64
    }
}
