//! WARC files, their index and the fetch log, for Python.

// Keyword arguments of Python are arguments here.
#![allow(clippy::too_many_arguments)]

use crate::state::{StateError, StateFullError};
use gossamer_core::store::warc::cdxj;
use gossamer_core::store::warc::read::{Reader, Record};
use gossamer_core::store::warc::{
    Builder, Digest, FsyncPolicy, Location, LogLine, LogWriter, Member, Meta, Position, RefersTo,
    Settings, Truncated, WarcError, Writer,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

fn raise(error: WarcError) -> PyErr {
    if error.is_disk_full() {
        StateFullError::new_err(error.to_string())
    } else {
        StateError::new_err(error.to_string())
    }
}

fn wrong(text: &str) -> PyErr {
    PyValueError::new_err(text.to_owned())
}

fn address(ip: Option<&str>) -> PyResult<Option<IpAddr>> {
    ip.map(|ip| ip.parse().map_err(|_| wrong("ip is no IP address")))
        .transpose()
}

fn digest(bytes: Option<&[u8]>) -> PyResult<Option<Digest>> {
    bytes
        .map(|bytes| bytes.try_into().map_err(|_| wrong("a digest has 20 bytes")))
        .transpose()
}

/// `fsync_ms`: nothing for never, 0 for always, else the interval.
fn policy(fsync_ms: Option<u64>) -> FsyncPolicy {
    match fsync_ms {
        None => FsyncPolicy::Never,
        Some(0) => FsyncPolicy::Always,
        Some(ms) => FsyncPolicy::Interval(Duration::from_millis(ms)),
    }
}

fn settings(
    node: &str,
    max_size: u64,
    fsync_ms: Option<u64>,
    level: i32,
    block_digest: bool,
) -> Settings {
    Settings {
        node: node.to_owned(),
        max_size,
        fsync: policy(fsync_ms),
        builder: Builder {
            level,
            block_digest,
        },
        ..Settings::default()
    }
}

fn position_of(bytes: Option<&[u8]>) -> PyResult<Option<Position>> {
    bytes.map(Position::from_bytes).transpose().map_err(raise)
}

type Place = (String, String, u64, u64);

/// Kind, file, offset and length of each record.
fn places(members: &[Member], locations: &[Location]) -> Vec<Place> {
    let describe = |(member, at): (&Member, &Location)| {
        let kind = member.kind.as_str().to_owned();
        (kind, at.name.to_string(), at.offset, at.length)
    };
    members.iter().zip(locations).map(describe).collect()
}

/// Writes the WARC files of one node; the engine uses the native writer directly.
#[pyclass(module = "gossamer._native")]
struct WarcWriter {
    writer: Option<Writer>,
    builder: Builder,
}

impl WarcWriter {
    fn writer(&mut self) -> PyResult<&mut Writer> {
        self.writer
            .as_mut()
            .ok_or_else(|| StateError::new_err("the writer is closed"))
    }

    fn append(&mut self, now: u64, members: &[Member]) -> PyResult<Vec<Place>> {
        let locations = self.writer()?.append(now, members).map_err(raise)?;
        Ok(places(members, &locations))
    }
}

#[pymethods]
impl WarcWriter {
    #[new]
    #[pyo3(signature = (dir, *, node="0", max_size=1<<30, fsync_ms=Some(1000), level=1, block_digest=false))]
    fn new(
        dir: PathBuf,
        node: &str,
        max_size: u64,
        fsync_ms: Option<u64>,
        level: i32,
        block_digest: bool,
    ) -> PyResult<Self> {
        let settings = settings(node, max_size, fsync_ms, level, block_digest);
        let builder = settings.builder;
        let writer = Some(Writer::create(&dir, settings).map_err(raise)?);
        Ok(WarcWriter { writer, builder })
    }

    /// Goes on where `position` was committed; what was appended later is cut.
    #[staticmethod]
    #[pyo3(signature = (dir, position, *, node="0", max_size=1<<30, fsync_ms=Some(1000), level=1, block_digest=false))]
    fn resume(
        dir: PathBuf,
        position: Option<&[u8]>,
        node: &str,
        max_size: u64,
        fsync_ms: Option<u64>,
        level: i32,
        block_digest: bool,
    ) -> PyResult<Self> {
        let settings = settings(node, max_size, fsync_ms, level, block_digest);
        let builder = settings.builder;
        let position = position_of(position)?;
        let writer = Writer::resume(&dir, settings, position.as_ref()).map_err(raise)?;
        Ok(WarcWriter {
            writer: Some(writer),
            builder,
        })
    }

    /// Appends response and request, and the outlinks if given, as one batch.
    #[pyo3(signature = (url, date, request, head, body, *, ip=None, truncated=None, protocols=Vec::new(), outlinks=None))]
    fn append_visit(
        &mut self,
        py: Python<'_>,
        url: &str,
        date: u64,
        request: &[u8],
        head: &[u8],
        body: &[u8],
        ip: Option<&str>,
        truncated: Option<&str>,
        protocols: Vec<String>,
        outlinks: Option<Vec<(String, String)>>,
    ) -> PyResult<Vec<Place>> {
        let protocols: Vec<&str> = protocols.iter().map(String::as_str).collect();
        let truncated = truncated
            .map(|name| Truncated::from_name(name).ok_or_else(|| wrong("unknown truncation")))
            .transpose()?;
        let meta = Meta {
            ip: address(ip)?,
            truncated,
            protocols: &protocols,
            ..Meta::new(url, date)
        };
        let builder = self.builder;
        py.detach(|| {
            let response = builder.response(&meta, head, body);
            let joined = meta.concurrent_to(response.record_id);
            let mut members = vec![response, builder.request(&joined, request)];
            if let Some(links) = &outlinks {
                let links = links
                    .iter()
                    .map(|(url, kind)| (url.as_str(), kind.as_str()));
                members.push(builder.metadata(&joined, links));
            }
            self.append(date, &members)
        })
    }

    /// Appends a revisit and its request as one batch.
    #[pyo3(signature = (url, date, request, head, *, refers_to_uri, refers_to_date, payload_digest=None, not_modified=false, ip=None))]
    fn append_revisit(
        &mut self,
        py: Python<'_>,
        url: &str,
        date: u64,
        request: &[u8],
        head: &[u8],
        refers_to_uri: &str,
        refers_to_date: u64,
        payload_digest: Option<&[u8]>,
        not_modified: bool,
        ip: Option<&str>,
    ) -> PyResult<Vec<Place>> {
        let meta = Meta {
            ip: address(ip)?,
            ..Meta::new(url, date)
        };
        let earlier = RefersTo {
            uri: refers_to_uri,
            date: refers_to_date,
            record_id: None,
            payload_digest: digest(payload_digest)?,
            not_modified,
        };
        let builder = self.builder;
        py.detach(|| {
            let revisit = builder.revisit(&meta, head, &earlier);
            let joined = meta.concurrent_to(revisit.record_id);
            let members = [revisit, builder.request(&joined, request)];
            self.append(date, &members)
        })
    }

    /// What to commit; nothing before the first append.
    fn position(&mut self) -> PyResult<Option<Vec<u8>>> {
        Ok(self.writer()?.position().map(Position::to_bytes))
    }

    /// Flushes as the policy says; true when everything survives a power cut.
    fn sync(&mut self, py: Python<'_>, now: u64) -> PyResult<bool> {
        py.detach(|| self.writer()?.sync(now).map_err(raise))
    }

    /// The state up to `position` is committed: full files before it are finished.
    fn committed(&mut self, position: &[u8]) -> PyResult<()> {
        let position = Position::from_bytes(position).map_err(raise)?;
        self.writer()?.committed(&position).map_err(raise)
    }

    /// Finishes all files.
    fn close(&mut self, py: Python<'_>) -> PyResult<()> {
        match self.writer.take() {
            Some(writer) => py.detach(|| writer.close().map_err(raise)),
            None => Ok(()),
        }
    }
}

/// Writes the fetch log of one node.
#[pyclass(module = "gossamer._native")]
struct FetchLogWriter {
    log: Option<LogWriter>,
}

impl FetchLogWriter {
    fn log(&mut self) -> PyResult<&mut LogWriter> {
        self.log
            .as_mut()
            .ok_or_else(|| StateError::new_err("the log is closed"))
    }
}

#[pymethods]
impl FetchLogWriter {
    #[new]
    #[pyo3(signature = (dir, *, node="0", max_size=1<<30, fsync_ms=Some(1000)))]
    fn new(dir: PathBuf, node: &str, max_size: u64, fsync_ms: Option<u64>) -> PyResult<Self> {
        let log = LogWriter::create(&dir, node, max_size, policy(fsync_ms)).map_err(raise)?;
        Ok(FetchLogWriter { log: Some(log) })
    }

    /// Goes on where `position` was committed; later lines are cut.
    #[staticmethod]
    #[pyo3(signature = (dir, position, *, node="0", max_size=1<<30, fsync_ms=Some(1000)))]
    fn resume(
        dir: PathBuf,
        position: Option<&[u8]>,
        node: &str,
        max_size: u64,
        fsync_ms: Option<u64>,
    ) -> PyResult<Self> {
        let position = position_of(position)?;
        let log = LogWriter::resume(&dir, node, max_size, policy(fsync_ms), position.as_ref())
            .map_err(raise)?;
        Ok(FetchLogWriter { log: Some(log) })
    }

    /// Appends a line.
    #[pyo3(signature = (time, url, host, outcome, *, ip=None, status=None, bytes=0, ms=0.0, depth=0, from_url=None, digest=None))]
    fn append(
        &mut self,
        time: u64,
        url: &str,
        host: &str,
        outcome: &str,
        ip: Option<&str>,
        status: Option<u16>,
        bytes: u64,
        ms: f64,
        depth: u32,
        from_url: Option<&str>,
        digest: Option<&[u8]>,
    ) -> PyResult<()> {
        let mut line = Vec::new();
        LogLine {
            time,
            url,
            host,
            ip: address(ip)?,
            outcome,
            status,
            bytes,
            ms,
            depth,
            from: from_url,
            digest: self::digest(digest)?,
            stored: None,
            reason: None,
            robots: None,
            soft_404: None,
            purpose: None,
            visited: true,
            left_out: None,
        }
        .write(&mut line);
        self.log()?.append(time, &line).map_err(raise)
    }

    /// What to commit; nothing before the first append.
    fn position(&mut self) -> PyResult<Option<Vec<u8>>> {
        Ok(self.log()?.position().map(Position::to_bytes))
    }

    /// Flushes as the policy says; true when everything survives a power cut.
    fn sync(&mut self, py: Python<'_>, now: u64) -> PyResult<bool> {
        py.detach(|| self.log()?.sync(now).map_err(raise))
    }

    /// Flushes and ends the log.
    fn close(&mut self, py: Python<'_>) -> PyResult<()> {
        match self.log.take() {
            Some(log) => py.detach(|| log.close().map_err(raise)),
            None => Ok(()),
        }
    }
}

/// A record read from a file; texts as they stand in it.
#[pyclass(module = "gossamer._native", frozen)]
struct WarcRecord(Record);

#[pymethods]
impl WarcRecord {
    #[getter]
    fn offset(&self) -> u64 {
        self.0.offset
    }
    #[getter]
    fn length(&self) -> u64 {
        self.0.length
    }
    #[getter]
    fn kind(&self) -> &str {
        &self.0.kind
    }
    #[getter]
    fn record_id(&self) -> &str {
        &self.0.record_id
    }
    #[getter]
    fn date(&self) -> &str {
        &self.0.date
    }
    #[getter]
    fn uri(&self) -> Option<&str> {
        self.0.uri.as_deref()
    }
    #[getter]
    fn ip(&self) -> Option<&str> {
        self.0.ip.as_deref()
    }
    #[getter]
    fn status(&self) -> Option<u16> {
        self.0.status
    }
    #[getter]
    fn mime(&self) -> Option<&str> {
        self.0.mime.as_deref()
    }
    #[getter]
    fn payload_digest(&self) -> Option<&str> {
        self.0.payload_digest.as_deref()
    }
    #[getter]
    fn refers_to_uri(&self) -> Option<&str> {
        self.0.refers_to_uri.as_deref()
    }
    #[getter]
    fn refers_to_date(&self) -> Option<&str> {
        self.0.refers_to_date.as_deref()
    }
    #[getter]
    fn profile(&self) -> Option<&str> {
        self.0.profile.as_deref()
    }
    #[getter]
    fn truncated(&self) -> Option<&str> {
        self.0.truncated.as_deref()
    }
    #[getter]
    fn concurrent_to(&self) -> Option<&str> {
        self.0.concurrent_to.as_deref()
    }
    #[getter]
    fn body_length(&self) -> u64 {
        self.0.body_length
    }
    /// The HTTP head with its empty line; empty in other records.
    #[getter]
    fn head<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.head)
    }
    /// The block after the head, if the reader was asked for bodies.
    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.0.body.as_deref().map(|body| PyBytes::new(py, body))
    }
}

/// The records of a file, from an offset on.
#[pyclass(module = "gossamer._native")]
struct WarcReader(Reader);

#[pymethods]
impl WarcReader {
    #[new]
    #[pyo3(signature = (path, *, offset=0, body_limit=None))]
    fn new(path: PathBuf, offset: u64, body_limit: Option<u64>) -> PyResult<Self> {
        Reader::open(&path, offset, body_limit)
            .map(WarcReader)
            .map_err(raise)
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<WarcRecord>> {
        let record = py.detach(|| self.0.next_record()).map_err(raise)?;
        Ok(record.map(WarcRecord))
    }
}

/// Writes the sorted CDXJ index of WARC files; gives the number of lines.
#[pyfunction]
fn write_cdxj(py: Python<'_>, files: Vec<PathBuf>, out: PathBuf) -> PyResult<u64> {
    py.detach(|| cdxj::write_index(&files, &out)).map_err(raise)
}

/// The key of a canonical URL in the CDXJ index.
#[pyfunction]
fn surt(url: &str) -> String {
    gossamer_core::store::warc::surt::surt(url)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<WarcWriter>()?;
    module.add_class::<FetchLogWriter>()?;
    module.add_class::<WarcRecord>()?;
    module.add_class::<WarcReader>()?;
    module.add_function(wrap_pyfunction!(write_cdxj, module)?)?;
    module.add_function(wrap_pyfunction!(surt, module)?)
}
