//! Stage 3, `seen`: each URL passes once.
//!
//! Takes canonical URLs with their keys, gives for each whether it is fresh; next is `frontier`.
//! Guarantees:
//!
//! * a URL passes once, also within one call and between batches that are not applied yet;
//! * a URL that passed is remembered for good when, and only when, the batch of writes it was
//!   admitted with is applied: [`Seen::forget_pending`] takes back what never was;
//! * exact, except for the kind `bloom`, which holds back some fresh URLs and says how many;
//! * RAM is bounded by a setting for `exact` and `bloom` however many URLs there are, but for a sixteenth of a byte a URL
//!   with `exact`.

pub mod alias;
mod bloom;
mod cache;
mod exact;
mod filter;
mod groups;
mod making;
mod memory;
mod pending;
#[cfg(any(test, feature = "testing"))]
pub mod rehearsal;
mod rows;
mod run;
mod runs;
mod table;
mod tiers;
mod trie;

#[cfg(test)]
mod contract;
#[cfg(test)]
mod exact_tests;

use std::path::PathBuf;

use crate::canonical::Url;
use crate::store::state::{Reads, Space, StateError, Writes};

pub use crate::canonical::UrlKey;
pub use bloom::Bloom;
pub use exact::Exact;
pub use memory::Memory;
pub use table::Table;
pub use trie::Trie;

/// A URL at the door: its key and its canonical text.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    pub key: UrlKey,
    pub url: &'a str,
}

impl<'a> From<&'a Url> for Candidate<'a> {
    fn from(url: &'a Url) -> Candidate<'a> {
        Candidate {
            key: UrlKey(url.key()),
            url: url.as_str(),
        }
    }
}

/// What remembers which URLs have passed.
pub trait Seen: Send {
    /// Which of the kinds this is.
    fn kind(&self) -> SeenKind;

    /// Sets `fresh[i]` to whether `urls[i]` passes, and adds to `writes` what must be remembered
    /// (the rest comes with [`Seen::seal`]). After an error nothing of this call has passed.
    fn admit(
        &mut self,
        urls: &[Candidate<'_>],
        reads: &dyn Reads,
        writes: &mut Writes,
        fresh: &mut Vec<bool>,
    ) -> Result<(), StateError>;

    /// Ends the current batch, before its writes are applied: adds to them what is left to
    /// remember, and gives the number by which [`Seen::applied`] knows the batch. After an error
    /// the batch goes on and can be sealed later.
    fn seal(&mut self, writes: &mut Writes) -> Result<u64, StateError>;

    /// The writes of all batches up to and including `batch` are in the store now. With `durable` no restart finds an
    /// older state, or nobody asks for that (`store.fsync = "never"`): files that only such a one names may go.
    fn applied(&mut self, batch: u64, durable: bool);

    /// The writes of all batches not applied yet are lost: their URLs may pass again.
    fn forget_pending(&mut self);

    /// Gives the keys from `first` to `last` (both included) to `visit`; every batch must be
    /// applied. Kinds that do not have the keys refuse.
    fn keys(
        &self,
        _first: UrlKey,
        _last: UrlKey,
        _reads: &dyn Reads,
        _visit: &mut dyn FnMut(UrlKey),
    ) -> Result<(), StateError> {
        Err(StateError::Format(format!(
            "URLs remembered by seen = '{}' cannot be handed to another node; use 'exact'",
            self.kind().as_str()
        )))
    }

    /// Bytes of RAM in use, without the store's own cache.
    fn ram_bytes(&self) -> u64;

    /// Bytes of disk in use, without the store's own.
    fn disk_bytes(&self) -> u64 {
        0
    }

    /// The share of fresh URLs that are held back by mistake, as far as it is known now.
    fn error_rate(&self) -> f64 {
        0.0
    }
}

/// The kinds of `seen`, by setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeenKind {
    /// Keys in sorted runs on disk, a bounded table of popular ones in front.
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

impl SeenKind {
    /// Every kind; the default first.
    pub const ALL: [SeenKind; 5] = [
        SeenKind::Exact,
        SeenKind::Bloom,
        SeenKind::Trie,
        SeenKind::Table,
        SeenKind::Memory,
    ];

    /// Whether a partition can be handed over: its keys can be listed, and taken without URLs.
    #[must_use]
    pub const fn can_be_handed_over(self) -> bool {
        matches!(self, SeenKind::Exact | SeenKind::Memory)
    }

    /// The name, as in settings.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            SeenKind::Exact => "exact",
            SeenKind::Bloom => "bloom",
            SeenKind::Trie => "trie",
            SeenKind::Table => "table",
            SeenKind::Memory => "memory",
        }
    }

    /// The kind of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<SeenKind> {
        SeenKind::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// What a kind may use.
#[derive(Clone, Debug)]
pub struct SeenSettings {
    /// Where the runs of `exact` are; without it all keys stay in RAM, for tests.
    pub directory: Option<PathBuf>,
    /// Bytes of RAM of the table of popular URLs (`exact`).
    pub cache_bytes: usize,
    /// Bytes of RAM of the filter in front of the runs (`exact`), less while there are few URLs: with 5 bits a URL
    /// it knows nine of ten fresh URLs for fresh, without a look at the disk.
    pub filter_bytes: usize,
    /// How many URLs wait in RAM before they move into a run (`exact`), some 50 bytes each; twice
    /// as many may, while a run is written.
    pub recent_keys: usize,
    /// Bytes of RAM of the filter (`bloom`). With 16 bits a URL about 1 in 1,000 fresh URLs is
    /// held back, with 10 bits 1 in 80.
    pub bloom_bytes: usize,
}

impl Default for SeenSettings {
    fn default() -> Self {
        Self {
            directory: None,
            cache_bytes: 32 << 20,
            filter_bytes: 128 << 20,
            recent_keys: 1 << 19,
            bloom_bytes: 64 << 20,
        }
    }
}

/// Where the store says which kind (and shape) wrote the space `seen`.
const KIND_KEY: &[u8] = b"seen.kind";

/// The keys that a row of [`Space::Seen`] holds which `exact` has written; none: it is no such row.
#[must_use]
pub fn keys_of_row(row: &[u8], value: &[u8]) -> Option<Vec<UrlKey>> {
    rows::decode(row, value).map(|(_, keys)| keys)
}

/// The key and the value of the row that `exact` writes with a batch.
#[cfg(test)]
pub(crate) fn row_of_keys(batch: u64, keys: &[UrlKey]) -> ([u8; 8], Vec<u8>) {
    ((batch | rows::GROUPED).to_be_bytes(), rows::encode(keys))
}

/// Opens a kind on a state. A state whose URLs were remembered by another kind is refused.
pub fn open(
    kind: SeenKind,
    settings: &SeenSettings,
    reads: &dyn Reads,
) -> Result<Box<dyn Seen>, StateError> {
    let mark = Mark::new(kind, settings);
    mark.check(reads)?;
    Ok(match kind {
        SeenKind::Exact => Box::new(Exact::open(mark, settings, reads)?),
        SeenKind::Bloom => Box::new(Bloom::open(mark, settings.bloom_bytes, reads)?),
        SeenKind::Trie => Box::new(Trie::open(mark, reads)?),
        SeenKind::Table => Box::new(Table::new(mark)),
        SeenKind::Memory => Box::new(Memory::open(mark, reads)?),
    })
}

/// The note in the store that says what wrote the space `seen`; goes with the first batch.
#[derive(Debug)]
pub struct Mark {
    text: String,
}

impl Mark {
    fn new(kind: SeenKind, settings: &SeenSettings) -> Mark {
        let text = match kind {
            SeenKind::Bloom => format!("bloom {}", filter::blocks_for(settings.bloom_bytes)),
            other => other.as_str().to_owned(),
        };
        Mark { text }
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

    /// Adds the note, to every batch, so that no batch depends on an earlier one.
    fn write(&self, writes: &mut Writes) {
        writes.put(Space::Meta, KIND_KEY, self.text.as_bytes());
    }
}
