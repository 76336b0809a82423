//! What passes the frontier's doors.

use std::net::IpAddr;

use crate::outcome::Outcome;

/// Microseconds: a moment since the epoch, or a span.
pub type Micros = u64;

/// A URL that is to be queued.
#[derive(Clone, Copy, Debug)]
pub struct Fresh<'a> {
    pub url: &'a str,
    /// The authority text of the URL.
    pub host: &'a str,
    pub host_key: u64,
    pub https: bool,
    /// The URL has a query, or looks made by a program: the other depth limit holds.
    pub dynamic: bool,
    pub seed: bool,
    pub sitemap: bool,
    pub depth: u16,
    /// Who linked to it, as the caller spells it; at most 2,048 bytes are kept.
    pub from: &'a [u8],
    /// 0 (best) to 7.
    pub band: u8,
    /// No visit before this time; 0: at once.
    pub not_before: Micros,
}

impl<'a> Fresh<'a> {
    /// A seed of the middle band that may be visited at once.
    #[must_use]
    pub fn new(url: &'a str, host: &'a str, host_key: u64) -> Fresh<'a> {
        Fresh {
            url,
            host,
            host_key,
            https: url.starts_with("https:"),
            dynamic: url.contains('?'),
            seed: true,
            sitemap: false,
            depth: 0,
            from: &[],
            band: 3,
            not_before: 0,
        }
    }
}

/// What `add` answers for each URL, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    Added,
    Refused(Outcome),
}

/// What a visit is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Page,
    Robots,
    Sitemap,
}

/// A lease: the one permission to visit this URL now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    pub lease: u64,
    pub purpose: Purpose,
    pub url: String,
    pub host: Box<str>,
    pub host_key: u64,
    pub https: bool,
    pub seed: bool,
    pub depth: u16,
    pub band: u8,
    pub tries: u8,
    pub from: Box<[u8]>,
    /// The address of the host's last visit; its turn is already reserved for this lease.
    pub ip: Option<IpAddr>,
}

/// A URL that left the queue without a visit of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub url: String,
    pub host_key: u64,
    pub depth: u16,
    pub tries: u8,
    pub from: Box<[u8]>,
    pub sitemap: bool,
    pub outcome: Outcome,
}

/// What `take` answers: one meaning each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// So many visits were handed out.
    Taken(usize),
    /// There is work, but none before this time of the caller's clock.
    NothingDue { until: Micros },
    /// All that could be done next waits for leases to be finished.
    Busy,
    /// The crawl's limit of pages is reached; what is queued stays queued.
    LimitReached,
    /// Nothing is queued (blocked hosts aside) and nothing is leased.
    Finished,
}

/// What became of a visit.
#[derive(Clone, Debug)]
pub struct Report {
    pub outcome: Outcome,
    /// By the caller's clock, as `ended`.
    pub started: Micros,
    pub ended: Micros,
    pub ip: Option<IpAddr>,
    /// Time to the response; `None`: the server did not answer.
    pub response_us: Option<Micros>,
    pub bytes: u64,
    /// `Retry-After`, or for `Deferred` without an address how long to wait; from `ended` on.
    pub wait_us: Option<Micros>,
    /// For a robots visit; `None`: follows from the outcome.
    pub robots: Option<RobotsAnswer>,
}

impl Report {
    /// A report without particulars.
    #[must_use]
    pub fn new(outcome: Outcome, started: Micros, ended: Micros) -> Report {
        Report {
            outcome,
            started,
            ended,
            ip: None,
            response_us: None,
            bytes: 0,
            wait_us: None,
            robots: None,
        }
    }
}

/// What a robots visit found, in the words of RFC 9309.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RobotsAnswer {
    /// A file.
    Rules(Vec<u8>),
    /// 4xx: no rules.
    AllowAll,
    /// 5xx and the like: nothing may be visited until it can be had.
    Unreachable,
}

/// What `finish` decided. Times are of the caller's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The URL left the queue.
    Done,
    /// The URL waits and is tried again.
    RetryAt(Micros),
    /// The URL is back in its place; the host's next turn is then.
    Returned { until: Micros },
    /// The robots rules are known; the URL that waited for them is back in its place.
    RobotsKnown,
    /// The host with all its URLs waits.
    HostSetAside { until: Micros },
    /// All URLs of the host leave the queue with this outcome, in the next calls of `take`.
    HostGivenUp(Outcome),
    /// There is no such lease (finished before, or of an earlier process): nothing was changed.
    UnknownLease,
}

/// Counts that are always up to date.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// URLs queued, leased ones among them.
    pub queued: u64,
    /// Of those, URLs of blocked hosts.
    pub queued_blocked: u64,
    pub leases: u64,
    /// Hosts ever met.
    pub hosts_known: u64,
    /// Hosts with a lease.
    pub hosts_active: u64,
    /// Hosts with queued URLs that wait for their turn.
    pub hosts_waiting: u64,
    pub hosts_set_aside: u64,
    pub hosts_blocked: u64,
    /// Hosts in memory.
    pub hosts_in_ram: u64,
    /// Queued URLs in memory, and their bytes.
    pub heads: u64,
    pub head_bytes: u64,
    pub pages: u64,
    pub bytes: u64,
    /// Hosts whose queue is still to be put in another order.
    pub reranking: u64,
    /// URLs that have got another band by that since the process began.
    pub reranked: u64,
    /// Places where a count and the store disagreed and the store was believed. Not 0: a defect.
    pub repairs: u64,
}
