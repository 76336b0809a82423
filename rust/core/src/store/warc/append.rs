//! A file that only grows, and whose end is always between two whole appends.

use super::error::WarcError;
use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(super) struct AppendFile {
    file: File,
    path: PathBuf,
    /// The end of the last whole append.
    length: u64,
    /// Bytes past `length` may be there: an append failed and could not be undone yet.
    torn: bool,
    /// A flush failed: the kernel may have dropped pages, and says so only once.
    uncertain: bool,
    dirty: bool,
}

impl AppendFile {
    /// A new file; one of that name must not exist.
    pub fn create(path: &Path) -> Result<Self, WarcError> {
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(path)
            .map_err(|e| WarcError::io(path, e))?;
        Ok(AppendFile::new(file, path, 0))
    }

    /// An existing file, cut to its committed length.
    pub fn reopen(path: &Path, committed: u64) -> Result<Self, WarcError> {
        let file = OpenOptions::new()
            .write(true)
            .open(path)
            .map_err(|e| match e.kind() {
                io::ErrorKind::NotFound => WarcError::Missing {
                    path: path.to_path_buf(),
                },
                _ => WarcError::io(path, e),
            })?;
        let length = file.metadata().map_err(|e| WarcError::io(path, e))?.len();
        if length < committed {
            return Err(WarcError::Short {
                path: path.to_path_buf(),
                length,
                committed,
            });
        }
        let mut this = AppendFile::new(file, path, committed);
        this.mend()?;
        Ok(this)
    }

    fn new(file: File, path: &Path, length: u64) -> Self {
        AppendFile {
            file,
            path: path.to_path_buf(),
            length,
            torn: true,
            uncertain: false,
            dirty: true,
        }
    }

    pub fn length(&self) -> u64 {
        self.length
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends all parts, or nothing. Gives the offset of the first.
    pub fn append(&mut self, parts: &[&[u8]]) -> Result<u64, WarcError> {
        self.check()?;
        self.mend()?;
        let offset = self.length;
        match write_all(&mut self.file, parts) {
            Ok(written) => {
                self.length += written;
                self.dirty |= written > 0;
                Ok(offset)
            }
            Err(error) => {
                self.torn = true;
                // If even this fails, the next append or a resume cuts the tail.
                let _ = self.mend();
                Err(WarcError::io(&self.path, error))
            }
        }
    }

    /// Returns when everything appended survives a power cut.
    pub fn sync(&mut self) -> Result<(), WarcError> {
        self.check()?;
        self.mend()?;
        if self.dirty {
            if let Err(error) = self.file.sync_data() {
                self.uncertain = true;
                return Err(WarcError::io(&self.path, error));
            }
            self.dirty = false;
        }
        Ok(())
    }

    fn check(&self) -> Result<(), WarcError> {
        if self.uncertain {
            return Err(WarcError::Uncertain {
                path: self.path.clone(),
            });
        }
        Ok(())
    }

    /// Cuts what a failed append or a crash left behind.
    fn mend(&mut self) -> Result<(), WarcError> {
        if self.torn {
            self.file
                .set_len(self.length)
                .and_then(|()| self.file.seek(SeekFrom::Start(self.length)))
                .map_err(|e| WarcError::io(&self.path, e))?;
            self.torn = false;
            self.dirty = true;
        }
        Ok(())
    }
}

fn write_all(file: &mut File, parts: &[&[u8]]) -> io::Result<u64> {
    let mut slices: Vec<IoSlice<'_>> = parts.iter().map(|part| IoSlice::new(part)).collect();
    let total = parts.iter().map(|part| part.len() as u64).sum();
    let mut rest = slices.as_mut_slice();
    // Drop empty slices in front, so that zero bytes written always means an error.
    IoSlice::advance_slices(&mut rest, 0);
    while !rest.is_empty() {
        match file.write_vectored(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => IoSlice::advance_slices(&mut rest, written),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(total)
}

/// Makes names created, changed or removed in `dir` survive a power cut.
pub(super) fn sync_dir(dir: &Path) -> Result<(), WarcError> {
    File::open(dir)
        .and_then(|handle| handle.sync_all())
        .map_err(|e| WarcError::io(dir, e))
}
