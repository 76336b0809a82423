//! The fetch log: a line of JSON per visit, under the same commit discipline as the WARC files.

use super::date;
use super::digest;
use super::error::WarcError;
use super::sequence::{FsyncPolicy, Limits, Naming, Position, Sequence};
use super::writer::check_node;
use super::{Digest, Micros};
use crate::links::LeftOut;
use std::net::IpAddr;
use std::path::Path;

/// One visit. Absent facts are `null`.
#[derive(Clone, Copy, Debug)]
pub struct LogLine<'a> {
    /// When the visit began.
    pub time: Micros,
    pub url: &'a str,
    pub host: &'a str,
    pub ip: Option<IpAddr>,
    /// The outcome's name.
    pub outcome: &'a str,
    pub status: Option<u16>,
    /// Bytes of the body as received.
    pub bytes: u64,
    /// How long the visit took.
    pub ms: f64,
    pub depth: u32,
    /// The page that led here; absent for a seed.
    pub from: Option<&'a str>,
    /// The payload's digest, spelled as in the WARC record.
    pub digest: Option<Digest>,
    /// What is kept of the answer, where that is less than all of it: `no`, or `head`.
    pub stored: Option<&'a str>,
    /// Why it has this outcome, where the outcome does not say.
    pub reason: Option<&'a str>,
    /// What the page says to robots, where that is anything: `noindex`, `nofollow`.
    pub robots: Option<&'a str>,
    /// `probe`: a name that cannot exist was asked for; `yes`: the page is what the host answers then.
    pub soft_404: Option<&'a str>,
    /// What the visit was for, where that is no page: `robots`, `sitemap`.
    pub purpose: Option<&'a str>,
    /// False: the URL left the queue without a visit.
    pub visited: bool,
    /// Links that were not followed, by reason.
    pub left_out: Option<&'a LeftOut>,
}

impl LogLine<'_> {
    /// Appends the line with its end.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"time\":\"");
        date::push(out, self.time);
        out.push(b'"');
        text(out, "url", Some(self.url));
        text(out, "host", Some(self.host));
        text(out, "ip", self.ip.map(|ip| ip.to_string()).as_deref());
        text(out, "outcome", Some(self.outcome));
        plain(out, "status", self.status.map(|status| status.to_string()));
        plain(out, "bytes", Some(self.bytes.to_string()));
        let ms = self.ms.is_finite().then(|| format!("{:.3}", self.ms));
        plain(out, "ms", ms);
        plain(out, "depth", Some(self.depth.to_string()));
        text(out, "from", self.from);
        text(
            out,
            "digest",
            self.digest.as_ref().map(digest::spelled).as_deref(),
        );
        for (name, value) in [
            ("stored", self.stored),
            ("reason", self.reason),
            ("robots", self.robots),
            ("soft_404", self.soft_404),
            ("purpose", self.purpose),
        ] {
            if value.is_some() {
                text(out, name, value);
            }
        }
        if !self.visited {
            plain(out, "visited", Some("false".to_owned()));
        }
        if let Some(left_out) = self.left_out.filter(|left_out| !left_out.is_empty()) {
            let counts = left_out.iter();
            let counts = counts.map(|(reason, links)| format!("\"{}\":{links}", reason.as_str()));
            let counts = counts.collect::<Vec<_>>().join(",");
            plain(out, "left_out", Some(format!("{{{counts}}}")));
        }
        out.extend_from_slice(b"}\n");
    }
}

fn key(out: &mut Vec<u8>, name: &str) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

fn plain(out: &mut Vec<u8>, name: &str, value: Option<String>) {
    key(out, name);
    out.extend_from_slice(value.as_deref().unwrap_or("null").as_bytes());
}

fn text(out: &mut Vec<u8>, name: &str, value: Option<&str>) {
    key(out, name);
    match value {
        Some(value) => push_json(out, value),
        None => out.extend_from_slice(b"null"),
    }
}

/// Appends a JSON string. Control characters and the line separators of Unicode are escaped, so
/// that one visit is one line for every reader.
pub(super) fn push_json(out: &mut Vec<u8>, value: &str) {
    out.push(b'"');
    for c in value.chars() {
        match c {
            '"' | '\\' => out.extend_from_slice(&[b'\\', c as u8]),
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' => {
                out.extend_from_slice(format!("\\u{:04x}", c as u32).as_bytes());
            }
            _ => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}

/// Appends lines to `fetch-…-NNNNN-NODE.jsonl`.
#[derive(Debug)]
pub struct LogWriter {
    sequence: Sequence,
}

impl LogWriter {
    /// A log of a new crawl, after the files that are there.
    pub fn create(
        dir: &Path,
        node: &str,
        max_size: u64,
        fsync: FsyncPolicy,
    ) -> Result<Self, WarcError> {
        let (naming, limits) = parts(node, max_size, fsync)?;
        let sequence = Sequence::create(dir, naming, limits)?;
        Ok(LogWriter { sequence })
    }

    /// A log that goes on where `position` was committed; later lines are cut.
    pub fn resume(
        dir: &Path,
        node: &str,
        max_size: u64,
        fsync: FsyncPolicy,
        position: Option<&Position>,
    ) -> Result<Self, WarcError> {
        let (naming, limits) = parts(node, max_size, fsync)?;
        let sequence = Sequence::resume(dir, naming, limits, position)?;
        Ok(LogWriter { sequence })
    }

    /// Appends whole lines (each made by [`LogLine::write`]), or nothing.
    pub fn append(&mut self, now: Micros, lines: &[u8]) -> Result<(), WarcError> {
        if lines.is_empty() {
            return Ok(());
        }
        self.sequence
            .append(now, &[lines], |_| Vec::new())
            .map(|_| ())
    }

    /// What to commit with the batch.
    #[must_use]
    pub fn position(&self) -> Option<&Position> {
        self.sequence.position()
    }

    /// Flushes as the policy says; see [`super::Writer::sync`].
    pub fn sync(&mut self, now: Micros) -> Result<bool, WarcError> {
        self.sequence.sync(now)
    }

    /// The state up to `position` is committed.
    pub fn committed(&mut self, position: &Position) -> Result<(), WarcError> {
        self.sequence.committed(position)
    }

    /// Flushes and ends the log.
    pub fn close(mut self) -> Result<(), WarcError> {
        self.sequence.close()
    }
}

fn parts(node: &str, max_size: u64, fsync: FsyncPolicy) -> Result<(Naming, Limits), WarcError> {
    check_node(node)?;
    let naming = Naming {
        prefix: "fetch",
        node: node.to_owned(),
        suffix: ".jsonl",
        marks_open: false,
    };
    Ok((naming, Limits { max_size, fsync }))
}
