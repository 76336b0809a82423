//! What every state must do, run against memory and disk alike.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::{DiskSettings, DiskState, MemoryState, Space, State, Writes};

/// A state that a test can close and open again.
trait Rig {
    fn state(&self) -> &dyn State;
    /// Closes and opens; false where nothing survives that.
    fn reopen(&mut self) -> bool;
}

struct Memory(MemoryState);

impl Rig for Memory {
    fn state(&self) -> &dyn State {
        &self.0
    }
    fn reopen(&mut self) -> bool {
        false
    }
}

struct Disk {
    dir: tempfile::TempDir,
    state: Option<DiskState>,
}

impl Disk {
    fn new() -> Disk {
        let dir = tempfile::tempdir().unwrap();
        let state = Some(DiskState::open(dir.path(), DiskSettings::default()).unwrap());
        Disk { dir, state }
    }
}

impl Rig for Disk {
    fn state(&self) -> &dyn State {
        self.state.as_ref().unwrap()
    }
    fn reopen(&mut self) -> bool {
        drop(self.state.take());
        self.state = Some(DiskState::open(self.dir.path(), DiskSettings::default()).unwrap());
        true
    }
}

fn pairs(state: &dyn State, space: Space, from: &[u8], to: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut found = Vec::new();
    state
        .scan(space, from, to, &mut |key, value| {
            found.push((key.to_vec(), value.to_vec()));
            true
        })
        .unwrap();
    found
}

fn look_ups(rig: &mut dyn Rig) {
    let state = rig.state();
    assert_eq!(state.get(Space::Meta, b"a").unwrap(), None);
    assert!(!state.contains(Space::Meta, b"a").unwrap());
    let mut writes = Writes::default();
    writes.put(Space::Meta, *b"a", *b"1");
    writes.put(Space::Seen, *b"a", *b"");
    state.apply(writes, true).unwrap();
    assert_eq!(state.get(Space::Meta, b"a").unwrap(), Some(b"1".to_vec()));
    assert_eq!(state.get(Space::Seen, b"a").unwrap(), Some(Vec::new()));
    assert!(state.contains(Space::Seen, b"a").unwrap());
    assert!(!state.contains(Space::Queue, b"a").unwrap());
    assert!(!state.contains(Space::Meta, b"").unwrap());
}

fn later_change_wins(rig: &mut dyn Rig) {
    let state = rig.state();
    let mut writes = Writes::default();
    writes.put(Space::Queue, *b"k", *b"first");
    writes.remove(Space::Queue, *b"k");
    writes.put(Space::Queue, *b"k", *b"second");
    writes.put(Space::Queue, *b"gone", *b"x");
    writes.remove(Space::Queue, *b"gone");
    writes.remove(Space::Queue, *b"never there");
    state.apply(writes, false).unwrap();
    assert_eq!(
        state.get(Space::Queue, b"k").unwrap(),
        Some(b"second".to_vec())
    );
    assert!(!state.contains(Space::Queue, b"gone").unwrap());
}

fn scans(rig: &mut dyn Rig) {
    let state = rig.state();
    let mut writes = Writes::default();
    for key in [&b"b"[..], b"a", b"ab", b"\xff\xff", b"c", b"\x00"] {
        writes.put(Space::Hosts, key, key);
    }
    writes.put(Space::Robots, *b"aa", *b"other space");
    state.apply(writes, false).unwrap();
    let keys = |from: &[u8], to: &[u8]| -> Vec<Vec<u8>> {
        pairs(state, Space::Hosts, from, to)
            .into_iter()
            .map(|(k, _)| k)
            .collect()
    };
    assert_eq!(
        keys(b"", b""),
        [&b"\x00"[..], b"a", b"ab", b"b", b"c", b"\xff\xff"]
    );
    assert_eq!(keys(b"a", b"b"), [&b"a"[..], b"ab"]);
    assert_eq!(keys(b"aa", b""), [&b"ab"[..], b"b", b"c", b"\xff\xff"]);
    assert!(keys(b"b", b"b").is_empty());
    assert!(keys(b"c", b"a").is_empty());
    let mut visits = 0;
    state
        .scan(Space::Hosts, b"", b"", &mut |_, _| {
            visits += 1;
            visits < 2
        })
        .unwrap();
    assert_eq!(visits, 2);
}

fn refuses_what_it_cannot_keep(rig: &mut dyn Rig) {
    let state = rig.state();
    for key in [Vec::new(), vec![1; super::MAX_KEY + 1]] {
        let mut writes = Writes::default();
        writes.put(Space::Meta, *b"innocent", *b"");
        writes.put(Space::Meta, key, *b"");
        assert!(state.apply(writes, false).is_err());
        assert!(!state.contains(Space::Meta, b"innocent").unwrap(), "atomic");
    }
    state.apply(Writes::default(), true).unwrap();
}

fn large_values(rig: &mut dyn Rig) {
    let value: Vec<u8> = (0..3_000_000u32).map(|i| (i * 7 % 251) as u8).collect();
    let mut writes = Writes::default();
    writes.put(Space::Robots, vec![9; super::MAX_KEY], value.clone());
    rig.state().apply(writes, true).unwrap();
    rig.reopen();
    let found = rig.state().get(Space::Robots, &[9; super::MAX_KEY]);
    if !matches!(found, Ok(None)) {
        assert_eq!(found.unwrap(), Some(value));
    }
}

#[derive(Clone, Debug)]
enum Step {
    Apply(Vec<(u8, Vec<u8>, Option<Vec<u8>>)>, bool),
    Scan(u8, Vec<u8>, Vec<u8>),
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Few distinct keys, so that changes meet.
    let key = || proptest::collection::vec(0u8..3, 1..4);
    let value = proptest::option::of(proptest::collection::vec(any::<u8>(), 0..40));
    let change = (0u8..7, key(), value);
    let step = prop_oneof![
        6 => (proptest::collection::vec(change, 0..20), any::<bool>()).prop_map(|(c, d)| Step::Apply(c, d)),
        3 => (0u8..7, key(), key()).prop_map(|(s, a, b)| Step::Scan(s, a, b)),
        1 => Just(Step::Reopen),
    ];
    proptest::collection::vec(step, 1..25)
}

/// Whatever the order of batches, scans and restarts, the state answers as a sorted map does.
fn agrees_with_a_map(make: &dyn Fn() -> Box<dyn Rig>, cases: u32) {
    let mut runner = TestRunner::new(Config::with_cases(cases));
    runner
        .run(&steps(), |steps| {
            let mut rig = make();
            let mut model: BTreeMap<(Space, Vec<u8>), Vec<u8>> = BTreeMap::new();
            for step in steps {
                match step {
                    Step::Apply(changes, durable) => {
                        let mut writes = Writes::default();
                        for (space, key, value) in changes {
                            let space = Space::ALL[space as usize];
                            match value {
                                Some(value) => {
                                    writes.put(space, key.clone(), value.clone());
                                    model.insert((space, key), value);
                                }
                                None => {
                                    writes.remove(space, key.clone());
                                    model.remove(&(space, key));
                                }
                            }
                        }
                        rig.state().apply(writes, durable).unwrap();
                    }
                    Step::Scan(space, from, to) => {
                        let space = Space::ALL[space as usize];
                        let expected: Vec<_> = model
                            .iter()
                            .filter(|((s, k), _)| *s == space && *k >= from && *k < to)
                            .map(|((_, k), v)| (k.clone(), v.clone()))
                            .collect();
                        prop_assert_eq!(pairs(rig.state(), space, &from, &to), expected);
                    }
                    Step::Reopen => {
                        if !rig.reopen() {
                            continue;
                        }
                    }
                }
            }
            for space in Space::ALL {
                let expected: Vec<_> = model
                    .iter()
                    .filter(|((s, _), _)| *s == space)
                    .map(|((_, k), v)| (k.clone(), v.clone()))
                    .collect();
                prop_assert_eq!(pairs(rig.state(), space, b"", b""), expected);
            }
            Ok(())
        })
        .unwrap();
}

macro_rules! contract {
    ($name:ident, $make:expr, $cases:expr) => {
        mod $name {
            use super::*;
            #[test]
            fn look_ups() {
                super::look_ups(&mut $make);
            }
            #[test]
            fn later_change_wins() {
                super::later_change_wins(&mut $make);
            }
            #[test]
            fn scans() {
                super::scans(&mut $make);
            }
            #[test]
            fn refuses_what_it_cannot_keep() {
                super::refuses_what_it_cannot_keep(&mut $make);
            }
            #[test]
            fn large_values() {
                super::large_values(&mut $make);
            }
            #[test]
            fn agrees_with_a_map() {
                super::agrees_with_a_map(&|| Box::new($make), $cases);
            }
        }
    };
}

contract!(memory, Memory(MemoryState::default()), 256);
contract!(disk, Disk::new(), 24);
