//! State on disk: the store that outlives the process.
//!
//! Takes batches of writes over all key spaces, gives look-ups and ordered scans. Guarantees: a
//! batch is applied whole or not at all, also when the process is killed in the middle of it; with
//! `durable` it survives a power cut; RAM is bounded by [`DiskSettings`] however many keys there
//! are; a full device is an error that can be tried again, not the end of the state.

use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use fjall::compaction::Leveled;
use fjall::config::{
    CompressionPolicy, FilterPolicy, FilterPolicyEntry, PartitioningPolicy, PinningPolicy,
};
use fjall::{CompressionType, Database, Keyspace, KeyspaceCreateOptions, PersistMode, Readable};

use super::buffered::{Buffered, CHUNKS, change};
use super::format::{self, Lock};
use super::queue::{self, Index, Queue};
use super::room::Room;
use super::{Reads, Space, State, StateError, Watch, Write, Writes};

/// The space of the queue's index, which is nobody's but the queue's.
const CHUNKS_NAME: &str = "chunks";

/// What the store may use.
#[derive(Clone, Debug)]
pub struct DiskSettings {
    /// Bytes of RAM for blocks read from disk: data, index and filters alike.
    pub cache_bytes: u64,
    /// Bytes of RAM for changes that are in the journal but not yet in sorted files.
    pub buffer_bytes: u64,
    /// Bytes of disk for the journals; also bounds the time to open after a crash.
    pub journal_bytes: u64,
    /// Bytes kept free on the device; below, batches are refused with [`StateError::DiskFull`].
    pub reserve_bytes: u64,
    /// Bytes of a segment of the queue at most.
    pub segment_bytes: u64,
    /// Durable batches come. Without them the system decides what reaches the device first, so that a power
    /// cut may leave rows of the queue's index without their blocks.
    pub flushed: bool,
    /// The state is looked at: nothing is merged in the background, unless that is overdue.
    pub at_rest: bool,
}

impl Default for DiskSettings {
    fn default() -> Self {
        Self {
            cache_bytes: 64 << 20,
            buffer_bytes: 64 << 20,
            journal_bytes: 256 << 20,
            reserve_bytes: 256 << 20,
            segment_bytes: 256 << 20,
            flushed: true,
            at_rest: false,
        }
    }
}

/// What the store uses now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskUse {
    pub disk_bytes: u64,
    pub cache_bytes: u64,
    pub buffer_bytes: u64,
}

/// The store while it is open. A failed write closes it for good; then a new one is opened.
pub(super) struct Live {
    pub(super) db: Database,
    /// Those of [`Space::ALL`], then the queue's index.
    pub(super) spaces: Vec<Keyspace>,
    /// Nobody works in the background, so nothing that this would bring is waited for.
    at_rest: bool,
}

/// The store on disk. One process at a time may have it open.
pub struct DiskState {
    store: PathBuf,
    settings: DiskSettings,
    room: Room,
    live: RwLock<Option<Live>>,
    pub(super) queue: Queue,
    buffered: Mutex<Buffered>,
    watch: OnceLock<Arc<dyn Watch>>,
    // Last, so that it is given back after the store is closed.
    _lock: Lock,
}

impl std::fmt::Debug for DiskState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DiskState")
            .field("store", &self.store)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl DiskState {
    /// Opens the state in `dir`, or makes a new one if there is none.
    pub fn open(dir: &Path, settings: DiskSettings) -> Result<DiskState, StateError> {
        std::fs::create_dir_all(dir).map_err(|error| format::io_error(dir, &error))?;
        let lock = Lock::take(dir)?;
        let (store, birth) = match format::find(dir)? {
            Some((store, format::BEFORE)) => (store, Birth::Earlier),
            Some((store, _)) => (store, Birth::Before),
            None => {
                let make = |path: &Path| Live::open(path, &settings, Birth::New).map(|_| ());
                (format::create(dir, make)?, Birth::Before)
            }
        };
        let live = Live::open(&store, &settings, birth)?;
        if birth == Birth::Earlier {
            live.begin_migration()?;
            format::write_mark(&store)?;
        }
        let queue = Queue::open(&dir.join("queue"), &settings, live.index())?;
        let state = DiskState {
            room: Room::new(&store, settings.reserve_bytes),
            store,
            settings,
            live: RwLock::new(Some(live)),
            queue,
            buffered: Mutex::default(),
            watch: OnceLock::new(),
            _lock: lock,
        };
        state.finish_migration()?;
        Ok(state)
    }

    /// From now on every batch is told; only the first who asks is.
    pub fn tell(&self, watch: Arc<dyn Watch>) {
        self.watch.get_or_init(|| watch);
    }

    /// What the store uses of disk and RAM.
    pub fn usage(&self) -> Result<DiskUse, StateError> {
        self.with(|live| {
            Ok(DiskUse {
                disk_bytes: live.db.disk_space().map_err(|e| map_error(&e))?
                    + self.queue.disk_bytes(),
                cache_bytes: live.db.cache_size(),
                buffer_bytes: live.db.write_buffer_size(),
            })
        })
    }

    /// Refuses with [`StateError::DiskFull`] when writing `bytes` beside the store would leave it
    /// less than its reserve: for whoever fills the same device.
    pub fn check_room(&self, bytes: u64) -> Result<(), StateError> {
        self.room.check(bytes)
    }

    pub(super) fn with<T>(
        &self,
        f: impl FnOnce(&Live) -> Result<T, StateError>,
    ) -> Result<T, StateError> {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        match live.as_ref() {
            Some(live) => f(live),
            None => Err(StateError::Store(
                "closed after a failed write and not open again yet".to_owned(),
            )),
        }
    }

    /// Opens the store anew after a failed write: what the journal holds in full is there again.
    fn reopen(&self) -> Result<(), StateError> {
        let mut live = self.live.write().unwrap_or_else(PoisonError::into_inner);
        *live = None;
        *live = Some(Live::open(&self.store, &self.settings, Birth::Before)?);
        *self.lock_buffered() = Default::default();
        Ok(())
    }

    fn lock_buffered(&self) -> std::sync::MutexGuard<'_, Buffered> {
        self.buffered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// With `moved`, what goes to segments was a row of the store before, which goes.
    pub(super) fn apply_once(
        &self,
        writes: &Writes,
        durable: bool,
        moved: bool,
    ) -> Result<(), Failed> {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        let live = live.as_ref().ok_or(Failed::Closed)?;
        live.make_buffer_room(&self.settings, &self.buffered)?;
        // 1. Blocks of queued URLs, flushed before anything names them.
        let prepared = self
            .queue
            .prepare(writes, durable, live.index())
            .map_err(Failed::Error)?;
        // 2. Everything else, with the rows that name the blocks, as one step.
        let mut batch = fjall::OwnedWriteBatch::with_capacity(live.db.clone(), writes.list.len());
        for write in &writes.list {
            match write {
                Write::Put { key, .. } if moved => {
                    batch.remove(&live.spaces[Space::Queue as usize], key.as_slice());
                }
                _ if write.is_in_segments() => {}
                Write::Put { space, key, value } => batch.insert(
                    &live.spaces[*space as usize],
                    key.as_slice(),
                    value.as_slice(),
                ),
                Write::Remove { space, key } => {
                    batch.remove(&live.spaces[*space as usize], key.as_slice());
                }
            }
        }
        for (key, value) in &prepared.rows {
            match value {
                Some(value) => batch.insert(&live.spaces[CHUNKS], *key, value.as_slice()),
                None => batch.remove(&live.spaces[CHUNKS], *key),
            }
        }
        let mode = if durable {
            PersistMode::SyncData
        } else {
            PersistMode::Buffer
        };
        let change = change(writes, &prepared.rows, moved);
        if batch.is_empty() {
            // What was applied before must be safe too.
            live.db.persist(mode)?;
        } else {
            batch.durability(Some(mode)).commit()?;
        }
        prepared.applied(durable);
        self.lock_buffered().wrote(&change);
        Ok(())
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Birth {
    New,
    Before,
    /// Made by the format before, which had no index of the queue.
    Earlier,
}

impl Live {
    fn open(path: &Path, settings: &DiskSettings, birth: Birth) -> Result<Live, StateError> {
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
        })
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

    /// Hands full buffers to the disk, and those that hold on to old journals, and waits while the
    /// disk is behind: the engine itself lets buffers and journals grow without a bound, and would
    /// wait for ever for a writer that has failed.
    fn make_buffer_room(
        &self,
        settings: &DiskSettings,
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
fn bounds<'a>(from: &'a [u8], to: &'a [u8]) -> (Bound<&'a [u8]>, Bound<&'a [u8]>) {
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
        // Of a snapshot: rows of a batch that is being applied would be seen one by one.
        let now = self.db.snapshot();
        for pair in now.range::<&[u8], _>(&self.spaces[CHUNKS], bounds(from, to)) {
            let (key, value) = pair.into_inner().map_err(|e| map_error(&e))?;
            if !visit(&key, &value) {
                break;
            }
        }
        Ok(())
    }
}

/// Whether a key is kept by the queue, not by the store.
fn is_in_segments(space: Space, key: &[u8]) -> bool {
    space == Space::Queue && queue::is_in_segments(key)
}

impl Reads for DiskState {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        self.with(|live| {
            if is_in_segments(space, key) {
                return self.queue.get(live.index(), key);
            }
            let value = live.spaces[space as usize]
                .get(key)
                .map_err(|e| map_error(&e))?;
            Ok(value.map(|value| value.to_vec()))
        })
    }

    fn contains(&self, space: Space, key: &[u8]) -> Result<bool, StateError> {
        self.with(|live| {
            if is_in_segments(space, key) {
                return self.queue.contains(live.index(), key);
            }
            live.spaces[space as usize]
                .contains_key(key)
                .map_err(|e| map_error(&e))
        })
    }

    fn contains_each(
        &self,
        space: Space,
        keys: &mut dyn Iterator<Item = &[u8]>,
        found: &mut Vec<bool>,
    ) -> Result<(), StateError> {
        found.clear();
        self.with(|live| {
            for key in keys {
                found.push(if is_in_segments(space, key) {
                    self.queue.contains(live.index(), key)?
                } else {
                    let here = live.spaces[space as usize].contains_key(key);
                    here.map_err(|e| map_error(&e))?
                });
            }
            Ok(())
        })
    }

    fn scan(
        &self,
        space: Space,
        from: &[u8],
        to: &[u8],
        visit: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), StateError> {
        if !to.is_empty() && from >= to {
            return Ok(());
        }
        self.with(|live| {
            let rows = live.spaces[space as usize].range::<&[u8], _>(bounds(from, to));
            let mut rows = rows
                .map(|pair| pair.into_inner().map_err(|e| map_error(&e)))
                .peekable();
            let mut more = true;
            if space == Space::Queue {
                // Two sources in one order: rows of the store come before what follows them.
                let index = live.index();
                self.queue.scan(index, from, to, &mut |key, record| {
                    while more
                        && let Some(row) =
                            rows.next_if(|row| !matches!(row, Ok((at, _)) if **at > *key))
                    {
                        let (key, value) = row?;
                        more = visit(&key, &value);
                    }
                    more = more && visit(key, record);
                    Ok(more)
                })?;
            }
            while more && let Some(row) = rows.next() {
                let (key, value) = row?;
                more = visit(&key, &value);
            }
            Ok(())
        })
    }
}

impl State for DiskState {
    fn apply(&self, writes: Writes, durable: bool) -> Result<(), StateError> {
        self.apply_kept(&writes, durable)
    }
}

impl DiskState {
    /// As [`State::apply`], for who may have to apply the same writes again.
    pub fn apply_kept(&self, writes: &Writes, durable: bool) -> Result<(), StateError> {
        writes.check()?;
        self.room.check(writes.bytes())?;
        let mut result = self.apply_once(writes, durable, false);
        if let Err(Failed::Closed) = result {
            self.reopen()?;
            result = self.apply_once(writes, durable, false);
        }
        result?;
        if let Some(watch) = self.watch.get() {
            watch.applied(writes, self);
        }
        Ok(())
    }
}
