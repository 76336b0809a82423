//! The command line.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

pub const USAGE: &str = "stores CANDIDATE --dir DIR [--urls N] [--hosts N] [--steps N] \
    [--most-seconds N]";

/// What to run.
#[derive(Debug)]
pub struct Args {
    pub candidate: String,
    pub urls: u64,
    pub hosts: u32,
    pub steps: u64,
    /// Made for the run and emptied at its end.
    pub dir: PathBuf,
    pub most_seconds: Option<f64>,
}

impl Args {
    /// Reads the words after the program's name.
    pub fn parse(mut words: impl Iterator<Item = String>) -> Result<Args> {
        let candidate = words.next().context("no candidate")?;
        let (mut urls, mut hosts, mut steps) = (100_000_000, 1_000_000, 10);
        let (mut dir, mut most_seconds) = (None, None);
        while let Some(name) = words.next() {
            let value = words
                .next()
                .with_context(|| format!("{name} needs a value"))?;
            let bad = || format!("{name} {value}");
            match name.as_str() {
                "--urls" => urls = value.parse().with_context(bad)?,
                "--hosts" => hosts = value.parse().with_context(bad)?,
                "--steps" => steps = value.parse::<u64>().with_context(bad)?.max(1),
                "--dir" => dir = Some(PathBuf::from(value)),
                "--most-seconds" => most_seconds = Some(value.parse().with_context(bad)?),
                _ => bail!("no such option: {name}"),
            }
        }
        Ok(Args {
            candidate,
            urls,
            hosts,
            steps,
            dir: dir.context("--dir is needed")?,
            most_seconds,
        })
    }
}
