//! Bindings of the simulated web: a running server, and the model's raw facts for the truth.

use std::path::PathBuf;
use std::sync::Mutex;

use gossamer_simweb::model::kind::{Agent, HINT_WORDS, Kind, Times};
use gossamer_simweb::model::text::CHARSETS;
use gossamer_simweb::model::{Node, Place};
use gossamer_simweb::server::StartError;
use gossamer_simweb::{Model, Options, Server, ServerConfig};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<SimwebServer>()?;
    module.add_class::<SimwebModel>()?;
    Ok(())
}

fn options(json: &str) -> PyResult<Options> {
    Options::from_json(json).map_err(|bad| PyValueError::new_err(bad.to_string()))
}

/// A running server; it ends when stopped or dropped.
#[pyclass(frozen)]
struct SimwebServer {
    server: Mutex<Option<Server>>,
    port: u16,
    dns_port: Option<u16>,
    url: String,
}

#[pymethods]
impl SimwebServer {
    #[new]
    #[pyo3(signature = (options_json, *, workers=1, log=None, dns_port=None))]
    fn new(
        py: Python<'_>,
        options_json: &str,
        workers: usize,
        log: Option<PathBuf>,
        dns_port: Option<u16>,
    ) -> PyResult<SimwebServer> {
        let options = options(options_json)?;
        let config = ServerConfig {
            workers,
            log,
            dns_port,
        };
        let server =
            py.detach(|| Server::start(options, &config))
                .map_err(|error| match error {
                    StartError::Option(bad) => PyValueError::new_err(bad.to_string()),
                    StartError::Io { .. } => PyOSError::new_err(error.to_string()),
                })?;
        Ok(SimwebServer {
            port: server.port(),
            dns_port: server.dns_port(),
            url: server.model().start_url(),
            server: Mutex::new(Some(server)),
        })
    }

    #[getter]
    fn url(&self) -> &str {
        &self.url
    }

    #[getter]
    fn port(&self) -> u16 {
        self.port
    }

    #[getter]
    fn dns_port(&self) -> Option<u16> {
        self.dns_port
    }

    /// Requests answered so far; 0 once stopped.
    fn requests(&self) -> u64 {
        let server = self
            .server
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        server.as_ref().map_or(0, Server::requests)
    }

    /// The simulated time in seconds since 1970; 0 once stopped.
    fn simulated_now(&self) -> f64 {
        let server = self
            .server
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        server.as_ref().map_or(0.0, Server::simulated_now)
    }

    fn stop(&self, py: Python<'_>) {
        py.detach(|| {
            let server = self
                .server
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner)
                .take();
            drop(server);
        });
    }
}

/// Facts about a range of pages: arrays in the machine's byte order.
type Block<'py> = (
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
);

/// The web that follows from some options.
#[pyclass(frozen)]
struct SimwebModel {
    model: Model,
}

fn kind_number(kind: Kind) -> u8 {
    match kind {
        Kind::Plain => 0,
        Kind::Redirect(_) => 1,
        Kind::Error(Times::Always) => 2,
        Kind::Error(Times::Once) => 3,
        Kind::Reset {
            times: Times::Always,
            ..
        } => 4,
        Kind::Reset {
            times: Times::Once, ..
        } => 5,
        Kind::Throttle { status: 429, .. } => 6,
        Kind::Throttle { .. } => 7,
        Kind::Duplicate { .. } => 8,
        Kind::NearDuplicate { .. } => 9,
    }
}

impl SimwebModel {
    fn page(&self, id: u64) -> PyResult<Place> {
        if id >= self.model.hosts.total() {
            return Err(PyValueError::new_err(format!("there is no page {id}")));
        }
        Ok(self.model.place(id))
    }

    fn host(&self, host: u32) -> PyResult<u32> {
        if host >= self.model.hosts.count() {
            return Err(PyValueError::new_err(format!("there is no host {host}")));
        }
        Ok(host)
    }
}

#[pymethods]
impl SimwebModel {
    #[new]
    fn new(py: Python<'_>, options_json: &str) -> PyResult<SimwebModel> {
        let options = options(options_json)?;
        let model = py
            .detach(|| Model::new(options))
            .map_err(|bad| PyValueError::new_err(bad.to_string()))?;
        Ok(SimwebModel { model })
    }

    #[getter]
    fn hosts(&self) -> u32 {
        self.model.hosts.count()
    }

    #[getter]
    fn pages(&self) -> u64 {
        self.model.hosts.total()
    }

    /// The number of pages of a host.
    fn host_pages(&self, host: u32) -> PyResult<u64> {
        Ok(self.model.hosts.pages(self.host(host)?))
    }

    /// The host as it stands in URLs.
    fn authority(&self, host: u32) -> PyResult<String> {
        Ok(self.model.hosts.authority(self.host(host)?))
    }

    /// What DNS answers for the host.
    fn addresses(&self, host: u32) -> PyResult<Vec<String>> {
        let all = self.model.hosts.addresses(self.host(host)?);
        Ok(all.into_iter().map(|address| address.to_string()).collect())
    }

    /// The host whose content a host shows; itself unless it is a mirror.
    fn content_host(&self, host: u32) -> PyResult<u32> {
        Ok(self.model.hosts.content(self.host(host)?))
    }

    /// Status and body of the robots file of a host.
    fn robots<'py>(&self, py: Python<'py>, host: u32) -> PyResult<(u16, Bound<'py, PyBytes>)> {
        let file = self.model.robots_file(self.host(host)?);
        Ok((file.status, PyBytes::new(py, &file.body)))
    }

    /// The path where the host's sitemap begins, if it has one.
    fn sitemap(&self, host: u32) -> PyResult<Option<&'static str>> {
        let host = self.host(host)?;
        Ok(self
            .model
            .sitemap_kind(host)
            .map(|_| self.model.sitemap_entry(host)))
    }

    /// The URLs of nodes, given as an array of codes.
    fn urls(&self, py: Python<'_>, codes: &[u8]) -> Vec<String> {
        py.detach(|| {
            let codes = codes
                .chunks_exact(8)
                .filter_map(|code| code.try_into().ok());
            codes
                .map(|code| self.model.url(self.model.node(u64::from_ne_bytes(code))))
                .collect()
        })
    }

    /// The codes of the stops and of the end of a redirecting page; empty for others.
    fn redirect_chain(&self, id: u64) -> PyResult<Vec<u64>> {
        let place = self.page(id)?;
        let Kind::Redirect(redirect) = self.model.kind(place) else {
            return Ok(Vec::new());
        };
        let stops = 0..=redirect.stops;
        Ok(stops
            .map(|stop| self.model.code(self.model.next_stop(place, redirect, stop)))
            .collect())
    }

    /// The title of a page.
    fn title(&self, id: u64) -> PyResult<String> {
        let original = self.model.original(self.page(id)?);
        let mut title = Vec::new();
        self.model.write_title(original, &mut title);
        let charset = self.model.charset(original).actual;
        let encoding = encoding_rs::Encoding::for_label(charset.as_bytes());
        let decoded = encoding
            .unwrap_or(encoding_rs::UTF_8)
            .decode(&title)
            .0
            .into_owned();
        Ok(decoded)
    }

    /// Names by number, of hints and of charsets (actual, header, meta).
    #[staticmethod]
    #[allow(clippy::type_complexity)]
    fn names() -> (
        Vec<&'static str>,
        Vec<(&'static str, Option<&'static str>, Option<&'static str>)>,
    ) {
        let charsets = CHARSETS
            .iter()
            .map(|charset| (charset.actual, charset.header, charset.meta));
        (HINT_WORDS.to_vec(), charsets.collect())
    }

    /// Facts about the pages `start` to `end`: kind (u8), flags (u8: 1 orphan, 2 found by path),
    /// hint (u8: 0 none, else 1 + 6 × word + 2 × agent + header), charset (u8), id of the page whose
    /// bytes it shows (u64), changes a simulated day (f64), number of links (u32), link codes (u64).
    fn block<'py>(&self, py: Python<'py>, start: u64, end: u64) -> Block<'py> {
        let facts = py.detach(|| self.facts(start, end));
        (
            PyBytes::new(py, &facts.kind),
            PyBytes::new(py, &facts.flags),
            PyBytes::new(py, &facts.hint),
            PyBytes::new(py, &facts.charset),
            PyBytes::new(py, &facts.original),
            PyBytes::new(py, &facts.rate),
            PyBytes::new(py, &facts.counts),
            PyBytes::new(py, &facts.links),
        )
    }
}

#[derive(Default)]
struct Facts {
    kind: Vec<u8>,
    flags: Vec<u8>,
    hint: Vec<u8>,
    charset: Vec<u8>,
    original: Vec<u8>,
    rate: Vec<u8>,
    counts: Vec<u8>,
    links: Vec<u8>,
}

impl SimwebModel {
    fn facts(&self, start: u64, end: u64) -> Facts {
        let model = &self.model;
        let mut facts = Facts::default();
        let mut links: Vec<Node> = Vec::new();
        for id in start..end.min(model.hosts.total()) {
            let place = model.place(id);
            let kind = model.kind(place);
            let original = model.original(place);
            facts.kind.push(kind_number(kind));
            let orphan = model.is_orphan(place);
            let below = orphan && model.orphan_is_below_a_path(place);
            facts.flags.push(u8::from(orphan) | u8::from(below) << 1);
            facts.hint.push(model.hint(original).map_or(0, |hint| {
                let agent = match hint.agent {
                    Agent::Any => 0,
                    Agent::Gossamer => 1,
                    Agent::Other => 2,
                };
                let word = HINT_WORDS
                    .iter()
                    .position(|word| *word == hint.words)
                    .unwrap_or(0);
                1 + 6 * word as u8 + 2 * agent + u8::from(hint.in_header)
            }));
            let charset = model.charset(original);
            let number = CHARSETS
                .iter()
                .position(|known| known == charset)
                .unwrap_or(0);
            facts.charset.push(number as u8);
            let shown = Place {
                host: model.hosts.content(original.host),
                page: original.page,
            };
            facts
                .original
                .extend_from_slice(&model.hosts.id(shown).to_ne_bytes());
            facts
                .rate
                .extend_from_slice(&model.change_rate(original).to_ne_bytes());
            match kind {
                Kind::Redirect(redirect) => {
                    links.clear();
                    links.push(model.next_stop(place, redirect, 0));
                }
                _ => model.links(original, &mut links),
            }
            facts
                .counts
                .extend_from_slice(&(links.len() as u32).to_ne_bytes());
            for &node in &links {
                facts
                    .links
                    .extend_from_slice(&model.code(node).to_ne_bytes());
            }
        }
        facts
    }
}
