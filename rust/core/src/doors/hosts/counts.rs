//! Counters of hosts and URL patterns, in memory as far as they are used, in the store for good.
//!
//! A row of the space `meta` is `counts/` ++ host key ++ hash of the pattern (0: the host itself). It
//! belongs to the host, so it goes with its partition. RAM is bounded by [`IN_RAM`] rows, the patterns
//! of a host by [`PATTERNS`]: what comes beyond is counted with the pattern `…`.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use xxhash_rust::xxh3::xxh3_64;

use super::pattern;
use crate::canonical::Url;
use crate::frontier::bytes::{Reader, put_bytes, put_number};
use crate::outcome::Outcome;
use crate::store::state::{Reads, Space, StateError, Writes};

/// Where the rows are in the space `meta`.
pub(crate) const PREFIX: &[u8] = b"counts/";
const VERSION: u8 = 1;

/// Rows kept in memory.
const IN_RAM: usize = 65_536;
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
    /// Counted since it was asked about, and since it was written.
    is_active: bool,
    is_dirty: bool,
}

/// What a policy decided about a pattern.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// Pages after which its URLs have the least weight.
    pub budget: Option<u64>,
    /// The scores of its URLs are multiplied by this.
    pub weight: f32,
    /// Its URLs are refused.
    pub given_up: bool,
    pub reason: Box<str>,
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
        change.weight.clamp(0.0, 1.0)
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
    active: Vec<CountKey>,
    dirty: Vec<CountKey>,
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
                let stored = reads.get(Space::Meta, &row_key(key))?;
                let counts = stored.as_deref().and_then(Counts::decode);
                Ok(place.insert(counts.unwrap_or_else(|| Counts {
                    pattern: pattern.into(),
                    ..Counts::default()
                })))
            }
        }
    }

    fn touch(&mut self, key: CountKey) {
        let Some(counts) = self.rows.get_mut(&key) else {
            return;
        };
        if !std::mem::replace(&mut counts.is_active, true) {
            self.active.push(key);
        }
        if !std::mem::replace(&mut counts.is_dirty, true) {
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
        let others = (host, xxh3_64(OTHERS.as_bytes()));
        self.row(others, OTHERS, reads)?;
        Ok(others)
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
        let key = (url.host_key(), xxh3_64(text.as_bytes()).max(1));
        let counts = match self.rows.get(&key) {
            Some(counts) => Some(counts.clone()),
            None => reads
                .get(Space::Meta, &row_key(key))?
                .as_deref()
                .and_then(Counts::decode),
        };
        Ok(counts.filter(|counts| counts.change.is_some()))
    }

    /// Takes a decision about a pattern.
    pub fn decide(&mut self, key: CountKey, change: Change) {
        if let Some(counts) = self.rows.get_mut(&key) {
            counts.change = Some(change);
            if !std::mem::replace(&mut counts.is_dirty, true) {
                self.dirty.push(key);
            }
        }
    }

    /// Up to `most` rows that were counted since they were taken last.
    pub fn take_active(&mut self, most: usize) -> Vec<(CountKey, Counts)> {
        // Those that wait longest first, so that none is left out for ever.
        let later = self.active.split_off(most.min(self.active.len()));
        let keys = std::mem::replace(&mut self.active, later);
        let mut rows = Vec::with_capacity(keys.len());
        for key in keys {
            if let Some(counts) = self.rows.get_mut(&key) {
                counts.is_active = false;
                rows.push((key, counts.clone()));
            }
        }
        rows
    }

    /// Adds the changed rows to the batch.
    pub fn seal(&mut self, writes: &mut Writes) {
        for key in self.dirty.drain(..) {
            if let Some(counts) = self.rows.get_mut(&key) {
                counts.is_dirty = false;
                writes.put(Space::Meta, row_key(key), counts.encode());
            }
        }
        // As with the counts of traps: one that comes back before its batch is applied counts a
        // little less.
        if self.rows.len() > IN_RAM {
            self.rows.clear();
            self.active.clear();
        }
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

fn row_key((host, pattern): CountKey) -> Vec<u8> {
    [PREFIX, &host.to_be_bytes(), &pattern.to_be_bytes()].concat()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::canonical::Grouping;
    use crate::store::state::{MemoryState, State};

    fn url(path: &str) -> Url {
        Url::from_canonical(format!("http://a.example{path}"), Grouping::Host).unwrap()
    }

    #[test]
    fn visits_are_counted_by_host_and_pattern_and_kept() {
        let state = MemoryState::default();
        let mut counts = HostCounts::default();
        for n in 0..5 {
            let page = url(&format!("/item/{n}"));
            let outcome = [Outcome::Fetched, Outcome::Duplicate][n % 2];
            counts.visit(&page, outcome, 10, 7, true, &state).unwrap();
        }
        let gone = url("/other");
        counts
            .visit(&gone, Outcome::Gone, 1, 8, true, &state)
            .unwrap();
        let mut rows = counts.take_active(100);
        rows.sort_by_key(|(_, row)| row.pattern.clone());
        let told: Vec<_> = rows
            .iter()
            .map(|(_, row)| {
                (
                    &*row.pattern,
                    row.fetched,
                    row.new,
                    row.duplicate,
                    row.errors,
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                ("", 5, 3, 2, 1),
                ("/item/{n}", 5, 3, 2, 0),
                ("/other", 0, 0, 0, 1)
            ]
        );
        assert!(counts.take_active(100).is_empty());
        let change = Change {
            budget: Some(5),
            weight: 0.5,
            given_up: false,
            reason: "enough".into(),
        };
        counts.decide(rows[1].0, change.clone());
        let mut writes = Writes::default();
        counts.seal(&mut writes);
        state.apply(writes, true).unwrap();
        let known = HostCounts::default()
            .change(&url("/item/9"), &state)
            .unwrap();
        let known = known.unwrap();
        assert_eq!((known.change.clone(), known.weight()), (Some(change), 0.0));
        assert_eq!(HostCounts::default().change(&gone, &state).unwrap(), None);
        let mut again = HostCounts::default();
        again
            .visit(&url("/item/1"), Outcome::Fetched, 1, 9, true, &state)
            .unwrap();
        assert!(again.take_active(9).iter().all(|(_, row)| row.fetched == 6));
    }

    #[test]
    fn domains_are_told_apart_and_patterns_bounded() {
        let state = MemoryState::default();
        let mut counts = HostCounts::default();
        for n in 0..50 {
            for _ in 0..3 {
                counts.linked(1, &format!("d{n}.example"), &state).unwrap();
            }
        }
        let rows = counts.take_active(9);
        assert!(
            (40..60).contains(&rows[0].1.in_domains()),
            "{:?}",
            rows[0].1.in_domains()
        );
        for n in 0..PATTERNS + 50 {
            // A name without digits, so that each is a pattern of its own.
            let name: String = format!("{n:x}")
                .bytes()
                .map(|b| (b'g' + b % 16) as char)
                .collect();
            counts
                .visit(
                    &url(&format!("/{name}")),
                    Outcome::Fetched,
                    1,
                    1,
                    true,
                    &state,
                )
                .unwrap();
        }
        let rows = counts.take_active(usize::MAX);
        assert!(rows.len() as u32 <= PATTERNS + 2, "{}", rows.len());
    }

    #[test]
    fn damaged_rows_do_not_panic() {
        let whole = Counts {
            change: Some(Change::default()),
            ..Counts::default()
        }
        .encode();
        assert!(Counts::decode(&whole).is_some());
        for end in 0..whole.len() {
            let _ = Counts::decode(&whole[..end]);
        }
    }
}
