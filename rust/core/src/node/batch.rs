//! A batch: everything that is committed together.

use crate::frontier::Micros;
use crate::store::state::Writes;
use crate::store::warc::Member;

use super::exchange::StreamPosition;
use super::progress::Reading;
use crate::store::rows::IndexRow;

/// Filled by the node, emptied by the committer. Bound: `store.batch_pages` pages; when the
/// committer has no room the node stops taking visits in, so it does not grow further.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub writes: Writes,
    /// WARC members, in order; the records of a visit are neighbours.
    pub members: Vec<Member>,
    /// Index rows that wait for the place of their WARC record.
    pub rows: Vec<Placed>,
    /// Lines of the fetch log.
    pub log: Vec<u8>,
    pub pages: usize,
    /// When the first visit came in; 0: none yet.
    pub since: Micros,
    pub frontier_batch: u64,
    pub seen_batch: u64,
    pub tally: Reading,
    /// There are links for other nodes, or keys from them, that become a write when it ends.
    pub foreign: bool,
    /// The mark of the newest row of the outbox.
    pub outbox: u64,
    /// How far the stream of links was taken in.
    pub positions: Vec<(u32, StreamPosition)>,
}

/// An index row and the number of the member it describes.
#[derive(Debug)]
pub(super) struct Placed {
    pub key: [u8; 16],
    pub row: IndexRow,
    pub member: Option<usize>,
}

impl Batch {
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty() && self.members.is_empty() && self.log.is_empty() && !self.foreign
    }

    /// When the batch has waited long enough; `None` while it holds no visit.
    pub fn due(&self, wait: Micros) -> Option<Micros> {
        (self.since != 0).then(|| self.since.saturating_add(wait))
    }

    pub fn begin(&mut self, now: Micros) {
        if self.since == 0 {
            self.since = now.max(1);
        }
    }
}
