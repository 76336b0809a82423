//! Soft 404s, where the node asks and where it counts: one visit to a name that cannot exist, for a host that has had
//! some pages, and some of them with nothing new.
//!
//! A row of the space `meta` is `soft404/` ++ host key; it goes with the host's partition. The name is written in the
//! batch that queues its URL: after a crash both are there or none, and a host that has answered is not asked again.
//! RAM is bounded by [`IN_RAM`] hosts beside those that the store does not have yet.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use super::{Leased, Node, NodeError};
use crate::canonical::Url;
use crate::frontier::Verdict;
use crate::links::Link;
use crate::links::patterns::{Brought, Seen};
use crate::links::soft404::{Answer, missing_name};
use crate::node::pool::{Purpose, Visited};
use crate::outcome::Outcome;
use crate::parse::LinkKind;
use crate::store::state::{Reads, Space, StateError};

/// Where the rows are in the space `meta`.
pub(super) const PREFIX: &[u8] = b"soft404/";

const IN_RAM: usize = 16_384;

#[derive(Debug, Default)]
pub(super) struct Soft404s {
    of: HashMap<u64, Known>,
}

#[derive(Debug, Default)]
struct Known {
    answer: Option<Answer>,
    /// Visits that may have been soft 404s, before the host was asked.
    suspects: u32,
    /// The batch that wrote the answer.
    batch: u64,
}

impl Soft404s {
    fn get(&mut self, host: u64, reads: &dyn Reads) -> Result<&mut Known, StateError> {
        match self.of.entry(host) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => Ok(place.insert(Known {
                answer: stored(host, reads)?,
                ..Known::default()
            })),
        }
    }

    /// The store has all batches up to this one.
    pub fn applied(&mut self, batch: u64) {
        if self.of.len() > IN_RAM {
            self.of.retain(|_, known| known.batch > batch);
        }
    }

    /// The store was changed by others.
    pub fn clear(&mut self) {
        self.of.clear();
    }
}

impl Node {
    /// Whether a URL is the one by which a host is asked.
    pub(super) fn is_probe(&mut self, link: &Link) -> Result<bool, NodeError> {
        if !link.sitemap {
            return Ok(false);
        }
        let known = self.soft404s.get(link.url.host_key(), &*self.state)?;
        Ok(
            matches!(&known.answer, Some(Answer::Asked(name)) if link.url.as_str().ends_with(&**name)),
        )
    }

    /// Whether a visit brought the answer of a name that does not exist. A start page is what it is, and a seed is wanted.
    pub(super) fn is_soft_404(
        &mut self,
        visited: &Visited,
        link: &Link,
    ) -> Result<bool, NodeError> {
        let is_judged = visited.task.purpose == Purpose::Page
            && !link.seed
            && visited.task.url.path_and_query() != "/";
        if !is_judged {
            return Ok(false);
        }
        let known = self.soft404s.get(link.url.host_key(), &*self.state)?;
        let Some(answer) = &known.answer else {
            return Ok(false);
        };
        Ok(match visited.outcome {
            Outcome::Fetched | Outcome::Truncated | Outcome::Duplicate | Outcome::Dropped => {
                let facts = visited.facts.as_ref();
                let settings = &self.settings.frontier.soft_404;
                facts.is_some_and(|facts| answer.is_page(&facts.samples, settings))
            }
            Outcome::Redirected => visited
                .links
                .followed
                .first()
                .is_some_and(|target| answer.is_redirect(target.url.as_str())),
            _ => false,
        })
    }

    /// Asks a host for a name that cannot exist, once, if its visits are a reason to.
    pub(super) fn suspect_soft_404(
        &mut self,
        visited: &Visited,
        link: &Link,
        seen: &Seen,
    ) -> Result<(), NodeError> {
        let settings = &self.settings.frontier.soft_404;
        let evidence = &self.settings.frontier.evidence;
        let is_suspect = match seen.brought {
            Some(Brought::Redirect) => true,
            Some(Brought::New | Brought::Copy) => {
                seen.novelty < evidence.novel / 2.0 && visited.facts.is_some()
            }
            _ => false,
        };
        if !settings.probe || !is_suspect {
            return Ok(());
        }
        let host = link.url.host_key();
        let known = self.soft404s.get(host, &*self.state)?;
        known.suspects = known.suspects.saturating_add(1);
        if known.answer.is_some() || known.suspects < settings.suspects {
            return Ok(());
        }
        let visits = self.book.lock().visits_of(host, &*self.state)?;
        if visits < settings.pages {
            return Ok(());
        }
        self.ask_for_missing(visited, link)
    }

    fn ask_for_missing(&mut self, visited: &Visited, link: &Link) -> Result<(), NodeError> {
        let url = &visited.task.url;
        let random = RandomState::new();
        let name = missing_name([
            random.hash_one(url.as_str()),
            random.hash_one(self.clock.now()),
        ]);
        let path = url.path_and_query();
        let path = path.split('?').next().unwrap_or("/");
        let folder = path.rfind('/').map_or("/", |slash| &path[..=slash]);
        // Where the crawl may not leave a folder, the name is asked for in there.
        for folder in ["/", folder] {
            let text = format!("{}{folder}{name}", url.origin());
            let Ok(probe) = Url::from_canonical(text, self.rules.grouping) else {
                continue;
            };
            let probe = Link {
                sitemap: true,
                depth: link.depth,
                ..Link::new(probe, Arc::from(url.as_str()), LinkKind::A)
            };
            if self.pool.policies().scope.judge(&probe).is_ok() {
                self.note_answer(url.host_key(), Answer::Asked(name.into()))?;
                return self.queue(vec![probe]);
            }
        }
        self.note_answer(url.host_key(), Answer::Unknown("out_of_scope".into()))
    }

    /// Takes what a host answered.
    pub(super) fn take_probe(
        &mut self,
        visited: &Visited,
        leased: &Leased,
        verdict: &Verdict,
    ) -> Result<(), NodeError> {
        self.write_log(visited, leased, None, Some("probe"));
        // Tried again, or taken out with all of its host.
        if !matches!(verdict, Verdict::Done) {
            return Ok(());
        }
        let url = &visited.task.url;
        let name = url.as_str().rsplit('/').next().unwrap_or_default();
        let answer = match visited.outcome {
            Outcome::Fetched | Outcome::Truncated => match &visited.facts {
                Some(facts) => Answer::page(&facts.samples),
                None => Answer::Unknown("its answer to a missing name is no page".into()),
            },
            Outcome::Redirected => match visited.links.followed.first() {
                Some(target) => Answer::redirect(target.url.as_str(), name),
                None => Answer::Unknown("it redirects a missing name to no URL".into()),
            },
            Outcome::Gone => Answer::Honest,
            other => Answer::Unknown(other.as_str().into()),
        };
        self.note_answer(url.host_key(), answer)
    }

    /// The visit that was to ask a host was refused: nothing will be known of it.
    pub(super) fn probe_refused(&mut self, url: &Url, outcome: Outcome) -> Result<(), NodeError> {
        self.note_answer(url.host_key(), Answer::Unknown(outcome.as_str().into()))
    }

    fn note_answer(&mut self, host: u64, answer: Answer) -> Result<(), NodeError> {
        let now = self.clock.now();
        self.open.begin(now);
        self.shares.touch_host(host);
        self.open
            .writes
            .put(Space::Meta, row_key(host), answer.encode());
        let batch = self.committer.next_number();
        let known = self.soft404s.get(host, &*self.state)?;
        known.answer = Some(answer);
        known.batch = batch;
        Ok(())
    }
}

/// What a host answered, as the store has it.
pub(super) fn stored(host: u64, reads: &dyn Reads) -> Result<Option<Answer>, StateError> {
    let row = reads.get(Space::Meta, &row_key(host))?;
    Ok(row.as_deref().and_then(Answer::decode))
}

fn row_key(host: u64) -> Vec<u8> {
    [PREFIX, &host.to_be_bytes()].concat()
}
