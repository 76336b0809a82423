//! A host: what is kept of it on disk, and what the frontier adds to that in memory.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use super::Micros;
use super::lines::NO_LINE;
use super::policy::HostPolicy;
use super::settings::{SECOND, Settings};
use super::throttle::Throttle;
use crate::codec::{Reader, put_bytes, put_number};
use crate::links::BANDS;
use crate::outcome::Outcome;

const VERSION: u8 = 2;
/// Beside the kind of a robots state: an outcome follows.
const UNANSWERED: u8 = 0x80;

/// What is known of the robots rules of one scheme of a host. Times in whole seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RobotsState {
    pub kind: RobotsKind,
    /// Rules: fresh until. Unreachable: the next try.
    pub until: u32,
    /// Unreachable: since when, and how often tried.
    pub since: u32,
    pub tries: u8,
    /// Unreachable, and nobody has ever answered there: how the last try ended.
    pub unanswered: Option<Outcome>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum RobotsKind {
    #[default]
    Unknown,
    Rules,
    AllowAll,
    Unreachable,
}

impl RobotsKind {
    const ALL: [RobotsKind; 4] = [
        RobotsKind::Unknown,
        RobotsKind::Rules,
        RobotsKind::AllowAll,
        RobotsKind::Unreachable,
    ];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            RobotsKind::Unknown => "unknown",
            RobotsKind::Rules => "rules",
            RobotsKind::AllowAll => "allow_all",
            RobotsKind::Unreachable => "unreachable",
        }
    }
}

impl RobotsState {
    /// Whether nobody may be visited by these rules until they are tried for again.
    fn waits(self) -> bool {
        self.kind == RobotsKind::Unreachable
    }

    pub(super) fn until_us(self) -> Micros {
        u64::from(self.until) * SECOND
    }

    pub(super) fn since_us(self) -> Micros {
        u64::from(self.since) * SECOND
    }
}

/// The last failure of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trouble {
    pub outcome: Outcome,
    /// Until when the host, or a URL of it, waits after failures; whole seconds.
    pub until: u32,
}

impl Trouble {
    pub(super) fn until_us(self) -> Micros {
        u64::from(self.until) * SECOND
    }
}

/// Seconds that hold a time, rounded up so that nothing is due early.
pub(super) fn seconds(time: Micros) -> u32 {
    time.div_ceil(SECOND).try_into().unwrap_or(u32::MAX)
}

/// What is kept of a host. Times are frontier time in microseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostRecord {
    pub name: Box<str>,
    /// No visit before; for a host set aside or given up, until when.
    pub next_due: Micros,
    pub last_end: Micros,
    /// The sequence number of the next queued URL.
    pub seq: u64,
    /// URLs queued, waiting and leased ones among them.
    pub queued: u32,
    /// URLs that wait for a time, and the first such time.
    pub waiting: u32,
    pub waiting_first: Micros,
    pub pages: u32,
    pub errors: u32,
    pub bytes: u64,
    /// Crawl-delay of http and of https, in milliseconds.
    pub crawl_delay_ms: [u32; 2],
    pub response_ms: u32,
    pub ip: Option<IpAddr>,
    pub robots: [RobotsState; 2],
    /// Failures in a row.
    pub failures: u16,
    pub set_asides: u8,
    pub blocked: bool,
    pub aside: bool,
    /// URLs of these schemes were queued (http, https).
    pub schemes: [bool; 2],
    /// Given up, with this outcome for its URLs.
    pub given_up: Option<Outcome>,
    /// The best band when it was written: where it ranks before its queue is read again.
    pub band: u8,
    /// What a host policy decided; boxed, because few hosts have one.
    pub policy: Option<Box<HostPolicy>>,
    /// What it added to its gap by asking for less.
    pub throttle: Throttle,
    /// How a visit failed, until it answers well after the wait for that.
    pub trouble: Option<Trouble>,
}

impl HostRecord {
    /// When robots rules are tried for again without which nothing of the host can be visited; 0: it does not
    /// wait for any.
    pub(super) fn robots_due(&self, settings: &Settings) -> Micros {
        let known =
            |state: &RobotsState| matches!(state.kind, RobotsKind::Rules | RobotsKind::AllowAll);
        if self.robots.iter().any(known) {
            return 0;
        }
        // After the last try its URLs are refused: nothing waits.
        let tried = |state: &RobotsState| {
            state
                .unanswered
                .is_some_and(|outcome| state.tries >= settings.patience(outcome).tries)
        };
        let waits = self.robots.iter();
        let waits = waits.filter(|state| state.waits() && !tried(state));
        waits.map(|state| state.until_us()).min().unwrap_or(0)
    }

    /// Until when all its queued URLs wait; 0: there is one that does not, or none.
    pub(super) fn all_wait_until(&self) -> Micros {
        if self.waiting > 0 && self.waiting == self.queued {
            self.waiting_first
        } else {
            0
        }
    }

    /// What failed is forgiven: the host, and its robots rules where they could not be had, may be tried at once.
    pub(super) fn forgive(&mut self) {
        self.aside = false;
        self.failures = 0;
        self.set_asides = 0;
        self.trouble = None;
        for state in self.robots.iter_mut().filter(|state| state.waits()) {
            *state = RobotsState::default();
        }
        if self.queued == 0 {
            self.given_up = None;
        }
    }

    /// Whether the pages that a policy allows are used up, with so many visits under way.
    #[must_use]
    pub fn budget_used(&self, leases: u8) -> bool {
        let budget = self.policy.as_ref().and_then(|policy| policy.budget);
        budget.is_some_and(|most| self.pages.saturating_add(u32::from(leases)) >= most)
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(96);
        out.push(VERSION);
        let bits = [
            self.blocked,
            self.aside,
            self.schemes[0],
            self.schemes[1],
            self.given_up.is_some(),
            self.waiting > 0,
            self.policy.is_some(),
            self.throttle.added_ms > 0,
        ];
        out.push(
            bits.iter()
                .enumerate()
                .fold(0, |flags, (bit, &set)| flags | u8::from(set) << bit),
        );
        out.push(self.band);
        put_bytes(&mut out, self.name.as_bytes());
        for number in [
            self.next_due,
            self.last_end,
            self.seq,
            u64::from(self.queued),
            u64::from(self.pages),
            u64::from(self.errors),
            self.bytes,
            u64::from(self.crawl_delay_ms[0]),
            u64::from(self.crawl_delay_ms[1]),
            u64::from(self.response_ms),
            u64::from(self.failures),
            u64::from(self.set_asides),
        ] {
            put_number(&mut out, number);
        }
        if self.waiting > 0 {
            put_number(&mut out, u64::from(self.waiting));
            put_number(&mut out, self.waiting_first);
        }
        match self.ip {
            None => put_bytes(&mut out, &[]),
            Some(IpAddr::V4(ip)) => put_bytes(&mut out, &ip.octets()),
            Some(IpAddr::V6(ip)) => put_bytes(&mut out, &ip.octets()),
        }
        for robots in self.robots {
            out.push(
                robots.kind as u8
                    + if robots.unanswered.is_some() {
                        UNANSWERED
                    } else {
                        0
                    },
            );
            if robots.kind != RobotsKind::Unknown {
                put_number(&mut out, u64::from(robots.until));
                put_number(&mut out, u64::from(robots.since));
                out.push(robots.tries);
            }
            out.extend(robots.unanswered.map(|outcome| outcome as u8));
        }
        if let Some(outcome) = self.given_up {
            out.push(outcome as u8);
        }
        if let Some(policy) = &self.policy {
            policy.write(&mut out);
        }
        if self.throttle.added_ms > 0 {
            put_number(&mut out, u64::from(self.throttle.added_ms));
            put_number(&mut out, u64::from(self.throttle.good));
        }
        // The bits are used up: whether there is one shows by what is left to read.
        if let Some(trouble) = self.trouble {
            out.push(trouble.outcome as u8);
            put_number(&mut out, u64::from(trouble.until));
        }
        out
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<HostRecord> {
        let mut reader = Reader::new(bytes);
        if reader.byte()? != VERSION {
            return None;
        }
        let flags = reader.byte()?;
        let bit = |at: u8| flags & (1 << at) != 0;
        let band = reader.byte()?;
        let name = std::str::from_utf8(reader.bytes()?).ok()?.into();
        let mut record = HostRecord {
            name,
            band,
            next_due: reader.number()?,
            last_end: reader.number()?,
            seq: reader.number()?,
            queued: reader.small()?,
            pages: reader.small()?,
            errors: reader.small()?,
            bytes: reader.number()?,
            crawl_delay_ms: [reader.small()?, reader.small()?],
            response_ms: reader.small()?,
            failures: reader.small()?,
            set_asides: reader.small()?,
            blocked: bit(0),
            aside: bit(1),
            schemes: [bit(2), bit(3)],
            waiting_first: Micros::MAX,
            ..HostRecord::default()
        };
        if bit(5) {
            record.waiting = reader.small()?;
            record.waiting_first = reader.number()?;
        }
        let ip = reader.bytes()?;
        record.ip = match ip.len() {
            0 => None,
            4 => Some(Ipv4Addr::from(<[u8; 4]>::try_from(ip).ok()?).into()),
            _ => Some(Ipv6Addr::from(<[u8; 16]>::try_from(ip).ok()?).into()),
        };
        for robots in &mut record.robots {
            let kind = reader.byte()?;
            robots.kind = *RobotsKind::ALL.get(usize::from(kind & !UNANSWERED))?;
            if robots.kind != RobotsKind::Unknown {
                robots.until = reader.small()?;
                robots.since = reader.small()?;
                robots.tries = reader.byte()?;
            }
            if kind & UNANSWERED != 0 {
                robots.unanswered = Some(*Outcome::ALL.get(usize::from(reader.byte()?))?);
            }
        }
        if bit(4) {
            record.given_up = Some(*Outcome::ALL.get(usize::from(reader.byte()?))?);
        }
        if bit(6) {
            record.policy = Some(Box::new(HostPolicy::read(&mut reader)?));
        }
        if bit(7) {
            record.throttle = Throttle {
                added_ms: reader.small()?,
                good: reader.small()?,
            };
        }
        if let Some(outcome) = reader.byte() {
            record.trouble = Some(Trouble {
                outcome: *Outcome::ALL.get(usize::from(outcome))?,
                until: reader.small()?,
            });
        }
        Some(record)
    }
}

/// A queued URL in memory.
#[derive(Clone, Debug)]
pub(super) struct Head {
    /// The packed place.
    pub at: u64,
    pub record: Arc<[u8]>,
}

impl Head {
    pub fn cost(&self) -> u64 {
        // The entry, the reference counts beside the record, and the record.
        40 + self.record.len() as u64
    }
}

/// What a host is doing; each host counts for one of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// Nothing queued.
    #[default]
    Idle,
    /// A lease is out.
    Active,
    Waiting,
    SetAside,
    /// It has no turns: by a command, or because the pages that a policy allows are used up.
    Blocked,
}

impl Standing {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Standing::Idle => "idle",
            Standing::Active => "active",
            Standing::Waiting => "waiting",
            Standing::SetAside => "set_aside",
            Standing::Blocked => "blocked",
        }
    }
}

/// A host in memory.
///
/// `head` holds *all* ready URLs below `resume`, leased ones apart; all others are in the store.
#[derive(Debug)]
pub(super) struct Host {
    pub key: u64,
    pub record: HostRecord,
    pub head: Vec<Head>,
    /// A packed place; `u64::MAX`: nothing ready is outside the head.
    pub resume: u64,
    /// When its turn is, or since when it is due; `MAX`: it has none.
    pub scheduled: Micros,
    /// The rank of its valid entry among those that are due, or in a line; `MAX`: none.
    pub rank: u64,
    /// The line of an address that it stands in; [`NO_LINE`]: none.
    pub line: u32,
    pub leases: u8,
    /// When a failure was counted last. Visits that were under way then are of the same trouble:
    /// eight connections that break at once are one failure.
    pub blamed: Micros,
    /// A lease is out that fetches robots rules.
    pub robots_out: bool,
    /// To be written with the next batch.
    pub dirty: bool,
    /// The batch that wrote it last.
    pub written: u64,
    /// Is in the list of idle hosts.
    pub idle_listed: bool,
    /// Is in the list of hosts given up.
    pub ending: bool,
    /// What the counters hold of it.
    pub counted: (Standing, u32),
}

impl Host {
    pub fn new(key: u64, record: HostRecord) -> Host {
        Host {
            key,
            resume: if record.queued == 0 { u64::MAX } else { 0 },
            record,
            head: Vec::new(),
            scheduled: Micros::MAX,
            rank: u64::MAX,
            line: NO_LINE,
            leases: 0,
            blamed: 0,
            robots_out: false,
            dirty: false,
            written: 0,
            idle_listed: false,
            ending: false,
            counted: (Standing::Idle, 0),
        }
    }

    pub fn standing(&self) -> Standing {
        if self.leases > 0 {
            Standing::Active
        } else if self.record.queued == 0 {
            Standing::Idle
        } else if self.record.blocked || self.record.budget_used(0) {
            Standing::Blocked
        } else if self.record.aside {
            Standing::SetAside
        } else {
            Standing::Waiting
        }
    }

    /// URLs that could be visited now were it the host's turn. Every lease holds one.
    pub fn ready(&self) -> u32 {
        self.record
            .queued
            .saturating_sub(self.record.waiting)
            .saturating_sub(u32::from(self.leases))
    }

    pub fn in_line(&self) -> bool {
        self.line != NO_LINE
    }

    /// The best band, as far as memory tells.
    pub fn band(&self) -> u8 {
        match (self.head.first(), self.resume) {
            (Some(head), _) => (head.at >> 56) as u8,
            // Nothing was read yet.
            (None, 0) => self.record.band,
            // Only what waits for a time: in the middle, until it is read.
            (None, u64::MAX) => BANDS / 2,
            (None, resume) => (resume >> 56) as u8,
        }
    }

    /// The rank of a turn that falls due at a time; the lowest is served first. Every band costs
    /// `step` of waiting, divided by the host's weight: so a host that waits gains rank with time.
    pub fn rank_at(&self, due: Micros, step: Micros) -> u64 {
        let bands = u64::from(self.band()) + 1;
        let weight = self
            .record
            .policy
            .as_ref()
            .map_or(1.0, |policy| policy.weight());
        let wait = if weight == 1.0 {
            bands.saturating_mul(step)
        } else {
            (bands as f64 * step as f64 / f64::from(weight)) as u64
        };
        // The last value stands for none.
        due.saturating_add(wait).min(u64::MAX - 1)
    }

    /// When the next visit may start, by the settings of this moment.
    pub fn due(&self, settings: &Settings) -> Micros {
        let record = &self.record;
        record.next_due.max(
            record
                .last_end
                .saturating_add(record.gap(self.key, settings)),
        )
    }

    /// The same for people: a visit for robots rules that could not be had, and one to a host all of whose URLs
    /// wait for a time, may come later than the gap asks.
    pub fn next_visit(&self, settings: &Settings) -> Micros {
        let due = self.due(settings).max(self.record.robots_due(settings));
        due.max(self.record.all_wait_until())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_record_reads_back(
            name in "[a-z.]{0,30}", times: [u64; 3], counts: [u32; 8], small: [u8; 4],
            ip: Option<IpAddr>, bits: [bool; 4], outcome in proptest::option::of(0..Outcome::ALL.len()),
        ) {
            let record = HostRecord {
                name: name.into(), next_due: times[0], last_end: times[1], seq: times[2],
                queued: counts[0], waiting: 0, waiting_first: Micros::MAX, pages: counts[1],
                errors: counts[2], bytes: times[0], crawl_delay_ms: [counts[3], counts[4]],
                response_ms: counts[5], ip, failures: u16::from(small[0]), set_asides: small[1],
                robots: [RobotsState::default(), RobotsState {
                    kind: RobotsKind::ALL[usize::from(small[2] % 3) + 1], until: counts[6],
                    since: counts[7], tries: small[3],
                    unanswered: outcome.map(|at| Outcome::ALL[at]),
                }],
                blocked: bits[0], aside: bits[1], schemes: [bits[2], bits[3]],
                given_up: outcome.map(|at| Outcome::ALL[at]), band: small[0],
                policy: bits[0].then(|| Box::new(HostPolicy {
                    budget: bits[1].then_some(counts[0]), weight: f32::from(small[1]), delay: times[2],
                    reason: "a reason".into(),
                })),
                throttle: Throttle {
                    added_ms: counts[1],
                    good: if counts[1] > 0 { u16::from(small[3]) } else { 0 },
                },
                trouble: outcome.map(|at| Trouble { outcome: Outcome::ALL[at], until: counts[2] }),
            };
            prop_assert_eq!(HostRecord::decode(&record.encode()), Some(record.clone()));
            let waits = HostRecord { waiting: 3, waiting_first: times[1], ..record };
            prop_assert_eq!(HostRecord::decode(&waits.encode()), Some(waits));
        }

        #[test]
        fn damaged_records_do_not_panic(bytes: Vec<u8>) {
            let _ = HostRecord::decode(&bytes);
        }
    }
}
