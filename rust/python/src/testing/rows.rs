//! Rows that a page writes beside the queue, on a store of their own, at any size.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use gossamer_core::store::rehearsal::{Rehearsal, RowKind};
use gossamer_core::store::state::StateError;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::state::state_error;

/// One kind of row on a store on disk.
#[pyclass(module = "gossamer._native", frozen)]
struct RowsRehearsal {
    store: Mutex<Option<Rehearsal>>,
}

/// Visits, errors, bytes of keys and values; seconds to look up, to apply the batches, on the
/// processor; the longest seconds to apply one batch.
type Figures = (u64, u64, u64, f64, f64, f64, f64);

impl RowsRehearsal {
    /// Runs `f` without the interpreter's lock.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&mut Rehearsal) -> Result<T, StateError> + Send,
    ) -> PyResult<T> {
        py.detach(|| {
            let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
            match store.as_mut() {
                Some(store) => f(store).map_err(state_error),
                None => Err(PyRuntimeError::new_err("closed")),
            }
        })
    }
}

#[pymethods]
impl RowsRehearsal {
    #[new]
    fn new(py: Python<'_>, directory: PathBuf, kind: &str, hosts: u64) -> PyResult<RowsRehearsal> {
        let kind = RowKind::ALL
            .into_iter()
            .find(|known| known.as_str() == kind)
            .ok_or_else(|| {
                let kinds = row_kinds().join(", ");
                PyValueError::new_err(format!("there is no row {kind:?}, there are {kinds}"))
            })?;
        let store = py
            .detach(|| Rehearsal::open(&directory, kind, hosts))
            .map_err(state_error)?;
        Ok(RowsRehearsal {
            store: Mutex::new(Some(store)),
        })
    }

    /// Writes the rows of so many visits.
    fn write(&self, py: Python<'_>, visits: u64) -> PyResult<Figures> {
        let took = self.with(py, |store| store.write(visits))?;
        Ok((
            took.visits,
            took.errors,
            took.bytes,
            took.look_up.as_secs_f64(),
            took.apply.as_secs_f64(),
            took.cpu.as_secs_f64(),
            took.pause.as_secs_f64(),
        ))
    }

    /// Pages that have a row.
    fn pages(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |store| Ok(store.pages()))
    }

    /// Bytes: the store's disk, its cache, its buffers.
    fn usage(&self, py: Python<'_>) -> PyResult<(u64, u64, u64)> {
        let usage = self.with(py, |store| store.usage())?;
        Ok((usage.disk_bytes, usage.cache_bytes, usage.buffer_bytes))
    }

    fn close(&self, py: Python<'_>) {
        py.detach(|| {
            let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
            drop(store.take());
        });
    }
}

/// The kinds of rows.
#[pyfunction]
fn row_kinds() -> Vec<&'static str> {
    RowKind::ALL.iter().map(|kind| kind.as_str()).collect()
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(row_kinds, module)?)?;
    module.add_class::<RowsRehearsal>()
}
