//! The timetable's entries, and the lines of hosts that wait for an address.
//!
//! A line: filled by hosts whose turn came when their address had none; emptied first come first
//! served when the address has a turn; bound: the hosts in memory (a host stands in one line at
//! most); it cannot be full.

use std::collections::{HashMap, HashSet, VecDeque};
use std::net::IpAddr;

use super::Micros;

const LINE: u32 = 1 << 31;

/// Who has a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    Host(u32),
    Line(u32),
}

/// An entry of the timetable: sorts by time, then by band.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn {
    pub due: Micros,
    rest: u64,
}

impl Turn {
    pub fn new(due: Micros, band: u8, who: Who) -> Turn {
        let number = match who {
            Who::Host(slot) => slot & !LINE,
            Who::Line(slot) => slot | LINE,
        };
        Turn {
            due,
            rest: u64::from(band) << 32 | u64::from(number),
        }
    }

    pub fn who(self) -> Who {
        let number = self.rest as u32;
        if number & LINE == 0 {
            Who::Host(number)
        } else {
            Who::Line(number & !LINE)
        }
    }
}

#[derive(Debug)]
pub(super) struct Line {
    pub ip: IpAddr,
    pub hosts: VecDeque<u32>,
    /// The time of its valid entry in the timetable; `MAX`: none.
    pub scheduled: Micros,
}

#[derive(Debug, Default)]
pub(super) struct Lines {
    lines: Vec<Option<Line>>,
    vacant: Vec<u32>,
    of_ip: HashMap<IpAddr, u32>,
}

impl Lines {
    /// Puts a host at the end of an address's line.
    pub fn join(&mut self, ip: IpAddr, host: u32) -> u32 {
        let slot = *self.of_ip.entry(ip).or_insert_with(|| {
            let line = Line {
                ip,
                hosts: VecDeque::new(),
                scheduled: Micros::MAX,
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
            line.hosts.push_back(host);
        }
        slot
    }

    /// Takes hosts out of their lines.
    pub fn depart(&mut self, hosts: &HashSet<u32>) {
        for slot in 0..self.lines.len() {
            if let Some(line) = &mut self.lines[slot] {
                line.hosts.retain(|host| !hosts.contains(host));
                self.end_if_empty(slot as u32);
            }
        }
    }

    pub fn of(&self, ip: IpAddr) -> Option<u32> {
        self.of_ip.get(&ip).copied()
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
