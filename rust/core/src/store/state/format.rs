//! The directory of a state: one owner at a time, a format version, and a birth that is whole or
//! has not happened.
//!
//! ```text
//! DIR/lock            held by the process that has the state open, shared by those that look at it
//! DIR/creating/       a store being born; removed when found, nobody has used it yet
//! DIR/store/FORMAT    "gossamer-state 6"
//! DIR/store/…         the store's own files
//! DIR/queue/…         the queue's segments
//! ```

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

use super::StateError;

/// The format this program writes.
pub const FORMAT: u32 = 6;
/// The one before it, which is brought to the format of now when it is opened (`migrate.rs`).
pub const BEFORE: u32 = 5;

const MARK: &str = "gossamer-state";
const MARK_FILE: &str = "FORMAT";
/// A mark is one short line; more than this is not ours.
const MARK_LIMIT: u64 = 256;

/// How long to wait for another owner to let go.
const PATIENCE: Duration = Duration::from_millis(500);

/// The right to use a state directory; given back when dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of `dir`, which must exist.
    pub fn take(dir: &Path) -> Result<Lock, StateError> {
        let path = dir.join("lock");
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|e| io_error(&path, &e))?;
        Lock::of(dir, file, FlockOperation::NonBlockingLockExclusive)
    }

    /// Keeps others from changing `dir`, and not from looking at it; writes nothing. None: it has no lock file, so
    /// nobody ever opened it here, and it may be in a place where none can be made.
    pub fn share(dir: &Path) -> Result<Option<Lock>, StateError> {
        let path = dir.join("lock");
        match File::open(&path) {
            Ok(file) => Lock::of(dir, file, FlockOperation::NonBlockingLockShared).map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(io_error(&path, &error)),
        }
    }

    fn of(dir: &Path, file: File, how: FlockOperation) -> Result<Lock, StateError> {
        let begun = Instant::now();
        loop {
            match flock(&file, how) {
                Ok(()) => return Ok(Lock { _file: file }),
                // A child process shares an earlier owner's lock between its fork and its exec.
                Err(rustix::io::Errno::WOULDBLOCK) if begun.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                Err(rustix::io::Errno::WOULDBLOCK) => {
                    return Err(StateError::InUse(format!(
                        "{} is open in another process",
                        dir.display()
                    )));
                }
                Err(e) => return Err(io_error(&dir.join("lock"), &e.into())),
            }
        }
    }
}

/// An error of the file system, with the path it is about.
pub fn io_error(path: &Path, error: &std::io::Error) -> StateError {
    let text = format!("{}: {error}", path.display());
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StateError::DiskFull(text),
        _ => StateError::Store(text),
    }
}

/// The store's directory and its format, if the state exists and is of a format that we read; None if
/// there is no state yet.
pub fn find(dir: &Path) -> Result<Option<(PathBuf, u32)>, StateError> {
    let store = dir.join("store");
    if !store
        .try_exists()
        .map_err(|error| io_error(&store, &error))?
    {
        return Ok(None);
    }
    let path = store.join(MARK_FILE);
    let mut text = String::new();
    match File::open(&path) {
        Ok(file) => {
            if let Err(error) = file.take(MARK_LIMIT).read_to_string(&mut text) {
                return Err(match error.kind() {
                    ErrorKind::InvalidData => damaged(&path, "is not text"),
                    _ => io_error(&path, &error),
                });
            }
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(damaged(&path, "is missing"));
        }
        Err(error) => return Err(io_error(&path, &error)),
    }
    let version = text
        .trim_end()
        .strip_prefix(MARK)
        .and_then(|rest| rest.trim().parse::<u32>().ok())
        .ok_or_else(|| damaged(&path, "does not name a format"))?;
    if version != FORMAT && version != BEFORE {
        let advice = if version > FORMAT {
            "use the newer version of Gossamer that wrote it"
        } else {
            "go on with the older version of Gossamer that wrote it, or begin a new crawl in another \
             directory"
        };
        return Err(StateError::Format(format!(
            "{} is of format {version}, this version of Gossamer knows format {FORMAT}; {advice}",
            dir.display()
        )));
    }
    Ok(Some((store, version)))
}

fn damaged(path: &Path, how: &str) -> StateError {
    StateError::Format(format!(
        "{} {how}; the state is damaged and was left as it is",
        path.display()
    ))
}

/// Makes the store with `make` beside its place, marks it, and moves it there in one step.
pub fn create(
    dir: &Path,
    make: impl FnOnce(&Path) -> Result<(), StateError>,
) -> Result<PathBuf, StateError> {
    let (young, store) = (dir.join("creating"), dir.join("store"));
    match fs::remove_dir_all(&young) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(io_error(&young, &error)),
        _ => {}
    }
    make(&young)?;
    write_mark(&young)?;
    fs::rename(&young, &store)
        .and_then(|()| File::open(dir)?.sync_all())
        .map_err(|error| io_error(&store, &error))?;
    Ok(store)
}

/// Marks a store as one of the format of now, in one step.
pub fn write_mark(store: &Path) -> Result<(), StateError> {
    let (path, temporary) = (store.join(MARK_FILE), store.join("FORMAT.new"));
    let written = File::create(&temporary).and_then(|mut file| {
        writeln!(file, "{MARK} {FORMAT}")?;
        file.sync_all()
    });
    written
        .and_then(|()| fs::rename(&temporary, &path))
        .and_then(|()| File::open(store)?.sync_all())
        .map_err(|error| io_error(&path, &error))
}
