//! One behaviour at a time.

use super::super::*;
use super::toy_rules;
use crate::outcome::Outcome;
use crate::state::memory::MemoryState;
use crate::state::{State, Writes};

const START: Micros = 1_000_000 * SECOND;

struct Desk {
    state: MemoryState,
    frontier: Frontier,
    writes: Writes,
    now: Micros,
}

impl Desk {
    fn new(settings: Settings) -> Desk {
        let state = MemoryState::default();
        let mut writes = Writes::default();
        let frontier = Frontier::open(settings, toy_rules(), &state, START, &mut writes).unwrap();
        Desk {
            state,
            frontier,
            writes,
            now: START,
        }
    }

    fn add(&mut self, items: &[Fresh<'_>]) -> Vec<Admission> {
        let mut out = Vec::new();
        let (state, writes) = (&self.state, &mut self.writes);
        self.frontier
            .add(self.now, items, state, writes, &mut out)
            .unwrap();
        out
    }

    fn urls(&mut self, urls: &[&str]) {
        for url in urls {
            let host = url.split('/').nth(2).unwrap();
            let key = host.bytes().fold(7, |key, byte| key * 31 + u64::from(byte));
            assert_eq!(self.add(&[Fresh::new(url, host, key)]), [Admission::Added]);
        }
    }

    fn take(&mut self) -> (Next, Vec<Visit>, Vec<Refusal>) {
        let (mut visits, mut refusals) = (Vec::new(), Vec::new());
        let next = self
            .frontier
            .take(
                self.now,
                100,
                &self.state,
                &mut self.writes,
                &mut visits,
                &mut refusals,
            )
            .unwrap();
        (next, visits, refusals)
    }

    fn report(&mut self, visit: &Visit, outcome: Outcome) -> Verdict {
        let mut report = Report::new(outcome, self.now, self.now);
        report.response_us = Some(1_000);
        if visit.purpose == Purpose::Robots {
            report.robots = Some(RobotsAnswer::AllowAll);
        }
        self.finish(visit, &report)
    }

    fn finish(&mut self, visit: &Visit, report: &Report) -> Verdict {
        self.frontier
            .finish(self.now, visit.lease, report, &mut self.writes)
    }

    /// Takes the one visit that must be due, waiting as long as the frontier says.
    fn next(&mut self) -> Visit {
        loop {
            let (next, visits, _) = self.take();
            match next {
                Next::Taken(1) => return visits.into_iter().next().unwrap(),
                Next::NothingDue { until } => self.now = until,
                other => panic!("{other:?}"),
            }
        }
    }

    /// Fetches the robots rules of the only host.
    fn robots(&mut self, text: &str) {
        let visit = self.next();
        assert_eq!(visit.purpose, Purpose::Robots);
        let mut report = Report::new(Outcome::Fetched, self.now, self.now);
        report.response_us = Some(1_000);
        report.robots = Some(RobotsAnswer::Rules(text.into()));
        assert_eq!(self.finish(&visit, &report), Verdict::RobotsKnown);
    }

    fn commit(&mut self) {
        let mut writes = std::mem::take(&mut self.writes);
        let batch = self.frontier.seal(&mut writes);
        self.state.apply(writes, true).unwrap();
        self.frontier.applied(batch);
    }
}

#[test]
fn each_answer_has_one_meaning() {
    let mut desk = Desk::new(Settings::default());
    assert_eq!(desk.take().0, Next::Finished);
    desk.urls(&["http://a.test/1"]);
    let (next, visits, _) = desk.take();
    assert_eq!(next, Next::Taken(1));
    assert_eq!(visits[0].url, "http://a.test/robots.txt");
    assert_eq!(desk.take().0, Next::Busy);
    desk.report(&visits[0], Outcome::Fetched);
    let until = desk.now + SECOND;
    assert_eq!(desk.take().0, Next::NothingDue { until });
    let visit = desk.next();
    assert_eq!((&*visit.url, desk.now), ("http://a.test/1", until));
    assert_eq!(desk.report(&visit, Outcome::Fetched), Verdict::Done);
    assert_eq!(desk.take().0, Next::Finished);
}

#[test]
fn forbidden_urls_cost_no_visit() {
    let mut desk = Desk::new(Settings::default());
    desk.urls(&[
        "http://a.test/no/1",
        "http://a.test/no/2",
        "http://a.test/yes",
    ]);
    desk.robots("deny /no/\ndelay 9");
    let begin = desk.now;
    let visit = desk.next();
    assert_eq!(&*visit.url, "http://a.test/yes");
    assert_eq!(desk.now, begin + 9 * SECOND);
    assert_eq!(desk.frontier.counters().queued, 1);
}

#[test]
fn unreachable_rules_hold_all_urls_and_end_them_at_last() {
    let settings = Settings {
        robots_give_up: HOUR,
        ..Settings::default()
    };
    let mut desk = Desk::new(settings);
    desk.urls(&["http://a.test/1", "http://a.test/2"]);
    let mut tried = 0;
    let refusals = loop {
        let (next, visits, refusals) = desk.take();
        for visit in visits {
            assert_eq!(visit.purpose, Purpose::Robots);
            tried += 1;
            let mut report = Report::new(Outcome::ServerFailed, desk.now, desk.now);
            report.response_us = Some(1_000);
            desk.finish(&visit, &report);
        }
        if let Next::NothingDue { until } = next {
            desk.now = until.max(desk.now);
        }
        if !refusals.is_empty() {
            break refusals;
        }
    };
    assert_eq!(refusals.len(), 2);
    assert_eq!(refusals[0].outcome, Outcome::RobotsUnreachable);
    assert!(tried > 3 && desk.now >= START + HOUR);
}

#[test]
fn retry_after_stops_the_host_and_costs_no_try() {
    let mut desk = Desk::new(Settings::default());
    desk.urls(&["http://a.test/1"]);
    desk.robots("");
    let visit = desk.next();
    let mut report = Report::new(Outcome::Throttled, desk.now, desk.now);
    report.response_us = Some(1_000);
    report.wait_us = Some(500 * SECOND);
    let until = desk.now + 500 * SECOND;
    assert_eq!(desk.finish(&visit, &report), Verdict::Returned { until });
    let again = desk.next();
    assert_eq!((again.tries, desk.now), (0, until));
}

#[test]
fn a_dead_host_is_set_aside_then_given_up_and_all_is_told() {
    let mut desk = Desk::new(Settings {
        slice: 3,
        ..Settings::default()
    });
    let urls: Vec<String> = (0..30).map(|n| format!("http://a.test/{n}")).collect();
    desk.urls(&urls.iter().map(String::as_str).collect::<Vec<_>>());
    let (mut asides, mut left, mut given_up) = (0, 0, false);
    loop {
        let (next, visits, refusals) = desk.take();
        assert!(refusals.len() <= 3, "in slices");
        left += refusals.len();
        for visit in visits {
            let report = Report::new(Outcome::ConnectFailed, desk.now, desk.now);
            let before = desk.frontier.counters().queued;
            match desk.finish(&visit, &report) {
                Verdict::HostSetAside { until } => {
                    asides += 1;
                    assert!(until >= desk.now + HOUR);
                    assert_eq!(desk.frontier.counters().hosts_set_aside, 1);
                }
                Verdict::HostGivenUp(outcome) => {
                    given_up = true;
                    assert_eq!(outcome, Outcome::ConnectFailed);
                    let late = Fresh::new("http://a.test/late", "a.test", visit.host_key);
                    assert_eq!(desk.add(&[late]), [Admission::Refused(outcome)]);
                }
                _ => {}
            }
            left += (before - desk.frontier.counters().queued) as usize;
        }
        match next {
            Next::NothingDue { until } => desk.now = until,
            Next::Finished => break,
            _ => {}
        }
    }
    assert_eq!((asides, left, given_up), (3, 30, true));
}

#[test]
fn limits_refuse_with_an_outcome() {
    let limits = Limits {
        depth: Some(5),
        depth_dynamic: Some(2),
        queued_per_host: Some(2),
        ..Limits::default()
    };
    let mut desk = Desk::new(Settings {
        limits,
        ..Settings::default()
    });
    let item = |url, depth| Fresh {
        depth,
        ..Fresh::new(url, "a.test", 1)
    };
    let refused = Admission::Refused(Outcome::OverQuota);
    let answers = desk.add(&[
        item("http://a.test/1", 6),
        item("http://a.test/?2", 3),
        item("http://a.test/3", 5),
        item("http://a.test/?4", 2),
        item("http://a.test/5", 0),
    ]);
    let added = Admission::Added;
    assert_eq!(answers, [refused, refused, added, added, refused]);
    let other = Fresh::new("http://b.test/", "b.test", 1);
    let answers = desk.add(&[other]);
    assert_eq!(
        answers,
        [Admission::Refused(Outcome::UrlRefused)],
        "one key, two hosts"
    );
}

#[test]
fn the_limit_of_pages_counts_leases() {
    let limits = Limits {
        pages: Some(1),
        ..Limits::default()
    };
    let mut desk = Desk::new(Settings {
        limits,
        ip_gap: 0,
        ..Settings::default()
    });
    desk.urls(&["http://a.test/1", "http://b.test/1"]);
    for visit in desk.take().1 {
        desk.report(&visit, Outcome::Fetched);
    }
    desk.now += 10 * SECOND;
    let (next, visits, _) = desk.take();
    assert_eq!(next, Next::Taken(1));
    assert_eq!(desk.take().0, Next::Busy);
    desk.report(&visits[0], Outcome::Fetched);
    assert_eq!(desk.take().0, Next::LimitReached);
    assert_eq!(desk.frontier.counters().queued, 1);
}

#[test]
fn blocked_hosts_keep_their_urls_and_do_not_hold_the_end() {
    let mut desk = Desk::new(Settings::default());
    desk.add(&[Fresh::new("http://a.test/1", "a.test", 1)]);
    assert!(desk.frontier.block(1, &desk.state).unwrap());
    assert!(!desk.frontier.block(2, &desk.state).unwrap());
    assert_eq!(desk.take().0, Next::Finished);
    assert_eq!(desk.frontier.counters().hosts_blocked, 1);
    assert!(desk.frontier.unblock(1, &desk.state).unwrap());
    assert_eq!(desk.take().0, Next::Taken(1));
}

#[test]
fn a_longer_gap_holds_at_once() {
    let mut desk = Desk::new(Settings::default());
    desk.urls(&["http://a.test/1"]);
    desk.robots("");
    desk.frontier.set_settings(Settings {
        gap: 60 * SECOND,
        ..Settings::default()
    });
    let before = desk.now;
    desk.next();
    assert_eq!(desk.now, before + 60 * SECOND);
}

#[test]
fn a_range_is_handed_over_whole() {
    let mut desk = Desk::new(Settings::default());
    desk.add(&[
        Fresh::new("http://a.test/1", "a.test", 10),
        Fresh::new("http://b.test/1", "b.test", 20),
    ]);
    let way = desk.frontier.drop_range(0, 15, &desk.state).unwrap();
    assert_eq!(way, 1, "not applied yet");
    desk.commit();
    assert_eq!(desk.frontier.drop_range(0, 15, &desk.state).unwrap(), 0);
    let counters = desk.frontier.counters();
    assert_eq!((counters.queued, counters.hosts_known), (1, 1));
    desk.frontier.load_range(0, 15, &desk.state).unwrap();
    let counters = desk.frontier.counters();
    assert_eq!((counters.queued, counters.hosts_known), (2, 2));
    let views = desk.frontier.hosts(0, 9, &desk.state).unwrap();
    assert_eq!(views.len(), 2);
    assert_eq!(&*views[1].record.name, "b.test");
}

#[test]
fn a_newer_or_broken_state_is_refused() {
    for value in [vec![99, 0], vec![], vec![1, 2]] {
        let state = MemoryState::default();
        let mut writes = Writes::default();
        writes.put(crate::state::Space::Meta, b"frontier".to_vec(), value);
        state.apply(writes, true).unwrap();
        let mut writes = Writes::default();
        let opened = Frontier::open(Settings::default(), toy_rules(), &state, 1, &mut writes);
        assert!(matches!(opened, Err(crate::state::StateError::Format(_))));
        assert!(writes.list.is_empty());
    }
}
