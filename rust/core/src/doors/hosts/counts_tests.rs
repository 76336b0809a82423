//! Counting, deciding, and what is read back from the store.

use super::*;
use crate::canonical::Grouping;
use crate::store::state::{MemoryState, State};

fn url(path: &str) -> Url {
    Url::from_canonical(format!("http://a.example{path}"), Grouping::Host).unwrap()
}

/// A path that is a pattern of its own: without digits.
fn named(n: u32) -> Url {
    let letters = [n / 400, n / 20 % 20, n % 20].map(|digit| char::from(b'g' + digit as u8));
    url(&format!("/{}", String::from_iter(letters)))
}

fn fetch(counts: &mut HostCounts, page: &Url, state: &MemoryState) {
    counts
        .visit(page, Outcome::Fetched, 1, 1, true, state)
        .unwrap();
}

/// As the committer does.
fn apply(counts: &mut HostCounts, batch: u64, state: &MemoryState) {
    let mut writes = Writes::default();
    counts.seal(batch, &mut writes);
    state.apply(writes, true).unwrap();
    counts.applied(batch);
}

#[test]
fn visits_are_counted_by_host_and_pattern_and_kept() {
    let state = MemoryState::default();
    let mut counts = HostCounts::default();
    for n in 0..5 {
        let page = url(&format!("/item/{n}"));
        let outcome = [Outcome::Fetched, Outcome::Duplicate][n % 2];
        counts.visit(&page, outcome, 10, 7, true, &state).unwrap();
    }
    let gone = url("/other");
    counts
        .visit(&gone, Outcome::Gone, 1, 8, true, &state)
        .unwrap();
    let mut rows = counts.take_active(100, &state).unwrap();
    rows.sort_by_key(|(_, row)| row.pattern.clone());
    let told: Vec<_> = rows
        .iter()
        .map(|(_, row)| {
            (
                &*row.pattern,
                row.fetched,
                row.new,
                row.duplicate,
                row.errors,
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("", 5, 3, 2, 1),
            ("/item/{n}", 5, 3, 2, 0),
            ("/other", 0, 0, 0, 1)
        ]
    );
    assert!(counts.take_active(100, &state).unwrap().is_empty());
    let decision = Decision {
        budget: Some(5),
        weight: Some(0.5),
        reason: Some("enough".into()),
        ..Decision::default()
    };
    counts.decide(rows[1].0, decision, &state).unwrap();
    let change = Change {
        budget: Some(5),
        weight: 0.5,
        given_up: false,
        reason: "enough".into(),
    };
    apply(&mut counts, 1, &state);
    let known = HostCounts::default()
        .change(&url("/item/9"), &state)
        .unwrap();
    let known = known.unwrap();
    assert_eq!((known.change.clone(), known.weight()), (Some(change), 0.0));
    assert_eq!(HostCounts::default().change(&gone, &state).unwrap(), None);
    let mut again = HostCounts::default();
    again
        .visit(&url("/item/1"), Outcome::Fetched, 1, 9, true, &state)
        .unwrap();
    assert!(
        again
            .take_active(9, &state)
            .unwrap()
            .iter()
            .all(|(_, row)| row.fetched == 6)
    );
}

#[test]
fn domains_are_told_apart_and_patterns_bounded() {
    let state = MemoryState::default();
    let mut counts = HostCounts::default();
    for n in 0..50 {
        for _ in 0..3 {
            counts.linked(1, &format!("d{n}.example"), &state).unwrap();
        }
    }
    let rows = counts.take_active(9, &state).unwrap();
    assert!(
        (40..60).contains(&rows[0].1.in_domains()),
        "{:?}",
        rows[0].1.in_domains()
    );
    for n in 0..PATTERNS + 50 {
        fetch(&mut counts, &named(n), &state);
    }
    let rows = counts.take_active(usize::MAX, &state).unwrap();
    // The host of the links, this host, its patterns, and the rest of them.
    assert_eq!(rows.len() as u32, 1 + PATTERNS + 1);
}

#[test]
fn a_decision_about_the_rest_holds_for_every_pattern_beyond_the_bound() {
    let state = MemoryState::default();
    let mut counts = HostCounts::default();
    for n in 0..PATTERNS + 2 {
        fetch(&mut counts, &named(n), &state);
    }
    let rows = counts.take_active(usize::MAX, &state).unwrap();
    let rest = rows
        .iter()
        .find(|(_, row)| &*row.pattern == OTHERS)
        .unwrap();
    let give_up = Decision {
        give_up: Some(true),
        ..Decision::default()
    };
    counts.decide(rest.0, give_up, &state).unwrap();
    let given_up = |counts: &HostCounts, n: u32| {
        let known = counts.change(&named(n), &state).unwrap();
        known.is_some_and(|known| known.change.unwrap().given_up)
    };
    for n in [PATTERNS + 1, PATTERNS + 7] {
        assert!(given_up(&counts, n), "{n}");
    }
    assert!(!given_up(&counts, 3));
    // Also as the store has it.
    apply(&mut counts, 1, &state);
    let counts = HostCounts::default();
    assert!(given_up(&counts, PATTERNS + 7) && !given_up(&counts, 3));
}

#[test]
fn what_a_decision_leaves_out_stays_as_it_was() {
    let state = MemoryState::default();
    let mut counts = HostCounts::default();
    fetch(&mut counts, &url("/item/1"), &state);
    let (key, _) = counts.take_active(9, &state).unwrap()[1].clone();
    let mut decide = |decision: Decision| {
        counts.decide(key, decision, &state).unwrap();
        counts.change(&url("/item/2"), &state).unwrap()
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
    let mut counts = HostCounts::default();
    fetch(&mut counts, &url("/item/1"), &state);
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
        let known = counts.change(&url("/item/2"), &state).unwrap();
        known.map(|known| known.weight())
    };
    assert_eq!(decide(&mut counts, 0.5), Some(0.5));
    let mut writes = Writes::default();
    counts.seal(2, &mut writes);
    fetch(&mut counts, &url("/item/3"), &state);
    let known = counts.change(&url("/item/2"), &state).unwrap().unwrap();
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
    assert!(
        rows.iter()
            .all(|(key, row)| key.1 != 0 || row.in_domains() == 1 || row.fetched == 2)
    );
}

#[test]
fn damaged_rows_do_not_panic() {
    let whole = Counts {
        change: Some(Change::default()),
        ..Counts::default()
    }
    .encode();
    assert!(Counts::decode(&whole).is_some());
    for end in 0..whole.len() {
        let _ = Counts::decode(&whole[..end]);
    }
}
