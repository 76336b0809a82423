//! Changes: what was written of each partition since its last snapshot, so that the next one holds
//! only that.
//!
//! Takes every batch that the store has applied; gives the changes of a partition, packed. It sits
//! behind the store itself, so no way of writing can pass it by. Guarantees: a snapshot and the
//! changes since are the next snapshot; RAM is bounded by [`PACK`] per partition, disk by the size
//! of the last whole snapshot; whenever that cannot be kept (too many changes, no room, a new
//! process) the partition is followed no longer, and its next snapshot is a whole one.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::snapshot;
use crate::canonical::partition;
use crate::seen::keys_of_row;
use crate::store::state::{DiskState, Space, Watch, Write, Writes};

/// Bytes that are packed together.
const PACK: usize = 32 << 10;
/// Snapshots of changes between two whole ones: as many files more must be read to take over.
const MOST_CUTS: u32 = 12;

#[derive(Debug)]
pub(super) struct Changes {
    dir: PathBuf,
    parts: Mutex<Vec<Part>>,
}

#[derive(Default)]
struct Part {
    followed: bool,
    /// Items that are not packed yet.
    items: Vec<u8>,
    /// Bytes in the file, and their sum: nothing flushes it, so what is read back may be other.
    packed: u64,
    sum: Xxh3,
    /// Bytes, and snapshots, until a whole one is less work.
    left: u64,
    cuts: u32,
}

impl std::fmt::Debug for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Part")
            .field("followed", &self.followed)
            .field("packed", &self.packed)
            .finish_non_exhaustive()
    }
}

impl Changes {
    /// Follows nothing yet. What an earlier process wrote may miss its last changes: it is removed.
    pub fn open(dir: &Path, partitions: u32) -> std::io::Result<Changes> {
        if dir.exists() {
            std::fs::remove_dir_all(dir)?;
        }
        std::fs::create_dir_all(dir)?;
        Ok(Changes {
            dir: dir.to_owned(),
            parts: Mutex::new((0..partitions).map(|_| Part::default()).collect()),
        })
    }

    /// From now on, beside a whole snapshot of so many bytes.
    pub fn follow(&self, partition: u32, whole: u64) {
        self.stop(partition);
        if let Some(part) = self.lock().get_mut(partition as usize) {
            (part.followed, part.left) = (true, whole);
        }
    }

    /// The changes since the last snapshot, if it was followed. The caller says with [`Changes::went_on`]
    /// when they are safe; until then nothing is followed.
    pub fn take(&self, partition: u32) -> Option<Vec<u8>> {
        let mut parts = self.lock();
        let part = parts.get_mut(partition as usize)?;
        if !part.followed || part.cuts >= MOST_CUTS {
            return None;
        }
        part.followed = false;
        let path = self.path(partition);
        let mut bytes = if part.packed > 0 {
            std::fs::read(&path).ok()?
        } else {
            Vec::new()
        };
        if bytes.len() as u64 != part.packed || xxh3_64(&bytes) != part.sum.digest() {
            return None;
        }
        bytes.extend(pack(&std::mem::take(&mut part.items))?);
        if part.packed > 0 {
            std::fs::remove_file(&path).ok()?;
        }
        (part.packed, part.sum) = (0, Xxh3::default());
        Some(bytes)
    }

    /// What was taken is in a file of so many bytes; the changes from then on are followed.
    pub fn went_on(&self, partition: u32, bytes: u64) {
        if let Some(part) = self.lock().get_mut(partition as usize) {
            part.left = part.left.saturating_sub(bytes);
            part.cuts += 1;
            part.followed = part.left > 0;
        }
    }

    pub fn stop(&self, partition: u32) {
        if let Some(part) = self.lock().get_mut(partition as usize) {
            self.end(partition, part);
        }
    }

    fn end(&self, partition: u32, part: &mut Part) {
        if part.packed > 0 {
            // One that stays is removed at the next start, and never read before.
            let _ = std::fs::remove_file(self.path(partition));
        }
        *part = Part::default();
    }

    fn path(&self, partition: u32) -> PathBuf {
        self.dir.join(format!("{partition:05}"))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Part>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pack(&self, partition: u32, part: &mut Part, state: &DiskState) {
        if self.append(partition, part, state).is_none() || part.packed > part.left {
            self.end(partition, part);
        }
    }

    fn append(&self, partition: u32, part: &mut Part, state: &DiskState) -> Option<()> {
        let bytes = pack(&part.items)?;
        part.items.clear();
        state.check_room(bytes.len() as u64).ok()?;
        let path = self.path(partition);
        let mut file = if part.packed == 0 {
            File::create(path).ok()?
        } else {
            OpenOptions::new().append(true).open(path).ok()?
        };
        // Counted first, so that a file that was written in part is removed.
        part.packed += bytes.len() as u64;
        part.sum.update(&bytes);
        file.write_all(&bytes).ok()
    }
}

fn pack(items: &[u8]) -> Option<Vec<u8>> {
    zstd::bulk::compress(items, snapshot::LEVEL).ok()
}

impl Watch for Changes {
    fn applied(&self, writes: &Writes, state: &DiskState) {
        let mut parts = self.lock();
        let count = u32::try_from(parts.len()).unwrap_or(u32::MAX);
        let mut note = |number: u32, add: &mut dyn FnMut(&mut Vec<u8>)| {
            let Some(part) = parts.get_mut(number as usize) else {
                return;
            };
            if part.followed {
                add(&mut part.items);
                if part.items.len() >= PACK {
                    self.pack(number, part, state);
                }
            }
        };
        for write in &writes.list {
            match write {
                // A batch's row holds the keys of all its fresh URLs; that it goes later, when they
                // are in a run, is no change.
                Write::Put { space, key, value } if *space == Space::Seen => {
                    for key in keys_of_row(key, value).unwrap_or_default() {
                        let number = partition(first_eight(&key.0).unwrap_or(0), count);
                        note(number, &mut |items| snapshot::add_key(items, key));
                    }
                }
                Write::Put { space, key, value } => {
                    if let Some(host_key) = snapshot::host_key(*space, key) {
                        note(partition(host_key, count), &mut |items| {
                            snapshot::add_row(items, *space, key, value);
                        });
                    }
                }
                Write::Remove { space, key } => {
                    if let Some(host_key) = snapshot::host_key(*space, key) {
                        note(partition(host_key, count), &mut |items| {
                            snapshot::add_removal(items, *space, key);
                        });
                    }
                }
            }
        }
    }
}

pub(super) fn first_eight(key: &[u8]) -> Option<u64> {
    key.first_chunk().map(|bytes| u64::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::super::snapshot::{Item, Summary, ranges, read, write};
    use super::*;
    use crate::seen::{UrlKey, row_of_keys};
    use crate::store::state::{DiskSettings, Reads, State};

    const PARTITIONS: u32 = 4;
    const SPACES: [Space; 7] = [
        Space::Hosts,
        Space::Queue,
        Space::Robots,
        Space::Index,
        Space::Meta,
        Space::Outbox,
        Space::Content,
    ];

    type Rows = BTreeMap<(Space, Vec<u8>), Vec<u8>>;

    struct World {
        dir: tempfile::TempDir,
        state: DiskState,
        changes: Arc<Changes>,
    }

    fn world() -> World {
        let dir = tempfile::tempdir().unwrap();
        let settings = DiskSettings {
            reserve_bytes: 0,
            ..DiskSettings::default()
        };
        let state = DiskState::open(&dir.path().join("state"), settings).unwrap();
        let changes = Changes::open(&dir.path().join("changes"), PARTITIONS).unwrap();
        let changes = Arc::new(changes);
        state.tell(Arc::clone(&changes) as Arc<dyn Watch>);
        World {
            dir,
            state,
            changes,
        }
    }

    /// What the store has of a partition, asked of the store.
    fn rows(world: &World, partition: u32) -> Rows {
        let mut found = Rows::new();
        for (space, from, to) in ranges(partition, PARTITIONS) {
            let mut visit = |key: &[u8], value: &[u8]| {
                found.insert((space, key.to_vec()), value.to_vec());
                true
            };
            world.state.scan(space, &from, &to, &mut visit).unwrap();
        }
        found
    }

    /// Adds the changes to what was known before; `None` when a whole snapshot is due.
    fn cut(
        world: &World,
        number: u32,
        known: &mut Rows,
        keys: &mut BTreeSet<[u8; 16]>,
    ) -> Option<()> {
        let body = world.changes.take(number)?;
        let path = world.dir.path().join("cut");
        let mut summary = Summary::default();
        write(&path, &mut summary, &body).unwrap();
        world.changes.went_on(number, summary.bytes);
        for item in read(&path).unwrap() {
            match item.unwrap() {
                Item::Row { space, key, value } => {
                    known.insert((space, key), value);
                }
                Item::Removal { space, key } => {
                    known.remove(&(space, key));
                }
                Item::Key(key) => assert!(keys.insert(key.0)),
            }
        }
        Some(())
    }

    fn host(of: u8) -> Vec<u8> {
        // Spread over all partitions, and several in each.
        let key = (u64::from(of) << 58) | u64::from(of);
        key.to_be_bytes().to_vec()
    }

    fn change(space: u8, of: u8, tail: u8, value: u16) -> Write {
        let space = SPACES[usize::from(space) % SPACES.len()];
        let mut key = if space == Space::Meta {
            [b"trap/".as_slice(), b"alias/skip/", b"node/"][usize::from(tail % 3)].to_vec()
        } else {
            Vec::new()
        };
        key.extend(host(of));
        key.push(tail % 8);
        if value.is_multiple_of(4) {
            return Write::Remove { space, key };
        }
        let value = value.to_string().repeat(usize::from(value % 50)).into();
        Write::Put { space, key, value }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn a_snapshot_and_the_changes_since_are_the_next(
            batches in prop::collection::vec(
                prop::collection::vec((any::<u8>(), 0..64u8, any::<u8>(), any::<u16>()), 1..200),
                1..12,
            ),
            cuts in prop::collection::vec(any::<bool>(), 12),
        ) {
            let world = world();
            let mut known: Vec<Rows> = vec![Rows::new(); PARTITIONS as usize];
            let mut keys: Vec<BTreeSet<[u8; 16]>> = vec![BTreeSet::new(); PARTITIONS as usize];
            let mut expected = keys.clone();
            for number in 0..PARTITIONS {
                world.changes.follow(number, 1 << 30);
            }
            for (round, (batch, cut_now)) in batches.into_iter().zip(cuts).enumerate() {
                let mut writes = Writes::default();
                let mut fresh = Vec::new();
                for (at, (space, of, tail, value)) in batch.into_iter().enumerate() {
                    writes.list.push(change(space, of, tail, value));
                    let mut key = [0; 16];
                    key[..8].copy_from_slice(&host(of));
                    key[14..].copy_from_slice(&[round as u8, at as u8]);
                    expected[usize::from(of / 16)].insert(key);
                    fresh.push(UrlKey(key));
                }
                let (row, value) = row_of_keys(round as u64, &fresh);
                writes.put(Space::Seen, row, value);
                if round > 1 {
                    writes.remove(Space::Seen, row_of_keys(round as u64 - 2, &[]).0);
                }
                world.state.apply(writes, false).unwrap();
                for number in (0..PARTITIONS).filter(|_| cut_now) {
                    let at = number as usize;
                    prop_assert!(cut(&world, number, &mut known[at], &mut keys[at]).is_some());
                    prop_assert_eq!(&known[at], &rows(&world, number));
                    prop_assert_eq!(&keys[at], &expected[at]);
                }
            }
        }
    }

    fn put(world: &World, host: u64, bytes: usize) {
        let mut writes = Writes::default();
        // Nothing that packs well.
        let value: Vec<u8> = (0..bytes as u64)
            .map(|at| (xxhash_rust::xxh3::xxh3_64(&at.to_le_bytes()) ^ host) as u8)
            .collect();
        writes.put(Space::Queue, host.to_be_bytes(), value);
        world.state.apply(writes, false).unwrap();
    }

    #[test]
    fn more_changes_than_the_whole_has_are_not_followed() {
        let world = world();
        world.changes.follow(0, 100 << 10);
        world.changes.follow(1, 100 << 10);
        for host in 0..5 {
            put(&world, host, 40 << 10);
        }
        put(&world, 1 << 62, 40 << 10);
        assert!(world.changes.take(0).is_none());
        assert!(world.changes.take(1).is_some());
        // Taken, but nobody said that it is safe.
        assert!(world.changes.take(1).is_none());
        let left = std::fs::read_dir(world.dir.path().join("changes")).unwrap();
        assert_eq!(left.count(), 0);
    }

    #[test]
    fn what_the_disk_has_changed_is_not_taken() {
        let world = world();
        world.changes.follow(0, 1 << 30);
        put(&world, 0, 40 << 10);
        let path = world.dir.path().join("changes/00000");
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[2000..3000].fill(0);
        std::fs::write(&path, bytes).unwrap();
        assert!(world.changes.take(0).is_none());
        world.changes.follow(0, 1 << 30);
        assert!(world.changes.take(0).is_some());
    }

    #[test]
    fn now_and_then_a_whole_one_comes() {
        let world = world();
        world.changes.follow(0, 1 << 30);
        for _ in 0..MOST_CUTS {
            assert!(world.changes.take(0).is_some());
            world.changes.went_on(0, 10);
        }
        assert!(world.changes.take(0).is_none());
    }

    #[test]
    fn a_new_process_follows_nothing() {
        let world = world();
        world.changes.follow(0, 1 << 30);
        put(&world, 0, 40 << 10);
        let dir = world.dir.path().join("changes");
        assert!(dir.join("00000").exists());
        let next = Changes::open(&dir, PARTITIONS).unwrap();
        assert!(next.take(0).is_none());
        assert!(!dir.join("00000").exists());
    }
}
