//! A rehearsal of a crawl's memory at a size that no test crawl reaches: `seen` and the frontier on
//! the store of a crawl, with every step a crawl takes but fetching and parsing.
//!
//! The web exists only as arithmetic. Every host has a start page; all of these are known first, so
//! that the number of hosts stays the same while the URLs grow. Then each page that is visited
//! brings 50 fresh URLs of one host. Hosts come in mixed order, and their sizes follow a power law:
//! the h-th of n ends at (h/n)³ of all groups, so the upper half of the hosts has 7 of 8 URLs.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{
    Admission, CompileRobots, Counters, Frontier, Micros, Next, Purpose, Report, RobotsRules,
    Settings,
};
use crate::canonical::{Grouping, Url};
use crate::links::Link;
use crate::measure::process_cpu;
use crate::outcome::Outcome;
use crate::parse::LinkKind;
use crate::seen::{self, Candidate, Seen, SeenKind, SeenSettings};
use crate::store::state::{DiskSettings, DiskState, DiskUse, State, StateError, Writes};

/// Fresh URLs of a page.
pub const LINKS: u64 = 50;
/// Pages of a batch: as many as a crawl of 4,000 pages a second has with its usual `store.batch_wait`, 50 ms.
const PAGES: u64 = 200;
/// Start pages of a batch.
const STARTS: u64 = 2_000;
/// Simulated time from visit to visit.
const STEP: Micros = 1_000;

struct NoRules;

impl RobotsRules for NoRules {
    fn allows(&self, _path: &str) -> bool {
        true
    }

    fn crawl_delay_us(&self) -> Option<Micros> {
        None
    }
}

/// What was done in a call, and how long it took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Took {
    pub urls: u64,
    pub visits: u64,
    /// URLs that did not pass `seen` or the frontier's door, and should have.
    pub errors: u64,
    pub seen: Duration,
    pub frontier: Duration,
    pub apply: Duration,
    /// On the processor, of all threads of the process.
    pub cpu: Duration,
    /// The longest that one batch took to apply.
    pub pause: Duration,
    /// The longest that one call of the frontier took, to take visits or to add URLs.
    pub call: Duration,
}

impl Took {
    fn frontier_call(&mut self, took: Duration) {
        self.frontier += took;
        self.call = self.call.max(took);
    }
}

/// The crawl and how much of its web is known.
pub struct Rehearsal {
    // Before the state, so that it goes first.
    seen: Box<dyn Seen>,
    frontier: Frontier,
    state: DiskState,
    now: Micros,
    hosts: u64,
    hosts_known: u64,
    groups: u64,
    step: u64,
    loaded: u64,
    /// For whoever looks on from another thread.
    queued: Arc<AtomicU64>,
}

impl std::fmt::Debug for Rehearsal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rehearsal")
            .field("hosts_known", &self.hosts_known)
            .field("loaded", &self.loaded)
            .finish_non_exhaustive()
    }
}

impl Rehearsal {
    /// A crawl in `dir` of a web of `urls` URLs on `hosts` hosts, with the settings of a crawl that
    /// sets none. Nothing is known yet.
    pub fn open(dir: &Path, urls: u64, hosts: u64) -> Result<Rehearsal, StateError> {
        let state = DiskState::open(&dir.join("state"), DiskSettings::default())?;
        let settings = SeenSettings {
            directory: Some(dir.join("seen")),
            ..SeenSettings::default()
        };
        let seen = seen::open(SeenKind::Exact, &settings, &state)?;
        let compile: CompileRobots = Box::new(|_| Box::new(NoRules));
        let now = 1_700_000_000_000_000;
        let mut writes = Writes::default();
        let frontier = Frontier::open(Settings::default(), compile, &state, now, &mut writes)?;
        state.apply(writes, true)?;
        let hosts = hosts.max(1);
        let groups = (urls.saturating_sub(hosts) / LINKS).max(1);
        // A step that shares no factor with the number of groups visits each once.
        let mut step = (groups as f64 * 0.618) as u64 | 1;
        while common_divisor(step, groups) != 1 {
            step += 2;
        }
        Ok(Rehearsal {
            seen,
            frontier,
            state,
            now,
            hosts,
            hosts_known: 0,
            groups,
            step,
            loaded: 0,
            queued: Arc::default(),
        })
    }

    /// Makes up to so many hosts known by their start pages.
    pub fn hosts(&mut self, most: u64) -> Result<Took, StateError> {
        let mut took = Took::default();
        let begun = process_cpu();
        let end = self.hosts.min(self.hosts_known.saturating_add(most));
        while self.hosts_known < end {
            let last = end.min(self.hosts_known + STARTS);
            let urls: Vec<String> = (self.hosts_known..last)
                .map(|host| format!("{}/", site(host)))
                .collect();
            self.hosts_known = last;
            let mut writes = Writes::default();
            self.admit(urls, "", 0, &mut writes, &mut took)?;
            self.commit(writes, &mut took)?;
        }
        took.cpu = process_cpu().saturating_sub(begun);
        Ok(took)
    }

    /// Visits up to so many pages, each of which brings 50 fresh URLs; ends when the web is known.
    pub fn visit(&mut self, pages: u64) -> Result<Took, StateError> {
        let mut took = Took::default();
        let begun = process_cpu();
        let end = self.groups.min(self.loaded.saturating_add(pages));
        while self.loaded < end {
            let most = (end - self.loaded).min(PAGES) as usize;
            let mut writes = Writes::default();
            for from in self.visit_some(most, &mut writes, &mut took)? {
                let group =
                    (u128::from(self.loaded) * u128::from(self.step)) % u128::from(self.groups);
                self.loaded += 1;
                let urls = self.links(group as u64);
                self.admit(urls, &from, 3, &mut writes, &mut took)?;
            }
            self.commit(writes, &mut took)?;
        }
        took.cpu = process_cpu().saturating_sub(begun);
        Ok(took)
    }

    /// Takes visits and ends them well; gives the URLs of the pages among them.
    fn visit_some(
        &mut self,
        most: usize,
        writes: &mut Writes,
        took: &mut Took,
    ) -> Result<Vec<String>, StateError> {
        let begun = Instant::now();
        let (mut visits, mut refusals) = (Vec::new(), Vec::new());
        self.now += STEP;
        let next = self.frontier.take(
            self.now,
            most,
            &self.state,
            writes,
            &mut visits,
            &mut refusals,
        )?;
        took.frontier_call(begun.elapsed());
        let begun = Instant::now();
        if let Next::NothingDue { until } = next {
            self.now = self.now.max(until);
        }
        took.errors += refusals.len() as u64;
        let mut pages = Vec::with_capacity(visits.len());
        for visit in visits {
            let started = self.now;
            self.now += STEP;
            let mut report = Report::new(Outcome::Fetched, started, self.now);
            report.response_us = Some(STEP);
            report.bytes = 20_000;
            if visit.purpose == Purpose::Robots {
                report.outcome = Outcome::Gone;
            }
            self.frontier.finish(self.now, visit.lease, &report, writes);
            took.visits += 1;
            if visit.purpose == Purpose::Page {
                pages.push(visit.link.url.into_string());
            }
        }
        took.frontier += begun.elapsed();
        Ok(pages)
    }

    /// Through `seen` into the frontier, as a crawl does with the links of a page.
    fn admit(
        &mut self,
        texts: Vec<String>,
        from: &str,
        depth: u16,
        writes: &mut Writes,
        took: &mut Took,
    ) -> Result<(), StateError> {
        let count = texts.len() as u64;
        let urls: Vec<Url> = texts
            .into_iter()
            .filter_map(|text| Url::from_canonical(text, Grouping::Host).ok())
            .collect();
        let begun = Instant::now();
        let candidates: Vec<Candidate<'_>> = urls.iter().map(Candidate::from).collect();
        let mut fresh = Vec::with_capacity(urls.len());
        self.seen
            .admit(&candidates, &self.state, writes, &mut fresh)?;
        took.seen += begun.elapsed();
        let begun = Instant::now();
        let from: Arc<str> = Arc::from(from);
        let links: Vec<Link> = urls
            .into_iter()
            .zip(&fresh)
            .filter(|(_, fresh)| **fresh)
            .map(|(url, _)| Link {
                seed: from.is_empty(),
                depth,
                ..Link::new(url, Arc::clone(&from), LinkKind::A)
            })
            .collect();
        let mut admissions = Vec::with_capacity(links.len());
        self.frontier
            .add(self.now, &links, &self.state, writes, &mut admissions)?;
        took.frontier_call(begun.elapsed());
        let added = admissions
            .iter()
            .filter(|admission| **admission == Admission::Added)
            .count() as u64;
        took.urls += added;
        took.errors += count - added;
        Ok(())
    }

    fn commit(&mut self, mut writes: Writes, took: &mut Took) -> Result<(), StateError> {
        let begun = Instant::now();
        let seen = self.seen.seal(&mut writes)?;
        let frontier = self.frontier.seal(&mut writes);
        // Safe against a power cut, as every batch of a crawl.
        self.state.apply(writes, true)?;
        self.frontier.applied(frontier);
        self.seen.applied(seen, true);
        let pause = begun.elapsed();
        took.apply += pause;
        took.pause = took.pause.max(pause);
        let queued = self.frontier.counters().queued;
        self.queued.store(queued, Ordering::Relaxed);
        Ok(())
    }

    fn links(&self, group: u64) -> Vec<String> {
        let share = group as f64 / self.groups as f64;
        let host = ((share.cbrt() * self.hosts as f64) as u64).min(self.hosts - 1);
        let site = site(host);
        (group * LINKS..(group + 1) * LINKS)
            .map(|page| format!("{site}/section-{}/article-{page}.html", page % 17))
            .collect()
    }

    /// The frontier's counts.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.frontier.counters()
    }

    /// URLs queued when the last batch was applied, for whoever looks on while a call goes on.
    #[must_use]
    pub fn queued(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.queued)
    }

    /// URLs known.
    #[must_use]
    pub fn known(&self) -> u64 {
        self.hosts_known + self.loaded * LINKS
    }

    /// What the store uses, and `seen` beside it: bytes of disk and of RAM.
    pub fn usage(&self) -> Result<(DiskUse, u64, u64), StateError> {
        Ok((
            self.state.usage()?,
            self.seen.disk_bytes(),
            self.seen.ram_bytes(),
        ))
    }
}

fn site(host: u64) -> String {
    format!("https://www.site{host}.example")
}

fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn all_of_the_web_is_known_and_queued_or_visited() {
        let dir = tempfile::tempdir().unwrap();
        let mut crawl = Rehearsal::open(dir.path(), 100_500, 500).unwrap();
        let took = crawl.hosts(u64::MAX).unwrap();
        assert_eq!((took.urls, took.errors), (500, 0));
        let took = crawl.visit(1_000).unwrap();
        assert_eq!((took.urls, took.errors), (50_000, 0));
        let again = crawl.visit(u64::MAX).unwrap();
        assert_eq!((again.urls, again.errors), (50_000, 0));
        let counters = crawl.counters();
        assert_eq!((counters.hosts_known, counters.hosts_in_ram), (500, 500));
        assert_eq!(counters.queued + counters.pages, crawl.known());
        assert_eq!(counters.pages, 2_000);
        assert_eq!(counters.leases, 0);
        assert_eq!(crawl.queued().load(Ordering::Relaxed), counters.queued);
        assert!(took.cpu > Duration::ZERO);
        assert!(took.pause <= took.apply && took.call <= took.frontier);
    }
}
