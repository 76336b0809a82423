//! The load: the life of queued URLs in a crawl, without the crawl. One caller puts start pages of
//! all hosts, then visits pages: takes a URL whose host has its turn, removes it, puts 50 fresh ones.
//!
//! What comes back is checked: each scan must give exactly the next URLs of its host, with their
//! records.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::heads::{HEAD, Heads};
use crate::measure::thread_seconds;
use crate::records::{self, QueueKey};
use crate::store::{Batch, Found, Store};
use crate::web::{self, LINKS, Web};

/// Pages of a batch.
const PAGES: u64 = 40;
/// Every so many batches one is durable.
const DURABLE: u64 = 32;

/// What was done since it was last asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Took {
    pub pages: u64,
    /// Time on the processor to make up batches: the load's own, not the store's.
    pub load_seconds: f64,
    pub worst_apply: Duration,
    pub worst_scan: Duration,
}

/// The ends of a host's queue: its URLs `taken..end` are queued.
#[derive(Clone, Copy, Debug, Default)]
struct Host {
    taken: u32,
    end: u32,
}

/// A URL that has its turn.
struct Turn {
    host: u32,
    url: String,
}

/// The crawl, and how much of its web is known.
pub struct Load {
    store: Box<dyn Store>,
    web: Web,
    hosts: Vec<Host>,
    /// Hosts with queued URLs that were applied, the next turn first.
    turns: VecDeque<u32>,
    heads: Heads,
    hosts_known: u32,
    visited: u64,
    queued: u64,
    batches: u64,
    errors: u64,
    took: Took,
    // Kept for its room.
    found: Found,
}

impl Load {
    /// The load on an empty store; nothing is known yet.
    pub fn new(store: Box<dyn Store>, web: Web) -> Load {
        Load {
            store,
            web,
            hosts: vec![Host::default(); web.hosts as usize],
            turns: VecDeque::with_capacity(web.hosts as usize),
            heads: Heads::default(),
            hosts_known: 0,
            visited: 0,
            queued: 0,
            batches: 0,
            errors: 0,
            took: Took::default(),
            found: Found::default(),
        }
    }

    /// Makes one batch of hosts known by their start pages; false when all are.
    pub fn hosts(&mut self) -> Result<bool> {
        let last = self
            .web
            .hosts
            .min(self.hosts_known + (PAGES * LINKS) as u32);
        let begun = thread_seconds();
        let mut batch = Batch::default();
        for nth in self.hosts_known..last {
            let host = self.web.mixed_host(nth);
            self.put(host, "", "/", &mut batch);
            self.turns.push_back(host);
            batch.hosts.push(self.host_record(host));
        }
        self.took.load_seconds += thread_seconds() - begun;
        self.hosts_known = last;
        self.apply(batch)?;
        Ok(last < self.web.hosts)
    }

    /// Visits the pages of one batch, but not more than `most`.
    pub fn visit(&mut self, most: u64) -> Result<()> {
        let mut batch = Batch::default();
        let mut turns = Vec::with_capacity(PAGES as usize);
        // A host's next turn comes after this batch, so what a scan finds was all applied.
        while (turns.len() as u64) < PAGES.min(most) {
            let Some(host) = self.turns.pop_front() else {
                break;
            };
            turns.push(self.take(host, &mut batch)?);
        }
        let begun = thread_seconds();
        let mut touched: Vec<u32> = turns.iter().map(|turn| turn.host).collect();
        // Who has URLs left gets in line again; who had none joins with fresh ones.
        let mut in_line: Vec<u32> = Vec::with_capacity(2 * turns.len());
        in_line.extend(touched.iter().filter(|host| self.left(**host) > 0));
        for turn in &turns {
            let group = self.web.group(self.visited);
            self.visited += 1;
            let host = self.web.host_of(group);
            if self.left(host) == 0 {
                in_line.push(host);
            }
            touched.push(host);
            for path in web::paths(group) {
                self.put(host, &turn.url, &path, &mut batch);
            }
        }
        touched.sort_unstable();
        touched.dedup();
        for host in touched {
            batch.hosts.push(self.host_record(host));
        }
        self.took.pages += turns.len() as u64;
        self.took.load_seconds += thread_seconds() - begun;
        self.apply(batch)?;
        self.turns.extend(in_line);
        Ok(())
    }

    /// Takes a host's first queued URL, out of its head or by a scan, and removes it.
    fn take(&mut self, host: u32, batch: &mut Batch) -> Result<Turn> {
        let nth = self.hosts[host as usize].taken;
        let record = match self.heads.take(host) {
            Some(record) => Some(record),
            None => self.scan(host, nth)?,
        };
        let path = record
            .as_deref()
            .and_then(|record| records::path_of(record, host, nth));
        if path.is_none() {
            self.errors += 1;
        }
        let url = format!("{}{}", records::site(host), path.unwrap_or("/"));
        batch.removes.push(records::queue_key(host, nth));
        self.hosts[host as usize].taken += 1;
        self.queued -= 1;
        Ok(Turn { host, url })
    }

    /// Reads a host's first records, from its `nth` URL on: gives the first, keeps the others.
    fn scan(&mut self, host: u32, nth: u32) -> Result<Option<Vec<u8>>> {
        let most = self.heads.room();
        self.found.clear();
        let begun = Instant::now();
        self.store
            .scan(&records::queue_key(host, nth), most, &mut self.found)?;
        self.took.worst_scan = self.took.worst_scan.max(begun.elapsed());
        self.errors += wrong(&self.found, host, self.hosts[host as usize], most);
        let mut records = self.found.drain(..).map(|(_, record)| record);
        let first = records.next();
        self.heads.fill(host, records);
        Ok(first)
    }

    fn put(&mut self, host: u32, from: &str, path: &str, batch: &mut Batch) {
        let end = &mut self.hosts[host as usize].end;
        batch.puts.push((
            records::queue_key(host, *end),
            records::queued(host, *end, from, path),
        ));
        *end += 1;
        self.queued += 1;
    }

    fn host_record(&self, host: u32) -> (records::HostKey, Vec<u8>) {
        let Host { taken, end } = self.hosts[host as usize];
        (records::host_key(host), records::host(host, taken, end))
    }

    fn left(&self, host: u32) -> u32 {
        let Host { taken, end } = self.hosts[host as usize];
        end - taken
    }

    fn apply(&mut self, batch: Batch) -> Result<()> {
        self.batches += 1;
        let durable = self.batches.is_multiple_of(DURABLE);
        let begun = Instant::now();
        self.store.apply(batch, durable)?;
        self.took.worst_apply = self.took.worst_apply.max(begun.elapsed());
        Ok(())
    }

    /// Scans about so many hosts from the very beginning of their queues: what was taken must be
    /// gone. The scans of visits start behind it and would not notice.
    pub fn audit(&mut self, most: u32) -> Result<()> {
        let every = (self.web.hosts / most.max(1)).max(1);
        for host in (0..self.web.hosts).step_by(every as usize) {
            self.found.clear();
            let from = records::queue_key(host, 0);
            self.store.scan(&from, HEAD, &mut self.found)?;
            self.errors += wrong(&self.found, host, self.hosts[host as usize], HEAD);
        }
        Ok(())
    }

    /// What was done since this was last called.
    pub fn took(&mut self) -> Took {
        std::mem::take(&mut self.took)
    }

    /// URLs known.
    pub fn known(&self) -> u64 {
        u64::from(self.hosts_known) + self.visited * LINKS
    }

    /// Pages visited.
    pub fn visited(&self) -> u64 {
        self.visited
    }

    /// URLs queued.
    pub fn queued(&self) -> u64 {
        self.queued
    }

    /// URLs that did not come back as they should.
    pub fn errors(&self) -> u64 {
        self.errors
    }
}

/// How many of a host's first `most` queued URLs are not in their places in what was found.
fn wrong(found: &Found, host: u32, queue: Host, most: usize) -> u64 {
    let expected = (queue.end - queue.taken).min(most as u32) as usize;
    let right = found
        .iter()
        .zip(queue.taken..queue.end)
        .filter(|((key, record), nth)| is_nth(key, record, host, *nth))
        .count();
    (expected.max(found.len()) - right) as u64
}

fn is_nth(key: &QueueKey, record: &[u8], host: u32, nth: u32) -> bool {
    *key == records::queue_key(host, nth) && records::path_of(record, host, nth).is_some()
}
