//! Names and addresses: gathers the evidence, and visits a site under one of its names only.
//!
//! A URL of an alias passes `seen` like any other. It is then left out (outcome `duplicate`, a log
//! line, a row to undo it by), and the same path of the site's other name goes to `seen` instead: so
//! each page of the site is asked for once, and none is lost.

use serde_json::{Value, json};

use super::found::{Found, in_site, item};
use super::rows::IndexRow;
use super::{Node, NodeError};
use crate::alias::{Agreement, Aliases, skip_key};
use crate::canonical::{Url, canonical};
use crate::frontier::{Admission, Fresh, Refusal};
use crate::outcome::Outcome;
use crate::state::{Reads, Space};
use crate::visit::{Purpose, Visited};

/// Pages whose simhash differs in so few bits are neither for nor against.
const NEAR_BITS: u32 = 3;

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
    fn differs(self, other: Brief) -> bool {
        if self.is_page() && other.is_page() {
            return self.simhash != 0
                && other.simhash != 0
                && (self.simhash ^ other.simhash).count_ones() > NEAR_BITS;
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
            if theirs.is_some_and(|theirs| mine.differs(theirs)) {
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
    pub(super) fn leave_out(&mut self, found: &Found, from: &[u8], now: u64) -> Option<Found> {
        let url = &found.url;
        let origin = self.aliases.of(url.host_key(), url.host())?.to_owned();
        let refusal = |url: String, host_key, outcome| Refusal {
            url,
            host_key,
            depth: found.depth,
            tries: 0,
            from: from.into(),
            sitemap: found.sitemap,
            outcome,
        };
        let left_out = refusal(url.as_str().to_owned(), url.host_key(), Outcome::Duplicate);
        self.note_refusal(&left_out, now);
        let mut value = found.depth.to_be_bytes().to_vec();
        value.push(u8::from(found.sitemap) | u8::from(found.seed) << 1);
        value.extend_from_slice(from);
        self.open
            .writes
            .put(Space::Meta, skip_key(url.host_key(), url.as_str()), value);
        let text = format!("{origin}{}", url.path_and_query());
        let twin = Url::from_canonical(text.clone(), self.rules.grouping).ok()?;
        let policies = self.engine.policies();
        let in_scope = if found.sitemap {
            in_site(&policies.scope, &twin)
        } else {
            policies.scope.check(&twin).is_ok()
        };
        if !in_scope {
            let refused = refusal(text, twin.host_key(), Outcome::OutOfScope);
            self.note_refusal(&refused, now);
            return None;
        }
        Some(Found {
            url: twin,
            ..found.clone()
        })
    }

    /// A URL left the queue without a visit: that of an alias leads to its other name.
    pub(super) fn take_refusal(&mut self, refusal: &Refusal, now: u64) -> Result<(), NodeError> {
        if !self.aliases.is_empty()
            && let Ok(url) = Url::from_canonical(refusal.url.clone(), self.rules.grouping)
            && self.is_alias(&url)
        {
            let found = Found {
                url,
                depth: refusal.depth,
                sitemap: refusal.sitemap,
                seed: false,
            };
            if let Some(twin) = self.leave_out(&found, &refusal.from, now) {
                let from = String::from_utf8_lossy(&refusal.from).into_owned();
                self.admit(vec![twin], &from)?;
            }
            return Ok(());
        }
        self.note_refusal(refusal, now);
        Ok(())
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
            self.queue_again(&slice, now)?;
            self.commit_open()?;
            if slice.len() < UNDO_SLICE {
                return Ok(undone || queued);
            }
        }
    }

    /// The first URLs of a host that were left out, with who linked to them.
    fn left_out(&self, key: u64) -> Result<Vec<(Found, Vec<u8>)>, NodeError> {
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
                    let found = Found {
                        url,
                        depth: u16::from_be_bytes([*high, *low]),
                        sitemap: flags & 1 != 0,
                        seed: flags & 2 != 0,
                    };
                    list.push((found, from.to_vec()));
                }
                list.len() < UNDO_SLICE
            })?;
        Ok(list)
    }

    fn queue_again(&mut self, slice: &[(Found, Vec<u8>)], now: u64) -> Result<(), NodeError> {
        let order = self.frontier.settings().order;
        let items: Vec<Fresh<'_>> = slice
            .iter()
            .map(|(found, from)| item(found, from, order))
            .collect();
        let mut admissions = Vec::with_capacity(items.len());
        self.frontier.add(
            now,
            &items,
            &*self.state,
            &mut self.open.writes,
            &mut admissions,
        )?;
        for ((found, from), admission) in slice.iter().zip(admissions) {
            let (key, url) = (found.url.host_key(), found.url.as_str());
            self.open.writes.remove(Space::Meta, skip_key(key, url));
            if let Admission::Refused(outcome) = admission {
                let refusal = Refusal {
                    url: url.to_owned(),
                    host_key: key,
                    depth: found.depth,
                    tries: 0,
                    from: from.as_slice().into(),
                    sitemap: found.sitemap,
                    outcome,
                };
                self.note_refusal(&refusal, now);
            }
        }
        self.open.begin(now);
        Ok(())
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
        assert!(page.differs(brief(Outcome::Fetched, 0x00ff)));
        assert!(page.differs(brief(Outcome::Duplicate, 0x00ff)));
        assert!(page.differs(brief(Outcome::Gone, 0)));
        assert!(brief(Outcome::Gone, 0).differs(page));
        assert!(!page.differs(page));
        assert!(!page.differs(brief(Outcome::Fetched, 0xff07)));
        assert!(!page.differs(brief(Outcome::Fetched, 0)));
        assert!(!page.differs(brief(Outcome::TimedOut, 0)));
        assert!(!brief(Outcome::Gone, 0).differs(brief(Outcome::Gone, 0)));
    }
}
