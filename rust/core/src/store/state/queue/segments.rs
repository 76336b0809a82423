//! The segments: the file that blocks are appended to, and what of each file is of use.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use super::collect::Walk;
use super::files::{Files, path_of, segment_of};
use super::index::{Index, all};
use crate::store::state::format::io_error;
use crate::store::state::{DiskSettings, Removal, StateError};

/// A segment ends when it is as large as this share of all that is live: what nobody needs in it is
/// given back only after it has ended, so in a small queue it must be small.
const SHARE: u64 = 8;
/// But not before it has so many bytes.
const LEAST: u64 = 4 << 20;

/// What a segment has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Meter {
    pub bytes: u64,
    pub live: u64,
}

/// The segment that is written to.
#[derive(Debug)]
struct Current {
    id: u32,
    file: Arc<File>,
    /// Bytes of batches that were applied.
    end: u32,
}

#[derive(Debug)]
pub(super) struct Segments {
    current: Option<Current>,
    next: u32,
    /// Bytes of a segment at most, where nothing else says that it ends before.
    most: u64,
    pub meters: BTreeMap<u32, Meter>,
    live: u64,
    /// Written to since they were flushed last.
    unflushed: Vec<Arc<File>>,
    /// A file was made, and its directory was not flushed since.
    made: bool,
    /// The segment whose live blocks are being written anew.
    pub walk: Option<Walk>,
    /// Nothing of them is named any more, but a power cut could bring the names back.
    obsolete: Vec<u32>,
    pub removal: Removal,
    /// A batch failed, and whether it holds is not known.
    pub is_uncounted: bool,
    /// A flush failed: the system may have dropped what was not written.
    is_broken: bool,
    /// Bytes that are to be looked through.
    pub debt: u64,
    /// Only durable batches move blocks.
    pub flushed: bool,
    /// Nothing is collected, so nothing has to be counted.
    pub at_rest: bool,
}

impl Segments {
    pub fn open(
        files: &Files,
        settings: &DiskSettings,
        index: &dyn Index,
    ) -> Result<Segments, StateError> {
        let dir = files.dir();
        let io = |error: std::io::Error| io_error(dir, &error);
        if !dir.try_exists().map_err(io)? {
            fs::create_dir_all(dir).map_err(io)?;
            if let Some(parent) = dir.parent() {
                File::open(parent)
                    .and_then(|parent| parent.sync_all())
                    .map_err(io)?;
            }
        }
        let mut meters = BTreeMap::new();
        for entry in fs::read_dir(dir).map_err(io)? {
            let path = entry.map_err(io)?.path();
            if let Some(segment) = segment_of(&path) {
                let file = File::open(&path).map_err(|e| io_error(&path, &e))?;
                let facts = file.metadata().map_err(|e| io_error(&path, &e))?;
                // The process before may not have flushed it, and rows that name it are on the device now.
                if settings.flushed && !settings.at_rest {
                    file.sync_data().map_err(|e| io_error(&path, &e))?;
                }
                let bytes = facts.len();
                meters.insert(segment, Meter { bytes, live: 0 });
            }
        }
        let mut segments = Segments {
            current: None,
            next: meters.keys().next_back().map_or(1, |last| last + 1),
            most: settings.segment_bytes,
            meters,
            live: 0,
            unflushed: Vec::new(),
            made: false,
            walk: None,
            obsolete: Vec::new(),
            removal: Removal::default(),
            is_uncounted: false,
            is_broken: false,
            debt: 0,
            flushed: settings.flushed,
            at_rest: settings.at_rest,
        };
        if !settings.at_rest {
            segments.count(files, index)?;
        }
        Ok(segments)
    }

    /// After a failed batch: looks at files and index as a new process does, and goes on in a new segment.
    pub fn count_again(&mut self, files: &Files, index: &dyn Index) -> Result<(), StateError> {
        if !self.is_uncounted {
            return Ok(());
        }
        // A file that goes meanwhile would look like one that was lost.
        self.removal.wait();
        let settings = DiskSettings {
            segment_bytes: self.most,
            flushed: self.flushed,
            at_rest: self.at_rest,
            ..DiskSettings::default()
        };
        let counted = Segments::open(files, &settings, index)?;
        *self = Segments {
            unflushed: std::mem::take(&mut self.unflushed),
            made: true,
            is_broken: self.is_broken,
            // A reader may still have a row that names a number that was given.
            next: self.next.max(counted.next),
            ..counted
        };
        Ok(())
    }

    /// Counts what is live in each segment, and refuses a state that has lost one.
    fn count(&mut self, files: &Files, index: &dyn Index) -> Result<(), StateError> {
        let mut lost = None;
        all(index, |chunk| {
            let end = u64::from(chunk.offset) + u64::from(chunk.length);
            match self.meters.get_mut(&chunk.segment) {
                Some(meter) if end <= meter.bytes => meter.live += chunk.live_bytes(),
                _ => lost = Some(chunk.segment),
            }
        })?;
        if let Some(segment) = lost {
            return Err(if self.meters.contains_key(&segment) {
                StateError::Format(format!(
                    "{} is cut; the state is damaged and was left as it is",
                    files.path(segment).display()
                ))
            } else {
                files.missing(segment)
            });
        }
        self.live = self.meters.values().map(|meter| meter.live).sum();
        let dead = self.meters.iter().filter(|(_, meter)| meter.live == 0);
        self.obsolete = dead.map(|(segment, _)| *segment).collect();
        Ok(())
    }

    /// Where the next block goes: a segment, and the place in it.
    pub fn end(&mut self) -> (u32, u32) {
        let most = self.most.min(LEAST.max(self.live / SHARE));
        if self
            .current
            .as_ref()
            .is_some_and(|current| u64::from(current.end) >= most)
            && let Some(current) = self.current.take()
        {
            let meter = self.meters.get(&current.id);
            if meter.is_some_and(|meter| meter.live == 0) && !self.at_rest {
                self.obsolete.push(current.id);
            }
        }
        match &self.current {
            Some(current) => (current.id, current.end),
            None => (self.next, 0),
        }
    }

    /// Whether a segment is still written to.
    pub fn is_current(&self, segment: u32) -> bool {
        self.current
            .as_ref()
            .is_some_and(|current| current.id == segment)
    }

    /// Writes blocks behind the last batch that was applied.
    pub fn append(&mut self, files: &Files, blocks: &[u8]) -> Result<(), StateError> {
        if blocks.is_empty() {
            return Ok(());
        }
        if self.current.is_none() {
            let path = path_of(files.dir(), self.next);
            let file = File::options()
                .write(true)
                .create(true)
                .truncate(true)
                .open(&path)
                .map_err(|error| io_error(&path, &error))?;
            self.made = true;
            self.meters.insert(self.next, Meter::default());
            self.current = Some(Current {
                id: self.next,
                file: Arc::new(file),
                end: 0,
            });
            self.next += 1;
        }
        let Some(current) = &self.current else {
            return Ok(());
        };
        let (file, end) = (Arc::clone(&current.file), u64::from(current.end));
        if let Err(error) = file.write_all_at(blocks, end) {
            // What was written before the disk was full is given back.
            let _ = file.set_len(end);
            return Err(io_error(&files.path(current.id), &error));
        }
        if !self.unflushed.iter().any(|other| Arc::ptr_eq(other, &file)) {
            self.unflushed.push(file);
        }
        Ok(())
    }

    /// Everything written so far survives a power cut when this returns.
    pub fn flush(&mut self, files: &Files) -> Result<(), StateError> {
        if self.is_broken {
            return Err(StateError::Store(
                "an earlier flush of the queue failed; look at the device, then resume".to_owned(),
            ));
        }
        let mut flushed = self
            .unflushed
            .drain(..)
            .try_for_each(|file| file.sync_data());
        if self.made {
            flushed = flushed.and_then(|()| File::open(files.dir())?.sync_all());
        }
        self.made = false;
        self.is_broken = flushed.is_err();
        flushed.map_err(|error| io_error(files.dir(), &error))
    }

    /// The batch with so many bytes of blocks is applied.
    pub fn applied(&mut self, live: &[(u32, i64)], blocks: u64) {
        if let Some(current) = &mut self.current {
            // Beyond that no block begins: `Draft` refuses it.
            current.end = current.end.saturating_add(blocks as u32);
            self.meters.entry(current.id).or_default().bytes = u64::from(current.end);
        }
        for (segment, change) in live {
            if let Some(meter) = self.meters.get_mut(segment) {
                meter.live = meter.live.saturating_add_signed(*change);
                self.live = self.live.saturating_add_signed(*change);
            }
        }
        if self.at_rest {
            return;
        }
        for (segment, _) in live {
            let dead = self
                .meters
                .get(segment)
                .is_some_and(|meter| meter.live == 0);
            if dead && !self.is_current(*segment) && !self.obsolete.contains(segment) {
                self.obsolete.push(*segment);
            }
        }
    }

    /// A durable batch was applied: what nobody names is not needed any more.
    pub fn remove_obsolete(&mut self, files: &Files) {
        if self.obsolete.is_empty() {
            return;
        }
        let gone = std::mem::take(&mut self.obsolete);
        for segment in &gone {
            self.meters.remove(segment);
        }
        self.walk.take_if(|walk| gone.contains(&walk.segment));
        let paths = gone.iter().map(|segment| files.path(*segment)).collect();
        let files = files.clone();
        let forget = move |path: &Path| {
            segment_of(path)
                .into_iter()
                .for_each(|segment| files.forget(segment))
        };
        self.removal.begin(paths, forget);
    }

    pub fn disk_bytes(&self) -> u64 {
        self.meters.values().map(|meter| meter.bytes).sum()
    }
}
