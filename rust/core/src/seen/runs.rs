//! The runs of a state and the way keys get there. One thread writes the keys of many batches as a new
//! run, others merge runs of like size, while look-ups go on; the switch to the new list goes with
//! a batch like everything else, and files are removed when no restart can ask for them.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::UrlKey;
use super::making::Making;
use super::pending::KeySet;
use super::run::{Label, Run, path_of};
use crate::store::state::{DiskSettings, Reads, Room, Space, StateError, Writes};

/// Where the store lists the runs.
const LIST_KEY: &[u8] = b"seen.runs";
/// Runs of like size that are merged into one: a key is written anew once for each time that the
/// number of keys has grown by this factor. Fewer: more bytes written; more: more runs to look into.
const FAN_IN: usize = 8;
/// Merges at a time: small runs that come while large ones are merged are not left to pile up.
const MERGES: usize = 2;
/// Runs at most; with more, batches wait for a merge.
const MOST_RUNS: usize = 64;
/// After a merge that failed, or for which the device has no room: until then look-ups go through more runs.
const PAUSE: Duration = Duration::from_secs(30);

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
    room: Room,
    switch: Option<Switch>,
    /// No longer listed, but a restart after a power cut may still find the old list.
    obsolete: Vec<Arc<Run>>,
    /// Threads that give files back to the system.
    removing: Vec<JoinHandle<()>>,
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
            // The store's own work must not run into a full device: it would close the store.
            room: Room::new(dir, DiskSettings::default().reserve_bytes),
            switch: None,
            obsolete: Vec::new(),
            removing: Vec::new(),
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

    fn merge(&mut self, runs: Vec<Arc<Run>>) -> Result<(), StateError> {
        let (dir, list, id) = (self.dir.clone(), runs.clone(), self.new_id());
        let is_closing = Arc::clone(&self.is_closing);
        let mut merge = Making::Idle;
        let started = merge.start(runs, "seen-merge", move || {
            Run::merge(&dir, id, &list, &|| is_closing.load(Ordering::Relaxed))
        });
        self.merges.push(merge);
        started
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
        let mut result = Ok(());
        for (at, merge) in self.merges.iter_mut().enumerate() {
            if let Err(error) = merge.progress(wait && at == 0) {
                merge.take_failed();
                self.pause = Some(Instant::now() + PAUSE);
                // A batch needs no merge, but it must not build on what is damaged.
                if wait || matches!(error, StateError::Format(_)) {
                    result = Err(error);
                }
            }
        }
        self.merges.retain(|merge| !merge.is_idle());
        result
    }

    /// Begins with the highest full tier for which there is room.
    fn begin_merge(&mut self, must: bool) -> Result<(), StateError> {
        let mut free: Vec<Arc<Run>> = self.list.clone();
        for merged in self.merges.iter().filter_map(Making::source) {
            free.retain(|run| !is_among(run, merged));
        }
        let counts: Vec<u64> = free.iter().map(|run| run.label.count).collect();
        for full in full_tiers(&counts) {
            let runs = free.iter().filter(|run| tier(run.label.count) <= full);
            let runs: Vec<Arc<Run>> = runs.cloned().collect();
            match self.room.check(keys_of(&runs) * size_of::<UrlKey>() as u64) {
                Ok(()) => return self.merge(runs),
                Err(error) if must => return Err(error),
                Err(_) => self.pause = Some(Instant::now() + PAUSE),
            }
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
            self.remove_obsolete();
        }
    }

    /// Removes the files that nobody asks for any more, on a thread: to free a file of a gigabyte takes the system
    /// 0.1 s and more, and a batch would wait for it.
    fn remove_obsolete(&mut self) {
        self.removing.retain(|thread| !thread.is_finished());
        let runs = std::mem::take(&mut self.obsolete);
        let remove = move || runs.iter().for_each(|run| run.remove());
        let thread = std::thread::Builder::new().name("seen-remove".to_owned());
        // Where there is no thread to be had, the next start removes them.
        self.removing.extend(thread.spawn(remove));
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
        let ram: usize = self.list.iter().map(|run| run.ram_bytes()).sum();
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
        for thread in self.removing.drain(..) {
            let _ = thread.join();
        }
    }
}

fn is_among(run: &Arc<Run>, runs: &[Arc<Run>]) -> bool {
    runs.iter().any(|other| Arc::ptr_eq(run, other))
}

fn keys_of(runs: &[Arc<Run>]) -> u64 {
    runs.iter().map(|run| run.label.count).sum()
}

/// The tiers that have enough runs, the highest first. All runs that are smaller are merged with them, which costs
/// little more. Sizes of one tier differ by less than the fan-in.
fn full_tiers(counts: &[u64]) -> Vec<u32> {
    let like = |of: u32| counts.iter().filter(|count| tier(**count) == of).count();
    let tiers: BTreeSet<u32> = counts.iter().map(|count| tier(*count)).collect();
    let full = tiers.into_iter().rev();
    full.filter(|of| like(*of) >= FAN_IN).collect()
}

fn tier(count: u64) -> u32 {
    count.max(1).ilog(FAN_IN as u64)
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
    use super::*;

    /// What a key costs on the way to 2 × 10⁸: how often it is written, how many runs are looked into.
    #[test]
    fn keys_are_written_a_few_times_and_runs_stay_few() {
        const LOAD: u64 = 1 << 19;
        let (mut counts, mut written, mut most) = (Vec::new(), 0, 0);
        for _ in 0..400 {
            counts.push(LOAD);
            written += LOAD;
            while let Some(&full) = full_tiers(&counts).first() {
                let merged = counts.iter().filter(|count| tier(**count) <= full);
                let sum = merged.sum();
                written += sum;
                counts.retain(|count| tier(*count) > full);
                counts.push(sum);
            }
            most = most.max(counts.len());
        }
        assert_eq!(counts.iter().sum::<u64>(), 400 * LOAD);
        assert!(written < 400 * LOAD * 3, "{written}");
        // Seven of each of three tiers.
        assert!(most <= 21, "{most}");
    }
}
