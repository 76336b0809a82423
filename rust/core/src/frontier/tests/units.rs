//! One behaviour at a time.

use super::super::robots::refusal;
use super::super::*;
use super::{seed, toy_rules};
use crate::links::Link;
use crate::outcome::Outcome;
use crate::store::state::memory::MemoryState;
use crate::store::state::{State, Writes};

const START: Micros = 1_000_000 * SECOND;

pub(super) struct Desk {
    pub state: MemoryState,
    pub frontier: Frontier,
    writes: Writes,
    pub now: Micros,
    pub under_way: Vec<Visit>,
}

impl Desk {
    pub fn new(settings: Settings) -> Desk {
        let state = MemoryState::default();
        let mut writes = Writes::default();
        let frontier = Frontier::open(settings, toy_rules(), &state, START, &mut writes).unwrap();
        Desk {
            state,
            frontier,
            writes,
            now: START,
            under_way: Vec::new(),
        }
    }

    pub fn add(&mut self, items: &[Link]) -> Vec<Admission> {
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
            assert_eq!(self.add(&[seed(url, key)]), [Admission::Added]);
        }
    }

    pub fn take(&mut self) -> (Next, Vec<Visit>, Vec<Refusal>) {
        self.take_up_to(100)
    }

    pub fn take_up_to(&mut self, most: usize) -> (Next, Vec<Visit>, Vec<Refusal>) {
        let (mut visits, mut refusals) = (Vec::new(), Vec::new());
        let next = self
            .frontier
            .take(
                self.now,
                most,
                &self.state,
                &mut self.writes,
                &mut visits,
                &mut refusals,
            )
            .unwrap();
        (next, visits, refusals)
    }

    pub fn report(&mut self, visit: &Visit, outcome: Outcome) -> Verdict {
        let outcome = match visit.purpose {
            Purpose::Robots => Outcome::Gone,
            Purpose::Page | Purpose::Sitemap => outcome,
        };
        let mut report = Report::new(outcome, self.now, self.now);
        report.response_us = Some(1_000);
        self.finish(visit, &report)
    }

    pub fn finish(&mut self, visit: &Visit, report: &Report) -> Verdict {
        self.frontier
            .finish(self.now, visit.lease, report, &mut self.writes)
    }

    /// Takes the one visit that must be due, waiting as long as the frontier says.
    pub fn next(&mut self) -> Visit {
        loop {
            let (next, visits, _) = self.take();
            match next {
                Next::Taken(1) => return visits.into_iter().next().unwrap(),
                Next::NothingDue { until } => self.now = until,
                other => panic!("{other:?}"),
            }
        }
    }

    pub fn set_policy(&mut self, key: u64, policy: HostPolicy) {
        let known = self.frontier.set_policy(key, Some(policy), &self.state);
        assert!(known.unwrap());
    }

    /// When a host's next visit may start.
    pub fn due(&self, key: u64) -> Micros {
        let view = self.frontier.explain(key, &self.state).unwrap();
        view.unwrap().due
    }

    /// Another process goes on with what is committed.
    pub fn reopen(&mut self) {
        let settings = self.frontier.settings().clone();
        let mut writes = Writes::default();
        let opened = Frontier::open(settings, toy_rules(), &self.state, self.now, &mut writes);
        self.frontier = opened.unwrap();
        self.state.apply(writes, true).unwrap();
        self.writes = Writes::default();
    }

    /// Fetches the robots rules of the only host.
    pub fn robots(&mut self, text: &str) {
        let visit = self.next();
        assert_eq!(visit.purpose, Purpose::Robots);
        let mut report = Report::new(Outcome::Fetched, self.now, self.now);
        report.response_us = Some(1_000);
        report.robots = text.into();
        assert_eq!(self.finish(&visit, &report), Verdict::RobotsKnown);
    }

    pub fn commit(&mut self) {
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
    assert_eq!(visits[0].link.url.as_str(), "http://a.test/robots.txt");
    assert_eq!(desk.take().0, Next::Busy);
    desk.report(&visits[0], Outcome::Fetched);
    let until = desk.now + SECOND;
    assert_eq!(desk.take().0, Next::NothingDue { until });
    let visit = desk.next();
    assert_eq!(visit.link.url.as_str(), "http://a.test/1");
    assert_eq!(desk.now, until);
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
    assert_eq!(visit.link.url.as_str(), "http://a.test/yes");
    assert_eq!(desk.now, begin + 9 * SECOND);
    assert_eq!(desk.frontier.counters().queued, 1);
}

/// Runs until nothing is queued; every robots visit ends so. Gives visits made and refusals.
fn ends_with(desk: &mut Desk, outcome: Outcome) -> (usize, Vec<Outcome>) {
    let (mut made, mut refused) = (0, Vec::new());
    loop {
        let (next, visits, refusals) = desk.take();
        refused.extend(refusals.iter().map(|refusal| refusal.outcome));
        for visit in visits {
            assert_eq!(visit.purpose, Purpose::Robots, "{}", visit.link.url);
            made += 1;
            let report = Report::new(outcome, desk.now, desk.now);
            desk.finish(&visit, &report);
        }
        match next {
            Next::NothingDue { until } => desk.now = until,
            Next::Finished => return (made, refused),
            _ => {}
        }
    }
}

#[test]
fn tries_and_waits_are_those_of_the_settings() {
    let mut settings = Settings::default();
    settings.unanswered[Outcome::ConnectFailed as usize] = Patience {
        tries: 4,
        wait: SECOND,
        growth: 10.0,
    };
    let mut desk = Desk::new(settings);
    desk.urls(&["http://a.test/"]);
    let (made, _) = ends_with(&mut desk, Outcome::ConnectFailed);
    // 1 + 10 + 100 seconds, each rounded up.
    assert_eq!(made, 4);
    assert!((111..=114).contains(&((desk.now - START) / SECOND)));
    for (patience, expected) in [(0, true), (1, false)] {
        let mut desk = Desk::new(Settings {
            failures_before_wait: patience,
            ..Settings::default()
        });
        desk.urls(&["http://a.test/1", "http://a.test/2"]);
        desk.robots("");
        let visit = desk.next();
        let report = Report::new(Outcome::TimedOut, desk.now, desk.now);
        desk.finish(&visit, &report);
        let (next, _, _) = desk.take();
        let Next::NothingDue { until } = next else {
            panic!("{next:?}");
        };
        let wait = Settings::default().policy(Outcome::TimedOut).wait;
        assert_eq!(until >= desk.now + wait, expected, "{patience}");
    }
}

#[test]
fn a_host_that_never_gave_its_rules_ends_in_stated_time() {
    use Outcome::*;
    // Tries, and the longest time to the end, with the gap of a second.
    for (outcome, tries, seconds) in [
        (ForbiddenAddress, 1, 1),
        (UrlRefused, 1, 1),
        (DnsNotFound, 2, 7),
        (TlsFailed, 2, 7),
        (DnsFailed, 3, 302),
        (ConnectFailed, 3, 302),
        (TimedOut, 3, 302),
        (ServerFailed, 6, 31 * 60 + 5),
    ] {
        let end = refusal(outcome);
        let mut desk = Desk::new(Settings::default());
        let urls: Vec<String> = (0..500).map(|n| format!("http://a.test/{n}")).collect();
        desk.urls(&urls.iter().map(String::as_str).collect::<Vec<_>>());
        let (made, refused) = ends_with(&mut desk, outcome);
        assert_eq!((made, refused.len()), (tries, 500), "{outcome:?}");
        assert!(refused.iter().all(|refused| *refused == end));
        let took = (desk.now - START) / SECOND;
        assert!(took <= seconds, "{outcome:?}: {took} s");
        // What is found later the same day costs no visit, and is still told.
        desk.now += HOUR;
        desk.urls(&["http://a.test/late"]);
        assert_eq!(ends_with(&mut desk, outcome), (0, vec![end]));
        // After a day it is asked again, and may have come to life.
        desk.now += DAY;
        desk.urls(&["http://a.test/next-day"]);
        desk.robots("");
        assert_eq!(desk.next().link.url.as_str(), "http://a.test/next-day");
    }
}

#[test]
fn one_scheme_that_nobody_answers_leaves_the_other_alone() {
    let mut desk = Desk::new(Settings::default());
    desk.urls(&["https://a.test/1"]);
    assert_eq!(
        ends_with(&mut desk, Outcome::TlsFailed).1,
        [Outcome::TlsFailed]
    );
    desk.urls(&["http://a.test/2", "https://a.test/3"]);
    desk.robots("");
    let visit = desk.next();
    assert_eq!(visit.link.url.as_str(), "http://a.test/2");
    desk.report(&visit, Outcome::Fetched);
    assert_eq!(
        ends_with(&mut desk, Outcome::TlsFailed),
        (0, vec![Outcome::TlsFailed])
    );
}

#[test]
fn a_host_that_answered_before_is_waited_for() {
    let mut desk = Desk::new(Settings::default());
    desk.urls(&["http://a.test/1"]);
    desk.robots("");
    desk.now += 2 * DAY;
    let (made, refused) = ends_with(&mut desk, Outcome::ConnectFailed);
    assert_eq!(refused, [Outcome::RobotsUnreachable]);
    assert!(made > 3 && desk.now >= START + 2 * DAY + Settings::default().robots_give_up);
}

#[test]
fn a_visit_on_behalf_of_another_host_keeps_the_clock() {
    let mut desk = Desk::new(Settings::default());
    desk.urls(&["http://b.test/1"]);
    desk.robots("delay 9");
    let visited = desk.now;
    desk.urls(&["http://b.test/2"]);
    let key = "b.test"
        .bytes()
        .fold(7, |key: u64, byte| key * 31 + u64::from(byte));
    // A second after its own visit: it has to wait for the rest of the gap, and so has the next.
    desk.now += SECOND;
    let at = desk.frontier.visit_elsewhere(desk.now, key);
    assert_eq!(at, visited + 9 * SECOND);
    desk.next();
    assert_eq!(desk.now, visited + 18 * SECOND);
    assert_eq!(
        desk.frontier.visit_elsewhere(desk.now, 99),
        desk.now,
        "unknown"
    );
}

#[test]
fn a_visit_given_back_counts_for_the_gap_if_it_may_have_been_sent() {
    for (sent, wait) in [(false, 0), (true, SECOND)] {
        let mut desk = Desk::new(Settings::default());
        desk.urls(&["http://a.test/1"]);
        desk.robots("");
        let visit = desk.next();
        desk.now += 3 * SECOND;
        let ended = desk.now;
        let mut report = Report::new(Outcome::Deferred, ended, ended);
        report.ip = Some("10.0.0.1".parse().unwrap());
        report.sent = sent;
        desk.finish(&visit, &report);
        let again = desk.next();
        assert_eq!(
            (again.link.url.as_str(), again.tries, desk.now),
            (visit.link.url.as_str(), 0, ended + wait)
        );
    }
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
    assert_eq!((again.tries, desk.now), (0, until + 1));
}

#[test]
fn a_dead_host_is_set_aside_then_given_up_and_all_is_told() {
    let mut desk = Desk::new(Settings {
        slice: 3,
        ..Settings::default()
    });
    let urls: Vec<String> = (0..30).map(|n| format!("http://a.test/{n}")).collect();
    desk.urls(&urls.iter().map(String::as_str).collect::<Vec<_>>());
    // It answered once: a host that was there is waited for.
    desk.robots("");
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
                    let late = seed("http://a.test/late", visit.link.url.host_key());
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
    let item = |url, depth| Link {
        depth,
        ..seed(url, 1)
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
    let other = seed("http://b.test/", 1);
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
    desk.add(&[seed("http://a.test/1", 1)]);
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
    desk.add(&[seed("http://a.test/1", 10), seed("http://b.test/1", 20)]);
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
        writes.put(
            crate::store::state::Space::Meta,
            b"frontier".to_vec(),
            value,
        );
        state.apply(writes, true).unwrap();
        let mut writes = Writes::default();
        let opened = Frontier::open(Settings::default(), toy_rules(), &state, 1, &mut writes);
        assert!(matches!(
            opened,
            Err(crate::store::state::StateError::Format(_))
        ));
        assert!(writes.list.is_empty());
    }
}

#[test]
fn connections_without_a_gap_work_side_by_side() {
    for (robots, at_once) in [("", 8), ("delay 1", 1)] {
        let mut desk = Desk::new(Settings {
            gap: 0,
            ip_gap: 0,
            per_host: 8,
            per_ip: 8,
            ..Settings::default()
        });
        let urls: Vec<String> = (0..30).map(|n| format!("http://a.test/{n}")).collect();
        desk.urls(&urls.iter().map(String::as_str).collect::<Vec<_>>());
        desk.robots(robots);
        desk.now += SECOND;
        let (_, mut open, _) = desk.take();
        assert_eq!(open.len(), at_once, "{robots:?}");
        if at_once == 1 {
            continue;
        }
        // One that ends after a second is followed at once by another: nobody rests.
        for _ in 0..22 {
            desk.now += SECOND;
            let visit = open.remove(0);
            let mut report = Report::new(Outcome::Fetched, desk.now - SECOND, desk.now);
            report.response_us = Some(SECOND);
            desk.finish(&visit, &report);
            open.extend(desk.take().1);
            assert_eq!(open.len(), 8);
        }
    }
}

/// A host that answers 429 to what comes sooner than `limit` after the last request that it heard.
struct Strict {
    limit: Micros,
    retry_after: Micros,
    heard: Micros,
    not_before: Micros,
    throttled: usize,
}

impl Strict {
    fn report(&mut self, now: Micros) -> Report {
        assert!(now >= self.not_before, "came before its Retry-After");
        let early = now < self.heard + self.limit;
        self.heard = now;
        let mut report = Report::new(Outcome::Fetched, now, now);
        report.response_us = Some(1_000);
        if early {
            self.throttled += 1;
            self.not_before = now + self.retry_after;
            report.outcome = Outcome::Throttled;
            report.wait_us = Some(self.retry_after);
        }
        report
    }
}

#[test]
fn after_retry_after_the_gap_is_wider_and_narrows_slowly() {
    let mut desk = Desk::new(Settings {
        gap: 0,
        ip_gap: 0,
        ..Settings::default()
    });
    let urls: Vec<String> = (0..600).map(|n| format!("http://a.test/{n}")).collect();
    desk.urls(&urls.iter().map(String::as_str).collect::<Vec<_>>());
    desk.robots("");
    let mut host = Strict {
        limit: 3 * SECOND,
        retry_after: 2 * SECOND,
        heard: desk.now,
        not_before: 0,
        throttled: 0,
    };
    let (mut fetched, mut first_wait) = (0, None);
    while fetched < 600 {
        let visit = desk.next();
        let report = host.report(desk.now);
        desk.finish(&visit, &report);
        fetched += usize::from(report.outcome == Outcome::Fetched);
        if report.outcome == Outcome::Throttled && first_wait.is_none() {
            let begun = desk.now;
            let next = desk.next();
            first_wait = Some(desk.now - begun);
            let report = host.report(desk.now);
            desk.finish(&next, &report);
            fetched += usize::from(report.outcome == Outcome::Fetched);
        }
    }
    assert_eq!(first_wait, Some(2 * SECOND), "exactly what was asked for");
    // A stretch has 20 answers, so one in 21 at the worst, besides the first steps.
    assert!(host.throttled <= 36, "{}", host.throttled);
    assert_eq!(desk.take().0, Next::Finished);
}

#[test]
fn one_page_that_is_always_refused_does_not_take_the_others_with_it() {
    let mut desk = Desk::new(Settings::default());
    let urls: Vec<String> = (0..40).map(|n| format!("http://a.test/{n}")).collect();
    desk.urls(&urls.iter().map(String::as_str).collect::<Vec<_>>());
    desk.robots("");
    let (mut fetched, mut refused) = (0, 0);
    while fetched < 39 {
        let visit = desk.next();
        let bad = visit.link.url.as_str().ends_with("/0");
        let outcome = if bad {
            Outcome::Throttled
        } else {
            Outcome::Fetched
        };
        desk.report(&visit, outcome);
        refused += usize::from(bad);
        fetched += usize::from(!bad);
    }
    assert!(
        refused > 0 && desk.now < START + HOUR,
        "the host was set aside"
    );
}

#[test]
fn connections_that_are_throttled_together_are_one_throttling() {
    let mut desk = Desk::new(Settings {
        gap: 0,
        ip_gap: 0,
        per_host: 8,
        per_ip: 8,
        ..Settings::default()
    });
    let urls: Vec<String> = (0..9).map(|n| format!("http://a.test/{n}")).collect();
    desk.urls(&urls.iter().map(String::as_str).collect::<Vec<_>>());
    desk.robots("");
    let (_, open, _) = desk.take();
    assert_eq!(open.len(), 8);
    desk.now += SECOND;
    for visit in &open {
        desk.now += 1_000;
        let mut report = Report::new(Outcome::Throttled, desk.now, desk.now);
        report.response_us = Some(1_000);
        report.wait_us = Some(5 * SECOND);
        let verdict = desk.finish(visit, &report);
        assert!(matches!(verdict, Verdict::Returned { .. }), "{verdict:?}");
    }
    let key = open[0].link.url.host_key();
    let view = desk.frontier.explain(key, &desk.state).unwrap().unwrap();
    assert_eq!((view.record.failures, view.gap), (1, SECOND / 4));
    assert_eq!(view.gap_source, GapSource::Throttled);
    assert_eq!(view.due, desk.now + 5 * SECOND);
}

#[test]
fn a_robots_file_is_asked_for_again_when_the_server_says() {
    let mut desk = Desk::new(Settings::default());
    desk.urls(&["http://a.test/1"]);
    let visit = desk.next();
    assert_eq!(visit.purpose, Purpose::Robots);
    let mut report = Report::new(Outcome::Throttled, desk.now, desk.now);
    report.response_us = Some(1_000);
    report.wait_us = Some(7 * SECOND);
    desk.finish(&visit, &report);
    let asked = desk.now;
    desk.robots("");
    assert_eq!(desk.now, asked + 7 * SECOND);
}

#[test]
fn what_a_host_added_to_its_gap_survives_a_restart() {
    let mut desk = Desk::new(Settings::default());
    desk.urls(&["http://a.test/1", "http://a.test/2"]);
    desk.robots("");
    let visit = desk.next();
    let mut report = Report::new(Outcome::Throttled, desk.now, desk.now);
    report.wait_us = Some(0);
    desk.finish(&visit, &report);
    desk.commit();
    desk.reopen();
    let opened = desk.now;
    desk.next();
    assert_eq!(desk.now, opened + 2 * SECOND);
}
