//! What only a disk can do: survive, be shared, be damaged, be full.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{DiskSettings, DiskState, Reads, Space, State, StateError, View, Writes};

fn open(dir: &Path) -> Result<DiskState, StateError> {
    DiskState::open(dir, DiskSettings::default())
}

fn text(error: &StateError) -> String {
    error.to_string()
}

/// The files of a directory with their bytes, to show that a refusal changed nothing.
fn contents(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.file_name().is_some_and(|name| name != "lock") {
                files.push((path.display().to_string(), fs::read(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

fn one(state: &DiskState, key: &[u8]) {
    one_in(state, Space::Meta, key);
}

fn one_in(state: &DiskState, space: Space, key: &[u8]) {
    let mut writes = Writes::default();
    writes.put(space, key, *b"v");
    state.apply(writes, true).unwrap();
}

fn journal_bytes(dir: &Path) -> u64 {
    let files = fs::read_dir(dir.join("store")).unwrap();
    files
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "jnl"))
        .map(|path| fs::metadata(path).map_or(0, |file| file.len()))
        .sum()
}

/// A space that is hardly written to must not keep every journal since its last file.
#[test]
fn the_journals_stay_within_their_bound() {
    let dir = tempfile::tempdir().unwrap();
    let settings = DiskSettings {
        journal_bytes: 96 << 20,
        buffer_bytes: 16 << 20,
        ..DiskSettings::default()
    };
    let state = DiskState::open(dir.path(), settings).unwrap();
    one_in(&state, Space::Robots, b"once");
    let mut most = 0;
    for batch in 0..500_u64 {
        let mut writes = Writes::default();
        writes.put(Space::Meta, *b"clock", batch.to_be_bytes());
        for item in 0..1_000_u64 {
            let key = [batch.to_be_bytes(), item.to_be_bytes()].concat();
            writes.put(Space::Queue, key, vec![b'x'; 1_000]);
        }
        state.apply(writes, false).unwrap();
        most = most.max(journal_bytes(dir.path()));
    }
    // One journal of 64 MB is being filled, and the engine looks only when it is full.
    assert!(most < (96 + 2 * 64) << 20, "{} MB", most >> 20);
}

#[test]
fn two_cannot_have_it_open() {
    let dir = tempfile::tempdir().unwrap();
    let first = open(dir.path()).unwrap();
    assert!(matches!(open(dir.path()), Err(StateError::InUse(_))));
    drop(first);
    open(dir.path()).unwrap();
}

fn look(view: &Path) -> DiskState {
    let settings = DiskSettings {
        at_rest: true,
        ..DiskSettings::default()
    };
    DiskState::open(view, settings).unwrap()
}

/// What is in sorted files and what is only in journals, half a batch at the end of one included.
#[test]
fn a_view_shows_all_and_changes_nothing() {
    let (dir, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let settings = DiskSettings {
        buffer_bytes: 1 << 20,
        ..DiskSettings::default()
    };
    let state = DiskState::open(dir.path(), settings).unwrap();
    for number in 0..40_000_u64 {
        let mut writes = Writes::default();
        writes.put(Space::Queue, number.to_be_bytes(), [7; 100]);
        let queued = [&number.to_be_bytes()[..], &[0; 9]].concat();
        writes.put(Space::Queue, queued, [7; 100]);
        state.apply(writes, false).unwrap();
    }
    drop(state);
    let journals = fs::read_dir(dir.path().join("store")).unwrap();
    let mut journals: Vec<_> = journals
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "jnl"))
        .collect();
    journals.sort();
    let mut torn = fs::OpenOptions::new()
        .append(true)
        .open(journals.last().unwrap())
        .unwrap();
    std::io::Write::write_all(&mut torn, b"half a batch").unwrap();
    let before = contents(dir.path());
    let lock = View::make(dir.path(), &place.path().join("first")).unwrap();
    let view = look(&place.path().join("first"));
    let mut keys = 0;
    view.scan(Space::Queue, &[], &[], &mut |_, _| {
        keys += 1;
        true
    })
    .unwrap();
    assert_eq!(keys, 80_000);
    // A node that is opened writes; it must not wait for anybody, and the writes are seen.
    for number in 0..3_000_u64 {
        one_in(&view, Space::Hosts, &number.to_be_bytes());
    }
    assert!(view.contains(Space::Hosts, &7_u64.to_be_bytes()).unwrap());
    let again = View::make(dir.path(), &place.path().join("second")).unwrap();
    assert!(matches!(open(dir.path()), Err(StateError::InUse(_))));
    drop((view, lock, again));
    assert_eq!(contents(dir.path()), before);
    let linked = contents(&place.path().join("first")).into_iter();
    let linked = linked.filter(|(path, _)| fs::symlink_metadata(path).unwrap().is_symlink());
    let linked: Vec<String> = linked.map(|(path, _)| path).collect();
    assert!(linked.len() > 2, "tables are not copied");
    assert!(linked.iter().any(|path| path.ends_with(".seg")));
    open(dir.path()).unwrap();
}

#[test]
fn what_is_open_is_not_shown() {
    let (dir, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let _state = open(dir.path()).unwrap();
    let refused = View::make(dir.path(), &place.path().join("view"));
    assert!(matches!(refused, Err(StateError::InUse(_))), "{refused:?}");
}

/// A merge that is overdue is made, or a write to the view would wait for ever.
#[test]
fn a_view_of_a_store_that_is_behind_takes_writes() {
    let (dir, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    one(&open(dir.path()).unwrap(), b"first");
    // As after a crash with full journals whose changes are in no sorted file.
    let journal = |number: u32| dir.path().join(format!("store/{number}.jnl"));
    for number in 1..6 {
        fs::copy(journal(0), journal(number)).unwrap();
    }
    let _lock = View::make(dir.path(), &place.path().join("view")).unwrap();
    let view = look(&place.path().join("view"));
    one(&view, b"seen");
    assert!(view.contains(Space::Meta, b"first").unwrap());
}

#[test]
fn other_formats_are_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    one(&open(dir.path()).unwrap(), b"kept");
    let mark = dir.path().join("store/FORMAT");
    let good = fs::read(&mark).unwrap();
    for (bad, expected) in [
        (&b"gossamer-state 7\n"[..], "use the newer version"),
        (
            b"gossamer-state 4\n",
            "begin a new crawl in another directory",
        ),
        (b"gossamer-state 0\n", "the older version"),
        (b"gossamer-state\n", "does not name a format"),
        (b"", "does not name a format"),
        (b"\xff\xfe", "is not text"),
        (&[b'x'; 100_000], "does not name a format"),
    ] {
        fs::write(&mark, bad).unwrap();
        let before = contents(dir.path());
        match open(dir.path()) {
            Err(error @ StateError::Format(_)) => {
                assert!(text(&error).contains(expected), "{error}");
            }
            other => panic!("{other:?}"),
        }
        assert!(contents(dir.path()) == before);
    }
    fs::remove_file(&mark).unwrap();
    assert!(matches!(open(dir.path()), Err(StateError::Format(_))));
    fs::write(&mark, good).unwrap();
    assert!(
        open(dir.path())
            .unwrap()
            .contains(Space::Meta, b"kept")
            .unwrap()
    );
}

#[test]
fn lost_files_are_refused_and_never_made_anew() {
    for lost in ["version", "keyspaces/0", "keyspaces/2", "keyspaces"] {
        let dir = tempfile::tempdir().unwrap();
        one(&open(dir.path()).unwrap(), b"kept");
        let path = dir.path().join("store").join(lost);
        if path.is_dir() {
            fs::remove_dir_all(&path).unwrap();
        } else {
            fs::remove_file(&path).unwrap();
        }
        let found = open(dir.path());
        assert!(
            matches!(found, Err(StateError::Format(_) | StateError::Store(_))),
            "{lost}: {found:?}"
        );
    }
}

#[test]
fn an_interrupted_birth_is_begun_again() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("creating/keyspaces")).unwrap();
    fs::write(dir.path().join("creating/version"), b"FJL").unwrap();
    one(&open(dir.path()).unwrap(), b"a");
    assert!(!dir.path().join("creating").exists());
}

#[test]
fn a_full_device_can_be_tried_again() {
    let dir = tempfile::tempdir().unwrap();
    one(&open(dir.path()).unwrap(), b"before");
    // The reserve is at most a twentieth of the device; a batch larger than the rest is refused.
    let room = super::room::Room::new(dir.path(), u64::MAX);
    assert!(matches!(room.check(1 << 60), Err(StateError::DiskFull(_))));
    let state = open(dir.path()).unwrap();
    one(&state, b"after");
    assert!(state.contains(Space::Meta, b"before").unwrap());
}

#[test]
fn usage_counts_disk() {
    let dir = tempfile::tempdir().unwrap();
    let state = open(dir.path()).unwrap();
    let mut writes = Writes::default();
    for i in 0..2000u32 {
        writes.put(Space::Queue, i.to_be_bytes(), vec![i as u8; 1000]);
    }
    state.apply(writes, true).unwrap();
    let usage = state.usage().unwrap();
    assert!(
        usage.disk_bytes > 0 && usage.buffer_bytes > 2_000_000,
        "{usage:?}"
    );
}

/// The buffers stay within their bound however fast batches come, over many spaces.
#[test]
fn buffers_are_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let settings = DiskSettings {
        buffer_bytes: 4 << 20,
        ..DiskSettings::default()
    };
    let state = DiskState::open(dir.path(), settings).unwrap();
    let mut number = 0u64;
    for _ in 0..150 {
        let mut writes = Writes::default();
        for space in Space::ALL {
            for _ in 0..100 {
                number += 1;
                writes.put(space, number.to_be_bytes(), [7; 100]);
            }
        }
        state.apply(writes, false).unwrap();
        assert!(state.usage().unwrap().buffer_bytes < (4 << 20) + 700 * 250);
    }
    for probe in [1, number / 2, number] {
        let found = Space::ALL
            .iter()
            .any(|&space| state.contains(space, &probe.to_be_bytes()).unwrap());
        assert!(found, "{probe}");
    }
}

const CHILD: &str = "GOSSAMER_STATE_KILL_DIR";

/// Not a test by itself: the process that the next test kills. Each batch writes its number to
/// all spaces and adds one key; the number is told to the parent when `apply` returned.
#[test]
fn child_that_writes_until_killed() {
    let Ok(dir) = std::env::var(CHILD) else {
        return;
    };
    let state = open(Path::new(&dir)).unwrap();
    let start = match state.get(Space::Meta, b"n").unwrap() {
        Some(value) => u64::from_be_bytes(value.try_into().unwrap()),
        None => 0,
    };
    let told = Path::new(&dir).join("told");
    for n in start + 1.. {
        let mut writes = Writes::default();
        for space in Space::ALL {
            for part in 0..20u8 {
                // As long as the key of a queued URL, so that the queue's go to segments.
                let key = [&n.to_be_bytes()[..], &[part], &n.to_be_bytes()].concat();
                writes.put(space, key, vec![part; 200]);
            }
            writes.put(space, *b"n", n.to_be_bytes());
        }
        state.apply(writes, n.is_multiple_of(8)).unwrap();
        fs::write(&told, n.to_be_bytes()).unwrap();
    }
}

fn start_child(dir: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "store::state::disk_tests::child_that_writes_until_killed",
        ])
        .env(CHILD, dir)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn a_killed_process_leaves_whole_batches() {
    let dir = tempfile::tempdir().unwrap();
    let mut last = 0;
    for round in 0..8u64 {
        let mut child = start_child(dir.path());
        let told = dir.path().join("told");
        let begun = Instant::now();
        let read = || -> u64 {
            fs::read(&told)
                .ok()
                .and_then(|b| b.try_into().ok())
                .map_or(0, u64::from_be_bytes)
        };
        // More than one of its own: what is there may be one more than was told before.
        while read() < last + 2 && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_micros(round * 7_919));
        child.kill().unwrap();
        child.wait().unwrap();
        let told = read().max(last);
        let state = open(dir.path()).unwrap();
        let n = u64::from_be_bytes(
            state
                .get(Space::Meta, b"n")
                .unwrap()
                .unwrap()
                .try_into()
                .unwrap(),
        );
        assert!(n >= told, "batch {told} was reported and only {n} is there");
        for space in Space::ALL {
            let mut count = 0u64;
            state
                .scan(space, b"", b"n", &mut |_, _| {
                    count += 1;
                    true
                })
                .unwrap();
            assert_eq!(count, n * 20, "{}", space.as_str());
            assert_eq!(
                state.get(space, b"n").unwrap(),
                Some(n.to_be_bytes().to_vec())
            );
        }
        last = n;
    }
    assert!(last > 8);
}
