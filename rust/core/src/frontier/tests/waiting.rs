//! Why hosts wait.

use super::super::*;
use super::seed;
use super::units::Desk;
use crate::outcome::Outcome;

/// A frontier with these hosts, each with its rules known; nothing is due.
fn with_hosts(keys: std::ops::Range<u64>) -> Desk {
    let mut desk = Desk::new(Settings::default());
    for key in keys {
        for page in 1..=2 {
            let url = format!("http://h{key}.test/{page}");
            assert_eq!(desk.add(&[seed(&url, key)]), [Admission::Added]);
        }
    }
    for visit in desk.take().1 {
        desk.report(&visit, Outcome::Gone);
    }
    desk
}

fn reasons(desk: &Desk) -> Vec<(Outcome, u64, String, Micros)> {
    desk.frontier.recount_waits();
    let waits = desk.frontier.waits().into_iter();
    waits
        .map(|wait| (wait.outcome, wait.hosts, wait.host.into(), wait.due))
        .collect()
}

#[test]
fn a_host_without_rules_says_why_it_waits_until_it_is_tried_or_ends() {
    let mut desk = Desk::new(Settings::default());
    desk.add(&[seed("http://a.test/", 1)]);
    let wait = Settings::default().patience(Outcome::ConnectFailed).wait;
    let visit = desk.next();
    assert_eq!(reasons(&desk), []);
    let report = Report::new(Outcome::ConnectFailed, desk.now, desk.now);
    desk.finish(&visit, &report);
    let due = (desk.now + wait).next_multiple_of(SECOND);
    // The gap comes first, and then the wait, which is known by then.
    let (next, ..) = desk.take();
    let Next::NothingDue { until } = next else {
        panic!("{next:?}");
    };
    desk.now = until;
    assert_eq!(desk.take().0, Next::NothingDue { until: due });
    let expected = [(Outcome::ConnectFailed, 1, "a.test".to_owned(), due)];
    assert_eq!(reasons(&desk), expected);
    // Also after a restart.
    desk.commit();
    desk.reopen();
    assert_eq!(reasons(&desk), expected);
    let trouble = |desk: &Desk| {
        let view = desk.frontier.explain(1, &desk.state).unwrap();
        view.unwrap().record.trouble.map(|last| last.outcome)
    };
    assert_eq!(trouble(&desk), Some(Outcome::ConnectFailed));
    let visit = desk.next();
    assert_eq!(reasons(&desk), []);
    // It answers: nothing is left of it.
    desk.report(&visit, Outcome::Fetched);
    assert_eq!(reasons(&desk), []);
    assert_eq!(trouble(&desk), None);
}

#[test]
fn after_the_last_try_nothing_waits() {
    let mut desk = Desk::new(Settings::default());
    desk.add(&[seed("http://a.test/", 1)]);
    loop {
        let (next, visits, _) = desk.take();
        for visit in visits {
            let report = Report::new(Outcome::DnsNotFound, desk.now, desk.now);
            desk.finish(&visit, &report);
        }
        match next {
            Next::NothingDue { until } => desk.now = until,
            Next::Finished => break,
            _ => {}
        }
    }
    assert_eq!(reasons(&desk), []);
    let view = desk.frontier.explain(1, &desk.state).unwrap().unwrap();
    let last = view.record.trouble.map(|last| last.outcome);
    assert_eq!(last, Some(Outcome::DnsNotFound));
}

#[test]
fn the_gap_between_two_visits_is_no_wait() {
    let mut desk = with_hosts(1..3);
    assert_eq!(reasons(&desk), []);
    desk.now += 10 * SECOND;
    let visits = desk.take().1;
    assert_eq!(visits.len(), 2);
    desk.report(&visits[0], Outcome::Fetched);
    // One page failed and the other is ready: the host goes on after its gap.
    desk.report(&visits[1], Outcome::ServerFailed);
    assert_eq!(reasons(&desk), []);
    let wait = Settings::default().policy(Outcome::ServerFailed).wait;
    let due = desk.now + wait;
    desk.now += 2 * SECOND;
    for visit in desk.take().1 {
        desk.report(&visit, Outcome::Fetched);
    }
    // Only what failed is left, and that is what its host waits for.
    let host = visits[1].link.url.host().to_owned();
    assert_eq!(reasons(&desk), [(Outcome::ServerFailed, 1, host, due)]);
}

#[test]
fn reasons_are_counted_with_who_is_first() {
    let mut desk = with_hosts(1..7);
    desk.now += 10 * SECOND;
    let now = desk.now;
    for visit in desk.take().1 {
        let key = visit.link.url.host()[1..2].parse::<u64>().unwrap();
        let mut report = Report::new(Outcome::Throttled, now, now);
        report.response_us = Some(1_000);
        report.wait_us = Some((10 - key) * 100 * SECOND);
        desk.finish(&visit, &report);
    }
    let first = |hosts, key: u64| {
        let due = now + (10 - key) * 100 * SECOND;
        [(Outcome::Throttled, hosts, format!("h{key}.test"), due)]
    };
    assert_eq!(reasons(&desk), first(6, 6));
    // Blocked: it waits for nothing but the operator.
    desk.frontier.block(6, &desk.state).unwrap();
    assert_eq!(reasons(&desk), first(5, 5));
    desk.frontier.unblock(6, &desk.state).unwrap();
    assert_eq!(reasons(&desk), first(6, 6));
    // Another chance ends the wait, and the gap holds.
    desk.frontier.give_chance(6, now, &desk.state).unwrap();
    assert_eq!(reasons(&desk), first(5, 5));
    desk.commit();
    assert_eq!(desk.frontier.drop_range(5, 5, &desk.state).unwrap(), 0);
    assert_eq!(reasons(&desk), first(4, 4));
}

#[test]
fn a_host_set_aside_by_an_operator_did_not_fail() {
    let mut desk = with_hosts(1..2);
    let now = desk.now;
    desk.frontier.set_aside(1, now, HOUR, &desk.state).unwrap();
    assert_eq!(reasons(&desk), []);
}

#[test]
fn a_url_named_again_ends_no_wait_that_its_host_asked_for() {
    let mut desk = with_hosts(1..2);
    desk.now += 10 * SECOND;
    let now = desk.now;
    let visits = desk.take().1;
    let mut report = Report::new(Outcome::Throttled, now, now);
    report.response_us = Some(1_000);
    report.wait_us = Some(100 * SECOND);
    desk.finish(&visits[0], &report);
    let waits = reasons(&desk);
    assert_eq!(waits.len(), 1);
    desk.frontier.let_back(1, now, &desk.state).unwrap();
    assert_eq!(reasons(&desk), waits, "others of it are queued");
    desk.now += SECOND;
    assert!(desk.take().1.is_empty());
}

#[test]
fn a_host_that_never_answered_is_tried_at_once_when_a_url_of_it_is_named_again() {
    let mut desk = Desk::new(Settings::default());
    desk.add(&[seed("http://a.test/", 1)]);
    for _ in 0..20 {
        for visit in desk.take().1 {
            let report = Report::new(Outcome::ConnectFailed, desk.now, desk.now);
            desk.finish(&visit, &report);
        }
        desk.now += HOUR;
    }
    desk.commit();
    let again = seed("http://a.test/", 1);
    desk.frontier.let_back(1, desk.now, &desk.state).unwrap();
    assert_eq!(desk.add(&[again]), [Admission::Added]);
    assert_eq!(desk.take().1.len(), 1, "its robots file, at once");
}
