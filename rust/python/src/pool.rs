use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use gossamer_core::canonical::{Rules, canonical};
use gossamer_core::clock::Clock;
use gossamer_core::node::NodeSettings;
use gossamer_core::node::pool::{FetcherPool, OpenGate, Parts, Purpose, Task, Visited};
use gossamer_core::store::warc::{FsyncPolicy, Location, Writer};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// What became of one visit.
#[pyclass(name = "Visited", module = "gossamer._native", frozen)]
struct PyVisited {
    inner: Visited,
    places: Vec<Location>,
}

#[pymethods]
impl PyVisited {
    #[getter]
    fn id(&self) -> u64 {
        self.inner.task.lease
    }
    #[getter]
    fn url(&self) -> &str {
        self.inner.task.url.as_str()
    }
    #[getter]
    fn outcome(&self) -> &'static str {
        self.inner.outcome.as_str()
    }
    #[getter]
    fn status(&self) -> u16 {
        self.inner.status
    }
    #[getter]
    fn bytes(&self) -> u64 {
        self.inner.bytes
    }
    #[getter]
    fn seconds(&self) -> f64 {
        self.inner.ended.saturating_sub(self.inner.started) as f64 / 1e6
    }
    #[getter]
    fn detail(&self) -> &str {
        &self.inner.detail
    }
    #[getter]
    fn title(&self) -> Option<&str> {
        self.inner.facts.as_ref().map(|facts| facts.title.as_str())
    }
    #[getter]
    fn simhash(&self) -> Option<u64> {
        self.inner.facts.as_ref().map(|facts| facts.simhash)
    }
    #[getter]
    fn links(&self) -> Vec<&str> {
        let links = self.inner.links.followed.iter();
        links.map(|link| link.url.as_str()).collect()
    }
    /// The decoded body, where it was asked for.
    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.inner.body.as_ref().map(|body| PyBytes::new(py, body))
    }
    /// File, offset and length of each WARC record.
    #[getter]
    fn records(&self) -> Vec<(&str, u64, u64)> {
        self.places
            .iter()
            .map(|place| (&*place.name, place.offset, place.length))
            .collect()
    }
}

/// Fetches, parses and packs batches of URLs on its own threads.
#[pyclass(name = "FetcherPool", module = "gossamer._native", frozen)]
struct PyFetcherPool {
    /// Held for reading by every call that uses it, so that `close` ends only after them.
    pool: RwLock<Option<FetcherPool>>,
    rules: Rules,
    writer: Mutex<Option<Writer>>,
    clock: Arc<Clock>,
    bell: File,
}

impl PyFetcherPool {
    fn guard(&self) -> RwLockReadGuard<'_, Option<FetcherPool>> {
        self.pool.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn using<T>(&self, work: impl FnOnce(&FetcherPool) -> PyResult<T>) -> PyResult<T> {
        match &*self.guard() {
            Some(pool) => work(pool),
            None => Err(PyRuntimeError::new_err("the fetcher pool is closed")),
        }
    }
}

impl PyFetcherPool {
    /// Appends the records of these visits, in one write and at most one flush.
    fn store(&self, mut visited: Vec<Visited>) -> PyResult<Vec<PyVisited>> {
        let counts: Vec<usize> = visited.iter().map(|visit| visit.members.len()).collect();
        let mut members = Vec::with_capacity(counts.iter().sum());
        for visit in &mut visited {
            members.append(&mut visit.members);
        }
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut places = match writer.as_mut() {
            Some(writer) if !members.is_empty() => {
                let now = self.clock.now();
                let places = writer.append(now, &members).map_err(failed)?;
                writer.sync(now).map_err(failed)?;
                places
            }
            _ => Vec::new(),
        }
        .into_iter();
        Ok(visited
            .into_iter()
            .zip(counts)
            .map(|(inner, count)| PyVisited {
                inner,
                places: places.by_ref().take(count).collect(),
            })
            .collect())
    }
}

fn failed(error: impl std::fmt::Display) -> PyErr {
    PyOSError::new_err(error.to_string())
}

#[pymethods]
impl PyFetcherPool {
    /// With `warc`, records go to that directory.
    #[new]
    #[pyo3(signature = (settings, warc=None))]
    fn new(py: Python<'_>, settings: &str, warc: Option<PathBuf>) -> PyResult<PyFetcherPool> {
        let wrong = |error: &dyn std::fmt::Display| PyValueError::new_err(error.to_string());
        let settings = NodeSettings::read(settings).map_err(|error| wrong(&error))?;
        let rules = settings.rules();
        let policies = settings.policies(&[]).map_err(|error| wrong(&error))?;
        let mut visit = settings.visit().map_err(|error| wrong(&error))?;
        visit.warc = warc.is_some();
        let fsync = if settings.store.durable {
            FsyncPolicy::Always
        } else {
            FsyncPolicy::Never
        };
        let writer = warc
            .map(|dir| Writer::create(&dir, settings.warc(fsync)))
            .transpose()
            .map_err(failed)?;
        let clock = Arc::new(Clock::default());
        let parts = Parts {
            gate: Arc::new(OpenGate),
            clock: Arc::clone(&clock),
        };
        let pool = py
            .detach(|| FetcherPool::start(visit, policies, parts))
            .map_err(|error| wrong(&error))?;
        let flags = rustix::event::EventfdFlags::NONBLOCK | rustix::event::EventfdFlags::CLOEXEC;
        let bell = File::from(rustix::event::eventfd(0, flags).map_err(failed)?);
        let ring = bell.try_clone().map_err(failed)?;
        pool.on_arrival(Box::new(move || {
            // A full counter means that nobody has looked yet: it rings already.
            let _ = (&ring).write(&1u64.to_ne_bytes());
        }));
        Ok(PyFetcherPool {
            pool: RwLock::new(Some(pool)),
            rules,
            writer: Mutex::new(writer),
            clock,
            bell,
        })
    }

    /// Readable when an answer has arrived; for an event loop.
    fn fileno(&self) -> i32 {
        self.bell.as_raw_fd()
    }

    /// Takes visits as (id, url). Gives for each `None`, or why the URL was refused.
    #[pyo3(signature = (visits, *, keep_body=false))]
    fn submit(
        &self,
        py: Python<'_>,
        visits: Vec<(u64, String)>,
        keep_body: bool,
    ) -> PyResult<Vec<Option<String>>> {
        py.detach(|| {
            let mut tasks = Vec::with_capacity(visits.len());
            let mut answers = Vec::with_capacity(visits.len());
            for (lease, raw) in visits {
                answers.push(match canonical(&raw, None, &self.rules) {
                    Ok(url) => {
                        tasks.push(Task {
                            lease,
                            url,
                            purpose: Purpose::Page,
                            depth: 0,
                            seed_hops: None,
                            etag: None,
                            last_modified: None,
                            earlier: None,
                            keep_body,
                            not_before: 0,
                            last_try: true,
                            cookie: None,
                            new_connection: false,
                        });
                        None
                    }
                    Err(refusal) => Some(refusal.to_string()),
                });
            }
            self.using(|pool| {
                pool.submit(tasks);
                Ok(answers)
            })
        })
    }

    /// Takes up to `most` answers, waiting up to `wait` seconds for the first. Their records are
    /// in the WARC files when this returns, flushed to the disk if the settings say so.
    fn collect(&self, py: Python<'_>, most: usize, wait: f64) -> PyResult<Vec<PyVisited>> {
        py.detach(|| {
            self.using(|pool| {
                let _ = (&self.bell).read(&mut [0; 8]);
                let wait = Duration::from_secs_f64(wait.clamp(0.0, 60.0));
                self.store(pool.collect(most, wait))
            })
        })
    }

    #[getter]
    fn in_flight(&self) -> PyResult<usize> {
        self.using(|pool| Ok(pool.in_flight()))
    }

    #[getter]
    fn concurrency(&self) -> PyResult<usize> {
        self.using(|pool| Ok(pool.concurrency()))
    }

    /// Begins no further visit; with `now`, gives those under way back as `deferred`.
    #[pyo3(signature = (*, now))]
    fn stop(&self, now: bool) -> PyResult<()> {
        self.using(|pool| {
            pool.stop(now);
            Ok(())
        })
    }

    /// Gives visits under way up, ends all threads and finishes the WARC file. Answers not
    /// collected are dropped. Safe while another thread collects.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| {
            // First the stop, so that a `collect` that waits gets its answers and lets go.
            if let Some(pool) = &*self.guard() {
                pool.stop(true);
            }
            let mut slot = self.pool.write().unwrap_or_else(PoisonError::into_inner);
            drop(slot.take());
            let writer = self
                .writer
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            writer.map_or(Ok(()), Writer::close).map_err(failed)
        })
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyVisited>()?;
    module.add_class::<PyFetcherPool>()
}
