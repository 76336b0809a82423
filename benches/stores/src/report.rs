//! The lines that a run prints.

use std::path::Path;

use anyhow::Result;
use serde::Serialize;

use crate::load::{Load, Took};
use crate::measure::{Since, Written, anonymous_bytes, disk_bytes};

/// One step of a run: step 0 makes the hosts known, the others visit pages.
#[derive(Debug, Serialize)]
pub struct Step<'a> {
    candidate: &'a str,
    step: u64,
    known: u64,
    queued: u64,
    pages: u64,
    wall_seconds: f64,
    cpu_seconds: f64,
    cpu_us_per_page: Option<f64>,
    /// The part of it that makes up batches, the same for every candidate.
    load_us_per_page: Option<f64>,
    write_bytes: u64,
    cancelled_write_bytes: u64,
    wchar: u64,
    disk_bytes: u64,
    rss_anon_mb: f64,
    worst_apply_ms: f64,
    worst_scan_ms: f64,
    errors: u64,
}

impl<'a> Step<'a> {
    /// The step that began at `since` and ends now.
    pub fn ended(
        candidate: &'a str,
        step: u64,
        load: &mut Load,
        since: Since,
        dir: &Path,
    ) -> Result<Step<'a>> {
        let (wall, processor) = (since.wall(), since.processor());
        let Took {
            pages,
            load_seconds,
            worst_apply,
            worst_scan,
        } = load.took();
        let per_page = |seconds: f64| (pages > 0).then(|| round(seconds * 1e6 / pages as f64));
        let written = Written::now()?;
        Ok(Step {
            candidate,
            step,
            known: load.known(),
            queued: load.queued(),
            pages,
            wall_seconds: round(wall),
            cpu_seconds: round(processor),
            cpu_us_per_page: per_page(processor),
            load_us_per_page: per_page(load_seconds),
            write_bytes: written.write_bytes,
            cancelled_write_bytes: written.cancelled_bytes,
            wchar: written.wchar,
            disk_bytes: disk_bytes(dir)?,
            rss_anon_mb: round(anonymous_bytes()? as f64 / 1e6),
            worst_apply_ms: round(worst_apply.as_secs_f64() * 1e3),
            worst_scan_ms: round(worst_scan.as_secs_f64() * 1e3),
            errors: load.errors(),
        })
    }
}

/// The end of a run, after the store was closed.
#[derive(Debug, Serialize)]
pub struct End<'a> {
    pub candidate: &'a str,
    pub end: &'static str,
    pub known: u64,
    pub pages: u64,
    pub errors: u64,
    pub wall_seconds: f64,
    pub cpu_seconds: f64,
    pub close_seconds: f64,
    pub write_bytes: u64,
    pub cancelled_write_bytes: u64,
    pub wchar: u64,
    pub disk_bytes: u64,
}

/// Prints a line of JSON.
pub fn print(line: &impl Serialize) -> Result<()> {
    println!("{}", serde_json::to_string(line)?);
    Ok(())
}

/// Three digits are more than a shared machine can tell.
pub fn round(number: f64) -> f64 {
    (number * 1e3).round() / 1e3
}
