//! Rules where the node applies them: links that come in, what is queued, hosts.

use std::sync::Arc;

use super::evidence::Book;
use super::parameters::ParameterBook;
use super::{Node, NodeError};
use crate::frontier::{self, Judge, Refusal};
use crate::links::patterns::{EvidenceSettings, Placing};
use crate::links::rules::{Drop, Facts, RuleSet};
use crate::links::scope::Scope;
use crate::links::{Link, Score};
use crate::outcome::Outcome;
use crate::parse::LinkKind;
use crate::seen::{Candidate, UrlKey};
use crate::store::rows::IndexRow;
use crate::store::state::disk::DiskState;
use crate::store::state::{Reads, Space, StateError};

/// What is known of a link when it comes in.
pub(super) fn facts_of(link: &Link) -> Facts<'_> {
    queued_facts(link, Some(link.kind))
}

fn queued_facts(link: &Link, kind: Option<LinkKind>) -> Facts<'_> {
    Facts {
        kind,
        ..Facts::of(&link.url).at_depth(link.depth)
    }
}

impl Node {
    /// The rules in force; `None`: there are none.
    pub(super) fn rule_set(&self) -> Option<Arc<RuleSet>> {
        self.pool.policies().rules.clone()
    }

    /// Links without those that a rule drops. A drop is an outcome of the URL, told once for each
    /// rule and reason; the URL itself is not known by it, so that it can come in again when the
    /// rule is gone.
    pub(super) fn drop_by_rules(
        &mut self,
        links: Vec<Link>,
        now: u64,
    ) -> Result<Vec<Link>, NodeError> {
        let Some(rules) = self.rule_set() else {
            return Ok(links);
        };
        let mut kept = Vec::with_capacity(links.len());
        for link in links {
            match rules.dropped(&facts_of(&link)) {
                Some(drop) => self.note_drop(link, drop, 0, now)?,
                None => kept.push(link),
            }
        }
        Ok(kept)
    }

    /// A queued URL that a rule of this moment drops.
    pub(super) fn drop_queued(&mut self, refusal: Refusal, now: u64) -> Result<(), NodeError> {
        let rules = self.rule_set();
        // The queue may not have known how it was found, which no rule that dropped it asked for.
        let facts = [Some(refusal.link.kind), None].map(|kind| queued_facts(&refusal.link, kind));
        let drop = rules
            .as_ref()
            .and_then(|rules| facts.iter().find_map(|facts| rules.dropped(facts)));
        match drop {
            Some(drop) => {
                if !refusal.link.revisit {
                    let (key, batch) = (refusal.link.url.key(), self.committer.next_number());
                    self.queue_drops.add(key, batch, &mut self.open.writes);
                }
                // It may have been told when a further link to it was found, or before it came in
                // again; what a visit said since is not the last word any more.
                if self.mark_drop(&refusal.link, drop)? || self.was_visited(&refusal.link)? {
                    self.note_outcome(&refusal, Some(&words(drop)), now);
                }
                Ok(())
            }
            None => {
                self.note_refusal(&refusal, now);
                Ok(())
            }
        }
    }

    fn note_drop(
        &mut self,
        link: Link,
        drop: Drop<'_>,
        tries: u8,
        now: u64,
    ) -> Result<(), NodeError> {
        if !self.mark_drop(&link, drop)? || self.was_visited(&link)? {
            return Ok(());
        }
        let refusal = Refusal {
            link,
            tries,
            outcome: Outcome::RuleDropped,
        };
        self.note_outcome(&refusal, Some(&words(drop)), now);
        Ok(())
    }

    /// Remembers that a rule dropped the URL; false: that was known.
    fn mark_drop(&mut self, link: &Link, drop: Drop<'_>) -> Result<bool, NodeError> {
        let (key, text) = mark(link, drop);
        let candidate = [Candidate { key, url: &text }];
        let mut fresh = Vec::with_capacity(1);
        self.seen
            .admit(&candidate, &*self.state, &mut self.open.writes, &mut fresh)?;
        Ok(fresh.first() == Some(&true))
    }

    /// Links that no rule drops now, and that `seen` knows only because they were queued before a
    /// rule dropped them: they come in again, once.
    pub(super) fn let_back(&mut self, links: &[Link], fresh: &mut [bool]) -> Result<(), NodeError> {
        let batch = self.committer.next_number();
        for (link, fresh) in links.iter().zip(fresh).filter(|(_, fresh)| !**fresh) {
            let (drops, writes) = (&mut self.queue_drops, &mut self.open.writes);
            *fresh = drops.take(link.url.key(), batch, &*self.state, writes)?;
        }
        Ok(())
    }

    /// Whether there is an outcome of the URL that a drop must not hide.
    fn was_visited(&self, link: &Link) -> Result<bool, NodeError> {
        if self.fresh_rows.contains_key(&link.url.key()) {
            return Ok(true);
        }
        let row = self.state.get(Space::Index, &link.url.key())?;
        let row = row.as_deref().and_then(IndexRow::read);
        let outcome = row.and_then(|row| row.outcome());
        Ok(outcome.is_some_and(|outcome| outcome != Outcome::RuleDropped))
    }
}

/// A drop, for the log and for `why`.
fn words(drop: Drop<'_>) -> String {
    format!("rule '{}': {}", drop.rule, drop.reason)
}

/// What `seen` knows a drop by: it belongs to the URL's host, and is no URL.
fn mark(link: &Link, drop: Drop<'_>) -> (UrlKey, String) {
    let mark = drop.mark();
    let mut key = link.url.key();
    for (byte, other) in key.iter_mut().skip(8).zip(mark.to_be_bytes()) {
        *byte ^= other;
    }
    (UrlKey(key), format!("{}#{mark:016x}", link.url.as_str()))
}

/// Scope and rules, for what is queued.
pub(super) struct QueueJudge {
    pub scope: Scope,
    pub rules: Option<Arc<RuleSet>>,
    pub book: Book,
    pub parameters: ParameterBook,
    pub evidence: EvidenceSettings,
    pub state: Arc<DiskState>,
}

impl Judge for QueueJudge {
    fn refuses(&self, link: &Link, kind: Option<LinkKind>) -> Option<Outcome> {
        if !self.scope.admits(link) {
            return Some(Outcome::OutOfScope);
        }
        let rules = self.rules.as_ref();
        if rules.is_some_and(|rules| rules.dropped(&queued_facts(link, kind)).is_some()) {
            return Some(Outcome::RuleDropped);
        }
        // Its page is the one of the URL without a parameter.
        let bare = self.parameters.bare(link, kind, &self.evidence.parameters);
        bare.map(|_| Outcome::Duplicate)
    }

    fn placing(&self, link: &Link) -> Result<Placing, StateError> {
        let placed = self
            .book
            .lock()
            .place(link, false, &self.evidence, &*self.state)?;
        Ok(placed.0)
    }

    fn score(&self, link: &Link, kind: Option<LinkKind>, score: Score) -> Score {
        let Some(rules) = &self.rules else {
            return score;
        };
        match rules.link(&queued_facts(link, kind)).score {
            Some(change) => Score::new(change.apply(score.value())),
            None => score,
        }
    }
}

impl frontier::HostRules for RuleSet {
    fn terms(&self, host: &str) -> frontier::HostTerms {
        let terms = self.host(host);
        frontier::HostTerms {
            gap: terms.delay,
            per_host: terms.per_host,
            pages: terms.quota,
        }
    }
}
