//! Visits go out: the hosts whose turn has come, in the order of their turns.

use std::cmp::Reverse;
use std::net::IpAddr;
use std::sync::Arc;

use super::gate::Gate;
use super::host::Head;
use super::ips::Door;
use super::lines::{Turn, Who};
use super::queued::{Place, Queued, scheme};
use super::{Frontier, Micros, Next, Purpose, Refusal, SECOND, Visit, damaged};
use crate::outcome::Outcome;
use crate::state::{Reads, StateError, Writes};

/// A visit under way. Only in memory: the store still has the URL in its queue.
#[derive(Debug)]
pub(super) struct Lease {
    pub slot: u32,
    pub purpose: Purpose,
    pub https: bool,
    /// The URL, or for a robots visit the URL that waits for the rules.
    pub at: u64,
    pub record: Arc<[u8]>,
    pub started: Micros,
    /// When the host was due before this lease, and what the lease made of that.
    pub due_before: Micros,
    pub due_set: Micros,
}

impl Frontier {
    /// Hands out up to `max` visits that are due. Visits and refusals are added to the lists; after
    /// an error those in the lists are still true.
    pub fn take(
        &mut self,
        now: Micros,
        max: usize,
        reads: &dyn Reads,
        writes: &mut Writes,
        visits: &mut Vec<Visit>,
        refusals: &mut Vec<Refusal>,
    ) -> Result<Next, StateError> {
        let time = self.tick(now);
        let (first_visit, first_refusal) = (visits.len(), refusals.len());
        let mut budget = self.settings.slice.max(1);
        self.end_hosts(&mut budget, reads, writes, refusals)?;
        while budget > 0 && visits.len() - first_visit < max && !self.limit_reached() {
            let Some(&Reverse(turn)) = self.timetable.peek() else {
                break;
            };
            if turn.due > time {
                break;
            }
            self.timetable.pop();
            let Some((slot, line)) = self.whose(turn, time) else {
                continue;
            };
            let result = self.serve(slot, time, &mut budget, reads, writes, refusals);
            let ip = self.host(slot).and_then(|host| host.record.ip);
            self.schedule(slot);
            for ip in ip.into_iter().chain(line) {
                self.wake_line(ip, time);
            }
            visits.extend(result?);
        }
        let taken = visits.len() - first_visit;
        Ok(if taken > 0 {
            Next::Taken(taken)
        } else {
            self.nothing(time, refusals.len() > first_refusal)
        })
    }

    fn nothing(&self, time: Micros, refused: bool) -> Next {
        let counters = self.counters();
        if counters.leases == 0 && counters.queued == counters.queued_blocked {
            return Next::Finished;
        }
        if self.limit_reached() {
            return if counters.leases > 0 {
                Next::Busy
            } else {
                Next::LimitReached
            };
        }
        let until = if refused || !self.ending.is_empty() {
            Some(time)
        } else {
            self.timetable.peek().map(|Reverse(turn)| turn.due)
        };
        match until {
            Some(until) => Next::NothingDue {
                until: self.clock.outside(until.max(time)),
            },
            None => Next::Busy,
        }
    }

    fn limit_reached(&self) -> bool {
        self.settings
            .limits
            .pages
            .is_some_and(|most| self.counters.pages + self.page_leases >= most)
    }

    /// The host that a turn is for, if the turn still holds, and the address whose line it left.
    fn whose(&mut self, turn: Turn, time: Micros) -> Option<(u32, Option<IpAddr>)> {
        match turn.who() {
            Who::Host(slot) => {
                let host = self.host_mut(slot)?;
                if host.scheduled != turn.due {
                    return None;
                }
                host.scheduled = Micros::MAX;
                Some((slot, None))
            }
            Who::Line(number) => {
                let line = self.lines.get_mut(number)?;
                if line.scheduled != turn.due {
                    return None;
                }
                line.scheduled = Micros::MAX;
                let ip = line.ip;
                if self.ips.look(ip, time) != Door::Open {
                    self.wake_line(ip, time);
                    return None;
                }
                let slot = self.lines.get_mut(number)?.hosts.pop_front();
                self.lines.end_if_empty(number);
                let slot = slot?;
                if let Some(host) = self.host_mut(slot) {
                    host.in_line = false;
                }
                self.recount(slot);
                Some((slot, Some(ip)))
            }
        }
    }

    /// Gives a line its next turn, when its address can have one.
    pub(super) fn wake_line(&mut self, ip: IpAddr, time: Micros) {
        let Some(number) = self.lines.of(ip) else {
            return;
        };
        let at = match self.ips.look(ip, time) {
            Door::Open => time,
            Door::Later(at) => at,
            // The end of the lease inside wakes the line.
            Door::Busy => return,
        };
        if let Some(line) = self.lines.get_mut(number)
            && at < line.scheduled
        {
            line.scheduled = at;
            self.timetable
                .push(Reverse(Turn::new(at, 0, Who::Line(number))));
        }
    }

    /// Enters a host in the timetable at its next turn, if it is to have one.
    pub(super) fn schedule(&mut self, slot: u32) {
        let per_host = self.settings.per_host.max(1);
        let key = self.host(slot).map_or(0, |host| host.key);
        let frozen = self.is_frozen(key);
        let Some(host) = self.hosts.get_mut(slot as usize).and_then(Option::as_mut) else {
            return;
        };
        let record = &host.record;
        let none = frozen
            || record.blocked
            || record.given_up.is_some()
            || host.in_line
            || host.robots_out
            || host.leases >= per_host;
        let due = host.due(&self.settings);
        let at = if none {
            Micros::MAX
        } else if host.ready() > 0 {
            due
        } else if record.waiting > 0 {
            due.max(record.waiting_first)
        } else {
            Micros::MAX
        };
        if at != host.scheduled {
            host.scheduled = at;
            if at != Micros::MAX {
                let turn = Turn::new(at, host.band(), Who::Host(slot));
                self.timetable.push(Reverse(turn));
                self.tidy_timetable();
            }
        }
    }

    /// Drops turns that no longer hold, when they are the most; O(1) per turn entered.
    fn tidy_timetable(&mut self) {
        if self.timetable.len() > 2 * (self.slots.len() + self.lines.len()) + 1_024 {
            let mut turns = std::mem::take(&mut self.timetable).into_vec();
            turns.retain(|Reverse(turn)| match turn.who() {
                Who::Host(slot) => self.host(slot).is_some_and(|h| h.scheduled == turn.due),
                Who::Line(number) => self
                    .lines
                    .get_mut(number)
                    .is_some_and(|line| line.scheduled == turn.due),
            });
            self.timetable = turns.into();
        }
    }

    /// The host's turn: gives its next visit, if it can have one now.
    fn serve(
        &mut self,
        slot: u32,
        time: Micros,
        budget: &mut usize,
        reads: &dyn Reads,
        writes: &mut Writes,
        refusals: &mut Vec<Refusal>,
    ) -> Result<Option<Visit>, StateError> {
        let per_host = self.settings.per_host.max(1);
        let Some(host) = self.host(slot) else {
            return Ok(None);
        };
        if self.is_frozen(host.key)
            || host.record.blocked
            || host.record.given_up.is_some()
            || host.in_line
            || host.robots_out
            || host.leases >= per_host
            // The settings may have changed since the turn was entered.
            || host.due(&self.settings) > time
        {
            return Ok(None);
        }
        let ip = host.record.ip;
        if let Some(ip) = ip
            && self.ips.look(ip, time) != Door::Open
        {
            self.join_line(slot, ip);
            return Ok(None);
        }
        self.wake_waiting(slot, time, reads, writes)?;
        while *budget > 0 {
            self.fill_head(slot, reads)?;
            let Some(host) = self.host(slot) else {
                return Ok(None);
            };
            let Some(first) = host.head.first().cloned() else {
                return Ok(None);
            };
            let both_schemes = host.record.schemes == [true, true];
            let queued = Queued::decode(&first.record).ok_or_else(|| damaged("queue"))?;
            let limits = self.settings.limits;
            let gate = if limits
                .pages_per_host
                .is_some_and(|most| host.record.pages >= most)
                || limits
                    .bytes_per_host
                    .is_some_and(|most| host.record.bytes >= most)
            {
                Gate::Refuse(Outcome::OverQuota)
            } else if limits
                .pages_per_host
                .is_some_and(|most| host.record.pages + u32::from(host.leases) >= most)
            {
                // Leases under way may use up the quota; they end before long.
                let gap = host.record.gap(host.key, &self.settings).max(SECOND);
                if let Some(host) = self.host_mut(slot) {
                    host.record.next_due = time.saturating_add(gap);
                }
                return Ok(None);
            } else {
                self.gate(slot, &queued, time, reads)?
            };
            match gate {
                Gate::Go => return Ok(self.lease(slot, queued.purpose(), &queued, &first, time)),
                Gate::Fetch => return Ok(self.lease(slot, Purpose::Robots, &queued, &first, time)),
                Gate::Refuse(outcome) => {
                    *budget -= 1;
                    refusals.extend(self.refusal(slot, &queued, outcome));
                    self.pop_head(slot);
                    self.unqueue(slot, Place::ready(first.at), writes);
                }
                Gate::Wait(until) if both_schemes => {
                    // The other scheme's URLs need not wait behind this one.
                    *budget -= 1;
                    self.pop_head(slot);
                    if let Some(host) = self.host(slot) {
                        self.dequeue(host.key, Place::ready(first.at), writes);
                    }
                    self.enqueue_waiting(slot, until, first.record.to_vec(), writes);
                    self.changed(slot);
                }
                Gate::Wait(until) => {
                    if let Some(host) = self.host_mut(slot) {
                        host.record.next_due = host.record.next_due.max(until);
                    }
                    self.changed(slot);
                    return Ok(None);
                }
            }
        }
        Ok(None)
    }

    fn join_line(&mut self, slot: u32, ip: IpAddr) {
        if let Some(host) = self.host_mut(slot) {
            host.in_line = true;
            self.lines.join(ip, slot);
        }
    }

    /// Leases the first URL of the head.
    fn lease(
        &mut self,
        slot: u32,
        purpose: Purpose,
        queued: &Queued<'_>,
        first: &Head,
        time: Micros,
    ) -> Option<Visit> {
        let lease = self.last_lease + 1;
        let ip = self.host(slot)?.record.ip;
        if let Some(ip) = ip
            && self.ips.enter(lease, ip, time) != Door::Open
        {
            // Another thread entered it a moment ago.
            self.join_line(slot, ip);
            return None;
        }
        self.last_lease = lease;
        self.pop_head(slot);
        let gap = {
            let host = self.host(slot)?;
            host.record.gap(host.key, &self.settings)
        };
        let host = self.host_mut(slot)?;
        let due_before = host.record.next_due;
        host.leases += 1;
        host.record.aside = false;
        let due_set = time.saturating_add(gap);
        host.record.next_due = due_set;
        host.robots_out |= purpose == Purpose::Robots;
        let key = host.key;
        let name = host.record.name.clone();
        let https = queued.https();
        let url = match purpose {
            Purpose::Robots => [scheme(https), &name, "/robots.txt"].concat(),
            Purpose::Page | Purpose::Sitemap => queued.url(&name),
        };
        self.overlay.leased(key, Place::ready(first.at));
        self.page_leases += u64::from(purpose == Purpose::Page);
        self.leases.insert(
            lease,
            Lease {
                slot,
                purpose,
                https,
                at: first.at,
                record: Arc::clone(&first.record),
                started: time,
                due_before,
                due_set,
            },
        );
        self.recount(slot);
        Some(Visit {
            lease,
            purpose,
            url,
            host: name,
            host_key: key,
            https,
            seed: queued.seed(),
            depth: queued.depth,
            band: queued.band,
            tries: queued.tries,
            from: queued.from.into(),
            ip,
        })
    }

    /// Takes a URL out of the queue for good.
    pub(super) fn unqueue(&mut self, slot: u32, place: Place, writes: &mut Writes) {
        let Some(host) = self.host_mut(slot) else {
            return;
        };
        host.record.queued = host.record.queued.saturating_sub(1);
        let key = host.key;
        self.dequeue(key, place, writes);
        self.changed(slot);
    }

    pub(super) fn refusal(
        &self,
        slot: u32,
        queued: &Queued<'_>,
        outcome: Outcome,
    ) -> Option<Refusal> {
        let host = self.host(slot)?;
        Some(Refusal {
            url: queued.url(&host.record.name),
            host_key: host.key,
            depth: queued.depth,
            tries: queued.tries,
            from: queued.from.into(),
            sitemap: queued.purpose() == Purpose::Sitemap,
            outcome,
        })
    }
}
