//! The WARC files of a node: one owner appends members and learns where each is.

use super::Micros;
use super::error::WarcError;
use super::record::{Builder, Member};
use super::sequence::{FsyncPolicy, Limits, Naming, Position, Sequence};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Where a record is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The number of the file, unique within a node.
    pub serial: u32,
    /// The file's name when finished.
    pub name: Arc<str>,
    pub offset: u64,
    pub length: u64,
}

/// Settings of a [`Writer`].
#[derive(Clone, Debug)]
pub struct Settings {
    /// Goes into the file names; letters, digits, `.`, `_` and `-`.
    pub node: String,
    /// A file is full when the next batch would take it past this size.
    pub max_size: u64,
    pub fsync: FsyncPolicy,
    pub builder: Builder,
    /// Lines of the warcinfo record: software, operator, robots …
    pub info: Vec<(String, String)>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            node: "0".into(),
            max_size: 1 << 30,
            fsync: FsyncPolicy::Interval(Duration::from_secs(1)),
            builder: Builder::default(),
            info: vec![
                ("software".into(), concat!("Gossamer/", env!("CARGO_PKG_VERSION")).into()),
                ("format".into(), "WARC File Format 1.1".into()),
                (
                    "conformsTo".into(),
                    "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"
                        .into(),
                ),
            ],
        }
    }
}

/// Checks a node's name: it becomes part of file names.
pub(super) fn check_node(node: &str) -> Result<(), WarcError> {
    let clean = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    if node.is_empty() || node.len() > 64 || !node.bytes().all(clean) {
        return Err(WarcError::Invalid(format!(
            "{node:?} is no name of a node: 1 to 64 letters, digits, '.', '_' or '-'"
        )));
    }
    Ok(())
}

/// Appends members to `gossamer-…-NNNNN-NODE.warc.gz.open`, and finishes files as they fill.
#[derive(Debug)]
pub struct Writer {
    sequence: Sequence,
    builder: Builder,
    info: Vec<(String, String)>,
}

impl Writer {
    /// A writer of a new crawl. Files that are there already are left alone.
    pub fn create(dir: &Path, settings: Settings) -> Result<Self, WarcError> {
        let (naming, limits) = parts(&settings)?;
        let sequence = Sequence::create(dir, naming, limits)?;
        Ok(Writer::new(sequence, settings))
    }

    /// A writer that goes on where `position` was committed (nothing: no commit was made). What
    /// was appended later is cut.
    pub fn resume(
        dir: &Path,
        settings: Settings,
        position: Option<&Position>,
    ) -> Result<Self, WarcError> {
        let (naming, limits) = parts(&settings)?;
        let sequence = Sequence::resume(dir, naming, limits, position)?;
        Ok(Writer::new(sequence, settings))
    }

    fn new(sequence: Sequence, settings: Settings) -> Self {
        Writer {
            sequence,
            builder: settings.builder,
            info: settings.info,
        }
    }

    /// Appends all members to one file, or none of them.
    pub fn append(&mut self, now: Micros, members: &[Member]) -> Result<Vec<Location>, WarcError> {
        if members.is_empty() {
            return Ok(Vec::new());
        }
        let parts: Vec<&[u8]> = members.iter().map(|member| &member.bytes[..]).collect();
        let (builder, info) = (&self.builder, &self.info);
        let begin = self
            .sequence
            .append(now, &parts, |name| builder.warcinfo(now, name, info).bytes)?;
        let name: Arc<str> = begin.name.into();
        let mut offset = begin.offset;
        Ok(parts
            .iter()
            .map(|part| {
                let length = part.len() as u64;
                let location = Location {
                    serial: begin.serial,
                    name: Arc::clone(&name),
                    offset,
                    length,
                };
                offset += length;
                location
            })
            .collect())
    }

    /// What to commit with the batch; nothing before the first append.
    #[must_use]
    pub fn position(&self) -> Option<&Position> {
        self.sequence.position()
    }

    /// Flushes as the policy says. True: everything appended survives a power cut, so the state
    /// may be committed durably. A durable state must never run ahead of its WARC files.
    pub fn sync(&mut self, now: Micros) -> Result<bool, WarcError> {
        self.sequence.sync(now)
    }

    /// The state up to `position` is committed: full files before it lose their `.open`.
    pub fn committed(&mut self, position: &Position) -> Result<(), WarcError> {
        self.sequence.committed(position)
    }

    /// Finishes all files. The caller has committed [`Writer::position`]; a dropped writer leaves
    /// its file `.open` instead.
    pub fn close(mut self) -> Result<(), WarcError> {
        self.sequence.close()
    }
}

fn parts(settings: &Settings) -> Result<(Naming, Limits), WarcError> {
    check_node(&settings.node)?;
    let naming = Naming {
        prefix: "gossamer",
        node: settings.node.clone(),
        suffix: ".warc.gz",
        marks_open: true,
    };
    let limits = Limits {
        max_size: settings.max_size,
        fsync: settings.fsync,
    };
    Ok((naming, limits))
}
