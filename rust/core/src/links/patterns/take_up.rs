//! URLs that are set aside: how many there are, and how they come back when their pattern is doubted no more.
//!
//! Takes the verdicts that changed and what somebody trusts; gives the patterns whose URLs are taken up, a slice at a time
//! ([`Taking`]). A pattern that is doubted no more has a mark in the store while its URLs are on their way, so that a crash
//! loses none of them.

use super::counts::HostCounts;
use super::doubts::Mark;
use super::row::Counts;
use super::rows::CountKey;
use crate::store::state::{Reads, StateError};

/// Doubted patterns looked at to list the ones with most URLs set aside.
const LOOKED_AT: usize = 10_000;

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
        self.doubts.note(key, is_doubted);
        let is_aside = self.rows.get(key).is_some_and(|row| row.set_aside > 0);
        let mark = if is_doubted {
            self.taking.remove(&key);
            Mark::Doubted
        } else if is_aside {
            self.taking.insert(key, Taking::default());
            Mark::TakenUp
        } else {
            self.doubts.settled(key)
        };
        self.doubts.mark(key, mark);
    }

    /// A pattern is not doubted any more, whatever its visits bring. Gives how many of its URLs are set aside; `None`: it
    /// is not known.
    pub fn trust(&mut self, key: CountKey, reads: &dyn Reads) -> Result<Option<u64>, StateError> {
        if self.rows.known(key, reads)?.is_none() {
            return Ok(None);
        }
        let row = self.rows.row(key, "", reads)?;
        row.is_trusted = true;
        row.doubt = None;
        let aside = row.set_aside;
        self.doubts.note_trust(key);
        self.mark(key, false);
        self.rows.soil(key);
        Ok(Some(aside))
    }

    /// So many more URLs of a pattern are set aside, or fewer.
    pub fn set_aside(
        &mut self,
        key: CountKey,
        more: i64,
        reads: &dyn Reads,
    ) -> Result<(), StateError> {
        for key in [key, (key.0, 0)] {
            let row = self.rows.row(key, "", reads)?;
            let before = row.set_aside;
            let after = before.saturating_add_signed(more);
            row.set_aside = after;
            if key.1 != 0 {
                self.urls_aside = (self.urls_aside + after).saturating_sub(before);
            }
            self.rows.soil(key);
        }
        Ok(())
    }

    /// URLs that are set aside, of all hosts.
    #[must_use]
    pub fn urls_aside(&self) -> u64 {
        self.urls_aside
    }

    /// A pattern whose URLs can be taken up now, and how far that is.
    #[must_use]
    pub fn next_to_take_up(&self) -> Option<(CountKey, Taking)> {
        let ready = |taking: &Taking| taking.waits_for <= self.rows.applied();
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
        let left = self.rows.row(key, "", reads)?.set_aside;
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
        self.doubts.mark(key, self.doubts.settled(key));
        // Counted, and nowhere to be found.
        self.set_aside(key, -i64::try_from(left).unwrap_or(i64::MAX), reads)
    }

    /// The patterns of a host that are doubted or taken up.
    #[must_use]
    pub fn doubted_of(&self, host: u64) -> Vec<CountKey> {
        let taking = self.taking.range((host, 0)..=(host, u64::MAX));
        let taking = taking.map(|(key, _)| *key);
        let doubted = self.doubts.of(host);
        doubted
            .chain(taking.filter(|key| !self.doubts.is_doubted(*key)))
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
                let taking = self.taking.keys().copied();
                let doubted = self.doubts.all();
                doubted
                    .chain(taking.filter(|key| !self.doubts.is_doubted(*key)))
                    .collect()
            }
        };
        let total = keys.len();
        let mut rows = Vec::with_capacity(total.min(LOOKED_AT));
        for key in keys.into_iter().take(LOOKED_AT) {
            rows.extend(self.rows.known(key, reads)?.map(|row| DoubtedRow {
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
