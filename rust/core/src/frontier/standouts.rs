//! The hosts that stand out: those that need longest for what they have queued, and those with most pages.
//!
//! Two tables of [`KEPT`] hosts, filled when a host's record is written or loaded; bound: [`KEPT`]; where
//! one is full, the host that stands out least leaves it. A host that left comes in again when its record
//! is next written, which is at its next visit at the latest, so a reading costs no look at hosts and is
//! behind by one visit at most.

use super::host::HostRecord;
use super::list::Listed;
use super::{Frontier, Micros, Settings};

const KEPT: usize = 32;

/// A host that stands out. Times in microseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standout {
    pub name: Box<str>,
    pub pages: u32,
    pub queued: u32,
    pub gap: Micros,
    pub response: Micros,
    /// What it needs at least for all that it has queued, if nothing new comes.
    pub left: Micros,
}

#[derive(Debug)]
struct Entry {
    key: u64,
    value: u64,
    name: Box<str>,
    pages: u32,
    queued: u32,
    gap: Micros,
    response: Micros,
    /// When it is done, by the frontier's clock.
    until: Micros,
}

#[derive(Debug, Default)]
struct Table(Vec<Entry>);

impl Table {
    /// Takes a host as it is now; without a value it leaves. `entry` is made only for one that stands out.
    fn note(&mut self, key: u64, value: u64, entry: impl FnOnce(u64) -> Entry) {
        let place = self.0.iter().position(|one| one.key == key);
        match place {
            Some(place) if value == 0 => {
                self.0.swap_remove(place);
            }
            Some(place) => self.0[place] = entry(value),
            None if value == 0 => {}
            None if self.0.len() < KEPT => self.0.push(entry(value)),
            None => {
                if let Some(least) = self.0.iter_mut().min_by_key(|one| one.value)
                    && least.value < value
                {
                    *least = entry(value);
                }
            }
        }
    }

    fn first(&self, most: usize, now: Micros) -> Vec<Standout> {
        let mut entries: Vec<&Entry> = self.0.iter().collect();
        entries.sort_unstable_by(|a, b| b.value.cmp(&a.value).then_with(|| a.name.cmp(&b.name)));
        let standout = |one: &Entry| Standout {
            name: one.name.clone(),
            pages: one.pages,
            queued: one.queued,
            gap: one.gap,
            response: one.response,
            left: one.until.saturating_sub(now),
        };
        entries.into_iter().take(most).map(standout).collect()
    }
}

/// Both tables.
#[derive(Debug, Default)]
pub(super) struct Standouts {
    slow: Table,
    busy: Table,
}

impl Standouts {
    /// Takes a host as its record is written.
    pub fn note(&mut self, key: u64, record: &HostRecord, settings: &Settings, now: Micros) {
        let gap = record.gap(key, settings);
        let response = Micros::from(record.response_ms) * 1_000;
        let has_turns = matches!(Listed::of(record), Listed::Waiting | Listed::SetAside);
        let quota = settings.pages_of(&record.name);
        let most = quota.map_or(u32::MAX, |most| most.saturating_sub(record.pages));
        let visits = if has_turns {
            record.queued.min(most)
        } else {
            0
        };
        // Visits side by side take the time of one.
        let each = (gap + response) / Micros::from(record.connections(settings).max(1));
        let due = record.next_due.max(record.robots_due(settings)).max(now);
        let due = due.max(record.all_wait_until());
        let until = match visits {
            0 => 0,
            visits => due.saturating_add(each.saturating_mul(Micros::from(visits))),
        };
        let entry = |value: u64| Entry {
            key,
            value,
            name: record.name.clone(),
            pages: record.pages,
            queued: record.queued,
            gap,
            response,
            until,
        };
        self.slow.note(key, until, entry);
        self.busy.note(key, u64::from(record.pages), entry);
    }

    pub fn drop_range(&mut self, first: u64, last: u64) {
        for table in [&mut self.slow, &mut self.busy] {
            table.0.retain(|one| !(first..=last).contains(&one.key));
        }
    }
}

impl Frontier {
    /// The hosts that need longest for what they have queued.
    #[must_use]
    pub fn slowest(&self, most: usize) -> Vec<Standout> {
        self.standouts.slow.first(most, self.clock.last())
    }

    /// The hosts with most pages.
    #[must_use]
    pub fn busiest(&self, most: usize) -> Vec<Standout> {
        self.standouts.busy.first(most, self.clock.last())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(table: &mut Table, key: u64, value: u64) {
        table.note(key, value, |value| Entry {
            key,
            value,
            name: format!("host{key:03}.test").into(),
            pages: 0,
            queued: 0,
            gap: 0,
            response: 0,
            until: value,
        });
    }

    #[test]
    fn a_table_keeps_the_largest_and_forgets_who_is_done() {
        let mut table = Table::default();
        for key in 0..1_000 {
            note(&mut table, key, key * 7 % 1_000 + 1);
        }
        assert_eq!(table.0.len(), KEPT);
        let first: Vec<u64> = table.first(3, 0).iter().map(|one| one.left).collect();
        assert_eq!(first, [1_000, 999, 998]);
        let largest = table.first(1, 400);
        assert_eq!(largest[0].left, 600, "time that has passed is not left");
        for key in 0..1_000 {
            note(&mut table, key, 0);
        }
        assert!(table.first(3, 0).is_empty());
    }

    #[test]
    fn a_host_that_left_a_full_table_comes_in_again() {
        let mut table = Table::default();
        for key in 0..=KEPT as u64 {
            note(&mut table, key, 100 + key);
        }
        assert!(table.0.iter().all(|one| one.key != 0));
        note(&mut table, 0, 5_000);
        assert_eq!(&*table.first(1, 0)[0].name, "host000.test");
    }
}
