//! Priority among hosts that are due: the score decides who is visited, and nobody starves.

use proptest::prelude::*;

use super::super::*;
use super::units::Desk;
use super::{Dice, seed};
use crate::links::{Link, Score};
use crate::outcome::Outcome;

fn url(host: u64, number: u64) -> String {
    format!("http://h{host}.test/{number}")
}

fn scored(host: u64, number: u64, band: u64) -> Link {
    Link {
        score: Some(Score::new(1.0 - band as f32 / 64.0)),
        ..seed(&url(host, number), host)
    }
}

fn settings() -> Settings {
    Settings {
        ip_gap: 0,
        response_factor: 0.0,
        ..Settings::default()
    }
}

/// A desk whose hosts `0..hosts` all know their robots rules and are due, by one URL each.
fn all_due(settings: Settings, bands: &[u64]) -> Desk {
    let mut desk = Desk::new(settings);
    for (host, band) in bands.iter().enumerate() {
        desk.add(&[scored(host as u64, 0, *band)]);
    }
    while desk.frontier.counters().leases < bands.len() as u64 {
        let (_, visits, _) = desk.take();
        assert!(!visits.is_empty());
        desk.under_way.extend(visits);
    }
    for visit in std::mem::take(&mut desk.under_way) {
        assert_eq!(visit.purpose, Purpose::Robots);
        desk.report(&visit, Outcome::Fetched);
    }
    desk.now += 10 * SECOND;
    desk
}

fn one(desk: &mut Desk) -> Option<Visit> {
    desk.take_up_to(1).1.pop()
}

fn band_of(visit: &Visit) -> u8 {
    visit.link.score.unwrap().band()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_better_band_goes_first(bands in proptest::collection::vec(0_u64..64, 1..60), restart: bool, small: bool) {
        let settings = Settings {
            heads_in_ram: if small { 100 } else { 1 << 20 },
            ..settings()
        };
        let mut desk = all_due(settings, &bands);
        desk.commit();
        if restart {
            desk.reopen();
            desk.now += 10 * SECOND;
        }
        let mut served = Vec::new();
        while served.len() < bands.len() {
            served.extend(one(&mut desk));
        }
        let order: Vec<u8> = served.iter().map(band_of).collect();
        prop_assert!(order.is_sorted(), "{:?}", order);
    }

    /// More hosts than there is room for, good ones with work without end. Every visit is judged:
    /// nobody who waits had a better rank, so nobody who fell due later by more than the penalties
    /// differ goes first; and the longest wait is within the bound.
    #[test]
    fn nobody_starves(dice: u64, hosts in 2_u64..40, bands in 1_u64..64) {
        let mut dice = Dice(dice);
        let settings = Settings { gap: 2 * SECOND, band_wait: SECOND, ..settings() };
        let band: Vec<u64> = (0..hosts).map(|_| dice.below(bands)).collect();
        let weight: Vec<f64> = (0..hosts).map(|_| [0.25, 1.0, 1.0, 4.0][dice.below(4) as usize]).collect();
        let mut desk = all_due(settings.clone(), &band);
        for (host, weight) in weight.iter().enumerate() {
            let policy = HostPolicy { weight: *weight as f32, ..HostPolicy::default() };
            desk.set_policy(host as u64, policy);
        }
        let penalty = |host: usize| ((band[host] + 1) as f64 * SECOND as f64 / weight[host]) as u64;
        // When each host fell due for the visit that it waits for.
        let first = desk.now;
        let mut due: Vec<Micros> = (0..hosts).map(|host| desk.due(host)).collect();
        let (mut longest, mut made) = (0, hosts);
        for _ in 0..600 {
            desk.now += SECOND;
            let Some(visit) = one(&mut desk) else { continue };
            let host = visit.link.url.host_key() as usize;
            for other in 0..hosts as usize {
                if due[other] <= desk.now {
                    prop_assert!(
                        due[host] + penalty(host) <= due[other] + penalty(other),
                        "{} is visited before {}", host, other
                    );
                }
            }
            longest = longest.max(desk.now - due[host].max(first));
            made += 1;
            desk.add(&[scored(host as u64, made, band[host])]);
            desk.report(&visit, Outcome::Fetched);
            due[host] = desk.due(host as u64);
        }
        // Whoever fell due at t is served before all that fall due after t + its penalty, and at that
        // moment no more than all others can still be before it, a second each.
        let worst = (0..hosts as usize).map(penalty).max().unwrap();
        let bound = worst + (hosts + 1) * SECOND;
        prop_assert!(longest <= bound, "waited {} us, bound {}", longest, bound);
        for other in due {
            prop_assert!(desk.now.saturating_sub(other.max(first)) <= bound, "somebody still waits");
        }
    }

    #[test]
    fn a_line_is_served_by_rank(bands in proptest::collection::vec(0_u64..64, 2..30)) {
        // All hosts are one address, so each waits for it in its line.
        let settings = Settings { ip_gap: SECOND, gap: 0, ..settings() };
        let mut desk = Desk::new(settings);
        let ip = std::net::IpAddr::from([10, 0, 0, 1]);
        for (host, band) in bands.iter().enumerate() {
            desk.add(&[scored(host as u64, 0, *band)]);
        }
        let robots = desk.take().1;
        prop_assert_eq!(robots.len(), bands.len());
        let mut report = Report::new(Outcome::Fetched, desk.now, desk.now);
        report.ip = Some(ip);
        report.response_us = Some(1_000);
        report.outcome = Outcome::Gone;
        for visit in robots {
            desk.finish(&visit, &report);
        }
        let mut order = Vec::new();
        while order.len() < bands.len() {
            let (next, visits, _) = desk.take();
            prop_assert!(visits.len() <= 1, "one address");
            for visit in visits {
                order.push(band_of(&visit));
                desk.report(&visit, Outcome::Fetched);
            }
            if let Next::NothingDue { until } = next {
                desk.now = until;
            }
        }
        prop_assert!(order.is_sorted(), "{:?}", order);
    }
}

#[test]
fn a_better_link_moves_its_host_forward() {
    let mut desk = all_due(settings(), &[20, 30, 40]);
    // They fall due, and stand in the heap of those that are.
    assert_eq!(one(&mut desk).map(|visit| band_of(&visit)), Some(20));
    desk.add(&[scored(2, 1, 5)]);
    let bands: Vec<u8> = (0..2).map(|_| band_of(&one(&mut desk).unwrap())).collect();
    assert_eq!(bands, [5, 30]);
}

#[test]
fn a_budget_holds_a_host_and_not_the_end() {
    let mut desk = all_due(settings(), &[0]);
    for number in 1..6 {
        desk.add(&[scored(0, number, 0)]);
    }
    let policy = HostPolicy {
        budget: Some(2),
        delay: 7 * SECOND,
        reason: "too much of the same".into(),
        ..HostPolicy::default()
    };
    desk.set_policy(0, policy.clone());
    for _ in 0..2 {
        let visit = desk.next();
        let end = desk.now;
        desk.report(&visit, Outcome::Fetched);
        let view = desk.frontier.explain(0, &desk.state).unwrap().unwrap();
        assert_eq!((view.gap, view.gap_source), (7 * SECOND, GapSource::Policy));
        assert_eq!(view.due, end + 7 * SECOND);
    }
    desk.now += HOUR;
    assert_eq!(desk.take().0, Next::Finished);
    desk.commit();
    desk.reopen();
    desk.now += HOUR;
    assert_eq!(desk.take().0, Next::Finished, "also after a restart");
    let counters = desk.frontier.counters();
    assert_eq!((counters.queued, counters.hosts_blocked), (4, 1));
    let view = desk.frontier.explain(0, &desk.state).unwrap().unwrap();
    assert_eq!(view.record.policy.as_deref(), Some(&policy));
    desk.set_policy(0, HostPolicy::default());
    assert_eq!(desk.take().0, Next::Taken(1));
}

#[test]
fn what_is_known_of_a_link_is_kept_where_it_is_asked_for() {
    for known in [false, true] {
        let mut desk = Desk::new(Settings {
            known,
            ..settings()
        });
        let link = Link {
            anchor: Some("more about it".into()),
            parent_score: Some(Score::new(0.5)),
            kind: crate::parse::LinkKind::Area,
            seed: false,
            depth: 3,
            ..scored(0, 0, 7)
        };
        desk.add(std::slice::from_ref(&link));
        desk.commit();
        desk.reopen();
        desk.robots("");
        let visit = desk.next();
        let plain = Link {
            anchor: None,
            parent_score: None,
            kind: crate::parse::LinkKind::A,
            ..link.clone()
        };
        assert_eq!(visit.link, if known { link } else { plain });
    }
}
