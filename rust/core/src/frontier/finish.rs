//! Reports come in: what an outcome means for the URL and for its host.

use std::sync::Arc;

use super::host::{RobotsKind, RobotsState, seconds};
use super::queued::{Place, Queued};
use super::robots::{self, Meaning};
use super::settings::{Blame, Policy, grow};
use super::take::Lease;
use super::{Frontier, Micros, Purpose, Report, Verdict, rules};
use crate::outcome::Outcome;
use crate::store::state::{Space, Writes};

impl Frontier {
    /// Ends a lease. A visit that was given back (`Deferred`) costs the URL nothing. The host's and the
    /// address's gaps count from its end, unless the report says that nothing was sent.
    pub fn finish(
        &mut self,
        now: Micros,
        lease: u64,
        report: &Report,
        writes: &mut Writes,
    ) -> Verdict {
        let time = self.tick(now);
        let Some(of) = self.leases.remove(&lease) else {
            return Verdict::UnknownLease;
        };
        self.page_leases -= u64::from(of.purpose == Purpose::Page);
        let blamed = self.host(of.slot).map_or(0, |host| host.blamed);
        // What was under way when a failure was counted belongs to it.
        let fresh = of.started >= blamed;
        // A report from the future or from before the lease is believed up to the lease's bounds.
        let ended = self.clock.inside(report.ended).clamp(of.started, time);
        let given_back = report.outcome == Outcome::Deferred;
        let left = self.ips.leave(lease, report.sent.then_some(ended));
        let slot = of.slot;
        if let Some(host) = self.host_mut(slot) {
            host.leases = host.leases.saturating_sub(1);
            host.robots_out &= of.purpose != Purpose::Robots;
            let record = &mut host.record;
            if record.next_due == of.due_set {
                // Only the lease held the host; from now on the end of the visit does.
                record.next_due = of.due_before;
            }
            record.ip = report.ip.or(record.ip);
            if report.sent {
                record.last_end = record.last_end.max(ended);
                record.bytes = record.bytes.saturating_add(report.bytes);
                self.counters.bytes = self.counters.bytes.saturating_add(report.bytes);
            }
        }
        let verdict = if given_back {
            self.defer(time, &of, report)
        } else {
            self.heard(&of, time, report, fresh);
            match of.purpose {
                Purpose::Robots => self.settle_robots(time, ended, &of, report, writes),
                Purpose::Page | Purpose::Sitemap => self.settle(ended, &of, report, fresh, writes),
            }
        };
        if self.counters.head_bytes > self.settings.heads_in_ram {
            self.drop_head(slot);
        }
        self.changed(slot);
        self.schedule(slot);
        for (ip, _) in left {
            self.wake_line(ip, time);
        }
        verdict
    }

    /// The visit was given back: all is as before, but for a wait that was asked for.
    fn defer(&mut self, time: Micros, of: &Lease, report: &Report) -> Verdict {
        if let Some(host) = self.host_mut(of.slot) {
            // With an address the host waits in the address's line, and needs no guess.
            let wait = report.wait_us.filter(|_| report.ip.is_none()).unwrap_or(0);
            let wait = time.saturating_add(wait);
            host.record.next_due = host.record.next_due.max(wait);
        }
        self.back(of, Arc::clone(&of.record));
        self.returned(of.slot)
    }

    fn returned(&self, slot: u32) -> Verdict {
        let due = self.host(slot).map_or(0, |host| host.due(&self.settings));
        Verdict::Returned {
            until: self.clock.outside(due),
        }
    }

    fn back(&mut self, of: &Lease, record: Arc<[u8]>) {
        let ended = self
            .host(of.slot)
            .is_some_and(|host| host.record.given_up.is_some());
        if ended {
            self.list_ending(of.slot);
        }
        self.put_back(of.slot, of.at, record);
    }

    /// Takes a URL from its place and lets it wait for a time.
    fn wait(&mut self, of: &Lease, until: Micros, queued: &Queued<'_>, writes: &mut Writes) {
        if let Some(key) = self.host(of.slot).map(|host| host.key) {
            self.dequeue(key, Place::ready(of.at), writes);
        }
        self.enqueue_waiting(of.slot, until, queued.encode(), writes);
    }

    /// What a visit tells of its host, whatever the URL.
    fn heard(&mut self, of: &Lease, time: Micros, report: &Report, fresh: bool) {
        let blame = self.settings.policy(report.outcome).blame;
        let Some(host) = self.hosts.get_mut(of.slot) else {
            return;
        };
        let (usual, _) = host.record.usual_gap(host.key, &self.settings);
        let numbers = &self.settings.throttling;
        if blame == Blame::Host && fresh {
            host.blamed = time;
        }
        let record = &mut host.record;
        if report.outcome == Outcome::Throttled && fresh {
            let is_page = of.purpose != Purpose::Robots;
            let again = is_page && Queued::decode(&of.record).is_some_and(|url| url.free > 0);
            record.throttle.widen(usual, again, numbers);
        }
        if let Some(took) = report.response_us {
            record.response_ms = took.div_ceil(1_000).try_into().unwrap_or(u32::MAX);
            if !matches!(blame, Blame::Host | Blame::Node) {
                record.throttle.narrow(numbers);
                record.failures = 0;
                record.set_asides = 0;
                record.trouble = record.trouble.filter(|last| last.until_us() > time);
            }
        }
        if blame != Blame::Nobody {
            record.errors = record.errors.saturating_add(1);
        }
    }

    /// A page's or sitemap's outcome.
    fn settle(
        &mut self,
        ended: Micros,
        of: &Lease,
        report: &Report,
        fresh: bool,
        writes: &mut Writes,
    ) -> Verdict {
        let outcome = report.outcome;
        let policy = self.settings.policy(outcome);
        let host_verdict = self.blame_host(ended, of.slot, report, policy, fresh);
        let Some(mut queued) = Queued::decode(&of.record) else {
            // It was read when it was leased, so this cannot be; if it is, the store keeps it.
            return Verdict::Returned { until: 0 };
        };
        if policy.free && queued.free < self.settings.free_tries {
            queued.free += 1;
            // A moment after the host's next turn, which another of its URLs has: one page that is
            // always refused so must not take the others with it.
            let due = self
                .host(of.slot)
                .map_or(ended, |host| host.due(&self.settings));
            let until = due.saturating_add(1);
            self.wait(of, until, &queued, writes);
            self.note_trouble(of.slot, outcome, until);
            return host_verdict.unwrap_or_else(|| self.returned(of.slot));
        }
        queued.tries = queued.tries.saturating_add(1);
        if queued.tries >= policy.tries {
            if of.purpose == Purpose::Page && is_page(outcome) {
                // A quota is for pages: one that is visited again has had its share.
                if let Some(host) = self.host_mut(of.slot).filter(|_| !queued.revisit()) {
                    host.record.pages = host.record.pages.saturating_add(1);
                }
                self.counters.pages += 1;
            }
            self.unqueue(of.slot, Place::ready(of.at), writes);
            return match host_verdict {
                Some(verdict @ Verdict::HostGivenUp(_)) => verdict,
                _ => Verdict::Done,
            };
        }
        let wait = policy.grown(u32::from(queued.tries) - 1);
        let until = ended.saturating_add(wait);
        self.wait(of, until, &queued, writes);
        self.note_trouble(of.slot, outcome, until);
        host_verdict.unwrap_or(Verdict::RetryAt(self.clock.outside(until)))
    }

    /// Makes the host wait if it is to blame or asked for it; set aside or given up if it goes on.
    /// `fresh`: this is not the same trouble as a failure that was counted.
    fn blame_host(
        &mut self,
        ended: Micros,
        slot: u32,
        report: &Report,
        policy: Policy,
        fresh: bool,
    ) -> Option<Verdict> {
        let settings = &self.settings;
        let asked = report
            .wait_us
            .map_or(0, |wait| wait.min(settings.longest_retry_after));
        let (most, asides) = (settings.set_aside_after.max(1), settings.set_asides);
        let (aside, growth) = (settings.set_aside, settings.set_aside_growth);
        let (longest, given_up_for) = (settings.longest_retry_after, settings.given_up_for);
        let before_wait = settings.failures_before_wait;
        let host = self.host_mut(slot)?;
        let record = &mut host.record;
        let mut until = ended.saturating_add(asked);
        let mut verdict = None;
        match policy.blame {
            Blame::Host => {
                record.failures = record.failures.saturating_add(u16::from(fresh));
                // A host that asks for rest gets it at once, and where it says for how long, so
                // long; one bad page on a good host must not hold up the others, so the host
                // itself waits only when it goes on.
                let patience = if policy.free { 0 } else { before_wait };
                let says = policy.free && report.wait_us.is_some();
                if let Some(before) = record.failures.checked_sub(patience + 1)
                    && !says
                {
                    until = until.max(ended.saturating_add(policy.grown(before.into())));
                }
                if record.failures >= most && fresh {
                    record.set_asides = record.set_asides.saturating_add(1);
                    record.aside = true;
                    let before = u32::from(record.set_asides) - 1;
                    let wait = grow(aside, growth, before, longest.max(aside));
                    until = until.max(ended.saturating_add(wait));
                    if record.set_asides > asides {
                        record.given_up = Some(report.outcome);
                        until = until.max(ended.saturating_add(given_up_for));
                    }
                }
            }
            Blame::Node => until = until.max(ended.saturating_add(policy.wait)),
            Blame::Url | Blame::Nobody => {}
        }
        record.next_due = record.next_due.max(until);
        if until > ended || matches!(policy.blame, Blame::Host | Blame::Node) {
            self.note_trouble(slot, report.outcome, until);
        }
        let record = &self.host(slot)?.record;
        if let Some(outcome) = record.given_up {
            verdict = Some(Verdict::HostGivenUp(outcome));
        } else if record.aside {
            let until = record.next_due;
            verdict = Some(Verdict::HostSetAside {
                until: self.clock.outside(until),
            });
        }
        if matches!(verdict, Some(Verdict::HostGivenUp(_))) {
            self.list_ending(slot);
        }
        verdict
    }

    fn settle_robots(
        &mut self,
        time: Micros,
        ended: Micros,
        of: &Lease,
        report: &Report,
        writes: &mut Writes,
    ) -> Verdict {
        let meaning = robots::meaning(report.outcome, robots::MAX_REDIRECTS);
        let Some(host) = self.host(of.slot) else {
            return Verdict::UnknownLease;
        };
        let (key, scheme) = (host.key, usize::from(of.https));
        let before = host.record.robots[scheme];
        let mut delay_ms = 0;
        let fresh = seconds(time.saturating_add(self.settings.robots_fresh));
        let mut state = RobotsState {
            kind: RobotsKind::AllowAll,
            until: fresh,
            since: 0,
            tries: 0,
            unanswered: None,
        };
        let mut due = 0;
        match meaning {
            Meaning::Rules => {
                let body = &report.robots;
                let body = &body[..body.len().min(self.settings.robots_bytes)];
                let room = self.settings.rules_in_ram;
                let delay = self.rules.hold(key, of.https, fresh, body, room);
                delay_ms = delay.div_ceil(1_000).try_into().unwrap_or(u32::MAX);
                state.kind = RobotsKind::Rules;
                let value = rules::value(fresh, body);
                writes.put(Space::Robots, rules::key(key, of.https), value);
            }
            Meaning::AllowAll | Meaning::Follow => {
                self.rules.forget(key, of.https);
                writes.remove(Space::Robots, rules::key(key, of.https));
            }
            Meaning::Unreachable | Meaning::NobodyAnswered => {
                let again = before.kind == RobotsKind::Unreachable;
                let tries = if again { before.tries } else { 0 };
                // Who gave its rules before is waited for; where nobody ever did, a few tries are
                // enough, else one mistyped name would keep a crawl from ending.
                let ever = again && before.unanswered.is_none()
                    || matches!(before.kind, RobotsKind::Rules | RobotsKind::AllowAll);
                let unanswered = (!ever).then_some(report.outcome);
                let settings = &self.settings;
                let longest = settings.robots_fresh.max(settings.robots_wait);
                let patience = unanswered.map(|outcome| settings.patience(outcome));
                let last = patience.is_some_and(|of| tries.saturating_add(1) >= of.tries);
                let (first, growth) = patience
                    .map_or((settings.robots_wait, settings.robots_growth), |of| {
                        (of.wait, of.growth)
                    });
                let wait = if last {
                    // URLs found meanwhile are refused without a visit.
                    settings.robots_fresh
                } else if report.outcome == Outcome::Throttled && report.wait_us.is_some() {
                    // The server says itself when to come again.
                    0
                } else {
                    grow(first, growth, u32::from(tries), longest)
                };
                let asked = report.wait_us.unwrap_or(0);
                due = ended.saturating_add(asked.min(settings.longest_retry_after));
                state = RobotsState {
                    kind: RobotsKind::Unreachable,
                    until: seconds(due.max(ended.saturating_add(wait))),
                    since: if again { before.since } else { seconds(ended) },
                    tries: tries.saturating_add(1),
                    unanswered,
                };
                // After the last try nothing waits any more.
                let until = if last { due } else { state.until_us() };
                self.note_trouble(of.slot, report.outcome, until);
            }
        }
        let known = state.kind != RobotsKind::Unreachable;
        if let Some(host) = self.host_mut(of.slot) {
            let record = &mut host.record;
            record.robots[scheme] = state;
            record.next_due = record.next_due.max(due);
            if known {
                record.crawl_delay_ms[scheme] = delay_ms;
                record.failures = 0;
                record.set_asides = 0;
            }
        }
        self.back(of, Arc::clone(&of.record));
        if known {
            Verdict::RobotsKnown
        } else {
            Verdict::Returned {
                until: self.clock.outside(state.until_us()),
            }
        }
    }
}

/// Whether an outcome counts as a page: there was one, whatever a policy made of it.
fn is_page(outcome: Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Fetched
            | Outcome::NotModified
            | Outcome::Truncated
            | Outcome::Duplicate
            | Outcome::Dropped
    )
}
