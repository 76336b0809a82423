//! A numbered sequence of append files with one owner and one committed position.
//!
//! The caller commits [`Sequence::position`] with its state, then reports it with
//! [`Sequence::committed`]. A file loses its `.open` only after that, so a finished file holds
//! committed records only, and a resume never has to touch one.

use super::append::{AppendFile, sync_dir};
use super::error::WarcError;
use super::{Micros, date};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const OPEN: &str = ".open";

/// When appended bytes are flushed to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FsyncPolicy {
    /// At every [`Sequence::sync`].
    Always,
    /// At the first `sync` after this time since the last flush.
    Interval(Duration),
    /// Only when a file is finished.
    Never,
}

/// Where the next append goes; everything before it is whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The file's number in its sequence.
    pub serial: u32,
    /// The file's name when finished.
    pub name: String,
    pub offset: u64,
}

impl Position {
    /// The form kept in the state: number, offset, name.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = self.serial.to_be_bytes().to_vec();
        out.extend_from_slice(&self.offset.to_be_bytes());
        out.extend_from_slice(self.name.as_bytes());
        out
    }

    /// Reads what [`Position::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, WarcError> {
        let parse = || {
            let (serial, rest) = bytes.split_first_chunk::<4>()?;
            let (offset, name) = rest.split_first_chunk::<8>()?;
            let name = std::str::from_utf8(name).ok()?;
            // A name never leads out of its directory.
            let plain = !name.is_empty() && !name.contains(['/', '\0']);
            plain.then(|| Position {
                serial: u32::from_be_bytes(*serial),
                name: name.to_owned(),
                offset: u64::from_be_bytes(*offset),
            })
        };
        parse().ok_or_else(|| WarcError::Invalid("the stored file position is damaged".into()))
    }
}

/// How the files of a sequence are called: `PREFIX-YYYYMMDDhhmmss-NNNNN-NODE.SUFFIX`.
#[derive(Clone, Debug)]
pub(super) struct Naming {
    pub prefix: &'static str,
    pub node: String,
    pub suffix: &'static str,
    /// Whether a file is called `….open` until it is finished.
    pub marks_open: bool,
}

impl Naming {
    fn name(&self, now: Micros, serial: u32) -> String {
        let (prefix, node, suffix) = (self.prefix, &self.node, self.suffix);
        format!(
            "{prefix}-{}-{serial:05}-{node}{suffix}",
            date::fourteen(now)
        )
    }

    /// The number in a finished name, if the file belongs to this sequence.
    fn serial(&self, name: &str) -> Option<u32> {
        let rest = name.strip_prefix(self.prefix)?.strip_prefix('-')?;
        let (stamp, rest) = rest.split_at_checked(14)?;
        let (serial, node) = rest
            .strip_prefix('-')?
            .strip_suffix(self.suffix)?
            .split_once('-')?;
        let ours = node == self.node && stamp.bytes().all(|b| b.is_ascii_digit());
        ours.then(|| serial.parse().ok()).flatten()
    }
}

/// Settings that all sequences share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub max_size: u64,
    pub fsync: FsyncPolicy,
}

#[derive(Debug)]
struct Current {
    serial: u32,
    name: String,
    file: AppendFile,
}

#[derive(Debug)]
pub(super) struct Sequence {
    dir: PathBuf,
    naming: Naming,
    limits: Limits,
    current: Option<Current>,
    /// Full and flushed, but with records that the caller has not reported as committed.
    full: BTreeMap<u32, String>,
    position: Option<Position>,
    next_serial: u32,
    last_flush: Micros,
    names_dirty: bool,
}

/// A file found on disk: its number, its finished name, and whether it is marked open.
struct Found {
    serial: u32,
    name: String,
    open: bool,
}

impl Sequence {
    /// A sequence after whatever files are there; none of them is touched.
    pub fn create(dir: &Path, naming: Naming, limits: Limits) -> Result<Self, WarcError> {
        fs::create_dir_all(dir).map_err(|e| WarcError::io(dir, e))?;
        let found = scan(dir, &naming)?;
        Ok(Sequence::new(dir, naming, limits, &found))
    }

    /// The sequence as it was when `position` was committed.
    pub fn resume(
        dir: &Path,
        naming: Naming,
        limits: Limits,
        position: Option<&Position>,
    ) -> Result<Self, WarcError> {
        fs::create_dir_all(dir).map_err(|e| WarcError::io(dir, e))?;
        let found = scan(dir, &naming)?;
        let mut this = Sequence::new(dir, naming, limits, &found);
        // Judge everything before anything is changed: a wrong state must not cost a record.
        let newer = |file: &&Found| position.is_none_or(|at| file.serial > at.serial);
        let uncommitted: Vec<&Found> = found.iter().filter(newer).collect();
        this.judge(&uncommitted)?;
        let committed = match position {
            Some(position) => {
                if this.naming.serial(&position.name) != Some(position.serial) {
                    let text = format!("{} is not a file of this sequence", position.name);
                    return Err(WarcError::Invalid(text));
                }
                this.reopen(position)?
            }
            None => None,
        };
        for file in uncommitted {
            let path = this.dir.join(this.name_on_disk(&file.name, file.open));
            fs::remove_file(&path).map_err(|e| WarcError::io(&path, e))?;
        }
        // Rotated and flushed before the committed file began, but not renamed yet.
        for file in found.iter().filter(|file| file.open) {
            if position.is_some_and(|at| file.serial < at.serial) {
                this.unmark(&file.name)?;
            }
        }
        sync_dir(&this.dir)?;
        this.next_serial = position.map_or(0, |at| at.serial.saturating_add(1));
        this.current = committed;
        this.position = position.cloned();
        Ok(this)
    }

    fn new(dir: &Path, naming: Naming, limits: Limits, found: &[Found]) -> Self {
        Sequence {
            dir: dir.to_path_buf(),
            naming,
            limits,
            current: None,
            full: BTreeMap::new(),
            position: None,
            next_serial: found
                .iter()
                .map(|file| file.serial.saturating_add(1))
                .max()
                .unwrap_or(0),
            last_flush: 0,
            names_dirty: false,
        }
    }

    /// Refuses a state that is older than the files. A crash leaves at most one newer file, and
    /// where files are marked, none that is finished.
    fn judge(&self, uncommitted: &[&Found]) -> Result<(), WarcError> {
        let wrong = if self.naming.marks_open {
            uncommitted.iter().find(|file| !file.open)
        } else {
            uncommitted.get(1)
        };
        wrong.map_or(Ok(()), |file| {
            Err(WarcError::StateBehind {
                path: self.dir.join(&file.name),
            })
        })
    }

    /// The committed file, cut to the committed offset; nothing if it was finished.
    fn reopen(&self, position: &Position) -> Result<Option<Current>, WarcError> {
        let finished = self.dir.join(&position.name);
        if self.naming.marks_open && finished.exists() {
            let meta = fs::metadata(&finished).map_err(|e| WarcError::io(&finished, e))?;
            return match meta.len() {
                length if length == position.offset => Ok(None),
                length if length > position.offset => {
                    Err(WarcError::StateBehind { path: finished })
                }
                length => Err(WarcError::Short {
                    path: finished,
                    length,
                    committed: position.offset,
                }),
            };
        }
        let path = self.dir.join(self.name_on_disk(&position.name, true));
        Ok(Some(Current {
            serial: position.serial,
            name: position.name.clone(),
            file: AppendFile::reopen(&path, position.offset)?,
        }))
    }

    fn name_on_disk(&self, name: &str, open: bool) -> String {
        let mark = if open && self.naming.marks_open {
            OPEN
        } else {
            ""
        };
        format!("{name}{mark}")
    }

    fn unmark(&mut self, name: &str) -> Result<(), WarcError> {
        if self.naming.marks_open {
            let from = self.dir.join(self.name_on_disk(name, true));
            fs::rename(&from, self.dir.join(name)).map_err(|e| WarcError::io(&from, e))?;
            self.names_dirty = true;
        }
        Ok(())
    }

    /// Where the next append goes; nothing before the first one.
    pub fn position(&self) -> Option<&Position> {
        self.position.as_ref()
    }

    /// Appends all parts to one file, or nothing. `opening` makes the first bytes of a new file
    /// from its name. Gives the file's number, its name, and the offset of the first part.
    pub fn append(
        &mut self,
        now: Micros,
        parts: &[&[u8]],
        opening: impl FnOnce(&str) -> Vec<u8>,
    ) -> Result<Position, WarcError> {
        let length: u64 = parts.iter().map(|part| part.len() as u64).sum();
        if let Some(current) = &self.current
            && current.file.length() > 0
            && current.file.length().saturating_add(length) > self.limits.max_size
        {
            self.rotate()?;
        }
        let fresh = self.current.is_none();
        if fresh {
            let serial = self.next_serial;
            let name = self.naming.name(now, serial);
            let path = self.dir.join(self.name_on_disk(&name, true));
            let file = AppendFile::create(&path)?;
            self.names_dirty = true;
            self.next_serial = serial.saturating_add(1);
            self.current = Some(Current { serial, name, file });
        }
        let Some(current) = &mut self.current else {
            return Err(WarcError::Invalid("no file is open".into()));
        };
        let first = if fresh {
            opening(&current.name)
        } else {
            Vec::new()
        };
        let mut all = Vec::with_capacity(parts.len() + 1);
        all.push(first.as_slice());
        all.extend_from_slice(parts);
        match current.file.append(&all) {
            Ok(offset) => {
                let mut at = Position {
                    serial: current.serial,
                    name: current.name.clone(),
                    offset: offset + first.len() as u64,
                };
                let begin = at.clone();
                at.offset += length;
                self.position = Some(at);
                Ok(begin)
            }
            Err(error) => {
                if fresh {
                    // Nothing half visible: not even an empty file.
                    let _ = fs::remove_file(current.file.path());
                    self.next_serial = current.serial;
                    self.current = None;
                }
                Err(error)
            }
        }
    }

    /// Flushes the full file and sets it aside until its records are reported as committed.
    fn rotate(&mut self) -> Result<(), WarcError> {
        if let Some(current) = &mut self.current {
            current.file.sync()?;
        }
        if let Some(current) = self.current.take() {
            self.full.insert(current.serial, current.name);
        }
        Ok(())
    }

    /// Flushes as the policy says. True: everything appended so far survives a power cut.
    pub fn sync(&mut self, now: Micros) -> Result<bool, WarcError> {
        let due = match self.limits.fsync {
            FsyncPolicy::Always => true,
            // A clock set back makes it due: better once too often.
            FsyncPolicy::Interval(gap) => now
                .checked_sub(self.last_flush)
                .is_none_or(|past| u128::from(past) >= gap.as_micros()),
            FsyncPolicy::Never => false,
        };
        if due {
            self.flush()?;
            self.last_flush = now;
        }
        Ok(due)
    }

    fn flush(&mut self) -> Result<(), WarcError> {
        if let Some(current) = &mut self.current {
            current.file.sync()?;
        }
        self.sync_names()
    }

    fn sync_names(&mut self) -> Result<(), WarcError> {
        if self.names_dirty {
            sync_dir(&self.dir)?;
            self.names_dirty = false;
        }
        Ok(())
    }

    /// The caller's state up to `position` is committed: full files before it are finished.
    pub fn committed(&mut self, position: &Position) -> Result<(), WarcError> {
        while let Some((&serial, name)) = self.full.first_key_value()
            && serial < position.serial
        {
            let name = name.clone();
            self.unmark(&name)?;
            self.full.remove(&serial);
        }
        if self.limits.fsync == FsyncPolicy::Never {
            return Ok(());
        }
        self.sync_names()
    }

    /// Finishes everything; the caller has committed [`Sequence::position`].
    pub fn close(&mut self) -> Result<(), WarcError> {
        self.rotate()?;
        while let Some((&serial, name)) = self.full.first_key_value() {
            let name = name.clone();
            self.unmark(&name)?;
            self.full.remove(&serial);
        }
        self.sync_names()
    }
}

fn scan(dir: &Path, naming: &Naming) -> Result<Vec<Found>, WarcError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(|e| WarcError::io(dir, e))? {
        let entry = entry.map_err(|e| WarcError::io(dir, e))?;
        let Ok(file_name) = entry.file_name().into_string() else {
            continue;
        };
        let (name, open) = match file_name.strip_suffix(OPEN) {
            Some(name) if naming.marks_open => (name, true),
            _ => (file_name.as_str(), false),
        };
        if let Some(serial) = naming.serial(name) {
            found.push(Found {
                serial,
                name: name.to_owned(),
                open,
            });
        }
    }
    found.sort_by_key(|file| file.serial);
    Ok(found)
}
