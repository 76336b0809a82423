//! What the process used, as the kernel counts it.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use rustix::time::{ClockId, clock_gettime};

/// User and system time of all threads of the process, in seconds.
fn process_seconds() -> f64 {
    seconds(ClockId::ProcessCPUTime)
}

/// User and system time of the calling thread, in seconds.
pub fn thread_seconds() -> f64 {
    seconds(ClockId::ThreadCPUTime)
}

fn seconds(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// A moment, to measure from.
#[derive(Clone, Copy, Debug)]
pub struct Since {
    wall: Instant,
    processor: f64,
}

impl Since {
    /// This moment.
    pub fn now() -> Since {
        Since {
            wall: Instant::now(),
            processor: process_seconds(),
        }
    }

    /// Seconds gone by.
    pub fn wall(&self) -> f64 {
        self.wall.elapsed().as_secs_f64()
    }

    /// Seconds on the processor since, of all threads.
    pub fn processor(&self) -> f64 {
        process_seconds() - self.processor
    }
}

/// What the process has written since it began.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    /// Bytes sent towards the block layer: counted when a page of the cache is made dirty.
    pub write_bytes: u64,
    /// Bytes of these that were removed again before they reached the device.
    pub cancelled_bytes: u64,
    /// Bytes given to write calls.
    pub wchar: u64,
}

impl Written {
    /// Until now.
    pub fn now() -> Result<Written> {
        let text = fs::read_to_string("/proc/self/io")?;
        Ok(Written {
            write_bytes: field(&text, "write_bytes:")?,
            cancelled_bytes: field(&text, "cancelled_write_bytes:")?,
            wchar: field(&text, "wchar:")?,
        })
    }
}

/// RAM of the process that no file stands behind, in bytes.
pub fn anonymous_bytes() -> Result<u64> {
    let text = fs::read_to_string("/proc/self/status")?;
    Ok(field(&text, "RssAnon:")? * 1024)
}

/// The number in the line that begins with `name`.
fn field(text: &str, name: &str) -> Result<u64> {
    text.lines()
        .find_map(|line| line.strip_prefix(name))
        .and_then(|rest| rest.split_whitespace().next())
        .and_then(|number| number.parse().ok())
        .with_context(|| format!("the kernel does not tell {name}"))
}

/// Bytes of the device that the files below `dir` take. What the store removes while we look does
/// not count.
pub fn disk_bytes(dir: &Path) -> Result<u64> {
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    let mut sum = 0;
    for entry in entries {
        let entry = entry?;
        let about = match entry.metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            about => about?,
        };
        sum += about.blocks() * 512;
        if about.is_dir() {
            sum += disk_bytes(&entry.path())?;
        }
    }
    Ok(sum)
}
