//! Doubts: which patterns, families and words of hosts are doubted, and which somebody took up, so that nothing of theirs is.
//!
//! Takes the verdicts as they change; gives what holds for a URL's pattern, its family and its words, and on how many hosts a
//! pattern is doubted. A row of the space `meta` is `doubt/` ++ host key ++ pattern, so that a process knows at its start
//! which hosts have any. Its value is empty for a pattern that is doubted, [`TAKEN_UP`] for one whose URLs are on their way
//! back to the queue, so that a crash loses none of them, and [`TRUSTED`] for one that somebody took up. All of them are in
//! memory: they are few. Why something is doubted is in its row of counters.

use std::collections::{HashMap, HashSet};

use super::rows::CountKey;
use super::text::{VIEW, key_of};
use super::words::words;
use crate::store::state::{Reads, Space, StateError, Writes};

/// Where the marks are in the space `meta`.
pub(crate) const DOUBT: &[u8] = b"doubt/";
const DOUBT_END: &[u8] = b"doubt0";

const TAKEN_UP: u8 = 1;
const TRUSTED: u8 = 2;

/// What the store says of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Doubted,
    TakenUp,
    Trusted,
    Nothing,
}

impl Mark {
    pub fn of(value: &[u8]) -> Mark {
        match value.first() {
            Some(&TAKEN_UP) => Mark::TakenUp,
            Some(&TRUSTED) => Mark::Trusted,
            _ => Mark::Doubted,
        }
    }

    /// The row's value; `None`: there is no row.
    pub fn value(self) -> Option<Vec<u8>> {
        match self {
            Mark::Doubted => Some(Vec::new()),
            Mark::TakenUp => Some(vec![TAKEN_UP]),
            Mark::Trusted => Some(vec![TRUSTED]),
            Mark::Nothing => None,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Doubts {
    /// The doubted patterns, families and words of hosts; and on how many hosts one is.
    doubted: HashMap<u64, HashSet<u64>>,
    hosts_of: HashMap<u64, u32>,
    /// The patterns, families and words of hosts that somebody took up: nothing of theirs is doubted.
    trusted: HashMap<u64, HashSet<u64>>,
    /// Rows of [`DOUBT`] to write with the next batch.
    marks: Vec<(CountKey, Mark)>,
}

impl Doubts {
    /// Notes what is doubted, or is no more; the mark of it is another matter ([`Doubts::mark`]).
    pub fn note(&mut self, (host, pattern): CountKey, is_doubted: bool) {
        let patterns = self.doubted.entry(host).or_default();
        let hosts = self.hosts_of.entry(pattern).or_default();
        if is_doubted {
            *hosts += u32::from(patterns.insert(pattern));
        } else {
            *hosts -= u32::from(patterns.remove(&pattern)).min(*hosts);
        }
        if *hosts == 0 {
            self.hosts_of.remove(&pattern);
        }
        if patterns.is_empty() {
            self.doubted.remove(&host);
        }
    }

    pub fn note_trust(&mut self, (host, pattern): CountKey) {
        self.trusted.entry(host).or_default().insert(pattern);
    }

    /// Writes a mark with the next batch.
    pub fn mark(&mut self, key: CountKey, mark: Mark) {
        self.marks.push((key, mark));
    }

    /// What is left to say of a pattern when none of its URLs is set aside.
    pub fn settled(&self, (host, pattern): CountKey) -> Mark {
        if self.is_doubted((host, pattern)) {
            return Mark::Doubted;
        }
        let trusted = self.trusted.get(&host);
        if trusted.is_some_and(|trusted| trusted.contains(&pattern)) {
            Mark::Trusted
        } else {
            Mark::Nothing
        }
    }

    pub fn is_doubted(&self, (host, pattern): CountKey) -> bool {
        let patterns = self.doubted.get(&host);
        patterns.is_some_and(|patterns| patterns.contains(&pattern))
    }

    /// Whether anything of a host is doubted.
    pub fn has_doubted(&self, host: u64) -> bool {
        self.doubted.contains_key(&host)
    }

    /// Whether somebody took up anything of a host.
    pub fn has_trusted(&self, host: u64) -> bool {
        self.trusted.contains_key(&host)
    }

    /// On how many hosts a pattern, a family or a word is doubted.
    pub fn hosts(&self, pattern: u64) -> u32 {
        self.hosts_of.get(&pattern).copied().unwrap_or(0)
    }

    /// All that is doubted on a host.
    pub fn of(&self, host: u64) -> impl Iterator<Item = CountKey> {
        let patterns = self.doubted.get(&host).into_iter().flatten();
        patterns.map(move |pattern| (host, *pattern))
    }

    /// All that is doubted.
    pub fn all(&self) -> impl Iterator<Item = CountKey> {
        let doubted = self.doubted.iter();
        doubted.flat_map(|(host, all)| all.iter().map(|one| (*host, *one)))
    }

    /// Whether somebody took up a pattern, its family or one of its words.
    pub fn is_trusted(
        &self,
        (host, key): CountKey,
        family: Option<CountKey>,
        pattern: &str,
    ) -> bool {
        let Some(trusted) = self.trusted.get(&host) else {
            return false;
        };
        // What is trusted is so whether its page was visited or not.
        let (plain, view) = match pattern.strip_suffix(VIEW) {
            Some(plain) => (plain.to_owned(), pattern.to_owned()),
            None => (pattern.to_owned(), [pattern, VIEW].concat()),
        };
        let texts = [plain, view];
        trusted.contains(&key)
            || texts.iter().any(|text| trusted.contains(&key_of(text)))
            || family.is_some_and(|family| trusted.contains(&family.1))
            || texts
                .iter()
                .flat_map(|text| words(text))
                .any(|word| trusted.contains(&key_of(&word)))
    }

    /// The first word of a pattern that is doubted.
    pub fn doubted_word(&self, host: u64, pattern: &str) -> Option<(CountKey, String)> {
        let mut known = words(pattern).map(|word| ((host, key_of(&word)), word));
        known.find(|(key, _)| self.is_doubted(*key))
    }

    /// The family, the pattern or the word of it that is doubted.
    pub fn doubted_key(
        &self,
        key: CountKey,
        family: Option<CountKey>,
        pattern: &str,
    ) -> Option<CountKey> {
        if !self.doubted.contains_key(&key.0) {
            return None;
        }
        let rows = family.into_iter().chain([key]);
        let mut doubted = rows.filter(|key| self.is_doubted(*key));
        doubted
            .next()
            .or_else(|| self.doubted_word(key.0, pattern).map(|(key, _)| key))
    }

    /// Adds the marks to a batch.
    pub fn seal(&mut self, writes: &mut Writes) {
        for (key, mark) in self.marks.drain(..) {
            match mark.value() {
                Some(value) => writes.put(Space::Meta, doubt_key(key), value),
                None => writes.remove(Space::Meta, doubt_key(key)),
            }
        }
    }

    /// Forgets the marks that no batch has.
    pub fn clear_marks(&mut self) {
        self.marks.clear();
    }

    /// Forgets what is doubted and trusted, to note what the store has ([`scan_doubts`]).
    pub fn clear(&mut self) {
        self.doubted.clear();
        self.hosts_of.clear();
        self.trusted.clear();
    }
}

/// The marks of the store.
pub(super) fn scan_doubts(reads: &dyn Reads) -> Result<Vec<(CountKey, Mark)>, StateError> {
    let mut found = Vec::new();
    reads.scan(Space::Meta, DOUBT, DOUBT_END, &mut |key, value| {
        let number = |at: usize| {
            let bytes = key.get(DOUBT.len() + at..DOUBT.len() + at + 8)?;
            bytes.try_into().ok().map(u64::from_be_bytes)
        };
        if let Some(key) = number(0).zip(number(8)) {
            found.push((key, Mark::of(value)));
        }
        true
    })?;
    Ok(found)
}

fn doubt_key((host, pattern): CountKey) -> Vec<u8> {
    [DOUBT, &host.to_be_bytes(), &pattern.to_be_bytes()].concat()
}
