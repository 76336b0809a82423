//! What only runs on disk can do: move, merge, be damaged, be left behind.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;
use std::time::Instant;

use super::contract::Door;
use super::run::{Run, path_of};
use super::{SeenKind, SeenSettings, UrlKey, open};
use crate::store::state::{MemoryState, Reads, Space, State, StateError, Writes};

fn urls(from: u32, count: u32) -> Vec<String> {
    (from..from + count)
        .map(|i| format!("http://h{}/{i}", i % 5))
        .collect()
}

fn files(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    let mut names: Vec<String> = names
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Commits until keys have moved into runs.
fn filled(state: &MemoryState, dir: &Path) {
    let mut door = Door::new(SeenKind::Exact, state, Some(dir));
    for i in 0..40 {
        assert!(door.admit(&urls(i * 30, 30)).iter().all(|fresh| *fresh));
        door.commit();
    }
    assert!(door.seen.disk_bytes() >= 16 * 300, "keys have moved");
}

#[test]
fn keys_move_and_runs_merge() {
    let (state, dir) = (MemoryState::default(), tempfile::tempdir().unwrap());
    filled(&state, dir.path());
    let mut door = Door::new(SeenKind::Exact, &state, Some(dir.path()));
    // A thread merges them, and a batch has to carry what it has done.
    let begun = Instant::now();
    while door.seen.disk_bytes() < 16 * 1_000 || files(dir.path()).len() > 12 {
        assert!(begun.elapsed().as_secs() < 60, "{:?}", files(dir.path()));
        let batch = door.seen.seal(&mut door.writes).unwrap();
        state.apply(std::mem::take(&mut door.writes), true).unwrap();
        door.seen.applied(batch, true);
    }
    assert!(!door.admit(&urls(0, 1200)).iter().any(|fresh| *fresh));
    assert!(door.admit(&urls(1200, 100)).iter().all(|fresh| *fresh));
}

#[test]
fn old_runs_go_only_after_a_durable_batch() {
    let (state, dir) = (MemoryState::default(), tempfile::tempdir().unwrap());
    let mut door = Door::new(SeenKind::Exact, &state, Some(dir.path()));
    for i in 0..40 {
        door.admit(&urls(i * 30, 30));
        door.commit();
    }
    // More than all keys once: some runs are merged, and still there.
    let begun = Instant::now();
    while door.seen.disk_bytes() <= 16 * 1_200 {
        assert!(begun.elapsed().as_secs() < 60, "{:?}", files(dir.path()));
        door.commit();
    }
    let before = files(dir.path()).len();
    let batch = door.seen.seal(&mut door.writes).unwrap();
    state.apply(std::mem::take(&mut door.writes), true).unwrap();
    door.seen.applied(batch, true);
    // A thread removes them; to close waits for it.
    drop(door);
    assert!(files(dir.path()).len() < before, "{before}");
}

#[test]
fn files_nobody_lists_are_removed() {
    let (state, dir) = (MemoryState::default(), tempfile::tempdir().unwrap());
    filled(&state, dir.path());
    drop(Door::new(SeenKind::Exact, &state, Some(dir.path())));
    let listed = files(dir.path());
    fs::write(path_of(dir.path(), 999), b"half a run").unwrap();
    fs::write(dir.path().join("note.txt"), b"not ours").unwrap();
    let mut door = Door::new(SeenKind::Exact, &state, Some(dir.path()));
    let mut expected = listed;
    expected.push("note.txt".to_owned());
    assert_eq!(files(dir.path()), expected);
    assert!(!door.admit(&urls(0, 1200)).iter().any(|fresh| *fresh));
}

#[test]
fn damaged_or_missing_runs_are_refused() {
    let (state, dir) = (MemoryState::default(), tempfile::tempdir().unwrap());
    filled(&state, dir.path());
    let settings = SeenSettings {
        directory: Some(dir.path().to_path_buf()),
        ..SeenSettings::default()
    };
    open(SeenKind::Exact, &settings, &state).unwrap();
    let path = dir.path().join(&files(dir.path())[0]);
    let good = fs::read(&path).unwrap();
    let mut flipped = good.clone();
    flipped[good.len() / 2] ^= 1;
    let longer = [&good[..], &[0; 16]].concat();
    for bad in [&flipped[..], &good[..good.len() - 16], &longer, b""] {
        fs::write(&path, bad).unwrap();
        let found = open(SeenKind::Exact, &settings, &state).map(|_| ());
        assert!(matches!(found, Err(StateError::Format(_))), "{found:?}");
        assert_eq!(fs::read(&path).unwrap(), bad, "left as it is");
    }
    fs::remove_file(&path).unwrap();
    let found = open(SeenKind::Exact, &settings, &state).map(|_| ());
    assert!(matches!(found, Err(StateError::Format(_))), "{found:?}");
    fs::write(&path, good).unwrap();
    open(SeenKind::Exact, &settings, &state).unwrap();
}

/// The switch to new runs goes with a batch: if that is lost, the rows are still there.
#[test]
fn a_lost_switch_loses_no_key() {
    let (state, dir) = (MemoryState::default(), tempfile::tempdir().unwrap());
    let mut door = Door::new(SeenKind::Exact, &state, Some(dir.path()));
    let mut known = 0;
    for round in 0..60 {
        door.admit(&urls(known, 15));
        if round % 3 == 2 {
            door.seen.seal(&mut door.writes).unwrap();
            door.seen.forget_pending();
            door.writes = Writes::default();
        } else {
            door.commit();
            known += 15;
        }
        if round % 10 == 9 {
            drop(door);
            door = Door::new(SeenKind::Exact, &state, Some(dir.path()));
        }
        let fresh = door.admit(&urls(0, known));
        assert!(!fresh.contains(&true), "round {round}");
    }
    assert!(door.seen.disk_bytes() > 0);
}

/// Runs of several tiers, merged two at a time, while batches are lost and the process ends now and then.
#[test]
fn many_merges_lose_no_key_and_keep_each_once() {
    let (state, dir) = (MemoryState::default(), tempfile::tempdir().unwrap());
    let mut door = Door::new(SeenKind::Exact, &state, Some(dir.path()));
    let mut known = 0;
    let mut most = 0;
    for round in 0..900 {
        assert!(door.admit(&urls(known, 25)).iter().all(|fresh| *fresh));
        if round % 7 == 6 {
            door.seen.seal(&mut door.writes).unwrap();
            door.seen.forget_pending();
            door.writes = Writes::default();
        } else {
            let batch = door.seen.seal(&mut door.writes).unwrap();
            state.apply(std::mem::take(&mut door.writes), true).unwrap();
            door.seen.applied(batch, true);
            known += 25;
        }
        most = most.max(files(dir.path()).len());
        if round % 100 == 99 {
            drop(door);
            door = Door::new(SeenKind::Exact, &state, Some(dir.path()));
            assert!(
                !door.admit(&urls(0, known)).contains(&true),
                "round {round}"
            );
        }
    }
    drop(door);
    let door = Door::new(SeenKind::Exact, &state, Some(dir.path()));
    let mut keys = Vec::new();
    let all = (UrlKey([0; 16]), UrlKey([0xff; 16]));
    let mut visit = |key| keys.push(key);
    door.seen.keys(all.0, all.1, &state, &mut visit).unwrap();
    keys.sort_unstable();
    assert_eq!(keys.len(), known as usize);
    keys.dedup();
    assert_eq!(keys.len(), known as usize);
    // Some 900 loads: without merges there would be as many files.
    assert!((8..200).contains(&most), "{most}");
}

/// Earlier versions wrote whole keys; what is added to them is written in groups.
#[test]
fn rows_of_earlier_versions_are_read() {
    let (state, dir) = (MemoryState::default(), tempfile::tempdir().unwrap());
    let old: Vec<u8> = (0..5_u8).flat_map(|n| [n; 16]).collect();
    let mut writes = Writes::default();
    writes.put(Space::Seen, 7_u64.to_be_bytes(), old);
    state.apply(writes, true).unwrap();
    for number in 0..3 {
        let mut door = Door::new(SeenKind::Exact, &state, Some(dir.path()));
        assert!(!door.admit(&urls(0, number * 4)).contains(&true));
        assert!(door.admit(&urls(number * 4, 4)).iter().all(|fresh| *fresh));
        door.commit();
        let mut count = 0;
        let all = (UrlKey([0; 16]), UrlKey([0xff; 16]));
        let mut visit = |_| count += 1;
        door.seen.keys(all.0, all.1, &state, &mut visit).unwrap();
        assert_eq!(count, 5 + (number + 1) * 4);
    }
    let mut rows = Vec::new();
    state
        .scan(Space::Seen, &[], &[], &mut |row, _| {
            rows.push(row[0] >> 7);
            true
        })
        .unwrap();
    assert_eq!(rows, [0, 1, 1, 1]);
}

#[test]
fn what_cannot_be_written_whole_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let keys = (0..5_000_u32).map(|n| match n {
        4_999 => Err(StateError::DiskFull("no room".to_owned())),
        _ => Ok(UrlKey([(n >> 8) as u8; 16])),
    });
    assert!(Run::write(dir.path(), 1, 5_000, keys).is_err());
    assert!(files(dir.path()).is_empty());
}

#[test]
fn keys_with_equal_halves_are_found_over_block_borders() {
    let dir = tempfile::tempdir().unwrap();
    let key = |a: u64, b: u64| {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&a.to_be_bytes());
        bytes[8..].copy_from_slice(&b.to_be_bytes());
        UrlKey(bytes)
    };
    let mut keys: Vec<UrlKey> = (0..700).map(|i| key(7, i * 2)).collect();
    keys.extend((0..300).map(|i| key(9, i * 2)));
    let run = Run::write(dir.path(), 1, 1_000, keys.iter().map(|key| Ok(*key))).unwrap();
    let mut known = vec![false; keys.len()];
    run.find(&keys, &mut known).unwrap();
    assert!(known.iter().all(|known| *known));
    let others: Vec<UrlKey> = [key(0, 0), key(7, 3), key(7, 5000), key(8, 0), key(10, 0)].into();
    let mut known = vec![false; others.len()];
    run.find(&others, &mut known).unwrap();
    assert!(known.iter().all(|known| !known));
    let label = run.label;
    let mut read = Vec::new();
    Run::open(dir.path(), label, |key| read.push(key)).unwrap();
    assert_eq!(read, keys);
}
