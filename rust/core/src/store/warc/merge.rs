//! Sorted runs of lines on disk, merged into one sorted file.

use super::error::WarcError;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Runs open at a time: well under the usual limit of open files.
const FAN_IN: usize = 128;

/// Runs waiting to be merged; their files are removed whatever happens.
#[derive(Debug)]
pub(super) struct Runs {
    base: PathBuf,
    files: Vec<PathBuf>,
    made: usize,
}

impl Runs {
    /// Runs kept beside the file they will become.
    pub fn beside(out: &Path) -> Self {
        Runs {
            base: out.to_path_buf(),
            files: Vec::new(),
            made: 0,
        }
    }

    fn next_path(&mut self) -> PathBuf {
        let mut name = self.base.clone().into_os_string();
        name.push(format!(".{}.{}.part", std::process::id(), self.made));
        self.made += 1;
        let path = PathBuf::from(name);
        self.files.push(path.clone());
        path
    }

    /// Adds lines that are sorted already.
    pub fn add(&mut self, sorted: &[Vec<u8>]) -> Result<(), WarcError> {
        let path = self.next_path();
        let write = || {
            let mut out = BufWriter::new(File::create(&path)?);
            for line in sorted {
                out.write_all(line)?;
                out.write_all(b"\n")?;
            }
            out.flush()
        };
        write().map_err(|e| WarcError::io(&path, e))
    }

    /// Merges all runs into `out`, which appears whole; gives the number of lines.
    pub fn finish(mut self, out: &Path) -> Result<u64, WarcError> {
        let mut waiting = self.files.clone();
        loop {
            let rest = waiting.split_off(waiting.len().min(FAN_IN));
            let target = self.next_path();
            let lines = merge(&waiting, &target).map_err(|e| WarcError::io(&target, e))?;
            for done in &waiting {
                let _ = fs::remove_file(done);
            }
            if rest.is_empty() {
                fs::rename(&target, out).map_err(|e| WarcError::io(out, e))?;
                return Ok(lines);
            }
            // The merged run goes last, so that each line is copied about log(runs) times.
            waiting = rest;
            waiting.push(target);
        }
    }
}

impl Drop for Runs {
    fn drop(&mut self) {
        for file in &self.files {
            let _ = fs::remove_file(file);
        }
    }
}

fn next_line(run: &mut BufReader<File>) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let read = run.read_until(b'\n', &mut line)?;
    Ok((read > 0).then_some(line))
}

fn merge(runs: &[PathBuf], target: &Path) -> io::Result<u64> {
    let mut inputs = Vec::with_capacity(runs.len());
    let mut heads = BinaryHeap::new();
    for (at, path) in runs.iter().enumerate() {
        let mut input = BufReader::new(File::open(path)?);
        if let Some(line) = next_line(&mut input)? {
            heads.push(Reverse((line, at)));
        }
        inputs.push(input);
    }
    let mut out = BufWriter::new(File::create(target)?);
    let mut lines = 0;
    while let Some(Reverse((line, at))) = heads.pop() {
        out.write_all(&line)?;
        lines += 1;
        if let Some(next) = next_line(&mut inputs[at])? {
            heads.push(Reverse((next, at)));
        }
    }
    out.into_inner()
        .map_err(io::IntoInnerError::into_error)?
        .sync_all()?;
    Ok(lines)
}
