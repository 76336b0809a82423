//! Names and addresses: gathers the evidence, and visits a site under one of its names only.
//!
//! A URL of an alias passes `seen` like any other. It is then left out (outcome `duplicate`, a log
//! line, a row to undo it by), and the same path of the site's other name goes to `seen` instead: so
//! each page of the site is asked for once, and none is lost. A few are visited all the same, when their other
//! name has been: where the two are other pages, the finding is undone.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{Node, NodeError};
use crate::canonical::{Url, canonical};
use crate::frontier::Refusal;
use crate::links::Link;
use crate::node::pool::{Purpose, Visited};
use crate::outcome::Outcome;
use crate::parse::LinkKind;
use crate::seen::alias::{Agreement, Aliases, Starts, seed_row, skip_key};
use crate::store::rows::IndexRow;
use crate::store::state::{Reads, Space, StateError};

/// URLs that come back in one batch when a finding is undone.
const UNDO_SLICE: usize = 2_000;

/// What is compared of a page; kept for pages whose batch is not applied yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Brief {
    pub outcome: Outcome,
    pub simhash: u64,
}

impl Brief {
    fn is_page(self) -> bool {
        matches!(self.outcome, Outcome::Fetched | Outcome::Duplicate)
    }

    /// Whether the two are the same page, as far as their texts tell.
    fn is_same(self, other: Brief, near_bits: u32) -> bool {
        let text = self.simhash != 0 && other.simhash != 0;
        self.is_page() && other.is_page() && text && !self.differs(other, near_bits)
    }

    /// Whether the two cannot be the same page.
    fn differs(self, other: Brief, near_bits: u32) -> bool {
        if self.is_page() && other.is_page() {
            return self.simhash != 0
                && other.simhash != 0
                && (self.simhash ^ other.simhash).count_ones() > near_bits;
        }
        // A page here and nothing there; failures say nothing.
        let gone = |brief: Brief| brief.outcome == Outcome::Gone;
        (self.is_page() && gone(other)) || (gone(self) && other.is_page())
    }
}

impl Node {
    /// What a visit says about its host being another one. Before its index row is made.
    pub(super) fn weigh(&mut self, visited: &Visited, now: u64) -> Result<(), NodeError> {
        if !self.aliases.listens() || visited.task.purpose != Purpose::Page {
            return Ok(());
        }
        let facts = visited.facts.as_ref();
        let mine = Brief {
            outcome: visited.outcome,
            simhash: facts.map_or(0, |facts| facts.simhash),
        };
        // Scripts, pictures and the like are the same on sites that have nothing else in common.
        let speaks = mine.is_page()
            && visited.bytes >= self.aliases.settings().least_bytes
            && facts.is_some_and(|facts| facts.kind == "html");
        let url = &visited.task.url;
        if let Some(twin) = self.twin(url) {
            return if speaks || mine.outcome == Outcome::Gone {
                self.weigh_sample(url, mine, &twin)
            } else {
                Ok(())
            };
        }
        self.sample_aliases(url, now)?;
        if speaks
            && let Some(original) = &visited.original
            && original.url.ends_with(url.path_and_query())
        {
            let found = Url::from_canonical(original.url.clone(), self.rules.grouping);
            if let Ok(original) = found
                && original.path_and_query() == url.path_and_query()
            {
                return self.agree(url, &original, visited, now);
            }
        }
        if speaks || mine.outcome == Outcome::Gone {
            self.compare(url, mine, now)?;
        }
        Ok(())
    }

    fn agree(
        &mut self,
        page: &Url,
        original: &Url,
        visited: &Visited,
        now: u64,
    ) -> Result<(), NodeError> {
        if page.host() == original.host() {
            return Ok(());
        }
        let theirs = self.frontier.explain(original.host_key(), &*self.state)?;
        let theirs = theirs.and_then(|view| view.record.ip);
        let seen = Agreement {
            page,
            original,
            shared_address: visited.ip.is_some() && visited.ip == theirs,
            now,
        };
        let (fresh, state, near) = (
            &self.fresh_rows,
            &*self.state,
            self.settings.alias.near_bits,
        );
        let grouping = self.rules.grouping;
        let starts = |origins: [&str; 2]| -> Result<Starts, StateError> {
            let mut briefs = [None; 2];
            for (slot, origin) in briefs.iter_mut().zip(origins) {
                if let Ok(url) = Url::from_canonical(format!("{origin}/"), grouping) {
                    *slot = brief_of(&url, fresh, state)?;
                }
            }
            Ok(match briefs {
                [Some(one), Some(other)] if one.is_same(other, 0) => Starts::Same,
                [Some(one), Some(other)] if one.differs(other, near) => Starts::Different,
                _ => Starts::Unknown,
            })
        };
        let finding = self
            .aliases
            .agree(&seen, state, &mut self.open.writes, starts)?;
        if let Some(finding) = finding {
            let alias = if *finding.host == *page.host() {
                page
            } else {
                original
            };
            self.frontier
                .give_up(alias.host_key(), Outcome::Duplicate, now, &*self.state)?;
        }
        Ok(())
    }

    /// Looks what hosts that may be the same site have under the same path.
    fn compare(&mut self, url: &Url, mine: Brief, now: u64) -> Result<(), NodeError> {
        for (other, origin) in self.aliases.partners(url.host_key()) {
            let path = url.path_and_query();
            let Ok(twin) = Url::from_canonical(format!("{origin}{path}"), self.rules.grouping)
            else {
                continue;
            };
            let theirs = brief_of(&twin, &self.fresh_rows, &*self.state)?;
            if theirs.is_some_and(|theirs| mine.differs(theirs, self.settings.alias.near_bits)) {
                let writes = &mut self.open.writes;
                self.aliases
                    .differ(url.host_key(), other, path, now, writes);
            }
        }
        Ok(())
    }

    /// The URL that stands for one of an alias; `None`: its host is no alias.
    fn twin(&self, url: &Url) -> Option<Url> {
        let origin = self.aliases.of(url.host_key(), url.host())?;
        let text = format!("{origin}{}", url.path_and_query());
        Url::from_canonical(text, self.rules.grouping).ok()
    }

    /// A URL of an alias was visited all the same: is it the page that its other name has?
    fn weigh_sample(&mut self, url: &Url, mine: Brief, twin: &Url) -> Result<(), NodeError> {
        let Some(theirs) = brief_of(twin, &self.fresh_rows, &*self.state)? else {
            return Ok(());
        };
        let near = self.settings.alias.near_bits;
        let same = mine.is_same(theirs, near);
        if !same && !mine.differs(theirs, near) {
            return Ok(());
        }
        let writes = &mut self.open.writes;
        let refuted = self
            .aliases
            .sampled(url.host_key(), same, &*self.state, writes)?;
        if refuted {
            self.alias_undos.push(url.host().to_owned());
        }
        Ok(())
    }

    /// A page was visited: a URL of its aliases with the same path may be looked at too.
    fn sample_aliases(&mut self, url: &Url, now: u64) -> Result<(), NodeError> {
        let path = url.path_and_query();
        for (key, host) in self.aliases.aliases_of(url.host_key()) {
            if !self.aliases.is_sample(key, path) {
                continue;
            }
            for scheme in ["http", "https"] {
                let left_out = format!("{scheme}://{host}{path}");
                let row = self.state.get(Space::Meta, &skip_key(key, &left_out))?;
                let link = row.and_then(|row| self.link_left_out(&left_out, &row));
                if let Some(link) = link {
                    self.queue_sample(link, now)?;
                    break;
                }
            }
        }
        Ok(())
    }

    /// Queues a URL of an alias. Not while URLs of its host leave the queue.
    fn queue_sample(&mut self, link: Link, now: u64) -> Result<bool, NodeError> {
        let key = link.url.host_key();
        let view = self.frontier.explain(key, &*self.state)?;
        if let Some(view) = view.filter(|view| view.record.given_up.is_some()) {
            // Visits under way are counted as queued.
            let leaving = view.record.queued > u32::from(view.leases);
            if leaving || view.record.given_up != Some(Outcome::Duplicate) {
                return Ok(false);
            }
            self.frontier.take_back(key, now, &*self.state)?;
        }
        self.aliases.count_sample(key);
        let row = skip_key(key, link.url.as_str());
        self.open.writes.remove(Space::Meta, row);
        self.queue(vec![link])?;
        Ok(true)
    }

    /// The host of a seed is nobody's alias; one that was called so is not any more.
    pub(super) fn keep_seed_hosts(&mut self, links: &[Link]) {
        for url in links.iter().filter(|link| link.seed).map(|link| &link.url) {
            let row = seed_row(url.host_key());
            self.open.writes.put(Space::Meta, row, Vec::new());
            if self.is_alias(url) {
                self.alias_undos.push(url.host().to_owned());
            }
        }
    }

    /// Undoes the findings that do not hold. Between two batches: all that they left out is read back.
    pub(super) fn undo_refuted(&mut self) -> Result<(), NodeError> {
        while let Some(host) = self.alias_undos.pop() {
            match self.undo_alias(&host) {
                Err(NodeError::State(StateError::DiskFull(_))) => {
                    // It goes on when there is room.
                    self.alias_undos.push(host);
                    return Ok(());
                }
                undone => undone?,
            };
        }
        Ok(())
    }

    pub(super) fn is_alias(&self, url: &Url) -> bool {
        self.aliases.of(url.host_key(), url.host()).is_some()
    }

    /// Leaves a URL of an alias out; gives the URL that stands for it.
    pub(super) fn leave_out(&mut self, link: Link, now: u64) -> Option<Link> {
        let url = &link.url;
        let twin = self.twin(url);
        let mut value = link.depth.to_be_bytes().to_vec();
        value.push(u8::from(link.sitemap) | u8::from(link.seed) << 1);
        value.extend_from_slice(link.from.as_bytes());
        self.open
            .writes
            .put(Space::Meta, skip_key(url.host_key(), url.as_str()), value);
        let twin = twin.map(|url| link.to(url));
        let refusal = |link, outcome| Refusal {
            link,
            tries: 0,
            outcome,
        };
        self.note_refusal(&refusal(link, Outcome::Duplicate), now);
        let twin = twin?;
        if !self.pool.policies().scope.admits(&twin) {
            self.note_refusal(&refusal(twin, Outcome::OutOfScope), now);
            return None;
        }
        Some(twin)
    }

    /// A link to an alias that is visited all the same, since its other name has been; the others come back.
    pub(super) fn sample_link(&mut self, link: Link, now: u64) -> Result<Option<Link>, NodeError> {
        let (key, path) = (link.url.host_key(), link.url.path_and_query());
        if !self.aliases.is_sample(key, path) {
            return Ok(Some(link));
        }
        let known = match self.twin(&link.url) {
            Some(twin) => brief_of(&twin, &self.fresh_rows, &*self.state)?.is_some(),
            None => false,
        };
        let queued = known && self.queue_sample(link.clone(), now)?;
        Ok((!queued).then_some(link))
    }

    /// A URL left the queue without a visit: that of an alias leads to its other name.
    pub(super) fn take_refusal(&mut self, refusal: Refusal, now: u64) -> Result<(), NodeError> {
        if refusal.outcome == Outcome::RuleDropped {
            return self.drop_queued(refusal, now);
        }
        if refusal.outcome == Outcome::SetAside {
            return self.aside_refused(&refusal);
        }
        if self.is_probe(&refusal.link)? {
            return self.probe_refused(&refusal.link.url, refusal.outcome);
        }
        if !self.is_alias(&refusal.link.url) {
            if let Some(bare) = self.bare_of(&refusal) {
                return self.end_stripped(&refusal, &bare, now);
            }
            self.note_refusal(&refusal, now);
            return Ok(());
        }
        let link = Link {
            seed: false,
            // The other host's order is asked anew.
            score: None,
            reason: None,
            ..refusal.link
        };
        // One that leaves because its host was found to be an alias may be a sample.
        let left = if refusal.outcome == Outcome::Duplicate {
            self.sample_link(link, now)?
        } else {
            Some(link)
        };
        match left.and_then(|link| self.leave_out(link, now)) {
            Some(twin) => self.admit(vec![twin]),
            None => Ok(()),
        }
    }

    /// The findings, and those undone, as JSON for people and programs.
    pub fn aliases(&self) -> Result<Value, NodeError> {
        let (found, undone) = Aliases::list(&*self.state)?;
        Ok(json!({"aliases": found, "undone": undone}))
    }

    /// Undoes a finding: the host is visited again, what was left out is queued, and it is never
    /// called an alias again. All of it is safe when this returns. False: the host is no alias.
    pub fn undo_alias(&mut self, host: &str) -> Result<bool, NodeError> {
        let Ok(url) = canonical(&format!("http://{host}/"), None, &self.rules) else {
            return Ok(false);
        };
        // Rows of batches under way cannot be read yet.
        self.commit_open()?;
        let (key, now) = (url.host_key(), self.clock.now());
        let undone = self
            .aliases
            .undo(key, url.host(), &*self.state, &mut self.open.writes)?
            .is_some();
        if undone {
            self.frontier.take_back(key, now, &*self.state)?;
        }
        // An undo that was interrupted is finished by the next one.
        let mut queued = false;
        loop {
            let slice = self.left_out(key)?;
            queued |= !slice.is_empty();
            let full = slice.len() == UNDO_SLICE;
            self.queue_again(slice)?;
            self.commit_open()?;
            if !full {
                return Ok(undone || queued);
            }
        }
    }

    /// The first URLs of a host that were left out.
    fn left_out(&self, key: u64) -> Result<Vec<Link>, NodeError> {
        if self.aliases.is_alias(key) {
            return Ok(Vec::new());
        }
        let mut list = Vec::new();
        let from = skip_key(key, "");
        let to = skip_key(key, "\u{7f}");
        self.state
            .scan(Space::Meta, &from, &to, &mut |row, value| {
                let text = String::from_utf8_lossy(row.get(from.len()..).unwrap_or_default());
                list.extend(self.link_left_out(&text, value));
                list.len() < UNDO_SLICE
            })?;
        Ok(list)
    }

    /// A URL that was left out, from its row.
    fn link_left_out(&self, url: &str, row: &[u8]) -> Option<Link> {
        let url = Url::from_canonical(url.to_owned(), self.rules.grouping).ok()?;
        let [high, low, flags, from @ ..] = row else {
            return None;
        };
        let from = Arc::from(&*String::from_utf8_lossy(from));
        Some(Link {
            depth: u16::from_be_bytes([*high, *low]),
            sitemap: flags & 1 != 0,
            seed: flags & 2 != 0,
            ..Link::new(url, from, LinkKind::A)
        })
    }

    fn queue_again(&mut self, slice: Vec<Link>) -> Result<(), NodeError> {
        for link in &slice {
            let key = skip_key(link.url.host_key(), link.url.as_str());
            self.open.writes.remove(Space::Meta, key);
        }
        self.open.begin(self.clock.now());
        self.queue(slice)
    }
}

/// What became of a page, in a batch under way or in one that is applied.
fn brief_of(
    url: &Url,
    fresh: &HashMap<[u8; 16], (u64, Brief)>,
    reads: &dyn Reads,
) -> Result<Option<Brief>, StateError> {
    if let Some((_, brief)) = fresh.get(&url.key()) {
        return Ok(Some(*brief));
    }
    let row = reads.get(Space::Index, &url.key())?;
    let row = row.as_deref().and_then(IndexRow::read);
    Ok(row.and_then(|row| {
        Some(Brief {
            outcome: row.outcome()?,
            simhash: row.simhash,
        })
    }))
}

/// What `why` says of the host: whose alias it is.
pub(super) fn alias_view(url: &Url, reads: &dyn Reads) -> Result<Value, NodeError> {
    let finding = Aliases::explain(url.host_key(), reads)?;
    Ok(finding
        .filter(|finding| *finding.host == *url.host())
        .map_or(Value::Null, |finding| json!(finding)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brief(outcome: Outcome, simhash: u64) -> Brief {
        Brief { outcome, simhash }
    }

    #[test]
    fn only_what_cannot_be_the_same_page_differs() {
        let page = brief(Outcome::Fetched, 0xff00);
        let gone = brief(Outcome::Gone, 0);
        assert!(page.differs(brief(Outcome::Fetched, 0x00ff), 3));
        assert!(page.differs(brief(Outcome::Duplicate, 0x00ff), 3));
        assert!(page.differs(gone, 3) && gone.differs(page, 3));
        assert!(!page.differs(page, 3));
        let near = brief(Outcome::Fetched, 0xff07);
        assert!(!page.differs(near, 3) && page.differs(near, 2));
        assert!(!page.differs(brief(Outcome::Fetched, 0), 3));
        assert!(!page.differs(brief(Outcome::TimedOut, 0), 3));
        assert!(!gone.differs(gone, 3));
    }
}
