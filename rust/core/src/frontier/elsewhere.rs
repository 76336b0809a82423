//! A robots file may stand at another host (RFC 9309, 2.3.1.2): that host's clock holds for the visit.

use super::{Frontier, Micros};

impl Frontier {
    /// The time before which a visit to this host, on behalf of another's lease, may not begin. The
    /// host's own next visit then waits a gap longer. A host that is not in memory has no visit that
    /// its gap could count from; the gap of its address holds in any case.
    pub fn visit_elsewhere(&mut self, now: Micros, key: u64) -> Micros {
        let time = self.tick(now);
        let Some(&slot) = self.slots.get(&key) else {
            return now;
        };
        let Some(host) = self.host(slot) else {
            return now;
        };
        let at = host.due(&self.settings).max(time);
        let next = at.saturating_add(host.record.gap(key, &self.settings));
        if let Some(host) = self.host_mut(slot) {
            host.record.next_due = host.record.next_due.max(next);
        }
        self.changed(slot);
        self.schedule(slot);
        self.clock.outside(at)
    }
}
