//! What every kind of `seen` must do, run against all kinds, in memory and on disk.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::HashSet;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::{Candidate, Seen, SeenKind, SeenSettings, open};
use crate::canonical::{Grouping, Url};
use crate::store::state::{DiskSettings, DiskState, MemoryState, Space, State, StateError, Writes};

fn small(dir: Option<&Path>) -> SeenSettings {
    SeenSettings {
        directory: dir.map(Path::to_path_buf),
        // So small that keys are forgotten and moved all the time: the runs must answer.
        cache_bytes: 1 << 10,
        recent_keys: 20,
        filter_bytes: 128,
        bloom_bytes: 128 << 10,
    }
}

/// A kind on a state, with the writes of the batch being filled.
pub(super) struct Door<'a> {
    pub seen: Box<dyn Seen>,
    pub state: &'a dyn State,
    pub writes: Writes,
}

impl<'a> Door<'a> {
    pub fn new(kind: SeenKind, state: &'a dyn State, dir: Option<&Path>) -> Door<'a> {
        Door {
            seen: open(kind, &small(dir), state).unwrap(),
            state,
            writes: Writes::default(),
        }
    }

    pub fn admit<T: AsRef<str>>(&mut self, urls: &[T]) -> Vec<bool> {
        let urls: Vec<Url> = urls
            .iter()
            .map(|url| Url::from_canonical(url.as_ref().to_owned(), Grouping::Host).unwrap())
            .collect();
        let candidates: Vec<Candidate<'_>> = urls.iter().map(Candidate::from).collect();
        // What is in it from before must not matter.
        let mut fresh = vec![true; 3];
        self.seen
            .admit(&candidates, self.state, &mut self.writes, &mut fresh)
            .unwrap();
        fresh
    }

    pub fn commit(&mut self) {
        let batch = self.seen.seal(&mut self.writes).unwrap();
        self.state
            .apply(std::mem::take(&mut self.writes), false)
            .unwrap();
        self.seen.applied(batch, false);
    }
}

fn each_kind(test: impl Fn(SeenKind, &dyn State, Option<&Path>)) {
    for kind in SeenKind::ALL {
        test(kind, &MemoryState::default(), None);
        let dir = tempfile::tempdir().unwrap();
        let state = DiskState::open(dir.path(), DiskSettings::default()).unwrap();
        test(kind, &state, Some(&dir.path().join("seen")));
    }
}

#[test]
fn a_url_passes_once() {
    each_kind(|kind, state, dir| {
        let mut door = Door::new(kind, state, dir);
        let (a, b, c) = ("http://h/a", "http://h/b", "http://other/");
        assert_eq!(
            door.admit(&[a, b, a, c, b]),
            [true, true, false, true, false]
        );
        assert_eq!(door.admit(&[c, "http://h/"]), [false, true], "{kind:?}");
        door.commit();
        assert_eq!(door.admit(&[a, b, c, "http://h/"]), [false; 4]);
        assert_eq!(door.admit::<&str>(&[]), [false; 0]);
    });
}

#[test]
fn beginnings_are_other_urls() {
    each_kind(|kind, state, dir| {
        let mut door = Door::new(kind, state, dir);
        let urls = [
            "http://h/abc",
            "http://h/ab",
            "http://h/abd",
            "http://h/a",
            "http://h/abcd",
            "http://h/%C3%A9",
            "http://h/%C3%A8",
        ];
        assert_eq!(door.admit(&urls), [true; 7], "{kind:?}");
        door.commit();
        assert_eq!(door.admit(&urls), [false; 7], "{kind:?}");
        assert_eq!(door.admit(&["http://h/", "https://h/"]), [true; 2]);
    });
}

#[test]
fn what_was_not_applied_may_pass_again() {
    each_kind(|kind, state, dir| {
        let mut door = Door::new(kind, state, dir);
        door.admit(&["http://h/kept"]);
        door.commit();
        door.admit(&["http://h/lost", "http://h/kept"]);
        door.seen.seal(&mut door.writes).unwrap();
        door.admit(&["http://h/lost-too"]);
        door.writes = Writes::default();
        door.seen.forget_pending();
        let urls = ["http://h/lost", "http://h/lost-too", "http://h/kept"];
        assert_eq!(door.admit(&urls), [true, true, false], "{kind:?}");
        door.commit();
        assert_eq!(door.admit(&urls), [false; 3], "{kind:?}");
    });
}

#[test]
fn a_batch_under_way_is_remembered_while_an_earlier_one_is_applied() {
    each_kind(|kind, state, dir| {
        let mut door = Door::new(kind, state, dir);
        door.admit(&["http://h/1"]);
        let first = door.seen.seal(&mut door.writes).unwrap();
        let writes = std::mem::take(&mut door.writes);
        assert_eq!(door.admit(&["http://h/1", "http://h/2"]), [false, true]);
        state.apply(writes, false).unwrap();
        door.seen.applied(first, true);
        assert_eq!(door.admit(&["http://h/2", "http://h/1"]), [false; 2]);
        door.writes = Writes::default();
        door.seen.forget_pending();
        assert_eq!(
            door.admit(&["http://h/2", "http://h/1"]),
            [true, false],
            "{kind:?}"
        );
    });
}

#[test]
fn a_restart_knows_what_was_applied_and_nothing_else() {
    each_kind(|kind, state, dir| {
        let mut door = Door::new(kind, state, dir);
        let many: Vec<String> = (0..500).map(|i| format!("http://h{}/{i}", i % 7)).collect();
        door.admit(&many);
        door.commit();
        door.admit(&["http://h/not-applied"]);
        drop(door);
        let mut door = Door::new(kind, state, dir);
        assert_eq!(door.admit(&many), [false; 500], "{kind:?}");
        assert_eq!(door.admit(&["http://h/not-applied"]), [true], "{kind:?}");
    });
}

#[test]
fn another_kind_is_refused() {
    for kind in SeenKind::ALL {
        let state = MemoryState::default();
        let mut door = Door::new(kind, &state, None);
        door.admit(&["http://h/"]);
        door.commit();
        for other in SeenKind::ALL {
            let found = open(other, &small(None), &state);
            match found {
                Ok(seen) => assert_eq!(seen.kind(), kind),
                Err(error) => {
                    assert!(matches!(error, StateError::Format(_)), "{error}");
                    assert_ne!(other, kind);
                    assert!(error.to_string().contains(kind.as_str()), "{error}");
                }
            }
        }
    }
    assert!(SeenKind::parse("exact") == Some(SeenKind::Exact) && SeenKind::parse("none").is_none());
}

#[test]
fn odd_rows_are_refused() {
    for kind in [SeenKind::Memory, SeenKind::Bloom] {
        let state = MemoryState::default();
        let mut writes = Writes::default();
        writes.put(Space::Seen, *b"odd", *b"odd");
        state.apply(writes, false).unwrap();
        assert!(matches!(
            open(kind, &small(None), &state),
            Err(StateError::Format(_))
        ));
    }
}

#[derive(Clone, Debug)]
enum Step {
    Admit(Vec<u16>),
    Commit,
    Forget,
    Restart,
}

/// Against a plain set of texts, over batches, losses and restarts.
#[test]
fn agrees_with_a_set() {
    let step = prop_oneof![
        6 => proptest::collection::vec(0u16..60, 0..30).prop_map(Step::Admit),
        2 => Just(Step::Commit),
        1 => Just(Step::Forget),
        1 => Just(Step::Restart),
    ];
    let steps = proptest::collection::vec(step, 1..30);
    for kind in SeenKind::ALL {
        let mut runner = TestRunner::new(Config::with_cases(64));
        runner
            .run(&steps, |steps| {
                let state = MemoryState::default();
                let dir = tempfile::tempdir().unwrap();
                let dir = Some(dir.path());
                let mut door = Door::new(kind, &state, dir);
                let (mut applied, mut pending) = (HashSet::new(), HashSet::new());
                for step in steps {
                    match step {
                        Step::Admit(numbers) => {
                            let urls: Vec<String> = numbers
                                .iter()
                                .map(|n| format!("http://h{}/{n:b}", n % 3))
                                .collect();
                            let expected: Vec<bool> = numbers
                                .iter()
                                .map(|n| !applied.contains(n) && pending.insert(*n))
                                .collect();
                            prop_assert_eq!(door.admit(&urls), expected);
                        }
                        Step::Commit => {
                            door.commit();
                            applied.extend(pending.drain());
                        }
                        Step::Forget => {
                            door.seen.forget_pending();
                            door.writes = Writes::default();
                            pending.clear();
                        }
                        Step::Restart => {
                            // One owner at a time: the old one goes first.
                            drop(door);
                            door = Door::new(kind, &state, dir);
                            pending.clear();
                        }
                    }
                }
                Ok(())
            })
            .unwrap();
    }
}

#[test]
fn bloom_says_how_often_it_errs() {
    for bits in [8u64, 12, 16, 20] {
        let state = MemoryState::default();
        let mut door = Door::new(SeenKind::Bloom, &state, None);
        let count = (1 << 20) / bits;
        for i in 0..count {
            door.admit(&[format!("http://h{}/{i}", i % 1000)]);
        }
        let stated = door.seen.error_rate();
        // Not admitted for good: each is asked against the same filter.
        let tests = 100_000;
        let mut held = 0;
        for i in 0..tests {
            let url = format!("http://other{}/{i}", i % 100);
            held += usize::from(!door.admit(&[url])[0]);
            if i % 100 == 99 {
                // Keep the filter as full as it was.
                door.commit_nothing();
            }
        }
        let measured = held as f64 / f64::from(tests);
        println!("bloom, {bits} bits a URL: stated {stated:.5}, measured {measured:.5}");
        // Four standard deviations of the count.
        let noise = 4.0 * (stated / f64::from(tests)).sqrt();
        assert!(
            (measured - stated).abs() < noise,
            "{bits}: {measured}, {stated}"
        );
    }
}

impl Door<'_> {
    /// Applies what was admitted first of all, and from then on forgets.
    fn commit_nothing(&mut self) {
        if self.state.get(Space::Meta, b"test").unwrap().is_none() {
            self.writes.put(Space::Meta, *b"test", *b"");
            self.commit();
        } else {
            self.seen.forget_pending();
            self.writes = Writes::default();
        }
    }
}

#[test]
fn ram_of_the_bounded_kinds_is_flat() {
    for kind in [SeenKind::Exact, SeenKind::Bloom] {
        let state = MemoryState::default();
        let dir = tempfile::tempdir().unwrap();
        let mut door = Door::new(kind, &state, Some(dir.path()));
        let mut sizes = Vec::new();
        for i in 0..40_000 {
            door.admit(&[format!("http://h/{i}")]);
            if i % 1000 == 999 {
                door.commit();
                sizes.push(door.seen.ram_bytes());
            }
        }
        assert!(sizes[39] <= sizes[3] + (96 << 10), "{kind:?}: {sizes:?}");
    }
}
