//! What was learnt of hosts: in memory as far as it is used, in the store for good.
//!
//! A row of the space `meta` is `learnt/` ++ host key. RAM is bounded by [`IN_RAM`] hosts beside those that
//! the store does not have yet.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::learn::Learner;
use crate::store::state::{Reads, Space, StateError, Writes};

/// Where the rows are in the space `meta`.
pub(crate) const PREFIX: &[u8] = b"learnt/";

const IN_RAM: usize = 8_192;

#[derive(Debug, Default)]
pub(super) struct Learners {
    /// With the batch that wrote it last.
    of: HashMap<u64, (Learner, u64)>,
    changed: Vec<u64>,
}

impl Learners {
    pub fn get(&mut self, host: u64, reads: &dyn Reads) -> Result<&mut Learner, StateError> {
        match self.of.entry(host) {
            Entry::Occupied(known) => Ok(&mut known.into_mut().0),
            Entry::Vacant(place) => {
                let row = reads.get(Space::Meta, &key(host))?;
                let learner = row.as_deref().and_then(Learner::decode);
                Ok(&mut place.insert((learner.unwrap_or_default(), 0)).0)
            }
        }
    }

    /// Notes that something may have been learnt.
    pub fn touch(&mut self, host: u64) {
        if self.changed.last() != Some(&host) {
            self.changed.push(host);
        }
    }

    pub fn seal(&mut self, batch: u64, applied: u64, writes: &mut Writes) {
        for host in self.changed.drain(..) {
            if let Some((learner, written)) = self.of.get_mut(&host)
                && learner.take_changed()
            {
                *written = batch;
                writes.put(Space::Meta, key(host), learner.encode());
            }
        }
        if self.of.len() > IN_RAM {
            self.of.retain(|_, (_, written)| *written > applied);
        }
    }

    pub fn clear(&mut self) {
        self.of.clear();
        self.changed.clear();
    }
}

fn key(host: u64) -> Vec<u8> {
    [PREFIX, &host.to_be_bytes()].concat()
}
