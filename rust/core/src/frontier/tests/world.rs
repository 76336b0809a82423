//! A simulated web and the crawler's committer around the frontier, in simulated time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::net::IpAddr;

use super::super::{
    Admission, Frontier, Micros, Next, Purpose, Refusal, Report, SECOND, Settings, Verdict, Visit,
};
use super::judge::{Judge, Memory};
use super::{Dice, seed, toy_rules};
use crate::links::{Link, Score};
use crate::outcome::Outcome;
use crate::store::state::memory::MemoryState;
use crate::store::state::{Reads, Space, State, Writes};

#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub hosts: u64,
    pub ips: u64,
    /// Percent of visits that fail; percent of batches that are followed by a crash.
    pub failing: u64,
    pub crashing: u64,
    pub clock_jumps: bool,
    pub moving: bool,
    pub capacity: usize,
    pub adds: u64,
}

struct Flight {
    visit: Visit,
    ip: IpAddr,
    started: Micros,
    report: Report,
}

pub struct World {
    pub plan: Plan,
    dice: Dice,
    /// True time, and what the caller's clock shows beyond it.
    pub now: Micros,
    skew: i64,
    pub settings: Settings,
    pub state: MemoryState,
    pub frontier: Frontier,
    writes: Writes,
    /// Batches sealed but not applied yet: the disk is slow or full.
    sealed: VecDeque<(u64, Writes, Memory)>,
    flights: Vec<Option<Flight>>,
    ends: BinaryHeap<Reverse<(Micros, usize)>>,
    pub judge: Judge,
    urls_made: u64,
    pub crashes: u64,
}

impl World {
    pub fn new(seed: u64, plan: Plan, settings: Settings) -> World {
        let state = MemoryState::default();
        let mut writes = Writes::default();
        let now = 1_000_000 * SECOND;
        let frontier =
            Frontier::open(settings.clone(), toy_rules(), &state, now, &mut writes).unwrap();
        state.apply(writes, true).unwrap();
        let judge = Judge {
            gap: settings.gap,
            ip_gap: settings.ip_gap,
            response_factor: settings.response_factor as u64,
            per_host: u32::from(settings.per_host),
            robots_fresh: settings.robots_fresh,
            ..Judge::default()
        };
        World {
            plan,
            dice: Dice(seed),
            now,
            skew: 0,
            settings,
            state,
            frontier,
            writes: Writes::default(),
            sealed: VecDeque::new(),
            flights: Vec::new(),
            ends: BinaryHeap::new(),
            judge,
            urls_made: 0,
            crashes: 0,
        }
    }

    /// What the caller's clock shows.
    fn clock(&self) -> Micros {
        self.now.saturating_add_signed(self.skew)
    }

    fn ip(&mut self, host: u64) -> IpAddr {
        let moved = u64::from(self.plan.moving && self.dice.chance(20));
        IpAddr::from([10, 0, 0, ((host + moved) % self.plan.ips) as u8])
    }

    pub fn add(&mut self, count: u64) {
        for _ in 0..count {
            let host = self.dice.below(self.plan.hosts);
            self.urls_made += 1;
            let https = host.is_multiple_of(3) && self.dice.chance(50);
            let secret = if self.dice.chance(10) { "secret/" } else { "" };
            let name = format!("h{host}.test");
            let scheme = if https { "https" } else { "http" };
            let url = format!("{scheme}://{name}/{secret}{}", self.urls_made);
            let score = Score::new(self.dice.below(65) as f32 / 64.0);
            let later = self.dice.chance(5);
            let wait = if later {
                self.dice.below(3_600) * SECOND
            } else {
                0
            };
            let link = Link {
                score: Some(score),
                depth: self.dice.below(9) as u16,
                not_before: if later { self.clock() + wait } else { 0 },
                ..seed(&url, host << 40)
            };
            let mut out = Vec::new();
            let clock = self.clock();
            self.frontier
                .add(clock, &[link], &self.state, &mut self.writes, &mut out)
                .unwrap();
            if out == [Admission::Added] {
                self.judge
                    .added(host, &url, score.band(), !later && !host.is_multiple_of(3));
            }
        }
    }

    fn refused(&mut self, refusals: Vec<Refusal>) {
        for refusal in refusals {
            let url = &refusal.link.url;
            self.judge.left(url.host_key() >> 40, url.as_str());
        }
    }

    /// Takes as many visits as there is room for.
    pub fn take(&mut self) -> Next {
        let room = self.plan.capacity - self.flights.iter().flatten().count();
        let (mut visits, mut refusals) = (Vec::new(), Vec::new());
        let clock = self.clock();
        let next = self
            .frontier
            .take(
                clock,
                room,
                &self.state,
                &mut self.writes,
                &mut visits,
                &mut refusals,
            )
            .unwrap();
        self.refused(refusals);
        for visit in visits {
            self.start(visit);
        }
        next
    }

    fn start(&mut self, visit: Visit) {
        let url = &visit.link.url;
        let (host, https) = (url.host_key() >> 40, url.scheme_is_https());
        self.judge
            .given(host, url.as_str(), visit.purpose, https, self.now);
        self.judge.leased(host, url.as_str(), true);
        let ip = self.ip(host);
        let clock = self.clock();
        if let Err(until) = self.frontier.ips().enter_ip(visit.lease, ip, clock) {
            let mut report = Report::new(Outcome::Deferred, clock, clock);
            report.ip = Some(ip);
            report.wait_us = self.dice.chance(50).then(|| until.saturating_sub(clock));
            let lease = visit.lease;
            let verdict = self
                .frontier
                .finish(clock, lease, &report, &mut self.writes);
            assert!(matches!(verdict, Verdict::Returned { .. }));
            self.judge.leased(host, url.as_str(), false);
            return;
        }
        self.judge.begins(host, ip, self.now);
        let report = self.report(&visit, ip);
        let took = match report.response_us {
            Some(took) => took + self.dice.below(SECOND),
            None => self.dice.below(30 * SECOND),
        };
        let end = self.now + took;
        let flight = Flight {
            visit,
            ip,
            started: clock,
            report,
        };
        self.flights.push(Some(flight));
        self.ends.push(Reverse((end, self.flights.len() - 1)));
    }

    fn report(&mut self, visit: &Visit, ip: IpAddr) -> Report {
        let host = visit.link.url.host_key() >> 40;
        let mut report = Report::new(Outcome::Fetched, 0, 0);
        report.ip = Some(ip);
        report.bytes = 1_000;
        report.response_us = Some(self.dice.below(2_000) * 1_000);
        let dead = host % 11 == 7 && self.plan.failing > 0;
        if dead || self.dice.chance(self.plan.failing) {
            report.outcome = match self.dice.below(6) {
                0 if !dead => Outcome::ServerFailed,
                1 if !dead => Outcome::Throttled,
                2 => Outcome::ConnectFailed,
                3 => Outcome::DnsFailed,
                4 => Outcome::ProtocolBroken,
                _ => Outcome::TimedOut,
            };
            match report.outcome {
                Outcome::ServerFailed => {}
                Outcome::Throttled => report.wait_us = Some(self.dice.below(600) * SECOND),
                _ => report.response_us = None,
            }
        } else if visit.purpose == Purpose::Robots {
            if self.dice.chance(50) {
                let delay = self.dice.below(8);
                report.robots = format!("deny /secret/\ndelay {delay}\n").into_bytes();
            } else {
                report.outcome = Outcome::Gone;
            }
        } else if self.dice.chance(10) {
            report.outcome = Outcome::Gone;
        }
        report
    }

    /// Ends the visits whose time has come.
    pub fn land(&mut self) {
        while let Some(&Reverse((end, at))) = self.ends.peek()
            && end <= self.now
        {
            self.ends.pop();
            let Some(mut flight) = self.flights[at].take() else {
                continue;
            };
            let url = &flight.visit.link.url;
            let host = url.host_key() >> 40;
            self.judge.leased(host, url.as_str(), false);
            self.judge.ends(host, flight.ip, end);
            let clock = self.clock();
            flight.report.started = flight.started;
            flight.report.ended = end.saturating_add_signed(self.skew);
            let verdict =
                self.frontier
                    .finish(clock, flight.visit.lease, &flight.report, &mut self.writes);
            let again =
                self.frontier
                    .finish(clock, flight.visit.lease, &flight.report, &mut self.writes);
            assert_eq!(again, Verdict::UnknownLease);
            self.tell(&flight, end, verdict);
        }
        while matches!(self.flights.last(), Some(None)) {
            self.flights.pop();
        }
    }

    fn tell(&mut self, flight: &Flight, end: Micros, verdict: Verdict) {
        let (visit, report) = (&flight.visit, &flight.report);
        let url = &visit.link.url;
        let host = url.host_key() >> 40;
        let told = self.judge.now.told.entry(host).or_default();
        told.response = report.response_us.unwrap_or(told.response);
        if let Some(wait) = report.wait_us {
            told.not_before = end + wait;
        }
        let scheme = usize::from(url.scheme_is_https());
        match (report.outcome, visit.purpose) {
            (Outcome::Fetched, Purpose::Robots) => {
                let text = String::from_utf8_lossy(&report.robots);
                let delay = text.lines().find_map(|line| line.strip_prefix("delay "));
                told.crawl_delay[scheme] = delay.unwrap().parse::<u64>().unwrap() * SECOND;
                told.robots[scheme] = Some(end);
                assert_eq!(verdict, Verdict::RobotsKnown);
            }
            (Outcome::Gone, Purpose::Robots) => {
                told.crawl_delay[scheme] = 0;
                told.robots[scheme] = Some(end);
            }
            (_, Purpose::Robots) => {
                // The URLs wait for the rules; those of the other scheme may pass them.
                assert!(matches!(verdict, Verdict::Returned { .. }));
                self.judge.touched_all(host);
            }
            _ => {
                self.judge.touched(host, url.as_str());
                match verdict {
                    Verdict::Done => self.judge.left(host, url.as_str()),
                    Verdict::HostGivenUp(_) if !self.is_queued(url.host_key(), url.as_str()) => {
                        self.judge.left(host, url.as_str());
                    }
                    _ => {}
                }
            }
        }
    }

    /// The URLs of a host in the queue as the frontier sees it, leased ones included.
    fn queued_urls(&self, key: u64) -> Vec<String> {
        self.frontier.all_queued(key, &self.state)
    }

    fn is_queued(&self, key: u64, url: &str) -> bool {
        self.queued_urls(key).iter().any(|queued| queued == url)
    }

    /// Ends a batch, applies it now or later, and sometimes crashes.
    pub fn commit(&mut self) {
        let mut writes = std::mem::take(&mut self.writes);
        let batch = self.frontier.seal(&mut writes);
        self.sealed
            .push_back((batch, writes, self.judge.snapshot()));
        while self.dice.chance(65)
            && let Some((batch, writes, memory)) = self.sealed.pop_front()
        {
            self.state.apply(writes, true).unwrap();
            self.frontier.applied(batch);
            self.judge.saved(memory);
            if self.sealed.is_empty() && self.dice.chance(10) {
                self.recount();
            }
        }
        if self.dice.chance(self.plan.crashing) {
            self.crash();
        }
        if self.plan.clock_jumps && self.dice.chance(2) {
            self.skew -= self.dice.below(3_600 * SECOND) as i64;
            self.judge.slack += 610 * SECOND;
        }
    }

    pub fn crash(&mut self) {
        self.crashes += 1;
        self.judge.crash(self.now);
        self.flights.clear();
        self.ends.clear();
        self.sealed.clear();
        self.now += self.dice.below(20 * SECOND);
        if self.plan.clock_jumps {
            // The time since the last batch applied is not on record either.
            self.judge.slack += 7_200 * SECOND;
            // Between two processes the clock may jump either way.
            let jump = self.dice.below(7_200 * SECOND) as i64 - 3_600 * SECOND as i64;
            self.skew += jump;
            if jump > 0 {
                // Nobody can know then that a `Retry-After` has not passed; the gaps hold anyway.
                self.judge.forget_waits();
            }
        }
        let mut writes = Writes::default();
        let settings = self.settings.clone();
        self.frontier = Frontier::open(
            settings,
            toy_rules(),
            &self.state,
            self.clock(),
            &mut writes,
        )
        .unwrap();
        self.state.apply(writes, true).unwrap();
        self.writes = Writes::default();
        self.recount();
        assert_eq!(self.frontier.counters().queued, self.judge.queued());
    }

    /// The counters against the store; only when every batch is applied.
    pub fn recount(&self) {
        let counters = self.frontier.counters();
        self.frontier.recount_waits();
        let mut per_host = std::collections::HashMap::new();
        let count = |space: Space, visit: &mut dyn FnMut(u64)| {
            let mut visit = |key: &[u8], _: &[u8]| {
                visit(u64::from_be_bytes(key[..8].try_into().unwrap()));
                true
            };
            self.state.scan(space, &[], &[], &mut visit).unwrap();
        };
        count(Space::Queue, &mut |host| {
            *per_host.entry(host).or_insert(0_u32) += 1
        });
        assert_eq!(
            counters.queued,
            per_host.values().map(|&n| u64::from(n)).sum::<u64>()
        );
        let mut keys = Vec::new();
        count(Space::Hosts, &mut |host| keys.push(host));
        assert_eq!(counters.hosts_known, keys.len() as u64);
        assert_eq!(counters.repairs, 0);
        let (mut pages, mut bytes, mut standing) = (0, 0, [0_u64; 5]);
        for key in keys {
            let view = self.frontier.explain(key, &self.state).unwrap().unwrap();
            let queued = per_host.get(&key).copied().unwrap_or(0);
            assert_eq!(view.record.queued, queued, "host {key:x}");
            pages += u64::from(view.record.pages);
            bytes += view.record.bytes;
            standing[view.standing as usize] += 1;
        }
        assert_eq!((counters.pages, counters.bytes), (pages, bytes));
        assert_eq!(
            standing[1..],
            [
                counters.hosts_active,
                counters.hosts_waiting,
                counters.hosts_set_aside,
                counters.hosts_blocked,
            ]
        );
        assert_eq!(counters.queued, self.judge.queued());
    }

    /// Moves true time to the next thing that happens.
    pub fn pass(&mut self, next: Next) {
        let mut to = self.now + 600 * SECOND;
        if let Some(&Reverse((end, _))) = self.ends.peek() {
            to = to.min(end);
        }
        if let Next::NothingDue { until } = next {
            to = to.min(until.saturating_add_signed(-self.skew));
        }
        // Work comes at moments that nobody chose.
        self.now = to.max(self.now + 1) + self.dice.below(2) * self.dice.below(SECOND / 10);
    }

    /// Crawls a healthy web until the frontier says it is finished, and at every moment with free
    /// room asks whether a host was passed over that could have been visited.
    pub fn run_conserving(&mut self) {
        self.add(self.plan.adds);
        loop {
            self.land();
            let mut next = self.take();
            // Visits whose address was not free came back at once.
            while matches!(next, Next::Taken(_))
                && self.flights.iter().flatten().count() < self.plan.capacity
            {
                next = self.take();
            }
            if next == Next::Finished {
                break;
            }
            if self.flights.iter().flatten().count() < self.plan.capacity {
                self.judge
                    .nobody_waits(self.plan.hosts, self.plan.ips, self.now);
            }
            self.pass(next);
        }
        assert_eq!(self.judge.queued(), 0);
    }

    /// Crawls until the frontier says it is finished.
    pub fn run(&mut self, most_steps: u64) {
        let mut to_add = self.plan.adds;
        for step in 0.. {
            assert!(
                step < most_steps,
                "the crawl does not end: {:?}",
                self.frontier.counters()
            );
            self.land();
            if to_add > 0 && self.dice.chance(30) {
                let some = self.dice.below(20).min(to_add);
                to_add -= some;
                self.add(some);
            }
            let next = self.take();
            if self.dice.chance(30) {
                self.commit();
            }
            if next == Next::Finished && to_add == 0 && self.flights.is_empty() {
                let crashes = self.crashes;
                self.commit();
                self.commit();
                if crashes == self.crashes && self.frontier.counters().queued == 0 {
                    break;
                }
            }
            self.pass(next);
        }
        let counters = self.frontier.counters();
        assert_eq!((counters.queued, counters.leases), (0, 0));
        assert_eq!(self.judge.queued(), 0, "a URL was lost");
    }
}
