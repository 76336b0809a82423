//! Live changes, questions, and hand-over of key ranges.

use std::collections::HashSet;
use std::net::IpAddr;

use super::gap::GapSource;
use super::host::{Host, HostRecord, Standing};
use super::{Counters, Frontier, Micros, Settings, damaged};
use crate::outcome::Outcome;
use crate::store::state::{Reads, Space, StateError};

/// What is known of a host. Times are of the caller's clock.
#[derive(Clone, Debug, PartialEq)]
pub struct HostView {
    pub host_key: u64,
    pub standing: Standing,
    /// When the next visit may start.
    pub due: Micros,
    pub gap: Micros,
    pub gap_source: GapSource,
    pub leases: u8,
    /// Waits in the line of this address.
    pub in_line: Option<IpAddr>,
    pub record: HostRecord,
}

impl Frontier {
    /// Changes the settings. A longer gap holds at once, a shorter one after the next visit.
    pub fn set_settings(&mut self, settings: Settings) {
        let per_ip = settings.per_ip.max(settings.per_host).max(1);
        self.ips.configure(settings.ip_gap, per_ip);
        if settings.order != self.settings.order {
            self.rerank.order_changed();
        }
        let more = settings.per_host > self.settings.per_host
            || settings.rules.is_some()
            || self.settings.rules.is_some();
        self.settings = settings;
        if more {
            for slot in 0..self.hosts.end() {
                self.schedule(slot);
            }
        }
    }

    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Stops visits to a host (a lease under way ends as usual); its URLs stay queued. False: the
    /// host is not known.
    pub fn block(&mut self, key: u64, reads: &dyn Reads) -> Result<bool, StateError> {
        self.change(key, reads, |record| record.blocked = true)
    }

    /// The same for a host that may not be known yet.
    pub fn block_named(
        &mut self,
        key: u64,
        name: &str,
        reads: &dyn Reads,
    ) -> Result<bool, StateError> {
        let slot = self.find_host(key, Some(name), reads)?;
        if slot
            .and_then(|slot| self.host(slot))
            .is_none_or(|host| *host.record.name != *name)
        {
            return Ok(false);
        }
        self.block(key, reads)
    }

    /// Lets a blocked host have turns again.
    pub fn unblock(&mut self, key: u64, reads: &dyn Reads) -> Result<bool, StateError> {
        self.change(key, reads, |record| record.blocked = false)
    }

    /// No visit to a host for a while.
    pub fn set_aside(
        &mut self,
        key: u64,
        now: Micros,
        wait: Micros,
        reads: &dyn Reads,
    ) -> Result<bool, StateError> {
        let until = self.tick(now).saturating_add(wait);
        self.change(key, reads, |record| {
            record.aside = true;
            record.next_due = record.next_due.max(until);
        })
    }

    /// Ends all waits of a host but its gap: it gets another chance now.
    pub fn give_chance(
        &mut self,
        key: u64,
        now: Micros,
        reads: &dyn Reads,
    ) -> Result<bool, StateError> {
        let time = self.tick(now);
        self.change(key, reads, |record| {
            record.next_due = record.next_due.min(time);
            record.forgive();
        })
    }

    /// Lets a host have visits again of which a URL is named anew: what failed there is forgiven, unless it has
    /// others queued, which wait as they did, or asked for time itself.
    pub fn let_back(
        &mut self,
        key: u64,
        now: Micros,
        reads: &dyn Reads,
    ) -> Result<bool, StateError> {
        let time = self.tick(now);
        self.change(key, reads, |record| {
            let asked = record.trouble.is_some_and(|trouble| {
                trouble.outcome == Outcome::Throttled && trouble.until_us() > time
            });
            if record.queued == 0 && !asked {
                record.next_due = record.next_due.min(time);
                record.forgive();
            }
        })
    }

    /// Gives a host up: all its URLs leave the queue with this outcome, in the next calls of
    /// `take`, and new ones are refused for `Settings::given_up_for`.
    pub fn give_up(
        &mut self,
        key: u64,
        outcome: Outcome,
        now: Micros,
        reads: &dyn Reads,
    ) -> Result<bool, StateError> {
        let until = self.tick(now).saturating_add(self.settings.given_up_for);
        let known = self.change(key, reads, |record| {
            record.given_up = Some(outcome);
            record.next_due = record.next_due.max(until);
        })?;
        if let Some(&slot) = self.slots.get(&key) {
            self.list_ending(slot);
        }
        Ok(known)
    }

    pub(super) fn change(
        &mut self,
        key: u64,
        reads: &dyn Reads,
        change: impl FnOnce(&mut HostRecord),
    ) -> Result<bool, StateError> {
        let Some(slot) = self.find_host(key, None, reads)? else {
            return Ok(false);
        };
        if let Some(host) = self.host_mut(slot) {
            change(&mut host.record);
        }
        self.changed(slot);
        self.schedule(slot);
        Ok(true)
    }

    /// What is known of a host.
    pub fn explain(&self, key: u64, reads: &dyn Reads) -> Result<Option<HostView>, StateError> {
        if let Some(host) = self.slots.get(&key).and_then(|&slot| self.host(slot)) {
            let (gap, gap_source) = host.record.gap_and_source(key, &self.settings);
            return Ok(Some(HostView {
                host_key: key,
                standing: host.standing(),
                due: self.clock.outside(host.next_visit(&self.settings)),
                gap,
                gap_source,
                leases: host.leases,
                in_line: host.record.ip.filter(|_| host.in_line()),
                record: host.record.clone(),
            }));
        }
        super::inspect::host_of(key, reads, &self.settings, self.clock)
    }

    /// Up to `max` hosts in the order of their keys, from a key on. A host met in a batch that is
    /// not applied yet is not listed.
    pub fn hosts(
        &self,
        from: u64,
        max: usize,
        reads: &dyn Reads,
    ) -> Result<Vec<HostView>, StateError> {
        let mut keys = Vec::with_capacity(max.min(1_024));
        reads.scan(Space::Hosts, &from.to_be_bytes(), &[], &mut |key, _| {
            keys.extend(key.try_into().ok().map(u64::from_be_bytes));
            keys.len() < max
        })?;
        let mut views = Vec::with_capacity(keys.len());
        for key in keys {
            views.extend(self.explain(key, reads)?);
        }
        Ok(views)
    }

    /// No further turns for the hosts with keys from `first` to `last` (both included); visits
    /// under way end as usual.
    pub fn freeze_range(&mut self, first: u64, last: u64) {
        if !self.frozen.contains(&(first, last)) {
            self.frozen.push((first, last));
        }
    }

    /// The hosts of a range that was frozen have turns again.
    pub fn thaw_range(&mut self, first: u64, last: u64) {
        if self.frozen.contains(&(first, last)) {
            self.rerank_range(first, last);
        }
        self.frozen.retain(|range| *range != (first, last));
        for slot in 0..self.hosts.end() {
            if self
                .host(slot)
                .is_some_and(|host| (first..=last).contains(&host.key))
            {
                self.schedule(slot);
            }
        }
    }

    pub(super) fn is_frozen(&self, key: u64) -> bool {
        self.frozen
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&key))
    }

    /// Takes over the hosts of a range that another node had: it may have visited them until now.
    pub fn take_over(
        &mut self,
        first: u64,
        last: u64,
        now: Micros,
        reads: &dyn Reads,
    ) -> Result<(), StateError> {
        let time = self.tick(now);
        self.taken_over
            .retain(|range| (range.0, range.1) != (first, last));
        self.taken_over.push((first, last, time));
        self.load_range(first, last, reads)?;
        self.rerank_range(first, last);
        Ok(())
    }

    /// Takes the hosts with keys from `first` to `last` (both included) from the store.
    pub fn load_range(
        &mut self,
        first: u64,
        last: u64,
        reads: &dyn Reads,
    ) -> Result<(), StateError> {
        scan_hosts(reads, first, last, &mut |key, record| {
            self.counters.hosts_known += 1;
            self.counters.pages += u64::from(record.pages);
            self.counters.bytes = self.counters.bytes.saturating_add(record.bytes);
            let now = self.clock.last();
            self.standouts.note(key, &record, &self.settings, now);
            self.note_listed(key, &record);
            if record.queued > 0 && !self.slots.contains_key(&key) {
                self.load_host(key, record);
            }
        })
    }

    /// Drops the hosts with keys from `first` to `last` (both included) from memory: they belong
    /// to another node. Every batch must be applied, and every lease there finished, before:
    /// otherwise nothing is dropped, and the number of hosts in the way is given.
    pub fn drop_range(
        &mut self,
        first: u64,
        last: u64,
        reads: &dyn Reads,
    ) -> Result<usize, StateError> {
        let range = first..=last;
        let mine = |host: &&Host| range.contains(&host.key);
        let open = |host: &&Host| host.leases > 0 || host.dirty;
        let in_the_way = self.hosts.iter().filter(mine).filter(open);
        let in_the_way = in_the_way.count();
        if in_the_way > 0 {
            return Ok(in_the_way);
        }
        let mut stored = Counters::default();
        scan_hosts(reads, first, last, &mut |_, record| {
            stored.hosts_known += 1;
            stored.pages += u64::from(record.pages);
            stored.bytes = stored.bytes.saturating_add(record.bytes);
        })?;
        if let Some(list) = &self.list {
            list.drop_range(first, last);
        }
        self.standouts.drop_range(first, last);
        let counters = &mut self.counters;
        counters.hosts_known = counters.hosts_known.saturating_sub(stored.hosts_known);
        counters.pages = counters.pages.saturating_sub(stored.pages);
        counters.bytes = counters.bytes.saturating_sub(stored.bytes);
        let hosts = self.hosts.iter().filter(mine);
        let keys: Vec<u64> = hosts.map(|host| host.key).collect();
        let slots: HashSet<u32> = keys.iter().map(|key| self.slots[key]).collect();
        self.ending.retain(|slot| !slots.contains(slot));
        self.idle.retain(|(_, slot)| !slots.contains(slot));
        self.lines.depart(&slots);
        for key in keys {
            self.overlay.forget(key);
        }
        for slot in slots {
            self.drop_host(slot);
        }
        Ok(0)
    }
}

fn scan_hosts(
    reads: &dyn Reads,
    first: u64,
    last: u64,
    visit: &mut dyn FnMut(u64, HostRecord),
) -> Result<(), StateError> {
    let end = last
        .checked_add(1)
        .map_or_else(Vec::new, |next| next.to_be_bytes().to_vec());
    let mut bad = false;
    reads.scan(
        Space::Hosts,
        &first.to_be_bytes(),
        &end,
        &mut |key, value| {
            let key = key.try_into().ok().map(u64::from_be_bytes);
            let (Some(key), Some(record)) = (key, HostRecord::decode(value)) else {
                bad = true;
                return false;
            };
            visit(key, record);
            true
        },
    )?;
    if bad {
        return Err(damaged("host"));
    }
    Ok(())
}

#[cfg(test)]
impl Frontier {
    /// All URLs of a host in the queue, leased ones included.
    pub(super) fn all_queued(&self, key: u64, reads: &dyn Reads) -> Vec<String> {
        use super::queued::{Place, Queued};
        let Some(slot) = self.slots.get(&key).copied() else {
            return Vec::new();
        };
        let name = self.host(slot).map(|host| host.record.name.clone());
        let name = name.unwrap_or_default();
        let found = self.overlay.scan(reads, key, Place::FIRST, usize::MAX);
        let records = found.unwrap_or_default().into_iter().map(|(_, r)| r);
        let leased = self.leases.values().filter(|lease| lease.slot == slot);
        records
            .chain(leased.map(|lease| lease.record.clone()))
            .filter_map(|record| {
                let link = Queued::decode(&record)?.link(&name, key)?;
                Some(link.url.into_string())
            })
            .collect()
    }
}
