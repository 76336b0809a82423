//! The runs of a state and the way keys get there: a thread writes the keys of many batches as a
//! new run and merges runs of like size, while look-ups go on; the switch to the new list goes
//! with a batch like everything else, and files are removed when no restart can ask for them.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use super::UrlKey;
use super::run::{Label, Run, path_of};
use crate::store::state::{Reads, Space, StateError, Writes};

/// Where the store lists the runs.
const LIST_KEY: &[u8] = b"seen.runs";
/// An older run is merged when it is at most this many times as large as all newer ones. So each
/// is larger than that, and 10⁹ keys are in some seven runs.
const RATIO: u64 = 3;

/// Keys on their way into a run, and the rows of the store that hold them until then.
#[derive(Debug)]
struct Load {
    keys: Arc<Vec<UrlKey>>,
    rows: Vec<u64>,
}

#[derive(Debug)]
enum Move {
    Idle,
    Writing(Load, JoinHandle<Result<Vec<Arc<Run>>, StateError>>),
    /// Could not be written; the next batch tries again.
    Waiting(Load),
    /// Written; the number is that of the batch that carries the new list.
    Written(Load, Vec<Arc<Run>>, Option<u64>),
}

/// All runs, oldest and largest first.
#[derive(Debug)]
pub struct Runs {
    dir: PathBuf,
    list: Vec<Arc<Run>>,
    next_id: u64,
    moving: Move,
    /// No longer listed, but a restart after a power cut may still find the old list.
    obsolete: Vec<Arc<Run>>,
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
            moving: Move::Idle,
            obsolete: Vec::new(),
        })
    }

    /// Whether new keys can be taken in.
    pub fn is_idle(&self) -> bool {
        matches!(self.moving, Move::Idle)
    }

    /// Begins to move keys, which are in `rows` of the store, into a run.
    pub fn begin(&mut self, mut keys: Vec<UrlKey>, rows: Vec<u64>) -> Result<(), StateError> {
        keys.sort_unstable();
        self.start(Load {
            keys: Arc::new(keys),
            rows,
        })
    }

    fn start(&mut self, load: Load) -> Result<(), StateError> {
        let (dir, list, keys) = (self.dir.clone(), self.list.clone(), load.keys.clone());
        let id = self.next_id;
        self.next_id += 2;
        let work = move || write_and_merge(&dir, list, &keys, id);
        match std::thread::Builder::new().name("seen".into()).spawn(work) {
            Ok(thread) => {
                self.moving = Move::Writing(load, thread);
                Ok(())
            }
            Err(error) => {
                self.moving = Move::Waiting(load);
                Err(StateError::Store(format!("no thread: {error}")))
            }
        }
    }

    /// Goes on with a move, if one has come to an end; with `wait` until it has.
    pub fn progress(&mut self, wait: bool) -> Result<(), StateError> {
        match std::mem::replace(&mut self.moving, Move::Idle) {
            Move::Writing(load, thread) if wait || thread.is_finished() => match thread.join() {
                Ok(Ok(list)) => self.moving = Move::Written(load, list, None),
                Ok(Err(error)) => {
                    self.moving = Move::Waiting(load);
                    return Err(error);
                }
                Err(_) => {
                    self.moving = Move::Waiting(load);
                    return Err(StateError::Store("the writer of runs failed".to_owned()));
                }
            },
            Move::Waiting(load) => self.start(load)?,
            other => self.moving = other,
        }
        Ok(())
    }

    /// Lets batch number `batch` carry the new list, if there is one.
    pub fn carry(&mut self, batch: u64, writes: &mut Writes) {
        if let Move::Written(load, list, carried @ None) = &mut self.moving {
            *carried = Some(batch);
            let mut value = Vec::new();
            for run in list {
                for number in [run.label.id, run.label.count, run.label.checksum] {
                    value.extend_from_slice(&number.to_be_bytes());
                }
            }
            writes.put(Space::Meta, LIST_KEY, value);
            for row in &load.rows {
                writes.remove(Space::Seen, row.to_be_bytes());
            }
        }
    }

    /// Batches up to `batch` are in the store; with `durable` they will stay.
    pub fn applied(&mut self, batch: u64, durable: bool) {
        match std::mem::replace(&mut self.moving, Move::Idle) {
            Move::Written(_, list, Some(carried)) if carried <= batch => {
                let old = std::mem::replace(&mut self.list, list);
                let kept: HashSet<u64> = self.list.iter().map(|run| run.label.id).collect();
                let gone = old.into_iter().filter(|run| !kept.contains(&run.label.id));
                self.obsolete.extend(gone);
            }
            other => self.moving = other,
        }
        if durable {
            for run in self.obsolete.drain(..) {
                run.remove();
            }
        }
    }

    /// The batches under way are lost: a later one carries the list.
    pub fn forget_pending(&mut self) {
        if let Move::Written(_, _, carried) = &mut self.moving {
            *carried = None;
        }
    }

    /// Sets `known[i]` where a run, or what moves into one, has `keys[i]`; keys come in order.
    pub fn find(&self, keys: &[UrlKey], known: &mut [bool]) -> Result<(), StateError> {
        if let Move::Writing(load, _) | Move::Waiting(load) | Move::Written(load, ..) = &self.moving
        {
            for (key, known) in keys.iter().zip(known.iter_mut()) {
                *known = *known || load.keys.binary_search(key).is_ok();
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
        if let Move::Writing(load, _) | Move::Waiting(load) | Move::Written(load, ..) = &self.moving
        {
            let from = load.keys.partition_point(|key| *key < first);
            let keys = load.keys.iter().skip(from);
            keys.take_while(|key| **key <= last)
                .for_each(|key| visit(*key));
        }
        self.list
            .iter()
            .try_for_each(|run| run.keys(first, last, visit))
    }

    /// Bytes of RAM and of disk.
    pub fn bytes(&self) -> (usize, u64) {
        let keys = match &self.moving {
            Move::Idle => 0,
            Move::Writing(load, _) | Move::Waiting(load) | Move::Written(load, ..) => {
                load.keys.capacity() * size_of::<UrlKey>()
            }
        };
        let ram: usize = self.list.iter().map(|run| run.ram_bytes()).sum();
        let all = self.list.iter().chain(&self.obsolete);
        let disk = all.map(|run| run.label.count * size_of::<UrlKey>() as u64);
        (keys + ram, disk.sum())
    }
}

impl Drop for Runs {
    fn drop(&mut self) {
        // The thread writes into a directory that the next owner of the state will clean.
        if let Move::Writing(_, thread) = std::mem::replace(&mut self.moving, Move::Idle) {
            let _ = thread.join();
        }
    }
}

/// Writes the keys as the newest run, then merges it with its elders while they are not much
/// larger. Uses the numbers `id` and `id + 1`.
fn write_and_merge(
    dir: &Path,
    mut list: Vec<Arc<Run>>,
    keys: &[UrlKey],
    id: u64,
) -> Result<Vec<Arc<Run>>, StateError> {
    let young = Run::write(dir, id, keys.iter().map(|key| Ok(*key)))?;
    list.push(Arc::new(young));
    let mut sum = keys.len() as u64;
    let mut from = list.len() - 1;
    while from > 0 && list[from - 1].label.count <= RATIO * sum {
        from -= 1;
        sum += list[from].label.count;
    }
    if from < list.len() - 1 {
        let merged = Run::merge(dir, id + 1, &list[from..]);
        // Never listed in the store: it may go at once.
        if let Some(young) = list.pop() {
            young.remove();
        }
        list.truncate(from);
        list.push(Arc::new(merged?));
    }
    Ok(list)
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
