//! `seen` on a state of its own: for tests, benchmarks and tools. In a crawl the node wires the
//! stage to the state that all stages share.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gossamer_core::canonical::{Grouping, Url};
use gossamer_core::seen::rehearsal::{Rehearsal, Took};
use gossamer_core::seen::{Candidate, SeenKind, SeenSettings, open};
use gossamer_core::store::state::{DiskSettings, DiskState, DiskUse, MemoryState, State, Writes};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::canonical::refused;
use crate::state::{StateError, state_error};

enum Store {
    Memory(MemoryState),
    Disk(Box<DiskState>),
}

impl Store {
    fn state(&self) -> &dyn State {
        match self {
            Store::Memory(state) => state,
            Store::Disk(state) => state.as_ref(),
        }
    }
}

struct Inner {
    // Before the state, so that it goes first.
    seen: Box<dyn gossamer_core::seen::Seen>,
    writes: Writes,
    /// The batch whose writes could not be applied.
    sealed: Option<u64>,
    place: Store,
}

/// Which URLs have passed; see `docs/path/3-seen.md`.
#[pyclass(module = "gossamer._native", frozen)]
struct Seen {
    inner: Mutex<Option<Inner>>,
}

impl Seen {
    fn lock(&self) -> MutexGuard<'_, Option<Inner>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `f` without the interpreter's lock.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&mut Inner) -> PyResult<T> + Send,
    ) -> PyResult<T> {
        py.detach(|| match self.lock().as_mut() {
            Some(inner) => f(inner),
            None => Err(StateError::new_err("closed")),
        })
    }
}

#[pymethods]
impl Seen {
    #[new]
    #[allow(clippy::too_many_arguments)]
    #[pyo3(signature = (kind, directory=None, *, cache_bytes=None, filter_bytes=None, recent_keys=None, bloom_bytes=None, store_cache_bytes=None, store_buffer_bytes=None))]
    fn new(
        py: Python<'_>,
        kind: &str,
        directory: Option<PathBuf>,
        cache_bytes: Option<usize>,
        filter_bytes: Option<usize>,
        recent_keys: Option<usize>,
        bloom_bytes: Option<usize>,
        store_cache_bytes: Option<u64>,
        store_buffer_bytes: Option<u64>,
    ) -> PyResult<Seen> {
        let kind = SeenKind::parse(kind).ok_or_else(|| {
            PyValueError::new_err(format!(
                "seen has no kind {kind:?}, it has {}",
                seen_kinds().join(", ")
            ))
        })?;
        let mut settings = SeenSettings::default();
        settings.cache_bytes = cache_bytes.unwrap_or(settings.cache_bytes);
        settings.filter_bytes = filter_bytes.unwrap_or(settings.filter_bytes);
        settings.recent_keys = recent_keys.unwrap_or(settings.recent_keys);
        settings.bloom_bytes = bloom_bytes.unwrap_or(settings.bloom_bytes);
        let mut disk = DiskSettings::default();
        disk.cache_bytes = store_cache_bytes.unwrap_or(disk.cache_bytes);
        disk.buffer_bytes = store_buffer_bytes.unwrap_or(disk.buffer_bytes);
        py.detach(|| {
            settings.directory = directory.as_ref().map(|directory| directory.join("seen"));
            let place = match directory {
                Some(directory) => Store::Disk(Box::new(
                    DiskState::open(&directory, disk).map_err(state_error)?,
                )),
                None => Store::Memory(MemoryState::default()),
            };
            let seen = open(kind, &settings, place.state()).map_err(state_error)?;
            Ok(Seen {
                inner: Mutex::new(Some(Inner {
                    seen,
                    writes: Writes::default(),
                    sealed: None,
                    place,
                })),
            })
        })
    }

    /// For each canonical URL whether it is fresh; it will not be again, unless forgotten.
    fn admit(&self, py: Python<'_>, urls: Vec<String>) -> PyResult<Vec<bool>> {
        let urls: Vec<Url> = urls
            .into_iter()
            .map(|url| Url::from_canonical(url, Grouping::Host).map_err(refused))
            .collect::<PyResult<_>>()?;
        self.with(py, |inner| {
            let candidates: Vec<Candidate<'_>> = urls.iter().map(Candidate::from).collect();
            if inner.sealed.is_some() {
                return Err(StateError::new_err("commit again or forget first"));
            }
            let mut fresh = Vec::new();
            inner
                .seen
                .admit(
                    &candidates,
                    inner.place.state(),
                    &mut inner.writes,
                    &mut fresh,
                )
                .map_err(state_error)?;
            Ok(fresh)
        })
    }

    /// Makes what was admitted last; if that fails it can be tried again or forgotten.
    #[pyo3(signature = (*, durable=false))]
    fn commit(&self, py: Python<'_>, durable: bool) -> PyResult<()> {
        self.with(py, |inner| {
            let batch = match inner.sealed {
                Some(batch) => batch,
                None => inner.seen.seal(&mut inner.writes).map_err(state_error)?,
            };
            inner.sealed = Some(batch);
            inner
                .place
                .state()
                .apply(inner.writes.clone(), durable)
                .map_err(state_error)?;
            inner.sealed = None;
            inner.writes = Writes::default();
            inner.seen.applied(batch, durable);
            Ok(())
        })
    }

    /// Takes back what was admitted since the last commit.
    fn forget(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |inner| {
            inner.writes = Writes::default();
            inner.sealed = None;
            inner.seen.forget_pending();
            Ok(())
        })
    }

    /// Bytes of RAM of the stage, without the store's cache and buffers.
    fn ram_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |inner| Ok(inner.seen.ram_bytes()))
    }

    /// The share of fresh URLs that are held back by mistake.
    fn error_rate(&self, py: Python<'_>) -> PyResult<f64> {
        self.with(py, |inner| Ok(inner.seen.error_rate()))
    }

    /// Bytes used: on disk by store and stage, of its cache, of its buffers.
    fn store_bytes(&self, py: Python<'_>) -> PyResult<(u64, u64, u64)> {
        self.with(py, |inner| {
            let usage = match &inner.place {
                Store::Memory(_) => DiskUse::default(),
                Store::Disk(state) => state.usage().map_err(state_error)?,
            };
            let disk = usage.disk_bytes + inner.seen.disk_bytes();
            Ok((disk, usage.cache_bytes, usage.buffer_bytes))
        })
    }

    /// Closes the state; what was not committed is lost.
    fn close(&self, py: Python<'_>) {
        py.detach(|| drop(self.lock().take()));
    }
}

/// A web of keys that exists only as arithmetic, to test `seen` at any size.
#[pyclass(module = "gossamer._native", frozen)]
struct SeenRehearsal {
    web: Mutex<Rehearsal>,
}

#[pymethods]
impl SeenRehearsal {
    #[new]
    fn new(urls: u64, hosts: u64) -> SeenRehearsal {
        SeenRehearsal {
            web: Mutex::new(Rehearsal::new(urls, hosts)),
        }
    }

    /// Makes pages of 50 fresh URLs known: (tests, fresh, errors, seconds to test, of these
    /// on the processor, seconds to apply).
    fn load(&self, py: Python<'_>, seen: &Seen, pages: u64) -> PyResult<Figures> {
        seen.with(py, |inner| {
            let mut web = self.web.lock().unwrap_or_else(PoisonError::into_inner);
            web.load(inner.seen.as_mut(), inner.place.state(), pages)
                .map(figures)
                .map_err(state_error)
        })
    }

    /// Tests pages whose links are known but for some: as `load`.
    fn visit(&self, py: Python<'_>, seen: &Seen, pages: u64, fresh: u64) -> PyResult<Figures> {
        seen.with(py, |inner| {
            let mut web = self.web.lock().unwrap_or_else(PoisonError::into_inner);
            web.visit(inner.seen.as_mut(), inner.place.state(), pages, fresh)
                .map(figures)
                .map_err(state_error)
        })
    }
}

type Figures = (u64, u64, u64, f64, f64, f64);

fn figures(took: Took) -> Figures {
    (
        took.tests,
        took.fresh,
        took.errors,
        took.admit.as_secs_f64(),
        took.admit_cpu.as_secs_f64(),
        took.apply.as_secs_f64(),
    )
}

/// The kinds of `seen`, the default first.
#[pyfunction]
fn seen_kinds() -> Vec<&'static str> {
    SeenKind::ALL.iter().map(|kind| kind.as_str()).collect()
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(seen_kinds, module)?)?;
    module.add_class::<Seen>()?;
    module.add_class::<SeenRehearsal>()
}
