//! What a crawl takes on the disk: everything in its directory, as the file system counts it.
//!
//! Looked up anew when a hundred times the time of the last look has passed, and two seconds at least, so
//! that it costs a hundredth of a core at most, however many files there are.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const EVERY: Duration = Duration::from_secs(2);
const SHARE: u32 = 100;
/// The unit in which the system counts what a file takes, whatever its block size.
const BLOCK: u64 = 512;

#[derive(Debug)]
pub(super) struct DiskUse {
    directory: PathBuf,
    bytes: u64,
    due: Instant,
}

impl DiskUse {
    pub fn new(directory: &Path) -> DiskUse {
        DiskUse {
            directory: directory.to_owned(),
            bytes: 0,
            due: Instant::now(),
        }
    }

    /// Bytes as of the last look, which was two seconds ago at most, or a hundred times as long as it took.
    pub fn bytes(&mut self) -> u64 {
        if Instant::now() >= self.due {
            self.look();
        }
        self.bytes
    }

    /// Bytes, as they are now.
    pub fn look(&mut self) -> u64 {
        let begun = Instant::now();
        self.bytes = used(&self.directory, &[]);
        self.due = begun + EVERY.max(begun.elapsed() * SHARE);
        self.bytes
    }
}

/// What the files below a directory take, without what is below those of `skip`: somebody else counts them. One that
/// goes meanwhile, or cannot be looked at, counts as none.
#[must_use]
pub fn used(directory: &Path, skip: &[PathBuf]) -> u64 {
    let mut sum = 0;
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        let Ok(entries) = std::fs::read_dir(next) else {
            continue;
        };
        for entry in entries.flatten() {
            let Ok(facts) = entry.metadata() else {
                continue;
            };
            let path = entry.path();
            if skip.contains(&path) {
                continue;
            }
            sum += facts.blocks() * BLOCK;
            if facts.is_dir() {
                open.push(path);
            }
        }
    }
    sum
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn everything_below_a_directory_counts() {
        let dir = tempfile::tempdir().unwrap();
        let below = dir.path().join("state/store");
        std::fs::create_dir_all(&below).unwrap();
        let before = used(dir.path(), &[]);
        std::fs::write(dir.path().join("a.warc.gz"), vec![1; 100_000]).unwrap();
        std::fs::write(below.join("0.jnl"), vec![1; 300_000]).unwrap();
        let after = used(dir.path(), &[]);
        assert!(after - before >= 400_000, "{before} {after}");
        let rest = used(dir.path(), &[dir.path().join("state")]);
        assert!((100_000..200_000).contains(&rest), "{rest}");
        assert_eq!(used(&dir.path().join("none"), &[]), 0);
    }
}
