//! Names and addresses: gathers the evidence, and visits a site under one of its names only.
//!
//! A URL of an alias passes `seen` like any other. It is then left out (outcome `duplicate`, a log
//! line, a row to undo it by), and the same path of the site's other name goes to `seen` instead: so
//! each page of the site is asked for once, and none is lost.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Node, NodeError};
use crate::canonical::{Url, canonical};
use crate::frontier::Refusal;
use crate::links::Link;
use crate::node::pool::{Purpose, Visited};
use crate::outcome::Outcome;
use crate::parse::LinkKind;
use crate::seen::alias::{Agreement, Aliases, skip_key};
use crate::store::rows::IndexRow;
use crate::store::state::{Reads, Space};

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
        let finding = self
            .aliases
            .agree(&seen, &*self.state, &mut self.open.writes)?;
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
            let theirs = match self.fresh_rows.get(&twin.key()) {
                Some((_, brief)) => Some(*brief),
                None => self
                    .state
                    .get(Space::Index, &twin.key())?
                    .as_deref()
                    .and_then(IndexRow::read)
                    .and_then(|row| {
                        Some(Brief {
                            outcome: row.outcome()?,
                            simhash: row.simhash,
                        })
                    }),
            };
            if theirs.is_some_and(|theirs| mine.differs(theirs, self.settings.alias.near_bits)) {
                let writes = &mut self.open.writes;
                self.aliases
                    .differ(url.host_key(), other, path, now, writes);
            }
        }
        Ok(())
    }

    pub(super) fn is_alias(&self, url: &Url) -> bool {
        self.aliases.of(url.host_key(), url.host()).is_some()
    }

    /// Leaves a URL of an alias out; gives the URL that stands for it.
    pub(super) fn leave_out(&mut self, link: Link, now: u64) -> Option<Link> {
        let url = &link.url;
        let origin = self.aliases.of(url.host_key(), url.host())?;
        let text = format!("{origin}{}", url.path_and_query());
        let mut value = link.depth.to_be_bytes().to_vec();
        value.push(u8::from(link.sitemap) | u8::from(link.seed) << 1);
        value.extend_from_slice(link.from.as_bytes());
        self.open
            .writes
            .put(Space::Meta, skip_key(url.host_key(), url.as_str()), value);
        let twin = Url::from_canonical(text, self.rules.grouping);
        let twin = twin.ok().map(|url| link.to(url));
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

    /// A URL left the queue without a visit: that of an alias leads to its other name.
    pub(super) fn take_refusal(&mut self, refusal: Refusal, now: u64) -> Result<(), NodeError> {
        if refusal.outcome == Outcome::RuleDropped {
            return self.drop_queued(refusal, now);
        }
        if !self.is_alias(&refusal.link.url) {
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
        match self.leave_out(link, now) {
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
                let url = Url::from_canonical(text.into_owned(), self.rules.grouping);
                if let (Ok(url), [high, low, flags, from @ ..]) = (url, value) {
                    let from = Arc::from(&*String::from_utf8_lossy(from));
                    list.push(Link {
                        depth: u16::from_be_bytes([*high, *low]),
                        sitemap: flags & 1 != 0,
                        seed: flags & 2 != 0,
                        ..Link::new(url, from, LinkKind::A)
                    });
                }
                list.len() < UNDO_SLICE
            })?;
        Ok(list)
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
