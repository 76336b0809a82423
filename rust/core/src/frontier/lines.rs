//! Entries of the timetable and of the heap of those that are due, and the lines of hosts that wait
//! for an address.
//!
//! A line: filled by hosts whose turn came when their address had none; emptied by rank when the
//! address has a turn; bound: the hosts in memory (a host stands in one line at most, with an entry
//! for each time that its rank got better, which is at most once a band); it cannot be full.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::net::IpAddr;

use super::Micros;

const LINE: u32 = 1 << 31;

/// Who has a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    Host(u32),
    Line(u32),
}

/// Stands for no line, in [`super::host::Host::line`].
pub(super) const NO_LINE: u32 = u32::MAX;

/// An entry: sorts by the time in the timetable, by the rank among those that are due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn {
    pub at: u64,
    who: u32,
}

impl Turn {
    pub fn new(at: u64, who: Who) -> Turn {
        let who = match who {
            Who::Host(slot) => slot & !LINE,
            Who::Line(slot) => slot | LINE,
        };
        Turn { at, who }
    }

    pub fn who(self) -> Who {
        if self.who & LINE == 0 {
            Who::Host(self.who)
        } else {
            Who::Line(self.who & !LINE)
        }
    }
}

#[derive(Debug)]
pub(super) struct Line {
    pub ip: IpAddr,
    /// Ranks and slots, the best first; an entry holds if the host's rank is the same.
    pub hosts: BinaryHeap<Reverse<(u64, u32)>>,
    /// When its turn is; `MAX`: it has none.
    pub scheduled: Micros,
    /// The rank of its valid entry among those that are due; `MAX`: none.
    pub rank: u64,
}

impl Line {
    /// The best rank of its hosts.
    pub fn best(&self) -> u64 {
        let best = self.hosts.peek();
        best.map_or(u64::MAX - 1, |Reverse((rank, _))| *rank)
    }
}

#[derive(Debug, Default)]
pub(super) struct Lines {
    lines: Vec<Option<Line>>,
    vacant: Vec<u32>,
    of_ip: HashMap<IpAddr, u32>,
}

impl Lines {
    /// Puts a host in an address's line, by its rank; gives the line's number.
    pub fn join(&mut self, ip: IpAddr, host: u32, rank: u64) -> u32 {
        let slot = *self.of_ip.entry(ip).or_insert_with(|| {
            let line = Line {
                ip,
                hosts: BinaryHeap::new(),
                scheduled: Micros::MAX,
                rank: u64::MAX,
            };
            if let Some(slot) = self.vacant.pop() {
                self.lines[slot as usize] = Some(line);
                slot
            } else {
                self.lines.push(Some(line));
                (self.lines.len() - 1) as u32
            }
        });
        if let Some(line) = self.get_mut(slot) {
            line.hosts.push(Reverse((rank, host)));
        }
        slot
    }

    /// Takes hosts out of their lines.
    pub fn depart(&mut self, hosts: &HashSet<u32>) {
        for slot in 0..self.lines.len() {
            if let Some(line) = &mut self.lines[slot] {
                line.hosts
                    .retain(|Reverse((_, host))| !hosts.contains(host));
                self.end_if_empty(slot as u32);
            }
        }
    }

    pub fn of(&self, ip: IpAddr) -> Option<u32> {
        self.of_ip.get(&ip).copied()
    }

    pub fn get(&self, slot: u32) -> Option<&Line> {
        self.lines.get(slot as usize)?.as_ref()
    }

    pub fn get_mut(&mut self, slot: u32) -> Option<&mut Line> {
        self.lines.get_mut(slot as usize)?.as_mut()
    }

    /// Ends a line that nobody stands in.
    pub fn end_if_empty(&mut self, slot: u32) {
        let Some(place) = self.lines.get_mut(slot as usize) else {
            return;
        };
        if let Some(line) = place.take_if(|line| line.hosts.is_empty()) {
            self.of_ip.remove(&line.ip);
            self.vacant.push(slot);
        }
    }

    pub fn len(&self) -> usize {
        self.of_ip.len()
    }
}
