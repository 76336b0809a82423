//! WARC files read back: records with their offsets, in bounded memory.
//!
//! Takes: files of gzip members, one record each, as [`super::Writer`] makes them.
//! Gives: each record's place and facts; the body only on request, up to a limit.
//! Guarantees: linear time; a damaged or cut file ends in an error that names the offset of the
//! first record that is not whole, after all whole ones were given.

use super::error::WarcError;
use super::head;
use flate2::bufread::GzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// No record of ours has more named fields than this.
const MAX_FIELDS: usize = 1 << 20;
/// The HTTP head is looked for in this many bytes of the block.
const MAX_HEAD: usize = 1 << 20;

/// A record's place and facts. Texts are as they stand in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    pub offset: u64,
    pub length: u64,
    pub kind: String,
    pub record_id: String,
    pub date: String,
    pub uri: Option<String>,
    pub ip: Option<String>,
    pub content_type: Option<String>,
    pub payload_digest: Option<String>,
    pub block_digest: Option<String>,
    pub refers_to_uri: Option<String>,
    pub refers_to_date: Option<String>,
    pub profile: Option<String>,
    pub truncated: Option<String>,
    pub concurrent_to: Option<String>,
    /// Of the HTTP head.
    pub status: Option<u16>,
    pub mime: Option<String>,
    /// The HTTP head with its empty line; empty in other records.
    pub head: Vec<u8>,
    /// Bytes of the block after the head.
    pub body_length: u64,
    /// The block after the head, if asked for.
    pub body: Option<Vec<u8>>,
}

/// Counts what is consumed, so that a member's end is known.
#[derive(Debug)]
struct Counted<R> {
    inner: R,
    consumed: u64,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.consumed += read as u64;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.consumed += amount as u64;
        self.inner.consume(amount);
    }
}

/// The records of a file, from an offset on.
#[derive(Debug)]
pub struct Reader {
    path: PathBuf,
    input: Counted<BufReader<File>>,
    /// Bodies up to this size are given; nothing: no bodies.
    body_limit: Option<u64>,
    failed: bool,
}

impl Reader {
    /// Opens a file at the offset of a record. With `body_limit`, bodies are given too, and a
    /// larger one is an error.
    pub fn open(path: &Path, offset: u64, body_limit: Option<u64>) -> Result<Self, WarcError> {
        let mut file = File::open(path).map_err(|e| WarcError::io(path, e))?;
        file.seek(SeekFrom::Start(offset))
            .map_err(|e| WarcError::io(path, e))?;
        Ok(Reader {
            path: path.to_path_buf(),
            input: Counted {
                inner: BufReader::with_capacity(1 << 17, file),
                consumed: offset,
            },
            body_limit,
            failed: false,
        })
    }

    /// The offset of the next record.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.input.consumed
    }

    /// The next record; nothing at the end of the file.
    pub fn next_record(&mut self) -> Result<Option<Record>, WarcError> {
        if self.failed {
            return Ok(None);
        }
        let offset = self.input.consumed;
        let result = self.read_record(offset);
        self.failed = result.is_err();
        result.map_err(|error| WarcError::Format {
            path: self.path.clone(),
            offset,
            reason: error.to_string(),
        })
    }

    fn read_record(&mut self, offset: u64) -> io::Result<Option<Record>> {
        if self.input.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let mut member = BufReader::with_capacity(1 << 15, GzDecoder::new(&mut self.input));
        let (mut record, block_length) = read_fields(&mut member)?;
        let mut block = (&mut member).take(block_length);
        let is_http = record
            .content_type
            .as_deref()
            .is_some_and(|kind| kind.starts_with("application/http"));
        if is_http {
            record.head = read_head(&mut block)?;
            record.status = head::status(&record.head);
            record.mime = head::mime(&record.head);
        }
        record.body_length = block.limit();
        if let Some(limit) = self.body_limit {
            if record.body_length > limit {
                return Err(invalid("the body is larger than the limit"));
            }
            let mut body = Vec::new();
            block.read_to_end(&mut body)?;
            record.body = Some(body);
        } else {
            io::copy(&mut block, &mut io::sink())?;
        }
        if block.limit() > 0 {
            return Err(invalid("the block ends early"));
        }
        let mut end = Vec::new();
        // Reading to the end of the member also checks its CRC.
        (&mut member).take(5).read_to_end(&mut end)?;
        if end != b"\r\n\r\n" {
            return Err(invalid("the record does not end where its length says"));
        }
        record.offset = offset;
        record.length = self.input.consumed - offset;
        Ok(Some(record))
    }
}

fn invalid(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// A line without its end; an error when the bound is passed or the input ends within it.
fn read_line(input: &mut impl BufRead, left: &mut usize) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    let read = input.take(*left as u64).read_until(b'\n', &mut line)?;
    *left -= read;
    if line.pop() != Some(b'\n') {
        return Err(invalid("the named fields do not end"));
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Ok(line)
}

fn read_fields(input: &mut impl BufRead) -> io::Result<(Record, u64)> {
    let mut left = MAX_FIELDS;
    if !read_line(input, &mut left)?.starts_with(b"WARC/1.") {
        return Err(invalid("not a WARC record"));
    }
    let mut record = Record::default();
    let mut length = None;
    loop {
        let line = read_line(input, &mut left)?;
        if line.is_empty() {
            break;
        }
        let line = String::from_utf8_lossy(&line);
        let Some((name, value)) = line.split_once(':') else {
            return Err(invalid("a named field without a colon"));
        };
        let value = value.trim().to_owned();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().ok(),
            "warc-type" => record.kind = value,
            "warc-record-id" => record.record_id = value,
            "warc-date" => record.date = value,
            "warc-target-uri" => record.uri = Some(value),
            "warc-ip-address" => record.ip = Some(value),
            "content-type" => record.content_type = Some(value),
            "warc-payload-digest" => record.payload_digest = Some(value),
            "warc-block-digest" => record.block_digest = Some(value),
            "warc-refers-to-target-uri" => record.refers_to_uri = Some(value),
            "warc-refers-to-date" => record.refers_to_date = Some(value),
            "warc-profile" => record.profile = Some(value),
            "warc-truncated" => record.truncated = Some(value),
            "warc-concurrent-to" => record.concurrent_to = Some(value),
            _ => {}
        }
    }
    length
        .map(|length| (record, length))
        .ok_or_else(|| invalid("no valid Content-Length"))
}

/// The lines up to and with the first empty one.
fn read_head(block: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    loop {
        let begin = head.len();
        let room = (MAX_HEAD - begin) as u64;
        let read = block.take(room).read_until(b'\n', &mut head)?;
        if read == 0 || matches!(&head[begin..], b"\r\n" | b"\n") {
            return Ok(head);
        }
    }
}
