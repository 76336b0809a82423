//! Compiled robots rules in memory, the rest in the store.
//!
//! Filled when rules are fetched or needed; emptied of the longest unused; bound: the bytes of the
//! files whose rules are held (`Settings::rules_in_ram`); when full, the longest unused are compiled
//! anew from the store when their host has its turn.

use std::fmt;

use lru::LruCache;

use super::Micros;
use super::robots::Robots;
use crate::codec::{Reader, put_number};
use crate::store::state::{Reads, Space, StateError};

const VERSION: u8 = 1;

/// The rules of one robots file, for our agent.
pub trait RobotsRules: Send + Sync {
    /// Whether the path with query may be visited.
    fn allows(&self, path_and_query: &str) -> bool;
    /// The file's Crawl-delay.
    fn crawl_delay_us(&self) -> Option<Micros>;
}

impl RobotsRules for Robots {
    fn allows(&self, path_and_query: &str) -> bool {
        Robots::allows(self, path_and_query)
    }

    fn crawl_delay_us(&self) -> Option<Micros> {
        let delay = self.crawl_delay()?;
        Some(u64::try_from(delay.as_micros()).unwrap_or(u64::MAX))
    }
}

/// Makes rules from a robots file; any bytes.
pub type CompileRobots = Box<dyn Fn(&[u8]) -> Box<dyn RobotsRules> + Send + Sync>;

pub(super) struct RulesCache {
    compile: CompileRobots,
    held: LruCache<(u64, bool), Held>,
    bytes: usize,
}

struct Held {
    rules: Box<dyn RobotsRules>,
    /// Tells which fetch these rules are of.
    until: u32,
    bytes: usize,
}

impl fmt::Debug for RulesCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RulesCache")
            .field("held", &self.held.len())
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

/// The key of a robots file in `Space::Robots`.
pub(super) fn key(host: u64, https: bool) -> Vec<u8> {
    let mut key = host.to_be_bytes().to_vec();
    key.push(u8::from(https));
    key
}

/// The value of a robots file: version, the second until which it is fresh, the body.
pub(super) fn value(until: u32, body: &[u8]) -> Vec<u8> {
    let mut value = vec![VERSION];
    put_number(&mut value, u64::from(until));
    value.extend_from_slice(body);
    value
}

/// The body of a stored robots file, and the second until which it is fresh.
#[must_use]
pub fn stored_robots(value: &[u8]) -> Option<(u32, &[u8])> {
    let mut reader = Reader::new(value);
    if reader.byte()? != VERSION {
        return None;
    }
    Some((reader.small()?, reader.rest()))
}

impl RulesCache {
    pub fn new(compile: CompileRobots) -> RulesCache {
        RulesCache {
            compile,
            held: LruCache::unbounded(),
            bytes: 0,
        }
    }

    /// How many files' rules are held.
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Bytes of these files.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Compiles a body and holds the rules; gives its Crawl-delay.
    pub fn hold(&mut self, host: u64, https: bool, until: u32, body: &[u8], room: usize) -> u64 {
        let rules = (self.compile)(body);
        let delay = rules.crawl_delay_us().unwrap_or(0);
        let bytes = body.len() + 256;
        self.forget(host, https);
        self.held.put(
            (host, https),
            Held {
                rules,
                until,
                bytes,
            },
        );
        self.bytes += bytes;
        while self.bytes > room
            && self.held.len() > 1
            && let Some((_, dropped)) = self.held.pop_lru()
        {
            self.bytes -= dropped.bytes;
        }
        delay
    }

    pub fn forget(&mut self, host: u64, https: bool) {
        if let Some(dropped) = self.held.pop(&(host, https)) {
            self.bytes -= dropped.bytes;
        }
    }

    /// Whether the rules of that fetch allow the path; `None`: they are not to be had.
    pub fn allows(
        &mut self,
        reads: &dyn Reads,
        host: u64,
        https: bool,
        until: u32,
        path: &str,
        room: usize,
    ) -> Result<Option<bool>, StateError> {
        let current = |held: &&Held| held.until == until;
        if let Some(held) = self.held.get(&(host, https)).filter(current) {
            return Ok(Some(held.rules.allows(path)));
        }
        let Some(stored) = reads.get(Space::Robots, &key(host, https))? else {
            return Ok(None);
        };
        let Some((of, body)) = stored_robots(&stored) else {
            return Ok(None);
        };
        if of != until {
            return Ok(None);
        }
        self.hold(host, https, until, body, room);
        let held = self.held.get(&(host, https)).filter(current);
        Ok(held.map(|held| held.rules.allows(path)))
    }
}
