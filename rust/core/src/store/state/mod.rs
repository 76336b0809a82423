//! State: what a crawl remembers on disk, behind a seam that every stage shares.
//!
//! A stage reads through [`Reads`] and never writes by itself: it adds to a [`Writes`], and the
//! committer applies all writes of a batch (pages done, new links, host state, WARC offset) as one
//! atomic step. So no stage can leave half a fact behind.

mod buffered;
pub mod disk;
mod format;
mod live;
pub mod memory;
mod migrate;
mod queue;
mod removal;
mod room;
mod view;

#[cfg(test)]
mod contract;
#[cfg(test)]
mod disk_tests;

use std::fmt;

pub use disk::{DiskSettings, DiskState, DiskUse};
pub use memory::MemoryState;
pub(crate) use removal::Removal;
pub(crate) use room::Room;
pub use view::View;

/// The key spaces of the store. A key is unique within its space; keys sort as bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Space {
    /// Format version, WARC and log positions, counters.
    Meta,
    /// URL keys that have passed `seen`.
    Seen,
    /// Queued URLs by host, band and sequence.
    Queue,
    /// Host states by host key.
    Hosts,
    /// Robots files by host key and scheme.
    Robots,
    /// Content digests of stored pages.
    Content,
    /// Index rows: what became of a URL, by URL key.
    Index,
    /// Links to partitions of other nodes, by the time they were found.
    Outbox,
}

impl Space {
    /// Every space, in the order of their numbers.
    pub const ALL: [Space; 8] = [
        Space::Meta,
        Space::Seen,
        Space::Queue,
        Space::Hosts,
        Space::Robots,
        Space::Content,
        Space::Index,
        Space::Outbox,
    ];

    /// The name of the space, in file names and messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Space::Meta => "meta",
            Space::Seen => "seen",
            Space::Queue => "queue",
            Space::Hosts => "hosts",
            Space::Robots => "robots",
            Space::Content => "content",
            Space::Index => "index",
            Space::Outbox => "outbox",
        }
    }
}

/// What we do wrong, or what the disk does to us: never an outcome.
#[derive(Debug)]
pub enum StateError {
    /// The disk or the store failed; the text says how.
    Store(String),
    /// No room left on the device.
    DiskFull(String),
    /// The state on disk was written by another format, or is damaged.
    Format(String),
    /// Another process has the state open.
    InUse(String),
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StateError::Store(text) => write!(f, "the store failed: {text}"),
            StateError::DiskFull(text) => write!(f, "no room left on the device: {text}"),
            StateError::Format(text) => write!(f, "the state cannot be used: {text}"),
            StateError::InUse(text) => write!(f, "the state is in use: {text}"),
        }
    }
}

impl std::error::Error for StateError {}

/// Point look-ups and ordered scans. Sees every batch applied so far.
pub trait Reads: Send + Sync {
    /// The value under `key`, if there is one.
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, StateError>;

    /// Whether there is a value under `key`; cheaper than [`Reads::get`] where the store can.
    fn contains(&self, space: Space, key: &[u8]) -> Result<bool, StateError> {
        Ok(self.get(space, key)?.is_some())
    }

    /// Sets `found` to the answers of [`Reads::contains`] for many keys; fastest when they come in
    /// order.
    fn contains_each(
        &self,
        space: Space,
        keys: &mut dyn Iterator<Item = &[u8]>,
        found: &mut Vec<bool>,
    ) -> Result<(), StateError> {
        found.clear();
        for key in keys {
            found.push(self.contains(space, key)?);
        }
        Ok(())
    }

    /// Calls `visit` with each pair whose key is in `from..to` (`to` empty: no upper end), in the
    /// order of the keys, until it returns false.
    fn scan(
        &self,
        space: Space,
        from: &[u8],
        to: &[u8],
        visit: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), StateError>;
}

/// The longest key; the shortest has one byte.
pub const MAX_KEY: usize = u16::MAX as usize;
/// The longest value.
pub const MAX_VALUE: usize = u32::MAX as usize;
/// The longest record of a queued URL: 256 of them fit a segment.
const MAX_RECORD: usize = 1 << 20;

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// Set the value under a key.
    Put {
        space: Space,
        key: Vec<u8>,
        value: Vec<u8>,
    },
    /// Remove a key; removing what is not there is no error.
    Remove { space: Space, key: Vec<u8> },
}

impl Write {
    /// The key that it changes.
    #[must_use]
    pub fn key(&self) -> &[u8] {
        match self {
            Write::Put { key, .. } | Write::Remove { key, .. } => key,
        }
    }

    /// Bytes of key and value.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Write::Put { key, value, .. } => key.len() + value.len(),
            Write::Remove { key, .. } => key.len(),
        }
    }

    /// Whether it is a change of what the queue keeps in its segments.
    fn is_in_segments(&self) -> bool {
        match self {
            Write::Put { space, key, .. } | Write::Remove { space, key } => {
                *space == Space::Queue && queue::is_in_segments(key)
            }
        }
    }
}

/// The changes of one batch, in order; a later change of the same key wins.
#[derive(Clone, Debug, Default)]
pub struct Writes {
    pub list: Vec<Write>,
}

impl Writes {
    /// How many changes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is nothing to apply.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Bytes of all keys and values.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.list.iter().map(|write| write.bytes() as u64).sum()
    }

    /// Refuses keys and values that no store has room for.
    pub(crate) fn check(&self) -> Result<(), StateError> {
        for write in &self.list {
            let (space, key, value) = match write {
                Write::Put { space, key, value } => (space, key, value.len()),
                Write::Remove { space, key } => (space, key, 0),
            };
            let most = if write.is_in_segments() {
                MAX_RECORD
            } else {
                MAX_VALUE
            };
            if key.is_empty() || key.len() > MAX_KEY || value > most {
                return Err(StateError::Store(format!(
                    "a key of {} bytes with a value of {value} bytes cannot be kept in '{}'",
                    key.len(),
                    space.as_str()
                )));
            }
        }
        Ok(())
    }

    /// Adds "set `key` to `value`".
    pub fn put(&mut self, space: Space, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) {
        self.list.push(Write::Put {
            space,
            key: key.into(),
            value: value.into(),
        });
    }

    /// Adds "remove `key`".
    pub fn remove(&mut self, space: Space, key: impl Into<Vec<u8>>) {
        self.list.push(Write::Remove {
            space,
            key: key.into(),
        });
    }
}

/// A store that batches can be applied to.
pub trait State: Reads {
    /// Applies all changes or none. With `durable` it returns only when they survive a power cut.
    fn apply(&self, writes: Writes, durable: bool) -> Result<(), StateError>;
}

/// Is told of every batch that was applied.
pub trait Watch: Send + Sync {
    fn applied(&self, writes: &Writes, state: &DiskState);
}
