//! The queue against a sorted map, with small segments, and what only a disk can do to it.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;

use crate::store::state::buffered::CHUNKS;
use crate::store::state::{DiskSettings, DiskState, Reads, Space, State, StateError, Writes};

/// So small that most batches end a segment.
fn open(dir: &Path) -> DiskState {
    try_open(dir).unwrap()
}

fn try_open(dir: &Path) -> Result<DiskState, StateError> {
    let settings = DiskSettings {
        segment_bytes: 2_000,
        reserve_bytes: 0,
        ..DiskSettings::default()
    };
    DiskState::open(dir, settings)
}

fn key(host: u64, band: u8, at: u64) -> Vec<u8> {
    [&host.to_be_bytes()[..], &[band], &at.to_be_bytes()].concat()
}

fn record(at: u64) -> Vec<u8> {
    format!("https://www.example.org/from/{}/some-page-{at}", at / 7).into()
}

fn rows(state: &DiskState, from: &[u8], to: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut found = Vec::new();
    state
        .scan(Space::Queue, from, to, &mut |key, value| {
            found.push((key.to_vec(), value.to_vec()));
            true
        })
        .unwrap();
    found
}

fn segments(dir: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(dir.join("queue")).unwrap();
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

fn bytes(dir: &Path) -> u64 {
    let sizes = segments(dir)
        .into_iter()
        .map(|path| fs::metadata(path).unwrap().len());
    sizes.sum()
}

#[derive(Clone, Debug)]
enum Step {
    /// Host, band, place, length of the record (none: removed), and how many places in a row.
    Apply(Vec<(u8, u8, u16, Option<u8>, u8)>, bool),
    Scan((u8, u8, u16), (u8, u8, u16), usize),
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // The last band is the one of URLs that wait; their keys are longer.
    let band = || prop_oneof![Just(0_u8), Just(3), Just(0xff)];
    let place = || (0..3_u8, band(), 0..600_u16);
    let change = (
        0..3_u8,
        band(),
        0..600_u16,
        proptest::option::weighted(0.6, 0..90_u8),
        prop_oneof![3 => Just(1_u8), 1 => 2..60_u8],
    );
    let step = prop_oneof![
        8 => (proptest::collection::vec(change, 0..12), any::<bool>()).prop_map(|(c, d)| Step::Apply(c, d)),
        3 => (place(), place(), 1..80_usize).prop_map(|(a, b, most)| Step::Scan(a, b, most)),
        1 => Just(Step::Reopen),
    ];
    proptest::collection::vec(step, 1..40)
}

fn some_key((host, band, at): (u8, u8, u16)) -> Vec<u8> {
    let mut key = key(host.into(), band, at.into());
    if band == 0xff {
        key.extend_from_slice(&7_u64.to_be_bytes());
    }
    key
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn agrees_with_a_map(steps in steps()) {
        let dir = tempfile::tempdir().unwrap();
        let mut state = Some(open(dir.path()));
        let mut model: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
        for step in steps {
            let store = state.as_ref().unwrap();
            match step {
                Step::Apply(changes, durable) => {
                    let mut writes = Writes::default();
                    for (host, band, at, length, count) in changes {
                        for at in at..at + u16::from(count) {
                            let key = some_key((host, band, at));
                            match length {
                                Some(length) => {
                                    let mut value = record(at.into());
                                    value.resize(length.into(), length);
                                    writes.put(Space::Queue, key.clone(), value.clone());
                                    model.insert(key, value);
                                }
                                None => {
                                    writes.remove(Space::Queue, key.clone());
                                    model.remove(&key);
                                }
                            }
                        }
                    }
                    store.apply(writes, durable).unwrap();
                }
                Step::Scan(from, to, most) => {
                    let (from, to) = (some_key(from), some_key(to));
                    let mut found = Vec::new();
                    store.scan(Space::Queue, &from, &to, &mut |key, value| {
                        found.push((key.to_vec(), value.to_vec()));
                        found.len() < most
                    }).unwrap();
                    let expected = model.iter().filter(|(key, _)| **key >= from && **key < to);
                    let expected: Vec<_> = expected.take(most).map(|(k, v)| (k.clone(), v.clone())).collect();
                    prop_assert_eq!(found, expected);
                    prop_assert_eq!(store.get(Space::Queue, &from).unwrap(), model.get(&from).cloned());
                    prop_assert_eq!(store.contains(Space::Queue, &to).unwrap(), model.contains_key(&to));
                }
                Step::Reopen => {
                    drop(state.take());
                    state = Some(open(dir.path()));
                }
            }
        }
        let all: Vec<_> = model.into_iter().collect();
        prop_assert_eq!(rows(state.as_ref().unwrap(), &[], &[]), all.clone());
        drop(state.take());
        prop_assert_eq!(rows(&open(dir.path()), &[], &[]), all);
    }
}

fn put(state: &DiskState, host: u64, places: std::ops::Range<u64>, durable: bool) {
    let mut writes = Writes::default();
    for at in places {
        writes.put(Space::Queue, key(host, 0, at), record(at));
    }
    state.apply(writes, durable).unwrap();
}

fn remove(state: &DiskState, host: u64, places: std::ops::Range<u64>, durable: bool) {
    let mut writes = Writes::default();
    for at in places {
        writes.remove(Space::Queue, key(host, 0, at));
    }
    state.apply(writes, durable).unwrap();
}

/// A queue that is filled and emptied for a long time takes no more than what is in it, times a few.
#[test]
fn disk_is_given_back() {
    let dir = tempfile::tempdir().unwrap();
    let state = open(dir.path());
    // One host that nobody reads keeps something in every segment.
    let mut most = 0;
    for round in 0..300_u64 {
        put(&state, 9, round..round + 1, false);
        put(&state, round % 5, round * 40..round * 40 + 40, false);
        if round >= 10 {
            let old = round - 10;
            remove(&state, old % 5, old * 40..old * 40 + 40, round % 4 == 0);
        }
        state.queue.wait_for_removal();
        most = most.max(bytes(dir.path()));
    }
    let kept: usize = rows(&state, &[], &[])
        .iter()
        .map(|(_, record)| record.len())
        .sum();
    assert_eq!(rows(&state, &[], &[]).len(), 700);
    assert!(most < 2 * kept as u64, "{most} bytes for {kept}");
    assert!(
        segments(dir.path()).len() < 40,
        "{}",
        segments(dir.path()).len()
    );
    // And to nothing, but the file that is written to.
    for host in 0..5 {
        remove(&state, host, 0..12_000, false);
    }
    remove(&state, 9, 0..300, true);
    assert!(rows(&state, &[], &[]).is_empty());
    state.queue.wait_for_removal();
    assert!(
        segments(dir.path()).len() <= 2,
        "{:?}",
        segments(dir.path())
    );
    drop(state);
    // A new process has no use for the last one either.
    let state = open(dir.path());
    put(&state, 1, 0..1, true);
    state.queue.wait_for_removal();
    assert_eq!(segments(dir.path()).len(), 1);
}

/// A crawl that never flushes has no durable batch to wait for.
#[test]
fn disk_is_given_back_without_durable_batches_too() {
    let dir = tempfile::tempdir().unwrap();
    let settings = DiskSettings {
        segment_bytes: 2_000,
        reserve_bytes: 0,
        flushed: false,
        ..DiskSettings::default()
    };
    let state = DiskState::open(dir.path(), settings).unwrap();
    for round in 0..200_u64 {
        put(&state, round % 5, round * 40..round * 40 + 40, false);
        let old = round.saturating_sub(5);
        remove(&state, old % 5, old * 40..old * 40 + 40, false);
    }
    assert_eq!(rows(&state, &[], &[]).len(), 200);
    state.queue.wait_for_removal();
    assert!(segments(dir.path()).len() < 20);
}

/// A segment that is as large as a long queue allows goes when the queue is short, also if nothing is left in it.
#[test]
fn an_emptied_queue_keeps_no_large_segment() {
    let dir = tempfile::tempdir().unwrap();
    let state = DiskState::open(dir.path(), DiskSettings::default()).unwrap();
    let mut seed = 1_u64;
    // Packs to no less than it is.
    let mut noise = || {
        let word = std::iter::repeat_with(|| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 56) as u8
        });
        word.take(1 << 20).collect::<Vec<u8>>()
    };
    let newest = |dir: &Path| fs::metadata(segments(dir).pop().unwrap()).unwrap().len();
    let mut at = 0;
    while at < 90 || newest(dir.path()) < 6 << 20 {
        let mut writes = Writes::default();
        writes.put(Space::Queue, key(at, 0, 0), noise());
        state.apply(writes, true).unwrap();
        at += 1;
    }
    let mut writes = Writes::default();
    for host in 0..at {
        writes.remove(Space::Queue, key(host, 0, 0));
    }
    state.apply(writes, true).unwrap();
    for round in 0..4 {
        put(&state, 1, round..round + 1, true);
    }
    state.queue.wait_for_removal();
    assert!(bytes(dir.path()) < 1 << 20, "{:?}", segments(dir.path()));
}

/// Links that come one by one do not stay a block and a row each.
#[test]
fn single_links_are_written_together() {
    let dir = tempfile::tempdir().unwrap();
    let state = open(dir.path());
    for at in 0..256 {
        put(&state, 1, at..at + 1, true);
    }
    assert_eq!(rows(&state, &[], &[]).len(), 256);
    let live = state.with(|live| {
        let mut chunks = 0;
        live.index().rows(&[], &[], &mut |_, _| {
            chunks += 1;
            true
        })?;
        Ok(chunks)
    });
    assert!(live.unwrap() <= 9);
}

#[test]
fn what_a_crash_left_behind_the_last_batch_is_named_by_nobody() {
    let dir = tempfile::tempdir().unwrap();
    put(&open(dir.path()), 1, 0..50, true);
    let last = segments(dir.path()).pop().unwrap();
    let mut torn = fs::OpenOptions::new().append(true).open(&last).unwrap();
    std::io::Write::write_all(&mut torn, &[7; 900]).unwrap();
    let state = open(dir.path());
    assert_eq!(rows(&state, &[], &[]).len(), 50);
    put(&state, 2, 0..50, true);
    // The rest of the torn segment is given back like any other.
    remove(&state, 1, 0..48, true);
    for round in 0..20 {
        put(&state, 2, 50 + round..51 + round, true);
    }
    assert_eq!(rows(&state, &[], &[]).len(), 72);
    assert!(!last.exists());
}

#[test]
fn a_damaged_or_lost_segment_is_told() {
    for how in ["lost", "cut", "changed"] {
        let dir = tempfile::tempdir().unwrap();
        put(&open(dir.path()), 1, 0..50, true);
        let path = segments(dir.path()).pop().unwrap();
        let mut content = fs::read(&path).unwrap();
        match how {
            "lost" => fs::remove_file(&path).unwrap(),
            "cut" => fs::write(&path, &content[..content.len() - 1]).unwrap(),
            _ => {
                content[100] ^= 1;
                fs::write(&path, content).unwrap();
            }
        }
        let found = try_open(dir.path()).and_then(|state| state.get(Space::Queue, &key(1, 0, 7)));
        let Err(StateError::Format(text)) = found else {
            panic!("{how}: {found:?}");
        };
        assert!(text.contains(".seg"), "{text}");
    }
}

#[test]
fn a_record_that_fits_no_segment_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let state = open(dir.path());
    let mut writes = Writes::default();
    writes.put(Space::Meta, *b"innocent", *b"");
    writes.put(Space::Queue, key(1, 0, 1), vec![0; (1 << 20) + 1]);
    assert!(state.apply(writes, false).is_err());
    assert!(!state.contains(Space::Meta, b"innocent").unwrap());
    let mut writes = Writes::default();
    writes.put(Space::Queue, key(1, 0, 1), vec![0; 1 << 20]);
    state.apply(writes, false).unwrap();
    assert_eq!(
        state.get(Space::Queue, &key(1, 0, 1)).unwrap(),
        Some(vec![0; 1 << 20])
    );
}

/// A reader of the index never sees the old rows of a batch gone and the new ones not there yet.
#[test]
fn a_batch_is_seen_whole_or_not_at_all() {
    const ROWS: u64 = 500;
    let dir = tempfile::tempdir().unwrap();
    let state = open(dir.path());
    let write = |round: u64| {
        state
            .with(|live| {
                let mut batch = live.db.batch();
                for row in 0..ROWS {
                    batch.remove(&live.spaces[CHUNKS], key(row, 0, round));
                }
                for row in 0..ROWS {
                    batch.insert(&live.spaces[CHUNKS], key(row, 0, round + 1), *b"row");
                }
                live.commit(batch).unwrap();
                Ok(())
            })
            .unwrap();
    };
    // What the store does in the background raises the number of the last batch to be seen.
    let write_out = || {
        let flushed = state.with(|live| {
            let other = &live.spaces[Space::Meta as usize];
            other.insert(b"a", b"row").unwrap();
            other.rotate_memtable_and_wait().unwrap();
            Ok(())
        });
        flushed.unwrap();
    };
    write(0);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            (1..300).for_each(write);
            done.store(true, Ordering::Relaxed);
        });
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                write_out();
            }
        });
        while !done.load(Ordering::Relaxed) {
            let mut rounds = Vec::new();
            let read = state.with(|live| {
                live.index().rows(&[], &[], &mut |key, _| {
                    rounds.push(key[9..].to_vec());
                    true
                })
            });
            read.unwrap();
            assert_eq!(rounds.len() as u64, ROWS);
            assert!(rounds.iter().all(|round| *round == rounds[0]));
        }
    });
}

/// Readers see whole queues while batches move their blocks from segment to segment.
#[test]
fn reading_beside_moving() {
    let dir = tempfile::tempdir().unwrap();
    let state = open(dir.path());
    const STILL: u64 = 8;
    const LINKS: u64 = 300;
    // All in one segment, so that what stays is moved when the rest has gone.
    let mut writes = Writes::default();
    for host in 0..4 * STILL {
        for at in 0..LINKS {
            writes.put(Space::Queue, key(host, 0, at), record(at));
        }
    }
    state.apply(writes, true).unwrap();
    let moves = std::sync::atomic::AtomicU64::new(0);
    let segments_of_still = || -> Vec<u32> {
        let mut found = Vec::new();
        let end = STILL.to_be_bytes();
        let rows = state.with(|live| {
            live.index().rows(&[], &end, &mut |key, _| {
                found.push(u32::from_be_bytes(key[16..20].try_into().unwrap()));
                true
            })
        });
        rows.unwrap();
        found
    };
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut before = segments_of_still();
            for round in 0..600_u64 {
                let (host, first) = (STILL + round % (3 * STILL), LINKS * (round / (3 * STILL)));
                let mut writes = Writes::default();
                for at in first..first + LINKS {
                    writes.remove(Space::Queue, key(host, 0, at));
                    writes.put(Space::Queue, key(host, 0, at + LINKS), record(at + LINKS));
                }
                // A link of each still host that comes and goes makes its cells small chunks again.
                for host in 0..STILL {
                    writes.put(Space::Queue, key(host, 0, LINKS + round % 8), record(0));
                    writes.remove(Space::Queue, key(host, 0, LINKS + (round + 4) % 8));
                }
                state.apply(writes, true).unwrap();
                let now = segments_of_still();
                moves.fetch_add(
                    u64::from(now != before),
                    std::sync::atomic::Ordering::Relaxed,
                );
                before = now;
            }
        });
        while !writer.is_finished() {
            // What nobody changes is always whole, wherever its blocks are.
            for host in 0..STILL {
                let found = rows(&state, &key(host, 0, 0), &key(host, 0, LINKS));
                assert_eq!(found.len() as u64, LINKS);
                let same = |((_, value), at): (&(Vec<u8>, Vec<u8>), u64)| *value == record(at);
                assert!(found.iter().zip(0..).all(same));
            }
        }
        writer.join().unwrap();
    });
    assert!(moves.into_inner() > 20, "nothing was moved");
}

/// A batch whose end is not known is neither forgotten nor written over.
#[test]
fn a_batch_that_failed_is_not_written_over() {
    let dir = tempfile::tempdir().unwrap();
    let state = open(dir.path());
    put(&state, 1, 0..50, true);
    // The rows of the batch reach the store, and who applied it is told that it failed.
    state
        .with(|live| {
            let mut writes = Writes::default();
            for at in 50..90 {
                writes.put(Space::Queue, key(1, 0, at), record(at));
            }
            let prepared = state.queue.prepare(&writes, true, live.index())?;
            let mut batch = live.db.batch();
            for (key, value) in &prepared.rows {
                batch.insert(&live.spaces[CHUNKS], *key, value.as_deref().unwrap());
            }
            batch.commit().unwrap();
            Ok(())
        })
        .unwrap();
    put(&state, 2, 0..200, true);
    remove(&state, 1, 0..50, true);
    let found = rows(&state, &[], &2_u64.to_be_bytes());
    assert_eq!(found.len(), 40);
    assert!(
        found
            .iter()
            .zip(50..)
            .all(|((_, value), at)| *value == record(at))
    );
    drop(state);
    assert_eq!(rows(&open(dir.path()), &[], &[]).len(), 240);
}
