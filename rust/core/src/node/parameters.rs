//! Parameters that change nothing, where the node learns them and where they count.
//!
//! A link to a host that this node owns loses them before it goes to `seen`; a queued URL does so at its turn, and
//! ends as a duplicate with a row to undo it by. Where the page was visited under another value, it is not asked for
//! again. Seeds, and what a sitemap or a redirect names, keep the form in which they were given.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::{Node, NodeError};
use crate::canonical::Url;
use crate::frontier::Refusal;
use crate::links::patterns::{
    Bare, Finding, ParameterSettings, Parameters, Print, Sessions, State, has_parameter,
};
use crate::links::{LeftOut, Link, Reason, Score};
use crate::node::pool::{Purpose, Visited};
use crate::outcome::Outcome;
use crate::parse::LinkKind;
use crate::store::state::{Reads, Space, StateError};

/// Rows of URLs that ended for a parameter: this, the host's key and the URL, in the space `meta`. Behind a URL that
/// never was in the queue stands [`LINKED`], so that it does not take the place of one that was.
pub(super) const PREFIX: &[u8] = b"stripped/";
const LINKED: char = '\u{1}';

/// URLs that come back in one batch.
const SLICE: usize = 1_000;

/// What was learnt of parameters. The node and the judge of its queue have it, in one thread.
#[derive(Clone, Debug)]
pub(super) struct ParameterBook(Arc<Mutex<Parameters>>);

impl ParameterBook {
    pub fn open(reads: &dyn Reads) -> Result<ParameterBook, StateError> {
        let parameters = Parameters::open(reads)?;
        Ok(ParameterBook(Arc::new(Mutex::new(parameters))))
    }

    pub fn lock(&self) -> MutexGuard<'_, Parameters> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The URL that is visited instead of a link's; `None`: its own.
    pub fn bare(
        &self,
        link: &Link,
        kind: Option<LinkKind>,
        settings: &ParameterSettings,
    ) -> Option<Bare> {
        let is_given = link.seed
            || link.revisit
            || link.sitemap
            || matches!(
                kind,
                Some(LinkKind::Seed | LinkKind::Sitemap | LinkKind::Redirect)
            );
        let book = self.lock();
        if is_given || !settings.enabled || !book.knows(link.url.host_key()) {
            return None;
        }
        let bare = book.strip(&link.url)?;
        (!book.is_sample(&link.url, &bare, settings)).then_some(bare)
    }
}

impl Node {
    fn parameter_settings(&self) -> &ParameterSettings {
        &self.settings.frontier.evidence.parameters
    }

    /// The store was changed by others.
    pub(super) fn read_parameters(&mut self) -> Result<(), NodeError> {
        let mut book = self.parameters.lock();
        book.read_anew(&*self.state)?;
        self.parameter_undos.extend(book.undone());
        let is_free = book.all().next().is_none();
        drop(book);
        if !is_free && !self.frontier.filter().is_set() {
            self.refilter();
        }
        Ok(())
    }

    /// What a visit tells of the parameters of its URL.
    pub(super) fn learn_parameters(
        &mut self,
        visited: &mut Visited,
        link: &Link,
        now: u64,
    ) -> Result<(), NodeError> {
        if visited.task.purpose != Purpose::Page
            || link.revisit
            || !self.parameter_settings().enabled
        {
            return Ok(());
        }
        let print = match visited.outcome {
            Outcome::Fetched | Outcome::Duplicate | Outcome::Dropped => {
                let Some(facts) = &mut visited.facts else {
                    return Ok(());
                };
                std::mem::take(&mut facts.print)
            }
            // There is no page under this URL; a failure says nothing.
            Outcome::Gone | Outcome::Refused | Outcome::Redirected => Print::default(),
            _ => return Ok(()),
        };
        let sessions = Sessions {
            names: &self.rules.strip_session,
            token: self.rules.session_token,
        };
        let told = self.parameters.lock().visit(
            &link.url,
            print,
            now,
            sessions,
            &self.settings.frontier.evidence.parameters,
            &mut self.open.writes,
        );
        for finding in &told.changed {
            self.tell_finding(&link.url, finding);
        }
        match told.probe {
            Some(url) => self.probe(link, url),
            None => Ok(()),
        }
    }

    fn tell_finding(&mut self, url: &Url, finding: &Finding) {
        let pattern = finding.pattern();
        let what = if finding.state == State::Learnt {
            // What is queued is judged by it at its turn.
            if !self.frontier.filter().is_set() {
                self.refilter();
            }
            format!("parameter {pattern} changes nothing: links lose it")
        } else {
            let undone = (url.host_key(), finding.name.clone());
            self.parameter_undos.push(undone);
            format!("parameter {pattern} changes something after all: links keep it")
        };
        self.host_news.add(url.host(), vec![what], &finding.words());
    }

    /// Asks for a page without a parameter, as what comes next.
    fn probe(&mut self, link: &Link, url: String) -> Result<(), NodeError> {
        let Ok(url) = Url::from_canonical(url, self.rules.grouping) else {
            return Ok(());
        };
        let probe = Link {
            depth: link.depth,
            score: Some(Score::FIRST),
            ..Link::new(url, Arc::from(link.url.as_str()), LinkKind::A)
        };
        if self.pool.policies().scope.admits(&probe) {
            self.admit(vec![probe])?;
        }
        Ok(())
    }

    /// Links as they are looked up in `seen`: without what changes nothing.
    pub(super) fn strip_links(&mut self, links: Vec<Link>) -> Vec<Link> {
        let book = self.parameters.lock();
        let is_free = links.iter().all(|link| !book.knows(link.url.host_key()));
        drop(book);
        if is_free {
            return links;
        }
        let mut kept = Vec::with_capacity(links.len());
        let mut stripped = 0;
        for link in links {
            let settings = &self.settings.frontier.evidence.parameters;
            let Some(bare) = self.parameters.bare(&link, Some(link.kind), settings) else {
                kept.push(link);
                continue;
            };
            stripped += 1;
            self.parameters.lock().count(link.url.host_key(), &bare);
            // URLs with values that are made up are without end, and lead nowhere else.
            if !bare.is_made_up {
                let url = format!("{}{LINKED}", link.url);
                self.note_stripped(&link, &url);
            }
            kept.extend(self.bare_link(&link, &bare));
        }
        let mut left_out = LeftOut::default();
        left_out.add(Reason::Parameter, stripped);
        self.tally.left_out(&left_out);
        kept
    }

    /// The link without what changes nothing; `None`: its page was visited.
    fn bare_link(&self, link: &Link, bare: &Bare) -> Option<Link> {
        if self.parameters.lock().is_visited(bare) {
            return None;
        }
        let url = Url::from_canonical(bare.url.clone(), self.rules.grouping).ok()?;
        Some(Link {
            score: None,
            reason: None,
            ..link.to(url)
        })
    }

    /// What a queued URL is visited as, if it leaves the queue for that.
    pub(super) fn bare_of(&self, refusal: &Refusal) -> Option<Bare> {
        let settings = self.parameter_settings();
        let duplicate = refusal.outcome == Outcome::Duplicate;
        duplicate
            .then(|| self.parameters.bare(&refusal.link, None, settings))
            .flatten()
    }

    /// A queued URL ends, and the one without its parameter takes its place.
    pub(super) fn end_stripped(
        &mut self,
        refusal: &Refusal,
        bare: &Bare,
        now: u64,
    ) -> Result<(), NodeError> {
        let link = &refusal.link;
        self.note_stripped(link, link.url.as_str());
        let reason = format!(
            "the same page as {}: {} changes nothing there ({})",
            bare.url,
            bare.names.join(", "),
            bare.evidence
        );
        self.note_outcome(refusal, Some(&reason), now);
        match self.bare_link(link, bare) {
            Some(link) => self.admit(vec![link]),
            None => Ok(()),
        }
    }

    /// Keeps what a URL was, to come back to it.
    fn note_stripped(&mut self, link: &Link, url: &str) {
        let mut value = link.depth.to_be_bytes().to_vec();
        value.extend_from_slice(link.from.as_bytes());
        let row = row_key(link.url.host_key(), url);
        self.open.begin(self.clock.now());
        self.open.writes.put(Space::Meta, row, value);
    }

    /// URLs that ended for a finding that does not hold come back. Between two batches.
    pub(super) fn undo_parameters(&mut self) -> Result<(), NodeError> {
        while let Some((host, name)) = self.parameter_undos.pop() {
            match self.queue_stripped(host, &name) {
                Err(NodeError::State(StateError::DiskFull(_))) => {
                    // It goes on when there is room.
                    self.parameter_undos.push((host, name));
                    return Ok(());
                }
                queued => queued?,
            };
        }
        Ok(())
    }

    /// Queues what ended for a parameter of a host; gives how many URLs there were. A URL that never was in the queue
    /// comes in like any link.
    fn queue_stripped(&mut self, host: u64, name: &str) -> Result<u64, NodeError> {
        // Rows of batches under way cannot be read yet.
        self.commit_open()?;
        let (mut from, to) = (row_key(host, ""), row_key(host, "\u{7f}"));
        let start = from.len();
        let mut queued = 0;
        loop {
            let mut slice = Vec::new();
            self.state
                .scan(Space::Meta, &from, &to, &mut |row, value| {
                    slice.push((row.to_vec(), value.to_vec()));
                    slice.len() < SLICE
                })?;
            let full = slice.len() == SLICE;
            if let Some((last, _)) = slice.last() {
                from = [last.as_slice(), b"\0"].concat();
            }
            let (mut links, mut linked) = (Vec::new(), Vec::new());
            self.open.begin(self.clock.now());
            for (row, value) in slice {
                let text = String::from_utf8_lossy(row.get(start..).unwrap_or_default());
                let url = text.trim_end_matches(LINKED);
                if !has_parameter(url, name) {
                    continue;
                }
                let is_linked = url.len() < text.len();
                let list = if is_linked { &mut linked } else { &mut links };
                list.extend(self.link_stripped(url, &value));
                self.open.writes.remove(Space::Meta, row);
            }
            queued += (links.len() + linked.len()) as u64;
            self.queue(links)?;
            self.admit(linked)?;
            self.commit_open()?;
            if !full {
                return Ok(queued);
            }
        }
    }

    fn link_stripped(&self, url: &str, row: &[u8]) -> Option<Link> {
        let url = Url::from_canonical(url.to_owned(), self.rules.grouping).ok()?;
        let (depth, from) = row.split_at_checked(2)?;
        Some(Link {
            depth: u16::from_be_bytes(depth.try_into().ok()?),
            ..Link::new(url, Arc::from(&*String::from_utf8_lossy(from)), LinkKind::A)
        })
    }

    /// The findings about parameters, at most so many, as JSON for people and programs.
    pub fn learnt_parameters(&self, most: usize) -> Result<Value, NodeError> {
        let mut list = Vec::new();
        for (key, finding) in self.parameters.lock().all().take(most) {
            let view = self.frontier.explain(key, &*self.state)?;
            list.push(json!({
                "host": view.map(|view| view.record.name.to_string()),
                "parameter": finding.name,
                "place": finding.place,
                "state": finding.state,
                "evidence": finding.words(),
            }));
        }
        Ok(json!(list))
    }

    /// A parameter stays in the URLs of a host, whatever its values bring, and what ended for it is queued. Gives how
    /// many URLs that are; `None`: nothing was found about it. All of it is safe when this returns.
    pub fn keep_parameter(&mut self, host: &str, name: &str) -> Result<Option<u64>, NodeError> {
        let Some(url) = self.host_url(host) else {
            return Ok(None);
        };
        let key = url.host_key();
        self.open.begin(self.clock.now());
        let kept = self
            .parameters
            .lock()
            .keep(key, name, &mut self.open.writes);
        if !kept {
            return Ok(None);
        }
        Ok(Some(self.queue_stripped(key, name)?))
    }
}

fn row_key(host: u64, url: &str) -> Vec<u8> {
    [PREFIX, &host.to_be_bytes(), url.as_bytes()].concat()
}
