use proptest::prelude::*;

use super::super::host::Trouble;
use super::*;

fn question(sort: Sort, most: usize) -> Question {
    Question {
        sort,
        reversed: false,
        search: String::new(),
        from_start: false,
        listed: None,
        failure: None,
        among: None,
        after: None,
        most,
    }
}

fn record(name: &str, queued: u32, pages: u32) -> HostRecord {
    HostRecord {
        name: name.into(),
        queued,
        pages,
        ..HostRecord::default()
    }
}

/// All pages of an answer, one after the other.
fn all(list: &HostList, mut question: Question) -> Vec<u64> {
    let mut keys = Vec::new();
    loop {
        let found = list.find(&question);
        keys.extend(&found.keys);
        match found.next {
            Some(next) => question.after = Some(next),
            None => return keys,
        }
    }
}

proptest! {
    #[test]
    fn pages_put_together_are_the_sorted_whole(
        rows in proptest::collection::vec(("[a-c]{1,3}", 0u32..5, 0u32..3), 0..60),
        most in 1usize..8, search in "[a-c]{0,2}", start: bool, reversed: bool,
    ) {
        let list = HostList::default();
        for (key, (name, queued, pages)) in rows.iter().enumerate() {
            list.note(key as u64, &record(name, 9, 9), 0);
            list.note(key as u64, &record(name, *queued, *pages), 0);
        }
        let mut ask = question(Sort::Queued, most);
        (ask.search, ask.from_start, ask.reversed) = (search.clone(), start, reversed);
        let hit = |name: &str| if start { name.starts_with(&search) } else { name.contains(&search) };
        let matched = rows.iter().filter(|row| hit(&row.0)).count() as u64;
        prop_assert_eq!(list.find(&ask).matched, matched);
        let mut expected: Vec<_> = rows.iter().enumerate()
            .filter(|(_, row)| hit(&row.0))
            .map(|(key, row)| (u32::MAX - row.1, key as u64)).collect();
        expected.sort_unstable();
        if reversed {
            expected.reverse();
        }
        let expected: Vec<u64> = expected.into_iter().map(|(_, key)| key).collect();
        prop_assert_eq!(all(&list, ask), expected);
    }
}

#[test]
fn names_sort_up_and_removed_hosts_are_gone() {
    let list = HostList::default();
    for (key, name) in ["c.org", "a.org", "b.org", "d.org"].iter().enumerate() {
        list.note(key as u64, &record(name, key as u32, 0), 5_000_000);
    }
    assert_eq!(all(&list, question(Sort::Name, 3)), [1, 2, 0, 3]);
    list.drop_range(1, 2);
    assert_eq!(all(&list, question(Sort::Name, 1)), [0, 3]);
    list.note(9, &record("aa.org", 1, 7), 4_000_000);
    assert_eq!(all(&list, question(Sort::NextVisit, 2)), [9, 3, 0]);
    assert_eq!(
        list.sizes(1),
        [Size {
            hosts: 3,
            queued: 4,
            pages: 7
        }]
    );
    let reversed = |sort| Question {
        reversed: true,
        ..question(sort, 2)
    };
    assert_eq!(all(&list, reversed(Sort::Name)), [3, 0, 9]);
    // Nothing is queued at the first: in either direction it comes last.
    assert_eq!(all(&list, reversed(Sort::NextVisit)), [3, 9, 0]);
    let mut ask = question(Sort::Pages, 10);
    ask.listed = Some(Listed::Idle);
    assert_eq!(all(&list, ask), [0]);
}

#[test]
fn what_waits_is_bounded_without_questions() {
    let list = HostList::default();
    for round in 0..5 {
        for key in 0..MOST_PENDING as u64 {
            list.note(key, &record("x.org", round, 0), 0);
        }
    }
    assert!(list.shared.pending.lock().unwrap().len() < MOST_PENDING);
    assert_eq!(
        list.find(&question(Sort::Queued, 1)).total,
        MOST_PENDING as u64
    );
}

#[test]
fn hosts_are_found_by_how_they_failed_last() {
    let list = HostList::default();
    let failing = |outcome| HostRecord {
        trouble: Some(Trouble { outcome, until: 9 }),
        ..record("a.test", 1, 0)
    };
    list.note(1, &failing(Outcome::ConnectFailed), 0);
    list.note(2, &failing(Outcome::TimedOut), 0);
    let given_up = HostRecord {
        given_up: Some(Outcome::ConnectFailed),
        ..failing(Outcome::TimedOut)
    };
    list.note(3, &given_up, 0);
    list.note(4, &record("b.test", 1, 0), 0);
    let mut ask = question(Sort::Queued, 9);
    ask.failure = Some(Outcome::ConnectFailed);
    assert_eq!(all(&list, ask.clone()), [1, 3]);
    // It has answered well since.
    list.note(1, &record("a.test", 1, 0), 0);
    assert_eq!(all(&list, ask), [3]);
}
