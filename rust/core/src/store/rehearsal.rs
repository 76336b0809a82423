//! A rehearsal of the rows that a page writes beside the queue, each kind alone on a store on disk,
//! at a size that no test crawl reaches.
//!
//! The pages exist only as arithmetic: what stands in a row follows from the page's number. Every
//! batch is safe against a power cut, as that of a crawl is.

use std::path::Path;
use std::time::{Duration, Instant};

use super::Original;
use super::rows::{self, IndexRow};
use super::state::{
    DiskSettings, DiskState, DiskUse, Reads, Space, State, StateError, Write, Writes,
};
use super::warc::Digest;
use crate::measure::process_cpu;
use crate::outcome::Outcome;

/// Visits of a batch.
const BATCH: u64 = 512;
/// Links of a page.
const LINKS: u64 = 50;
/// Links of a page that leave its host.
const AWAY: u64 = 5;
const BEGINNING: u64 = 1_700_000_000_000_000;
/// From visit to visit, in microseconds.
const STEP: u64 = 1_000;

/// A kind of row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// Index rows of pages that are visited once.
    Index,
    /// Index rows where every other visit is that of a page visited before: the earlier row is
    /// looked up and written anew with its history.
    History,
    /// Digests of contents; each is looked up before it is written.
    Content,
    /// The targets of a page's 50 links, as differences. A crawl has no such rows yet: they go where
    /// the index rows go.
    Graph,
}

impl RowKind {
    /// Every kind.
    pub const ALL: [RowKind; 4] = [
        RowKind::Index,
        RowKind::History,
        RowKind::Content,
        RowKind::Graph,
    ];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            RowKind::Index => "index",
            RowKind::History => "history",
            RowKind::Content => "content",
            RowKind::Graph => "graph",
        }
    }
}

/// What was done in a call, and how long it took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Took {
    pub visits: u64,
    /// Rows that were not as expected when they were looked up.
    pub errors: u64,
    /// Bytes of keys and values, before they are compressed.
    pub bytes: u64,
    pub look_up: Duration,
    pub apply: Duration,
    /// On the processor, of all threads of the process.
    pub cpu: Duration,
    /// The longest that one batch took to apply.
    pub pause: Duration,
}

/// The store and how many visits it has rows of.
#[derive(Debug)]
pub struct Rehearsal {
    state: DiskState,
    kind: RowKind,
    hosts: u64,
    visits: u64,
    /// Pages that have a row.
    pages: u64,
}

impl Rehearsal {
    /// A store in `dir` with the settings of a crawl that sets none, for pages on `hosts` hosts.
    pub fn open(dir: &Path, kind: RowKind, hosts: u64) -> Result<Rehearsal, StateError> {
        Ok(Rehearsal {
            state: DiskState::open(dir, DiskSettings::default())?,
            kind,
            hosts: hosts.max(1),
            visits: 0,
            pages: 0,
        })
    }

    /// Writes the rows of so many visits.
    pub fn write(&mut self, visits: u64) -> Result<Took, StateError> {
        let mut took = Took::default();
        let begun = process_cpu();
        let end = self.visits + visits;
        while self.visits < end {
            let mut writes = Writes::default();
            let (first, fresh) = (self.visits, self.pages);
            for _ in 0..BATCH.min(end - first) {
                self.visit(fresh, &mut writes, &mut took)?;
            }
            took.visits += self.visits - first;
            took.bytes += writes.list.iter().map(size).sum::<u64>();
            let begun = Instant::now();
            self.state.apply(writes, true)?;
            let pause = begun.elapsed();
            took.apply += pause;
            took.pause = took.pause.max(pause);
        }
        took.cpu = process_cpu().saturating_sub(begun);
        Ok(took)
    }

    /// One visit; pages from `fresh` on are of this batch, and so not in the store yet.
    fn visit(
        &mut self,
        fresh: u64,
        writes: &mut Writes,
        took: &mut Took,
    ) -> Result<(), StateError> {
        let visit = self.visits;
        self.visits += 1;
        let again = self.kind == RowKind::History && visit % 2 == 1 && fresh > 0;
        let page = if again {
            mix(visit) % fresh
        } else {
            self.pages
        };
        self.pages += u64::from(!again);
        let time = BEGINNING + visit * STEP;
        let key = self.key(page);
        match self.kind {
            RowKind::Index => {
                let row = index_row(page, time).after(None);
                writes.put(Space::Index, key, row.to_bytes());
            }
            RowKind::History => {
                let mut row = index_row(page, time);
                row.mime = "text/html".to_owned();
                let mut earlier = None;
                if again {
                    earlier = self
                        .look_up(Space::Index, &key, took)?
                        .as_deref()
                        .and_then(IndexRow::read);
                    took.errors += u64::from(earlier.is_none());
                    // One in four has changed.
                    if mix(!visit).is_multiple_of(4) {
                        row.digest = Some(digest(!visit));
                        row.simhash = mix(row.simhash);
                    }
                }
                let row = row.after(earlier.as_ref());
                writes.put(Space::Index, key, row.to_bytes());
            }
            RowKind::Content => {
                let content = digest(page);
                let key = rows::content_key(&content);
                let stored = self.look_up(Space::Content, key, took)?;
                took.errors += u64::from(stored.is_some());
                let original = Original {
                    url: self.url(page),
                    date: time,
                    payload: digest(!page),
                };
                writes.put(Space::Content, key, rows::write_content(&original));
            }
            RowKind::Graph => writes.put(Space::Index, key, targets(page)),
        }
        Ok(())
    }

    fn look_up(
        &self,
        space: Space,
        key: &[u8],
        took: &mut Took,
    ) -> Result<Option<Vec<u8>>, StateError> {
        let begun = Instant::now();
        let found = self.state.get(space, key)?;
        took.look_up += begun.elapsed();
        Ok(found)
    }

    fn host(&self, page: u64) -> u64 {
        mix(page ^ 0x5bd1_e995) % self.hosts
    }

    /// 4 bytes of the host, 12 of the page.
    fn key(&self, page: u64) -> [u8; 16] {
        let mut key = [0; 16];
        key[..4].copy_from_slice(&mix(self.host(page)).to_be_bytes()[..4]);
        key[4..12].copy_from_slice(&mix(page).to_be_bytes());
        key[12..].copy_from_slice(&mix(page ^ u64::MAX).to_be_bytes()[..4]);
        key
    }

    fn url(&self, page: u64) -> String {
        let host = self.host(page);
        let section = page % 17;
        format!("https://www.site{host}.example/section-{section}/article-{page}.html")
    }

    /// Pages that have a row.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.pages
    }

    pub fn usage(&self) -> Result<DiskUse, StateError> {
        self.state.usage()
    }
}

/// Of a page with a digest; every other page has an ETag, and every other a date.
fn index_row(page: u64, time: u64) -> IndexRow {
    let drawn = mix(page ^ 0x9e37_79b9);
    let etag = drawn
        .is_multiple_of(2)
        .then(|| format!("\"{:x}-{:x}\"", 20_000 + drawn % 4_096, mix(drawn)));
    let date = (drawn % 4 < 2).then(|| {
        let (day, hour, minute) = (1 + drawn % 28, drawn % 24, drawn % 60);
        format!("Tue, {day:02} Nov 2022 {hour:02}:{minute:02}:26 GMT")
    });
    IndexRow {
        outcome: Outcome::Fetched as u8,
        status: 200,
        depth: 3,
        time,
        serial: (page >> 17) as u32,
        offset: (page & 0x1_ffff) * 8_000,
        length: 7_000 + (drawn % 2_000) as u32,
        simhash: mix(drawn),
        digest: Some(digest(page)),
        etag: etag.unwrap_or_default(),
        last_modified: date.unwrap_or_default(),
        ..IndexRow::default()
    }
}

/// Sorted targets as differences of 7 bits a byte: near ones on the same host, far ones elsewhere.
fn targets(page: u64) -> Vec<u8> {
    let mut out = Vec::with_capacity(128);
    for link in 0..LINKS {
        let drawn = mix(page.wrapping_mul(LINKS).wrapping_add(link));
        let mut difference = if link < LINKS - AWAY {
            drawn % 10_000
        } else {
            drawn % (1 << 34)
        };
        while difference >= 0x80 {
            out.push(difference as u8 | 0x80);
            difference >>= 7;
        }
        out.push(difference as u8);
    }
    out
}

fn digest(seed: u64) -> Digest {
    let mut digest = [0; 20];
    for (at, part) in digest.chunks_mut(8).enumerate() {
        let drawn = mix(seed.wrapping_add((at as u64 + 1) << 56)).to_be_bytes();
        part.copy_from_slice(&drawn[..part.len()]);
    }
    digest
}

fn size(write: &Write) -> u64 {
    match write {
        Write::Put { key, value, .. } => (key.len() + value.len()) as u64,
        Write::Remove { key, .. } => key.len() as u64,
    }
}

fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_kind_of_row_is_written_and_found_again() {
        for kind in RowKind::ALL {
            let dir = tempfile::tempdir().unwrap();
            let mut store = Rehearsal::open(dir.path(), kind, 50).unwrap();
            let first = store.write(1_000).unwrap();
            let second = store.write(1_000).unwrap();
            assert_eq!((first.visits, first.errors), (1_000, 0));
            assert_eq!((second.visits, second.errors), (1_000, 0));
            // The first batch of all has no page to visit again.
            let again = if kind == RowKind::History { 744 } else { 0 };
            assert_eq!(store.pages(), 2_000 - again);
            assert!(second.bytes / second.visits > 80);
            assert!(second.pause <= second.apply);
        }
    }

    #[test]
    fn a_page_s_targets_take_about_120_bytes() {
        let bytes: usize = (0..1_000).map(|page| targets(page).len()).sum();
        assert!((110_000..130_000).contains(&bytes), "{bytes}");
    }
}
