//! The core's own store, opened and written as a crawl does, with the settings of a crawl that sets
//! none.

use std::path::Path;

use anyhow::Result;
use gossamer_core::store::state::{DiskSettings, DiskState, Reads, Space, State, Writes};

use crate::records::{QueueKey, queue_end};
use crate::store::{Batch, Found, Store, queue_key_of};

/// The store while it is open.
pub struct Segments {
    state: DiskState,
}

impl Segments {
    /// Makes a new store in `dir`.
    pub fn open(dir: &Path) -> Result<Segments> {
        let state = DiskState::open(&dir.join("state"), DiskSettings::default())?;
        Ok(Segments { state })
    }
}

impl Store for Segments {
    fn apply(&mut self, batch: Batch, durable: bool) -> Result<()> {
        let mut writes = Writes::default();
        writes.list.reserve(batch.len());
        for (key, record) in batch.puts {
            writes.put(Space::Queue, key, record);
        }
        for key in batch.removes {
            writes.remove(Space::Queue, key);
        }
        for (key, record) in batch.hosts {
            writes.put(Space::Hosts, key, record);
        }
        self.state.apply(writes, durable)?;
        Ok(())
    }

    fn scan(&mut self, from: &QueueKey, most: usize, found: &mut Found) -> Result<()> {
        let most = found.len() + most;
        let mut odd = Ok(());
        self.state
            .scan(Space::Queue, from, &queue_end(from), &mut |key, record| {
                match queue_key_of(key) {
                    Ok(key) => found.push((key, record.to_vec())),
                    Err(error) => odd = Err(error),
                }
                odd.is_ok() && found.len() < most
            })?;
        odd
    }
}
