//! The frontier over a memory store: for the contract tests and for trying policies out. A crawl
//! drives the frontier natively, with the store on disk, as the rehearsal here does at any size.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use gossamer_core::canonical::Url;
use gossamer_core::frontier::rehearsal::{Rehearsal, Took};
use gossamer_core::frontier::{
    self as core, Admission, CompileRobots, Micros, Next, Purpose, Report, RobotsRules, Settings,
    Verdict,
};
use gossamer_core::links::{Link, Score};
use gossamer_core::outcome::Outcome;
use gossamer_core::store::state::memory::MemoryState;
use gossamer_core::store::state::{State, StateError, Writes};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::state::state_error;

/// Rules of one line per forbidden prefix, for tests.
struct Prefixes(Vec<String>);

impl RobotsRules for Prefixes {
    fn allows(&self, path: &str) -> bool {
        !self
            .0
            .iter()
            .any(|prefix| path.starts_with(prefix.as_str()))
    }

    fn crawl_delay_us(&self) -> Option<Micros> {
        None
    }
}

fn prefixes() -> CompileRobots {
    Box::new(|body| {
        let text = String::from_utf8_lossy(body);
        Box::new(Prefixes(text.lines().map(str::to_owned).collect()))
    })
}

fn failed(error: StateError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

type VisitRow = (u64, &'static str, String, u64, u8);
type RefusalRow = (String, &'static str);

#[pyclass(module = "gossamer._native")]
struct MemoryFrontier {
    frontier: core::Frontier,
    state: MemoryState,
    writes: Writes,
}

#[pymethods]
impl MemoryFrontier {
    #[new]
    #[pyo3(signature = (now, *, gap_us = 1_000_000, ip_gap_us = 500_000))]
    fn new(now: u64, gap_us: u64, ip_gap_us: u64) -> PyResult<MemoryFrontier> {
        let settings = Settings {
            gap: gap_us,
            ip_gap: ip_gap_us,
            ..Settings::default()
        };
        let state = MemoryState::default();
        let mut writes = Writes::default();
        let frontier =
            core::Frontier::open(settings, prefixes(), &state, now, &mut writes).map_err(failed)?;
        state.apply(writes, true).map_err(failed)?;
        Ok(MemoryFrontier {
            frontier,
            state,
            writes: Writes::default(),
        })
    }

    /// Queues (path, host, host key, score) rows as seeds; an outcome for each that was refused.
    fn add(
        &mut self,
        now: u64,
        rows: Vec<(String, String, u64, f32)>,
    ) -> PyResult<Vec<Option<&'static str>>> {
        let mut links = Vec::with_capacity(rows.len());
        for (path, host, key, score) in rows {
            let url = Url::from_parts(false, &host, key, &path)
                .map_err(|refusal| PyValueError::new_err(refusal.to_string()))?;
            links.push(Link {
                score: Some(Score::new(score)),
                ..Link::seed(url)
            });
        }
        let mut out = Vec::with_capacity(links.len());
        self.frontier
            .add(now, &links, &self.state, &mut self.writes, &mut out)
            .map_err(failed)?;
        Ok(out
            .into_iter()
            .map(|admission| match admission {
                Admission::Added => None,
                Admission::Refused(outcome) => Some(outcome.as_str()),
            })
            .collect())
    }

    /// (answer, until, visits as (lease, purpose, url, host key, tries), refusals as (url, outcome)).
    fn take(
        &mut self,
        now: u64,
        most: usize,
    ) -> PyResult<(&'static str, u64, Vec<VisitRow>, Vec<RefusalRow>)> {
        let (mut visits, mut refusals) = (Vec::new(), Vec::new());
        let next = self
            .frontier
            .take(
                now,
                most,
                &self.state,
                &mut self.writes,
                &mut visits,
                &mut refusals,
            )
            .map_err(failed)?;
        let (answer, until) = match next {
            Next::Taken(_) => ("taken", now),
            Next::NothingDue { until } => ("nothing_due", until),
            Next::Busy => ("busy", now),
            Next::LimitReached => ("limit_reached", now),
            Next::Finished => ("finished", now),
        };
        let visits = visits
            .into_iter()
            .map(|visit| {
                let purpose = match visit.purpose {
                    Purpose::Page => "page",
                    Purpose::Robots => "robots",
                    Purpose::Sitemap => "sitemap",
                };
                let key = visit.link.url.host_key();
                let url = visit.link.url.into_string();
                (visit.lease, purpose, url, key, visit.tries)
            })
            .collect();
        let refusals = refusals
            .into_iter()
            .map(|refusal| (refusal.link.url.into_string(), refusal.outcome.as_str()))
            .collect();
        Ok((answer, until, visits, refusals))
    }

    /// Ends a lease; says what was decided.
    #[pyo3(signature = (now, lease, outcome, *, ip = None, response_us = None, wait_us = None, robots = None))]
    #[expect(clippy::too_many_arguments, reason = "a report's fields by name")]
    fn finish(
        &mut self,
        now: u64,
        lease: u64,
        outcome: &str,
        ip: Option<IpAddr>,
        response_us: Option<u64>,
        wait_us: Option<u64>,
        robots: Option<Vec<u8>>,
    ) -> PyResult<&'static str> {
        let outcome = Outcome::from_name(outcome)
            .ok_or_else(|| PyValueError::new_err(format!("no such outcome: {outcome}")))?;
        let mut report = Report::new(outcome, now, now);
        report.ip = ip;
        report.response_us = response_us;
        report.wait_us = wait_us;
        report.robots = robots.unwrap_or_default();
        let verdict = self.frontier.finish(now, lease, &report, &mut self.writes);
        Ok(match verdict {
            Verdict::Done => "done",
            Verdict::RetryAt(_) => "retry",
            Verdict::Returned { .. } => "returned",
            Verdict::RobotsKnown => "robots_known",
            Verdict::HostSetAside { .. } => "host_set_aside",
            Verdict::HostGivenUp(_) => "host_given_up",
            Verdict::UnknownLease => "unknown_lease",
        })
    }

    /// Applies the batch.
    fn commit(&mut self) -> PyResult<()> {
        let mut writes = std::mem::take(&mut self.writes);
        let batch = self.frontier.seal(&mut writes);
        self.state.apply(writes, true).map_err(failed)?;
        self.frontier.applied(batch);
        Ok(())
    }

    /// Forgets what was not committed, and opens again.
    fn crash(&mut self, now: u64) -> PyResult<()> {
        let settings = self.frontier.settings().clone();
        let mut writes = Writes::default();
        self.frontier = core::Frontier::open(settings, prefixes(), &self.state, now, &mut writes)
            .map_err(failed)?;
        self.state.apply(writes, true).map_err(failed)?;
        self.writes = Writes::default();
        Ok(())
    }

    /// (queued, leases, repairs)
    fn counts(&self) -> (u64, u64, u64) {
        let counters = self.frontier.counters();
        (counters.queued, counters.leases, counters.repairs)
    }
}

/// `seen` and the frontier on a crawl's store, at any size, without fetching.
#[pyclass(module = "gossamer._native", frozen)]
struct CrawlRehearsal {
    crawl: Mutex<Option<Rehearsal>>,
    queued: Arc<AtomicU64>,
}

/// URLs added, visits, errors; seconds in `seen`, in the frontier, to apply the batches, on the
/// processor; the longest seconds to apply one batch and of one call of the frontier.
type Figures = (u64, u64, u64, f64, f64, f64, f64, f64, f64);

impl CrawlRehearsal {
    /// Runs `f` without the interpreter's lock.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&mut Rehearsal) -> Result<T, StateError> + Send,
    ) -> PyResult<T> {
        py.detach(|| {
            let mut crawl = self.crawl.lock().unwrap_or_else(PoisonError::into_inner);
            match crawl.as_mut() {
                Some(crawl) => f(crawl).map_err(state_error),
                None => Err(PyRuntimeError::new_err("closed")),
            }
        })
    }
}

#[pymethods]
impl CrawlRehearsal {
    #[new]
    fn new(py: Python<'_>, directory: PathBuf, urls: u64, hosts: u64) -> PyResult<CrawlRehearsal> {
        let crawl = py
            .detach(|| Rehearsal::open(&directory, urls, hosts))
            .map_err(state_error)?;
        Ok(CrawlRehearsal {
            queued: crawl.queued(),
            crawl: Mutex::new(Some(crawl)),
        })
    }

    /// Makes up to so many hosts known by their start pages.
    fn hosts(&self, py: Python<'_>, most: u64) -> PyResult<Figures> {
        self.with(py, |crawl| crawl.hosts(most).map(figures))
    }

    /// Visits up to so many pages that bring 50 fresh URLs each.
    fn visit(&self, py: Python<'_>, pages: u64) -> PyResult<Figures> {
        self.with(py, |crawl| crawl.visit(pages).map(figures))
    }

    /// URLs queued when the last batch was applied; answers while another call goes on.
    fn queued(&self) -> u64 {
        self.queued.load(Ordering::Relaxed)
    }

    /// URLs known, URLs queued, hosts known, hosts in memory, bytes of queued URLs in memory.
    fn counts(&self, py: Python<'_>) -> PyResult<(u64, u64, u64, u64, u64)> {
        self.with(py, |crawl| {
            let counters = crawl.counters();
            Ok((
                crawl.known(),
                counters.queued,
                counters.hosts_known,
                counters.hosts_in_ram,
                counters.head_bytes,
            ))
        })
    }

    /// Bytes: the store's disk, its cache, its buffers; the disk and the RAM of `seen`.
    fn usage(&self, py: Python<'_>) -> PyResult<(u64, u64, u64, u64, u64)> {
        self.with(py, |crawl| {
            let (store, disk, ram) = crawl.usage()?;
            Ok((
                store.disk_bytes,
                store.cache_bytes,
                store.buffer_bytes,
                disk,
                ram,
            ))
        })
    }

    fn close(&self, py: Python<'_>) {
        py.detach(|| {
            drop(
                self.crawl
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .take(),
            )
        });
    }
}

fn figures(took: Took) -> Figures {
    (
        took.urls,
        took.visits,
        took.errors,
        took.seen.as_secs_f64(),
        took.frontier.as_secs_f64(),
        took.apply.as_secs_f64(),
        took.cpu.as_secs_f64(),
        took.pause.as_secs_f64(),
        took.call.as_secs_f64(),
    )
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<CrawlRehearsal>()?;
    module.add_class::<MemoryFrontier>()
}
