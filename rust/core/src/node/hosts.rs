//! Hosts as people look at them and steer them: lists, one host, and what can be done to one.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::rules::QueueJudge;
use super::why::{host_state, queued_url, visit};
use super::{Node, NodeError};
use crate::canonical::{Url, canonical, partition};
use crate::frontier::{
    Filter, HostList, HostView, Listed, Place, Question, Sort, first_queued, stored_robots,
};
use crate::outcome::Outcome;
use crate::store::rows::IndexRow;
use crate::store::state::{Reads, Space};

/// Bytes of a robots file that are shown.
const ROBOTS_SHOWN: usize = 64 << 10;

/// A question about hosts, as JSON.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostsQuestion {
    pub sort: String,
    #[serde(default)]
    pub reversed: bool,
    pub search: String,
    pub from_start: bool,
    pub standing: Option<String>,
    #[serde(default)]
    pub failure: Option<String>,
    pub after: Option<(u64, String, u64)>,
    pub most: usize,
}

impl HostsQuestion {
    /// As the list takes it; `among`: only these hosts.
    pub fn question(&self, among: Option<Vec<u64>>) -> Result<Question, NodeError> {
        let wrong =
            |what: &str| NodeError::Settings(format!("no such order, standing or outcome: {what}"));
        let listed = self.standing.as_deref();
        let listed = listed.map(|name| Listed::from_name(name).ok_or_else(|| wrong(name)));
        let failure = self.failure.as_deref();
        let failure = failure.map(|name| Outcome::from_name(name).ok_or_else(|| wrong(name)));
        Ok(Question {
            sort: Sort::from_name(&self.sort).ok_or_else(|| wrong(&self.sort))?,
            reversed: self.reversed,
            search: self.search.to_lowercase(),
            from_start: self.from_start,
            listed: listed.transpose()?,
            failure: failure.transpose()?,
            among: among.map(|keys| keys.into_iter().collect()),
            after: self.after.clone().map(|(value, name, key)| Place {
                value,
                name: name.into(),
                key,
            }),
            most: self.most,
        })
    }
}

/// What can be done to a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostAction {
    Block,
    Unblock,
    /// For so many microseconds.
    SetAside(u64),
    Retry,
    Forget,
}

impl HostAction {
    /// By its name; `wait` is for setting aside.
    pub fn from_name(name: &str, wait: u64) -> Result<HostAction, NodeError> {
        Ok(match name {
            "block" => HostAction::Block,
            "unblock" => HostAction::Unblock,
            "set_aside" => HostAction::SetAside(wait),
            "retry" => HostAction::Retry,
            "forget" => HostAction::Forget,
            _ => return Err(NodeError::Settings(format!("no such action: {name}"))),
        })
    }
}

impl Node {
    /// The list of hosts, to be asked without the node; `None`: settings want none.
    #[must_use]
    pub fn host_list(&self) -> Option<HostList> {
        self.frontier.list()
    }

    /// Keys of the hosts with a visit under way.
    #[must_use]
    pub fn active_hosts(&self) -> Vec<u64> {
        self.frontier.active()
    }

    /// The last visit of each URL, `None` where there is none yet or it is no URL.
    pub fn last_visits(&self, urls: &[String]) -> Result<Vec<Option<Value>>, NodeError> {
        let mut visits = Vec::with_capacity(urls.len());
        for raw in urls {
            let row = match canonical(raw, None, &self.rules) {
                Ok(url) => self.state.get(Space::Index, &url.key())?,
                Err(_) => None,
            };
            let row = row.as_deref().and_then(IndexRow::read);
            visits.push(row.as_ref().map(visit));
        }
        Ok(visits)
    }

    /// What is known of these hosts, in the same order; one that is gone is left out.
    pub fn hosts(&self, keys: &[u64]) -> Result<Vec<Value>, NodeError> {
        let mut views = Vec::with_capacity(keys.len());
        for &key in keys {
            let view = self.frontier.explain(key, &*self.state)?;
            views.extend(view.map(|view| self.host_row(&view)));
        }
        Ok(views)
    }

    /// What is known of a host, by its name as in URLs.
    pub fn host(&self, name: &str) -> Result<Option<Value>, NodeError> {
        let Some(url) = self.host_url(name) else {
            return Ok(None);
        };
        let view = self.frontier.explain(url.host_key(), &*self.state)?;
        let view = view.filter(|view| &*view.record.name == url.host());
        Ok(view.map(|view| self.host_row(&view)))
    }

    /// The first places of a host's queue and the text of its robots files; `None`: not known.
    /// What batches under way change is not seen.
    pub fn host_detail(&self, name: &str, most: usize) -> Result<Option<Value>, NodeError> {
        let Some(url) = self.host_url(name) else {
            return Ok(None);
        };
        let key = url.host_key();
        let view = self.frontier.explain(key, &*self.state)?;
        if view.is_none_or(|view| &*view.record.name != url.host()) {
            return Ok(None);
        }
        let queue = first_queued(url.host(), key, most, &*self.state)?;
        let queue: Vec<Value> = queue.iter().map(queued_url).collect();
        let robots = |https| self.robots_text(key, https);
        Ok(Some(json!({
            "queue": queue,
            "robots": {"http": robots(false)?, "https": robots(true)?},
        })))
    }

    fn robots_text(&self, host: u64, https: bool) -> Result<Value, NodeError> {
        let mut key = host.to_be_bytes().to_vec();
        key.push(u8::from(https));
        let stored = self.state.get(Space::Robots, &key)?;
        let Some((_, body)) = stored.as_deref().and_then(stored_robots) else {
            return Ok(Value::Null);
        };
        let shown = &body[..body.len().min(ROBOTS_SHOWN)];
        Ok(json!({
            "text": String::from_utf8_lossy(shown),
            "bytes": body.len(),
            "cut": shown.len() < body.len(),
        }))
    }

    /// Does something to a host; it is safe when this returns. False: the host is not known.
    pub fn steer_host(&mut self, name: &str, action: HostAction) -> Result<bool, NodeError> {
        let Some(url) = self.host_url(name) else {
            return Ok(false);
        };
        let (key, now) = (url.host_key(), self.clock.now());
        let named = self.frontier.explain(key, &*self.state)?;
        if named.is_some_and(|view| &*view.record.name != url.host()) {
            return Ok(false);
        }
        let (frontier, reads) = (&mut self.frontier, &*self.state);
        let known = match action {
            HostAction::Block => frontier.block_named(key, url.host(), reads)?,
            HostAction::Unblock => frontier.unblock(key, reads)?,
            HostAction::SetAside(wait) => frontier.set_aside(key, now, wait, reads)?,
            HostAction::Retry => frontier.give_chance(key, now, reads)?,
            HostAction::Forget => frontier.give_up(key, Outcome::OutOfScope, now, reads)?,
        };
        if known {
            self.checkpoint()?;
        }
        Ok(known)
    }

    /// Everything done so far is safe when this returns.
    pub fn checkpoint(&mut self) -> Result<(), NodeError> {
        // The frontier's own changes go with a batch; one is made if there is none.
        let now = self.clock.now();
        self.frontier.touch(&mut self.open.writes);
        self.open.begin(now);
        self.commit_open()
    }

    /// Queued URLs are judged by the scope and the rules of this moment from now on.
    pub(super) fn refilter(&mut self) {
        let judge = QueueJudge {
            scope: self.scope(),
            rules: self.rule_set(),
            book: self.book.clone(),
            parameters: self.parameters.clone(),
            evidence: self.evidence().clone(),
            state: Arc::clone(&self.state),
        };
        self.frontier.set_filter(Filter::new(Box::new(judge)));
    }

    pub(super) fn host_url(&self, name: &str) -> Option<Url> {
        // Nothing but a host: no path, no user, nothing that a parser takes away.
        let odd = |c: char| c.is_whitespace() || c.is_control() || "/\\?#@%".contains(c);
        if name.is_empty() || name.contains(odd) {
            return None;
        }
        canonical(&format!("http://{name}/"), None, &self.rules).ok()
    }

    fn host_row(&self, view: &HostView) -> Value {
        let mut row = host_state(view);
        if let Some(row) = row.as_object_mut() {
            let partitions = self.settings.partitions;
            let polite = self.frontier.settings();
            let own = polite.gaps.get(&view.host_key);
            let own = own.map(|gap| *gap as f64 / 1e6);
            row.insert("quota".into(), json!(polite.pages_of(&view.record.name)));
            row.insert(
                "partition".into(),
                json!(partition(view.host_key, partitions)),
            );
            row.insert("override".into(), json!(own));
        }
        row
    }
}
