//! fjall as the core opened it (decision 0009), kept here so that its figures can be made again; and
//! the same with the queue's values in files of their own.

use std::ops::Bound;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use fjall::config::{PartitioningPolicy, PinningPolicy};
use fjall::{
    CompressionType, Database, Keyspace, KeyspaceCreateOptions, KvSeparationOptions,
    OwnedWriteBatch, PersistMode,
};

use super::fjall_buffers::{BUFFER_BYTES, Buffered, JOURNAL_BYTES, SPACES};
use crate::records::{QueueKey, queue_end};
use crate::store::{Batch, Found, Store, queue_key_of};

const CACHE_BYTES: u64 = 64 << 20;
/// One to write buffers out, one to merge.
const WORKERS: usize = 2;
/// What a buffer adds to each change.
const OVERHEAD: usize = 64;
/// Every record with a referrer is longer; start pages stay with their keys.
const SEPARATED_BYTES: u32 = 32;

const QUEUE: usize = 0;
const HOSTS: usize = 1;

/// Where the queue's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Beside their keys.
    Plain,
    /// In blob files, so that merges move keys only.
    Blobs,
}

/// The store while it is open.
pub struct Fjall {
    db: Database,
    spaces: [Keyspace; SPACES],
    buffered: Buffered,
}

impl Fjall {
    /// Makes a new store in `dir`.
    pub fn open(dir: &Path, layout: Layout) -> Result<Fjall> {
        let db = Database::builder(dir.join("store"))
            .cache_size(CACHE_BYTES)
            .worker_threads_unchecked(WORKERS)
            .max_journaling_size(JOURNAL_BYTES)
            .open()?;
        let queue = db.keyspace("queue", || match layout {
            Layout::Plain => options(),
            Layout::Blobs => options().with_kv_separation(Some(blobs())),
        })?;
        let hosts = db.keyspace("hosts", options)?;
        Ok(Fjall {
            db,
            spaces: [queue, hosts],
            buffered: Buffered::default(),
        })
    }

    /// Hands full buffers to the disk and waits while the disk is behind, as the core did: fjall by
    /// itself lets buffers grow while it merges.
    fn make_buffer_room(&mut self) -> Result<()> {
        for (number, space) in self.spaces.iter().enumerate() {
            if self.buffered.is_due(number) {
                self.buffered.handed_over(number);
                space.rotate_memtable()?;
            }
        }
        loop {
            let behind = self.spaces.iter().any(|s| s.sealed_memtable_count() > 1);
            let full = self.db.write_buffer_size() > BUFFER_BYTES;
            if !behind && !full {
                return Ok(());
            }
            if full && !self.spaces.iter().any(|s| s.sealed_memtable_count() > 0) {
                // Many half-full buffers: hand over the largest.
                let Some(largest) = self.buffered.largest() else {
                    return Ok(());
                };
                self.buffered.handed_over(largest);
                self.spaces[largest].rotate_memtable()?;
            }
            // Fails if the writer in the background has failed.
            self.db.persist(PersistMode::Buffer)?;
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Index and filters are cut in blocks that live in the cache like data.
fn options() -> KeyspaceCreateOptions {
    KeyspaceCreateOptions::default()
        .max_memtable_size(BUFFER_BYTES / 2)
        .index_block_pinning_policy(PinningPolicy::all(false))
        .filter_block_pinning_policy(PinningPolicy::all(false))
        .index_block_partitioning_policy(PartitioningPolicy::all(true))
        .filter_block_partitioning_policy(PartitioningPolicy::all(true))
}

/// Not compressed: it would be done value by value, and 100 bytes alone hardly shrink.
fn blobs() -> KvSeparationOptions {
    KvSeparationOptions::default()
        .separation_threshold(SEPARATED_BYTES)
        .compression(CompressionType::None)
}

impl Store for Fjall {
    fn apply(&mut self, batch: Batch, durable: bool) -> Result<()> {
        self.make_buffer_room()?;
        let mut sizes = [0; SPACES];
        let mut add = |space: usize, bytes: usize| sizes[space] += (bytes + OVERHEAD) as u64;
        let mut writes = OwnedWriteBatch::with_capacity(self.db.clone(), batch.len());
        for (key, record) in &batch.puts {
            add(QUEUE, key.len() + record.len());
            writes.insert(&self.spaces[QUEUE], key.as_slice(), record.as_slice());
        }
        for key in &batch.removes {
            add(QUEUE, key.len());
            writes.remove(&self.spaces[QUEUE], key.as_slice());
        }
        for (key, record) in &batch.hosts {
            add(HOSTS, key.len() + record.len());
            writes.insert(&self.spaces[HOSTS], key.as_slice(), record.as_slice());
        }
        let mode = if durable {
            PersistMode::SyncData
        } else {
            PersistMode::Buffer
        };
        writes.durability(Some(mode)).commit()?;
        self.buffered.wrote(sizes);
        Ok(())
    }

    fn scan(&mut self, from: &QueueKey, most: usize, found: &mut Found) -> Result<()> {
        let end = queue_end(from);
        let range = (Bound::Included(from.as_slice()), Bound::Excluded(&end[..]));
        for pair in self.spaces[QUEUE].range::<&[u8], _>(range).take(most) {
            let (key, record) = pair.into_inner()?;
            found.push((queue_key_of(&key)?, record.to_vec()));
        }
        Ok(())
    }
}
