//! The fetch stage by itself: a list of requests in, a list of responses out.

use std::sync::Arc;

use gossamer_core::canonical::{Refusal, Rules, Url, canonical};
use gossamer_core::fetch::{Fetcher as Core, Purpose, Request, Response};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

use super::fetch_settings::from_dict;

/// What became of one request.
#[pyclass(frozen, module = "gossamer._native")]
struct FetchResponse(Response);

#[pymethods]
impl FetchResponse {
    #[getter]
    fn outcome(&self) -> &'static str {
        self.0.outcome.as_str()
    }
    #[getter]
    fn status(&self) -> u16 {
        self.0.status
    }
    #[getter]
    fn http_version(&self) -> &'static str {
        self.0.http_version.as_str()
    }
    #[getter]
    fn request_head<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.request_head)
    }
    #[getter]
    fn response_head<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.response_head.as_bytes())
    }
    #[getter]
    fn wire_body<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.wire_body)
    }
    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.body)
    }
    #[getter]
    fn chunked(&self) -> bool {
        self.0.chunked
    }
    #[getter]
    fn ip(&self) -> Option<String> {
        self.0.ip.map(|ip| ip.to_string())
    }
    #[getter]
    fn location(&self) -> Option<&str> {
        self.0.location.as_deref()
    }
    #[getter]
    fn retry_after(&self) -> Option<f64> {
        self.0.retry_after.map(|wait| wait.as_secs_f64())
    }
    #[getter]
    fn reused(&self) -> bool {
        self.0.reused
    }
    #[getter]
    fn truncated(&self) -> Option<&'static str> {
        self.0.truncated.map(|reason| reason.as_str())
    }
    #[getter]
    fn detail(&self) -> &str {
        &self.0.detail
    }
    /// Microseconds: dns, connect, tls, first_byte, total.
    #[getter]
    fn timings(&self) -> (u64, u64, u64, u64, u64) {
        let t = self.0.timings;
        (t.dns, t.connect, t.tls, t.first_byte, t.total)
    }
    /// The first field of that name.
    fn header(&self, name: &str) -> Option<String> {
        self.0.header(name)
    }
    fn __repr__(&self) -> String {
        format!(
            "FetchResponse({}, status={}, body={}, {:?})",
            self.0.outcome.as_str(),
            self.0.status,
            self.0.body.len(),
            self.0.detail
        )
    }
}

/// The fetcher with a runtime of its own.
#[pyclass(frozen, module = "gossamer._native")]
struct Fetcher {
    core: Core,
    runtime: Runtime,
}

#[pymethods]
impl Fetcher {
    #[new]
    #[pyo3(signature = (settings=None))]
    fn new(settings: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let settings = settings.map(from_dict).transpose()?.unwrap_or_default();
        let core = Core::new(settings).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(Fetcher { core, runtime })
    }

    /// Fetches URLs, or dictionaries with `url`, `etag`, `last_modified`, `purpose`, `max_body`;
    /// answers in the order of the requests.
    #[pyo3(signature = (requests, *, concurrency=64))]
    fn fetch(
        &self,
        py: Python<'_>,
        requests: Vec<Bound<'_, PyAny>>,
        concurrency: usize,
    ) -> PyResult<Vec<FetchResponse>> {
        let requests = requests.iter().map(request).collect::<PyResult<Vec<_>>>()?;
        let turns = Arc::new(Semaphore::new(concurrency.max(1)));
        let responses = py.detach(|| {
            self.runtime.block_on(async {
                let mut tasks = Vec::with_capacity(requests.len());
                for request in requests {
                    let turn = Arc::clone(&turns).acquire_owned().await;
                    let core = self.core.clone();
                    tasks.push(tokio::spawn(async move {
                        let response = match request {
                            Ok(request) => core.fetch(request).await,
                            Err(refusal) => Response::refused(&refusal.to_string()),
                        };
                        drop(turn);
                        response
                    }));
                }
                let mut responses = Vec::with_capacity(tasks.len());
                for task in tasks {
                    responses.push(task.await);
                }
                responses
            })
        });
        responses
            .into_iter()
            .map(|response| match response {
                Ok(response) => Ok(FetchResponse(response)),
                Err(error) => Err(PyRuntimeError::new_err(error.to_string())),
            })
            .collect()
    }

    /// Closes the connections that are kept open.
    fn close_idle(&self) {
        self.core.close_idle();
    }
}

/// A request, or why its text is no URL that could be fetched.
fn request(value: &Bound<'_, PyAny>) -> PyResult<Result<Request, Refusal>> {
    if let Ok(url) = value.extract::<String>() {
        return Ok(url_of(&url).map(Request::page));
    }
    let dict = value.cast::<PyDict>()?;
    let url: String = match dict.get_item("url")? {
        Some(url) => url.extract()?,
        None => return Err(PyValueError::new_err("a request without 'url'")),
    };
    let mut request = match url_of(&url) {
        Ok(url) => Request::page(url),
        Err(refusal) => return Ok(Err(refusal)),
    };
    for (key, value) in dict {
        let key: String = key.extract()?;
        match key.as_str() {
            "url" => {}
            "etag" => request.etag = value.extract()?,
            "last_modified" => request.last_modified = value.extract()?,
            "max_body" => request.max_body = value.extract()?,
            "purpose" => {
                request.purpose = match value.extract::<String>()?.as_str() {
                    "page" => Purpose::Page,
                    "robots" => Purpose::Robots,
                    "sitemap" => Purpose::Sitemap,
                    other => return Err(PyValueError::new_err(format!("no purpose {other:?}"))),
                }
            }
            _ => return Err(PyValueError::new_err(format!("no request field {key:?}"))),
        }
    }
    Ok(Ok(request))
}

/// The URL that a text spells, with nothing removed but what the standard removes.
fn url_of(text: &str) -> Result<Url, Refusal> {
    let rules = Rules {
        max_length: 1 << 20,
        ..Rules::plain()
    };
    canonical(text, None, &rules)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Fetcher>()?;
    module.add_class::<FetchResponse>()
}
