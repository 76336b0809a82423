//! Evidence by URL pattern, where the node gathers it and where it counts.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Leased, Node, NodeError};
use crate::links::patterns::{
    Asked, Brought, Counts, Doubt, EvidenceSettings, HostCounts, PageAt, Placing, Seen, Whose,
    is_there,
};
use crate::links::{Link, Score};
use crate::node::pool::{Purpose, Visited};
use crate::outcome::Outcome;
use crate::store::state::{Reads, StateError};

/// The counters of hosts and patterns. The node and the judge of its queue have them, in one thread.
#[derive(Clone, Debug)]
pub(super) struct Book(Arc<Mutex<HostCounts>>);

impl Book {
    pub fn open(asked: Asked, reads: &dyn Reads) -> Result<Book, StateError> {
        let counts = HostCounts::open(asked, reads)?;
        Ok(Book(Arc::new(Mutex::new(counts))))
    }

    pub fn lock(&self) -> MutexGuard<'_, HostCounts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Node {
    pub(super) fn evidence(&self) -> &EvidenceSettings {
        &self.settings.frontier.evidence
    }

    /// Where a visited page and its links are counted; `None`: it is no page.
    pub(super) fn page_at(
        &self,
        visited: &Visited,
        leased: &Leased,
    ) -> Result<Option<PageAt>, NodeError> {
        let link = &leased.visit.link;
        if visited.task.purpose != Purpose::Page {
            return Ok(None);
        }
        let is_there = is_there(visited.outcome) && visited.bytes > 0;
        let page = self
            .book
            .lock()
            .page(link, is_there, self.evidence(), &*self.state)?;
        Ok(Some(page))
    }

    /// What a visit tells of its pattern, but for what it led to. A page is evidence once.
    pub(super) fn seen_at(&mut self, visited: &Visited, leased: &Leased, whose: Whose) -> Seen {
        let host = visited.task.url.host_key();
        let links = &visited.links.followed;
        let links = links.iter().filter(|link| link.url.host_key() == host);
        let facts = visited.facts.as_ref();
        let is_page =
            facts.is_some_and(|facts| facts.kind == "html" && !facts.noindex && !facts.elsewhere);
        let text = facts.and_then(|facts| self.novelty.of(host, &facts.samples, is_page, whose));
        Seen {
            outcome: Some(visited.outcome),
            brought: brought(visited).filter(|_| !leased.visit.link.revisit),
            novelty: match text {
                Some(text) => text.fresh,
                // An empty answer is nothing new; what is no text is by itself.
                None => f32::from(u8::from(visited.bytes > 0)),
            },
            is_page,
            is_part: text.is_some_and(|text| text.is_part),
            bytes: visited.bytes,
            links: links.count().try_into().unwrap_or(u32::MAX),
        }
    }

    /// Counts a visit whose links were counted; a verdict that changes is told.
    pub(super) fn count_evidence(&mut self, page: &PageAt, seen: &Seen) -> Result<(), NodeError> {
        let now = self.clock.now();
        let mut book = self.book.lock();
        let doubts = book.visit(page, seen, now, self.evidence(), &*self.state)?;
        let is_uneven = book.is_uneven(page.key.0);
        drop(book);
        if is_uneven && !self.frontier.filter().is_set() {
            self.refilter();
        }
        for doubt in doubts {
            if doubt.reason.is_none() {
                // What waited for it has its usual place.
                self.frontier.rerank_host(doubt.key.0);
            }
            self.tell_doubt(&doubt)?;
            // What is queued is judged by it at its turn.
            if !self.frontier.filter().is_set() {
                self.refilter();
            }
        }
        Ok(())
    }

    fn tell_doubt(&mut self, doubt: &Doubt) -> Result<(), NodeError> {
        let view = self.frontier.explain(doubt.key.0, &*self.state)?;
        if let Some(view) = view {
            let pattern = &doubt.pattern;
            let what = match &doubt.reason {
                Some(_) => format!("URLs like {pattern} come last from now on"),
                None => format!("URLs like {pattern} have their usual place again"),
            };
            let what = vec![what];
            let reason = doubt.reason.as_deref().unwrap_or_default();
            self.host_news.add(&view.record.name, what, reason);
        }
        Ok(())
    }

    /// Counts the fresh links of a page.
    pub(super) fn count_fresh(
        &mut self,
        page: Option<&mut PageAt>,
        links: &[Link],
    ) -> Result<(), NodeError> {
        let Some(page) = page else {
            return Ok(());
        };
        let mut book = self.book.lock();
        for link in links {
            book.fresh(page, link, &self.settings.frontier.evidence, &*self.state)?;
        }
        Ok(())
    }

    /// Fresh links as they are queued: those of doubted patterns come last, or are set aside.
    pub(super) fn place_fresh(&mut self, links: Vec<Link>) -> Result<Vec<Link>, NodeError> {
        let mut kept = Vec::with_capacity(links.len());
        for mut link in links {
            let placed = self
                .book
                .lock()
                .place(&link, true, self.evidence(), &*self.state)?;
            match placed {
                (Placing::Aside, Some(key)) => self.put_aside(&link, key)?,
                (Placing::Waits, _) => {
                    link.score = Some(Score::LAST);
                    kept.push(link);
                }
                (Placing::Low(score), _) => {
                    link.score = Some(score);
                    kept.push(link);
                }
                _ => kept.push(link),
            }
        }
        Ok(kept)
    }

    /// What is known of the pattern of a link, if a policy decided something about it.
    pub(super) fn changed_pattern(&self, link: &Link) -> Result<Option<Counts>, NodeError> {
        let found = self
            .book
            .lock()
            .change(link, self.evidence(), &*self.state)?;
        Ok(found)
    }
}

/// What a visit brought, as far as the page itself tells.
fn brought(visited: &Visited) -> Option<Brought> {
    let facts = visited.facts.as_ref();
    Some(match visited.outcome {
        Outcome::Fetched | Outcome::Truncated | Outcome::Dropped => {
            if facts.is_some_and(|facts| facts.noindex) {
                Brought::Noindex
            } else if facts.is_some_and(|facts| facts.elsewhere) {
                Brought::Canonical
            } else {
                Brought::New
            }
        }
        Outcome::Duplicate => Brought::Copy,
        Outcome::Redirected => Brought::Redirect,
        Outcome::Gone
        | Outcome::Refused
        | Outcome::UnwantedType
        | Outcome::TooLarge
        | Outcome::EncodingBroken => Brought::Error,
        // What the host or we failed at says nothing of the pattern.
        _ => return None,
    })
}
