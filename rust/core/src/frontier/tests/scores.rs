//! Scores from outside: slices of the queue are taken, judged while the crawl goes on, and given back.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::super::*;
use super::reranking::Desk;
use super::{Dice, orders};
use crate::links::{Link, Score};
use crate::outcome::Outcome;

/// What a policy might say: by the URL alone, so that anybody can check it.
fn judged(link: &Link) -> Score {
    let sum: u32 = link.url.as_str().bytes().map(u32::from).sum();
    Score::new((sum % 64) as f32 / 64.0)
}

fn scores(slice: &RerankSlice) -> Vec<Option<Score>> {
    slice.links.iter().map(|link| Some(judged(link))).collect()
}

#[test]
fn the_queue_takes_the_order_that_is_given() {
    for (head, most) in [(1, 7), (8, 10_000)] {
        let mut desk = Desk::filled(head, 20, 600);
        desk.frontier.rerank(&mut desk.writes);
        // One that moves back is met again there.
        let mut seen = BTreeSet::new();
        while let Some(slice) = desk.take_slice(most) {
            assert!(slice.links.len() <= most);
            seen.extend(slice.links.iter().map(|link| link.url.to_string()));
            let scores = scores(&slice);
            desk.give_slice(slice, &scores);
        }
        assert_eq!(seen.len(), 600);
        assert!(!desk.frontier.is_reranking());
        let visited = desk.drain_links();
        assert_eq!(visited.values().map(Vec::len).sum::<usize>(), 600);
        for links in visited.values() {
            assert!(links.iter().all(|link| link.score == Some(judged(link))));
            assert!(links.iter().map(|link| judged(link).band()).is_sorted());
        }
    }
}

#[test]
fn it_is_not_over_before_every_slice_is_given_back() {
    let mut desk = Desk::filled(3, 5, 100);
    desk.commit();
    desk.frontier.rerank(&mut desk.writes);
    let first = desk.take_slice(60).unwrap();
    let second = desk.take_slice(60).unwrap();
    assert!(desk.take_slice(60).is_none());
    desk.give_slice(second, &[]);
    desk.commit();
    assert!(desk.frontier.is_reranking());
    // The first one is lost with the process; the next one asks again for all.
    drop(first);
    desk.crash();
    assert!(desk.frontier.is_reranking());
    let slice = desk.take_slice(1_000).unwrap();
    assert_eq!(slice.links.len(), 100);
    let scores = scores(&slice);
    desk.give_slice(slice, &scores);
    desk.commit();
    desk.crash();
    assert!(!desk.frontier.is_reranking());
    for links in desk.drain_links().values() {
        assert!(
            links.iter().all(|link| link.score == Some(judged(link))),
            "scores are kept"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_meanwhile(seed: u64, hosts in 1_u64..8, head in 1_usize..5) {
        let (mut desk, mut dice) = (Desk::new(head), Dice(seed));
        let (mut out, mut slices, mut done) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..400 {
            match dice.below(9) {
                0..3 => desk.add(dice.below(hosts), dice.below(9) as u16, dice.chance(50)),
                3 => out.extend(desk.take(2).1),
                4 if !out.is_empty() => {
                    let visit: Visit = out.remove(dice.below(out.len() as u64) as usize);
                    let outcome = match dice.below(3) {
                        _ if visit.purpose == Purpose::Robots => Outcome::Gone,
                        0 => Outcome::Deferred,
                        1 => Outcome::EncodingBroken,
                        _ => Outcome::Fetched,
                    };
                    if desk.finish(&visit, outcome) == Verdict::Done {
                        done.push(visit.link.url.into_string());
                    }
                }
                5 => {
                    desk.order(&orders()[dice.below(4) as usize]);
                    desk.frontier.rerank(&mut desk.writes);
                }
                6 => slices.extend(desk.take_slice(1 + dice.below(9) as usize)),
                7 if !slices.is_empty() => {
                    let slice = slices.remove(dice.below(slices.len() as u64) as usize);
                    let mut scores = scores(&slice);
                    // Some answers do not come.
                    scores.truncate(dice.below(scores.len() as u64 + 1) as usize);
                    desk.give_slice(slice, &scores);
                }
                7 => desk.now += dice.below(90) * SECOND,
                _ => desk.commit(),
            }
            if dice.chance(3) {
                desk.commit();
                desk.crash();
                out.clear();
                slices.clear();
            }
        }
        for visit in out {
            desk.finish(&visit, Outcome::Deferred);
        }
        for slice in slices {
            desk.give_slice(slice, &[]);
        }
        while let Some(slice) = desk.take_slice(50) {
            desk.give_slice(slice, &[]);
        }
        prop_assert!(!desk.frontier.is_reranking());
        done.extend(desk.drain().into_values().flatten());
        let different: BTreeSet<_> = done.iter().collect();
        prop_assert_eq!(different.len(), done.len(), "one came twice");
        prop_assert_eq!(done.len(), desk.made as usize, "one was lost");
    }
}
