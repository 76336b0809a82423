//! Patterns as they were measured on crawls of real software.

#![allow(clippy::unwrap_used)]

use super::*;

pub(crate) fn settings() -> EvidenceSettings {
    EvidenceSettings {
        parameters: crate::links::patterns::parameters::tests::settings(),
        hints: HintSettings {
            long_path: 9,
            grown_path: 5,
            repeats: 3,
            longest_run: 3,
            crowded_query: 5,
            years_ahead: 2,
            token: 16,
        },
        visits: 10,
        visits_hinted: 8,
        visits_known: 3,
        known_hosts: 2,
        memory: 32.0,
        novel: 0.3,
        novel_file: 0.75,
        view_value: 0.9,
        list_links: 8,
        label_share: 0.8,
        side_visits: 500,
        side_share: 0.5,
        hub_value: 0.6,
        marked_value: 0.5,
        contrast: 0.5,
        overwhelming: 1_000,
        worthless_visits: 500,
        worthless_share: 0.5,
        part_value: 0.4,
        hopeless_visits: 20,
        hopeless: 0.05,
        plain_weight: 2.0,
        pattern_share: 1.0,
        word_visits: 16,
        word_good: 0.15,
        low: 0.25,
        high: 0.5,
        behind: 0.35,
        base: 5,
        share: 0.05,
        self_fed: 0.9,
        ends: 0.1,
        span: 4,
        known_links: 0.5,
    }
}

/// The evidence of so many visits of a kind each, one after the other in turn.
fn mixed(kinds: &[(Brought, u32)]) -> Evidence {
    let mut evidence = Evidence::default();
    let most = kinds.iter().map(|(_, count)| *count).max().unwrap_or(0);
    for round in 0..most {
        for (kind, _) in kinds.iter().filter(|(_, count)| round < *count) {
            let visit = Visit {
                kind: *kind,
                is_part: false,
                novelty: if *kind == Brought::Near { 0.03 } else { 1.0 },
                links: 20,
                known: 20,
                ..Visit::default()
            };
            evidence.add(&visit, &settings());
        }
    }
    evidence
}

fn doubt(evidence: &Evidence) -> Option<String> {
    evidence.doubt(false, false, false, &settings())
}

#[test]
fn junk_of_real_software_is_doubted_and_content_is_not() {
    use Brought::{Canonical, Copy, Near, New, Noindex, Redirect};
    for (what, kinds) in [
        ("forum: login?next=", vec![(Near, 20), (New, 1)]),
        ("forum: comment/N/publish", vec![(Redirect, 12)]),
        ("wiki: do=edit", vec![(Noindex, 12)]),
        ("wiki: do=export_xhtml", vec![(Canonical, 12)]),
        ("listing: ?C=M;O=A", vec![(Copy, 10), (Near, 8), (New, 2)]),
    ] {
        assert!(doubt(&mixed(&kinds)).is_some(), "{what}");
    }
    for (what, kinds) in [
        ("forum: topics", vec![(New, 300)]),
        ("forum: topic/N?page=", vec![(Near, 13), (New, 7)]),
        ("blog: posts", vec![(New, 97), (Near, 3)]),
        ("too few", vec![(Redirect, 9)]),
    ] {
        assert_eq!(doubt(&mixed(&kinds)), None, "{what}");
    }
    assert_eq!(
        doubt(&mixed(&[(Noindex, 9), (Copy, 3)])).unwrap(),
        "of 12 visits 3 copies, 9 noindex"
    );
}

#[test]
fn what_leads_to_new_pages_is_worth_its_visits() {
    let mut evidence = Evidence::default();
    for _ in 0..20 {
        let visit = Visit {
            kind: Brought::Noindex,
            fresh_other: 3,
            hub: 0.9,
            ..Visit::default()
        };
        evidence.add(&visit, &settings());
    }
    assert_eq!(doubt(&evidence), None);
    for _ in 0..60 {
        let visit = Visit {
            kind: Brought::Noindex,
            ..Visit::default()
        };
        evidence.add(&visit, &settings());
    }
    assert!(doubt(&evidence).is_some());
    for _ in 0..60 {
        let visit = Visit {
            novelty: 1.0,
            is_part: false,
            ..Visit::default()
        };
        evidence.add(&visit, &settings());
    }
    assert_eq!(evidence.doubt(false, false, true, &settings()), None);
}

/// The evidence of visits that lead to more of the same.
fn family(visits: u32, fresh_own: u32, links: u32, known: u32, ends: u32) -> Evidence {
    let mut evidence = Evidence::default();
    for visit in 0..visits {
        evidence.reach(visit as u16);
        let fresh_own = if visit < ends { 0 } else { fresh_own };
        let visit = Visit {
            novelty: 1.0,
            is_part: false,
            fresh_own,
            links,
            known,
            ..Visit::default()
        };
        evidence.add(&visit, &settings());
    }
    evidence
}

#[test]
fn endless_families_are_told_from_large_ones() {
    let doubt = |evidence: &Evidence, hint| evidence.endless(hint, 2026, false, &settings());
    let growing = Hint::Growing;
    assert!(doubt(&family(10, 5, 6, 1, 0), growing).is_some());
    // A folder tree has ends; a manual links to what is known.
    assert_eq!(doubt(&family(20, 5, 6, 1, 6), growing), None);
    assert_eq!(doubt(&family(10, 5, 40, 35, 0), Hint::LongPath), None);
    // An archive ends with the present, a calendar does not.
    let mut dates = family(40, 3, 7, 5, 5);
    dates.year = 2027;
    assert_eq!(doubt(&dates, Hint::Date), None);
    dates.year = 2061;
    let reason = doubt(&dates, Hint::Date).unwrap();
    assert!(reason.contains("2061"), "{reason}");
    // Others lead there too.
    dates.fed = 60;
    assert_eq!(doubt(&dates, Hint::Date), None);
}

#[test]
fn a_family_is_not_judged_before_it_was_followed_far() {
    let numbers = settings();
    let mut near = family(10, 5, 6, 1, 0);
    near.farthest = near.nearest + 1;
    assert_eq!(near.endless(Hint::Growing, 2026, false, &numbers), None);
    assert!(near.is_open(&numbers));
    // Doubted on other hosts: what is far is known from there.
    assert!(near.endless(Hint::Growing, 2026, true, &numbers).is_some());
    assert!(!family(20, 5, 6, 1, 6).is_open(&numbers));
}

#[test]
fn a_family_that_feeds_itself_with_copies_is_endless_when_it_is_hopeless() {
    let numbers = settings();
    let mut copies = Evidence::default();
    for _ in 0..numbers.hopeless_visits / 2 {
        assert_eq!(copies.endless(Hint::Growing, 2026, false, &numbers), None);
        let visit = Visit {
            kind: Brought::Copy,
            fresh_own: 5,
            links: 6,
            known: 1,
            ..Visit::default()
        };
        copies.add(&visit, &numbers);
    }
    copies.fed = 1;
    assert!(
        copies
            .endless(Hint::Growing, 2026, false, &numbers)
            .is_some()
    );
    assert!(copies.endless(Hint::Date, 2026, false, &numbers).is_some());
    // Other pages lead there too.
    copies.fed = 40;
    assert_eq!(copies.endless(Hint::Growing, 2026, false, &numbers), None);
}

#[test]
fn evidence_reads_back() {
    let mut evidence = family(40, 3, 7, 5, 5);
    evidence.year = 2061;
    let mut bytes = Vec::new();
    evidence.write(&mut bytes);
    assert_eq!(Evidence::read(&mut Reader::new(&bytes)), Some(evidence));
    for end in 0..bytes.len() {
        let _ = Evidence::read(&mut Reader::new(&bytes[..end]));
    }
}
