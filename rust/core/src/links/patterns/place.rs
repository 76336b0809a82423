//! Places: where a URL belongs in its host's queue.
//!
//! Takes a URL; gives its [`Placing`], by what its pattern promises and whether its pattern, family or one of its words is
//! doubted. A seed, a revisit and a URL of a sitemap have their usual place, and so has what somebody took up. Changes
//! nothing but the count of URLs that were tried of a family before it is judged.

use xxhash_rust::xxh3::xxh3_64;

use super::counts::HostCounts;
use super::evidence::{Brought, EvidenceSettings};
use super::hint;
use super::rows::CountKey;
use super::text::{Pattern, bases_of, key_of};
use crate::links::{Link, Score};
use crate::store::state::{Reads, StateError};

/// Where a URL belongs in its host's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placing {
    Usual,
    /// When the family that it belongs to is judged: others of it are tried first.
    Waits,
    /// With this score, behind what promises more.
    Low(Score),
    /// Not before somebody says so.
    Aside,
}

impl HostCounts {
    /// Where a URL belongs in its host's queue, and the pattern that says so. `is_found`: its page is just being counted.
    pub fn place(
        &mut self,
        link: &Link,
        is_found: bool,
        settings: &EvidenceSettings,
        reads: &dyn Reads,
    ) -> Result<(Placing, Option<CountKey>), StateError> {
        let host = link.url.host_key();
        let hint = hint::hint(
            link.url.path_and_query(),
            link.url.as_str(),
            &link.from,
            &settings.hints,
        );
        let is_even = !self.doubts.has_doubted(host) && !self.uneven.contains(&host);
        let is_plain = hint.is_none() && is_even;
        if link.seed || link.revisit || link.sitemap || is_plain {
            return Ok((Placing::Usual, None));
        }
        let pattern = self.naming.pattern(link, &self.doubts, settings, reads)?;
        let family = pattern
            .family
            .as_deref()
            .map(|family| (host, key_of(family)));
        let key = (host, pattern.key());
        if self.doubts.is_trusted(key, family, &pattern.text) {
            return Ok((Placing::Usual, None));
        }
        if self.naming.forgets() {
            self.load(key, &pattern, reads)?;
        }
        let (worth, promises) = self.promises(key, &pattern, settings);
        let is_side = self.is_side(key, &pattern.text, settings);
        let low = Score::low(promises / settings.behind.max(f32::MIN_POSITIVE), is_side);
        if let Some(doubted) = self.doubts.doubted_key(key, family, &pattern.text) {
            let mut is_hopeless = self.is_hopeless(doubted, settings, reads)?;
            let mut doubted = doubted;
            // A word is judged by more visits than a pattern that has it.
            if !is_hopeless
                && !self.rows.get(key).is_some_and(|row| row.is_base)
                && let Some(word) = self.hopeless_word(host, &pattern.text, settings, reads)?
            {
                (doubted, is_hopeless) = (word, true);
            }
            let is_left =
                worth >= settings.low || !self.is_exhausted(host, is_side, settings, reads)?;
            if !is_left {
                self.exhausted.insert(host);
            }
            let is_over = !is_left || is_hopeless && self.is_over(doubted, settings, reads)?;
            // What goes on for ever leads only to itself.
            let is_list = Some(doubted) != family;
            let is_led =
                is_over && is_list && self.is_led_to(key, link, is_found, settings, reads)?;
            let placing = if is_over && !is_led {
                Placing::Aside
            } else if is_hopeless {
                Placing::Low(Score::LAST)
            } else {
                Placing::Low(low)
            };
            return Ok((placing, Some(doubted)));
        }
        if let Some(family) = family {
            let row = self.rows.known(family, reads)?.unwrap_or_default();
            let is_free = !row.is_trusted && row.change.is_none();
            let is_open = is_free && row.evidence.is_open(settings);
            if is_open && !self.is_tried(family, link, settings, reads)? {
                return Ok((Placing::Waits, None));
            }
        }
        Ok(if promises < settings.behind {
            (Placing::Low(low), None)
        } else {
            (Placing::Usual, None)
        })
    }

    /// Reads the rows of a pattern and of what it is a view of, if the store has them.
    fn load(
        &mut self,
        key: CountKey,
        pattern: &Pattern,
        reads: &dyn Reads,
    ) -> Result<(), StateError> {
        let bases = pattern.bases().into_iter().map(|base| key_of(&base));
        for pattern in bases.chain([key.1]) {
            self.rows.load((key.0, pattern), reads)?;
        }
        Ok(())
    }

    /// Whether a pattern looks like a view of something else: there are pages that it may be a view of, or the links to it all
    /// have the same text.
    pub(super) fn is_side(
        &self,
        key: CountKey,
        pattern: &str,
        settings: &EvidenceSettings,
    ) -> bool {
        let least = settings.visits_hinted;
        self.labels.is_same(key, least, settings.label_share) || self.is_view(key.0, pattern)
    }

    /// Whether there are pages that URLs of a pattern may be views of.
    pub(super) fn is_view(&self, host: u64, pattern: &str) -> bool {
        bases_of(pattern).iter().any(|base| {
            let row = self.rows.get((host, key_of(base)));
            row.is_some_and(|row| row.is_counted)
        })
    }

    /// What a visit of a pattern is worth, by what is known of it, or of its words; and what it promises beside others.
    fn promises(
        &self,
        key: CountKey,
        pattern: &Pattern,
        settings: &EvidenceSettings,
    ) -> (f32, f32) {
        let mut usual = self.words.estimate(key.0, &pattern.text, settings);
        let mut share = 1.0;
        for base in pattern.bases() {
            // The page first, and then the views of it, as long as they are not known to bring more.
            if let Some(row) = self.rows.get((key.0, key_of(&base)))
                && row.is_counted
            {
                usual = usual.min(row.evidence.estimate(1.0)).min(settings.behind);
                share = settings.view_value;
            }
        }
        let promises = match self.rows.get(key) {
            // What others are views of comes before them.
            Some(row) if row.is_base && row.doubt.is_none() => {
                row.evidence.estimate(usual).max(settings.behind)
            }
            Some(row) => row.evidence.estimate(usual),
            None => usual,
        };
        (promises, promises * share)
    }

    /// Whether all that is doubted on a host together has had its visits.
    fn is_exhausted(
        &mut self,
        host: u64,
        is_side: bool,
        settings: &EvidenceSettings,
        reads: &dyn Reads,
    ) -> Result<bool, StateError> {
        let of_host = &self.rows.row((host, 0), "", reads)?.evidence;
        Ok(of_host.is_exhausted(is_side, settings))
    }

    /// Whether what nothing is hoped of has had its share of the host's visits.
    fn is_over(
        &mut self,
        doubted: CountKey,
        settings: &EvidenceSettings,
        reads: &dyn Reads,
    ) -> Result<bool, StateError> {
        let of_host = &self.rows.row((doubted.0, 0), "", reads)?.evidence;
        let useful = of_host.brought[Brought::New as usize] as f32;
        let most = settings.base as f32 + settings.share * useful;
        let is_over = of_host.doubted_visits as f32 >= most;
        let row = self.rows.row(doubted, "", reads)?;
        Ok(is_over || row.evidence.visits as f32 >= settings.pattern_share * useful)
    }

    /// Whether a URL was found on a page of its own pattern that was worth something. `is_found`: what that page is worth
    /// is not known yet, so it may be.
    fn is_led_to(
        &mut self,
        key: CountKey,
        link: &Link,
        is_found: bool,
        settings: &EvidenceSettings,
        reads: &dyn Reads,
    ) -> Result<bool, StateError> {
        if is_found {
            let doubts = &self.doubts;
            let from = self.naming.parent_key(link, doubts, settings, reads)?;
            return Ok(from == Some(key));
        }
        let from = xxh3_64(link.from.as_bytes());
        let row = self.rows.known(key, reads)?;
        Ok(row.is_some_and(|row| row.leading.contains(&from)))
    }

    /// Whether a URL of a family that is not judged yet is one to try: the first few, and the first that is further than
    /// all before. So few visits reach far into the family, and tell whether it ends.
    fn is_tried(
        &mut self,
        family: CountKey,
        link: &Link,
        settings: &EvidenceSettings,
        reads: &dyn Reads,
    ) -> Result<bool, StateError> {
        let row = self.rows.row(family, "", reads)?;
        let is_further = row.tried_depth < link.depth;
        row.tried_depth = row.tried_depth.max(link.depth);
        row.tried = row.tried.saturating_add(1);
        Ok(is_further || row.tried <= settings.visits_known)
    }
}
