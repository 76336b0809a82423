//! Progress: counters, kept up to date, never scanned for.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Node;
use super::seed_failures::SeedFailure;
use crate::doors::{Door, DoorReport};
use crate::frontier::{Next, Standout};
use crate::links::{LeftOut, Reason};
use crate::node::pool::Purpose;
use crate::outcome::Outcome;

/// Hosts that a reading names, of each kind.
const SHOWN_HOSTS: usize = 8;

/// What the crawl is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    Running,
    Paused,
    DiskFull,
    Finished,
    LimitReached,
}

/// Hosts that wait for one reason.
#[derive(Clone, Debug, Serialize)]
pub struct Waiting {
    pub hosts: u64,
    /// The first of them to be tried again, and when.
    pub host: Box<str>,
    pub due: f64,
}

/// A host that stands out. Times in seconds.
#[derive(Clone, Debug, Serialize)]
pub struct HostLine {
    pub host: Box<str>,
    pub pages: u32,
    pub queued: u32,
    pub gap: f64,
    pub response: f64,
    /// What it needs at least for all that it has queued.
    pub left: f64,
}

impl From<Standout> for HostLine {
    fn from(host: Standout) -> HostLine {
        HostLine {
            host: host.name,
            pages: host.pages,
            queued: host.queued,
            gap: host.gap as f64 / 1e6,
            response: host.response as f64 / 1e6,
            left: host.left as f64 / 1e6,
        }
    }
}

/// Sizes of what a node holds in memory, and what its cache of names did since it began.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Inner {
    /// Bytes of the seen test: in memory, and of its own files.
    pub seen_ram: u64,
    pub seen_disk: u64,
    pub hosts_in_ram: u64,
    /// Queued URLs in memory, and their bytes.
    pub heads: u64,
    pub head_bytes: u64,
    /// Robots files whose rules are in memory, and the bytes of these files.
    pub robots_rules: u64,
    pub robots_bytes: u64,
    pub dns_names: u64,
    pub dns_asked: u64,
    pub dns_hits: u64,
    pub dns_lookups: u64,
    pub dns_seconds: f64,
}

/// A reading of all counters. Totals count from the crawl's first start, and only what is safe.
#[derive(Clone, Debug, Serialize)]
pub struct Progress {
    pub activity: Activity,
    pub pages: u64,
    /// Pages that were fetched and that a policy did not keep; the limits count them too.
    pub pages_dropped: u64,
    pub bytes: u64,
    pub urls_seen: u64,
    pub urls_queued: u64,
    /// URLs of doubted patterns that wait to be taken up.
    pub urls_set_aside: u64,
    pub visits: u64,
    pub in_flight: usize,
    pub hosts_known: u64,
    pub hosts_active: u64,
    pub hosts_waiting: u64,
    pub hosts_set_aside: u64,
    pub hosts_blocked: u64,
    pub hosts_aliases: u64,
    /// Hosts whose queue is still to be put in another order, and URLs moved by that so far.
    pub reranking: u64,
    pub reranked: u64,
    /// Lines of the fetch log by outcome. They are visits to pages, and what the next four fields say.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// Visits to robots files and to sitemaps, and those that ask for a name that cannot exist.
    pub robots_files: BTreeMap<&'static str, u64>,
    pub sitemaps: BTreeMap<&'static str, u64>,
    pub probes: BTreeMap<&'static str, u64>,
    /// URLs that left the queue without a visit.
    pub unvisited: BTreeMap<&'static str, u64>,
    /// Links of pages that were not followed, by reason, each time they were met.
    pub links_left_out: BTreeMap<&'static str, u64>,
    /// Visits that brought what their host answers to a name that does not exist.
    pub soft_404s: u64,
    /// Pages with scripts and hardly any text or links of their own.
    pub script_pages: u64,
    /// Pages that say so to robots: `noindex`, `nofollow`.
    pub robots_said: BTreeMap<&'static str, u64>,
    pub rss: u64,
    /// All that the directory takes on the disk.
    pub disk: u64,
    pub inner: Inner,
    pub seconds: f64,
    pub next_due: Option<f64>,
    /// Hosts that wait after a failure or because they asked for it, by the outcome that made them.
    pub waits: BTreeMap<&'static str, Waiting>,
    /// The hosts that need longest for what they have queued, and those with most pages.
    pub slowest: Vec<HostLine>,
    pub busiest: Vec<HostLine>,
    /// The first failures of seeds since this process began, and how many there were.
    pub seed_failures: Vec<SeedFailure>,
    pub seeds_failed: u64,
    pub note: String,
    /// How the policies are doing, for each door that has one.
    pub doors: BTreeMap<&'static str, DoorReport>,
    /// Links that wait for the acknowledgement of the engine.
    pub outbox: u64,
    /// Messages of links packed and taken in.
    pub messages_sent: u64,
    pub messages_received: u64,
    /// Links packed, and the bytes of the messages they went in.
    pub links_sent: u64,
    pub links_bytes: u64,
    /// Foreign links that were asked for in the table of recent ones, and found there.
    pub links_asked: u64,
    pub links_known: u64,
    /// Foreign links that the setting says not to follow.
    pub links_discarded: u64,
    /// Messages that could not be read.
    pub messages_damaged: u64,
    /// CPU seconds that packing and unpacking what crosses nodes took.
    pub exchange_seconds: f64,
    /// Seconds that the longest batch since the start took to be applied to the state.
    pub longest_batch: f64,
    /// Nothing is under way, nothing is open, and nothing waits here.
    pub idle: bool,
    /// These counters are whole: nothing that visits brought waits to be safe.
    pub settled: bool,
}

/// The totals at one moment, as they are kept in the state.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Reading {
    pub pages: u64,
    #[serde(default)]
    pub pages_dropped: u64,
    pub bytes: u64,
    pub urls_seen: u64,
    pub visits: u64,
    pub micros: u64,
    pub outcomes: BTreeMap<String, u64>,
    #[serde(default)]
    pub robots_files: BTreeMap<String, u64>,
    #[serde(default)]
    pub sitemaps: BTreeMap<String, u64>,
    #[serde(default)]
    pub probes: BTreeMap<String, u64>,
    #[serde(default)]
    pub unvisited: BTreeMap<String, u64>,
    #[serde(default)]
    pub links_left_out: BTreeMap<String, u64>,
    #[serde(default)]
    pub noindex: u64,
    #[serde(default)]
    pub nofollow: u64,
    #[serde(default)]
    pub soft_404s: u64,
    #[serde(default)]
    pub script_pages: u64,
}

impl Reading {
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// Numbers by outcome.
#[derive(Clone, Copy, Debug, Default)]
struct Counts([u64; Outcome::ALL.len()]);

impl Counts {
    fn read(kept: &BTreeMap<String, u64>) -> Counts {
        let mut counts = Counts::default();
        for (slot, outcome) in counts.0.iter_mut().zip(Outcome::ALL) {
            *slot = kept.get(outcome.as_str()).copied().unwrap_or(0);
        }
        counts
    }

    fn add(&mut self, outcome: Outcome) {
        self.0[outcome as usize] += 1;
    }

    fn to_keep(self) -> BTreeMap<String, u64> {
        let named = Outcome::ALL.iter().zip(self.0);
        let met = named.filter(|(_, count)| *count > 0);
        met.map(|(outcome, count)| (outcome.as_str().to_owned(), count))
            .collect()
    }
}

/// Numbers as they were kept, of the outcomes that there are.
fn by_outcome(kept: &BTreeMap<String, u64>) -> BTreeMap<&'static str, u64> {
    let names = Outcome::ALL.iter().map(|outcome| outcome.as_str());
    names
        .filter_map(|name| kept.get(name).map(|count| (name, *count)))
        .collect()
}

/// Counts as the node takes visits in (`now`), and as they are safe (`safe`).
#[derive(Debug)]
pub(super) struct Tally {
    pages: u64,
    pages_dropped: u64,
    bytes: u64,
    urls_seen: u64,
    visits: u64,
    /// Time of earlier processes, and when this one began to count; 0: not yet.
    before: u64,
    began: u64,
    outcomes: Counts,
    robots_files: Counts,
    sitemaps: Counts,
    probes: Counts,
    unvisited: Counts,
    links_left_out: [u64; Reason::ALL.len()],
    noindex: u64,
    nofollow: u64,
    soft_404s: u64,
    script_pages: u64,
    safe: Reading,
}

impl Tally {
    pub fn read(bytes: Option<&[u8]>) -> Tally {
        let safe: Reading = bytes
            .and_then(|bytes| serde_json::from_slice(bytes).ok())
            .unwrap_or_default();
        let mut links_left_out = [0; Reason::ALL.len()];
        for (slot, reason) in links_left_out.iter_mut().zip(Reason::ALL) {
            *slot = safe
                .links_left_out
                .get(reason.as_str())
                .copied()
                .unwrap_or(0);
        }
        Tally {
            links_left_out,
            noindex: safe.noindex,
            nofollow: safe.nofollow,
            soft_404s: safe.soft_404s,
            script_pages: safe.script_pages,
            pages: safe.pages,
            pages_dropped: safe.pages_dropped,
            bytes: safe.bytes,
            urls_seen: safe.urls_seen,
            visits: safe.visits,
            before: safe.micros,
            began: 0,
            outcomes: Counts::read(&safe.outcomes),
            robots_files: Counts::read(&safe.robots_files),
            sitemaps: Counts::read(&safe.sitemaps),
            probes: Counts::read(&safe.probes),
            unvisited: Counts::read(&safe.unvisited),
            safe,
        }
    }

    /// A visit, and so a line of the fetch log.
    pub fn visit(&mut self, purpose: Purpose, outcome: Outcome, bytes: u64) {
        self.visits += 1;
        self.bytes += bytes;
        self.outcomes.add(outcome);
        match purpose {
            Purpose::Page => {}
            Purpose::Robots => self.robots_files.add(outcome),
            Purpose::Sitemap => self.sitemaps.add(outcome),
            Purpose::Probe => self.probes.add(outcome),
        }
    }

    /// A URL that left the queue without a visit: a line of the fetch log too.
    pub fn unvisited(&mut self, outcome: Outcome) {
        self.outcomes.add(outcome);
        self.unvisited.add(outcome);
    }

    /// A visit to a page: whether there was one, and whether it was kept.
    pub fn page(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Fetched | Outcome::Truncated | Outcome::Duplicate => self.pages += 1,
            Outcome::Dropped => self.pages_dropped += 1,
            _ => {}
        }
    }

    /// Links of a page that were not followed.
    pub fn left_out(&mut self, links: &LeftOut) {
        for (reason, count) in links.iter() {
            self.links_left_out[reason as usize] += u64::from(count);
        }
    }

    /// What a page says to robots.
    pub fn robots(&mut self, noindex: bool, nofollow: bool) {
        self.noindex += u64::from(noindex);
        self.nofollow += u64::from(nofollow);
    }

    pub fn soft_404(&mut self, is_one: bool) {
        self.soft_404s += u64::from(is_one);
    }

    pub fn script_page(&mut self, is_one: bool) {
        self.script_pages += u64::from(is_one);
    }

    pub fn seen(&mut self, fresh: u64) {
        self.urls_seen += fresh;
    }

    /// Pages that were fetched, kept or not.
    pub fn pages_fetched(&self) -> u64 {
        self.pages + self.pages_dropped
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn micros(&self, now: u64) -> u64 {
        if self.began == 0 {
            self.before
        } else {
            self.before + now.saturating_sub(self.began)
        }
    }

    /// Starts counting time.
    pub fn work(&mut self, now: u64) {
        if self.began == 0 {
            self.began = now;
        }
    }

    /// Stops counting time.
    pub fn rest(&mut self, now: u64) {
        self.before = self.micros(now);
        self.began = 0;
    }

    pub fn reading(&self, now: u64) -> Reading {
        let links_left_out = Reason::ALL
            .iter()
            .zip(self.links_left_out)
            .filter(|(_, count)| *count > 0)
            .map(|(reason, count)| (reason.as_str().to_owned(), count))
            .collect();
        Reading {
            links_left_out,
            noindex: self.noindex,
            nofollow: self.nofollow,
            soft_404s: self.soft_404s,
            script_pages: self.script_pages,
            pages: self.pages,
            pages_dropped: self.pages_dropped,
            bytes: self.bytes,
            urls_seen: self.urls_seen,
            visits: self.visits,
            micros: self.micros(now),
            outcomes: self.outcomes.to_keep(),
            robots_files: self.robots_files.to_keep(),
            sitemaps: self.sitemaps.to_keep(),
            probes: self.probes.to_keep(),
            unvisited: self.unvisited.to_keep(),
        }
    }

    pub fn committed(&mut self, reading: &Reading) {
        self.safe = reading.clone();
    }
}

impl Node {
    /// The counters now.
    pub fn progress(&mut self) -> Progress {
        let now = self.clock.now();
        self.tally.work(now);
        let frontier = self.frontier.counters();
        let safe = &self.tally.safe;
        let idle = self.in_flight() == 0
            && self.open_is_empty()
            && self.committer.is_idle()
            && self.redirected_seeds.is_empty()
            && !self.takes_up();
        let activity = match self.next {
            _ if self.committer.disk_full() || self.seen_waits => Activity::DiskFull,
            _ if self.paused => Activity::Paused,
            _ if self.limit_reached() => Activity::LimitReached,
            Next::Finished if idle => Activity::Finished,
            Next::LimitReached => Activity::LimitReached,
            _ => Activity::Running,
        };
        let note = match activity {
            Activity::DiskFull => {
                "no room left on the disk: visits wait, and go on by themselves when there is room"
            }
            _ => "",
        };
        let exchange = self.exchange.as_ref();
        let view = exchange.map(|exchange| exchange.outbox.view());
        let view = view.unwrap_or_default();
        let inbox_empty = exchange.is_none_or(|exchange| !exchange.carrier.has_incoming());
        Progress {
            outbox: view.waiting,
            messages_sent: view.messages,
            messages_received: exchange.map_or(0, |exchange| exchange.received),
            links_sent: view.links,
            links_bytes: view.message_bytes,
            links_asked: view.asked,
            links_known: view.hits,
            links_discarded: exchange.map_or(0, |exchange| exchange.discarded),
            messages_damaged: exchange.map_or(0, |exchange| exchange.damaged),
            exchange_seconds: exchange.map_or(0.0, |exchange| exchange.spent.as_secs_f64()),
            longest_batch: self.committer.longest().as_secs_f64(),
            settled: self.open_is_empty() && self.committer.is_idle(),
            idle: idle
                && inbox_empty
                && view.waiting == 0
                && matches!(self.next, Next::Finished | Next::LimitReached),
            activity,
            pages: safe.pages,
            pages_dropped: safe.pages_dropped,
            bytes: safe.bytes,
            urls_seen: safe.urls_seen,
            urls_queued: frontier.queued,
            urls_set_aside: self.book.lock().urls_aside(),
            visits: safe.visits,
            in_flight: self.in_flight(),
            hosts_known: frontier.hosts_known,
            hosts_active: frontier.hosts_active,
            hosts_waiting: frontier.hosts_waiting,
            hosts_set_aside: frontier.hosts_set_aside,
            hosts_blocked: frontier.hosts_blocked,
            hosts_aliases: self.aliases.len() as u64,
            reranking: frontier.reranking,
            reranked: frontier.reranked,
            outcomes: by_outcome(&safe.outcomes),
            robots_files: by_outcome(&safe.robots_files),
            sitemaps: by_outcome(&safe.sitemaps),
            probes: by_outcome(&safe.probes),
            unvisited: by_outcome(&safe.unvisited),
            links_left_out: Reason::ALL
                .iter()
                .filter_map(|reason| {
                    let count = safe.links_left_out.get(reason.as_str())?;
                    Some((reason.as_str(), *count))
                })
                .collect(),
            soft_404s: safe.soft_404s,
            script_pages: safe.script_pages,
            robots_said: [("noindex", safe.noindex), ("nofollow", safe.nofollow)]
                .into_iter()
                .filter(|(_, count)| *count > 0)
                .collect(),
            rss: rss(),
            disk: self.disk_use.bytes(),
            inner: self.inner(),
            seconds: self.tally.micros(now) as f64 / 1e6,
            next_due: match self.next {
                Next::NothingDue { until } => Some(until as f64 / 1e6),
                _ => None,
            },
            waits: self.waits(),
            slowest: host_lines(self.frontier.slowest(SHOWN_HOSTS)),
            busiest: host_lines(self.frontier.busiest(SHOWN_HOSTS)),
            seed_failures: self.seed_failures.shown(),
            seeds_failed: self.seed_failures.count(),
            note: note.to_owned(),
            doors: self.door_reports(),
        }
    }

    fn inner(&self) -> Inner {
        let (frontier, dns) = (self.frontier.counters(), self.pool.dns());
        let (robots_rules, robots_bytes) = self.frontier.rules_held();
        Inner {
            seen_ram: self.seen.ram_bytes(),
            seen_disk: self.seen.disk_bytes(),
            hosts_in_ram: frontier.hosts_in_ram,
            heads: frontier.heads,
            head_bytes: frontier.head_bytes,
            robots_rules,
            robots_bytes,
            dns_names: dns.names,
            dns_asked: dns.asked,
            dns_hits: dns.hits,
            dns_lookups: dns.lookups,
            dns_seconds: dns.lookup_time.as_secs_f64(),
        }
    }

    fn waits(&self) -> BTreeMap<&'static str, Waiting> {
        let rows = self.frontier.waits().into_iter().map(|wait| {
            let waiting = Waiting {
                hosts: wait.hosts,
                host: wait.host,
                due: wait.due as f64 / 1e6,
            };
            (wait.outcome.as_str(), waiting)
        });
        rows.collect()
    }

    fn door_reports(&self) -> BTreeMap<&'static str, DoorReport> {
        let now = std::time::Instant::now();
        Door::ALL
            .into_iter()
            .filter(|door| self.settings.doors.get(*door).is_some())
            .map(|door| (door.as_str(), self.doors.report(door, now)))
            .collect()
    }

    /// Limits of the whole crawl that the frontier does not know.
    pub(super) fn limit_reached(&self) -> bool {
        self.settings
            .frontier
            .bytes
            .is_some_and(|most| self.tally.bytes() >= most)
            || self
                .settings
                .frontier
                .pages
                .is_some_and(|most| self.tally.pages_fetched() >= most)
    }
}

fn host_lines(hosts: Vec<Standout>) -> Vec<HostLine> {
    hosts.into_iter().map(HostLine::from).collect()
}

/// Resident memory of this process, in bytes; 0 where the system does not tell.
fn rss() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|text| text.split_whitespace().nth(1)?.parse::<u64>().ok());
    pages.unwrap_or(0) * 4096
}
