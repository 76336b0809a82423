//! The door `hosts`: every few seconds, the hosts and URL patterns with activity since the last time.
//!
//! Nothing waits for the answers: they change host records as commands do, and go with the next batch.

use std::time::{Duration, Instant};

use super::super::{Node, NodeError};
use super::HostDecision;
use crate::canonical::Url;
use crate::doors::{Answer, Collected, Column, Door, DoorSettings, DoorsTable, Table, Value};
use crate::frontier::{HostPolicy, HostView, Refusal};
use crate::links::patterns::{Asked, CountKey, Counts, Decision};
use crate::links::{Link, Score};
use crate::outcome::Outcome;

/// What is asked about at the moment, and when it was asked last.
#[derive(Debug, Default)]
pub(in crate::node) struct HostQuestions {
    posted: Option<(u64, Vec<CountKey>)>,
    last: Option<Instant>,
}

/// A row of the question.
struct Row {
    key: CountKey,
    counts: Counts,
    view: HostView,
}

/// The rows that the policies of hosts ask for.
pub(in crate::node) fn asked_of_hosts(doors: &DoorsTable) -> Asked {
    match &doors.hosts {
        None => Asked::Nothing,
        Some(settings) if settings.asks("pattern") => Asked::HostsAndPatterns,
        Some(_) => Asked::Hosts,
    }
}

impl Node {
    /// Whether a policy may decide something about patterns.
    pub(in crate::node) fn asks_patterns(&self) -> bool {
        asked_of_hosts(&self.settings.doors) == Asked::HostsAndPatterns
    }

    /// Counts who links to hosts of this node.
    pub(in crate::node) fn count_links(&mut self, links: &[Link]) -> Result<(), NodeError> {
        let asked = self.settings.doors.hosts.as_ref();
        if asked.is_none_or(|settings| !settings.asks("in_domains")) {
            return Ok(());
        }
        // All links of a page come together.
        let mut last: Option<(&str, Option<Url>)> = None;
        for link in links.iter().filter(|link| !link.from.is_empty()) {
            if last.as_ref().is_none_or(|(from, _)| **from != *link.from) {
                let from = Url::from_canonical(link.from.to_string(), self.rules.grouping).ok();
                last = Some((&link.from, from));
            }
            if let Some((_, Some(from))) = &last
                && from.registered_domain() != link.url.registered_domain()
            {
                let domain = from.registered_domain().unwrap_or(from.host());
                self.book
                    .lock()
                    .linked(link.url.host_key(), domain, &*self.state)?;
            }
        }
        Ok(())
    }

    /// Fresh links without those whose pattern a policy has given up.
    pub(in crate::node) fn drop_patterns(
        &mut self,
        links: Vec<Link>,
    ) -> Result<Vec<Link>, NodeError> {
        if !self.asks_patterns() {
            return Ok(links);
        }
        let now = self.clock.now();
        let mut kept = Vec::with_capacity(links.len());
        for link in links {
            let known = self.changed_pattern(&link)?;
            let given_up = known.as_ref().and_then(|counts| {
                let change = counts.change.as_ref()?;
                let reason = || format!("pattern {}: {}", counts.pattern, change.reason);
                (change.given_up && !link.seed).then(reason)
            });
            let Some(reason) = given_up else {
                kept.push(link);
                continue;
            };
            let refusal = Refusal {
                link,
                tries: 0,
                outcome: Outcome::Dropped,
            };
            self.note_outcome(&refusal, Some(&reason), now);
        }
        Ok(kept)
    }

    /// What policies decided about the patterns of links that are about to be queued: some are
    /// served later, whoever gave them their score.
    pub(in crate::node) fn weigh_patterns(&mut self, links: &mut [Link]) -> Result<(), NodeError> {
        if !self.asks_patterns() {
            return Ok(());
        }
        for link in links {
            let score = self.frontier.score(link);
            let weighed = self.weighed(link, score)?;
            if weighed != score {
                link.score = Some(weighed);
            }
        }
        Ok(())
    }

    /// A score with the weight of the link's pattern.
    pub(in crate::node) fn weighed(&self, link: &Link, score: Score) -> Result<Score, NodeError> {
        if !self.asks_patterns() {
            return Ok(score);
        }
        let known = self.changed_pattern(link)?;
        Ok(known.map_or(score, |counts| Score::new(score.value() * counts.weight())))
    }

    pub(in crate::node) fn hosts_round(&mut self) -> Result<(), NodeError> {
        let Some(settings) = self.settings.doors.hosts.clone() else {
            return Ok(());
        };
        let now = Instant::now();
        if self.questions.hosts.posted.is_some() {
            for Collected { number, answer } in self.doors.collect(Door::Hosts, now) {
                let posted = self.questions.hosts.posted.take();
                if let (Some((_, keys)), Ok(answer)) =
                    (posted.filter(|(posted, _)| *posted == number), answer)
                {
                    self.take_host_answers(&keys, &answer)?;
                }
            }
            return Ok(());
        }
        let every = Duration::from_micros(settings.wait);
        let last = *self.questions.hosts.last.get_or_insert(now);
        if now.saturating_duration_since(last) < every || !self.doors.is_open(Door::Hosts, now) {
            return Ok(());
        }
        self.questions.hosts.last = Some(now);
        let mut rows = Vec::new();
        let active = self.book.lock().take_active(settings.rows, &*self.state)?;
        for (key, counts) in active {
            let view = self.frontier.explain(key.0, &*self.state)?;
            rows.extend(view.map(|view| Row { key, counts, view }));
        }
        if rows.is_empty() {
            return Ok(());
        }
        if let Ok(table) = table(&settings, &rows)
            && let Some(number) = self.doors.post(Door::Hosts, table, settings.patience())
        {
            let keys = rows.iter().map(|row| row.key).collect();
            self.questions.hosts.posted = Some((number, keys));
        }
        Ok(())
    }

    fn take_host_answers(&mut self, keys: &[CountKey], answer: &Answer) -> Result<(), NodeError> {
        let now = self.clock.now();
        for (row, &key) in keys.iter().enumerate() {
            if key.1 != 0 {
                self.decide_pattern(key, answer, row)?;
            } else if self.decide_host(key.0, answer, row, now)? {
                self.shares.touch_host(key.0);
            }
        }
        // The records of hosts go with a batch; one is made if there is none.
        self.frontier.touch(&mut self.open.writes);
        self.open.begin(now);
        Ok(())
    }

    /// True: something was decided.
    fn decide_host(
        &mut self,
        host: u64,
        answer: &Answer,
        row: usize,
        now: u64,
    ) -> Result<bool, NodeError> {
        let Some(view) = self.frontier.explain(host, &*self.state)? else {
            return Ok(false);
        };
        let record = view.record;
        let reason = answer.reason(row).unwrap_or_default();
        let (budget, weight) = (answer.whole("budget", row), answer.number("weight", row));
        let delay = answer.number("delay", row);
        let mut decided = false;
        let mut what = Vec::new();
        let reads = &*self.state;
        let aside = answer.number("set_aside", row).filter(|wait| *wait > 0.0);
        let give_up = answer.bool("give_up", row) == Some(true);
        let steers = aside.is_some() || give_up;
        if budget.is_some() || weight.is_some() || delay.is_some() || steers {
            let before = record.policy.map(|policy| *policy).unwrap_or_default();
            let policy = HostPolicy {
                budget: budget
                    .map(|pages| u32::try_from(pages).unwrap_or(u32::MAX))
                    .or(before.budget),
                weight: weight.map_or(before.weight, |weight| weight as f32),
                delay: delay.map_or(before.delay, micros),
                reason: reason.as_str().into(),
            };
            what = changes(&before, &policy);
            decided = self.frontier.set_policy(host, Some(policy), reads)?;
        }
        if let Some(wait) = aside {
            if !record.aside {
                what.push(format!("set aside for {wait:.0} s"));
            }
            decided |= self.frontier.set_aside(host, now, micros(wait), reads)?;
        }
        if give_up {
            if record.given_up.is_none() {
                what.push("given up".to_owned());
            }
            decided |= self.frontier.give_up(host, Outcome::Dropped, now, reads)?;
        }
        if decided && !what.is_empty() {
            self.host_news.add(&record.name, what, &reason);
        }
        Ok(decided)
    }

    /// What host policies decided since this was asked last, and how many more decisions there were.
    pub fn take_host_decisions(&mut self) -> (Vec<HostDecision>, u64) {
        self.host_news.take()
    }

    fn decide_pattern(
        &mut self,
        key: CountKey,
        answer: &Answer,
        row: usize,
    ) -> Result<(), NodeError> {
        let decision = Decision {
            budget: answer.whole("budget", row),
            weight: answer.number("weight", row).map(|weight| weight as f32),
            give_up: answer.bool("give_up", row),
            reason: answer.reason(row).map(Into::into),
        };
        if decision.budget.is_some() || decision.weight.is_some() || decision.give_up.is_some() {
            let decided = self.book.lock().decide(key, decision, &*self.state)?;
            if let Some(decided) = decided.filter(|decided| !decided.words().is_empty())
                && let Some(view) = self.frontier.explain(key.0, &*self.state)?
            {
                let mut what = decided.words();
                what[0] = format!("pattern {}: {}", decided.pattern, what[0]);
                let reason = &decided.after.reason;
                self.host_news.add(&view.record.name, what, reason);
            }
        }
        Ok(())
    }
}

/// What another decision about a host changes, in words.
fn changes(before: &HostPolicy, after: &HostPolicy) -> Vec<String> {
    let mut what = Vec::new();
    if before.budget != after.budget {
        let pages = after.budget.map_or("none".to_owned(), |n| n.to_string());
        what.push(format!("budget {pages}"));
    }
    if before.weight().total_cmp(&after.weight()).is_ne() {
        what.push(format!("weight {}", after.weight()));
    }
    if before.delay != after.delay {
        what.push(format!("delay {} s", after.delay as f64 / 1e6));
    }
    what
}

fn micros(seconds: f64) -> u64 {
    (seconds * 1e6) as u64
}

fn table(settings: &DoorSettings, rows: &[Row]) -> Result<Table, String> {
    let mut columns = Vec::with_capacity(settings.columns.len());
    for name in Door::Hosts.columns() {
        if !settings.asks(name) {
            continue;
        }
        let mut column = match *name {
            "host" | "pattern" | "standing" => Column::text(),
            "weight" | "delay" => Column::f64(),
            _ => Column::u64(),
        };
        for row in rows {
            column.push(value(name, row));
        }
        columns.push((*name, column));
    }
    Table::new(rows.len(), columns)
}

fn value<'a>(name: &str, row: &'a Row) -> Value<'a> {
    let (counts, record) = (&row.counts, &row.view.record);
    let policy = record.policy.as_deref();
    let change = counts.change.as_ref();
    let of_host = row.key.1 == 0;
    match name {
        "host" => Value::Text(&record.name),
        "pattern" => Value::text(Some(&*counts.pattern).filter(|_| !of_host)),
        "queued" if of_host => Value::U64(record.queued.into()),
        "fetched" => Value::U64(counts.fetched),
        "new" => Value::U64(counts.new),
        "duplicate" => Value::U64(counts.duplicate),
        "errors" => Value::U64(counts.errors),
        "bytes" => Value::U64(counts.bytes),
        "in_domains" if of_host => Value::U64(counts.in_domains()),
        "since" => Value::U64(counts.since),
        "weight" if of_host => Value::F64(policy.map_or(1.0, |policy| f64::from(policy.weight()))),
        "weight" => Value::F64(change.map_or(1.0, |change| change.weight.into())),
        "delay" if of_host => Value::F64(row.view.gap as f64 / 1e6),
        "budget" if of_host => policy
            .and_then(|policy| policy.budget)
            .map_or(Value::None, |budget| Value::U64(budget.into())),
        "budget" => change
            .and_then(|change| change.budget)
            .map_or(Value::None, Value::U64),
        "standing" => Value::Text(row.view.standing.as_str()),
        _ => Value::None,
    }
}
