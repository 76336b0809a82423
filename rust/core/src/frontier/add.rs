//! Fresh URLs come in.

use std::net::IpAddr;

use super::host::{Host, HostRecord};
use super::queued::Queued;
use super::{Admission, Frontier, Micros, damaged};
use crate::links::Link;
use crate::outcome::Outcome;
use crate::store::state::{Reads, Space, StateError, Writes};

impl Frontier {
    /// Queues links, each by its score, or by the order of the settings where it has none. Answers
    /// each in order in `out`; after an error, the links without an answer were not touched.
    pub fn add(
        &mut self,
        now: Micros,
        links: &[Link],
        reads: &dyn Reads,
        writes: &mut Writes,
        out: &mut Vec<Admission>,
    ) -> Result<(), StateError> {
        let time = self.tick(now);
        for link in links {
            let admission = self.add_one(time, link, reads, writes)?;
            out.push(admission);
        }
        Ok(())
    }

    fn add_one(
        &mut self,
        time: Micros,
        link: &Link,
        reads: &dyn Reads,
        writes: &mut Writes,
    ) -> Result<Admission, StateError> {
        let limits = self.settings.limits;
        let dynamic = link.url.is_dynamic();
        let depth = if dynamic {
            limits.depth_dynamic.or(limits.depth)
        } else {
            limits.depth
        };
        if depth.is_some_and(|most| link.depth > most) {
            return Ok(Admission::Refused(Outcome::OverQuota));
        }
        let pages = self.settings.pages_of(link.url.host());
        let pages = pages.filter(|_| !link.revisit);
        let slot = self.find_host(link.url.host_key(), Some(link.url.host()), reads)?;
        let Some(host) = slot.and_then(|slot| self.host_mut(slot)) else {
            return Ok(Admission::Refused(Outcome::UrlRefused));
        };
        let record = &mut host.record;
        if *record.name != *link.url.host() {
            // Two hosts with one key: the second cannot have a queue, robots rules and a clock of
            // its own, so it is refused rather than mixed up with the first.
            return Ok(Admission::Refused(Outcome::UrlRefused));
        }
        if let Some(outcome) = record.given_up {
            if record.queued > 0 || time < record.next_due {
                return Ok(Admission::Refused(outcome));
            }
            record.given_up = None;
            record.aside = false;
            record.failures = 0;
            record.set_asides = 0;
        }
        let over = pages.is_some_and(|most| record.pages >= most)
            || limits
                .bytes_per_host
                .is_some_and(|most| record.bytes >= most)
            || limits
                .queued_per_host
                .is_some_and(|most| record.queued >= most)
            || record.queued == u32::MAX;
        if over {
            return Ok(Admission::Refused(Outcome::OverQuota));
        }
        record.queued += 1;
        record.schemes[usize::from(link.url.scheme_is_https())] = true;
        let mut score = self.score(link);
        if !link.revisit {
            score = self.filter.score(link, Some(link.kind), score);
        }
        let known = self.settings.known || self.settings.order.needs_known();
        let record = Queued::of(link, score, known).encode();
        let not_before = self.clock.inside(link.not_before);
        let Some(slot) = slot else {
            return Ok(Admission::Refused(Outcome::UrlRefused));
        };
        if link.not_before > 0 && not_before > time {
            self.enqueue_waiting(slot, not_before, record, writes);
        } else {
            self.enqueue(slot, score.band(), record, writes);
        }
        self.changed(slot);
        self.schedule(slot);
        Ok(Admission::Added)
    }

    /// The slot of a host, from memory, from the store, or with a name as a new host.
    pub(super) fn find_host(
        &mut self,
        key: u64,
        name: Option<&str>,
        reads: &dyn Reads,
    ) -> Result<Option<u32>, StateError> {
        if let Some(&slot) = self.slots.get(&key) {
            return Ok(Some(slot));
        }
        if let Some(value) = reads.get(Space::Hosts, &key.to_be_bytes())? {
            let record = HostRecord::decode(&value).ok_or_else(|| damaged("host"))?;
            return Ok(Some(self.load_host(key, record)));
        }
        let Some(name) = name else {
            return Ok(None);
        };
        self.counters.hosts_known += 1;
        let record = HostRecord {
            name: name.into(),
            ip: ip_of(name),
            last_end: 0,
            waiting_first: Micros::MAX,
            ..HostRecord::default()
        };
        Ok(Some(self.load_host(key, record)))
    }

    /// Takes a host of the store into memory.
    pub(super) fn load_host(&mut self, key: u64, mut record: HostRecord) -> u32 {
        // It may have been visited just before this process began.
        let range = self
            .taken_over
            .iter()
            .find(|(first, last, _)| (*first..=*last).contains(&key));
        let since = range.map_or(self.opened, |(_, _, time)| self.opened.max(*time));
        record.last_end = record.last_end.max(since);
        let ending = record.given_up.is_some() && record.queued > 0;
        let slot = self.place_host(Host::new(key, record));
        if ending {
            self.list_ending(slot);
        }
        self.recount(slot);
        self.schedule(slot);
        slot
    }
}

/// The address of a host that is named by its address.
fn ip_of(host: &str) -> Option<IpAddr> {
    if let Some(rest) = host.strip_prefix('[') {
        return rest.split(']').next()?.parse().ok();
    }
    host.split(':').next()?.parse().ok()
}
