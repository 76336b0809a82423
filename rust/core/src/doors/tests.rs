//! Doors between threads, and what is refused.

use std::time::{Duration, Instant};

use super::*;

const LONG: Duration = Duration::from_secs(60);

fn table(rows: usize) -> Table {
    let (mut url, mut depth) = (Column::text(), Column::u64());
    let mut links = Column::rows(&["url", "anchor"]);
    for row in 0..rows {
        url.push(Value::Text("http://a/"));
        depth.push(Value::U64(row as u64));
        for _ in 0..row {
            links.push_row(&[Some("http://b/"), None]);
        }
        links.push(Value::Rows);
    }
    let columns = vec![("url", url), ("depth", depth), ("links", links)];
    Table::new(rows, columns).unwrap()
}

fn scores(list: &[f64]) -> Vec<(String, Values)> {
    let list = list.iter().copied().map(Some).collect();
    vec![("score".to_owned(), Values::Number(list))]
}

#[test]
fn a_batch_is_taken_answered_and_collected_once() {
    let doors = Doors::default();
    let now = Instant::now();
    let number = doors.post(Door::Order, table(2), LONG).unwrap();
    let policy = doors.clone();
    let thread = std::thread::spawn(move || {
        let batch = policy.next(Door::Order, LONG).unwrap().unwrap();
        assert_eq!((batch.number, batch.table.len()), (number, 2));
        policy.answer(batch.number, scores(&[0.5, 1.0]))
    });
    assert_eq!(thread.join().unwrap(), Ok(true));
    let collected = doors.collect(Door::Order, now);
    assert_eq!(
        collected[0].answer.as_ref().unwrap().number("score", 1),
        Some(1.0)
    );
    assert!(doors.collect(Door::Order, now).is_empty());
    assert_eq!(doors.answer(number, scores(&[0.5, 1.0])), Ok(false));
    assert_eq!(doors.report(Door::Order, now).rows, 2);
}

#[test]
fn two_batches_are_the_most() {
    let doors = Doors::default();
    for _ in 0..MOST {
        assert!(doors.is_open(Door::Pages, Instant::now()));
        assert!(doors.post(Door::Pages, table(1), LONG).is_some());
    }
    assert!(!doors.is_open(Door::Pages, Instant::now()));
    assert!(doors.post(Door::Pages, table(1), LONG).is_none());
    // Another door has room of its own.
    assert!(doors.is_open(Door::Hosts, Instant::now()));
}

#[test]
fn late_failed_and_wrong_answers_have_the_default() {
    let doors = Doors::default();
    let later = Instant::now() + LONG;
    let late = doors
        .post(Door::Order, table(1), Duration::from_secs(1))
        .unwrap();
    let collected = doors.collect(Door::Order, later);
    assert!(matches!(collected[0].answer, Err((Failure::Late, _))));
    // Nobody is to take what is not waited for.
    assert_eq!(
        doors
            .next(Door::Order, Duration::ZERO)
            .unwrap()
            .map(|b| b.number),
        None
    );
    assert_eq!(doors.answer(late, scores(&[0.5])), Ok(false));
    for (columns, expected) in [
        (scores(&[0.5, 0.5]), "2 values for 1 rows"),
        (scores(&[1.5]), "not between 0 and 1"),
        (scores(&[f64::NAN]), "not between 0 and 1"),
        (
            vec![("nose".to_owned(), Values::Bool(vec![None]))],
            "no column nose",
        ),
        (
            vec![("score".to_owned(), Values::Bool(vec![None]))],
            "another type",
        ),
    ] {
        let number = doors.post(Door::Order, table(1), LONG).unwrap();
        let wrong = doors.answer(number, columns).unwrap_err();
        assert!(wrong.contains(expected), "{wrong}");
        let collected = doors.collect(Door::Order, Instant::now());
        assert!(matches!(collected[0].answer, Err((Failure::Nonsense, _))));
    }
    let now = Instant::now();
    assert!(doors.rests(Door::Order, now) && !doors.is_open(Door::Order, now));
    let report = doors.report(Door::Order, now);
    assert_eq!((report.late, report.nonsense, report.defaults), (1, 5, 6));
}

#[test]
fn what_holds_for_a_host_is_refused_for_a_pattern() {
    let doors = Doors::default();
    let answer = |name: &str, values: Values| {
        let mut pattern = Column::text();
        pattern.push(Value::None);
        pattern.push(Value::Text("/item/{n}"));
        let table = Table::new(2, vec![("pattern", pattern)]).unwrap();
        let number = doors.post(Door::Hosts, table, LONG).unwrap();
        let answer = doors.answer(number, vec![(name.to_owned(), values)]);
        let _ = doors.collect(Door::Hosts, Instant::now());
        answer
    };
    for name in ["delay", "set_aside"] {
        assert_eq!(
            answer(name, Values::Number(vec![Some(3.0), None])),
            Ok(true)
        );
        let wrong = answer(name, Values::Number(vec![None, Some(3.0)])).unwrap_err();
        let expected =
            format!("{name}, row 1: it is decided for a host, not for the pattern /item/{{n}}");
        assert_eq!(wrong, expected);
    }
    for (name, values) in [
        ("weight", Values::Number(vec![Some(2.0), Some(2.0)])),
        ("budget", Values::Whole(vec![None, Some(2)])),
        ("give_up", Values::Bool(vec![None, Some(true)])),
    ] {
        assert_eq!(answer(name, values), Ok(true));
    }
    assert_eq!(doors.report(Door::Hosts, Instant::now()).nonsense, 2);
}

#[test]
fn fields_must_be_json() {
    let doors = Doors::default();
    let fields = |text: &str| {
        let number = doors.post(Door::Pages, table(1), LONG).unwrap();
        let values = Values::Text(vec![Some(text.to_owned())]);
        let answer = doors.answer(number, vec![("fields".to_owned(), values)]);
        let _ = doors.collect(Door::Pages, Instant::now());
        answer
    };
    assert_eq!(fields(r#"{"a": [1, null]}"#), Ok(true));
    assert!(fields("{").unwrap_err().contains("no JSON"));
}

#[test]
fn closing_wakes_who_waits_and_ends_what_is_open() {
    let doors = Doors::default();
    doors.post(Door::Hosts, table(1), LONG).unwrap();
    let _ = doors.next(Door::Hosts, LONG).unwrap().unwrap();
    let policy = doors.clone();
    let thread = std::thread::spawn(move || policy.next(Door::Hosts, LONG).map(|_| ()));
    doors.close();
    assert_eq!(thread.join().unwrap(), Err(Closed));
    let collected = doors.collect(Door::Hosts, Instant::now());
    assert!(matches!(collected[0].answer, Err((Failure::Closed, _))));
    assert!(doors.post(Door::Hosts, table(1), LONG).is_none());
}

#[test]
fn settings_name_what_is_wrong() {
    let table: DoorsTable = serde_json::from_str(
        r#"{"order": {"columns": ["url", "nose"], "rows": 1, "wait": 0, "patience": 1}}"#,
    )
    .unwrap();
    assert!(table.check().unwrap_err().contains("nose"));
    assert!(DoorsTable::default().check().is_ok());
    for door in Door::ALL {
        assert_eq!(Door::from_name(door.as_str()), Some(door));
    }
}
