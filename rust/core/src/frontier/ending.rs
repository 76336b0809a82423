//! The end of a host that was given up: its URLs leave the queue in slices, each with an outcome.

use super::queued::{Place, Queued};
use super::{Frontier, Micros, Refusal, damaged};
use crate::store::state::{Reads, StateError, Writes};

impl Frontier {
    /// A host that was given up gets turns again, with what is still queued. False: it is not known.
    pub fn take_back(
        &mut self,
        key: u64,
        now: Micros,
        reads: &dyn Reads,
    ) -> Result<bool, StateError> {
        let time = self.tick(now);
        let Some(slot) = self.find_host(key, None, reads)? else {
            return Ok(false);
        };
        if let Some(host) = self.host_mut(slot) {
            host.record.given_up = None;
            host.record.next_due = host.record.next_due.min(time);
        }
        self.changed(slot);
        self.schedule(slot);
        Ok(true)
    }

    fn unlist_ending(&mut self) {
        if let Some(slot) = self.ending.pop_front()
            && let Some(host) = self.host_mut(slot)
        {
            host.ending = false;
        }
    }

    /// Refuses URLs of hosts that were given up, a slice at a time.
    pub(super) fn end_hosts(
        &mut self,
        budget: &mut usize,
        reads: &dyn Reads,
        writes: &mut Writes,
        refusals: &mut Vec<Refusal>,
    ) -> Result<(), StateError> {
        while *budget > 0
            && let Some(&slot) = self.ending.front()
        {
            self.drop_head(slot);
            let Some((key, outcome)) = self
                .host(slot)
                .and_then(|host| Some((host.key, host.record.given_up?)))
            else {
                self.unlist_ending();
                continue;
            };
            let found = self.overlay.scan(reads, key, Place::FIRST, *budget)?;
            if found.is_empty() {
                self.unlist_ending();
                if let Some(host) = self.host_mut(slot) {
                    let leased = u32::from(host.leases);
                    host.record.queued = host.record.queued.min(leased);
                    host.record.waiting = 0;
                    host.record.waiting_first = Micros::MAX;
                    host.resume = u64::MAX;
                }
                self.changed(slot);
                continue;
            }
            for (place, record) in found {
                *budget -= 1;
                let queued = Queued::decode(&record).ok_or_else(|| damaged("queue"))?;
                refusals.push(self.refusal(slot, &queued, outcome)?);
                if place.is_waiting()
                    && let Some(host) = self.host_mut(slot)
                {
                    host.record.waiting = host.record.waiting.saturating_sub(1);
                }
                self.unqueue(slot, place, writes);
            }
        }
        Ok(())
    }
}
