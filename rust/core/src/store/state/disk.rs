//! State on disk: the store that outlives the process.
//!
//! Takes batches of writes over all key spaces, gives look-ups and ordered scans. Guarantees: a
//! batch is applied whole or not at all, also when the process is killed in the middle of it; with
//! `durable` it survives a power cut; RAM is bounded by [`DiskSettings`] however many keys there
//! are; a full device is an error that can be tried again, not the end of the state.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use fjall::PersistMode;

use super::buffered::{Buffered, CHUNKS, change};
use super::format::{self, Lock};
use super::live::{Birth, Failed, Live, bounds, map_error};
use super::queue::{self, Queue};
use super::room::Room;
use super::{Reads, Space, State, StateError, Watch, Write, Writes};

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
        // One that a failed write has closed says so before the queue is counted for nothing.
        live.db.persist(PersistMode::Buffer)?;
        live.make_buffer_room(&self.settings, &self.room, &self.buffered)?;
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
            live.commit(batch.durability(Some(mode)))?;
        }
        prepared.applied(durable);
        self.lock_buffered().wrote(&change);
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
