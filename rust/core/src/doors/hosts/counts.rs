//! Counters of hosts and URL patterns, in memory as far as they are used, in the store for good.
//!
//! A row of the space `meta` is `counts/` ++ host key ++ hash of the pattern (0: the host itself). It
//! belongs to the host, so it goes with its partition. RAM is bounded by [`IN_RAM`] rows beside those
//! that the store does not have yet, the patterns of a host by [`PATTERNS`]: what comes beyond is counted
//! with the pattern `…`.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};

use xxhash_rust::xxh3::xxh3_64;

use super::pattern;
use crate::canonical::Url;
use crate::codec::{Reader, put_bytes, put_number};
use crate::outcome::Outcome;
use crate::store::state::{Reads, Space, StateError, Writes};

/// Where the rows are in the space `meta`.
pub(crate) const PREFIX: &[u8] = b"counts/";
const VERSION: u8 = 1;

/// Rows kept in memory.
const IN_RAM: usize = 65_536;
/// Rows that may wait to be asked about; one beyond waits for its next activity.
const ACTIVE: usize = 1 << 20;
/// Patterns of one host that are told apart.
const PATTERNS: u32 = 1_000;
const OTHERS: &str = "…";

/// Words of the sketch of in-linking domains: 256 bits tell some hundreds apart.
const SKETCH: usize = 4;

/// A host, and the hash of a pattern or 0.
pub type CountKey = (u64, u64);

/// The counters of a host or of a pattern.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Empty for the host itself.
    pub pattern: Box<str>,
    pub fetched: u64,
    /// Pages with content that was new, and with content that was known.
    pub new: u64,
    pub duplicate: u64,
    pub errors: u64,
    pub bytes: u64,
    /// When the first was counted.
    pub since: u64,
    /// Of a host: its patterns.
    patterns: u32,
    domains: [u64; SKETCH],
    /// Of a pattern: what a policy decided.
    pub change: Option<Change>,
    is_dirty: bool,
    /// The batch that wrote it last; not to be forgotten before that is applied.
    batch: u64,
}

/// What a policy says about a pattern; `None` changes nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    pub budget: Option<u64>,
    pub weight: Option<f32>,
    pub give_up: Option<bool>,
    pub reason: Option<Box<str>>,
}

/// What holds for a pattern, of all decisions so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Pages after which its URLs have the least weight.
    pub budget: Option<u64>,
    /// The scores of its URLs are multiplied by this.
    pub weight: f32,
    /// Its URLs are refused.
    pub given_up: bool,
    pub reason: Box<str>,
}

/// A decision about a pattern that changed something.
#[derive(Clone, Debug)]
pub struct Decided {
    pub pattern: Box<str>,
    pub before: Change,
    pub after: Change,
}

impl Decided {
    /// What it changed, in words.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let (before, after) = (&self.before, &self.after);
        let mut what = Vec::new();
        if before.budget != after.budget {
            let pages = after.budget.map_or("none".to_owned(), |n| n.to_string());
            what.push(format!("budget {pages}"));
        }
        if before.weight.total_cmp(&after.weight).is_ne() {
            what.push(format!("weight {}", after.weight));
        }
        match (before.given_up, after.given_up) {
            (false, true) => what.push("given up".to_owned()),
            (true, false) => what.push("taken up again".to_owned()),
            _ => {}
        }
        what
    }
}

impl Default for Change {
    fn default() -> Change {
        Change {
            budget: None,
            weight: 1.0,
            given_up: false,
            reason: Box::default(),
        }
    }
}

impl Change {
    /// This, and what is decided now.
    fn with(mut self, decision: Decision) -> Change {
        self.budget = decision.budget.or(self.budget);
        self.weight = decision.weight.unwrap_or(self.weight);
        self.given_up = decision.give_up.unwrap_or(self.given_up);
        self.reason = decision.reason.unwrap_or(self.reason);
        self
    }
}

impl Counts {
    /// About how many registered domains link here, the host's own left out.
    #[must_use]
    pub fn in_domains(&self) -> u64 {
        let bits = (SKETCH * 64) as f64;
        let zeros: u32 = self.domains.iter().map(|word| word.count_zeros()).sum();
        // Linear counting; a full sketch says only "many".
        (bits * (bits / f64::from(zeros.max(1))).ln()).round() as u64
    }

    /// By what the score of a URL of this pattern is multiplied.
    #[must_use]
    pub fn weight(&self) -> f32 {
        let Some(change) = &self.change else {
            return 1.0;
        };
        if change.budget.is_some_and(|budget| self.fetched >= budget) {
            return 0.0;
        }
        change.weight.max(0.0)
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        put_bytes(&mut out, self.pattern.as_bytes());
        for number in [
            self.fetched,
            self.new,
            self.duplicate,
            self.errors,
            self.bytes,
            self.since,
            u64::from(self.patterns),
        ] {
            put_number(&mut out, number);
        }
        for word in self.domains {
            out.extend_from_slice(&word.to_be_bytes());
        }
        if let Some(change) = &self.change {
            out.push(1 | u8::from(change.given_up) << 1 | u8::from(change.budget.is_some()) << 2);
            put_number(&mut out, change.budget.unwrap_or(0));
            out.extend_from_slice(&change.weight.to_bits().to_be_bytes());
            put_bytes(&mut out, change.reason.as_bytes());
        }
        out
    }

    fn decode(bytes: &[u8]) -> Option<Counts> {
        let mut reader = Reader::new(bytes);
        if reader.byte()? != VERSION {
            return None;
        }
        let mut counts = Counts {
            pattern: std::str::from_utf8(reader.bytes()?).ok()?.into(),
            fetched: reader.number()?,
            new: reader.number()?,
            duplicate: reader.number()?,
            errors: reader.number()?,
            bytes: reader.number()?,
            since: reader.number()?,
            patterns: reader.small()?,
            ..Counts::default()
        };
        for word in &mut counts.domains {
            *word = u64::from_be_bytes(reader.take(8)?.try_into().ok()?);
        }
        if let Some(flags) = reader.byte() {
            let budget = reader.number()?;
            let weight = u32::from_be_bytes(reader.take(4)?.try_into().ok()?);
            counts.change = Some(Change {
                budget: (flags & 4 != 0).then_some(budget),
                weight: f32::from_bits(weight),
                given_up: flags & 2 != 0,
                reason: std::str::from_utf8(reader.bytes()?).ok()?.into(),
            });
        }
        Some(counts)
    }
}

/// The counters of all hosts. Without a policy nothing is counted.
#[derive(Debug, Default)]
pub struct HostCounts {
    rows: HashMap<CountKey, Counts>,
    /// Counted since they were asked about, those that wait longest first; and the same as a set.
    active: VecDeque<CountKey>,
    is_active: HashSet<CountKey>,
    /// Changed since the last batch.
    dirty: Vec<CountKey>,
    /// The store has all batches up to this one.
    applied: u64,
}

impl HostCounts {
    /// The counters of a host or a pattern; those of the store where they are not in memory.
    fn row(
        &mut self,
        key: CountKey,
        pattern: &str,
        reads: &dyn Reads,
    ) -> Result<&mut Counts, StateError> {
        match self.rows.entry(key) {
            Entry::Occupied(row) => Ok(row.into_mut()),
            Entry::Vacant(place) => {
                let counts = stored(key, reads)?;
                Ok(place.insert(counts.unwrap_or_else(|| Counts {
                    pattern: pattern.into(),
                    ..Counts::default()
                })))
            }
        }
    }

    /// The same without making one.
    fn known(&self, key: CountKey, reads: &dyn Reads) -> Result<Option<Counts>, StateError> {
        match self.rows.get(&key) {
            Some(counts) => Ok(Some(counts.clone())),
            None => stored(key, reads),
        }
    }

    fn touch(&mut self, key: CountKey) {
        if self.active.len() < ACTIVE && self.is_active.insert(key) {
            self.active.push_back(key);
        }
        self.soil(key);
    }

    /// Notes that the store has another row.
    fn soil(&mut self, key: CountKey) {
        if let Some(counts) = self.rows.get_mut(&key)
            && !std::mem::replace(&mut counts.is_dirty, true)
        {
            self.dirty.push(key);
        }
    }

    /// The key of a URL's pattern; the one of all others where the host has too many.
    fn pattern_key(&mut self, url: &Url, reads: &dyn Reads) -> Result<CountKey, StateError> {
        let text = pattern(url.path_and_query());
        let host = url.host_key();
        let key = (host, xxh3_64(text.as_bytes()).max(1));
        let known = self.row(key, &text, reads)?.since != 0;
        if known {
            return Ok(key);
        }
        let row = self.row((host, 0), "", reads)?;
        if row.patterns < PATTERNS {
            row.patterns += 1;
            return Ok(key);
        }
        self.rows.remove(&key);
        self.row(others_of(host), OTHERS, reads)?;
        Ok(others_of(host))
    }

    /// Counts a visit, for its host and, if `patterns`, for its pattern.
    pub fn visit(
        &mut self,
        url: &Url,
        outcome: Outcome,
        bytes: u64,
        now: u64,
        patterns: bool,
        reads: &dyn Reads,
    ) -> Result<(), StateError> {
        let mut keys = [Some((url.host_key(), 0)), None];
        self.row((url.host_key(), 0), "", reads)?;
        if patterns {
            keys[1] = Some(self.pattern_key(url, reads)?);
        }
        for key in keys.into_iter().flatten() {
            if let Some(counts) = self.rows.get_mut(&key) {
                counts.count(outcome, bytes, now);
            }
            self.touch(key);
        }
        Ok(())
    }

    /// Notes that a page of another registered domain links to a host.
    pub fn linked(&mut self, host: u64, domain: &str, reads: &dyn Reads) -> Result<(), StateError> {
        let bit = xxh3_64(domain.as_bytes()) as usize % (SKETCH * 64);
        let word = 1 << (bit % 64);
        let row = self.row((host, 0), "", reads)?;
        // Most links tell nothing new, and cost nothing more.
        if row.domains[bit / 64] & word == 0 {
            row.domains[bit / 64] |= word;
            self.touch((host, 0));
        }
        Ok(())
    }

    /// What is known of a URL's pattern, if anything was decided about it.
    pub fn change(&self, url: &Url, reads: &dyn Reads) -> Result<Option<Counts>, StateError> {
        let text = pattern(url.path_and_query());
        let host = url.host_key();
        let mut counts = self.known((host, xxh3_64(text.as_bytes()).max(1)), reads)?;
        // A pattern that is not counted by itself is one of the rest, if the host has a rest.
        let may_have_rest = |host: &Counts| host.patterns >= PATTERNS;
        if counts.is_none() && self.rows.get(&(host, 0)).is_none_or(may_have_rest) {
            counts = self.known(others_of(host), reads)?;
        }
        Ok(counts.filter(|counts| counts.change.is_some()))
    }

    /// Takes a decision about a pattern. One that is not counted (any more) is of no interest. Gives
    /// the pattern, what held for it and what holds now, if that is something else.
    pub fn decide(
        &mut self,
        key: CountKey,
        decision: Decision,
        reads: &dyn Reads,
    ) -> Result<Option<Decided>, StateError> {
        let Some(mut counts) = self.known(key, reads)? else {
            return Ok(None);
        };
        let before = counts.change.take().unwrap_or_default();
        let after = before.clone().with(decision);
        if after == before {
            return Ok(None);
        }
        counts.change = Some(after.clone());
        let pattern = counts.pattern.clone();
        self.rows.insert(key, counts);
        self.soil(key);
        Ok(Some(Decided {
            pattern,
            before,
            after,
        }))
    }

    /// Up to `most` rows that were counted since they were taken last.
    pub fn take_active(
        &mut self,
        most: usize,
        reads: &dyn Reads,
    ) -> Result<Vec<(CountKey, Counts)>, StateError> {
        let mut rows = Vec::with_capacity(most.min(self.active.len()));
        while rows.len() < most
            && let Some(key) = self.active.pop_front()
        {
            self.is_active.remove(&key);
            rows.extend(self.known(key, reads)?.map(|counts| (key, counts)));
        }
        Ok(rows)
    }

    /// Adds the changed rows to the batch of that number.
    pub fn seal(&mut self, batch: u64, writes: &mut Writes) {
        for key in self.dirty.drain(..) {
            if let Some(counts) = self.rows.get_mut(&key) {
                counts.is_dirty = false;
                counts.batch = batch;
                writes.put(Space::Meta, row_key(key), counts.encode());
            }
        }
        if self.rows.len() > IN_RAM {
            // What the store does not show yet would be read from it as it was before.
            let applied = self.applied;
            self.rows.retain(|_, counts| counts.batch > applied);
        }
    }

    /// The store has all batches up to this one.
    pub fn applied(&mut self, batch: u64) {
        self.applied = batch;
    }

    /// The store was changed by others, and has all that was counted here: rows are read anew.
    pub fn read_anew(&mut self) {
        self.rows.clear();
        self.dirty.clear();
    }
}

impl Counts {
    fn count(&mut self, outcome: Outcome, bytes: u64, now: u64) {
        if self.since == 0 {
            self.since = now.max(1);
        }
        self.bytes = self.bytes.saturating_add(bytes);
        match outcome {
            Outcome::Fetched | Outcome::Truncated | Outcome::Dropped => {
                self.fetched += 1;
                self.new += 1;
            }
            Outcome::Duplicate | Outcome::NotModified => {
                self.fetched += 1;
                self.duplicate += 1;
            }
            Outcome::Redirected | Outcome::Deferred => {}
            _ => self.errors += 1,
        }
    }
}

/// The key of all patterns of a host that are not counted by themselves.
fn others_of(host: u64) -> CountKey {
    (host, xxh3_64(OTHERS.as_bytes()))
}

fn stored(key: CountKey, reads: &dyn Reads) -> Result<Option<Counts>, StateError> {
    let row = reads.get(Space::Meta, &row_key(key))?;
    Ok(row.as_deref().and_then(Counts::decode))
}

fn row_key((host, pattern): CountKey) -> Vec<u8> {
    [PREFIX, &host.to_be_bytes(), &pattern.to_be_bytes()].concat()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
#[path = "counts_tests.rs"]
mod tests;
