//! Verdicts: whether a pattern, a family or a word of a host is doubted, and whether anything is hoped of it.
//!
//! Takes what a visit brought when it is counted; gives the verdicts that changed ([`Doubt`]). A pattern is judged by its
//! visits, a family by whether it ends, a word by the visits of all patterns that have it. What somebody took up, or a policy
//! decided about, is left alone. A verdict is in the row of counters with its reason, and in the [`Doubts`].
//!
//! [`Doubts`]: super::doubts::Doubts

use super::counts::HostCounts;
use super::evidence::{Brought, EvidenceSettings};
use super::hint;
use super::rows::{CountKey, others_of};
use super::text::key_of;
use super::visit::PageAt;
use super::words::{Worth, words};
use crate::store::state::{Reads, StateError};

/// A verdict that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    pub key: CountKey,
    pub pattern: Box<str>,
    /// `None`: it is doubted no more.
    pub reason: Option<Box<str>>,
}

impl HostCounts {
    /// The verdict about a pattern, if it changed.
    pub(super) fn judge(
        &mut self,
        key: CountKey,
        now: u64,
        settings: &EvidenceSettings,
    ) -> Option<Doubt> {
        if key == others_of(key.0) {
            // All kinds of patterns: what is true of most says nothing of the next.
            return None;
        }
        let hosts = self.doubts.hosts(key.1);
        let row = self.rows.get_mut(key)?;
        let is_doubted = row.doubt.is_some();
        let is_known = hosts.saturating_sub(u32::from(is_doubted)) >= settings.known_hosts;
        // Somebody else has decided.
        let is_free = !row.is_trusted && row.change.is_none();
        let year = hint::year_of_time(now);
        let evidence = &row.evidence;
        let reason = if row.is_family {
            row.hint
                .and_then(|hint| evidence.endless(hint, year, is_known, settings))
        } else {
            evidence.doubt(row.hint.is_some(), is_known, is_doubted, settings)
        };
        let reason = reason.filter(|_| is_free);
        let is_judged = row.is_family && reason.is_none() && !evidence.is_open(settings);
        let is_cleared = is_judged && !row.is_cleared;
        row.is_cleared = is_judged;
        let pattern = row.pattern.clone();
        let is_changed = reason.is_some() != is_doubted;
        if is_changed {
            row.doubt = reason.map(Into::into);
        }
        let reason = row.doubt.clone();
        if is_cleared && !is_changed {
            return Some(Doubt {
                key,
                pattern,
                reason: None,
            });
        }
        if !is_changed {
            return None;
        }
        self.mark(key, !is_doubted);
        self.rows.soil(key);
        Some(Doubt {
            key,
            pattern,
            reason,
        })
    }

    /// Counts what a visit was worth for the words of its pattern; gives the verdict that changed.
    pub(super) fn judge_words(
        &mut self,
        key: CountKey,
        worth: Worth,
        settings: &EvidenceSettings,
        reads: &dyn Reads,
    ) -> Result<Option<Doubt>, StateError> {
        let (host, pattern) = (key.0, self.rows.row(key, "", reads)?.pattern.clone());
        let doubted = words(&pattern).map(|word| ((host, key_of(&word)), word));
        let doubted = doubted.filter(|(key, _)| self.doubts.is_doubted(*key));
        let mut is_explained = false;
        for (key, word) in doubted.collect::<Vec<_>>() {
            let others = self.doubts.hosts(key.1).saturating_sub(1);
            let is_known = others >= settings.known_hosts;
            let value = if is_known { worth.own } else { worth.value };
            let mean = self
                .words
                .visit_one(host, &word, value, worth.kind, settings);
            let evidence = &mut self.rows.row(key, &word, reads)?.evidence;
            evidence.visits = evidence.visits.saturating_add(1);
            evidence.good = evidence
                .good
                .saturating_add(u32::from(value >= settings.low));
            let count = &mut evidence.brought[worth.kind as usize];
            *count = count.saturating_add(1);
            if mean >= settings.high {
                return self.set_doubt(key, &word, None, reads);
            }
            self.rows.soil(key);
            // A word that explains little does not hide another that explains more.
            is_explained |= self.is_hopeless(key, settings, reads)?;
        }
        // What is explained by its pattern or a word says nothing of the other words.
        if is_explained || self.doubts.is_doubted(key) {
            return Ok(None);
        }
        let doubts = &self.doubts;
        let is_known = |word: &str| {
            let hosts = doubts.hosts(key_of(word));
            // A word that no host doubts is not known, whatever the limit.
            hosts > 0 && hosts >= settings.known_hosts
        };
        let is_doubted = |word: &str| doubts.is_doubted((host, key_of(word)));
        let found = self
            .words
            .visit(host, &pattern, worth, is_known, is_doubted, settings);
        let Some(blamed) = found else {
            return Ok(None);
        };
        let key = (host, key_of(&blamed.word));
        let row = self.rows.row(key, &blamed.word, reads)?;
        if row.is_trusted || row.change.is_some() {
            return Ok(None);
        }
        let evidence = &mut row.evidence;
        (evidence.visits, evidence.good) = (blamed.visits, blamed.good);
        evidence.brought = blamed.brought;
        let reason = format!(
            "of {} visits {} brought something new",
            blamed.visits, blamed.good
        );
        self.set_doubt(key, &blamed.word, Some(reason.into()), reads)
    }

    fn set_doubt(
        &mut self,
        key: CountKey,
        pattern: &str,
        reason: Option<Box<str>>,
        reads: &dyn Reads,
    ) -> Result<Option<Doubt>, StateError> {
        let row = self.rows.row(key, pattern, reads)?;
        row.doubt = reason.clone();
        self.mark(key, reason.is_some());
        self.rows.soil(key);
        Ok(Some(Doubt {
            key,
            pattern: pattern.into(),
            reason,
        }))
    }

    /// Whether nothing is hoped of what is doubted: then a share of the host's visits is all it has.
    pub(super) fn is_hopeless(
        &mut self,
        key: CountKey,
        settings: &EvidenceSettings,
        reads: &dyn Reads,
    ) -> Result<bool, StateError> {
        let hosts = self.doubts.hosts(key.1);
        let is_known = hosts > settings.known_hosts;
        let of_host = self.rows.row((key.0, 0), "", reads)?;
        let useful = of_host.evidence.brought[Brought::New as usize];
        let row = self.rows.row(key, "", reads)?;
        // A family that goes on for ever is not judged by what its pages are worth.
        Ok(row.is_family
            || row.evidence.is_hopeless(is_known, settings)
                && row.evidence.stands_out(useful, settings))
    }

    /// The first word of a pattern of which nothing is hoped.
    pub(super) fn hopeless_word(
        &mut self,
        host: u64,
        pattern: &str,
        settings: &EvidenceSettings,
        reads: &dyn Reads,
    ) -> Result<Option<CountKey>, StateError> {
        for word in words(pattern) {
            let key = (host, key_of(&word));
            if self.doubts.is_doubted(key) && self.is_hopeless(key, settings, reads)? {
                return Ok(Some(key));
            }
        }
        Ok(None)
    }

    /// What is doubted about a page.
    pub(super) fn doubted_page(
        &mut self,
        page: &PageAt,
        reads: &dyn Reads,
    ) -> Result<Option<CountKey>, StateError> {
        let pattern = self.rows.row(page.key, "", reads)?.pattern.clone();
        Ok(self.doubts.doubted_key(page.key, page.family, &pattern))
    }

    /// What is set aside of a visited page's pattern, family or words comes back when it brings something again, though
    /// it is still doubted.
    pub(super) fn take_back(
        &mut self,
        page: &PageAt,
        settings: &EvidenceSettings,
        reads: &dyn Reads,
    ) -> Result<(), StateError> {
        let host = page.key.0;
        let of_host = self.rows.row((host, 0), "", reads)?;
        if of_host.set_aside == 0 {
            return Ok(());
        }
        let exhausted =
            [false, true].map(|is_side| of_host.evidence.is_exhausted(is_side, settings));
        let pattern = self.rows.row(page.key, "", reads)?.pattern.clone();
        let words = words(&pattern).map(|word| (host, key_of(&word)));
        let keys = page.family.into_iter().chain([page.key]).chain(words);
        for key in keys.collect::<Vec<_>>() {
            let row = self.rows.known(key, reads)?;
            let Some(row) = row.filter(|row| row.set_aside > 0 && !row.is_family) else {
                continue;
            };
            // Or it would be set aside again at once (`place`).
            let is_side = self.is_side(key, &row.pattern, settings);
            let is_left =
                !exhausted[usize::from(is_side)] || row.evidence.estimate(0.0) >= settings.low;
            if is_left && row.evidence.has_hope(settings) {
                self.taking.entry(key).or_default();
            }
        }
        Ok(())
    }

    /// What was set aside because all that is doubted had had its visits comes back when the host turns out to be larger.
    pub(super) fn take_back_all(
        &mut self,
        host: u64,
        settings: &EvidenceSettings,
        reads: &dyn Reads,
    ) -> Result<(), StateError> {
        let evidence = &self.rows.row((host, 0), "", reads)?.evidence;
        if !self.exhausted.contains(&host) || !evidence.has_room(settings) {
            return Ok(());
        }
        self.exhausted.remove(&host);
        for key in self.doubts.of(host).collect::<Vec<_>>() {
            let row = self.rows.known(key, reads)?;
            let has_some = row.is_some_and(|row| row.set_aside > 0 && !row.is_family);
            if has_some && !self.is_hopeless(key, settings, reads)? {
                self.taking.entry(key).or_default();
            }
        }
        Ok(())
    }
}
