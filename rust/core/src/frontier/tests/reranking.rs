//! Another order for what is queued: complete, exact, nothing lost, nothing twice.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::super::*;
use super::{Dice, orders, seed, toy_rules};
use crate::links::{Link, Score};
use crate::outcome::Outcome;
use crate::parse::LinkKind;
use crate::store::state::memory::MemoryState;
use crate::store::state::{Reads, Space, State, Writes};

pub(super) struct Desk {
    settings: Settings,
    state: MemoryState,
    pub frontier: Frontier,
    pub writes: Writes,
    pub now: Micros,
    pub made: u32,
}

impl Desk {
    pub fn new(head: usize) -> Desk {
        let settings = Settings {
            gap: 0,
            ip_gap: 0,
            response_factor: 0.0,
            head,
            heads_in_ram: if head == 1 { 300 } else { 1 << 20 },
            ..Settings::default()
        };
        let (state, mut writes) = (MemoryState::default(), Writes::default());
        let now = 1_000_000 * SECOND;
        let frontier =
            Frontier::open(settings.clone(), toy_rules(), &state, now, &mut writes).unwrap();
        Desk {
            settings,
            state,
            frontier,
            writes,
            now,
            made: 0,
        }
    }

    /// A URL whose path tells its number, depth and kind.
    pub fn add(&mut self, host: u64, depth: u16, dynamic: bool) {
        self.made += 1;
        let name = format!("h{host}.test");
        let query = if dynamic { "?q" } else { "" };
        let url = format!("http://{name}/{:06}/{depth}{query}", self.made);
        let link = Link {
            depth,
            seed: depth == 0,
            ..seed(&url, host << 48)
        };
        let mut out = Vec::new();
        self.frontier
            .add(self.now, &[link], &self.state, &mut self.writes, &mut out)
            .unwrap();
        assert_eq!(out, [Admission::Added]);
    }

    pub fn order(&mut self, order: &Formula) {
        self.settings.order = order.clone();
        self.frontier.set_settings(self.settings.clone());
    }

    fn slice(&mut self, most: usize) -> Vec<u64> {
        let (state, writes) = (&self.state, &mut self.writes);
        self.frontier.rerank_slice(most, state, writes).unwrap()
    }

    fn rerank(&mut self, most: usize) {
        self.frontier.rerank(&mut self.writes);
        while self.frontier.is_reranking() {
            self.slice(most);
        }
    }

    pub fn take(&mut self, most: usize) -> (Next, Vec<Visit>) {
        let (mut visits, mut refusals) = (Vec::new(), Vec::new());
        let (state, writes) = (&self.state, &mut self.writes);
        let next = self
            .frontier
            .take(self.now, most, state, writes, &mut visits, &mut refusals)
            .unwrap();
        assert!(refusals.is_empty());
        (next, visits)
    }

    pub fn finish(&mut self, visit: &Visit, outcome: Outcome) -> Verdict {
        let mut report = Report::new(outcome, self.now, self.now);
        if outcome != Outcome::Deferred {
            report.response_us = Some(1);
        }
        if visit.purpose == Purpose::Robots && outcome != Outcome::Deferred {
            report.outcome = Outcome::Gone;
        }
        self.frontier
            .finish(self.now, visit.lease, &report, &mut self.writes)
    }

    pub fn commit(&mut self) {
        let mut writes = std::mem::take(&mut self.writes);
        let batch = self.frontier.seal(&mut writes);
        self.state.apply(writes, true).unwrap();
        self.frontier.applied(batch);
    }

    /// What was not committed is lost; another process goes on.
    pub fn crash(&mut self) {
        let mut writes = Writes::default();
        let settings = self.settings.clone();
        self.frontier =
            Frontier::open(settings, toy_rules(), &self.state, self.now, &mut writes).unwrap();
        self.state.apply(writes, true).unwrap();
        self.writes = Writes::default();
    }

    /// Some hundred URLs of some hosts.
    pub fn filled(head: usize, hosts: u64, urls: u64) -> Desk {
        let (mut desk, mut dice) = (Desk::new(head), Dice(5));
        for number in 0..urls {
            let host = if dice.chance(30) {
                0
            } else {
                dice.below(hosts)
            };
            desk.add(host, dice.below(11) as u16, dice.chance(40));
            if number % 50 == 0 {
                desk.commit();
            }
        }
        desk
    }

    pub fn take_slice(&mut self, most: usize) -> Option<RerankSlice> {
        let (state, writes) = (&self.state, &mut self.writes);
        self.frontier.rerank_take(most, state, writes).unwrap()
    }

    pub fn give_slice(&mut self, slice: RerankSlice, scores: &[Option<Score>]) {
        let (state, writes) = (&self.state, &mut self.writes);
        let scores = scores.iter().map(|score| score.map(|score| (score, None)));
        let scores = scores.collect();
        self.frontier
            .rerank_give(slice, scores, state, writes)
            .unwrap();
    }

    /// Visits everything that is left; gives the URLs of each host in the order of their visits.
    pub fn drain(&mut self) -> BTreeMap<u64, Vec<String>> {
        let links = self.drain_links().into_iter();
        let urls = |links: Vec<Link>| links.iter().map(|link| link.url.to_string()).collect();
        links.map(|(host, links)| (host, urls(links))).collect()
    }

    /// The same, with what is known of them.
    pub fn drain_links(&mut self) -> BTreeMap<u64, Vec<Link>> {
        let mut order: BTreeMap<u64, Vec<Link>> = BTreeMap::new();
        loop {
            let (next, visits) = self.take(3);
            for visit in &visits {
                let outcome = if visit.purpose == Purpose::Robots {
                    Outcome::Gone
                } else {
                    order
                        .entry(visit.link.url.host_key())
                        .or_default()
                        .push(visit.link.clone());
                    Outcome::Fetched
                };
                self.finish(visit, outcome);
            }
            match next {
                Next::Finished => break,
                Next::NothingDue { until } => self.now = until.max(self.now + 1),
                _ => {}
            }
        }
        self.commit();
        assert_eq!(self.frontier.counters().queued, 0);
        assert_eq!(self.frontier.counters().repairs, 0);
        order
    }
}

/// Where a URL belongs: its band in the order, then its number.
fn rank(order: &Formula, url: &str) -> (u8, String) {
    let mut parts = url.split('/').skip(3);
    let number = parts.next().unwrap().to_owned();
    let rest = parts.next().unwrap();
    let depth: u16 = rest.trim_end_matches("?q").parse().unwrap();
    let of = Traits {
        depth,
        dynamic: rest.ends_with("?q"),
        parameters: u8::from(rest.ends_with("?q")),
        seed: depth == 0,
        kind: LinkKind::A,
        parent_score: None,
    };
    (order.score(of).band(), number)
}

#[test]
fn what_is_queued_takes_the_new_order() {
    for head in [1, 3, 8] {
        for order in &orders() {
            for slice in [1, 7, 10_000] {
                let mut desk = Desk::filled(head, 40, 1_200);
                let [breadth, deep, ..] = orders();
                // There and back again.
                let begin = if *order == breadth { deep } else { breadth };
                desk.order(&begin);
                desk.rerank(13);
                desk.order(order);
                desk.rerank(slice);
                assert_eq!(desk.frontier.counters().queued, 1_200);
                let visited = desk.drain();
                assert_eq!(visited.values().map(Vec::len).sum::<usize>(), 1_200);
                for urls in visited.values() {
                    let ranks: Vec<_> = urls.iter().map(|url| rank(order, url)).collect();
                    assert!(ranks.is_sorted(), "{order:?}, heads of {head}: {ranks:?}");
                }
            }
        }
    }
}

#[test]
fn only_a_rerank_moves_what_is_queued() {
    let mut desk = Desk::new(8);
    desk.add(1, 2, false);
    desk.add(1, 5, false);
    desk.order(&orders()[1]);
    desk.add(1, 4, false);
    desk.add(1, 7, false);
    assert!(desk.slice(100).is_empty());
    let depths = |urls: &[String]| -> Vec<String> {
        let parts = urls.iter().map(|url| url.split('/').nth(4).unwrap());
        parts.map(str::to_owned).collect()
    };
    // Bands 2 and 5 of breadth, 60 and 57 of depth.
    assert_eq!(depths(&desk.drain()[&(1 << 48)]), ["2", "5", "7", "4"]);
}

#[test]
fn a_slice_is_bounded_and_a_second_time_changes_nothing() {
    let mut desk = Desk::filled(3, 20, 800);
    desk.order(&orders()[1]);
    desk.frontier.rerank(&mut desk.writes);
    let mut slices = 0;
    while desk.frontier.is_reranking() {
        let before = desk.frontier.counters().reranked;
        desk.slice(50);
        slices += 1;
        assert!(desk.frontier.counters().reranked <= before + 50);
        if slices % 3 == 0 {
            desk.commit();
        }
    }
    assert!(slices >= 16);
    desk.commit();
    let moved = desk.frontier.counters().reranked;
    assert!(moved > 500);
    desk.rerank(64);
    assert_eq!(desk.frontier.counters().reranked, moved);
    desk.commit();
    assert_eq!(desk.state.get(Space::Meta, b"rerank").unwrap(), None);
}

#[test]
fn a_crash_between_slices_is_taken_up_again() {
    let mut desk = Desk::filled(2, 20, 600);
    desk.commit();
    let fixed = &orders()[3];
    desk.order(fixed);
    desk.frontier.rerank(&mut desk.writes);
    desk.commit();
    for _ in 0..5 {
        desk.slice(40);
        desk.commit();
        // This one is lost.
        desk.slice(40);
        desk.crash();
        assert!(desk.frontier.is_reranking());
        assert_eq!(desk.frontier.counters().queued, 600);
    }
    while desk.frontier.is_reranking() {
        desk.slice(40);
    }
    desk.commit();
    desk.crash();
    assert!(
        !desk.frontier.is_reranking(),
        "the mark went with the last batch"
    );
    let visited = desk.drain();
    assert_eq!(visited.values().map(Vec::len).sum::<usize>(), 600);
    for urls in visited.values() {
        assert!(urls.iter().map(|url| rank(fixed, url)).is_sorted());
    }
}

#[test]
fn hosts_about_to_go_are_left_out_until_they_stay() {
    let mut desk = Desk::filled(8, 2, 100);
    desk.commit();
    desk.order(&orders()[1]);
    desk.frontier.freeze_range(1 << 48, 1 << 48);
    desk.frontier.rerank(&mut desk.writes);
    let mut changed = BTreeSet::new();
    while desk.frontier.is_reranking() {
        changed.extend(desk.slice(10));
    }
    assert_eq!(changed, BTreeSet::from([0]));
    desk.frontier.thaw_range(1 << 48, 1 << 48);
    assert!(desk.frontier.is_reranking());
    while desk.frontier.is_reranking() {
        changed.extend(desk.slice(10));
    }
    assert_eq!(changed, BTreeSet::from([0, 1 << 48]));
    for urls in desk.drain().values() {
        assert!(urls.iter().map(|url| rank(&orders()[1], url)).is_sorted());
    }
}

#[test]
fn hosts_of_another_node_are_looked_at_when_they_come() {
    let range = 1 << 48;
    let [breadth, deep, ..] = orders();
    for (reranked, order) in [(true, deep), (false, breadth)] {
        let mut desk = Desk::filled(3, 2, 100);
        desk.commit();
        desk.frontier.freeze_range(range, range);
        desk.order(&orders()[1]);
        if reranked {
            desk.rerank(10);
        }
        desk.commit();
        assert_eq!(
            desk.frontier.drop_range(range, range, &desk.state).unwrap(),
            0
        );
        desk.frontier.thaw_range(range, range);
        // As if another node had had them, which knew nothing of the new order.
        let (now, state) = (desk.now, &desk.state);
        desk.frontier.take_over(range, range, now, state).unwrap();
        while desk.frontier.is_reranking() {
            desk.slice(10);
        }
        let visited = desk.drain();
        assert_eq!(visited.values().map(Vec::len).sum::<usize>(), 100);
        let ranks = visited[&range].iter().map(|url| rank(&order, url));
        assert!(ranks.is_sorted(), "{order:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_and_nothing_comes_twice(seed: u64, hosts in 1_u64..8, head in 1_usize..5) {
        let (mut desk, mut dice) = (Desk::new(head), Dice(seed));
        let mut out: Vec<Visit> = Vec::new();
        let mut done: Vec<String> = Vec::new();
        for _ in 0..400 {
            match dice.below(9) {
                0..3 => desk.add(dice.below(hosts), dice.below(9) as u16, dice.chance(50)),
                3 => out.extend(desk.take(2).1),
                4 if !out.is_empty() => {
                    let visit = out.remove(dice.below(out.len() as u64) as usize);
                    let outcome = match dice.below(3) {
                        _ if visit.purpose == Purpose::Robots => Outcome::Gone,
                        0 => Outcome::Deferred,
                        1 => Outcome::EncodingBroken,
                        _ => Outcome::Fetched,
                    };
                    let verdict = desk.finish(&visit, outcome);
                    if verdict == Verdict::Done {
                        done.push(visit.link.url.into_string());
                    }
                }
                5 => {
                    desk.order(&orders()[dice.below(4) as usize]);
                    desk.frontier.rerank(&mut desk.writes);
                }
                6 => drop(desk.slice(1 + dice.below(9) as usize)),
                7 => desk.now += dice.below(90) * SECOND,
                _ => desk.commit(),
            }
            if dice.chance(3) {
                desk.commit();
                desk.slice(3);
                desk.crash();
                out.clear();
            }
        }
        for visit in out {
            desk.finish(&visit, Outcome::Deferred);
        }
        while desk.frontier.is_reranking() {
            desk.slice(5);
        }
        done.extend(desk.drain().into_values().flatten());
        let different: BTreeSet<_> = done.iter().collect();
        prop_assert_eq!(different.len(), done.len(), "one came twice");
        prop_assert_eq!(done.len(), desk.made as usize, "one was lost");
    }
}
