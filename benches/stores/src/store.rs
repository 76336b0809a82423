//! The seam: what the load asks of a candidate.

use anyhow::Result;

use crate::records::{HostKey, QueueKey};

/// The changes of one batch, which a candidate applies whole or not at all.
#[derive(Debug, Default)]
pub struct Batch {
    /// Queued URLs to add.
    pub puts: Vec<(QueueKey, Vec<u8>)>,
    /// Queued URLs to remove.
    pub removes: Vec<QueueKey>,
    /// Host records to set, each host once.
    pub hosts: Vec<(HostKey, Vec<u8>)>,
}

impl Batch {
    /// How many changes there are.
    pub fn len(&self) -> usize {
        self.puts.len() + self.removes.len() + self.hosts.len()
    }
}

/// Queued URLs that a scan found, in the order of their keys.
pub type Found = Vec<(QueueKey, Vec<u8>)>;

/// A candidate while it is open. Dropping it closes it.
pub trait Store {
    /// Applies all changes in one step; with `durable` returns when they survive a power cut.
    fn apply(&mut self, batch: Batch, durable: bool) -> Result<()>;

    /// Adds to `found` the first `most` queued URLs of the host of `from`, from that place on.
    fn scan(&mut self, from: &QueueKey, most: usize, found: &mut Found) -> Result<()>;
}

/// A key as it came back from a candidate.
pub fn queue_key_of(bytes: &[u8]) -> Result<QueueKey> {
    QueueKey::try_from(bytes).map_err(|_| anyhow::anyhow!("a key of {} bytes", bytes.len()))
}
