//! The CDXJ index: a line per stored page, sorted by key and time.
//!
//! The key is the one that replay tools look up (`surt.rs`), to find by; the URL itself is in `url`.

use super::date;
use super::error::WarcError;
use super::log::push_json;
use super::merge;
use super::read::{Reader, Record};
use super::surt::surt;
use std::path::{Path, PathBuf};

/// What an index line says.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    pub url: &'a str,
    /// Fourteen digits.
    pub timestamp: &'a str,
    pub mime: &'a str,
    pub status: Option<u16>,
    /// `sha1:…`
    pub digest: &'a str,
    pub offset: u64,
    pub length: u64,
    pub filename: &'a str,
}

/// The line without its end.
#[must_use]
pub fn line(entry: &Entry<'_>) -> Vec<u8> {
    let mut out = surt(entry.url).into_bytes();
    out.push(b' ');
    out.extend_from_slice(entry.timestamp.as_bytes());
    let status = entry.status.map_or_else(String::new, |s| s.to_string());
    let (length, offset) = (entry.length.to_string(), entry.offset.to_string());
    let mut before: &[u8] = b" {";
    for (name, value) in [
        ("url", entry.url),
        ("mime", entry.mime),
        ("status", status.as_str()),
        ("digest", entry.digest),
        ("length", length.as_str()),
        ("offset", offset.as_str()),
        ("filename", entry.filename),
    ] {
        if !value.is_empty() {
            out.extend_from_slice(before);
            push_json(&mut out, name);
            out.extend_from_slice(b": ");
            push_json(&mut out, value);
            before = b", ";
        }
    }
    out.push(b'}');
    out
}

/// The line of a record read from a file; nothing for records that are no captures.
#[must_use]
pub fn line_of(record: &Record, filename: &str) -> Option<Vec<u8>> {
    let uri = record.uri.as_deref()?;
    let mime = match record.kind.as_str() {
        "response" => record.mime.as_deref().unwrap_or("unk"),
        "revisit" => "warc/revisit",
        _ => return None,
    };
    Some(line(&Entry {
        url: uri,
        timestamp: &date::fourteen_of(&record.date),
        mime,
        status: record.status,
        digest: record.payload_digest.as_deref().unwrap_or(""),
        offset: record.offset,
        length: record.length,
        filename,
    }))
}

/// The sorted lines of one WARC file. A file still marked open may end within a record: what is
/// whole counts.
pub fn lines_of_file(path: &Path) -> Result<Vec<Vec<u8>>, WarcError> {
    let full = path
        .file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let name = full.strip_suffix(".open");
    let mut reader = Reader::open(path, 0, None)?;
    let mut lines = Vec::new();
    loop {
        match reader.next_record() {
            Ok(Some(record)) => lines.extend(line_of(&record, name.unwrap_or(&full))),
            Ok(None) => break,
            Err(WarcError::Format { .. }) if name.is_some() => break,
            Err(error) => return Err(error),
        }
    }
    lines.sort_unstable();
    Ok(lines)
}

/// Writes the sorted index of `files` to `out`, and gives the number of its lines. `out` appears
/// whole or not at all; memory is bounded by the lines of one WARC file.
pub fn write_index(files: &[PathBuf], out: &Path) -> Result<u64, WarcError> {
    let mut runs = merge::Runs::beside(out);
    for file in files {
        runs.add(&lines_of_file(file)?)?;
    }
    runs.finish(out)
}

#[cfg(test)]
mod tests {
    use super::{Entry, line};

    #[test]
    fn a_line() {
        let entry = Entry {
            url: "http://example.org/\"",
            timestamp: "20261115190342",
            mime: "text/html",
            status: Some(200),
            digest: "sha1:X",
            offset: 5,
            length: 7,
            filename: "f.warc.gz",
        };
        assert_eq!(
            String::from_utf8_lossy(&line(&entry)),
            r#"org,example)/" 20261115190342 {"url": "http://example.org/\"", "mime": "text/html", "status": "200", "digest": "sha1:X", "length": "7", "offset": "5", "filename": "f.warc.gz"}"#
        );
    }
}
