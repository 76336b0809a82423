//! The first queued URLs of hosts, in RAM: what a frontier keeps so that not every turn is a scan.

use std::collections::HashMap;

/// Queued URLs that a scan brings to a host's head.
pub const HEAD: usize = 8;
/// Records in all heads together; when they are full, a scan brings only the URL that has its turn.
const MOST: usize = 400_000;

/// The heads of all hosts that have one.
#[derive(Debug, Default)]
pub struct Heads {
    /// Records of a host, the next one last.
    by_host: HashMap<u32, Vec<Vec<u8>>>,
    records: usize,
}

impl Heads {
    /// Takes the first record out of a host's head, if there is one.
    pub fn take(&mut self, host: u32) -> Option<Vec<u8>> {
        let head = self.by_host.get_mut(&host)?;
        let record = head.pop()?;
        if head.is_empty() {
            self.by_host.remove(&host);
        }
        self.records -= 1;
        Some(record)
    }

    /// How many records a scan for a head should bring now.
    pub fn room(&self) -> usize {
        if self.records + HEAD <= MOST { HEAD } else { 1 }
    }

    /// Makes the records, in order, the head of a host that has none.
    pub fn fill(&mut self, host: u32, records: impl DoubleEndedIterator<Item = Vec<u8>>) {
        let head: Vec<_> = records.rev().collect();
        if !head.is_empty() {
            self.records += head.len();
            self.by_host.insert(host, head);
        }
    }
}
