//! Counting, deciding, and what is read back from the store.

use std::sync::Arc;

use super::super::evidence::Brought;
use super::super::evidence::tests::settings;
use super::super::judge::Doubt;
use super::super::place::Placing;
use super::super::row::Change;
use super::super::rows::{IN_RAM, OTHERS, PATTERNS};
use super::super::visit::Seen;
use super::*;
use crate::canonical::{Grouping, Url};
use crate::links::Score;
use crate::outcome::Outcome;
use crate::parse::LinkKind;
use crate::store::rows::IndexRow;
use crate::store::state::{MemoryState, Space, State};

const IN_2026: u64 = 1_794_773_089_000_000;

fn link(path: &str) -> Link {
    let url = Url::from_canonical(format!("http://a.example{path}"), Grouping::Host).unwrap();
    Link::new(url, Arc::from("http://a.example/"), LinkKind::A)
}

/// A path that is a pattern of its own: folders without digits, which stay few.
fn named(n: u32) -> Link {
    let letter = |digit: u32| char::from(b'g' + (digit % 10) as u8);
    link(&format!(
        "/{}/{}/{}",
        letter(n / 100),
        letter(n / 10),
        letter(n)
    ))
}

fn visit(
    counts: &mut HostCounts,
    page: &Link,
    brought: Brought,
    state: &MemoryState,
) -> Option<Doubt> {
    let page = counts.page(page, true, &settings(), state).unwrap();
    let seen = Seen {
        outcome: Some(Outcome::Fetched),
        brought: Some(brought),
        novelty: f32::from(u8::from(brought == Brought::New)),
        is_page: true,
        is_part: false,
        bytes: 10,
        ..Seen::default()
    };
    counts
        .visit(&page, &seen, IN_2026, &settings(), state)
        .unwrap()
        .pop()
}

fn fetch(counts: &mut HostCounts, page: &Link, state: &MemoryState) {
    assert_eq!(visit(counts, page, Brought::New, state), None);
}

/// As the committer does.
/// What the index says of a visited page.
fn visited_row() -> Vec<u8> {
    let row = IndexRow {
        outcome: Outcome::Fetched as u8,
        ..IndexRow::default()
    };
    row.to_bytes()
}

fn apply(counts: &mut HostCounts, batch: u64, state: &MemoryState) {
    let mut writes = Writes::default();
    counts.seal(batch, &mut writes);
    state.apply(writes, true).unwrap();
    counts.applied(batch);
}

fn asked() -> HostCounts {
    HostCounts {
        active: Active::new(Asked::HostsAndPatterns),
        ..HostCounts::default()
    }
}

#[test]
fn visits_are_counted_by_host_and_pattern_and_kept() {
    let state = MemoryState::default();
    let mut counts = asked();
    for n in 0..5 {
        fetch(&mut counts, &link(&format!("/item/{n}")), &state);
    }
    let mut rows = counts.take_active(100, &state).unwrap();
    rows.sort_by_key(|(_, row)| row.pattern.clone());
    let told: Vec<_> = rows
        .iter()
        .map(|(_, row)| (&*row.pattern, row.fetched, row.evidence.visits))
        .collect();
    assert_eq!(told, [("", 5, 5), ("/item/{n}", 5, 5)]);
    assert!(counts.take_active(100, &state).unwrap().is_empty());
    let decision = Decision {
        budget: Some(5),
        weight: Some(0.5),
        reason: Some("enough".into()),
        ..Decision::default()
    };
    counts.decide(rows[1].0, decision, &state).unwrap();
    apply(&mut counts, 1, &state);
    let mut again = HostCounts::open(Asked::HostsAndPatterns, &state).unwrap();
    let known = again.change(&link("/item/9"), &settings(), &state).unwrap();
    let known = known.unwrap();
    let change = Change {
        budget: Some(5),
        weight: 0.5,
        given_up: false,
        reason: "enough".into(),
    };
    assert_eq!((known.change.clone(), known.weight()), (Some(change), 0.0));
    let other = again.change(&link("/other"), &settings(), &state).unwrap();
    assert_eq!(other, None);
    fetch(&mut again, &link("/item/1"), &state);
    let rows = again.take_active(9, &state).unwrap();
    assert!(rows.iter().all(|(_, row)| row.fetched == 6));
}

/// Visits until the pattern is doubted; gives how many.
fn doubted(counts: &mut HostCounts, action: &str, state: &MemoryState) -> u32 {
    for n in 0..100 {
        let page = link(&format!("/page/{n}/{action}"));
        if let Some(doubt) = visit(counts, &page, Brought::Noindex, state) {
            let plain = doubt.pattern.trim_end_matches(" (view)");
            assert_eq!(plain, format!("/page/{{n}}/{action}"));
            assert!(doubt.reason.unwrap().contains("noindex"));
            return n + 1;
        }
    }
    panic!("never doubted");
}

#[test]
fn a_doubted_pattern_comes_last_then_is_set_aside_until_it_is_trusted() {
    let state = MemoryState::default();
    let mut counts = HostCounts::default();
    let place = |counts: &mut HostCounts, path: &str| {
        let placed = counts.place(&link(path), false, &settings(), &state);
        placed.unwrap().0
    };
    for n in 0..20 {
        fetch(&mut counts, &link(&format!("/page/{n}")), &state);
    }
    assert_eq!(doubted(&mut counts, "edit", &state), settings().visits);
    assert_eq!(
        place(&mut counts, "/page/7/edit"),
        Placing::Low(Score::LAST)
    );
    assert_eq!(place(&mut counts, "/page/7"), Placing::Usual);
    // Five visits, and one for every twenty that were useful.
    for n in 0..6 {
        assert_eq!(
            place(&mut counts, "/page/7/edit"),
            Placing::Low(Score::LAST)
        );
        visit(
            &mut counts,
            &link(&format!("/page/1{n}/edit")),
            Brought::Noindex,
            &state,
        );
    }
    assert_eq!(place(&mut counts, "/page/7/edit"), Placing::Aside);
    // Where its page was not visited it may be the only way to it.
    assert_ne!(place(&mut counts, "/page/77/edit"), Placing::Aside);
    // A process that begins now knows it too.
    apply(&mut counts, 1, &state);
    let mut writes = Writes::default();
    writes.put(
        Space::Index,
        link("/page/7").url.key().to_vec(),
        visited_row(),
    );
    state.apply(writes, true).unwrap();
    let mut again = HostCounts::open(Asked::Nothing, &state).unwrap();
    assert_eq!(place(&mut again, "/page/7/edit"), Placing::Aside);
    let (rows, total) = again.doubted_rows(None, 10, &state).unwrap();
    assert_eq!(total, 1);
    assert_eq!(rows.len(), 1);
    assert_eq!(again.trust(rows[0].key, &state).unwrap(), Some(0));
    assert_eq!(place(&mut again, "/page/7/edit"), Placing::Usual);
    for n in 0..40 {
        let page = link(&format!("/page/{n}000/edit"));
        assert_eq!(visit(&mut again, &page, Brought::Noindex, &state), None);
    }
    apply(&mut again, 2, &state);
    let none = HostCounts::open(Asked::Nothing, &state).unwrap();
    assert!(none.doubted_rows(None, 10, &state).unwrap().0.is_empty());
}

#[test]
fn an_endless_family_is_doubted_whatever_its_words_and_its_text() {
    let state = MemoryState::default();
    let mut counts = HostCounts::default();
    let mut from = link("/deep/");
    let mut doubts = Vec::new();
    for n in 0..20_u8 {
        let word = char::from(b'a' + n);
        let url = format!("{}{word}/", from.url.as_str());
        let here = Link {
            from: Arc::from(from.url.as_str()),
            depth: n.into(),
            ..link(&url["http://a.example".len()..])
        };
        let mut page = counts.page(&here, true, &settings(), &state).unwrap();
        for more in 0..5_u8 {
            let url = format!("{}x{}/", here.url.as_str(), char::from(b'a' + more));
            let next = Link {
                from: Arc::from(here.url.as_str()),
                ..link(&url["http://a.example".len()..])
            };
            counts.fresh(&mut page, &next, &settings(), &state).unwrap();
        }
        let seen = Seen {
            outcome: Some(Outcome::Fetched),
            brought: Some(Brought::New),
            novelty: 1.0,
            is_page: true,
            is_part: false,
            bytes: 10,
            links: 6,
        };
        doubts.extend(
            counts
                .visit(&page, &seen, IN_2026, &settings(), &state)
                .unwrap(),
        );
        from = here;
    }
    // First it is not decided, and its URLs wait for that.
    let doubt = doubts.pop().unwrap();
    assert!(doubts.iter().all(|doubt| doubt.reason.is_none()));
    assert_eq!(&*doubt.pattern, "/deep… (growing)");
    assert!(doubt.reason.is_some());
    let next = Link {
        from: Arc::from("http://a.example/deep/q/r/s/t/"),
        ..link("/deep/q/r/s/t/u/")
    };
    let placed = counts.place(&next, false, &settings(), &state).unwrap();
    assert!(
        matches!(placed.0, Placing::Low(_) | Placing::Aside),
        "{placed:?}"
    );
}

#[test]
fn what_brings_something_again_has_its_usual_place() {
    let state = MemoryState::default();
    let mut counts = HostCounts::default();
    doubted(&mut counts, "edit", &state);
    let back = (0..100).find_map(|n| {
        let page = link(&format!("/page/{n}00/edit"));
        visit(&mut counts, &page, Brought::New, &state)
    });
    assert_eq!(back.unwrap().reason, None);
}

#[test]
fn domains_are_told_apart_and_patterns_bounded() {
    let state = MemoryState::default();
    let mut counts = asked();
    for n in 0..50 {
        for _ in 0..3 {
            counts.linked(1, &format!("d{n}.example"), &state).unwrap();
        }
    }
    let rows = counts.take_active(9, &state).unwrap();
    let domains = rows[0].1.in_domains();
    assert!((40..60).contains(&domains), "{domains}");
    for n in 0..1_000 {
        fetch(&mut counts, &named(n), &state);
    }
    for n in 0..100 {
        fetch(
            &mut counts,
            &link(&format!("/{}/{n}/x?y", char::from(b'g' + n % 10))),
            &state,
        );
    }
    let rows = counts.take_active(usize::MAX, &state).unwrap();
    // This host, its patterns, and the rest of them.
    assert_eq!(rows.len() as u32, 1 + PATTERNS + 1);
}

#[test]
fn a_decision_about_the_rest_holds_for_every_pattern_beyond_the_bound() {
    let state = MemoryState::default();
    let mut counts = asked();
    for n in 0..PATTERNS {
        fetch(&mut counts, &named(n), &state);
    }
    fetch(&mut counts, &link("/beyond"), &state);
    let rows = counts.take_active(usize::MAX, &state).unwrap();
    let rest = rows.iter().find(|(_, row)| &*row.pattern == OTHERS);
    let give_up = Decision {
        give_up: Some(true),
        ..Decision::default()
    };
    counts.decide(rest.unwrap().0, give_up, &state).unwrap();
    let given_up = |counts: &mut HostCounts, page: &Link| {
        let known = counts.change(page, &settings(), &state).unwrap();
        known.is_some_and(|known| known.change.unwrap().given_up)
    };
    apply(&mut counts, 1, &state);
    // In memory, and as the store has it.
    for mut counts in [counts, HostCounts::default()] {
        assert!(given_up(&mut counts, &link("/beyond")) && given_up(&mut counts, &link("/far")));
        assert!(!given_up(&mut counts, &named(3)));
    }
}

#[test]
fn what_a_decision_leaves_out_stays_as_it_was() {
    let state = MemoryState::default();
    let mut counts = asked();
    fetch(&mut counts, &link("/item/1"), &state);
    let (key, _) = counts.take_active(9, &state).unwrap()[1].clone();
    let mut decide = |decision: Decision| {
        counts.decide(key, decision, &state).unwrap();
        counts
            .change(&link("/item/2"), &settings(), &state)
            .unwrap()
    };
    // The usual weight says nothing.
    let usual = decide(Decision {
        weight: Some(1.0),
        ..Decision::default()
    });
    assert_eq!(usual, None);
    decide(Decision {
        weight: Some(2.5),
        give_up: Some(true),
        reason: Some("endless".into()),
        ..Decision::default()
    });
    let known = decide(Decision {
        budget: Some(7),
        ..Decision::default()
    });
    let known = known.unwrap();
    assert_eq!(known.weight(), 2.5);
    let expected = Change {
        budget: Some(7),
        weight: 2.5,
        given_up: true,
        reason: "endless".into(),
    };
    assert_eq!(known.change, Some(expected));
    let known = decide(Decision {
        give_up: Some(false),
        ..Decision::default()
    });
    assert!(!known.unwrap().change.unwrap().given_up);
}

#[test]
fn more_rows_than_fit_lose_neither_questions_nor_decisions() {
    let state = MemoryState::default();
    let mut counts = asked();
    fetch(&mut counts, &link("/item/1"), &state);
    let (key, _) = counts.take_active(9, &state).unwrap()[1].clone();
    apply(&mut counts, 1, &state);
    let hosts = IN_RAM as u64 + 10;
    for host in 1..=hosts {
        counts.linked(host, "b.example", &state).unwrap();
    }
    // Decided, and in a batch that is not applied before memory is full.
    let decide = |counts: &mut HostCounts, weight: f32| {
        let decision = Decision {
            weight: Some(weight),
            ..Decision::default()
        };
        counts.decide(key, decision, &state).unwrap();
        let known = counts
            .change(&link("/item/2"), &settings(), &state)
            .unwrap();
        known.map(|known| known.weight())
    };
    assert_eq!(decide(&mut counts, 0.5), Some(0.5));
    let mut writes = Writes::default();
    counts.seal(2, &mut writes);
    fetch(&mut counts, &link("/item/3"), &state);
    let known = counts
        .change(&link("/item/2"), &settings(), &state)
        .unwrap();
    let known = known.unwrap();
    assert_eq!((known.weight(), known.fetched), (0.5, 2));
    state.apply(writes, true).unwrap();
    counts.applied(2);
    apply(&mut counts, 3, &state);
    assert!(counts.rows.len() < 10, "{}", counts.rows.len());
    // Decided after it left memory.
    assert_eq!(decide(&mut counts, 0.25), Some(0.25));
    let rows = counts.take_active(usize::MAX, &state).unwrap();
    // The host of the pattern, and the pattern, were active again.
    assert_eq!(rows.len() as u64, hosts + 2);
    let is_whole = |row: &Counts| row.in_domains() == 1 || row.fetched == 2;
    assert!(rows.iter().all(|(key, row)| key.1 != 0 || is_whole(row)));
}

#[test]
fn damaged_rows_do_not_panic() {
    let whole = Counts {
        change: Some(Change::default()),
        doubt: Some("a reason".into()),
        ..Counts::default()
    }
    .encode();
    assert!(Counts::decode(&whole).is_some());
    for end in 0..whole.len() {
        let _ = Counts::decode(&whole[..end]);
    }
}

#[test]
fn what_is_taken_up_comes_back_in_slices_and_is_never_doubted_again() {
    let state = MemoryState::default();
    let mut counts = HostCounts::default();
    for n in 0..20 {
        fetch(&mut counts, &link(&format!("/page/{n}")), &state);
    }
    doubted(&mut counts, "edit", &state);
    let host = link("/").url.host_key();
    let key = counts.doubted_of(host)[0];
    counts.set_aside(key, 7, &state).unwrap();
    assert_eq!(counts.trust(key, &state).unwrap(), Some(7));
    // Whatever becomes of this process, the next one knows what is left to do.
    apply(&mut counts, 1, &state);
    let mut again = HostCounts::open(Asked::Nothing, &state).unwrap();
    let (rows, total) = again.doubted_rows(Some(host), 10, &state).unwrap();
    assert_eq!(
        (total, rows[0].is_taken_up, rows[0].row.set_aside),
        (1, true, 7)
    );
    assert_eq!(again.urls_aside(), 7);
    let (first, at) = again.next_to_take_up().unwrap();
    assert_eq!(first, key);
    again.set_aside(key, -5, &state).unwrap();
    // The store did not show all of them: the next pass begins when it does.
    let found = Taking {
        has_found: true,
        ..at
    };
    again.took_up(key, found, true, 4, &state).unwrap();
    assert!(again.takes_up());
    assert!(again.next_to_take_up().is_none());
    again.applied(4);
    let (_, at) = again.next_to_take_up().unwrap();
    // Two that were counted and are nowhere to be found.
    assert_eq!(again.urls_aside(), 2);
    again.took_up(key, at, true, 5, &state).unwrap();
    assert_eq!(again.urls_aside(), 0);
    assert!(!again.takes_up());
    apply(&mut again, 5, &state);
    let mut last = HostCounts::open(Asked::Nothing, &state).unwrap();
    assert_eq!(last.doubted_rows(None, 10, &state).unwrap().1, 0);
    // Neither by its pattern nor by a word of it.
    for n in 0..60 {
        let page = link(&format!("/page/{n}000/edit"));
        assert_eq!(visit(&mut last, &page, Brought::Noindex, &state), None);
    }
    assert_eq!(last.doubted_rows(None, 10, &state).unwrap().1, 0);
}
