use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use gossamer_core::canonical::canonical;
use gossamer_core::frontier::HostList;
use gossamer_core::node::{self, HostAction, HostsQuestion, Node, NodeError, NodeSettings};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::state;

/// Wrong settings are ValueError; the store's errors keep their names, a full disk is one of them;
/// what else the machine does to us is OSError.
fn raised(error: NodeError) -> PyErr {
    match error {
        NodeError::Settings(text) => PyValueError::new_err(text),
        NodeError::State(error) => state::state_error(error),
        NodeError::Files(error) if error.is_disk_full() => {
            state::StateFullError::new_err(error.to_string())
        }
        NodeError::Files(error) => PyOSError::new_err(error.to_string()),
    }
}

#[pyclass(name = "Node", module = "gossamer._native", frozen)]
struct PyNode {
    inner: Mutex<Option<Node>>,
    /// Asked without the node, which may be in the middle of a step.
    list: Option<PyHostList>,
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
            action(node).map_err(raised)
        })
    }
}

/// Keys, where the page ends, how many match, how many there are.
type FoundHosts = (Vec<u64>, Option<(u64, String, u64)>, u64, u64);

/// All hosts, to be asked while the node works.
#[pyclass(name = "HostList", module = "gossamer._native", frozen)]
#[derive(Clone)]
struct PyHostList {
    list: HostList,
    partitions: u32,
}

#[pymethods]
impl PyHostList {
    /// A page of hosts: their keys, the place where it ends if there is more, how many match, and
    /// how many there are. ValueError: a wrong question.
    #[pyo3(signature = (question, among = None))]
    fn find(
        &self,
        py: Python<'_>,
        question: &str,
        among: Option<Vec<u64>>,
    ) -> PyResult<FoundHosts> {
        let question: HostsQuestion = serde_json::from_str(question)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let asked = question.question(among).map_err(raised)?;
        let found = py.detach(|| self.list.find(&asked));
        let next = found
            .next
            .map(|place| (place.value, String::from(place.name), place.key));
        Ok((found.keys, next, found.matched, found.total))
    }

    /// Hosts, queued URLs and pages of each partition.
    fn partition_sizes(&self, py: Python<'_>) -> Vec<(u64, u64, u64)> {
        let sizes = py.detach(|| self.list.sizes(self.partitions));
        let rows = sizes.into_iter();
        rows.map(|size| (size.hosts, size.queued, size.pages))
            .collect()
    }

    /// Bytes of memory that the list takes.
    fn ram_bytes(&self, py: Python<'_>) -> usize {
        py.detach(|| self.list.ram_bytes())
    }
}

#[pymethods]
impl PyNode {
    #[new]
    fn new(py: Python<'_>, directory: PathBuf, settings: &str) -> PyResult<PyNode> {
        let settings = NodeSettings::read(settings).map_err(raised)?;
        let partitions = settings.partitions;
        let node = py
            .detach(|| Node::open(&directory, settings))
            .map_err(raised)?;
        Ok(PyNode {
            list: node.host_list().map(|list| PyHostList { list, partitions }),
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
        let settings = NodeSettings::read(settings).map_err(raised)?;
        self.with(py, |node| node.set_settings(settings))
    }

    fn why(&self, py: Python<'_>, url: &str) -> PyResult<String> {
        self.with(py, |node| node.why(url).map(|value| value.to_string()))
    }

    /// The list of all hosts, if the settings want one.
    fn host_list(&self) -> Option<PyHostList> {
        self.list.clone()
    }

    /// Keys of the hosts with a visit under way.
    fn active_hosts(&self, py: Python<'_>) -> PyResult<Vec<u64>> {
        self.with(py, |node| Ok(node.active_hosts()))
    }

    /// What is known of these hosts, as JSON.
    fn hosts(&self, py: Python<'_>, keys: Vec<u64>) -> PyResult<String> {
        let rows = self.with(py, |node| node.hosts(&keys))?;
        Ok(serde_json::Value::from(rows).to_string())
    }

    /// The last visit of each URL, or null, as JSON.
    fn last_visits(&self, py: Python<'_>, urls: Vec<String>) -> PyResult<String> {
        let visits = self.with(py, |node| node.last_visits(&urls))?;
        Ok(serde_json::json!(visits).to_string())
    }

    fn host(&self, py: Python<'_>, name: &str) -> PyResult<Option<String>> {
        self.with(py, |node| {
            node.host(name)
                .map(|value| value.map(|value| value.to_string()))
        })
    }

    /// False: the host is not known.
    fn steer_host(&self, py: Python<'_>, name: &str, action: &str, wait: u64) -> PyResult<bool> {
        let action = HostAction::from_name(action, wait).map_err(raised)?;
        self.with(py, |node| node.steer_host(name, action))
    }

    fn checkpoint(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, Node::checkpoint)
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
            node.map_or(Ok(()), Node::close).map_err(raised)
        })
    }
}

/// What is known of a URL in a crawl that is not running; the crawl is not changed.
#[pyfunction]
fn why(py: Python<'_>, directory: PathBuf, settings: &str, url: &str) -> PyResult<String> {
    let settings = NodeSettings::read(settings).map_err(raised)?;
    py.detach(|| node::why(&directory, &settings, url))
        .map(|value| value.to_string())
        .map_err(raised)
}

/// For each URL the rule of the scope that keeps it out, or nothing. Not canonical is out too.
#[pyfunction]
fn scope_verdicts(
    py: Python<'_>,
    settings: &str,
    seeds: Vec<String>,
    urls: Vec<String>,
) -> PyResult<Vec<Option<String>>> {
    let settings = NodeSettings::read(settings).map_err(raised)?;
    let rules = settings.rules();
    let mut policies = settings.policies(&[]).map_err(raised)?;
    py.detach(|| {
        for seed in &seeds {
            if let Ok(seed) = canonical(seed, None, &rules) {
                policies.scope.add_seed(&seed);
            }
        }
        let verdict = |url: &String| match canonical(url, None, &rules) {
            Ok(url) => Some(policies.scope.check(&url).err()?.as_str().to_owned()),
            Err(refusal) => Some(refusal.to_string()),
        };
        Ok(urls.iter().map(verdict).collect())
    })
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(why, module)?)?;
    module.add_function(wrap_pyfunction!(scope_verdicts, module)?)?;
    module.add_class::<PyHostList>()?;
    module.add_class::<PyNode>()
}
