//! The evidence on two hosts, and the rule that judges it.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::{Finding, Settings};

/// Agreeing paths that are told apart; a pair that is still open then differs too often.
const MOST_PATHS: usize = 512;

/// Paths kept for people, and the longest of them.
const EXAMPLES: usize = 3;
const EXAMPLE_BYTES: usize = 200;

/// Differences before more of them than agreements end the comparison.
const REFUTING: u32 = 4;

/// Folders and depths of agreeing paths that are told apart.
const MOST_FOLDERS: usize = 16;

/// What the evidence says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Not enough yet.
    Open,
    /// Two sites; not compared any more.
    Refuted,
    /// One site; the host of side `kept` is the one that is visited.
    Alias { kept: usize },
}

/// Two hosts that had the same page under the same path at least once. Side 0 has the lower key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    origins: [String; 2],
    /// How often each side's page was stored first.
    firsts: [u32; 2],
    /// Hashes of the paths that agreed.
    paths: Vec<u64>,
    examples: Vec<String>,
    differences: u32,
    different_start: bool,
    #[serde(default)]
    same_start: bool,
    /// Hashes of the first folders of the paths that agreed, and how deep those paths lie.
    #[serde(default)]
    folders: Vec<u64>,
    #[serde(default)]
    depths: Vec<usize>,
    shared_address: bool,
    closed: bool,
    since: u64,
    last: u64,
}

impl Pair {
    #[must_use]
    pub fn new(origins: [&str; 2], now: u64) -> Pair {
        Pair {
            origins: origins.map(str::to_owned),
            firsts: [0; 2],
            paths: Vec::new(),
            examples: Vec::new(),
            differences: 0,
            different_start: false,
            same_start: false,
            folders: Vec::new(),
            depths: Vec::new(),
            shared_address: false,
            closed: false,
            since: now,
            last: now,
        }
    }

    /// The scheme and host of a side, as its pages were last met.
    #[must_use]
    pub fn origin(&self, side: usize) -> &str {
        &self.origins[side]
    }

    pub(super) fn set_origin(&mut self, side: usize, origin: &str) {
        if self.origins[side] != origin {
            origin.clone_into(&mut self.origins[side]);
        }
    }

    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Ends the comparison; what it was based on is dropped.
    pub fn close(&mut self) {
        self.closed = true;
        self.paths = Vec::new();
        self.examples = Vec::new();
    }

    /// The same page under this path, stored first for side `first`. False: nothing new.
    pub fn agree(&mut self, path: &str, first: usize, shared_address: bool, now: u64) -> bool {
        let hash = xxh3_64(path.as_bytes());
        if self.closed || self.paths.contains(&hash) {
            return false;
        }
        if self.examples.len() < EXAMPLES && path.len() <= EXAMPLE_BYTES {
            self.examples.push(path.to_owned());
        }
        self.paths.push(hash);
        self.same_start |= path == "/";
        let (folder, depth) = place(path);
        note(&mut self.folders, xxh3_64(folder.as_bytes()));
        note(&mut self.depths, depth);
        self.firsts[first] += 1;
        // Names with many addresses may meet at one only now and then: once is enough.
        self.shared_address |= shared_address;
        self.last = now;
        true
    }

    /// Different pages under this path.
    pub fn differ(&mut self, path: &str, now: u64) {
        self.differences = self.differences.saturating_add(1);
        self.different_start |= path == "/";
        self.last = now;
    }

    /// What was found out about the start pages, which may have been visited before anything agreed.
    pub(super) fn compare_starts(&mut self, starts: Starts) {
        self.same_start |= starts == Starts::Same;
        self.different_start |= starts == Starts::Different;
    }

    /// Whether the evidence is more than that of one corner which two sites share: licences, a package.
    fn is_spread(&self, settings: &Settings) -> bool {
        self.same_start
            || (self.folders.len() >= settings.folders && self.depths.len() >= settings.depths)
    }

    /// Whether everything but the start pages speaks for an alias.
    pub(super) fn is_ripe(&self, settings: &Settings) -> bool {
        !self.closed && self.paths.len() >= self.needed(settings)
    }

    fn needed(&self, settings: &Settings) -> usize {
        let needed = if self.shared_address {
            settings.after_shared
        } else {
            settings.after
        };
        needed.max(1)
    }

    /// The rule. Enough paths agree, from all over the site, few differ, and the start pages do not.
    #[must_use]
    pub fn judge(&self, settings: &Settings) -> Judgement {
        let agreements = self.paths.len();
        if self.closed
            || self.different_start
            || agreements >= MOST_PATHS
            || (self.differences >= REFUTING && self.differences as usize > agreements)
        {
            return Judgement::Refuted;
        }
        let compared = agreements as f64 + f64::from(self.differences);
        if agreements < self.needed(settings)
            || !self.is_spread(settings)
            || f64::from(self.differences) > settings.differences * compared
        {
            return Judgement::Open;
        }
        Judgement::Alias { kept: self.kept() }
    }

    /// The side that is visited from now on: the one whose pages came first more often, else the
    /// one with the shorter name.
    fn kept(&self) -> usize {
        let rank = |side: usize| {
            let origin = self.origin(side);
            (std::cmp::Reverse(self.firsts[side]), origin.len(), origin)
        };
        usize::from(rank(1) < rank(0))
    }

    pub(super) fn into_finding(self, kept: usize, now: u64) -> Finding {
        let [zero, one] = self.origins;
        let (of, alias) = if kept == 0 { (zero, one) } else { (one, zero) };
        let host = alias.split_once("://").map_or("", |(_, host)| host);
        Finding {
            host: host.to_owned(),
            of,
            time: now,
            agreements: self.paths.len(),
            differences: self.differences,
            shared_address: self.shared_address,
            examples: self.examples,
            samples: 0,
        }
    }
}

/// How the start pages of two hosts compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starts {
    Same,
    Different,
    /// One was not visited, or they are nearly the same.
    Unknown,
}

/// The first folder of a path (none: it lies in the root), and how many folders it lies in.
fn place(path: &str) -> (&str, usize) {
    let path = path.split('?').next().unwrap_or_default();
    let (folders, _) = path.rsplit_once('/').unwrap_or_default();
    let folders = folders.trim_start_matches('/');
    let depth = if folders.is_empty() {
        0
    } else {
        folders.split('/').count()
    };
    (folders.split('/').next().unwrap_or_default(), depth)
}

fn note<T: PartialEq>(list: &mut Vec<T>, one: T) {
    if list.len() < MOST_FOLDERS && !list.contains(&one) {
        list.push(one);
    }
}
