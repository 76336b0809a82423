#![allow(clippy::unwrap_used, clippy::panic)]

use super::read::Reader;
use super::{Builder, FsyncPolicy, LogLine, LogWriter, Member, Meta, Position, Settings};
use super::{WarcError, Writer};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const NOW: u64 = 1_763_233_422_000_000;

fn settings(max_size: u64) -> Settings {
    Settings {
        node: "n-1".into(),
        max_size,
        fsync: FsyncPolicy::Never,
        ..Settings::default()
    }
}

fn page(number: usize) -> Member {
    let url = format!("http://example.org/{number}");
    let body = format!("page {number} ").repeat(50);
    Builder::default().response(
        &Meta::new(&url, NOW),
        b"HTTP/1.1 200 OK\r\n\r\n",
        body.as_bytes(),
    )
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    found.sort();
    found
}

/// The URLs of all responses, which must all be whole.
fn urls(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for file in files(dir) {
        let mut reader = Reader::open(&file, 0, None).unwrap();
        let mut first = true;
        while let Some(record) = reader.next_record().unwrap() {
            assert_eq!(first, record.kind == "warcinfo");
            first = false;
            if record.kind == "response" {
                found.push(record.uri.unwrap());
            }
        }
    }
    found
}

fn expected(range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|n| format!("http://example.org/{n}")).collect()
}

#[test]
fn locations_lead_to_the_records() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(dir.path(), settings(2_000)).unwrap();
    assert_eq!(writer.position(), None);
    let mut places = Vec::new();
    for number in 0..40 {
        places.extend(writer.append(NOW, &[page(number)]).unwrap());
        let position = writer.position().unwrap().clone();
        writer.committed(&position).unwrap();
    }
    let open = files(dir.path())
        .iter()
        .filter(|f| f.extension().unwrap() == "open")
        .count();
    assert_eq!(open, 1);
    writer.close().unwrap();
    assert!(files(dir.path()).len() > 3);
    for (number, place) in places.iter().enumerate() {
        let path = dir.path().join(&*place.name);
        assert!(fs::metadata(&path).unwrap().len() <= 2_000);
        let mut reader = Reader::open(&path, place.offset, Some(10_000)).unwrap();
        let record = reader.next_record().unwrap().unwrap();
        assert_eq!(record.uri.unwrap(), format!("http://example.org/{number}"));
        assert_eq!(record.length, place.length);
        assert_eq!(
            record.body.unwrap(),
            format!("page {number} ").repeat(50).as_bytes()
        );
    }
    assert_eq!(urls(dir.path()), expected(0..40));
}

/// A crash at any moment: uncommitted batches are there in part, files are full but not renamed,
/// or new and unknown to the state.
#[test]
fn every_committed_record_is_there_once_after_a_crash() {
    for seed in 0..60 {
        let mut random = SmallRng::seed_from_u64(seed);
        let dir = tempfile::tempdir().unwrap();
        let max_size = random.random_range(500..4_000);
        let mut position: Option<Position> = None;
        let mut committed = 0;
        for _round in 0..4 {
            let mut writer =
                Writer::resume(dir.path(), settings(max_size), position.as_ref()).unwrap();
            assert_eq!(urls(dir.path()), expected(0..committed), "seed {seed}");
            let mut next = committed;
            for _batch in 0..random.random_range(0..6) {
                let size = random.random_range(1..5);
                let members: Vec<Member> = (next..next + size).map(page).collect();
                next += size;
                writer.append(NOW, &members).unwrap();
                if random.random_bool(0.6) {
                    position = writer.position().cloned();
                    committed = next;
                    if random.random_bool(0.7) {
                        writer.committed(position.as_ref().unwrap()).unwrap();
                    }
                }
            }
            if random.random_bool(0.15) {
                position = writer.position().cloned();
                committed = next;
                writer.close().unwrap();
                continue;
            }
            drop(writer);
            // The kernel wrote the tail only in part.
            if let Some(at) = &position
                && let path = dir.path().join(format!("{}.open", at.name))
                && let Ok(meta) = fs::metadata(&path)
            {
                let length = random.random_range(at.offset..=meta.len());
                fs::OpenOptions::new()
                    .write(true)
                    .open(&path)
                    .unwrap()
                    .set_len(length)
                    .unwrap();
            }
        }
        let writer = Writer::resume(dir.path(), settings(max_size), position.as_ref()).unwrap();
        writer.close().unwrap();
        assert_eq!(urls(dir.path()), expected(0..committed), "seed {seed}");
        assert!(
            files(dir.path())
                .iter()
                .all(|f| f.extension().unwrap() == "gz")
        );
    }
}

#[test]
fn a_wrong_state_is_refused_and_nothing_is_touched() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(dir.path(), settings(900)).unwrap();
    let mut positions = Vec::new();
    for number in 0..8 {
        writer.append(NOW, &[page(number)]).unwrap();
        positions.push(writer.position().unwrap().clone());
        writer.committed(positions.last().unwrap()).unwrap();
    }
    drop(writer);
    let before = files(dir.path());
    let refuse = |position: Option<&Position>| {
        Writer::resume(dir.path(), settings(900), position).unwrap_err()
    };
    assert!(matches!(refuse(None), WarcError::StateBehind { .. }));
    assert!(matches!(
        refuse(Some(&positions[0])),
        WarcError::StateBehind { .. }
    ));
    let mut beyond = positions[7].clone();
    beyond.offset += 1_000_000;
    let error = refuse(Some(&beyond));
    assert!(matches!(error, WarcError::Short { .. }));
    assert!(error.to_string().contains(&beyond.name));
    let mut elsewhere = positions[7].clone();
    elsewhere.name = "../x".into();
    assert!(matches!(refuse(Some(&elsewhere)), WarcError::Invalid(_)));
    assert_eq!(files(dir.path()), before);
    fs::remove_file(dir.path().join(format!("{}.open", positions[7].name))).unwrap();
    let error = refuse(Some(&positions[7]));
    assert!(matches!(error, WarcError::Missing { .. }));
    assert!(error.to_string().contains(&positions[7].name));
}

#[test]
fn nodes_share_a_directory() {
    let dir = tempfile::tempdir().unwrap();
    let mut one = Writer::create(dir.path(), settings(900)).unwrap();
    one.append(NOW, &[page(0)]).unwrap();
    let other = Settings {
        node: "n".into(),
        ..settings(900)
    };
    let two = Writer::resume(dir.path(), other, None).unwrap();
    drop(two);
    assert_eq!(urls(dir.path()), expected(0..1));
    assert!(
        Writer::create(
            dir.path(),
            Settings {
                node: "../x".into(),
                ..settings(1)
            }
        )
        .is_err()
    );
}

#[test]
fn flushes_follow_the_policy() {
    let dir = tempfile::tempdir().unwrap();
    for (fsync, answers) in [
        (FsyncPolicy::Always, [true, true, true, true]),
        (FsyncPolicy::Never, [false; 4]),
        (
            FsyncPolicy::Interval(Duration::from_millis(10)),
            [true, false, true, true],
        ),
    ] {
        let mut writer = Writer::create(
            dir.path(),
            Settings {
                fsync,
                ..settings(900)
            },
        )
        .unwrap();
        writer.append(NOW, &[page(0)]).unwrap();
        let times = [NOW, NOW + 9_999, NOW + 10_000, NOW - 3_600_000_000];
        assert_eq!(times.map(|now| writer.sync(now).unwrap()), answers);
    }
}

#[test]
fn positions_read_back_and_damaged_ones_are_refused() {
    let position = Position {
        serial: 7,
        name: "a.warc.gz".into(),
        offset: 1 << 40,
    };
    let bytes = position.to_bytes();
    assert_eq!(Position::from_bytes(&bytes).unwrap(), position);
    for damaged in [
        &bytes[..3],
        &bytes[..12],
        b"",
        b"\0\0\0\0\0\0\0\0\0\0\0\0../x",
    ] {
        assert!(Position::from_bytes(damaged).is_err());
    }
}

#[test]
fn a_damaged_file_is_read_up_to_the_damage() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(dir.path(), settings(1 << 20)).unwrap();
    let places = writer
        .append(NOW, &(0..5).map(page).collect::<Vec<_>>())
        .unwrap();
    writer.close().unwrap();
    let path = &files(dir.path())[0];
    let whole = fs::read(path).unwrap();
    let third = &places[2];
    for at in third.offset..third.offset + third.length {
        // Cut within the third record, then one byte of it changed.
        let mut changed = whole.clone();
        changed[at as usize] ^= 0x55;
        for bytes in [&whole[..at as usize], &changed] {
            fs::write(path, bytes).unwrap();
            let mut reader = Reader::open(path, 0, Some(1 << 20)).unwrap();
            let mut count = 0;
            let error = loop {
                match reader.next_record() {
                    Ok(Some(_)) => count += 1,
                    Ok(None) => break None,
                    Err(error) => break Some(error),
                }
            };
            assert!(count >= 3, "the records before are given");
            if at > third.offset && bytes.len() < whole.len() {
                assert_eq!(count, 3);
                assert!(
                    matches!(error, Some(WarcError::Format { offset, .. }) if offset == third.offset)
                );
            }
        }
    }
}

fn log_line(url: &str) -> Vec<u8> {
    let mut out = Vec::new();
    LogLine {
        time: NOW,
        url,
        host: "example.org",
        ip: None,
        outcome: "fetched",
        status: Some(200),
        bytes: 5,
        ms: 1.25,
        depth: 1,
        from: None,
        digest: Some([0; 20]),
        stored: None,
        reason: None,
        robots: None,
        soft_404: None,
        purpose: None,
        visited: true,
        left_out: None,
    }
    .write(&mut out);
    out
}

#[test]
fn the_log_resumes_at_its_committed_end() {
    let dir = tempfile::tempdir().unwrap();
    let open = |position: Option<&Position>| {
        LogWriter::resume(dir.path(), "0", 600, FsyncPolicy::Never, position).unwrap()
    };
    let mut position: Option<Position> = None;
    for number in 0..20 {
        let mut log = open(position.as_ref());
        log.append(NOW, &log_line(&format!("http://e/{number}")))
            .unwrap();
        position = log.position().cloned();
        log.committed(position.as_ref().unwrap()).unwrap();
        log.append(NOW, &log_line("http://e/never-committed"))
            .unwrap();
    }
    open(position.as_ref()).close().unwrap();
    let text: String = files(dir.path())
        .iter()
        .map(|file| fs::read_to_string(file).unwrap())
        .collect();
    let urls: Vec<&str> = text.lines().map(|l| l.split('"').nth(7).unwrap()).collect();
    assert_eq!(
        urls,
        (0..20).map(|n| format!("http://e/{n}")).collect::<Vec<_>>()
    );
    assert!(files(dir.path()).len() > 3);
}
