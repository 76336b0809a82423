//! The engine while it is open: fjall with a key space for each of ours, laid out by its use, and what we add to it: bounded
//! buffers, and merging that keeps up.

use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use fjall::compaction::Leveled;
use fjall::config::{
    CompressionPolicy, FilterPolicy, FilterPolicyEntry, PartitioningPolicy, PinningPolicy,
};
use fjall::{
    AbstractTree, CompressionType, Database, Keyspace, KeyspaceCreateOptions, OwnedWriteBatch,
    PersistMode, Readable, Snapshot,
};

use super::buffered::{Buffered, CHUNKS};
use super::disk::DiskSettings;
use super::queue::Index;
use super::room::Room;
use super::{Space, StateError};

/// Tables that stay open: a process may often have no more than 1,024 files, and connections are most of them.
const OPEN_TABLES: usize = 300;

/// The space of the queue's index, which is nobody's but the queue's.
const CHUNKS_NAME: &str = "chunks";

/// The store while it is open. A failed write closes it for good; then a new one is opened.
pub(super) struct Live {
    pub(super) db: Database,
    /// Those of [`Space::ALL`], then the queue's index.
    pub(super) spaces: Vec<Keyspace>,
    /// Nobody works in the background, so nothing that this would bring is waited for.
    at_rest: bool,
    /// The moment before the batch that goes in.
    before: RwLock<Option<Snapshot>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Birth {
    New,
    Before,
    /// Made by the format before, which had no index of the queue.
    Earlier,
}

impl Live {
    pub(super) fn open(
        path: &Path,
        settings: &DiskSettings,
        birth: Birth,
    ) -> Result<Live, StateError> {
        // Without its version file the engine would take a damaged store for a new one.
        if birth != Birth::New && !path.join("version").exists() {
            return Err(StateError::Format(format!(
                "{} has lost its version file; the state is damaged and was left as it is",
                path.display()
            )));
        }
        // The engine may panic on files that it wrote and something else changed.
        catch_unwind(AssertUnwindSafe(|| {
            Live::open_engine(path, settings, birth)
        }))
        .unwrap_or_else(|_| {
            Err(StateError::Format(format!(
                "{} is damaged and was left as it is",
                path.display()
            )))
        })
    }

    fn open_engine(path: &Path, settings: &DiskSettings, birth: Birth) -> Result<Live, StateError> {
        // What has to be migrated first is much to write.
        if settings.at_rest && birth != Birth::Earlier {
            let live = Live::open_with(path, settings, birth, 0)?;
            if !live.is_overdue() && !live.is_migrating()? {
                return Ok(live);
            }
            // A write would wait for the merge for ever.
            drop(live);
        }
        // One thread writes buffers out and merges: of two or more, fjall's first passes the order to
        // merge back to the queue that it takes it from, at full speed, as long as the others are merging.
        Live::open_with(path, settings, birth, 1)
    }

    fn open_with(
        path: &Path,
        settings: &DiskSettings,
        birth: Birth,
        workers: usize,
    ) -> Result<Live, StateError> {
        let db = Database::builder(path)
            .cache_size(settings.cache_bytes)
            .worker_threads_unchecked(workers)
            .max_cached_files(Some(OPEN_TABLES))
            .max_journaling_size(settings.journal_bytes.max(64 << 20))
            .open()
            .map_err(|e| map_error(&e))?;
        let mut spaces = Vec::with_capacity(Space::ALL.len());
        for space in Space::ALL {
            if birth != Birth::New && !db.keyspace_exists(space.as_str()) {
                return Err(StateError::Format(format!(
                    "{} has lost the space '{}'; the state is damaged and was left as it is",
                    path.display(),
                    space.as_str()
                )));
            }
            spaces.push(
                db.keyspace(space.as_str(), || options(space, settings))
                    .map_err(|e| map_error(&e))?,
            );
        }
        if birth == Birth::Before && !db.keyspace_exists(CHUNKS_NAME) {
            return Err(StateError::Format(format!(
                "{} has lost the space '{CHUNKS_NAME}'; the state is damaged and was left as it is",
                path.display()
            )));
        }
        spaces.push(
            db.keyspace(CHUNKS_NAME, || {
                // No row of it is asked for by its whole key, so filters would be of no use.
                let options = laid_out(settings).filter_policy(FilterPolicy::disabled());
                options.compaction_strategy(merging(MERGED_CHUNKS))
            })
            .map_err(|e| map_error(&e))?,
        );
        Ok(Live {
            db,
            spaces,
            at_rest: workers == 0,
            before: RwLock::default(),
        })
    }

    /// Applies a batch. Until all its rows are there, who reads the index reads of the moment before: fjall shows rows of a batch
    /// one by one when a buffer of any space is written out or merged meanwhile (3.1.13: `upgrade_version` in lsm-tree 3.1.10
    /// raises the number of the last batch to be seen).
    pub(super) fn commit(&self, batch: OwnedWriteBatch) -> Result<(), fjall::Error> {
        let read_of = |moment| {
            let mut before = self.before.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *before, moment)
        };
        read_of(Some(self.db.snapshot()));
        let result = batch.commit();
        read_of(None);
        result
    }

    /// All batches that are applied, and nothing of one that goes in.
    fn now(&self) -> Snapshot {
        let before = self.before.read().unwrap_or_else(PoisonError::into_inner);
        before.clone().unwrap_or_else(|| self.db.snapshot())
    }

    pub(super) fn index(&self) -> &dyn Index {
        self
    }

    /// Whether so much waits to be written out or merged that the engine slows writers down.
    fn is_overdue(&self) -> bool {
        const SLOWED_TABLES: usize = 20;
        let mut spaces = self.spaces.iter();
        spaces.any(|space| {
            space.sealed_memtable_count() > 1 || space.l0_table_count() >= SLOWED_TABLES
        })
    }

    /// One step of merging, on the thread of the caller. What older versions of rows it meets stays until the next.
    fn merge_on(number: usize, space: &Keyspace) -> Result<(), fjall::Error> {
        let how = if number == CHUNKS {
            MERGED_CHUNKS
        } else {
            MERGED
        };
        Ok(space.tree.compact(merging(how), 0)?)
    }

    /// Hands full buffers to the disk, and those that hold on to old journals, and waits while the
    /// disk is behind: the engine itself lets buffers and journals grow without a bound, and would
    /// wait for ever for a writer that has failed.
    pub(super) fn make_buffer_room(
        &self,
        settings: &DiskSettings,
        room: &Room,
        buffered: &Mutex<Buffered>,
    ) -> Result<(), Failed> {
        if self.at_rest {
            return Ok(());
        }
        let mut sums = buffered.lock().unwrap_or_else(PoisonError::into_inner);
        for (number, space) in self.spaces.iter().enumerate() {
            if sums.is_due(number, settings) {
                sums.handed_over(number);
                space.rotate_memtable()?;
            }
            if space.l0_table_count() >= PILED_UP {
                room.check(MOST_MERGED).map_err(Failed::Error)?;
                Live::merge_on(number, space)?;
            }
        }
        loop {
            // Two may wait while others are merged: what they take is bounded by all buffers together.
            let behind = self.spaces.iter().any(|s| s.sealed_memtable_count() > 2);
            let full = self.db.write_buffer_size() > settings.buffer_bytes;
            if !behind && !full {
                return Ok(());
            }
            if full && !self.spaces.iter().any(|s| s.sealed_memtable_count() > 0) {
                // Many half-full buffers: hand over the largest.
                let Some(largest) = (0..self.spaces.len()).max_by_key(|&i| sums.own[i]) else {
                    return Ok(());
                };
                if sums.own[largest] == 0 {
                    return Ok(());
                }
                sums.handed_over(largest);
                self.spaces[largest].rotate_memtable()?;
            }
            // Fails if the writer in the background has failed.
            self.db.persist(PersistMode::Buffer)?;
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Tables of the first level from which each batch does a step of merging itself. fjall does one for each buffer that it
/// writes out. Where those are not enough, as may be with hundreds of gigabytes in a space, tables pile up, and at 30 it would
/// let batches wait for ever for a step that nothing asks for.
const PILED_UP: usize = 24;
/// Bytes that such a step writes at most, or so: those tables, and the level below, of 256 MiB.
const MOST_MERGED: u64 = 1 << 30;

/// Buffers written out before they are merged with what is older: (how many, bytes of a table). Half as often as fjall
/// would by itself, for rows of hosts are written again and again, and while all of them fit in the first level,
/// of 256 MiB, that level is written anew each time. A look-up passes the buffers by their filters.
const MERGED: (u8, u64) = (8, 32 << 20);
/// The same for the queue's index, which is read by ranges: no filter helps there, and each buffer is looked into.
const MERGED_CHUNKS: (u8, u64) = (3, 64 << 20);

fn merging((buffers, table): (u8, u64)) -> Arc<Leveled> {
    let strategy = Leveled::default().with_l0_threshold(buffers);
    Arc::new(strategy.with_table_target_size(table))
}

/// How a space is laid out. Index and filters are cut in blocks that live in the cache like data,
/// so that RAM does not grow with the number of keys.
fn laid_out(settings: &DiskSettings) -> KeyspaceCreateOptions {
    KeyspaceCreateOptions::default()
        .max_memtable_size(settings.buffer_bytes / 2)
        .compaction_strategy(merging(MERGED))
        // Also of the first levels, which are written most.
        .data_block_compression_policy(CompressionPolicy::all(CompressionType::Lz4))
        .index_block_pinning_policy(PinningPolicy::all(false))
        .filter_block_pinning_policy(PinningPolicy::all(false))
        .index_block_partitioning_policy(PartitioningPolicy::all(true))
        .filter_block_partitioning_policy(PartitioningPolicy::all(true))
}

fn options(space: Space, settings: &DiskSettings) -> KeyspaceCreateOptions {
    let options = laid_out(settings);
    match space {
        // Keys of random bits: nothing to compress.
        Space::Seen | Space::Content => options
            .data_block_compression_policy(CompressionPolicy::all(CompressionType::None))
            .filter_policy(FilterPolicy::all(FilterPolicyEntry::Bloom(
                fjall::config::BloomConstructionPolicy::BitsPerKey(10.0),
            ))),
        _ => options,
    }
}

/// Why a write failed, as far as it decides what to do next.
pub(super) enum Failed {
    /// The store takes no more writes: open it anew.
    Closed,
    Error(StateError),
}

impl From<Failed> for StateError {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Error(error) => error,
            Failed::Closed => StateError::Store("the store takes no more writes".to_owned()),
        }
    }
}

impl From<fjall::Error> for Failed {
    fn from(error: fjall::Error) -> Self {
        match error {
            fjall::Error::Poisoned => Failed::Closed,
            error => Failed::Error(map_error(&error)),
        }
    }
}

pub(super) fn map_error(error: &fjall::Error) -> StateError {
    let io = match error {
        fjall::Error::Io(e) | fjall::Error::Storage(fjall::LsmError::Io(e)) => Some(e),
        _ => None,
    };
    if let Some(io) = io {
        use std::io::ErrorKind;
        return match io.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                StateError::DiskFull(io.to_string())
            }
            ErrorKind::UnexpectedEof | ErrorKind::InvalidData | ErrorKind::NotFound => {
                StateError::Format(format!("a file is damaged or lost: {io}"))
            }
            _ => StateError::Store(io.to_string()),
        };
    }
    match error {
        fjall::Error::Locked => StateError::InUse("the store is locked".to_owned()),
        fjall::Error::Poisoned => StateError::Store("an earlier write failed".to_owned()),
        fjall::Error::KeyspaceDeleted => StateError::Store(error.to_string()),
        other => StateError::Format(format!("a file is damaged or lost: {other:?}")),
    }
}

/// Keys in `from..to`; `to` empty: no end.
pub(super) fn bounds<'a>(from: &'a [u8], to: &'a [u8]) -> (Bound<&'a [u8]>, Bound<&'a [u8]>) {
    let end = if to.is_empty() {
        Bound::Unbounded
    } else {
        Bound::Excluded(to)
    };
    (Bound::Included(from), end)
}

impl Index for Live {
    fn rows(
        &self,
        from: &[u8],
        to: &[u8],
        visit: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), StateError> {
        let now = self.now();
        for pair in now.range::<&[u8], _>(&self.spaces[CHUNKS], bounds(from, to)) {
            let (key, value) = pair.into_inner().map_err(|e| map_error(&e))?;
            if !visit(&key, &value) {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn tables_that_piled_up_are_merged_and_keep_their_rows() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store");
        // Without a thread in the background nothing else merges.
        let live = Live::open_with(&path, &DiskSettings::default(), Birth::New, 0).unwrap();
        for number in [Space::Hosts as usize, CHUNKS] {
            let space = &live.spaces[number];
            for table in 0..PILED_UP as u8 {
                space.insert([table], [table; 20]).unwrap();
                space.insert(b"the same", [table]).unwrap();
                space.tree.flush_active_memtable(0).unwrap();
            }
            assert!(space.l0_table_count() >= PILED_UP);
            Live::merge_on(number, space).unwrap();
            assert_eq!(space.l0_table_count(), 0);
            for table in 0..PILED_UP as u8 {
                assert_eq!(&*space.get([table]).unwrap().unwrap(), [table; 20]);
            }
            let last = space.get(b"the same").unwrap().unwrap();
            assert_eq!(&*last, [PILED_UP as u8 - 1]);
        }
    }
}
