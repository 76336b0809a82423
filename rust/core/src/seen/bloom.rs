//! `bloom`: a filter of fixed size. Never lets a URL pass twice; holds back some fresh ones, and
//! the more the fuller it is. A new URL changes one small row of the store.

use super::filter::{Block, Filter};
use super::pending::Batches;
use super::{Candidate, Mark, Seen, SeenKind};
use crate::store::state::{Reads, Space, StateError, Writes};

/// Bits set per URL: best at 11 bits a URL, good from 8 to 20.
const PROBES: u32 = 8;

/// A filter kept in RAM and block by block in the store.
#[derive(Debug)]
pub struct Bloom {
    mark: Mark,
    filter: Filter,
    /// For each URL admitted: the block it changed and the bits that were new.
    batches: Batches<(usize, Block)>,
}

impl Bloom {
    pub(super) fn open(mark: Mark, bytes: usize, reads: &dyn Reads) -> Result<Bloom, StateError> {
        let mut filter = Filter::new(bytes, PROBES);
        let mut odd = 0usize;
        reads.scan(Space::Seen, &[], &[], &mut |key, value| {
            let index = key.try_into().map(u64::from_be_bytes);
            odd += usize::from(!index.is_ok_and(|index| filter.decode(index, value)));
            true
        })?;
        if odd > 0 {
            return Err(StateError::Format(format!(
                "{odd} rows are not blocks of the filter"
            )));
        }
        Ok(Bloom {
            mark,
            filter,
            batches: Batches::default(),
        })
    }
}

impl Seen for Bloom {
    fn kind(&self) -> SeenKind {
        SeenKind::Bloom
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
            let change = self.filter.insert(candidate.key);
            fresh.push(change.is_some());
            if let Some((index, bits)) = change {
                let row = (index as u64).to_be_bytes();
                writes.put(Space::Seen, row, self.filter.encoded(index));
                self.batches.add((index, bits));
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
        for (index, bits) in self.batches.take_all_back() {
            self.filter.take_back(index, &bits);
        }
    }

    fn ram_bytes(&self) -> u64 {
        (self.filter.bytes() + self.batches.bytes()) as u64
    }

    fn error_rate(&self) -> f64 {
        self.filter.error_rate()
    }
}
