//! The hosts in memory, each in a slot that it keeps.
//!
//! In pages of a fixed size: one list of a million hosts would be copied whole whenever it grows, and no visit
//! could be taken meanwhile.

use super::host::Host;

const PAGE: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Slots {
    pages: Vec<Vec<Option<Host>>>,
    vacant: Vec<u32>,
}

impl Slots {
    pub fn get(&self, slot: u32) -> Option<&Host> {
        let slot = slot as usize;
        self.pages.get(slot / PAGE)?.get(slot % PAGE)?.as_ref()
    }

    pub fn get_mut(&mut self, slot: u32) -> Option<&mut Host> {
        self.place(slot)?.as_mut()
    }

    fn place(&mut self, slot: u32) -> Option<&mut Option<Host>> {
        let slot = slot as usize;
        self.pages.get_mut(slot / PAGE)?.get_mut(slot % PAGE)
    }

    /// Gives a host a slot.
    pub fn put(&mut self, host: Host) -> u32 {
        if let Some(slot) = self.vacant.pop() {
            if let Some(place) = self.place(slot) {
                *place = Some(host);
            }
            return slot;
        }
        if self.pages.last().is_none_or(|page| page.len() == PAGE) {
            self.pages.push(Vec::with_capacity(PAGE));
        }
        if let Some(page) = self.pages.last_mut() {
            page.push(Some(host));
        }
        self.end() - 1
    }

    /// Takes the host out of a slot.
    pub fn take(&mut self, slot: u32) -> Option<Host> {
        let host = self.place(slot)?.take()?;
        self.vacant.push(slot);
        Some(host)
    }

    /// Behind the last slot that was ever given.
    pub fn end(&self) -> u32 {
        let last = self.pages.last().map_or(0, Vec::len);
        (self.pages.len().saturating_sub(1) * PAGE + last) as u32
    }

    /// All hosts.
    pub fn iter(&self) -> impl Iterator<Item = &Host> {
        self.pages.iter().flatten().flatten()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::host::HostRecord;
    use super::*;

    fn host(key: u64) -> Host {
        Host::new(key, HostRecord::default())
    }

    #[test]
    fn slots_are_given_again_and_pages_are_filled() {
        let mut slots = Slots::default();
        assert_eq!((slots.end(), slots.get(0).is_none()), (0, true));
        for key in 0..2 * PAGE as u64 + 3 {
            assert_eq!(u64::from(slots.put(host(key))), key);
        }
        assert_eq!(slots.end() as usize, 2 * PAGE + 3);
        assert_eq!(slots.take(4096).unwrap().key, 4096);
        assert!(slots.take(4096).is_none());
        assert!(slots.get(4096).is_none());
        assert_eq!(slots.iter().count(), 2 * PAGE + 2);
        assert_eq!(slots.put(host(7_000_000)), 4096);
        assert_eq!(slots.get(4096).unwrap().key, 7_000_000);
        assert!(slots.get_mut(3 * PAGE as u32).is_none());
    }
}
