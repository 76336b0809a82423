//! Visits go out: the hosts that are due, by rank.

use std::cmp::Reverse;
use std::sync::Arc;

use super::gate::Gate;
use super::host::Head;
use super::ips::Access;
use super::queued::{Place, Queued};
use super::{Frontier, Micros, Next, Purpose, Refusal, SECOND, Visit, damaged};
use crate::outcome::Outcome;
use crate::store::state::{Reads, StateError, Writes};

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
        self.fall_due(time);
        while budget > 0 && visits.len() - first_visit < max && !self.limit_reached() {
            let Some(Reverse(turn)) = self.due.pop() else {
                break;
            };
            let Some((slot, rank, line)) = self.whose(turn, time) else {
                continue;
            };
            let result = self.serve(slot, rank, time, &mut budget, reads, writes, refusals);
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
        let until = if refused || !self.ending.is_empty() || !self.due.is_empty() {
            Some(time)
        } else {
            self.timetable.peek().map(|Reverse(turn)| turn.at)
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

    /// The host's turn: gives its next visit, if it can have one now.
    #[expect(
        clippy::too_many_arguments,
        reason = "what `take` was given, and whose turn it is"
    )]
    fn serve(
        &mut self,
        slot: u32,
        rank: u64,
        time: Micros,
        budget: &mut usize,
        reads: &dyn Reads,
        writes: &mut Writes,
        refusals: &mut Vec<Refusal>,
    ) -> Result<Option<Visit>, StateError> {
        let Some(host) = self.host(slot) else {
            return Ok(None);
        };
        let per_host = host.record.connections(&self.settings);
        // Something may have changed since the turn was entered.
        if host.in_line() || self.next_turn(host) > time {
            return Ok(None);
        }
        let ip = host.record.ip;
        if let Some(ip) = ip
            && self.ips.look(ip, time, per_host) != Access::Open
        {
            self.join_line(slot, ip, rank);
            return Ok(None);
        }
        self.wake_waiting(slot, time, reads, writes)?;
        self.fill_head(slot, reads)?;
        if self.is_behind(slot, rank) {
            *budget -= 1;
            return Ok(None);
        }
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
            // Pages that are visited again do not count, so they are not bound either.
            let pages = self.settings.pages_of(&host.record.name);
            let pages = pages.filter(|_| !queued.revisit());
            let gate = if pages.is_some_and(|most| host.record.pages >= most)
                || limits
                    .bytes_per_host
                    .is_some_and(|most| host.record.bytes >= most)
            {
                Gate::Refuse(Outcome::OverQuota)
            } else if pages.is_some_and(|most| host.record.pages + u32::from(host.leases) >= most) {
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
                Gate::Go => {
                    return self.lease(slot, rank, queued.purpose(), &queued, &first, time);
                }
                Gate::Fetch => {
                    return self.lease(slot, rank, Purpose::Robots, &queued, &first, time);
                }
                Gate::Refuse(outcome) => {
                    *budget -= 1;
                    refusals.push(self.refusal(slot, &queued, outcome)?);
                    self.pop_head(slot);
                    self.unqueue(slot, Place::ready(first.at), writes);
                }
                Gate::Low(score) => {
                    *budget -= 1;
                    let mut later = queued;
                    later.score = score;
                    self.pop_head(slot);
                    let band = later.score.band();
                    self.set_band(slot, Place::ready(first.at), band, later.encode(), writes);
                    self.changed(slot);
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

    /// Whether the queue, now that it was read, says that others go first.
    fn is_behind(&self, slot: u32, rank: u64) -> bool {
        let Some(host) = self.host(slot) else {
            return false;
        };
        let true_rank = host.rank_at(host.scheduled, self.settings.band_wait);
        let next = self.due.peek();
        true_rank > rank && next.is_some_and(|Reverse(next)| next.at < true_rank)
    }

    /// Leases the first URL of the head.
    fn lease(
        &mut self,
        slot: u32,
        rank: u64,
        purpose: Purpose,
        queued: &Queued<'_>,
        first: &Head,
        time: Micros,
    ) -> Result<Option<Visit>, StateError> {
        let lease = self.last_lease + 1;
        let Some(host) = self.host(slot) else {
            return Ok(None);
        };
        let (key, ip) = (host.key, host.record.ip);
        let gap = host.record.gap(key, &self.settings);
        let name = &host.record.name;
        let per_host = host.record.connections(&self.settings);
        let link = match purpose {
            Purpose::Robots => queued.robots(name, key),
            Purpose::Page | Purpose::Sitemap => queued.link(name, key),
        };
        let link = link.ok_or_else(|| damaged("queue"))?;
        if let Some(ip) = ip
            && self.ips.enter(lease, ip, time, per_host) != Access::Open
        {
            // Another thread entered it a moment ago.
            self.join_line(slot, ip, rank);
            return Ok(None);
        }
        self.last_lease = lease;
        self.pop_head(slot);
        let Some(host) = self.host_mut(slot) else {
            return Ok(None);
        };
        let due_before = host.record.next_due;
        host.leases += 1;
        // What it waits for next begins anew.
        host.scheduled = Micros::MAX;
        host.record.aside = false;
        let due_set = time.saturating_add(gap);
        host.record.next_due = due_set;
        host.robots_out |= purpose == Purpose::Robots;
        self.overlay.leased(key, Place::ready(first.at));
        self.page_leases += u64::from(purpose == Purpose::Page);
        self.leases.insert(
            lease,
            Lease {
                slot,
                purpose,
                https: queued.https(),
                at: first.at,
                record: Arc::clone(&first.record),
                started: time,
                due_before,
                due_set,
            },
        );
        self.recount(slot);
        Ok(Some(Visit {
            lease,
            purpose,
            link,
            tries: queued.tries,
            ip,
        }))
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
    ) -> Result<Refusal, StateError> {
        let host = self.host(slot);
        let link = host.and_then(|host| queued.link(&host.record.name, host.key));
        Ok(Refusal {
            link: link.ok_or_else(|| damaged("queue"))?,
            tries: queued.tries,
            outcome,
        })
    }
}
