//! The segments' files, opened for reading when they are asked for.

use std::fs::File;
use std::num::NonZeroUsize;
use std::os::unix::fs::{FileExt, MetadataExt};
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

/// Whether a file has been removed. Then it is cut short, piece by piece, while others may have it open.
fn is_gone(file: &File) -> bool {
    file.metadata().is_ok_and(|facts| facts.nlink() == 0)
}

fn length(file: &File) -> u64 {
    file.metadata().map_or(0, |facts| facts.len())
}

fn end_of(chunk: &Chunk) -> u64 {
    u64::from(chunk.offset) + u64::from(chunk.length)
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

    /// A segment's file has no name any more.
    pub fn forget(&self, segment: u32) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.pop(&segment);
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
        // Also keeps a damaged row from asking for more memory than there are bytes.
        if end_of(chunk) > length(&file) {
            return Err(if is_gone(&file) {
                Unread::Moved
            } else {
                lost("is cut")
            });
        }
        let mut bytes = vec![0; chunk.length as usize];
        file.read_exact_at(&mut bytes, u64::from(chunk.offset))
            .map_err(|error| match is_gone(&file) {
                true => Unread::Moved,
                false => Unread::Error(io_error(&path(), &error)),
            })?;
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_was_cut_short_after_its_removal_has_moved_and_is_no_damage() {
        let dir = tempfile::tempdir().unwrap();
        let files = Files::new(dir.path());
        let path = files.path(7);
        std::fs::write(&path, [0; 100]).unwrap();
        let chunk = Chunk {
            cell: Default::default(),
            segment: 7,
            offset: 10,
            length: 80,
            count: 1,
            live: [3].into_iter().collect(),
        };
        assert!(
            matches!(files.read(&chunk), Err(Unread::Error(_))),
            "no block"
        );
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(50).unwrap();
        assert!(matches!(files.read(&chunk), Err(Unread::Error(_))), "cut");
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(files.read(&chunk), Err(Unread::Moved)));
        files.forget(7);
        assert!(matches!(files.read(&chunk), Err(Unread::Moved)));
    }
}
