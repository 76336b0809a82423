//! Changes of the queue that the store does not show yet, so that RAM and store read as one.
//!
//! Filled by every change of the queue; emptied when the batch with that change has been applied;
//! bound: the changes of the batches under way (and one mark per lease); when a batch cannot be
//! applied, the caller stops taking, so it does not grow.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::queued::Place;
use crate::store::state::{Reads, Space, StateError};

#[derive(Clone, Debug)]
enum Change {
    /// Queued there, with this record.
    Put(Arc<[u8]>),
    /// Not queued there.
    Gone,
    /// Queued there, but leased: not to be given again.
    Leased,
}

/// Queued URLs, in order: their places and records.
pub(super) type Found = Vec<(Place, Arc<[u8]>)>;

#[derive(Debug, Default)]
pub(super) struct Overlay {
    changes: BTreeMap<(u64, Place), (u64, Change)>,
    order: VecDeque<(u64, u64, Place)>,
    batch: u64,
}

impl Overlay {
    fn set(&mut self, host: u64, place: Place, change: Change) {
        self.changes.insert((host, place), (self.batch, change));
        self.order.push_back((self.batch, host, place));
    }

    pub fn put(&mut self, host: u64, place: Place, record: Arc<[u8]>) {
        self.set(host, place, Change::Put(record));
    }

    pub fn gone(&mut self, host: u64, place: Place) {
        self.set(host, place, Change::Gone);
    }

    pub fn leased(&mut self, host: u64, place: Place) {
        // Belongs to no batch: it ends with the lease.
        self.changes
            .insert((host, place), (u64::MAX, Change::Leased));
    }

    /// The number of the current batch.
    pub fn batch(&self) -> u64 {
        self.batch
    }

    /// Ends the current batch and gives its number.
    pub fn seal(&mut self) -> u64 {
        self.batch += 1;
        self.batch - 1
    }

    /// The store shows all changes up to this batch.
    pub fn applied(&mut self, batch: u64) {
        while let Some(&(of, host, place)) = self.order.front() {
            if of > batch {
                break;
            }
            self.order.pop_front();
            if let Entry::Occupied(entry) = self.changes.entry((host, place))
                && entry.get().0 <= batch
            {
                entry.remove();
            }
        }
    }

    pub fn len(&self) -> usize {
        self.changes.len()
    }

    /// Forgets all changes of a host.
    pub fn forget(&mut self, host: u64) {
        let mut rest = self.changes.split_off(&(host, Place::FIRST));
        if let Some(next) = host.checked_add(1) {
            let mut after = rest.split_off(&(next, Place::FIRST));
            self.changes.append(&mut after);
        }
    }

    /// The record at a place, if it is queued there and not leased.
    pub fn get(
        &self,
        reads: &dyn Reads,
        host: u64,
        place: Place,
    ) -> Result<Option<Arc<[u8]>>, StateError> {
        match self.changes.get(&(host, place)) {
            Some((_, Change::Put(record))) => Ok(Some(Arc::clone(record))),
            Some((_, Change::Gone | Change::Leased)) => Ok(None),
            None => {
                let record = reads.get(Space::Queue, &place.key(host))?;
                Ok(record.map(|record| Arc::from(&*record)))
            }
        }
    }

    /// The first `max` URLs of a host that are queued and not leased, from a place on.
    pub fn scan(
        &self,
        reads: &dyn Reads,
        host: u64,
        from: Place,
        max: usize,
    ) -> Result<Found, StateError> {
        let mut found: Found = Vec::with_capacity(max.min(64));
        let mut damaged = false;
        let end = host
            .checked_add(1)
            .map_or_else(Vec::new, |next| next.to_be_bytes().to_vec());
        reads.scan(Space::Queue, &from.key(host), &end, &mut |key, value| {
            match Place::of_key(key) {
                None => damaged = true,
                Some(place) if self.changes.contains_key(&(host, place)) => {}
                Some(place) => found.push((place, value.into())),
            }
            !damaged && found.len() < max
        })?;
        if damaged {
            return Err(StateError::Format(format!(
                "a queue key of host {host:016x} is damaged"
            )));
        }
        let before = found.len();
        let mut unapplied = self.changes.range((host, from)..);
        while let Some((&(of, place), (_, change))) = unapplied.next()
            && of == host
            && found.len() < before.saturating_add(max)
        {
            if let Change::Put(record) = change {
                found.push((place, Arc::clone(record)));
            }
        }
        if before < found.len() {
            found.sort_unstable_by_key(|(place, _)| *place);
            found.truncate(max);
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::store::state::memory::MemoryState;
    use crate::store::state::{State, Writes};

    fn places(overlay: &Overlay, state: &MemoryState, max: usize) -> Vec<u64> {
        let found = overlay.scan(state, 5, Place::FIRST, max).unwrap();
        found.iter().map(|(place, _)| place.packed()).collect()
    }

    #[test]
    fn store_and_unapplied_changes_read_as_one() {
        let state = MemoryState::default();
        let mut writes = Writes::default();
        for at in [1, 3, 5, 7] {
            writes.put(Space::Queue, Place::ready(at).key(5), b"d".to_vec());
        }
        writes.put(Space::Queue, Place::ready(2).key(6), b"other".to_vec());
        state.apply(writes, false).unwrap();
        let mut overlay = Overlay::default();
        overlay.put(5, Place::ready(4), Arc::from(*b"new"));
        overlay.gone(5, Place::ready(1));
        overlay.leased(5, Place::ready(5));
        assert_eq!(places(&overlay, &state, 10), [3, 4, 7]);
        assert_eq!(places(&overlay, &state, 2), [3, 4]);
        let first = overlay.seal();
        overlay.put(5, Place::ready(9), Arc::from(*b"later"));
        overlay.applied(first);
        // The store was never told, so what the batch held is gone from view; the rest is not.
        assert_eq!(places(&overlay, &state, 10), [1, 3, 7, 9]);
        overlay.forget(5);
        assert_eq!(places(&overlay, &state, 10), [1, 3, 5, 7]);
    }
}
