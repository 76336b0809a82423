//! Why hosts wait: after a failure, or because they asked for time. Who only rests between two visits
//! is not here.
//!
//! A host is listed while all of this holds: no visit of it is under way, its next turn is a time in the
//! future that is later than its gap asks for, and a failure asked for a wait until then or longer.
//! Kept up to date whenever a host gets its next turn, so that a reading costs no look at hosts.
//!
//! The list: filled when a host gets such a turn, emptied when the turn falls due or is another; bound:
//! hosts in memory; it cannot be full.

use std::collections::{BTreeSet, HashMap};

use super::host::{Host, Standing, Trouble, seconds};
use super::{Frontier, Micros};
use crate::outcome::Outcome;

/// Hosts that wait for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The last outcome that made them wait.
    pub outcome: Outcome,
    pub hosts: u64,
    /// The first of them to be tried again, and when, by the caller's clock.
    pub host: Box<str>,
    pub due: Micros,
}

#[derive(Debug, Default)]
pub(super) struct Waits {
    /// By outcome: when, and which host.
    turns: [BTreeSet<(Micros, u32)>; Outcome::ALL.len()],
    /// Where a host is listed.
    of: HashMap<u32, (Outcome, Micros)>,
}

impl Waits {
    /// What a host waits for now; `None`: nothing of this kind.
    pub fn set(&mut self, slot: u32, wait: Option<(Outcome, Micros)>) {
        if wait.is_none() && self.of.is_empty() {
            return;
        }
        let before = match wait {
            Some(wait) => self.of.insert(slot, wait),
            None => self.of.remove(&slot),
        };
        if before == wait {
            return;
        }
        if let Some((outcome, at)) = before {
            self.turns[outcome as usize].remove(&(at, slot));
        }
        if let Some((outcome, at)) = wait {
            self.turns[outcome as usize].insert((at, slot));
        }
    }
}

impl Host {
    /// What it waits for, if its next turn is at that time.
    pub fn wait_until(&self, at: Micros, rested: Micros) -> Option<(Outcome, Micros)> {
        let trouble = self.record.trouble?;
        let waits = matches!(self.standing(), Standing::Waiting | Standing::SetAside)
            && !self.in_line()
            && at != Micros::MAX
            && at > rested
            && at <= trouble.until_us();
        waits.then_some((trouble.outcome, at))
    }
}

impl Frontier {
    /// Notes what a host waits for until its next turn.
    pub(super) fn note_wait(&mut self, slot: u32, at: Micros) {
        let now = self.clock.last();
        // The gap may be a matter of rules: it is looked at only for hosts that failed.
        let failed = self.host(slot).filter(|host| host.record.trouble.is_some());
        let wait = failed.and_then(|host| {
            let gap = host.record.gap(host.key, &self.settings);
            let rested = host.record.last_end.saturating_add(gap);
            host.wait_until(at, rested.max(now))
        });
        self.waits.set(slot, wait);
    }

    /// A visit failed, and because of that its host, or a URL of it, waits until a time.
    pub(super) fn note_trouble(&mut self, slot: u32, outcome: Outcome, until: Micros) {
        if let Some(host) = self.host_mut(slot) {
            // A URL that failed before may wait longer.
            let before = host.record.trouble.map_or(0, |trouble| trouble.until);
            let until = seconds(until).max(before);
            host.record.trouble = Some(Trouble { outcome, until });
        }
    }

    /// Hosts that wait after a failure or because they asked for it, by reason.
    #[must_use]
    pub fn waits(&self) -> Vec<Wait> {
        let first = |(outcome, turns): (&Outcome, &BTreeSet<(Micros, u32)>)| {
            let &(at, slot) = turns.first()?;
            Some(Wait {
                outcome: *outcome,
                hosts: turns.len() as u64,
                host: self.host(slot)?.record.name.clone(),
                due: self.clock.outside(at),
            })
        };
        let rows = Outcome::ALL.iter().zip(&self.waits.turns);
        rows.filter_map(first).collect()
    }
}

#[cfg(test)]
impl Frontier {
    /// The list against the hosts themselves. A gap that was changed since the turn was given does not count.
    pub(super) fn recount_waits(&self) {
        let listed: usize = self.waits.turns.iter().map(BTreeSet::len).sum();
        assert_eq!(listed, self.waits.of.len());
        for (&slot, &(outcome, at)) in &self.waits.of {
            assert!(self.waits.turns[outcome as usize].contains(&(at, slot)));
            let host = self.host(slot).filter(|host| host.rank == u64::MAX);
            let wait = host.and_then(|host| host.wait_until(host.scheduled, 0));
            assert_eq!(wait, Some((outcome, at)));
        }
        for slot in 0..self.hosts.end() {
            let Some(host) = self.host(slot).filter(|host| host.rank == u64::MAX) else {
                continue;
            };
            let gap = host.record.gap(host.key, &self.settings);
            let rested = host.record.last_end.saturating_add(gap);
            let wait = host.wait_until(host.scheduled, rested.max(self.clock.last()));
            assert!(wait.is_none() || self.waits.of.get(&slot) == wait.as_ref());
        }
    }
}
