//! The segments' files, opened for reading when they are asked for.

use std::fs::File;
use std::num::NonZeroUsize;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;

use super::block::Block;
use super::chunk::Chunk;
use crate::store::state::StateError;
use crate::store::state::format::io_error;

/// Segments that stay open: a large queue has more of them than a process may have files.
const OPEN: usize = 64;

/// Why a chunk could not be read.
pub(super) enum Unread {
    /// Its segment is gone: what was live in it has moved since the row was read.
    Moved,
    Error(StateError),
}

#[derive(Clone, Debug)]
pub(super) struct Files {
    dir: PathBuf,
    open: Arc<Mutex<LruCache<u32, Arc<File>>>>,
}

/// The file of a segment.
pub(super) fn path_of(dir: &Path, segment: u32) -> PathBuf {
    dir.join(format!("{segment:08x}.seg"))
}

/// The segment that a file is of.
pub(super) fn segment_of(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?.strip_suffix(".seg")?;
    u32::from_str_radix(name, 16).ok()
}

impl Files {
    pub fn new(dir: &Path) -> Files {
        let most = NonZeroUsize::new(OPEN).unwrap_or(NonZeroUsize::MIN);
        Files {
            dir: dir.to_path_buf(),
            open: Arc::new(Mutex::new(LruCache::new(most))),
        }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn path(&self, segment: u32) -> PathBuf {
        path_of(&self.dir, segment)
    }

    /// A segment to read from.
    pub fn get(&self, segment: u32) -> std::io::Result<Arc<File>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = open.get(&segment) {
            return Ok(Arc::clone(file));
        }
        let file = Arc::new(File::open(self.path(segment))?);
        open.put(segment, Arc::clone(&file));
        Ok(file)
    }

    /// Removes a segment that no row names any more. One that stays is removed at the next start.
    pub fn remove(&self, segment: u32) {
        // First the name: a reader with older rows would otherwise open it again, and hold its blocks for long.
        let _ = std::fs::remove_file(self.path(segment));
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let file = open.pop(&segment);
        // Nobody who reads waits for the system to free the blocks.
        drop(open);
        drop(file);
    }

    /// The records of a chunk.
    pub fn read(&self, chunk: &Chunk) -> Result<Block, Unread> {
        let path = || self.path(chunk.segment);
        let lost = |how: &str| {
            Unread::Error(StateError::Format(format!(
                "{} {how} at {}; the state is damaged and was left as it is",
                path().display(),
                chunk.offset
            )))
        };
        let file = match self.get(chunk.segment) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(Unread::Moved);
            }
            Err(error) => return Err(Unread::Error(io_error(&path(), &error))),
        };
        let length = file.metadata().map_or(0, |facts| facts.len());
        // Also keeps a damaged row from asking for more memory than there are bytes.
        if u64::from(chunk.offset) + u64::from(chunk.length) > length {
            return Err(lost("is cut"));
        }
        let mut bytes = vec![0; chunk.length as usize];
        file.read_exact_at(&mut bytes, u64::from(chunk.offset))
            .map_err(|error| Unread::Error(io_error(&path(), &error)))?;
        Block::read(&bytes, &chunk.cell).ok_or_else(|| lost("has other bytes than were written"))
    }

    /// The same, for who knows that nothing moves meanwhile.
    pub fn read_still(&self, chunk: &Chunk) -> Result<Block, StateError> {
        self.read(chunk).map_err(|why| match why {
            Unread::Error(error) => error,
            Unread::Moved => self.missing(chunk.segment),
        })
    }

    pub fn missing(&self, segment: u32) -> StateError {
        StateError::Format(format!(
            "{} is missing; the state is damaged and was left as it is",
            self.path(segment).display()
        ))
    }
}
