//! URLs that a rule dropped out of the queue. `seen` knows them, so when the rule is gone it is this list
//! that lets them in again, with the next link to them and once.
//!
//! A row for each URL in the space `meta`, which goes with the partition of its host. In memory are their
//! number, so that a crawl without any pays nothing, and what is not applied yet.

use std::collections::HashMap;

use crate::store::state::{Reads, Space, StateError, Writes};

/// Rows of the space `meta`: this, and the URL's key.
pub(super) const PREFIX: &[u8] = b"dropped/";
const PREFIX_END: &[u8] = b"dropped0";

type Key = [u8; 16];

#[derive(Debug, Default)]
pub(super) struct QueueDrops {
    count: u64,
    /// Changes in batches that are not applied yet: the batch, and whether the URL is dropped now.
    recent: HashMap<Key, (u64, bool)>,
}

impl QueueDrops {
    pub fn open(reads: &dyn Reads) -> Result<QueueDrops, StateError> {
        let mut count = 0;
        reads.scan(Space::Meta, PREFIX, PREFIX_END, &mut |_, _| {
            count += 1;
            true
        })?;
        Ok(QueueDrops {
            count,
            recent: HashMap::new(),
        })
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// A URL left the queue, in the batch of that number.
    pub fn add(&mut self, key: Key, batch: u64, writes: &mut Writes) {
        writes.put(Space::Meta, row_key(key), Vec::new());
        self.recent.insert(key, (batch, true));
        self.count += 1;
    }

    /// Takes a URL off the list; true: it was there.
    pub fn take(
        &mut self,
        key: Key,
        batch: u64,
        reads: &dyn Reads,
        writes: &mut Writes,
    ) -> Result<bool, StateError> {
        let is_dropped = match self.recent.get(&key) {
            Some((_, is_dropped)) => *is_dropped,
            None => reads.get(Space::Meta, &row_key(key))?.is_some(),
        };
        if is_dropped {
            writes.remove(Space::Meta, row_key(key));
            self.recent.insert(key, (batch, false));
            self.count = self.count.saturating_sub(1);
        }
        Ok(is_dropped)
    }

    /// The batches up to this number are applied.
    pub fn applied(&mut self, batch: u64) {
        self.recent.retain(|_, (of, _)| *of > batch);
    }
}

fn row_key(key: Key) -> Vec<u8> {
    [PREFIX, &key].concat()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::store::state::State;
    use crate::store::state::memory::MemoryState;

    #[test]
    fn a_url_is_let_in_once_whatever_is_applied_when() {
        let state = MemoryState::default();
        let mut drops = QueueDrops::open(&state).unwrap();
        let mut writes = Writes::default();
        let key = [7; 16];
        assert!(drops.is_empty());
        assert!(!drops.take(key, 1, &state, &mut writes).unwrap());
        drops.add(key, 1, &mut writes);
        state.apply(writes, false).unwrap();
        drops.applied(1);
        // A process that begins now knows it too.
        assert!(!QueueDrops::open(&state).unwrap().is_empty());
        let mut writes = Writes::default();
        assert!(drops.take(key, 2, &state, &mut writes).unwrap());
        // The store still has the row, which is in a batch under way.
        assert!(!drops.take(key, 2, &state, &mut writes).unwrap());
        assert!(drops.is_empty());
        drops.add(key, 3, &mut writes);
        assert!(drops.take(key, 3, &state, &mut writes).unwrap());
        state.apply(writes, false).unwrap();
        drops.applied(3);
        assert!(QueueDrops::open(&state).unwrap().is_empty());
    }
}
