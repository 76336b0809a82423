//! State in memory: for tests, and the yardstick that the store on disk must agree with.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::RwLock;

use super::{Reads, Space, State, StateError, Write, Writes};

type Pairs = BTreeMap<(Space, Vec<u8>), Vec<u8>>;

/// A store that forgets everything when dropped.
#[derive(Debug, Default)]
pub struct MemoryState {
    pairs: RwLock<Pairs>,
}

impl Reads for MemoryState {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        let pairs = self
            .pairs
            .read()
            .map_err(|e| StateError::Store(e.to_string()))?;
        Ok(pairs.get(&(space, key.to_vec())).cloned())
    }

    fn scan(
        &self,
        space: Space,
        from: &[u8],
        to: &[u8],
        visit: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), StateError> {
        let pairs = self
            .pairs
            .read()
            .map_err(|e| StateError::Store(e.to_string()))?;
        let start = Bound::Included((space, from.to_vec()));
        for ((found, key), value) in pairs.range((start, Bound::Unbounded)) {
            if *found != space || (!to.is_empty() && key.as_slice() >= to) || !visit(key, value) {
                break;
            }
        }
        Ok(())
    }
}

impl State for MemoryState {
    fn apply(&self, writes: Writes, _durable: bool) -> Result<(), StateError> {
        writes.check()?;
        let mut pairs = self
            .pairs
            .write()
            .map_err(|e| StateError::Store(e.to_string()))?;
        for write in writes.list {
            match write {
                Write::Put { space, key, value } => pairs.insert((space, key), value),
                Write::Remove { space, key } => pairs.remove(&(space, key)),
            };
        }
        Ok(())
    }
}
