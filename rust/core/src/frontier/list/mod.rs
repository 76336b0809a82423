//! The list of all hosts: any order, any search, a page at a time, without a look at the store.
//!
//! Takes what the frontier writes of a host, when it writes it; gives keys of hosts. A row is some
//! 45 bytes in columns, its name, and about 30 bytes of a map from keys to rows. A question reads
//! the columns from end to end: at a million hosts that is some ten milliseconds, and nobody has to
//! keep orders up to date that nobody looks at.
//!
//! Its own locks only: a question never holds the frontier up, and the frontier never waits for one.
//! `pending` is filled by the frontier and emptied by questions, or by the frontier itself when it
//! has grown past `MOST_PENDING`; while a question runs it may grow further.

mod table;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use table::Table;

use super::host::{HostRecord, seconds};
use super::{Frontier, Micros};
use crate::canonical::partition;
use crate::outcome::Outcome;
use crate::store::state::Writes;

const MOST_PENDING: usize = 16_384;

/// What hosts are sorted by: the largest first, but for the next visit and the name; `reversed` turns it round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    Queued,
    Pages,
    Errors,
    LastVisit,
    NextVisit,
    Name,
}

impl Sort {
    #[must_use]
    pub fn from_name(name: &str) -> Option<Sort> {
        Some(match name {
            "queued" => Sort::Queued,
            "pages" => Sort::Pages,
            "errors" => Sort::Errors,
            "last_visit" => Sort::LastVisit,
            "next_visit" => Sort::NextVisit,
            "name" => Sort::Name,
            _ => return None,
        })
    }
}

/// What a host is doing as far as its record tells; each is one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    Idle,
    Waiting,
    SetAside,
    Blocked,
    GivenUp,
}

impl Listed {
    #[must_use]
    pub fn from_name(name: &str) -> Option<Listed> {
        Some(match name {
            "idle" => Listed::Idle,
            "waiting" => Listed::Waiting,
            "set_aside" => Listed::SetAside,
            "blocked" => Listed::Blocked,
            "given_up" => Listed::GivenUp,
            _ => return None,
        })
    }

    pub(super) fn of(record: &HostRecord) -> Listed {
        if record.blocked || (record.queued > 0 && record.budget_used(0)) {
            Listed::Blocked
        } else if record.given_up.is_some() {
            Listed::GivenUp
        } else if record.queued == 0 {
            Listed::Idle
        } else if record.aside {
            Listed::SetAside
        } else {
            Listed::Waiting
        }
    }
}

/// What keeps a host from being visited well: why it was given up, or how it failed last.
fn failure(record: &HostRecord) -> Option<Outcome> {
    let unanswered = record.robots.iter().find_map(|robots| robots.unanswered);
    let trouble = record.trouble.map(|trouble| trouble.outcome);
    record.given_up.or(trouble).or(unanswered)
}

/// Which hosts, in what order, from where on.
#[derive(Clone, Debug)]
pub struct Question {
    pub sort: Sort,
    /// The other way round.
    pub reversed: bool,
    /// Part of the name, in lower case; with `from_start`, its beginning. Empty: all.
    pub search: String,
    pub from_start: bool,
    pub listed: Option<Listed>,
    /// Only hosts that failed so last, or were given up for it.
    pub failure: Option<Outcome>,
    /// Only these.
    pub among: Option<HashSet<u64>>,
    /// The last host of the page before.
    pub after: Option<Place>,
    pub most: usize,
}

/// Where a host stands in an order. Numbers: the value, turned round where the largest is first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub value: u64,
    pub name: Box<str>,
    pub key: u64,
}

/// A page of hosts.
#[derive(Clone, Debug, Default)]
pub struct Found {
    pub keys: Vec<u64>,
    /// Where each of them stands, to put pages of several lists together.
    pub places: Vec<Place>,
    /// Where the page ends, if there is more.
    pub next: Option<Place>,
    pub matched: u64,
    pub total: u64,
}

/// Sums of one partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    pub hosts: u64,
    pub queued: u64,
    pub pages: u64,
}

#[derive(Debug)]
struct Row {
    key: u64,
    name: Box<str>,
    queued: u32,
    pages: u32,
    errors: u32,
    last: u32,
    due: u32,
    listed: Listed,
    failure: Option<Outcome>,
}

/// The list. Cheap to clone; clones are one list.
#[derive(Clone, Debug, Default)]
pub struct HostList {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    pending: Mutex<Vec<Row>>,
    table: Mutex<Table>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Rows are whole values; a panic elsewhere cannot leave half of one.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl HostList {
    /// Takes a host's record as it is written. `due`: when its next visit may start.
    pub(super) fn note(&self, key: u64, record: &HostRecord, due: Micros) {
        let mut pending = lock(&self.shared.pending);
        pending.push(Row {
            key,
            name: record.name.clone(),
            queued: record.queued,
            pages: record.pages,
            errors: record.errors,
            last: seconds(record.last_end),
            due: seconds(due),
            listed: Listed::of(record),
            failure: failure(record),
        });
        if pending.len() >= MOST_PENDING
            && let Ok(mut table) = self.shared.table.try_lock()
        {
            pending.drain(..).for_each(|row| table.put(row));
        }
    }

    /// Takes the hosts with keys from `first` to `last` (both included) off the list.
    pub(super) fn drop_range(&self, first: u64, last: u64) {
        let mut table = self.table();
        let gone: Vec<u64> = table
            .rows
            .keys()
            .copied()
            .filter(|key| (first..=last).contains(key))
            .collect();
        for key in gone {
            table.remove(key);
        }
    }

    /// Answers a question.
    #[must_use]
    pub fn find(&self, question: &Question) -> Found {
        self.table().find(question)
    }

    /// Hosts, queued URLs and pages of each partition.
    #[must_use]
    pub fn sizes(&self, partitions: u32) -> Vec<Size> {
        let table = self.table();
        let mut sizes = vec![Size::default(); partitions as usize];
        for (&key, &row) in &table.rows {
            let row = row as usize;
            if let Some(size) = sizes.get_mut(partition(key, partitions) as usize) {
                size.hosts += 1;
                size.queued += u64::from(table.queued[row]);
                size.pages += u64::from(table.pages[row]);
            }
        }
        sizes
    }

    /// Bytes of memory that the list takes.
    #[must_use]
    pub fn ram_bytes(&self) -> usize {
        self.table().ram_bytes()
    }

    /// The table with everything that was noted.
    fn table(&self) -> MutexGuard<'_, Table> {
        let mut table = lock(&self.shared.table);
        let pending = std::mem::take(&mut *lock(&self.shared.pending));
        pending.into_iter().for_each(|row| table.put(row));
        table
    }
}

impl Frontier {
    /// Keeps a list of all hosts from now on; to be called before the hosts are loaded.
    pub(super) fn keep_list(&mut self, keep: bool) {
        self.list = keep.then(HostList::default);
    }

    /// Makes a batch that is not empty, so that changes of hosts alone can be applied.
    pub fn touch(&self, writes: &mut Writes) {
        self.put_clock(writes);
    }

    /// The list of all hosts, if one is kept.
    #[must_use]
    pub fn list(&self) -> Option<HostList> {
        self.list.clone()
    }

    /// Keys of the hosts with a visit under way.
    #[must_use]
    pub fn active(&self) -> Vec<u64> {
        let slots = self
            .leases
            .values()
            .filter_map(|lease| self.host(lease.slot));
        slots.map(|host| host.key).collect()
    }

    /// Notes a host in the list, as its record is written.
    pub(super) fn note_listed(&self, key: u64, record: &HostRecord) {
        if let Some(list) = &self.list {
            let gap = record.gap(key, &self.settings);
            let due = record.next_due.max(record.last_end.saturating_add(gap));
            let out = |time: Micros| {
                if time == 0 {
                    0
                } else {
                    self.clock.outside(time)
                }
            };
            let due = if record.queued == 0 { 0 } else { out(due) };
            list.note(key, record, due);
        }
    }
}
