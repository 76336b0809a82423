//! A host's queue: the head in memory, the rest in the store.
//!
//! Head: filled by `add` and from the store at the host's turn; emptied by `take`; bound per host
//! (`Settings::head`) and for all (`Settings::heads_in_ram`); when full, URLs stay in the store only
//! and the host just served, whose next turn is the farthest, gives up its head.

use std::sync::Arc;

use super::host::Head;
use super::queued::{Place, Queued};
use super::{Frontier, Micros, damaged};
use crate::store::state::{Reads, Space, StateError, Writes};

impl Frontier {
    /// Queues a record at the end of its band.
    pub(super) fn enqueue(&mut self, slot: u32, band: u8, record: Vec<u8>, writes: &mut Writes) {
        let Some(host) = self.host_mut(slot) else {
            return;
        };
        let at = (u64::from(band) << 56) | (host.record.seq & ((1 << 56) - 1));
        host.record.seq += 1;
        let key = host.key;
        let shared: Arc<[u8]> = Arc::from(record.as_slice());
        writes.put(Space::Queue, Place::ready(at).key(key), record);
        self.overlay.put(key, Place::ready(at), Arc::clone(&shared));
        self.keep_in_head(slot, at, shared);
    }

    /// Queues a record to wait for a time.
    pub(super) fn enqueue_waiting(
        &mut self,
        slot: u32,
        not_before: Micros,
        record: Vec<u8>,
        writes: &mut Writes,
    ) {
        let Some(host) = self.host_mut(slot) else {
            return;
        };
        let place = Place::waiting(not_before, host.record.seq);
        host.record.seq += 1;
        host.record.waiting += 1;
        host.record.waiting_first = host.record.waiting_first.min(not_before);
        let key = host.key;
        self.overlay.put(key, place, Arc::from(record.as_slice()));
        writes.put(Space::Queue, place.key(key), record);
    }

    /// Removes a place from the queue's view and, with the batch, from the store.
    pub(super) fn dequeue(&mut self, key: u64, place: Place, writes: &mut Writes) {
        writes.remove(Space::Queue, place.key(key));
        self.overlay.gone(key, place);
    }

    /// Gives a queued record another band, in which it stands where it came: its sequence number
    /// is no other URL's. One that waits keeps its place until its time has come.
    pub(super) fn set_band(
        &mut self,
        slot: u32,
        place: Place,
        band: u8,
        record: Vec<u8>,
        writes: &mut Writes,
    ) {
        let Some(key) = self.host(slot).map(|host| host.key) else {
            return;
        };
        let shared: Arc<[u8]> = Arc::from(record.as_slice());
        let to = if place.is_waiting() {
            place
        } else {
            place.in_band(band)
        };
        if to != place {
            self.dequeue(key, place, writes);
        }
        writes.put(Space::Queue, to.key(key), record);
        self.overlay.put(key, to, Arc::clone(&shared));
        if !to.is_waiting() {
            self.keep_in_head(slot, to.packed(), shared);
        }
    }

    /// Puts a leased record back in its place, so that it is next in its band.
    pub(super) fn put_back(&mut self, slot: u32, at: u64, record: Arc<[u8]>) {
        let Some(key) = self.host(slot).map(|host| host.key) else {
            return;
        };
        self.overlay.put(key, Place::ready(at), Arc::clone(&record));
        self.keep_in_head(slot, at, record);
    }

    /// Keeps a ready record in memory if its place is within the head.
    fn keep_in_head(&mut self, slot: u32, at: u64, record: Arc<[u8]>) {
        let room = self.settings.head.max(1);
        let full = self.counters.head_bytes >= self.settings.heads_in_ram;
        let Some(host) = self.host_mut(slot) else {
            return;
        };
        if at >= host.resume {
            return;
        }
        // When memory is full a head may change but not grow.
        let room = if full { host.head.len() } else { room };
        if room == 0 || (host.head.len() >= room && host.head.last().is_some_and(|l| l.at < at)) {
            host.resume = at;
            return;
        }
        let head = Head { at, record };
        let mut change = head.cost() as i64;
        let mut count = 1_i64;
        let position = host.head.partition_point(|other| other.at < at);
        host.head.insert(position, head);
        if host.head.len() > room
            && let Some(last) = host.head.pop()
        {
            host.resume = last.at;
            change -= last.cost() as i64;
            count -= 1;
        }
        self.counters.head_bytes = self.counters.head_bytes.saturating_add_signed(change);
        self.counters.heads = self.counters.heads.saturating_add_signed(count);
    }

    /// Removes and gives the first record of the head.
    pub(super) fn pop_head(&mut self, slot: u32) -> Option<Head> {
        let host = self.host_mut(slot)?;
        if host.head.is_empty() {
            return None;
        }
        let first = host.head.remove(0);
        if host.head.is_empty() {
            host.head = Vec::new();
        }
        self.counters.heads -= 1;
        self.counters.head_bytes = self.counters.head_bytes.saturating_sub(first.cost());
        Some(first)
    }

    /// Leaves a host's head to the store.
    pub(super) fn drop_head(&mut self, slot: u32) {
        let Some(host) = self.host_mut(slot) else {
            return;
        };
        let head = std::mem::take(&mut host.head);
        if let Some(first) = head.first() {
            host.resume = host.resume.min(first.at);
        }
        let bytes: u64 = head.iter().map(Head::cost).sum();
        self.counters.heads -= head.len() as u64;
        self.counters.head_bytes = self.counters.head_bytes.saturating_sub(bytes);
    }

    /// Fills an empty head from the store. Afterwards it is empty only if nothing is ready.
    pub(super) fn fill_head(&mut self, slot: u32, reads: &dyn Reads) -> Result<(), StateError> {
        let full = self.counters.head_bytes >= self.settings.heads_in_ram;
        let room = if full { 1 } else { self.settings.head.max(1) };
        let Some(host) = self.host(slot) else {
            return Ok(());
        };
        if !host.head.is_empty() || host.ready() == 0 {
            return Ok(());
        }
        let (key, resume) = (host.key, host.resume);
        let mut found = Vec::new();
        if resume != u64::MAX {
            found = self.overlay.scan(reads, key, Place::ready(resume), room)?;
            found.retain(|(place, _)| !place.is_waiting());
        }
        if found.is_empty() {
            // The count says there is more: look from the start before the count is corrected.
            self.counters.repairs += 1;
            found = self.overlay.scan(reads, key, Place::FIRST, room)?;
            found.retain(|(place, _)| !place.is_waiting());
        }
        let head: Vec<Head> = found
            .into_iter()
            .map(|(place, record)| Head {
                at: place.packed(),
                record,
            })
            .collect();
        self.counters.heads += head.len() as u64;
        self.counters.head_bytes += head.iter().map(Head::cost).sum::<u64>();
        let Some(host) = self.host_mut(slot) else {
            return Ok(());
        };
        host.resume = match head.last() {
            Some(last) if head.len() == room => last.at + 1,
            _ => u64::MAX,
        };
        if host.resume == u64::MAX {
            let surplus = host.ready().saturating_sub(head.len() as u32);
            if surplus > 0 {
                host.record.queued -= surplus;
            }
        }
        host.head = head;
        self.recount(slot);
        Ok(())
    }

    /// Gives URLs whose time has come a place at the end of their band.
    pub(super) fn wake_waiting(
        &mut self,
        slot: u32,
        time: Micros,
        reads: &dyn Reads,
        writes: &mut Writes,
    ) -> Result<(), StateError> {
        let most = self.settings.slice.max(1);
        let Some(host) = self.host(slot) else {
            return Ok(());
        };
        if host.record.waiting_first > time {
            return Ok(());
        }
        let key = host.key;
        let found = self
            .overlay
            .scan(reads, key, Place::FIRST_WAITING, most + 1)?;
        let mut first = Micros::MAX;
        for (number, (place, record)) in found.iter().enumerate() {
            if place.not_before() > time || number == most {
                first = place.not_before();
                break;
            }
            let queued = Queued::decode(record).ok_or_else(|| damaged("queue"))?;
            let band = queued.score.band();
            self.dequeue(key, *place, writes);
            if let Some(host) = self.host_mut(slot) {
                host.record.waiting = host.record.waiting.saturating_sub(1);
            }
            self.enqueue(slot, band, record.to_vec(), writes);
        }
        if let Some(host) = self.host_mut(slot) {
            host.record.waiting_first = first;
            if first == Micros::MAX && host.record.waiting > 0 {
                host.record.queued = host.record.queued.saturating_sub(host.record.waiting);
                host.record.waiting = 0;
                self.counters.repairs += 1;
            }
        }
        self.changed(slot);
        Ok(())
    }
}
