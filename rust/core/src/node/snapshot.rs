//! A snapshot: everything a partition needs, in one file.
//!
//! ```text
//! magic (8) ++ length of the summary (4) ++ summary (JSON) ++ zstd of items ++ checksum of all before (8)
//! item: 1, space, key, value | 2, key of a seen URL (16) | 3, space, key of a row that is gone
//! ```
//!
//! One that holds only changes is of use after the one before it. The zstd may be of many frames.
//!
//! A file that is cut or changed anywhere is refused before anything of it is used.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::NodeError;
use super::changes::first_eight;
use super::exchange::StreamPosition;
use crate::canonical::partition_range;
use crate::links::patterns;
use crate::seen::{Seen, UrlKey};
use crate::store::state::{Reads, Space, StateError};

const MAGIC: &[u8; 8] = b"gossnap4";
const ROW: u8 = 1;
const KEY: u8 = 2;
const REMOVAL: u8 = 3;
pub(super) const LEVEL: i32 = 1;
/// Longer than any summary.
const SUMMARY: usize = 1 << 16;

/// Rows of the space `meta` that belong to a host, by prefix.
const HOST_ROWS: [&[u8]; 13] = [
    patterns::COUNTS,
    patterns::DOUBT,
    patterns::LEARNT,
    patterns::PARAMETERS,
    super::set_aside::PREFIX,
    super::parameters::PREFIX,
    super::soft404::PREFIX,
    super::queue_drops::PREFIX,
    super::redirected_seeds::PREFIX,
    b"alias/found/",
    b"alias/undone/",
    b"alias/seed/",
    b"alias/skip/",
];

/// What a snapshot is of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    pub partition: u32,
    pub partitions: u32,
    pub epoch: u64,
    /// How far the stream of links is taken in.
    pub position: Option<StreamPosition>,
    /// It may count only when all links up to this mark are acknowledged.
    pub outbox: u64,
    /// It holds what changed since the snapshot before it, and counts nothing.
    #[serde(default)]
    pub changes: bool,
    pub urls_seen: u64,
    pub urls_queued: u64,
    pub hosts: u64,
    /// Bytes of the file.
    #[serde(default)]
    pub bytes: u64,
}

/// A piece of a snapshot.
#[derive(Debug)]
pub(super) enum Item {
    Row {
        space: Space,
        key: Vec<u8>,
        value: Vec<u8>,
    },
    Key(UrlKey),
    Removal {
        space: Space,
        key: Vec<u8>,
    },
}

/// Of spaces whose keys begin with a host's.
const HOST_SPACES: [Space; 4] = [Space::Hosts, Space::Queue, Space::Robots, Space::Index];

/// The beginning of a key that says which partition a row belongs to; none for rows of the node.
pub(super) fn host_key(space: Space, key: &[u8]) -> Option<u64> {
    if HOST_SPACES.contains(&space) {
        return first_eight(key);
    }
    let mut prefixes = HOST_ROWS.iter().filter(|_| space == Space::Meta);
    prefixes.find_map(|prefix| first_eight(key.strip_prefix(*prefix)?))
}

pub(super) fn add_row(items: &mut Vec<u8>, space: Space, key: &[u8], value: &[u8]) {
    items.extend_from_slice(&[ROW, space as u8]);
    add_text(items, key);
    add_text(items, value);
}

pub(super) fn add_key(items: &mut Vec<u8>, key: UrlKey) {
    items.push(KEY);
    items.extend_from_slice(&key.0);
}

pub(super) fn add_removal(items: &mut Vec<u8>, space: Space, key: &[u8]) {
    items.extend_from_slice(&[REMOVAL, space as u8]);
    add_text(items, key);
}

fn add_text(items: &mut Vec<u8>, text: &[u8]) {
    items.extend_from_slice(&(text.len() as u32).to_be_bytes());
    items.extend_from_slice(text);
}

/// The ranges of keys that belong to a partition; an empty end is none.
pub(super) fn ranges(partition: u32, partitions: u32) -> Vec<(Space, Vec<u8>, Vec<u8>)> {
    let (first, last) = partition_range(partition, partitions);
    let from = first.to_be_bytes().to_vec();
    let to = last
        .checked_add(1)
        .map_or_else(Vec::new, |next| next.to_be_bytes().to_vec());
    let mut ranges: Vec<_> = HOST_SPACES
        .into_iter()
        .map(|space| (space, from.clone(), to.clone()))
        .collect();
    for prefix in HOST_ROWS {
        let begin = [prefix, &from].concat();
        let mut end = [prefix, &to].concat();
        if to.is_empty()
            && let Some(last) = end.last_mut()
        {
            // All prefixes end with a slash, and '0' is the byte after it.
            *last += 1;
        }
        ranges.push((Space::Meta, begin, end));
    }
    ranges
}

fn failed(path: &Path, error: &std::io::Error) -> NodeError {
    let text = format!("{}: {error}", path.display());
    NodeError::State(if error.kind() == std::io::ErrorKind::StorageFull {
        StateError::DiskFull(text)
    } else {
        StateError::Store(text)
    })
}

fn broken(path: &Path, what: &str) -> NodeError {
    NodeError::Settings(format!("{} cannot be used: {what}", path.display()))
}

/// Writes bytes and sums them up.
struct Summed<W> {
    inner: W,
    hash: Xxh3,
    bytes: u64,
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.hash.update(&bytes[..count]);
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}

/// Writes a snapshot of these items.
pub(super) fn write(path: &Path, summary: &mut Summary, body: &[u8]) -> Result<(), NodeError> {
    let io = |error: std::io::Error| failed(path, &error);
    let file = File::create(path).map_err(io)?;
    let mut out = Summed {
        inner: BufWriter::new(file),
        hash: Xxh3::new(),
        bytes: 0,
    };
    let head = serde_json::to_vec(summary).unwrap_or_default();
    let write = |out: &mut Summed<BufWriter<File>>| -> std::io::Result<()> {
        out.write_all(MAGIC)?;
        out.write_all(&(head.len() as u32).to_be_bytes())?;
        out.write_all(&head)?;
        out.write_all(body)?;
        let sum = out.hash.digest().to_be_bytes();
        out.write_all(&sum)?;
        out.flush()?;
        out.inner.get_ref().sync_all()
    };
    write(&mut out).map_err(io)?;
    summary.bytes = out.bytes;
    Ok(())
}

/// All that the store has now of a partition, packed; every batch must be applied.
pub(super) fn whole(
    path: &Path,
    summary: &mut Summary,
    reads: &dyn Reads,
    seen: &dyn Seen,
) -> Result<Vec<u8>, NodeError> {
    items(summary, reads, seen).map_err(|error| match error {
        Trouble::State(error) => NodeError::State(error),
        Trouble::Io(error) => failed(path, &error),
    })
}

enum Trouble {
    State(StateError),
    Io(std::io::Error),
}

/// The items, packed. A partition is small enough to be packed in memory: it is one of hundreds.
fn items(summary: &mut Summary, reads: &dyn Reads, seen: &dyn Seen) -> Result<Vec<u8>, Trouble> {
    let mut out = zstd::Encoder::new(Vec::new(), LEVEL).map_err(Trouble::Io)?;
    let (mut wrong, mut item) = (None, Vec::new());
    for (space, from, to) in ranges(summary.partition, summary.partitions) {
        let count = match space {
            Space::Hosts => &mut summary.hosts,
            Space::Queue => &mut summary.urls_queued,
            _ => &mut 0,
        };
        let mut visit = |key: &[u8], value: &[u8]| {
            *count += 1;
            item.clear();
            add_row(&mut item, space, key, value);
            wrong = out.write_all(&item).err();
            wrong.is_none()
        };
        reads
            .scan(space, &from, &to, &mut visit)
            .map_err(Trouble::State)?;
    }
    let (first, last) = partition_range(summary.partition, summary.partitions);
    let (mut low, mut high) = ([0; 16], [0xff; 16]);
    low[..8].copy_from_slice(&first.to_be_bytes());
    high[..8].copy_from_slice(&last.to_be_bytes());
    let urls = &mut summary.urls_seen;
    seen.keys(UrlKey(low), UrlKey(high), reads, &mut |key| {
        *urls += 1;
        item.clear();
        add_key(&mut item, key);
        if let Err(error) = out.write_all(&item) {
            wrong = Some(error);
        }
    })
    .map_err(Trouble::State)?;
    match wrong {
        Some(error) => Err(Trouble::Io(error)),
        None => out.finish().map_err(Trouble::Io),
    }
}

/// Reads a snapshot through and gives what it is of; refuses one that is cut or changed.
pub(super) fn check(path: &Path) -> Result<Summary, NodeError> {
    let mut file = File::open(path).map_err(|error| failed(path, &error))?;
    let (summary, start) = head(path, &mut file)?;
    let length = file.metadata().map_err(|error| failed(path, &error))?.len();
    let mut left = length
        .checked_sub(start + 8)
        .ok_or_else(|| broken(path, "it is cut"))?;
    use std::io::Seek;
    file.rewind().map_err(|error| failed(path, &error))?;
    left += start;
    let mut hash = Xxh3::new();
    let mut buffer = vec![0; 1 << 16];
    while left > 0 {
        let count = buffer
            .len()
            .min(usize::try_from(left).unwrap_or(usize::MAX));
        file.read_exact(&mut buffer[..count])
            .map_err(|error| failed(path, &error))?;
        hash.update(&buffer[..count]);
        left -= count as u64;
    }
    let mut sum = [0; 8];
    file.read_exact(&mut sum)
        .map_err(|error| failed(path, &error))?;
    if u64::from_be_bytes(sum) != hash.digest() {
        return Err(broken(path, "it is cut or was changed"));
    }
    Ok(summary)
}

fn head(path: &Path, file: &mut File) -> Result<(Summary, u64), NodeError> {
    let mut start = [0; 12];
    file.read_exact(&mut start)
        .map_err(|_| broken(path, "it is cut"))?;
    if start[..7] == MAGIC[..7] && start[7] != MAGIC[7] {
        let text = "it was written by another version of Gossamer; use that version";
        return Err(broken(path, text));
    }
    if start[..8] != *MAGIC {
        return Err(broken(path, "it is no snapshot"));
    }
    let length = u32::from_be_bytes([start[8], start[9], start[10], start[11]]) as usize;
    if length > SUMMARY {
        return Err(broken(path, "it is damaged"));
    }
    let mut text = vec![0; length];
    file.read_exact(&mut text)
        .map_err(|_| broken(path, "it is cut"))?;
    let summary =
        serde_json::from_slice(&text).map_err(|error| broken(path, &error.to_string()))?;
    Ok((summary, 12 + length as u64))
}

type Body = zstd::Decoder<'static, BufReader<std::io::Take<File>>>;

/// The items of a snapshot that `check` has found whole.
pub(super) fn read(
    path: &Path,
) -> Result<impl Iterator<Item = Result<Item, NodeError>>, NodeError> {
    let io = |error: std::io::Error| failed(path, &error);
    let mut file = File::open(path).map_err(io)?;
    let (_, start) = head(path, &mut file)?;
    let length = file.metadata().map_err(io)?.len();
    let body = BufReader::new(file.take(length.saturating_sub(start + 8)));
    let mut body: Body = zstd::Decoder::with_buffer(body).map_err(io)?;
    let path = path.to_owned();
    Ok(std::iter::from_fn(move || match next(&mut body) {
        Ok(item) => item.map(Ok),
        Err(error) => Some(Err(failed(&path, &error))),
    }))
}

fn next(body: &mut Body) -> std::io::Result<Option<Item>> {
    let odd = || std::io::Error::new(std::io::ErrorKind::InvalidData, "a damaged snapshot");
    let mut kind = [0; 1];
    if body.read(&mut kind)? == 0 {
        return Ok(None);
    }
    match kind[0] {
        kind @ (ROW | REMOVAL) => {
            let mut space = [0; 1];
            body.read_exact(&mut space)?;
            let space = *Space::ALL.get(usize::from(space[0])).ok_or_else(odd)?;
            let key = text(body)?;
            Ok(Some(if kind == ROW {
                let value = text(body)?;
                Item::Row { space, key, value }
            } else {
                Item::Removal { space, key }
            }))
        }
        KEY => {
            let mut key = [0; 16];
            body.read_exact(&mut key)?;
            Ok(Some(Item::Key(UrlKey(key))))
        }
        _ => Err(odd()),
    }
}

fn text(body: &mut Body) -> std::io::Result<Vec<u8>> {
    let mut length = [0; 4];
    body.read_exact(&mut length)?;
    let length = u64::from(u32::from_be_bytes(length));
    let mut bytes = Vec::new();
    // Grows with what is there, not with what the length promises.
    body.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != length {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes)
}
