//! The runs of a state and the way keys get there. One thread writes the keys of many batches as a new
//! run, others merge runs of like size, while look-ups go on; the switch to the new list goes with
//! a batch like everything else, and files are removed when no restart can ask for them.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::UrlKey;
use super::making::Making;
use super::pending::KeySet;
use super::run::{Label, Run, path_of};
use super::tiers::choices;
use crate::store::state::{DiskSettings, Reads, Removal, Room, Space, StateError, Writes};

/// Where the store lists the runs.
const LIST_KEY: &[u8] = b"seen.runs";
/// Merges at a time: small runs that come while large ones are merged are not left to pile up.
const MERGES: usize = 2;
/// Runs at most; with more, batches wait for a merge.
const MOST_RUNS: usize = 64;
/// After a merge that failed, or for which the device has no room: until then look-ups go through more runs. Twice as
/// long after each further one that fails, up to an hour: a merge reads all that it merges before it fails.
const PAUSE: Duration = Duration::from_secs(30);
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);

/// Keys on their way into a run, and the rows of the store that hold them until then.
#[derive(Debug)]
struct Load {
    keys: Arc<KeySet>,
    rows: Vec<u64>,
}

/// A new list of runs that a batch carries.
#[derive(Debug)]
struct Switch {
    batch: u64,
    list: Vec<Arc<Run>>,
    has_load: bool,
    /// Runs in it that a merge has made.
    merged: Vec<u64>,
}

/// All runs, the largest first.
#[derive(Debug)]
pub struct Runs {
    dir: PathBuf,
    list: Vec<Arc<Run>>,
    next_id: u64,
    load: Making<Load>,
    /// At most [`MERGES`], of different runs.
    merges: Vec<Making<Vec<Arc<Run>>>>,
    /// No merge begins before, unless batches wait for one.
    pause: Option<Instant>,
    /// Merges that failed since one was made.
    failed: u32,
    room: Room,
    switch: Option<Switch>,
    /// No longer listed, but a restart after a power cut may still find the old list.
    obsolete: Vec<Arc<Run>>,
    removal: Removal,
    /// Tells a merge that nobody waits for it.
    is_closing: Arc<AtomicBool>,
}

impl Runs {
    /// Opens the runs that the store lists, gives each key to `visit`, and removes other files.
    pub fn open(
        dir: &Path,
        reads: &dyn Reads,
        mut visit: impl FnMut(UrlKey),
    ) -> Result<Runs, StateError> {
        let io = |error: std::io::Error| StateError::Store(format!("{}: {error}", dir.display()));
        fs::create_dir_all(dir).map_err(io)?;
        let mut list = Vec::new();
        let mut next_id = 1;
        for label in listed(reads)? {
            list.push(Arc::new(Run::open(dir, label, &mut visit)?));
            next_id = next_id.max(label.id + 1);
        }
        let named: HashSet<PathBuf> = list.iter().map(|run| path_of(dir, run.label.id)).collect();
        for entry in fs::read_dir(dir).map_err(io)? {
            let path = entry.map_err(io)?.path();
            if path.extension().is_some_and(|end| end == "run") && !named.contains(&path) {
                fs::remove_file(&path).map_err(io)?;
            }
        }
        Ok(Runs {
            dir: dir.to_path_buf(),
            list,
            next_id,
            load: Making::Idle,
            merges: Vec::new(),
            pause: None,
            failed: 0,
            // The store's own work must not run into a full device: it would close the store.
            room: Room::new(dir, DiskSettings::default().reserve_bytes),
            switch: None,
            obsolete: Vec::new(),
            removal: Removal::default(),
            is_closing: Arc::default(),
        })
    }

    /// Whether new keys can be taken in.
    pub fn is_idle(&self) -> bool {
        self.load.is_idle()
    }

    /// Begins to move keys, which are in `rows` of the store, into a run.
    pub fn begin(&mut self, keys: KeySet, rows: Vec<u64>) -> Result<(), StateError> {
        let keys = Arc::new(keys);
        self.write(Load { keys, rows })
    }

    fn write(&mut self, load: Load) -> Result<(), StateError> {
        let (dir, keys, id) = (self.dir.clone(), load.keys.clone(), self.new_id());
        self.load.start(load, "seen", move || {
            let mut keys: Vec<UrlKey> = keys.iter().copied().collect();
            keys.sort_unstable();
            Run::write(&dir, id, keys.len() as u64, keys.into_iter().map(Ok))
        })
    }

    fn merge(&mut self, runs: Vec<Arc<Run>>) {
        let (dir, list, id) = (self.dir.clone(), runs.clone(), self.new_id());
        let (is_closing, room) = (Arc::clone(&self.is_closing), self.room.clone());
        let go_on = move || {
            if is_closing.load(Ordering::Relaxed) {
                return Err(StateError::Store("a merge was ended".to_owned()));
            }
            // Others fill the same device meanwhile.
            room.check(0)
        };
        let mut merge = Making::Idle;
        let make = move || Run::merge(&dir, id, &list, &go_on);
        match merge.start(runs, "seen-merge", make) {
            Ok(()) => self.merges.push(merge),
            // Where there is no thread to be had, there may be one later.
            Err(_) => self.rest(),
        }
    }

    /// No merge begins for a while.
    fn rest(&mut self) {
        let pause = PAUSE.saturating_mul(1 << self.failed.min(16));
        self.pause = Some(Instant::now() + pause.min(LONGEST_PAUSE));
    }

    fn new_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id - 1
    }

    /// Goes on with what threads have done; with `wait` until the keys under way are in a run.
    pub fn progress(&mut self, wait: bool) -> Result<(), StateError> {
        self.load.progress(wait)?;
        if let Some(load) = self.load.take_failed() {
            self.write(load)?;
        }
        // With too many runs the smallest merge is waited for: it ends first.
        let waits = self.list.len() >= MOST_RUNS;
        self.end_merges(waits)?;
        if self.merges.len() < MERGES
            && (waits || self.pause.is_none_or(|end| end <= Instant::now()))
        {
            self.begin_merge(waits)?;
        }
        Ok(())
    }

    /// Takes what merges have made. The runs of one that failed are listed still, and chosen again after a pause.
    fn end_merges(&mut self, wait: bool) -> Result<(), StateError> {
        self.merges
            .sort_by_key(|merge| merge.source().map_or(0, |runs| keys_of(runs)));
        let (mut result, mut has_failed) = (Ok(()), false);
        for (at, merge) in self.merges.iter_mut().enumerate() {
            if let Err(error) = merge.progress(wait && at == 0) {
                merge.take_failed();
                has_failed = true;
                // A batch needs no merge, but it must not build on what is damaged.
                if wait || matches!(error, StateError::Format(_)) {
                    result = Err(error);
                }
            } else if merge.made().is_some() {
                self.failed = 0;
            }
        }
        if has_failed {
            self.rest();
            self.failed += 1;
        }
        self.merges.retain(|merge| !merge.is_idle());
        result
    }

    /// Keys that merges under way may not have written yet.
    fn promised(&self) -> u64 {
        let running = self.merges.iter().filter(|merge| merge.made().is_none());
        running
            .filter_map(Making::source)
            .map(|runs| keys_of(runs))
            .sum()
    }

    /// Begins with the highest full tier for which there is room. With `must` it is an error when there is none and
    /// nothing under way either.
    fn begin_merge(&mut self, must: bool) -> Result<(), StateError> {
        let mut free: Vec<Arc<Run>> = self.list.clone();
        for merged in self.merges.iter().filter_map(Making::source) {
            free.retain(|run| !is_among(run, merged));
        }
        let promised = self.promised();
        let counts: Vec<u64> = free.iter().map(|run| run.label.count).collect();
        let mut refused = None;
        let chosen = choices(&counts).into_iter().find(|from| {
            let keys: u64 = counts[*from..].iter().sum();
            let room = self
                .room
                .check((keys + promised) * size_of::<UrlKey>() as u64);
            room.map_err(|error| refused = Some(error)).is_ok()
        });
        match (chosen, refused) {
            (Some(from), _) => self.merge(free.split_off(from)),
            (None, Some(error)) if must && self.merges.is_empty() => return Err(error),
            (None, Some(_)) => self.rest(),
            (None, None) => {}
        }
        Ok(())
    }

    /// Lets batch number `batch` carry the new list, if there is one.
    pub fn carry(&mut self, batch: u64, writes: &mut Writes) {
        let load = self.load.made();
        let merges: Vec<_> = self.merges.iter().filter_map(Making::made).collect();
        if self.switch.is_some() || (load.is_none() && merges.is_empty()) {
            return;
        }
        let has_load = load.is_some();
        let mut list = self.list.clone();
        for (merged, run) in &merges {
            list.retain(|run| !is_among(run, merged));
            list.push(Arc::clone(run));
        }
        let merged = merges.iter().map(|(_, run)| run.label.id).collect();
        if let Some((load, run)) = load {
            list.push(Arc::clone(run));
            for row in &load.rows {
                writes.remove(Space::Seen, row.to_be_bytes());
            }
        }
        list.sort_by_key(|run| std::cmp::Reverse(run.label.count));
        let mut value = Vec::new();
        for run in &list {
            for number in [run.label.id, run.label.count, run.label.checksum] {
                value.extend_from_slice(&number.to_be_bytes());
            }
        }
        writes.put(Space::Meta, LIST_KEY, value);
        self.switch = Some(Switch {
            batch,
            list,
            has_load,
            merged,
        });
    }

    /// Batches up to `batch` are in the store; with `durable` they will stay.
    pub fn applied(&mut self, batch: u64, durable: bool) {
        if let Some(switch) = self.switch.take_if(|switch| switch.batch <= batch) {
            self.list = switch.list;
            if switch.has_load {
                self.load = Making::Idle;
            }
            for merge in &mut self.merges {
                let made = merge.made().map(|(_, run)| run.label.id);
                if made.is_some_and(|id| switch.merged.contains(&id)) {
                    self.obsolete.extend(merge.take().into_iter().flatten());
                }
            }
            self.merges.retain(|merge| !merge.is_idle());
        }
        if durable && !self.obsolete.is_empty() {
            let mut runs = std::mem::take(&mut self.obsolete);
            let paths = runs.iter().map(|run| run.path().to_owned()).collect();
            let drop_run = move |path: &Path| runs.retain(|run| run.path() != path);
            self.removal.begin(paths, drop_run);
        }
    }

    /// The batches under way are lost: a later one carries the list.
    pub fn forget_pending(&mut self) {
        self.switch = None;
    }

    /// Sets `known[i]` where a run, or what moves into one, has `keys[i]`; keys come in order.
    pub fn find(&self, keys: &[UrlKey], known: &mut [bool]) -> Result<(), StateError> {
        if let Some(load) = self.load.source() {
            for (key, known) in keys.iter().zip(known.iter_mut()) {
                *known = *known || load.keys.contains(key);
            }
        }
        self.list.iter().try_for_each(|run| run.find(keys, known))
    }

    /// Gives the keys from `first` to `last` to `visit`, those on their way into a run too.
    pub fn keys(
        &self,
        first: UrlKey,
        last: UrlKey,
        visit: &mut dyn FnMut(UrlKey),
    ) -> Result<(), StateError> {
        if let Some(load) = self.load.source() {
            let keys = load.keys.iter();
            keys.filter(|key| (first..=last).contains(key))
                .for_each(|key| visit(*key));
        }
        self.list
            .iter()
            .try_for_each(|run| run.keys(first, last, visit))
    }

    /// Bytes of RAM and of disk.
    pub fn bytes(&self) -> (usize, u64) {
        let load = self.load.source();
        // Twice, while they are sorted.
        let keys = load.map_or(0, |load| load.keys.capacity() * 2 * size_of::<UrlKey>());
        let mut ram: usize = self.list.iter().map(|run| run.ram_bytes()).sum();
        ram += Run::ram_for(self.promised());
        let all = self.list.iter().chain(&self.obsolete);
        let disk = all.map(|run| run.label.count * size_of::<UrlKey>() as u64);
        (keys + ram, disk.sum())
    }
}

impl Drop for Runs {
    fn drop(&mut self) {
        // The threads write into a directory that the next owner of the state will clean.
        self.is_closing.store(true, Ordering::Relaxed);
        self.load.end();
        self.merges.iter_mut().for_each(Making::end);
    }
}

fn is_among(run: &Arc<Run>, runs: &[Arc<Run>]) -> bool {
    runs.iter().any(|other| Arc::ptr_eq(run, other))
}

fn keys_of(runs: &[Arc<Run>]) -> u64 {
    runs.iter().map(|run| run.label.count).sum()
}

fn listed(reads: &dyn Reads) -> Result<Vec<Label>, StateError> {
    let value = reads.get(Space::Meta, LIST_KEY)?.unwrap_or_default();
    if value.len() % 24 != 0 {
        return Err(StateError::Format("the list of runs is damaged".to_owned()));
    }
    let number = |bytes: &[u8]| {
        let mut whole = [0; 8];
        whole.copy_from_slice(bytes);
        u64::from_be_bytes(whole)
    };
    let labels = value.chunks_exact(24).map(|row| Label {
        id: number(&row[..8]),
        count: number(&row[8..16]),
        checksum: number(&row[16..]),
    });
    Ok(labels.collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::seen::tiers::FAN_IN;
    use crate::store::state::{MemoryState, State};

    /// So many loads of keys, each in a run of its own; what can be merged is.
    fn load(runs: &mut Runs, state: &MemoryState, loads: u64) -> Result<(), StateError> {
        for _ in 0..loads {
            let number = runs.next_id;
            let key = |own: u64| UrlKey(u128::from(number << 8 | own).to_be_bytes());
            runs.begin((0..4).map(key).collect(), Vec::new())?;
            runs.progress(true)?;
            batch(runs, state);
        }
        Ok(())
    }

    fn batch(runs: &mut Runs, state: &MemoryState) {
        let mut writes = Writes::default();
        runs.carry(1, &mut writes);
        state.apply(writes, true).unwrap();
        runs.applied(1, true);
    }

    fn keys_in(runs: &Runs) -> u64 {
        keys_of(&runs.list)
    }

    #[test]
    fn merges_wait_for_room_and_batches_only_for_too_many_runs() {
        let (state, dir) = (MemoryState::default(), tempfile::tempdir().unwrap());
        let mut runs = Runs::open(dir.path(), &state, |_| {}).unwrap();
        // A device that has no room, ever.
        runs.room = Room::new(Path::new("/proc"), 0);
        load(&mut runs, &state, MOST_RUNS as u64).unwrap();
        assert_eq!(runs.list.len(), MOST_RUNS);
        assert!(runs.merges.is_empty() && runs.pause.is_some());
        // Now batches wait.
        let full = runs.progress(false);
        assert!(matches!(full, Err(StateError::DiskFull(_))), "{full:?}");
        // With room they go on, at once.
        runs.room = Room::new(dir.path(), 0);
        let begun = Instant::now();
        while runs.list.len() >= FAN_IN {
            assert!(begun.elapsed().as_secs() < 60, "{}", runs.list.len());
            runs.progress(false).unwrap();
            batch(&mut runs, &state);
        }
        assert_eq!(keys_in(&runs), 4 * MOST_RUNS as u64);
    }

    #[test]
    fn a_merge_under_way_keeps_the_room_that_it_was_promised() {
        let (state, dir) = (MemoryState::default(), tempfile::tempdir().unwrap());
        let mut runs = Runs::open(dir.path(), &state, |_| {}).unwrap();
        runs.room = Room::new(Path::new("/proc"), 0);
        load(&mut runs, &state, 8).unwrap();
        runs.room = Room::new(dir.path(), 0);
        runs.begin_merge(false).unwrap();
        // Its thread may have ended, but nobody has taken what it made.
        assert_eq!((runs.merges.len(), runs.promised()), (1, 32));
        runs.end_merges(true).unwrap();
        assert_eq!(runs.promised(), 0);
        batch(&mut runs, &state);
        assert_eq!((runs.list.len(), keys_in(&runs)), (1, 32));
    }

    #[test]
    fn damaged_runs_are_not_merged_into_whole_ones() {
        let (state, dir) = (MemoryState::default(), tempfile::tempdir().unwrap());
        let mut runs = Runs::open(dir.path(), &state, |_| {}).unwrap();
        runs.room = Room::new(Path::new("/proc"), 0);
        load(&mut runs, &state, 8).unwrap();
        let path = path_of(dir.path(), runs.list[3].label.id);
        let mut bytes = fs::read(&path).unwrap();
        bytes[17] ^= 1;
        fs::write(&path, bytes).unwrap();
        runs.room = Room::new(dir.path(), 0);
        runs.begin_merge(false).unwrap();
        let refused = runs.end_merges(true);
        assert!(matches!(refused, Err(StateError::Format(_))), "{refused:?}");
        assert!(runs.merges.is_empty());
        let files = fs::read_dir(dir.path()).unwrap().count();
        assert_eq!((files, runs.list.len()), (8, 8), "all that was there is");
    }

    #[test]
    fn what_fails_again_and_again_is_tried_more_and_more_rarely() {
        let (state, dir) = (MemoryState::default(), tempfile::tempdir().unwrap());
        let mut runs = Runs::open(dir.path(), &state, |_| {}).unwrap();
        let mut pauses = Vec::new();
        for failed in [0, 1, 6, 7, 60] {
            runs.failed = failed;
            runs.rest();
            let pause = runs.pause.unwrap().duration_since(Instant::now());
            pauses.push(pause.as_secs().next_multiple_of(10));
        }
        assert_eq!(pauses, [30, 60, 1_920, 3_600, 3_600]);
    }
}
