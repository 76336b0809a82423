//! Counters of hosts and URL patterns: one object of the parts that count, judge and place.
//!
//! Holds the [`Rows`] of counters, the [`Doubts`], how URLs are named by patterns ([`Naming`]) and what is counted in memory
//! only. How a visit is counted is in `visit`, what is made of it in `judge`, where a URL belongs in `place`, how URLs come
//! back that were set aside in `take_up`. Here: what policies ask and decide, and what goes to the store and comes from it.

use std::collections::{BTreeMap, HashSet};

use super::active::{Active, Asked};
use super::doubts::{Doubts, Mark, scan_doubts};
use super::evidence::EvidenceSettings;
use super::labels::Labels;
use super::naming::Naming;
use super::row::{Counts, Decided, Decision};
use super::rows::{CountKey, Rows, others_of, stored};
use super::take_up::Taking;
use super::text::twins;
use super::words::Words;
use crate::links::Link;
use crate::store::state::{Reads, StateError, Writes};

/// The counters of all hosts.
#[derive(Debug, Default)]
pub struct HostCounts {
    pub(super) rows: Rows,
    pub(super) doubts: Doubts,
    pub(super) naming: Naming,
    pub(super) words: Words,
    pub(super) labels: Labels,
    active: Active,
    /// Hosts with a pattern or a word that promises less than others.
    pub(super) uneven: HashSet<u64>,
    /// Hosts of which something was set aside because all that is doubted had had its visits.
    pub(super) exhausted: HashSet<u64>,
    /// URLs that are set aside, of all hosts.
    pub(super) urls_aside: u64,
    /// Patterns whose URLs are taken up again.
    pub(super) taking: BTreeMap<CountKey, Taking>,
}

impl HostCounts {
    /// With what the store has. `asked`: the rows that a policy asks for.
    pub fn open(asked: Asked, reads: &dyn Reads) -> Result<HostCounts, StateError> {
        let mut counts = HostCounts {
            active: Active::new(asked),
            ..HostCounts::default()
        };
        counts.load_doubts(reads)?;
        if Rows::is_known(reads)? {
            counts.naming.forget();
        }
        Ok(counts)
    }

    fn load_doubts(&mut self, reads: &dyn Reads) -> Result<(), StateError> {
        let found = scan_doubts(reads)?;
        self.doubts.clear();
        self.taking.clear();
        self.urls_aside = 0;
        for (key, mark) in found {
            if mark == Mark::Trusted {
                self.doubts.note_trust(key);
                continue;
            }
            let row = stored(key, reads)?.unwrap_or_default();
            self.urls_aside += row.set_aside;
            if mark == Mark::Doubted {
                self.doubts.note(key, true);
                continue;
            }
            if row.is_trusted {
                self.doubts.note_trust(key);
            }
            self.taking.insert(key, Taking::default());
        }
        Ok(())
    }

    /// A row was counted.
    pub(super) fn touch(&mut self, key: CountKey) {
        self.active.add(key);
        self.rows.soil(key);
    }

    /// Whether something of a host promises less than the rest.
    #[must_use]
    pub fn is_uneven(&self, host: u64) -> bool {
        self.uneven.contains(&host)
    }

    /// Visits of a host that told something of their patterns.
    pub fn visits_of(&mut self, host: u64, reads: &dyn Reads) -> Result<u32, StateError> {
        Ok(self.rows.row((host, 0), "", reads)?.evidence.visits)
    }

    /// The text of a pattern that was counted just now.
    #[must_use]
    pub fn pattern_of(&self, key: CountKey) -> Option<&str> {
        self.rows.get(key).map(|row| &*row.pattern)
    }

    /// Notes that a page of another registered domain links to a host.
    pub fn linked(&mut self, host: u64, domain: &str, reads: &dyn Reads) -> Result<(), StateError> {
        // Most links tell nothing new, and cost nothing more.
        if self.rows.row((host, 0), "", reads)?.linked(domain) {
            self.touch((host, 0));
        }
        Ok(())
    }

    /// What is known of a URL's pattern, if anything was decided about it.
    pub fn change(
        &mut self,
        link: &Link,
        settings: &EvidenceSettings,
        reads: &dyn Reads,
    ) -> Result<Option<Counts>, StateError> {
        let host = link.url.host_key();
        let pattern = self.naming.pattern(link, &self.doubts, settings, reads)?;
        let mut is_known = false;
        // What was decided about a pattern holds for views of visited pages too.
        for key in [pattern.key()].into_iter().chain(twins(&pattern.text)) {
            let counts = self.rows.known((host, key), reads)?;
            is_known |= counts.is_some();
            if counts.as_ref().is_some_and(|row| row.change.is_some()) {
                return Ok(counts);
            }
        }
        // A pattern that is not counted by itself is one of the rest, if the host has a rest.
        if is_known || !self.rows.may_have_rest(host) {
            return Ok(None);
        }
        let counts = self.rows.known(others_of(host), reads)?;
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
        let Some(mut counts) = self.rows.known(key, reads)? else {
            return Ok(None);
        };
        let before = counts.change.take().unwrap_or_default();
        let after = before.clone().with(decision);
        if after == before {
            return Ok(None);
        }
        counts.change = Some(after.clone());
        let pattern = counts.pattern.clone();
        self.rows.put(key, counts);
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
            && let Some(key) = self.active.take()
        {
            rows.extend(self.rows.known(key, reads)?.map(|counts| (key, counts)));
        }
        Ok(rows)
    }

    /// Adds the changed rows to the batch of that number.
    pub fn seal(&mut self, batch: u64, writes: &mut Writes) {
        self.rows.seal(batch, writes);
        self.doubts.seal(writes);
        self.naming.seal(batch, self.rows.applied(), writes);
    }

    /// The store has all batches up to this one.
    pub fn applied(&mut self, batch: u64) {
        self.rows.set_applied(batch);
    }

    /// The store was changed by others, and has all that was counted here: rows are read anew.
    pub fn read_anew(&mut self, reads: &dyn Reads) -> Result<(), StateError> {
        self.rows.clear();
        self.doubts.clear_marks();
        self.naming.clear();
        self.load_doubts(reads)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
#[path = "counts_tests.rs"]
mod tests;
