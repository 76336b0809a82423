use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use gossamer_core::node::{Node, NodeError, NodeSettings};
use gossamer_core::state::StateError;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// Wrong settings and states are ValueError; what the machine does to us is OSError.
fn raised(error: &NodeError) -> PyErr {
    let text = error.to_string();
    match error {
        NodeError::Settings(_) | NodeError::State(StateError::Format(_)) => {
            PyValueError::new_err(text)
        }
        _ => PyOSError::new_err(text),
    }
}

#[pyclass(name = "Node", module = "gossamer._native", frozen)]
struct PyNode {
    inner: Mutex<Option<Node>>,
}

impl PyNode {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        action: impl FnOnce(&mut Node) -> Result<T, NodeError> + Send,
    ) -> PyResult<T> {
        py.detach(|| {
            let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            let node = inner
                .as_mut()
                .ok_or_else(|| PyRuntimeError::new_err("closed"))?;
            action(node).map_err(|error| raised(&error))
        })
    }
}

#[pymethods]
impl PyNode {
    #[new]
    fn new(py: Python<'_>, directory: PathBuf, settings: &str) -> PyResult<PyNode> {
        let settings = NodeSettings::read(settings).map_err(|error| raised(&error))?;
        let node = py
            .detach(|| Node::open(&directory, settings))
            .map_err(|error| raised(&error))?;
        Ok(PyNode {
            inner: Mutex::new(Some(node)),
        })
    }

    fn add_seeds(&self, py: Python<'_>, urls: Vec<String>) -> PyResult<Vec<Option<String>>> {
        self.with(py, |node| node.add_seeds(&urls))
    }

    fn step(&self, py: Python<'_>, wait: f64) -> PyResult<Vec<u8>> {
        let wait = Duration::from_secs_f64(wait.clamp(0.0, 60.0));
        let progress = self.with(py, |node| node.step(wait))?;
        serde_json::to_vec(&progress).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    #[pyo3(signature = (*, now))]
    fn stop(&self, py: Python<'_>, now: bool) -> PyResult<()> {
        self.with(py, |node| {
            node.stop(now);
            Ok(())
        })
    }

    fn set_paused(&self, py: Python<'_>, paused: bool) -> PyResult<()> {
        self.with(py, |node| {
            node.set_paused(paused);
            Ok(())
        })
    }

    fn set_settings(&self, py: Python<'_>, settings: &str) -> PyResult<()> {
        let settings = NodeSettings::read(settings).map_err(|error| raised(&error))?;
        self.with(py, |node| node.set_settings(settings))
    }

    fn why(&self, py: Python<'_>, url: &str) -> PyResult<String> {
        self.with(py, |node| node.why(url).map(|value| value.to_string()))
    }

    fn aliases(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |node| node.aliases().map(|value| value.to_string()))
    }

    fn undo_alias(&self, py: Python<'_>, host: &str) -> PyResult<bool> {
        self.with(py, |node| node.undo_alias(host))
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| {
            let node = self
                .inner
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            node.map_or(Ok(()), Node::close)
                .map_err(|error| raised(&error))
        })
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyNode>()
}
