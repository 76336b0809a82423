//! Addresses: who may connect to which address, and when. Shared with the fetcher's threads.
//!
//! The frontier reserves the address that it knows of a host when it hands out the visit; the
//! fetcher asks again when it has resolved the name, because names move. Fail closed: an address
//! stays busy until its lease is finished.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Micros;

#[derive(Clone, Copy, Debug, Default)]
struct Address {
    next_due: Micros,
    busy: u8,
}

#[derive(Debug, Default)]
struct Table {
    addresses: HashMap<IpAddr, Address>,
    /// The addresses that a lease holds.
    held: HashMap<u64, Vec<IpAddr>>,
    gap: Micros,
    per_ip: u8,
    /// Frontier time minus the caller's.
    offset: u64,
    latest: Micros,
    /// No address is visited before: what happened just before a restart is not known.
    floor: Micros,
    sweep_at: usize,
}

/// Whether an address can be entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Open,
    /// Not before this frontier time.
    Later(Micros),
    /// Others are inside; nobody knows for how long.
    Busy,
}

/// The addresses' clocks.
#[derive(Debug, Default)]
pub struct IpTable {
    table: Mutex<Table>,
}

impl IpTable {
    fn lock(&self) -> MutexGuard<'_, Table> {
        // Each change below is complete in itself, so a table left by a panic is still true.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn configure(&self, gap: Micros, per_ip: u8) {
        let mut table = self.lock();
        table.gap = gap;
        table.per_ip = per_ip.max(1);
    }

    pub(super) fn set_floor(&self, floor: Micros) {
        self.lock().floor = floor;
    }

    pub(super) fn set_clock(&self, offset: u64, latest: Micros) {
        let mut table = self.lock();
        table.offset = offset;
        table.latest = latest;
    }

    /// For the fetcher, at the moment it would connect: may this lease connect to this address
    /// now? `Err`: not before that time of the caller's clock; report the visit as `Deferred` with
    /// the address, and the frontier finds it another turn.
    pub fn enter_ip(&self, lease: u64, ip: IpAddr, now: Micros) -> Result<(), Micros> {
        let mut table = self.lock();
        let time = now.saturating_add(table.offset).max(table.latest);
        match table.enter(lease, ip, time, 0) {
            Access::Open => Ok(()),
            Access::Later(at) => Err(at.saturating_sub(table.offset)),
            Access::Busy => Err(now.saturating_add(table.gap)),
        }
    }

    /// `most`: visitors that the host may have, where that is more than an address may.
    pub(super) fn look(&self, ip: IpAddr, time: Micros, most: u8) -> Access {
        self.lock().look(ip, time, most)
    }

    pub(super) fn enter(&self, lease: u64, ip: IpAddr, time: Micros, most: u8) -> Access {
        self.lock().enter(lease, ip, time, most)
    }

    /// Ends a lease; `ended` is `None` if it never connected. Gives the addresses it held and
    /// when each may be entered again.
    pub(crate) fn leave(&self, lease: u64, ended: Option<Micros>) -> Vec<(IpAddr, Micros)> {
        let mut table = self.lock();
        let gap = table.gap;
        let held = table.held.remove(&lease).unwrap_or_default();
        let mut left = Vec::with_capacity(held.len());
        for ip in held {
            if let Some(address) = table.addresses.get_mut(&ip) {
                address.busy = address.busy.saturating_sub(1);
                if let Some(ended) = ended {
                    address.next_due = address.next_due.max(ended.saturating_add(gap));
                }
                left.push((ip, address.next_due));
            }
        }
        left
    }

    /// No visit to an address before a time of the caller's clock.
    pub(crate) fn not_before(&self, ip: IpAddr, now: Micros, until: Micros) {
        let mut table = self.lock();
        let time = now.saturating_add(table.offset).max(table.latest);
        let due = until.saturating_add(table.offset);
        table.sweep(time);
        let address = table.addresses.entry(ip).or_default();
        address.next_due = address.next_due.max(due);
    }

    /// Whether somebody is inside, and when the address is due by the caller's clock.
    pub(crate) fn access(&self, ip: IpAddr, now: Micros) -> (bool, Micros) {
        let table = self.lock();
        let time = now.saturating_add(table.offset).max(table.latest);
        match table.look(ip, time, 0) {
            Access::Open => (false, now),
            Access::Later(at) => (false, at.saturating_sub(table.offset)),
            Access::Busy => (true, now),
        }
    }

    /// The addresses that somebody is inside of.
    pub(crate) fn busy(&self) -> Vec<IpAddr> {
        let table = self.lock();
        table.held.values().flatten().copied().collect()
    }

    /// The number of addresses in memory.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().addresses.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Table {
    fn look(&self, ip: IpAddr, time: Micros, most: u8) -> Access {
        let address = self.addresses.get(&ip).copied().unwrap_or_default();
        let due = address.next_due.max(self.floor);
        if address.busy >= self.per_ip.max(most).max(1) {
            Access::Busy
        } else if time < due {
            Access::Later(due)
        } else {
            Access::Open
        }
    }

    fn enter(&mut self, lease: u64, ip: IpAddr, time: Micros, most: u8) -> Access {
        if self
            .held
            .get(&lease)
            .is_some_and(|inside| inside.contains(&ip))
        {
            return Access::Open;
        }
        let access = self.look(ip, time, most);
        if access == Access::Open {
            self.sweep(time);
            let gap = self.gap;
            let address = self.addresses.entry(ip).or_default();
            address.busy = address.busy.saturating_add(1);
            address.next_due = time.saturating_add(gap);
            self.held.entry(lease).or_default().push(ip);
        }
        access
    }

    /// Forgets addresses that could be entered anyway; at a cost of O(1) per entry made.
    fn sweep(&mut self, time: Micros) {
        if self.addresses.len() >= self.sweep_at.max(4_096) {
            self.addresses
                .retain(|_, address| address.busy > 0 || address.next_due > time);
            self.sweep_at = self.addresses.len() * 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_one_visitor_and_a_gap() {
        let table = IpTable::default();
        table.configure(100, 1);
        let ip = IpAddr::from([127, 0, 0, 1]);
        assert_eq!(table.enter_ip(1, ip, 1_000), Ok(()));
        assert_eq!(table.enter_ip(1, ip, 1_001), Ok(()), "its own lease");
        assert_eq!(table.enter_ip(2, ip, 5_000), Err(5_100), "busy");
        assert_eq!(table.leave(1, Some(5_000)), [(ip, 5_100)]);
        assert_eq!(table.enter_ip(2, ip, 5_050), Err(5_100), "not yet");
        assert_eq!(table.enter_ip(2, ip, 5_100), Ok(()));
        assert_eq!(
            table.leave(2, None),
            [(ip, 5_200)],
            "the start counts anyway"
        );
        assert!(table.leave(2, Some(9_000)).is_empty());
    }

    #[test]
    fn idle_addresses_are_forgotten() {
        let table = IpTable::default();
        table.configure(1, 1);
        for n in 0..100_000_u32 {
            let time = u64::from(n) * 10;
            assert_eq!(
                table.enter_ip(1, IpAddr::from(n.to_be_bytes()), time),
                Ok(())
            );
            table.leave(1, Some(time));
        }
        assert!(table.len() <= 8_192);
    }
}
