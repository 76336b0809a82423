use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use gossamer_core::canonical::canonical;
use gossamer_core::doors::Doors;
use gossamer_core::exchange::{Carrier, Grants, Incoming};
use gossamer_core::frontier::HostList;
use gossamer_core::node::{
    self, HostAction, HostsQuestion, Node, NodeError, NodeSettings, Progress,
};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::doors::PyDoors;
use crate::state;

/// Wrong settings are ValueError, another version of Gossamer is VersionError; the store's errors keep their names, a full disk is one of them;
/// what else the machine does to us is OSError.
pub(crate) fn raised(error: NodeError) -> PyErr {
    match error {
        NodeError::Settings(text) => PyValueError::new_err(text),
        NodeError::State(error) => state::state_error(error),
        NodeError::Files(error) if error.is_disk_full() => {
            state::StateFullError::new_err(error.to_string())
        }
        NodeError::Files(error) => PyOSError::new_err(error.to_string()),
        NodeError::Version(text) => state::VersionError::new_err(text),
    }
}

/// How long a step keeps those who ask waiting.
const SLICE: Duration = Duration::from_millis(20);

/// Token, partition, number of links, payload.
type OutgoingRow<'py> = (u64, u32, usize, Bound<'py, PyBytes>);

/// Keeps a node's state as it is, and shows it in another directory, for a [`PyNode`] that is only looked at.
#[pyclass(name = "View", module = "gossamer._native", frozen)]
struct PyView {
    inner: Mutex<Option<node::View>>,
}

#[pymethods]
impl PyView {
    /// StateInUseError: the node runs.
    #[new]
    fn new(py: Python<'_>, directory: PathBuf, place: PathBuf) -> PyResult<PyView> {
        let made = py.detach(|| node::View::make(&directory, &place));
        Ok(PyView {
            inner: Mutex::new(Some(made.map_err(raised)?)),
        })
    }

    /// The state may be changed again.
    fn close(&self) {
        drop(
            self.inner
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
    }
}

/// Bytes that the files below a directory take on the disk, without what is below those of `skip`.
#[pyfunction]
#[pyo3(signature = (directory, skip = Vec::new()))]
fn disk_use(py: Python<'_>, directory: PathBuf, skip: Vec<PathBuf>) -> u64 {
    py.detach(|| node::disk_use(&directory, &skip))
}

#[pyclass(name = "Node", module = "gossamer._native", frozen)]
struct PyNode {
    inner: Mutex<Option<Node>>,
    /// How many wait to ask the node something; a step lets them in between two slices.
    asking: AtomicUsize,
    /// What crosses nodes does not wait for a step to end; none in a standalone crawl.
    cluster: Option<(Arc<Carrier>, Arc<Grants>)>,
    /// Asked without the node, which may be in the middle of a step.
    list: Option<PyHostList>,
    /// Taken from without the node, for the same reason.
    doors: Doors,
}

impl PyNode {
    fn cluster(&self) -> PyResult<&(Arc<Carrier>, Arc<Grants>)> {
        self.cluster
            .as_ref()
            .ok_or_else(|| PyRuntimeError::new_err("a standalone crawl has no other nodes"))
    }

    fn with<T: Send>(
        &self,
        py: Python<'_>,
        action: impl FnOnce(&mut Node) -> Result<T, NodeError> + Send,
    ) -> PyResult<T> {
        py.detach(|| {
            self.asking.fetch_add(1, Ordering::Relaxed);
            let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            self.asking.fetch_sub(1, Ordering::Relaxed);
            let node = inner
                .as_mut()
                .ok_or_else(|| PyRuntimeError::new_err("closed"))?;
            action(node).map_err(raised)
        })
    }

    /// Steps in slices, so that whoever asks meanwhile waits for a slice and not for the step.
    fn step_in_slices(&self, wait: Duration) -> PyResult<Progress> {
        let end = Instant::now() + wait;
        loop {
            let begun = Instant::now();
            let slice = end.saturating_duration_since(begun).min(SLICE);
            let progress = {
                let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
                let node = inner
                    .as_mut()
                    .ok_or_else(|| PyRuntimeError::new_err("closed"))?;
                node.step(slice).map_err(raised)?
            };
            let now = Instant::now();
            // A step that returns early has nothing left to do.
            if now >= end || now.duration_since(begun) < slice {
                return Ok(progress);
            }
            while self.asking.load(Ordering::Relaxed) > 0 && now.elapsed() < SLICE {
                std::thread::sleep(Duration::from_micros(50));
            }
        }
    }
}

/// Host, what was decided and the reason, of each decision; how many more there were.
type HostDecisions = (Vec<(String, String, String)>, u64);

/// Keys, where the page ends, how many match, how many there are.
type FoundHosts = (Vec<u64>, Option<(u64, String, u64)>, u64, u64);

/// The places of a page's hosts, whether there is more, how many match, how many there are.
type PlacedHosts = (Vec<(u64, String, u64)>, bool, u64, u64);

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

    /// The same with the place of each host, and whether there is more.
    #[pyo3(signature = (question, among = None))]
    fn find_places(
        &self,
        py: Python<'_>,
        question: &str,
        among: Option<Vec<u64>>,
    ) -> PyResult<PlacedHosts> {
        let question: HostsQuestion = serde_json::from_str(question)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let asked = question.question(among).map_err(raised)?;
        let found = py.detach(|| self.list.find(&asked));
        let places = found.places.into_iter();
        let places = places.map(|place| (place.value, String::from(place.name), place.key));
        Ok((
            places.collect(),
            found.next.is_some(),
            found.matched,
            found.total,
        ))
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
            cluster: node.carrier(),
            doors: node.doors(),
            list: node.host_list().map(|list| PyHostList { list, partitions }),
            inner: Mutex::new(Some(node)),
            asking: AtomicUsize::new(0),
        })
    }

    /// The doors where policies are asked.
    fn doors(&self) -> PyDoors {
        PyDoors {
            doors: self.doors.clone(),
        }
    }

    fn add_seeds(&self, py: Python<'_>, urls: Vec<String>) -> PyResult<Vec<Option<String>>> {
        self.with(py, |node| node.add_seeds(&urls))
    }

    fn step(&self, py: Python<'_>, wait: f64) -> PyResult<Vec<u8>> {
        let wait = Duration::from_secs_f64(wait.clamp(0.0, 60.0));
        let progress = py.detach(|| self.step_in_slices(wait))?;
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

    /// What host policies decided since this was asked last (host, what, reason), and how many
    /// more decisions there were.
    fn take_host_decisions(&self, py: Python<'_>) -> PyResult<HostDecisions> {
        self.with(py, |node| {
            let (decisions, left_out) = node.take_host_decisions();
            let rows = decisions.into_iter();
            let rows = rows.map(|one| (one.host, one.what, one.reason));
            Ok((rows.collect(), left_out))
        })
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

    /// The first places of its queue and the text of its robots files, as JSON.
    fn host_detail(&self, py: Python<'_>, name: &str, most: usize) -> PyResult<Option<String>> {
        self.with(py, |node| {
            node.host_detail(name, most)
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

    fn rerank(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, Node::rerank)
    }

    fn aliases(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |node| node.aliases().map(|value| value.to_string()))
    }

    /// What was found about parameters, as JSON.
    fn learnt_parameters(&self, py: Python<'_>, most: usize) -> PyResult<String> {
        self.with(py, |node| {
            node.learnt_parameters(most).map(|value| value.to_string())
        })
    }

    /// The URL patterns that are doubted, of one host or of all, as JSON.
    #[pyo3(signature = (most, host=None))]
    fn doubted_patterns(
        &self,
        py: Python<'_>,
        most: usize,
        host: Option<&str>,
    ) -> PyResult<String> {
        self.with(py, |node| {
            node.doubted_patterns(host, most)
                .map(|value| value.to_string())
        })
    }

    /// Takes up what is set aside of a host; gives how many patterns and URLs there were.
    #[pyo3(signature = (host, pattern=None))]
    fn take_up(&self, py: Python<'_>, host: &str, pattern: Option<&str>) -> PyResult<(u64, u64)> {
        let taken = self.with(py, |node| node.take_up(host, pattern))?;
        Ok((taken.patterns, taken.urls))
    }

    fn undo_alias(&self, py: Python<'_>, host: &str) -> PyResult<bool> {
        self.with(py, |node| node.undo_alias(host))
    }

    fn set_roots(&self, py: Python<'_>, urls: Vec<String>) -> PyResult<()> {
        self.with(py, |node| node.set_roots(&urls))
    }

    fn redirected_seeds(&self, py: Python<'_>) -> PyResult<Vec<(String, u8)>> {
        self.with(py, |node| Ok(node.redirected_seeds()))
    }

    fn seeds_taken(&self, py: Python<'_>, urls: Vec<String>) -> PyResult<()> {
        self.with(py, |node| node.seeds_taken(&urls))
    }

    fn partitions(&self, py: Python<'_>) -> PyResult<Vec<(u32, u64)>> {
        self.with(py, |node| Ok(node.partitions()))
    }

    fn frozen(&self, py: Python<'_>) -> PyResult<Vec<u32>> {
        self.with(py, |node| Ok(node.frozen()))
    }

    #[pyo3(signature = (partition, epoch, snapshots=Vec::new()))]
    fn gain(
        &self,
        py: Python<'_>,
        partition: u32,
        epoch: u64,
        snapshots: Vec<PathBuf>,
    ) -> PyResult<()> {
        self.with(py, |node| node.gain(partition, epoch, &snapshots))
    }

    fn freeze(&self, py: Python<'_>, partitions: Vec<u32>) -> PyResult<()> {
        self.with(py, |node| node.freeze(&partitions))
    }

    fn under_way(&self, py: Python<'_>, partition: u32) -> PyResult<usize> {
        self.with(py, |node| Ok(node.under_way(partition)))
    }

    fn changed(&self, py: Python<'_>, partition: u32) -> PyResult<bool> {
        self.with(py, |node| node.changed(partition))
    }

    #[pyo3(signature = (partition, path, whole=true))]
    fn snapshot(
        &self,
        py: Python<'_>,
        partition: u32,
        path: PathBuf,
        whole: bool,
    ) -> PyResult<Vec<u8>> {
        let summary = self.with(py, |node| node.snapshot(partition, &path, whole))?;
        serde_json::to_vec(&summary).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    fn lose(&self, py: Python<'_>, partition: u32) -> PyResult<()> {
        self.with(py, |node| node.lose(partition))
    }

    fn resend(&self, py: Python<'_>, since: u64) -> PyResult<usize> {
        self.with(py, |node| node.resend(since))
    }

    fn positions(&self, py: Python<'_>) -> PyResult<HashMap<u32, (u64, u64)>> {
        self.with(py, |node| Ok(node.positions()))
    }

    fn outgoing<'py>(&self, py: Python<'py>, most: usize) -> PyResult<Vec<OutgoingRow<'py>>> {
        let messages = self.cluster()?.0.outgoing(most);
        Ok(messages
            .into_iter()
            .map(|message| {
                let payload = PyBytes::new(py, &message.payload);
                (message.token, message.partition, message.links, payload)
            })
            .collect())
    }

    fn acknowledge(&self, tokens: Vec<u64>) -> PyResult<()> {
        self.cluster()?.0.answer(&tokens, true);
        Ok(())
    }

    fn give_back(&self, tokens: Vec<u64>) -> PyResult<()> {
        self.cluster()?.0.answer(&tokens, false);
        Ok(())
    }

    fn outbox(&self) -> PyResult<(u64, u64, u64)> {
        let view = self.cluster()?.0.view();
        Ok((view.waiting, view.newest, view.acked))
    }

    fn generation(&self) -> PyResult<u64> {
        Ok(self.cluster()?.0.generation())
    }

    fn receive(&self, generation: u64, messages: Vec<(u32, u64, u64, Vec<u8>)>) -> PyResult<usize> {
        let incoming = messages
            .into_iter()
            .map(|(partition, stream, sequence, payload)| Incoming {
                partition,
                stream,
                sequence,
                payload,
            });
        Ok(self.cluster()?.0.receive(generation, incoming.collect()))
    }

    #[pyo3(signature = (boottime_us))]
    fn set_fence(&self, boottime_us: Option<u64>) -> PyResult<()> {
        self.cluster()?.0.fence.set(boottime_us);
        Ok(())
    }

    fn grants_wanted<'py>(&self, py: Python<'py>) -> PyResult<Vec<(u32, Bound<'py, PyBytes>)>> {
        let requests = self.cluster()?.1.requests();
        let rows = requests.into_iter();
        Ok(rows
            .map(|(home, request)| (home, PyBytes::new(py, &request)))
            .collect())
    }

    fn grants_answer<'py>(
        &self,
        py: Python<'py>,
        asker: &str,
        request: &[u8],
    ) -> PyResult<Bound<'py, PyBytes>> {
        let answer = self.cluster()?.1.answer(asker, request);
        Ok(PyBytes::new(py, &answer))
    }

    fn grants_take(&self, answer: &[u8]) -> PyResult<()> {
        self.cluster()?.1.take(answer);
        Ok(())
    }

    /// The last counters; nothing if it was closed before.
    fn close(&self, py: Python<'_>) -> PyResult<Option<Vec<u8>>> {
        let progress = py.detach(|| {
            let node = self
                .inner
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            node.map(Node::close).transpose().map_err(raised)
        })?;
        let bytes = progress.map(|progress| serde_json::to_vec(&progress));
        bytes
            .transpose()
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))
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

/// Messages by partition, and for each seed why it was refused, or nothing.
type PackedSeeds<'py> = (Vec<(u32, Bound<'py, PyBytes>)>, Vec<Option<String>>);

/// Seeds as messages for the owners of their hosts. `hops`: the redirects that led to them.
#[pyfunction]
#[pyo3(signature = (settings, urls, hops=0))]
fn pack_seeds<'py>(
    py: Python<'py>,
    settings: &str,
    urls: Vec<String>,
    hops: u8,
) -> PyResult<PackedSeeds<'py>> {
    let settings = NodeSettings::read(settings).map_err(raised)?;
    let (messages, reasons) = py
        .detach(|| node::pack_seeds(&settings, &urls, hops))
        .map_err(raised)?;
    let messages = messages
        .into_iter()
        .map(|(partition, payload)| (partition, PyBytes::new(py, &payload)));
    Ok((messages.collect(), reasons))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(why, module)?)?;
    module.add_function(wrap_pyfunction!(pack_seeds, module)?)?;
    module.add_function(wrap_pyfunction!(disk_use, module)?)?;
    module.add_class::<PyView>()?;
    module.add_function(wrap_pyfunction!(scope_verdicts, module)?)?;
    module.add_class::<PyHostList>()?;
    module.add_class::<PyNode>()
}
