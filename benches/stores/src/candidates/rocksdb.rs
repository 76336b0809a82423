//! RocksDB, tuned for this load: few bytes written for each byte kept, and scans that skip the files
//! without the host.

use std::path::Path;

use anyhow::{Context, Result};
use rocksdb::{
    BlockBasedIndexType, BlockBasedOptions, Cache, ColumnFamily, ColumnFamilyDescriptor, DB,
    DBCompactionStyle, DBCompressionType, Options, ReadOptions, SliceTransform,
    UniversalCompactOptions, WriteBatch, WriteOptions,
};

use crate::records::{QueueKey, queue_end};
use crate::store::{Batch, Found, Store, queue_key_of};

/// Blocks of data, index and filters alike.
const CACHE_BYTES: usize = 64 << 20;
/// A buffer of the queue; a second may wait for the disk.
const QUEUE_BUFFER: usize = 64 << 20;
/// A buffer of the hosts.
const HOSTS_BUFFER: usize = 16 << 20;
/// As much as the other candidates may keep of journals.
const WAL_BYTES: u64 = 256 << 20;
/// One to write buffers out, one to merge.
const JOBS: i32 = 2;
const OPEN_FILES: i32 = 256;
const FILE_BYTES: u64 = 64 << 20;
const BLOCK_BYTES: usize = 8 << 10;
const BLOOM_BITS: f64 = 10.0;
const HOST_KEY: usize = 8;
/// Sorted runs of the queue before some are merged. A scan looks into each that has the host.
const RUNS: i32 = 6;
/// Bytes after which a file in the making is sent to the disk, so that its end is no long pause.
const SYNC_BYTES: u64 = 1 << 20;

const QUEUE: &str = "queue";
const HOSTS: &str = "hosts";

/// The store while it is open.
pub struct Rocks {
    db: DB,
}

impl Rocks {
    /// Makes a new store in `dir`.
    pub fn open(dir: &Path) -> Result<Rocks> {
        let mut options = Options::default();
        options.create_if_missing(true);
        options.create_missing_column_families(true);
        options.set_max_background_jobs(JOBS);
        options.set_max_open_files(OPEN_FILES);
        options.set_max_total_wal_size(WAL_BYTES);
        options.set_bytes_per_sync(SYNC_BYTES);
        options.set_wal_bytes_per_sync(SYNC_BYTES);
        let cache = Cache::new_lru_cache(CACHE_BYTES);
        let spaces = [
            ColumnFamilyDescriptor::new(QUEUE, queue_options(&cache)),
            ColumnFamilyDescriptor::new(HOSTS, hosts_options(&cache)),
        ];
        let db = DB::open_cf_descriptors(&options, dir.join("store"), spaces)?;
        Ok(Rocks { db })
    }

    fn space(&self, name: &str) -> Result<&ColumnFamily> {
        self.db
            .cf_handle(name)
            .with_context(|| format!("no space '{name}'"))
    }
}

/// The queue hardly ever removes what was not merged yet, so whole sorted runs are merged with their
/// like (universal): fewer bytes are written than level by level.
fn queue_options(cache: &Cache) -> Options {
    let mut options = common_options(cache, QUEUE_BUFFER);
    options.set_compaction_style(DBCompactionStyle::Universal);
    options.set_level_zero_file_num_compaction_trigger(RUNS);
    options.set_universal_compaction_options(&UniversalCompactOptions::default());
    // A scan is of one host: filters over host keys tell which files have it.
    options.set_prefix_extractor(SliceTransform::create_fixed_prefix(HOST_KEY));
    options.set_memtable_prefix_bloom_ratio(0.02);
    options
}

/// Few and small records, overwritten often: levels keep them small.
fn hosts_options(cache: &Cache) -> Options {
    let mut options = common_options(cache, HOSTS_BUFFER);
    options.set_level_compaction_dynamic_level_bytes(true);
    options
}

fn common_options(cache: &Cache, buffer: usize) -> Options {
    let mut blocks = BlockBasedOptions::default();
    blocks.set_block_cache(cache);
    blocks.set_block_size(BLOCK_BYTES);
    blocks.set_bloom_filter(BLOOM_BITS, false);
    // Index and filters live in the cache, in pieces: RAM does not grow with the number of keys.
    blocks.set_cache_index_and_filter_blocks(true);
    blocks.set_index_type(BlockBasedIndexType::TwoLevelIndexSearch);
    blocks.set_partition_filters(true);
    blocks.set_pin_top_level_index_and_filter(true);
    let mut options = Options::default();
    options.set_block_based_table_factory(&blocks);
    options.set_compression_type(DBCompressionType::Lz4);
    options.set_write_buffer_size(buffer);
    options.set_max_write_buffer_number(2);
    options.set_target_file_size_base(FILE_BYTES);
    options
}

impl Store for Rocks {
    fn apply(&mut self, batch: Batch, durable: bool) -> Result<()> {
        let (queue, hosts) = (self.space(QUEUE)?, self.space(HOSTS)?);
        let mut writes = WriteBatch::default();
        for (key, record) in &batch.puts {
            writes.put_cf(queue, key, record);
        }
        for key in &batch.removes {
            writes.delete_cf(queue, key);
        }
        for (key, record) in &batch.hosts {
            writes.put_cf(hosts, key, record);
        }
        let mut how = WriteOptions::default();
        how.set_sync(durable);
        self.db.write_opt(writes, &how)?;
        Ok(())
    }

    fn scan(&mut self, from: &QueueKey, most: usize, found: &mut Found) -> Result<()> {
        let mut how = ReadOptions::default();
        how.set_prefix_same_as_start(true);
        how.set_iterate_upper_bound(queue_end(from));
        let mut iterator = self.db.raw_iterator_cf_opt(self.space(QUEUE)?, how);
        iterator.seek(from);
        let most = found.len() + most;
        while let Some((key, record)) = iterator.item() {
            found.push((queue_key_of(key)?, record.to_vec()));
            if found.len() == most {
                break;
            }
            iterator.next();
        }
        iterator.status()?;
        Ok(())
    }
}
