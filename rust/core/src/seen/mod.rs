//! Stage 3, `seen`: each URL passes once.
//!
//! Takes canonical URLs with their keys, gives for each whether it is fresh; next is `frontier`.
//! Guarantees:
//!
//! * a URL passes once, also within one call and between batches that are not applied yet;
//! * a URL that passed is remembered for good when, and only when, the batch of writes it was
//!   admitted with is applied: [`Seen::forget_pending`] takes back what never was;
//! * exact, except for the kind `bloom`, which holds back some fresh URLs and says how many;
//! * RAM is bounded by a setting for `exact` and `bloom` however many URLs there are.

mod bloom;
mod cache;
mod exact;
mod key;
mod memory;
mod pending;
pub mod rehearsal;
mod table;
mod trie;

#[cfg(test)]
mod contract;

use crate::state::{Reads, Space, StateError, Writes};

pub use bloom::Bloom;
pub use exact::Exact;
pub use key::{UrlKey, host_key, host_of};
pub use memory::Memory;
pub use table::Table;
pub use trie::Trie;

/// A URL at the door: its key and its canonical text.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    pub key: UrlKey,
    pub url: &'a str,
}

/// What remembers which URLs have passed.
pub trait Seen: Send {
    /// Which of the kinds this is.
    fn kind(&self) -> Kind;

    /// Sets `fresh[i]` to whether `urls[i]` passes, and adds to `writes` what must be remembered.
    /// After an error nothing of this call has passed.
    fn admit(
        &mut self,
        urls: &[Candidate<'_>],
        reads: &dyn Reads,
        writes: &mut Writes,
        fresh: &mut Vec<bool>,
    ) -> Result<(), StateError>;

    /// Ends the current batch: what was admitted since the last call goes into one set of writes.
    /// Gives the number by which [`Seen::applied`] knows it.
    fn seal(&mut self) -> u64;

    /// The writes of all batches up to and including `batch` are in the store now.
    fn applied(&mut self, batch: u64);

    /// The writes of all batches not applied yet are lost: their URLs may pass again.
    fn forget_pending(&mut self);

    /// Bytes of RAM in use, without the store's own cache.
    fn ram_bytes(&self) -> u64;

    /// The share of fresh URLs that are held back by mistake, as far as it is known now.
    fn error_rate(&self) -> f64 {
        0.0
    }
}

/// The kinds of `seen`, by setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Keys in the store, a bounded table of popular ones in front.
    Exact,
    /// A Bloom filter of bounded size.
    Bloom,
    /// A character trie of the URLs, in memory.
    Trie,
    /// The URLs themselves as keys of a plain table of the store.
    Table,
    /// A hash set of keys, in memory.
    Memory,
}

impl Kind {
    /// Every kind; the default first.
    pub const ALL: [Kind; 5] = [
        Kind::Exact,
        Kind::Bloom,
        Kind::Trie,
        Kind::Table,
        Kind::Memory,
    ];

    /// The name, as in settings.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::Exact => "exact",
            Kind::Bloom => "bloom",
            Kind::Trie => "trie",
            Kind::Table => "table",
            Kind::Memory => "memory",
        }
    }

    /// The kind of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// What a kind may use.
#[derive(Clone, Debug)]
pub struct SeenSettings {
    /// Bytes of RAM of the table of popular URLs (`exact`).
    pub cache_bytes: usize,
    /// Bytes of RAM of the filter (`bloom`). With 16 bits a URL about 1 in 1,000 fresh URLs is
    /// held back, with 10 bits 1 in 80.
    pub bloom_bytes: usize,
}

impl Default for SeenSettings {
    fn default() -> Self {
        Self {
            cache_bytes: 32 << 20,
            bloom_bytes: 64 << 20,
        }
    }
}

/// Where the store says which kind (and shape) wrote the space `seen`.
const KIND_KEY: &[u8] = b"seen.kind";

/// Opens a kind on a state. A state whose URLs were remembered by another kind is refused.
pub fn open(
    kind: Kind,
    settings: &SeenSettings,
    reads: &dyn Reads,
) -> Result<Box<dyn Seen>, StateError> {
    let mark = Mark::new(kind, settings);
    mark.check(reads)?;
    Ok(match kind {
        Kind::Exact => Box::new(Exact::new(mark, settings.cache_bytes)),
        Kind::Bloom => Box::new(Bloom::open(mark, settings.bloom_bytes, reads)?),
        Kind::Trie => Box::new(Trie::open(mark, reads)?),
        Kind::Table => Box::new(Table::new(mark)),
        Kind::Memory => Box::new(Memory::open(mark, reads)?),
    })
}

/// The note in the store that says what wrote the space `seen`; goes with the first batch.
#[derive(Debug)]
pub struct Mark {
    text: String,
    /// Whether the batch being filled has it already.
    written: bool,
}

impl Mark {
    fn new(kind: Kind, settings: &SeenSettings) -> Mark {
        let text = match kind {
            Kind::Bloom => format!("bloom {}", bloom::blocks_for(settings.bloom_bytes)),
            other => other.as_str().to_owned(),
        };
        Mark {
            text,
            written: false,
        }
    }

    fn check(&self, reads: &dyn Reads) -> Result<(), StateError> {
        match reads.get(Space::Meta, KIND_KEY)? {
            Some(found) if found != self.text.as_bytes() => Err(StateError::Format(format!(
                "its URLs were remembered by seen = '{}', the settings say '{}'",
                String::from_utf8_lossy(&found),
                self.text
            ))),
            _ => Ok(()),
        }
    }

    /// Adds the note, once to every batch, so that no batch depends on an earlier one.
    fn write(&mut self, writes: &mut Writes) {
        if !self.written {
            writes.put(Space::Meta, KIND_KEY, self.text.as_bytes());
            self.written = true;
        }
    }

    /// The batch being filled has ended, or is lost.
    fn next_batch(&mut self) {
        self.written = false;
    }
}
