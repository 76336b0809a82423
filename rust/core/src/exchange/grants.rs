//! Turns at an address that hosts of several nodes share.
//!
//! The home of an address is the owner of one partition ([`home`]). It uses the address itself like a
//! standalone crawl does, and lends it to other nodes: for [`LENT`] from the moment they asked, longer
//! while they have a visit under way, and not again at once while somebody else waits. After a loan
//! nobody else begins before its end and the gap. A node that becomes home knows nothing of loans of
//! the home before it, so for as long as one can last it only confirms those in use.
//!
//! All spans are spans: no two nodes need the same time of day.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::canonical::home;
use crate::clock::Clock;
use crate::frontier::{IpTable, Micros};

/// How long an address is lent.
const LENT: Micros = 3_000_000;
/// A visit begins only with so much of the loan left.
const MARGIN: Micros = 250_000;
/// How long a visit waits for an answer of the home before it asks for another turn.
const PATIENCE: Micros = 50_000;
/// The same address is asked for at most so often.
const ASK_EVERY: Micros = 100_000;
/// Tables are swept when they have doubled beyond this.
const SWEEP: usize = 4_096;

#[derive(Debug)]
struct Loan {
    holder: String,
    until: Micros,
    /// Somebody else was refused meanwhile.
    contended: bool,
}

#[derive(Debug, Default)]
struct Tables {
    partitions: u32,
    gap: Micros,
    /// Partitions of this node, and from when on it lends as their home.
    mine: HashMap<u32, Micros>,
    /// As home: addresses lent to others.
    lent: HashMap<IpAddr, Loan>,
    /// As holder: addresses lent to this node.
    held: HashMap<IpAddr, Micros>,
    /// Addresses that visits wait for, and when to ask again.
    wanted: HashMap<IpAddr, Micros>,
    sweep_at: usize,
}

/// The addresses of a node in a cluster.
#[derive(Debug)]
pub struct Grants {
    tables: Mutex<Tables>,
    ips: Arc<IpTable>,
    clock: Arc<Clock>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Request {
    version: u8,
    /// The asker's time, given back with the answer.
    asked: Micros,
    want: Vec<IpAddr>,
    /// In use: the loan must go on.
    busy: Vec<IpAddr>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Answer {
    version: u8,
    asked: Micros,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Row {
    ip: IpAddr,
    /// Lent for so long from `asked` on; 0: not lent.
    lent: Micros,
    /// Not lent: ask again after this. Lent: begin no visit before it has passed.
    wait: Micros,
}

const VERSION: u8 = 1;

impl Grants {
    #[must_use]
    pub fn new(partitions: u32, gap: Micros, ips: Arc<IpTable>, clock: Arc<Clock>) -> Grants {
        let tables = Tables {
            partitions,
            gap,
            ..Tables::default()
        };
        Grants {
            tables: Mutex::new(tables),
            ips,
            clock,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Tables> {
        // Each change is complete in itself.
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_gap(&self, gap: Micros) {
        self.lock().gap = gap;
    }

    /// This node has a partition now; with `quiet` no home before it can have lent anything.
    pub(crate) fn gain(&self, partition: u32, quiet: bool) {
        let now = self.clock.now();
        let mut tables = self.lock();
        let from = if quiet { 0 } else { now + LENT + tables.gap };
        tables.mine.insert(partition, from);
    }

    pub(crate) fn lose(&self, partition: u32) {
        let mut tables = self.lock();
        tables.mine.remove(&partition);
        let partitions = tables.partitions;
        tables
            .lent
            .retain(|ip, _| home(*ip, partitions) != partition);
    }

    /// May this lease connect to this address now? `Err`: not before that time.
    pub(crate) fn enter(&self, lease: u64, ip: IpAddr) -> Result<(), Micros> {
        let now = self.clock.now();
        let mut tables = self.lock();
        let refused = tables.refusal(ip, now);
        if let Some(until) = refused {
            // The frontier keeps the host in the address's line until then.
            self.ips.not_before(ip, now, until);
            return Err(until);
        }
        self.ips.enter_ip(lease, ip, now)
    }

    /// Whether an address that was entered is still this node's to use: asked when the connection
    /// stands, which on a busy machine can be much later.
    pub(crate) fn holds(&self, ip: IpAddr) -> bool {
        let now = self.clock.now();
        let tables = self.lock();
        let own = tables.mine.contains_key(&home(ip, tables.partitions));
        let holds = own || tables.held.get(&ip).is_some_and(|until| *until > now);
        if !holds {
            self.ips.not_before(ip, now, now + PATIENCE);
        }
        holds
    }

    /// What to ask other homes now: for each home partition a request.
    pub fn requests(&self) -> Vec<(u32, Vec<u8>)> {
        let now = self.clock.now();
        let busy = self.ips.busy();
        let mut tables = self.lock();
        let partitions = tables.partitions;
        let mut requests: HashMap<u32, Request> = HashMap::new();
        let mut request = |ip: IpAddr| {
            let request = requests.entry(home(ip, partitions)).or_default();
            (request.version, request.asked) = (VERSION, now);
            ip
        };
        let mut asks = Vec::new();
        for (ip, again) in &mut tables.wanted {
            if *again <= now {
                *again = now + ASK_EVERY;
                asks.push((request(*ip), false));
            }
        }
        for ip in busy {
            // Asked about twice within what is left of the loan.
            let ends = tables
                .held
                .get(&ip)
                .is_some_and(|until| *until < now + LENT * 2 / 3);
            if ends && !tables.mine.contains_key(&home(ip, partitions)) {
                asks.push((request(ip), true));
            }
        }
        for (ip, is_busy) in asks {
            if let Some(request) = requests.get_mut(&home(ip, partitions)) {
                if is_busy {
                    request.busy.push(ip);
                } else {
                    request.want.push(ip);
                }
            }
        }
        tables.sweep(now);
        requests
            .into_iter()
            .map(|(home, request)| (home, serde_json::to_vec(&request).unwrap_or_default()))
            .collect()
    }

    /// As home: answers another node. Bytes that are no request are answered with nothing lent.
    pub fn answer(&self, asker: &str, request: &[u8]) -> Vec<u8> {
        let request: Request = serde_json::from_slice(request).unwrap_or_default();
        let now = self.clock.now();
        let mut answer = Answer {
            version: VERSION,
            asked: request.asked,
            rows: Vec::new(),
        };
        if request.version == VERSION {
            let mut tables = self.lock();
            for ip in request.busy {
                answer.rows.extend(tables.confirm(ip, asker, now));
            }
            for ip in request.want {
                answer.rows.extend(tables.lend(ip, asker, now, &self.ips));
            }
        }
        serde_json::to_vec(&answer).unwrap_or_default()
    }

    /// Takes a home's answer.
    pub fn take(&self, answer: &[u8]) {
        let Ok(answer) = serde_json::from_slice::<Answer>(answer) else {
            return;
        };
        let now = self.clock.now();
        if answer.version != VERSION || answer.asked > now {
            return;
        }
        let mut tables = self.lock();
        for row in answer.rows {
            if row.lent > 0 {
                tables.wanted.remove(&row.ip);
                let until = answer.asked.saturating_add(row.lent.min(LENT));
                tables.held.insert(row.ip, until);
                self.ips.not_before(row.ip, now, now + row.wait);
            } else if let Some(again) = tables.wanted.get_mut(&row.ip) {
                *again = now + row.wait.clamp(ASK_EVERY / 2, LENT);
            }
        }
    }
}

impl Tables {
    /// Until when the address cannot be entered for want of the right to it.
    fn refusal(&mut self, ip: IpAddr, now: Micros) -> Option<Micros> {
        let home = home(ip, self.partitions);
        if let Some(from) = self.mine.get(&home).copied() {
            if now < from {
                return Some(from);
            }
            let gap = self.gap;
            let loan = self.lent.get_mut(&ip)?;
            let until = loan.until + gap;
            if until > now {
                loan.contended = true;
                return Some(until);
            }
            self.lent.remove(&ip);
            return None;
        }
        if self
            .held
            .get(&ip)
            .is_some_and(|until| *until > now + MARGIN)
        {
            return None;
        }
        self.wanted.entry(ip).or_insert(0);
        Some(now + PATIENCE)
    }

    /// A loan in use goes on, also one that an earlier home made. Of those nothing is left once this home
    /// lends by itself: whoever still asks then has let its loan end, and somebody else may be inside.
    fn confirm(&mut self, ip: IpAddr, asker: &str, now: Micros) -> Option<Row> {
        let from = *self.mine.get(&home(ip, self.partitions))?;
        if now < from {
            self.lent.entry(ip).or_insert_with(|| Loan {
                holder: asker.to_owned(),
                until: now,
                contended: false,
            });
        }
        let loan = self.lent.get_mut(&ip)?;
        if loan.holder != asker {
            return None;
        }
        loan.until = now + LENT;
        Some(Row {
            ip,
            lent: LENT,
            wait: 0,
        })
    }

    fn lend(&mut self, ip: IpAddr, asker: &str, now: Micros, ips: &IpTable) -> Option<Row> {
        let from = *self.mine.get(&home(ip, self.partitions))?;
        let later = |until: Micros| {
            Some(Row {
                ip,
                lent: 0,
                wait: until.saturating_sub(now),
            })
        };
        if now < from {
            return later(from);
        }
        let gap = self.gap;
        let mut wait = 0;
        if let Some(loan) = self.lent.get_mut(&ip) {
            let own = loan.holder == asker;
            if own && !loan.contended {
                loan.until = now + LENT;
                return Some(Row {
                    ip,
                    lent: LENT,
                    wait: 0,
                });
            }
            // The others first: they wait since before.
            let free = loan.until + gap + if own { 2 * ASK_EVERY } else { 0 };
            if free > now {
                loan.contended |= !own;
                return later(free);
            }
        } else {
            let (busy, due) = ips.access(ip, now);
            if busy {
                return later(now + ASK_EVERY);
            }
            wait = due.saturating_sub(now);
        }
        let loan = Loan {
            holder: asker.to_owned(),
            until: now + LENT,
            contended: false,
        };
        self.lent.insert(ip, loan);
        Some(Row {
            ip,
            lent: LENT,
            wait,
        })
    }

    fn sweep(&mut self, now: Micros) {
        if self.lent.len() + self.held.len() + self.wanted.len() < self.sweep_at.max(SWEEP) {
            return;
        }
        let gap = self.gap;
        self.lent.retain(|_, loan| loan.until + gap > now);
        self.held.retain(|_, until| *until > now);
        // A visit that still wants it asks again.
        self.wanted.retain(|_, again| *again + LENT > now);
        self.sweep_at = 2 * (self.lent.len() + self.held.len() + self.wanted.len());
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    struct One {
        grants: Grants,
        clock: Arc<Clock>,
        ips: Arc<IpTable>,
    }

    fn node(gap: Micros) -> One {
        let (clock, ips) = (Arc::new(Clock::default()), Arc::new(IpTable::default()));
        ips.configure(gap, 1);
        let grants = Grants::new(8, gap, Arc::clone(&ips), Arc::clone(&clock));
        One { grants, clock, ips }
    }

    fn exchange(from: &One, name: &str, to: &One) {
        for (_, request) in from.grants.requests() {
            from.grants.take(&to.grants.answer(name, &request));
        }
    }

    const IP: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(127, 0, 0, 9));
    const GAP: Micros = 1_000_000;

    #[test]
    fn an_address_is_lent_and_nobody_else_enters_before_its_end_and_the_gap() {
        let (home_node, other) = (node(GAP), node(GAP));
        home_node.grants.gain(home(IP, 8), true);
        assert!(other.grants.enter(1, IP).is_err(), "nothing lent yet");
        exchange(&other, "b", &home_node);
        other.clock.shift(PATIENCE as i64 + 1);
        assert_eq!(other.grants.enter(2, IP), Ok(()));
        let until = home_node.grants.enter(3, IP).unwrap_err();
        let now = home_node.clock.now();
        assert!(until > now + LENT && until <= now + LENT + GAP);
        home_node.clock.shift((LENT + GAP + 1) as i64);
        assert_eq!(home_node.grants.enter(3, IP), Ok(()));
    }

    #[test]
    fn a_visit_under_way_keeps_the_loan_and_a_waiting_home_gets_it_next() {
        let (home_node, other) = (node(GAP), node(GAP));
        home_node.grants.gain(home(IP, 8), true);
        let _ = other.grants.enter(1, IP);
        exchange(&other, "b", &home_node);
        other.clock.shift(PATIENCE as i64 + 1);
        assert_eq!(other.grants.enter(1, IP), Ok(()));
        for _ in 0..4 {
            for one in [&home_node, &other] {
                one.clock.shift(LENT as i64 / 2);
            }
            exchange(&other, "b", &home_node);
            assert!(home_node.grants.enter(9, IP).is_err(), "in use");
        }
        other.ips.leave(1, Some(other.clock.now()));
        for one in [&home_node, &other] {
            one.clock.shift((LENT + GAP + 1) as i64);
        }
        let _ = other.grants.enter(2, IP);
        exchange(&other, "b", &home_node);
        other.clock.shift(PATIENCE as i64 + 1);
        assert_eq!(home_node.grants.enter(9, IP), Ok(()), "it waited");
        assert!(other.grants.enter(2, IP).is_err());
    }

    #[test]
    fn a_loan_that_ended_is_not_confirmed_while_the_home_is_inside() {
        let (home_node, other) = (node(GAP), node(GAP));
        home_node.grants.gain(home(IP, 8), true);
        let _ = other.grants.enter(1, IP);
        exchange(&other, "b", &home_node);
        other.clock.shift(PATIENCE as i64 + 1);
        assert_eq!(other.grants.enter(1, IP), Ok(()));
        for one in [&home_node, &other] {
            one.clock.shift((LENT + GAP + 1) as i64);
        }
        assert_eq!(home_node.grants.enter(9, IP), Ok(()), "the loan has ended");
        // The visit of before is not reported yet, so the address counts as in use there.
        exchange(&other, "b", &home_node);
        other.ips.leave(1, None);
        assert!(other.grants.enter(2, IP).is_err(), "the home is inside");
    }

    #[test]
    fn a_new_home_lends_nothing_until_old_loans_have_ended() {
        let (home_node, other) = (node(GAP), node(GAP));
        home_node.grants.gain(home(IP, 8), false);
        assert!(home_node.grants.enter(1, IP).is_err());
        let _ = other.grants.enter(1, IP);
        exchange(&other, "b", &home_node);
        other.clock.shift(PATIENCE as i64 + 1);
        assert!(other.grants.enter(1, IP).is_err());
        home_node.clock.shift((LENT + GAP) as i64);
        assert_eq!(home_node.grants.enter(1, IP), Ok(()));
    }

    #[test]
    fn odd_bytes_change_nothing() {
        let one = node(GAP);
        one.grants.take(b"\xff");
        one.grants.take(b"{}");
        assert!(!one.grants.answer("b", b"no").is_empty());
    }
}
