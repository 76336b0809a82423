//! `gossamer why`: what is known of a URL and its host, whose turn, which rule.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{Node, NodeError, NodeSettings, seeds};
use crate::canonical::{Rules, Url, canonical, partition};
use crate::clock::Clock;
use crate::frontier::robots::Robots;
use crate::frontier::{
    HostView, InQueue, Micros, QueueLook, RobotsState, find_queued, stored_host, stored_robots,
};
use crate::links::patterns::{look_up, stored_parameters};
use crate::links::rules::{Facts, RuleSet};
use crate::links::scope::Scope;
use crate::links::{Link, Score};
use crate::outcome::Outcome;
use crate::parse::LinkKind;
use crate::store::rows::IndexRow;
use crate::store::state::disk::DiskState;
use crate::store::state::{Reads, Space};

/// How far a host's queue is looked through for one URL; in a running crawl, which waits meanwhile,
/// less far.
const QUEUE_LOOK: u64 = 2_000_000;
const QUEUE_GLANCE: u64 = 100_000;

impl Node {
    /// Everything known of a URL, as JSON for people and programs. What batches under way hold is
    /// not seen yet.
    pub fn why(&self, raw: &str) -> Result<Value, NodeError> {
        let policies = self.pool.policies();
        let view = View {
            reads: &*self.state,
            settings: &self.settings,
            rules: &self.rules,
            scope: &policies.scope,
            declared: policies.rules.as_deref(),
            gaps: &self.frontier.settings().gaps,
            look: QUEUE_GLANCE,
        };
        view.account(raw, |key| Ok(self.frontier.explain(key, &*self.state)?))
    }
}

/// The same for a crawl that is not running: opens its state, and changes neither its files nor
/// its clocks. Refused while a process has the crawl open.
pub fn why(dir: &Path, settings: &NodeSettings, raw: &str) -> Result<Value, NodeError> {
    let place = dir.join("state");
    if !place.is_dir() {
        let text = format!("{} holds no crawl", dir.display());
        return Err(NodeError::Settings(text));
    }
    let state = DiskState::open(&place, settings.disk())?;
    let policies = settings.policies(&seeds::stored_roots(&state)?)?;
    let politeness = settings.frontier(policies.rules.as_ref())?;
    let now = Clock::with_offset(settings.clock_offset).now();
    let view = View {
        reads: &state,
        settings,
        rules: &settings.rules(),
        scope: &policies.scope,
        declared: policies.rules.as_deref(),
        gaps: &politeness.gaps,
        look: QUEUE_LOOK,
    };
    view.account(raw, |key| Ok(stored_host(key, &state, &politeness, now)?))
}

struct View<'a> {
    reads: &'a dyn Reads,
    settings: &'a NodeSettings,
    rules: &'a Rules,
    scope: &'a Scope,
    declared: Option<&'a RuleSet>,
    /// Those that hosts have of their own.
    gaps: &'a HashMap<u64, Micros>,
    /// Places of the queue to look at.
    look: u64,
}

impl View<'_> {
    fn account(
        &self,
        raw: &str,
        host: impl FnOnce(u64) -> Result<Option<HostView>, NodeError>,
    ) -> Result<Value, NodeError> {
        let url = match canonical(raw, None, self.rules) {
            Ok(url) => url,
            Err(refusal) => return Ok(json!({"given": raw, "refused": refusal.to_string()})),
        };
        let row = self.reads.get(Space::Index, &url.key())?;
        let row = row.as_deref().and_then(IndexRow::read);
        let look = find_queued(&url, self.look, self.reads)?;
        // Not every kind of seen test can be asked without being changed; what was done and what
        // is queued are together all that was ever admitted.
        let seen = match look {
            _ if row.is_some() => Some(true),
            QueueLook::Queued(_) => Some(true),
            QueueLook::NotQueued => Some(false),
            QueueLook::TooLong => None,
        };
        Ok(json!({
            "given": raw,
            "url": url.as_str(),
            "host": url.host(),
            "registered_domain": url.registered_domain(),
            "partition": partition(url.host_key(), self.settings.partitions),
            "fingerprint": format!("{:016x}", url.fingerprint()),
            "seen": seen,
            "out_of_scope": self.scope.check(&url).err().map(|rule| rule.as_str()),
            "rules": self.decisions(&url, row.as_ref(), &look),
            "robots": self.robots_verdict(&url)?,
            "alias": super::alias::alias_view(&url, self.reads)?,
            "queued": queued(&look),
            "pattern": self.pattern(&url, &look)?,
            "parameters": self.parameters(&url)?,
            "soft_404": super::soft404::stored(url.host_key(), self.reads)?.map(|answer| answer.words()),
            "policies": policies(&look, row.as_ref()),
            "last_visit": row.as_ref().map(visit),
            "host_state": host(url.host_key())?.as_ref().map(|view| self.host_state(view)),
        }))
    }

    /// The URL's pattern, what its visits brought, and whether it is doubted.
    fn pattern(&self, url: &Url, look: &QueueLook) -> Result<Value, NodeError> {
        let link = match look {
            QueueLook::Queued(place) => place.link.clone(),
            _ => Link::new(url.clone(), Arc::default(), LinkKind::A),
        };
        let (pattern, row, keys) = look_up(&link, &self.settings.frontier.evidence, self.reads)?;
        let mut is_aside = false;
        for key in keys {
            let row_key = super::set_aside::row_key(key, url.as_str());
            is_aside |= self.reads.get(Space::Meta, &row_key)?.is_some();
        }
        // The family or the word that is doubted, if that is not the pattern itself.
        let is_other = row.doubt.is_some() && row.pattern != pattern.text.as_str().into();
        Ok(json!({
            "pattern": if is_other { row.pattern.to_string() } else { pattern.text.to_string() },
            "visits": row.evidence.visits,
            "evidence": row.evidence.words(),
            "doubted": row.doubt,
            "trusted": row.is_trusted,
            "set_aside": is_aside,
            "urls_set_aside": row.set_aside,
        }))
    }

    /// Which of its parameters change nothing, and the URL without them.
    fn parameters(&self, url: &Url) -> Result<Value, NodeError> {
        let found = stored_parameters(url.host_key(), self.reads)?;
        let query = url.path_and_query().split_once('?');
        let has = |name: &str| {
            let pairs = query.map_or("", |(_, query)| query).split('&');
            pairs
                .filter_map(|pair| pair.split_once('='))
                .any(|(own, _)| own == name)
        };
        let bare = found.strip(url);
        let rows = found
            .of(url.host_key())
            .filter(|finding| has(&finding.name));
        let rows = rows.map(|finding| {
            json!({
                "name": finding.name,
                "place": finding.place,
                "state": finding.state,
                "evidence": finding.words(),
            })
        });
        Ok(json!({
            "found": rows.collect::<Vec<Value>>(),
            "stripped": bare.as_ref().map(|bare| bare.names.join(", ")),
            "visited_as": bare.as_ref().map(|bare| &bare.url),
        }))
    }

    /// The host, with the pages that a rule allows it and the gap of its own.
    fn host_state(&self, view: &HostView) -> Value {
        let mut state = host_state(view);
        let quota = self
            .declared
            .and_then(|rules| rules.host(&view.record.name).quota);
        if let Some(state) = state.as_object_mut() {
            if let Some(quota) = quota {
                state.insert("quota".into(), json!(quota));
            }
            let own = self.gaps.get(&view.host_key);
            state.insert("override".into(), json!(own.copied().map(seconds)));
        }
        state
    }

    /// Which rule decides what, by all that is known of the URL here.
    fn decisions(&self, url: &Url, row: Option<&IndexRow>, look: &QueueLook) -> Value {
        let mut facts = Facts::of(url);
        facts.depth = match look {
            QueueLook::Queued(place) => Some(place.link.depth),
            _ => row.map(|row| row.depth),
        };
        facts.status = row.map(|row| row.status).filter(|status| *status != 0);
        let decisions = self.declared.map(|rules| rules.explain(&facts));
        let rows = decisions.into_iter().flatten().map(|one| {
            json!({
                "effect": one.effect,
                "rule": one.rule,
                "value": one.value,
                "depends_on": one.depends_on,
            })
        });
        rows.collect()
    }

    fn robots_verdict(&self, url: &Url) -> Result<Value, NodeError> {
        let mut key = url.host_key().to_be_bytes().to_vec();
        key.push(u8::from(url.scheme_is_https()));
        let stored = self.reads.get(Space::Robots, &key)?;
        let Some((until, body)) = stored.as_deref().and_then(stored_robots) else {
            return Ok(Value::Null);
        };
        let robots = Robots::parse(body, &self.settings.fetch.agent);
        let rule = robots.which_rule(url.path_and_query());
        Ok(json!({
            "allowed": robots.allows(url.path_and_query()),
            "rule": rule.map(|rule| json!({
                "line": rule.line,
                "allow": rule.allow,
                "pattern": rule.pattern,
            })),
            "crawl_delay": robots.crawl_delay().map(|delay| delay.as_secs_f64()),
            "fresh_until": until,
        }))
    }
}

fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}

fn queued(look: &QueueLook) -> Value {
    match look {
        QueueLook::NotQueued => Value::Null,
        QueueLook::TooLong => json!({"unknown": "the host's queue is too long to look through"}),
        QueueLook::Queued(place) => json!({
            "ahead": place.ahead,
            "band": place.link.score.map(Score::band),
            "score": place.link.score.map(Score::value),
            "depth": place.link.depth,
            "kind": place.link.kind.as_str(),
            "anchor": place.link.anchor.as_deref(),
            "parent_score": place.link.parent_score.map(Score::value),
            "tries": place.tries,
            "not_before": place.not_before.map(seconds),
        }),
    }
}

/// A queued URL, for a list of them.
pub(super) fn queued_url(place: &InQueue) -> Value {
    json!({
        "url": place.link.url.as_str(),
        "score": place.link.score.map(Score::value),
        "depth": place.link.depth,
        "tries": place.tries,
        "not_before": place.not_before.map(seconds),
    })
}

/// The reasons that policies gave, by door: for its place in the queue, and for its next visit.
fn policies(look: &QueueLook, row: Option<&IndexRow>) -> Value {
    let queued = match look {
        QueueLook::Queued(place) => place.link.reason.as_deref(),
        _ => None,
    };
    let order = queued.or_else(|| row.map(|row| &*row.order));
    let refresh = row.map(|row| &*row.refresh);
    [("order", order), ("refresh", refresh)]
        .into_iter()
        .filter_map(|(door, reason)| Some((door.to_owned(), reason?)))
        .filter(|(_, reason)| !reason.is_empty())
        .map(|(door, reason)| (door, json!(reason)))
        .collect::<serde_json::Map<String, Value>>()
        .into()
}

pub(super) fn visit(row: &IndexRow) -> Value {
    let kept = row.length > 0;
    json!({
        "outcome": row.outcome().map(Outcome::as_str),
        "status": (row.status != 0).then_some(row.status),
        "time": seconds(row.time),
        "depth": row.depth,
        "visits": row.visits,
        "changes": row.changes,
        "first_visit": (row.first_visit != 0).then(|| seconds(row.first_visit)),
        "last_change": (row.last_change != 0).then(|| seconds(row.last_change)),
        "reason": (!row.reason.is_empty()).then_some(&row.reason),
        "warc_file": kept.then_some(row.serial),
        "warc_offset": kept.then_some(row.offset),
        "warc_length": kept.then_some(row.length),
    })
}

pub(super) fn host_state(view: &HostView) -> Value {
    let record = &view.record;
    let robots = |state: RobotsState| {
        json!({
            "kind": state.kind.as_str(),
            "until": state.until,
            "since": state.since,
            "tries": state.tries,
        })
    };
    json!({
        "name": &*record.name,
        "standing": view.standing.as_str(),
        "due": seconds(view.due),
        "last_end": seconds(record.last_end),
        "gap": seconds(view.gap),
        "gap_source": view.gap_source.as_str(),
        "crawl_delay": f64::from(record.crawl_delay_ms[0].max(record.crawl_delay_ms[1])) / 1e3,
        "response_time": f64::from(record.response_ms) / 1e3,
        "under_way": view.leases,
        "in_line_of": view.in_line.map(|ip| ip.to_string()),
        "ip": record.ip.map(|ip| ip.to_string()),
        "queued": record.queued,
        "waiting": record.waiting,
        "pages": record.pages,
        "bytes": record.bytes,
        "errors": record.errors,
        "failures_in_a_row": record.failures,
        "last_failure": record.trouble.map(|last| json!({
            "outcome": last.outcome.as_str(),
            "until": last.until,
        })),
        "set_asides": record.set_asides,
        "set_aside": record.aside,
        "blocked": record.blocked,
        "policy": record.policy.as_ref().map(|policy| json!({
            "budget": policy.budget,
            "weight": policy.weight(),
            "delay": seconds(policy.delay),
            "reason": &*policy.reason,
        })),
        "given_up": record.given_up.map(Outcome::as_str),
        "robots": {"http": robots(record.robots[0]), "https": robots(record.robots[1])},
    })
}
