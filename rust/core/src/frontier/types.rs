//! What passes the frontier's doors.

use std::net::IpAddr;

use crate::links::Link;
use crate::outcome::Outcome;

/// Microseconds: a moment since the epoch, or a span.
pub type Micros = u64;

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
    /// The URL with what is known of it; for a robots visit, the robots file and what is known of
    /// the URL that waits for its rules.
    pub link: Link,
    pub tries: u8,
    /// The address of the host's last visit; its turn is already reserved for this lease.
    pub ip: Option<IpAddr>,
}

/// A URL that left the queue without a visit of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub link: Link,
    pub tries: u8,
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
    /// The body of a robots file; empty where none came. What it means is judged by the outcome.
    pub robots: Vec<u8>,
    /// A request may have reached the server, so the gaps count from the end of the visit.
    pub sent: bool,
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
            robots: Vec::new(),
            sent: outcome != Outcome::Deferred,
        }
    }
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
