//! Patterns that are doubted no more while URLs of theirs are set aside: those are taken up, a slice at a time.
//!
//! A row of the space `meta` is `doubt/` ++ host key ++ pattern. Its value is empty for a pattern that is doubted,
//! [`TAKEN_UP`] for one whose URLs are on their way back to the queue, so that a crash loses none of them, and [`TRUSTED`]
//! for one that somebody took up.

use super::counts::{CountKey, HostCounts};
use super::row::Counts;
use super::text::{VIEW, key_of};
use super::words::words;
use crate::store::state::{Reads, StateError};

const TAKEN_UP: u8 = 1;
const TRUSTED: u8 = 2;

/// Doubted patterns looked at to list the ones with most URLs set aside.
const LOOKED_AT: usize = 10_000;

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

/// How far the URLs of a pattern are taken up.
#[derive(Clone, Debug, Default)]
pub struct Taking {
    /// The row that was taken last in this pass; empty: none.
    pub after: Vec<u8>,
    /// This pass has found some.
    pub has_found: bool,
    /// This pass began when the store had all rows: what it does not find is not there.
    pub is_sure: bool,
    /// The pass begins when the store has all batches up to this one.
    pub waits_for: u64,
}

/// A pattern that is doubted, or whose URLs are taken up.
#[derive(Clone, Debug)]
pub struct DoubtedRow {
    pub key: CountKey,
    pub row: Counts,
    pub is_taken_up: bool,
}

impl HostCounts {
    /// The verdict about a pattern has changed. What is set aside of one that is doubted no more is taken up.
    pub(super) fn mark(&mut self, key: CountKey, is_doubted: bool) {
        self.note_doubt(key, is_doubted);
        let is_aside = self.rows.get(&key).is_some_and(|row| row.set_aside > 0);
        let mark = if is_doubted {
            self.taking.remove(&key);
            Mark::Doubted
        } else if is_aside {
            self.taking.insert(key, Taking::default());
            Mark::TakenUp
        } else {
            self.settled(key)
        };
        self.marks.push((key, mark));
    }

    /// What is left to say of a pattern when none of its URLs is set aside.
    fn settled(&self, (host, pattern): CountKey) -> Mark {
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

    pub(super) fn note_trust(&mut self, (host, pattern): CountKey) {
        self.trusted.entry(host).or_default().insert(pattern);
    }

    /// Whether somebody took up a pattern, its family or one of its words.
    pub(super) fn is_trusted(
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

    /// A pattern whose URLs can be taken up now, and how far that is.
    #[must_use]
    pub fn next_to_take_up(&self) -> Option<(CountKey, Taking)> {
        let ready = |taking: &Taking| taking.waits_for <= self.applied;
        let mut all = self.taking.iter();
        all.find(|(_, taking)| ready(taking))
            .map(|(key, taking)| (*key, taking.clone()))
    }

    /// Whether URLs are on their way back to the queue.
    #[must_use]
    pub fn takes_up(&self) -> bool {
        !self.taking.is_empty()
    }

    /// A slice of a pattern's URLs was taken up, with the batch of that number; the last of a pass if `is_whole`.
    pub fn took_up(
        &mut self,
        key: CountKey,
        at: Taking,
        is_whole: bool,
        batch: u64,
        reads: &dyn Reads,
    ) -> Result<(), StateError> {
        if !is_whole {
            self.taking.insert(key, at);
            return Ok(());
        }
        let left = self.row(key, "", reads)?.set_aside;
        if left > 0 && (at.has_found || !at.is_sure) {
            let next = Taking {
                is_sure: true,
                waits_for: batch,
                ..Taking::default()
            };
            self.taking.insert(key, next);
            return Ok(());
        }
        self.taking.remove(&key);
        self.marks.push((key, self.settled(key)));
        // Counted, and nowhere to be found.
        self.set_aside(key, -i64::try_from(left).unwrap_or(i64::MAX), reads)
    }

    /// The patterns of a host that are doubted or taken up.
    #[must_use]
    pub fn doubted_of(&self, host: u64) -> Vec<CountKey> {
        let doubted = self.doubted.get(&host).into_iter().flatten();
        let taking = self.taking.range((host, 0)..=(host, u64::MAX));
        let keys = doubted.map(|pattern| (host, *pattern));
        let taking = taking.map(|(key, _)| *key);
        keys.chain(taking.filter(|key| !self.is_doubted(*key)))
            .collect()
    }

    /// Those of one host or of all, those with most URLs set aside first, at most so many; and how many there are.
    pub fn doubted_rows(
        &self,
        host: Option<u64>,
        most: usize,
        reads: &dyn Reads,
    ) -> Result<(Vec<DoubtedRow>, usize), StateError> {
        let keys: Vec<CountKey> = match host {
            Some(host) => self.doubted_of(host),
            None => {
                let doubted = self.doubted.iter();
                let doubted = doubted.flat_map(|(host, all)| all.iter().map(|one| (*host, *one)));
                let taking = self.taking.keys().copied();
                doubted
                    .chain(taking.filter(|key| !self.is_doubted(*key)))
                    .collect()
            }
        };
        let total = keys.len();
        let mut rows = Vec::with_capacity(total.min(LOOKED_AT));
        for key in keys.into_iter().take(LOOKED_AT) {
            rows.extend(self.known(key, reads)?.map(|row| DoubtedRow {
                key,
                row,
                is_taken_up: self.taking.contains_key(&key),
            }));
        }
        rows.sort_by(|a, b| (b.row.set_aside, a.key).cmp(&(a.row.set_aside, b.key)));
        rows.truncate(most);
        Ok((rows, total))
    }
}
