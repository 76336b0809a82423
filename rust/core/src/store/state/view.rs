//! A view of a state: a directory that is opened in its place, so that a look changes nothing.
//!
//! The store has no way of opening that does not write: it cuts journals, removes what nothing refers to, and
//! merges. A view gives it other files to do that to. Those that are written once (sorted tables, segments of the
//! queue, runs of `seen`), which are nearly all bytes of a large state, are symbolic links: the store only reads them, and
//! what it removes is the link. The others (journals, lists of tables) are copied; their size is bounded by
//! [`super::DiskSettings::journal_bytes`] and the number of tables. As long as a view lasts nobody can change
//! the state that it shows.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;

use super::StateError;
use super::format::{Lock, io_error};

/// Keeps the state as it is.
#[derive(Debug)]
pub struct View {
    _lock: Option<Lock>,
}

impl View {
    /// Shows the state of `from` in `to`. Refused while a process has it open to change it.
    pub fn make(from: &Path, to: &Path) -> Result<View, StateError> {
        let from = from.canonicalize().map_err(|e| io_error(from, &e))?;
        let lock = Lock::share(&from)?;
        show(&from, to)?;
        Ok(View { _lock: lock })
    }
}

fn show(from: &Path, to: &Path) -> Result<(), StateError> {
    fs::create_dir_all(to).map_err(|e| io_error(to, &e))?;
    for entry in fs::read_dir(from).map_err(|e| io_error(from, &e))? {
        let entry = entry.map_err(|e| io_error(from, &e))?;
        let (path, place) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(|e| io_error(&path, &e))?;
        if kind.is_dir() {
            show(&path, &place)?;
        } else if is_written_once(&path) {
            symlink(&path, &place).map_err(|e| io_error(&place, &e))?;
        } else {
            copy(&path, &place)?;
        }
    }
    Ok(())
}

/// Whether nobody writes to the file again.
fn is_written_once(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name);
    let end = path.extension();
    end.is_some_and(|end| end == "run" || end == "seg")
        || folder.is_some_and(|name| name == "tables" || name == "blobs")
}

/// Without its rights: the copy is written to, also where the file may only be read.
fn copy(from: &Path, to: &Path) -> Result<(), StateError> {
    let mut source = File::open(from).map_err(|e| io_error(from, &e))?;
    let mut copy = File::create_new(to).map_err(|e| io_error(to, &e))?;
    std::io::copy(&mut source, &mut copy).map_err(|e| io_error(to, &e))?;
    Ok(())
}
