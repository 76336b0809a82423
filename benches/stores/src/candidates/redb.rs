//! redb: a copy-on-write B-tree in one file.

use std::ops::Bound;
use std::path::Path;

use anyhow::Result;
use redb::{Database, Durability, ReadableDatabase, TableDefinition};

use crate::records::{QueueKey, queue_end};
use crate::store::{Batch, Found, Store, queue_key_of};

/// As much as the caches and buffers of the others together.
const CACHE_BYTES: usize = 128 << 20;

type Table = TableDefinition<'static, &'static [u8], &'static [u8]>;
const QUEUE: Table = TableDefinition::new("queue");
const HOSTS: Table = TableDefinition::new("hosts");

/// The store while it is open.
pub struct Redb {
    db: Database,
}

impl Redb {
    /// Makes a new store in `dir`.
    pub fn open(dir: &Path) -> Result<Redb> {
        let db = Database::builder()
            .set_cache_size(CACHE_BYTES)
            .create(dir.join("store.redb"))?;
        // Tables are there once they were opened for writing; a scan may come first.
        let begin = db.begin_write()?;
        begin.open_table(QUEUE)?;
        begin.open_table(HOSTS)?;
        begin.commit()?;
        Ok(Redb { db })
    }
}

impl Store for Redb {
    fn apply(&mut self, batch: Batch, durable: bool) -> Result<()> {
        let mut writes = self.db.begin_write()?;
        writes.set_durability(if durable {
            Durability::Immediate
        } else {
            Durability::None
        })?;
        {
            let mut queue = writes.open_table(QUEUE)?;
            for (key, record) in &batch.puts {
                queue.insert(key.as_slice(), record.as_slice())?;
            }
            for key in &batch.removes {
                queue.remove(key.as_slice())?;
            }
            let mut hosts = writes.open_table(HOSTS)?;
            for (key, record) in &batch.hosts {
                hosts.insert(key.as_slice(), record.as_slice())?;
            }
        }
        writes.commit()?;
        Ok(())
    }

    fn scan(&mut self, from: &QueueKey, most: usize, found: &mut Found) -> Result<()> {
        let end = queue_end(from);
        let range = (Bound::Included(from.as_slice()), Bound::Excluded(&end[..]));
        let queue = self.db.begin_read()?.open_table(QUEUE)?;
        for pair in queue.range::<&[u8]>(range)?.take(most) {
            let (key, record) = pair?;
            found.push((queue_key_of(key.value())?, record.value().to_vec()));
        }
        Ok(())
    }
}
