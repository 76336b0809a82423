//! Whose turn it is: politeness says which hosts are due, their ranks say who of them is first.
//!
//! Turns wait in the timetable until they are due and move to the heap `due` then, each once, so a turn
//! costs O(log hosts). Entries are not removed when something changes: one holds if it says what the host
//! (or the line) says.

use std::cmp::Reverse;
use std::net::IpAddr;

use super::host::Host;
use super::ips::Access;
use super::lines::{NO_LINE, Turn, Who};
use super::{Frontier, Micros};

impl Frontier {
    /// Moves the turns that have fallen due from the timetable to those that are ranked.
    pub(super) fn fall_due(&mut self, time: Micros) {
        while let Some(&Reverse(turn)) = self.timetable.peek()
            && turn.at <= time
        {
            self.timetable.pop();
            let rank = match turn.who() {
                Who::Host(slot) => {
                    let step = self.settings.band_wait;
                    let Some(host) = self.host_mut(slot) else {
                        continue;
                    };
                    if host.scheduled != turn.at || host.rank != u64::MAX {
                        continue;
                    }
                    host.rank = host.rank_at(turn.at, step);
                    let rank = host.rank;
                    self.waits.set(slot, None);
                    rank
                }
                Who::Line(number) => {
                    let Some(line) = self.lines.get_mut(number) else {
                        continue;
                    };
                    if line.scheduled != turn.at || line.rank != u64::MAX {
                        continue;
                    }
                    line.rank = line.best();
                    line.rank
                }
            };
            self.due.push(Reverse(Turn::new(rank, turn.who())));
        }
    }

    /// The host that a turn is for, if the turn still holds, its rank, and the address whose line
    /// it left.
    pub(super) fn whose(&mut self, turn: Turn, time: Micros) -> Option<(u32, u64, Option<IpAddr>)> {
        match turn.who() {
            Who::Host(slot) => {
                let host = self.host_mut(slot)?;
                if host.rank != turn.at || host.in_line() {
                    return None;
                }
                host.rank = u64::MAX;
                Some((slot, turn.at, None))
            }
            Who::Line(number) => {
                let line = self.lines.get_mut(number)?;
                if line.rank != turn.at {
                    return None;
                }
                line.scheduled = Micros::MAX;
                line.rank = u64::MAX;
                let ip = line.ip;
                if self.ips.look(ip, time, 0) != Access::Open {
                    self.wake_line(ip, time);
                    return None;
                }
                let first = self.first_in_line(number);
                self.lines.end_if_empty(number);
                let (rank, slot) = first?;
                self.recount(slot);
                Some((slot, rank, Some(ip)))
            }
        }
    }

    /// Takes the best host out of a line.
    fn first_in_line(&mut self, number: u32) -> Option<(u64, u32)> {
        let line = self.lines.get_mut(number)?;
        while let Some(Reverse((rank, slot))) = line.hosts.pop() {
            if let Some(host) = self.hosts.get_mut(slot)
                && host.line == number
                && host.rank == rank
            {
                host.line = NO_LINE;
                host.rank = u64::MAX;
                return Some((rank, slot));
            }
        }
        None
    }

    /// Gives a line its next turn, when its address can have one.
    pub(super) fn wake_line(&mut self, ip: IpAddr, time: Micros) {
        let Some(number) = self.lines.of(ip) else {
            return;
        };
        let at = match self.ips.look(ip, time, 0) {
            Access::Open => time,
            Access::Later(at) => at,
            // The end of the lease inside wakes the line.
            Access::Busy => return,
        };
        let Some(line) = self.lines.get_mut(number) else {
            return;
        };
        if at >= line.scheduled {
            return;
        }
        line.scheduled = at;
        if at <= time {
            line.rank = line.best();
            let turn = Turn::new(line.rank, Who::Line(number));
            self.due.push(Reverse(turn));
        } else {
            line.rank = u64::MAX;
            let turn = Turn::new(at, Who::Line(number));
            self.timetable.push(Reverse(turn));
        }
    }

    /// When a host is to have its next turn; `MAX`: not before something else happens.
    pub(super) fn next_turn(&self, host: &Host) -> Micros {
        let record = &host.record;
        if self.is_frozen(host.key)
            || record.blocked
            || record.given_up.is_some()
            || record.budget_used(host.leases)
            || host.robots_out
            || host.leases >= record.connections(&self.settings)
        {
            return Micros::MAX;
        }
        let due = host.due(&self.settings);
        if host.ready() > 0 {
            due
        } else if record.waiting > 0 {
            due.max(record.waiting_first)
        } else {
            Micros::MAX
        }
    }

    /// Enters a host at its next turn, if it is to have one: in the timetable, or among those that
    /// are due, by the time since when it is. One that stands there already, or in a line, may get
    /// a better rank.
    pub(super) fn schedule(&mut self, slot: u32) {
        let Some(at) = self.host(slot).map(|host| self.next_turn(host)) else {
            return;
        };
        self.note_wait(slot, at);
        let (now, step) = (self.clock.last(), self.settings.band_wait);
        let Some(host) = self.hosts.get_mut(slot) else {
            return;
        };
        if host.in_line() {
            if at <= now {
                self.rise_in_line(slot);
            }
            return;
        }
        if at > now {
            if at != host.scheduled {
                host.scheduled = at;
                host.rank = u64::MAX;
                if at != Micros::MAX {
                    let turn = Turn::new(at, Who::Host(slot));
                    self.timetable.push(Reverse(turn));
                }
            }
        } else {
            // A host that had nothing to do until now did not wait.
            host.scheduled = host.scheduled.min(now);
            let rank = host.rank_at(host.scheduled, step);
            if rank < host.rank {
                host.rank = rank;
                self.due.push(Reverse(Turn::new(rank, Who::Host(slot))));
            }
        }
        self.tidy_turns();
    }

    /// A host in a line whose URLs have become better moves forward.
    fn rise_in_line(&mut self, slot: u32) {
        let step = self.settings.band_wait;
        let Some(host) = self.host_mut(slot) else {
            return;
        };
        let (rank, number) = (host.rank_at(host.scheduled, step), host.line);
        if rank >= host.rank {
            return;
        }
        host.rank = rank;
        if let Some(line) = self.lines.get_mut(number) {
            line.hosts.push(Reverse((rank, slot)));
        }
        self.raise_line(number, rank);
    }

    /// Drops turns that no longer hold, when they are the most; O(1) per turn entered.
    fn tidy_turns(&mut self) {
        let most = 2 * (self.slots.len() + self.lines.len()) + 1_024;
        if self.timetable.len() > most {
            let mut turns = std::mem::take(&mut self.timetable).into_vec();
            turns.retain(|Reverse(turn)| match turn.who() {
                Who::Host(slot) => self
                    .host(slot)
                    .is_some_and(|host| host.scheduled == turn.at && host.rank == u64::MAX),
                Who::Line(number) => self
                    .lines
                    .get(number)
                    .is_some_and(|line| line.scheduled == turn.at && line.rank == u64::MAX),
            });
            self.timetable = turns.into();
        }
        if self.due.len() > most {
            let mut turns = std::mem::take(&mut self.due).into_vec();
            turns.retain(|Reverse(turn)| match turn.who() {
                Who::Host(slot) => self
                    .host(slot)
                    .is_some_and(|host| host.rank == turn.at && !host.in_line()),
                Who::Line(number) => self
                    .lines
                    .get(number)
                    .is_some_and(|line| line.rank == turn.at),
            });
            self.due = turns.into();
        }
    }

    /// Puts a host in the line of an address that has no turn for it.
    pub(super) fn join_line(&mut self, slot: u32, ip: IpAddr, rank: u64) {
        let number = self.lines.join(ip, slot, rank);
        if let Some(host) = self.host_mut(slot) {
            host.line = number;
            host.rank = rank;
        }
        self.raise_line(number, rank);
    }

    /// A line that is due ranks as its best host does.
    fn raise_line(&mut self, number: u32, rank: u64) {
        if let Some(line) = self.lines.get_mut(number)
            && line.rank != u64::MAX
            && rank < line.rank
        {
            line.rank = rank;
            self.due.push(Reverse(Turn::new(rank, Who::Line(number))));
        }
    }
}
