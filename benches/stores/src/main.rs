//! Candidate embedded stores under one load: the life of queued URLs in a crawl's frontier.
//!
//! A run has a process and a directory of its own and prints a line of JSON for each step.

mod args;
mod candidates;
mod heads;
mod load;
mod measure;
mod records;
mod report;
mod store;
mod web;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use args::{Args, USAGE};
use load::Load;
use measure::{Since, Written, disk_bytes};
use report::{End, Step, print, round};
use web::Web;

/// Hosts whose queues are looked at from their beginning when all is done.
const AUDITED: u32 = 10_000;

fn main() -> ExitCode {
    let args = match Args::parse(std::env::args().skip(1)) {
        Ok(args) => args,
        Err(error) => {
            eprintln!(
                "stores: {error:#}\n{USAGE}\ncandidates: {}",
                candidates::names()
            );
            return ExitCode::from(2);
        }
    };
    let done = claim(&args.dir).and_then(|()| {
        let done = run(&args);
        empty(&args.dir)?;
        done
    });
    match done {
        Ok(0) => ExitCode::SUCCESS,
        Ok(errors) => {
            eprintln!("stores: {errors} URLs did not come back as they should");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("stores: {}: {error:#}", args.candidate);
            ExitCode::FAILURE
        }
    }
}

/// Runs a candidate through the load; gives the number of errors.
fn run(args: &Args) -> Result<u64> {
    let name = args.candidate.as_str();
    let open = candidates::find(name)
        .with_context(|| format!("not a candidate; there are {}", candidates::names()))?;
    let begun = Since::now();
    let is_over = || args.most_seconds.is_some_and(|most| begun.wall() >= most);
    let web = Web::new(args.urls, args.hosts);
    let mut load = Load::new(open(&args.dir)?, web);
    let mut end = "finished";

    let since = Since::now();
    while load.hosts()? {
        if is_over() {
            end = "ended early: the time is over";
            break;
        }
    }
    print(&Step::ended(name, 0, &mut load, since, &args.dir)?)?;
    for step in 1..=args.steps {
        let last = (u128::from(web.groups) * u128::from(step) / u128::from(args.steps)) as u64;
        let since = Since::now();
        while load.visited() < last && !is_over() {
            load.visit(last - load.visited())?;
        }
        let is_cut = load.visited() < last;
        if load.visited() > 0 {
            print(&Step::ended(name, step, &mut load, since, &args.dir)?)?;
        }
        if is_cut {
            end = "ended early: the time is over";
            break;
        }
    }
    // What the audit takes is not the load's.
    let (wall, processor) = (begun.wall(), begun.processor());
    load.audit(AUDITED)?;
    let (known, pages, errors) = (load.known(), load.visited(), load.errors());
    let closing = Since::now();
    drop(load);
    let written = Written::now()?;
    print(&End {
        candidate: name,
        end,
        known,
        pages,
        errors,
        wall_seconds: round(wall + closing.wall()),
        cpu_seconds: round(processor + closing.processor()),
        close_seconds: round(closing.wall()),
        write_bytes: written.write_bytes,
        cancelled_write_bytes: written.cancelled_bytes,
        wchar: written.wchar,
        disk_bytes: disk_bytes(&args.dir)?,
    })?;
    Ok(errors)
}

/// Makes the directory. What is in it at the end is removed, so nothing may be in it before.
fn claim(dir: &Path) -> Result<()> {
    fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    if fs::read_dir(dir)?.next().is_some() {
        bail!("{} is not empty", dir.display());
    }
    Ok(())
}

/// Removes what is in the directory.
fn empty(dir: &Path) -> Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
