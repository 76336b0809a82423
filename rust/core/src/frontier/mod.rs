//! Frontier: whose turn is it, and when.
//!
//! Takes: fresh URLs ([`Frontier::add`]) and reports of visits ([`Frontier::finish`]).
//! Gives: visits, which are leases ([`Frontier::take`]), and refusals.
//! Next: the fetcher.
//!
//! Guarantees, each kept by a property test over simulated hours:
//!
//! 1. No early visit: between the end of a visit and the start of the next there is at least the gap
//!    of the host and the gap of the address, also over a restart and a clock set back.
//! 2. At most `per_host` leases of a host and `per_ip` of an address.
//! 3. Robots first: no page of a host and scheme is given before its rules are known and fresh, and
//!    none that they forbid.
//! 4. Nothing is lost: every URL added is finished, refused with an outcome, or still queued, also
//!    after a crash at any moment.
//! 5. Order: in a host the lower band first, in a band in the order of coming. Among hosts that are
//!    due the better band first, and nobody starves: a host is never passed over by one that fell due
//!    later by more than its penalty ([`Settings::band_wait`] for each band, divided by its weight).
//! 6. The counters equal a recount.
//!
//! How it keeps them. The queue is in the store; a lease is only in memory, so after a crash every
//! leased URL is still queued. All changes go to a [`Writes`] that the caller applies as one batch;
//! until then an overlay stands in for the store, so a batch that must be tried again (full disk)
//! finds the frontier unchanged. The batch protocol: any calls of `add`, `take` and `finish` with
//! one `Writes`, then [`Frontier::seal`], apply, then [`Frontier::applied`].
//!
//! Queues in here, and their four facts, are told in `docs/path/4-frontier.md`.

mod add;
mod clock;
mod elsewhere;
mod ending;
mod filter;
mod finish;
mod gap;
mod gate;
mod host;
mod inspect;
mod ips;
mod lines;
mod list;
mod order;
mod overlay;
mod policy;
mod queue;
mod queued;
#[cfg(any(test, feature = "testing"))]
pub mod rehearsal;
mod rerank;
pub mod robots;
mod rules;
mod settings;
mod slots;
mod standouts;
mod steer;
mod take;
#[cfg(test)]
mod tests;
mod throttle;
mod turns;
mod types;
mod waits;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::sync::Arc;

pub use filter::{Filter, Judge};
pub use gap::GapSource;
pub use host::{HostRecord, RobotsKind, RobotsState, Standing, Trouble};
pub use inspect::{InQueue, QueueLook, find_queued, first_queued, stored_host};
pub use ips::IpTable;
pub use list::{Found, HostList, Listed, Place, Question, Size, Sort};
pub use order::{Formula, Traits};
pub use policy::{HEAVIEST, HostPolicy};
pub use rerank::{RerankSlice, Scored};
pub use rules::{CompileRobots, RobotsRules, stored_robots};
pub use settings::{
    Blame, DAY, HOUR, HostRules, HostTerms, Limits, Patience, Policy, SECOND, Settings,
};
pub use standouts::Standout;
pub use steer::HostView;
pub use throttle::{Throttle, Throttling};
pub use types::{Admission, Counters, Micros, Next, Purpose, Refusal, Report, Verdict, Visit};
pub use waits::Wait;

use crate::store::state::{Reads, Space, StateError, Writes};
use clock::Clock;
use host::Host;
use lines::{Lines, Turn};
use overlay::Overlay;
use rerank::Rerank;
use rules::RulesCache;
use slots::Slots;
use standouts::Standouts;
use take::Lease;
use waits::Waits;

/// The key of the frontier's own record in `Space::Meta`: version and last frontier time.
const META_KEY: &[u8] = b"frontier";
const META_VERSION: u8 = 2;

/// The frontier of the hosts that this process owns. One thread owns it.
#[derive(Debug)]
pub struct Frontier {
    settings: Settings,
    clock: Clock,
    /// When this process opened a state that was used before; 0 for a new state. What happened
    /// just before is not known, so every host counts as visited at this moment.
    opened: Micros,
    hosts: Slots,
    slots: HashMap<u64, u32>,
    /// Turns of hosts and lines that are not due yet, by time …
    timetable: BinaryHeap<Reverse<Turn>>,
    /// … and of those that are, by rank.
    due: BinaryHeap<Reverse<Turn>>,
    lines: Lines,
    ips: Arc<IpTable>,
    leases: HashMap<u64, Lease>,
    last_lease: u64,
    page_leases: u64,
    overlay: Overlay,
    rules: RulesCache,
    dirty: Vec<u32>,
    /// Hosts given up whose URLs are still to be refused.
    ending: VecDeque<u32>,
    /// Hosts without queued URLs: the batch with their last change, and their slot.
    idle: VecDeque<(u64, u32)>,
    counters: Counters,
    /// Ranges of keys whose hosts get no turns, because they are being handed over.
    frozen: Vec<(u64, u64)>,
    /// Ranges that another node had until a time: what it visited just before is not known.
    taken_over: Vec<(u64, u64, Micros)>,
    list: Option<HostList>,
    filter: Filter,
    rerank: Rerank,
    waits: Waits,
    standouts: Standouts,
}

impl Frontier {
    /// Opens the frontier of all hosts in the store. What it adds to `writes` must be applied
    /// before the first visit begins.
    pub fn open(
        settings: Settings,
        compile: CompileRobots,
        reads: &dyn Reads,
        now: Micros,
        writes: &mut Writes,
    ) -> Result<Frontier, StateError> {
        let recorded = recorded_time(reads)?;
        let mut clock = Clock::from(recorded.unwrap_or(0));
        let time = clock.tick(now);
        let mut frontier = Frontier {
            opened: if recorded.is_some() { time } else { 0 },
            clock,
            hosts: Slots::default(),
            slots: HashMap::new(),
            timetable: BinaryHeap::new(),
            due: BinaryHeap::new(),
            lines: Lines::default(),
            ips: Arc::new(IpTable::default()),
            leases: HashMap::new(),
            last_lease: 0,
            page_leases: 0,
            overlay: Overlay::default(),
            rules: RulesCache::new(compile),
            dirty: Vec::new(),
            ending: VecDeque::new(),
            idle: VecDeque::new(),
            counters: Counters::default(),
            frozen: Vec::new(),
            taken_over: Vec::new(),
            list: None,
            filter: Filter::default(),
            rerank: Rerank::default(),
            waits: Waits::default(),
            standouts: Standouts::default(),
            settings: Settings::default(),
        };
        if recorded.is_some() {
            let floor = time.saturating_add(settings.ip_gap);
            frontier.ips.set_floor(floor);
        }
        frontier.keep_list(settings.list);
        frontier.set_settings(settings);
        frontier.load_range(0, u64::MAX, reads)?;
        frontier.resume_rerank(reads)?;
        frontier.put_clock(writes);
        Ok(frontier)
    }

    /// Ends the batch: adds the hosts' records to it and gives its number.
    pub fn seal(&mut self, writes: &mut Writes) -> u64 {
        let batch = self.overlay.batch();
        for slot in std::mem::take(&mut self.dirty) {
            if let Some(host) = self.host_mut(slot)
                && host.dirty
            {
                host.dirty = false;
                host.written = batch;
                host.record.band = host.band();
                writes.put(Space::Hosts, host.key.to_be_bytes(), host.record.encode());
                if let Some(host) = self.hosts.get(slot) {
                    let now = self.clock.last();
                    self.standouts
                        .note(host.key, &host.record, &self.settings, now);
                    self.note_listed(host.key, &host.record);
                }
            }
        }
        self.put_clock(writes);
        self.overlay.seal()
    }

    /// The batch of that number, and so every earlier one, has been applied.
    pub fn applied(&mut self, batch: u64) {
        self.overlay.applied(batch);
        while self.idle.len() > self.settings.idle_in_ram
            && let Some(&(of, slot)) = self.idle.front()
            && of <= batch
        {
            self.idle.pop_front();
            let Some(host) = self.host_mut(slot) else {
                continue;
            };
            host.idle_listed = false;
            if host.standing() == Standing::Idle && !host.in_line() && !host.ending {
                // A batch under way may still hold its last change.
                if host.dirty || host.written > batch {
                    self.list_idle(slot);
                } else {
                    self.drop_host(slot);
                }
            }
        }
    }

    /// The addresses' clocks, for the fetcher's threads.
    #[must_use]
    pub fn ips(&self) -> Arc<IpTable> {
        Arc::clone(&self.ips)
    }

    /// Counts that are always up to date.
    #[must_use]
    pub fn counters(&self) -> Counters {
        Counters {
            leases: self.leases.len() as u64,
            hosts_in_ram: self.slots.len() as u64,
            reranking: self.rerank.left(),
            reranked: self.rerank.moved(),
            ..self.counters
        }
    }

    /// Robots files whose rules are in memory, and the bytes of these files.
    #[must_use]
    pub fn rules_held(&self) -> (u64, u64) {
        (self.rules.len() as u64, self.rules.bytes() as u64)
    }

    /// Changes of the queue that wait for their batch to be applied.
    #[must_use]
    pub fn unapplied(&self) -> usize {
        self.overlay.len()
    }

    fn put_clock(&self, writes: &mut Writes) {
        let mut value = vec![META_VERSION];
        value.extend_from_slice(&self.clock.last().to_be_bytes());
        writes.put(Space::Meta, META_KEY, value);
    }

    fn tick(&mut self, now: Micros) -> Micros {
        let time = self.clock.tick(now);
        self.ips.set_clock(self.clock.offset(), time);
        time
    }

    fn host(&self, slot: u32) -> Option<&Host> {
        self.hosts.get(slot)
    }

    fn host_mut(&mut self, slot: u32) -> Option<&mut Host> {
        self.hosts.get_mut(slot)
    }

    /// Takes a host into memory.
    fn place_host(&mut self, host: Host) -> u32 {
        let key = host.key;
        let slot = self.hosts.put(host);
        self.slots.insert(key, slot);
        slot
    }

    /// Drops a host from memory; the store has it.
    fn drop_host(&mut self, slot: u32) {
        self.drop_head(slot);
        self.waits.set(slot, None);
        if let Some(host) = self.hosts.take(slot) {
            self.slots.remove(&host.key);
            self.counters_change(host.counted, (Standing::Idle, 0));
        }
    }

    fn list_idle(&mut self, slot: u32) {
        let batch = self.overlay.batch();
        if let Some(host) = self.host_mut(slot)
            && !host.idle_listed
        {
            host.idle_listed = true;
            self.idle.push_back((batch, slot));
        }
    }

    fn list_ending(&mut self, slot: u32) {
        if let Some(host) = self.host_mut(slot)
            && !host.ending
        {
            host.ending = true;
            self.ending.push_back(slot);
        }
    }

    /// To be called after every change of a host: it is written with the batch, and counted.
    fn changed(&mut self, slot: u32) {
        let Some(host) = self.host_mut(slot) else {
            return;
        };
        let fresh = !std::mem::replace(&mut host.dirty, true);
        if fresh {
            self.dirty.push(slot);
        }
        self.recount(slot);
    }

    fn recount(&mut self, slot: u32) {
        let Some(host) = self.host_mut(slot) else {
            return;
        };
        let now = (host.standing(), host.record.queued);
        let before = std::mem::replace(&mut host.counted, now);
        self.counters_change(before, now);
        if now.0 == Standing::Idle {
            self.list_idle(slot);
        }
    }

    fn counters_change(&mut self, before: (Standing, u32), after: (Standing, u32)) {
        for ((standing, queued), add) in [(before, false), (after, true)] {
            let counters = &mut self.counters;
            let change = |count: &mut u64, by: u64| {
                *count = if add {
                    *count + by
                } else {
                    count.saturating_sub(by)
                }
            };
            change(&mut counters.queued, u64::from(queued));
            match standing {
                Standing::Idle => {}
                Standing::Active => change(&mut counters.hosts_active, 1),
                Standing::Waiting => change(&mut counters.hosts_waiting, 1),
                Standing::SetAside => change(&mut counters.hosts_set_aside, 1),
                Standing::Blocked => {
                    change(&mut counters.hosts_blocked, 1);
                    change(&mut counters.queued_blocked, u64::from(queued));
                }
            }
        }
    }
}

/// The last frontier time on record; `None` in a new state.
fn recorded_time(reads: &dyn Reads) -> Result<Option<Micros>, StateError> {
    let Some(value) = reads.get(Space::Meta, META_KEY)? else {
        return Ok(None);
    };
    match value.split_first() {
        Some((&META_VERSION, rest)) => {
            let time = rest.try_into().map_err(|_| damaged("clock"))?;
            Ok(Some(u64::from_be_bytes(time)))
        }
        Some((version, _)) => Err(StateError::Format(format!(
            "the frontier was written in format {version}, this program reads {META_VERSION}"
        ))),
        None => Err(damaged("clock")),
    }
}

fn damaged(what: &str) -> StateError {
    StateError::Format(format!("the frontier's {what} record is damaged"))
}
