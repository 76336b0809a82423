//! `memory`: a hash set of keys. RAM grows with the URLs; the store only keeps the keys for the
//! next start.

use super::pending::{Batches, KeySet};
use super::{Candidate, Mark, Seen, SeenKind, UrlKey};
use crate::store::state::{Reads, Space, StateError, Writes};

/// The fastest kind, for crawls whose URLs fit in RAM.
#[derive(Debug)]
pub struct Memory {
    mark: Mark,
    keys: KeySet,
    batches: Batches<UrlKey>,
}

impl Memory {
    pub(super) fn open(mark: Mark, reads: &dyn Reads) -> Result<Memory, StateError> {
        let mut keys = KeySet::default();
        let mut odd = 0usize;
        reads.scan(Space::Seen, &[], &[], &mut |key, _| {
            match key.try_into() {
                Ok(key) => {
                    keys.insert(UrlKey(key));
                }
                Err(_) => odd += 1,
            }
            true
        })?;
        if odd > 0 {
            return Err(StateError::Format(format!(
                "{odd} of the remembered URLs are not keys of 16 bytes"
            )));
        }
        Ok(Memory {
            mark,
            keys,
            batches: Batches::default(),
        })
    }
}

impl Seen for Memory {
    fn kind(&self) -> SeenKind {
        SeenKind::Memory
    }

    fn admit(
        &mut self,
        urls: &[Candidate<'_>],
        _reads: &dyn Reads,
        writes: &mut Writes,
        fresh: &mut Vec<bool>,
    ) -> Result<(), StateError> {
        fresh.clear();
        for candidate in urls {
            let new = self.keys.insert(candidate.key);
            fresh.push(new);
            if new {
                self.batches.add(candidate.key);
                writes.put(Space::Seen, candidate.key.0, []);
            }
        }
        Ok(())
    }

    fn seal(&mut self, writes: &mut Writes) -> Result<u64, StateError> {
        self.mark.write(writes);
        Ok(self.batches.seal())
    }

    fn applied(&mut self, batch: u64, _durable: bool) {
        self.batches.take_applied(batch);
    }

    fn forget_pending(&mut self) {
        for key in self.batches.take_all_back() {
            self.keys.remove(&key);
        }
    }

    fn keys(
        &self,
        first: UrlKey,
        last: UrlKey,
        _reads: &dyn Reads,
        visit: &mut dyn FnMut(UrlKey),
    ) -> Result<(), StateError> {
        let range = first..=last;
        self.keys
            .iter()
            .filter(|key| range.contains(key))
            .for_each(|key| visit(*key));
        Ok(())
    }

    fn ram_bytes(&self) -> u64 {
        (self.keys.capacity() * (size_of::<UrlKey>() + 1) + self.batches.bytes()) as u64
    }
}
