//! The table behind the list: columns, a map from keys to rows, and the names.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};

use memchr::memmem::Finder;

use crate::outcome::Outcome;

use super::{Found, Listed, Place, Question, Row, Sort};

/// Columns. A row that is gone has no name and is not in the map; its place is used again.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) rows: HashMap<u64, u32, ahash::RandomState>,
    keys: Vec<u64>,
    pub(super) queued: Vec<u32>,
    pub(super) pages: Vec<u32>,
    errors: Vec<u32>,
    last: Vec<u32>,
    due: Vec<u32>,
    listed: Vec<Option<Listed>>,
    failure: Vec<Option<Outcome>>,
    /// All names one after the other, and where each begins and ends.
    text: String,
    names: Vec<(u64, u16)>,
    vacant: Vec<u32>,
    /// Bytes of `text` that no row names any more.
    wasted: usize,
}

impl Table {
    pub(super) fn ram_bytes(&self) -> usize {
        let columns = self.keys.capacity() * 8
            + self.queued.capacity() * 5 * 4
            + self.listed.capacity()
            + self.failure.capacity()
            + self.names.capacity() * size_of::<(u64, u16)>();
        columns + self.rows.capacity() * 17 + self.text.capacity()
    }

    pub(super) fn put(&mut self, row: Row) {
        let at = match self.rows.get(&row.key) {
            Some(&at) => at as usize,
            None => self.make_room(row.key, &row.name),
        };
        self.queued[at] = row.queued;
        self.pages[at] = row.pages;
        self.errors[at] = row.errors;
        self.last[at] = row.last;
        self.due[at] = row.due;
        self.listed[at] = Some(row.listed);
        self.failure[at] = row.failure;
    }

    fn make_room(&mut self, key: u64, name: &str) -> usize {
        let length = u16::try_from(name.len()).unwrap_or(0);
        let place = (self.text.len() as u64, length);
        self.text.push_str(&name[..usize::from(length)]);
        let at = if let Some(at) = self.vacant.pop() {
            self.keys[at as usize] = key;
            self.names[at as usize] = place;
            at as usize
        } else {
            self.keys.push(key);
            self.names.push(place);
            self.listed.push(None);
            self.failure.push(None);
            for column in [
                &mut self.queued,
                &mut self.pages,
                &mut self.errors,
                &mut self.last,
                &mut self.due,
            ] {
                column.push(0);
            }
            self.keys.len() - 1
        };
        self.rows.insert(key, at as u32);
        at
    }

    pub(super) fn remove(&mut self, key: u64) {
        let Some(at) = self.rows.remove(&key) else {
            return;
        };
        self.listed[at as usize] = None;
        self.wasted += usize::from(self.names[at as usize].1);
        self.vacant.push(at);
        if self.wasted > self.text.len() / 2 {
            self.pack();
        }
    }

    /// Writes the names anew without those that are gone.
    fn pack(&mut self) {
        let mut text = String::with_capacity(self.text.len() - self.wasted);
        for at in 0..self.keys.len() {
            let place = if self.listed[at].is_some() {
                (text.len() as u64, self.names[at].1)
            } else {
                (0, 0)
            };
            if place.1 > 0 {
                text.push_str(self.name(at));
            }
            self.names[at] = place;
        }
        self.text = text;
        self.wasted = 0;
    }

    fn name(&self, at: usize) -> &str {
        let (start, length) = self.names[at];
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        self.text
            .get(start..start + usize::from(length))
            .unwrap_or_default()
    }

    pub(super) fn find(&self, question: &Question) -> Found {
        let finder = Finder::new(question.search.as_bytes());
        let mut found = Found {
            total: self.rows.len() as u64,
            ..Found::default()
        };
        let most = question.most.max(1);
        // The best rows so far, the worst of them on top.
        let mut best: BinaryHeap<Spot<'_>> = BinaryHeap::with_capacity(most + 2);
        let after = question.after.as_ref().map(|place| Spot {
            value: place.value,
            name: &place.name,
            key: place.key,
            reversed: question.reversed,
        });
        for at in 0..self.keys.len() {
            if !self.matches(at, question, &finder) {
                continue;
            }
            found.matched += 1;
            let spot = self.spot(at, question.sort, question.reversed);
            let comes = after.as_ref().is_none_or(|after| spot > *after);
            if comes && (best.len() <= most || best.peek().is_some_and(|worst| spot < *worst)) {
                best.push(spot);
                if best.len() > most + 1 {
                    best.pop();
                }
            }
        }
        let mut page = best.into_sorted_vec();
        if page.len() > most {
            page.truncate(most);
            found.next = page.last().map(Spot::place);
        }
        found.keys = page.iter().map(|spot| spot.key).collect();
        found.places = page.iter().map(Spot::place).collect();
        found
    }

    fn matches(&self, at: usize, question: &Question, finder: &Finder<'_>) -> bool {
        let Some(listed) = self.listed[at] else {
            return false;
        };
        if question.listed.is_some_and(|wanted| wanted != listed) {
            return false;
        }
        if question.failure.is_some() && question.failure != self.failure[at] {
            return false;
        }
        if let Some(among) = &question.among
            && !among.contains(&self.keys[at])
        {
            return false;
        }
        match question.search.as_str() {
            "" => true,
            start if question.from_start => self.name(at).starts_with(start),
            _ => finder.find(self.name(at).as_bytes()).is_some(),
        }
    }

    fn spot(&self, at: usize, sort: Sort, reversed: bool) -> Spot<'_> {
        let largest_first = |value: u32| u64::MAX - u64::from(value);
        let (value, name) = match sort {
            Sort::Queued => (largest_first(self.queued[at]), ""),
            Sort::Pages => (largest_first(self.pages[at]), ""),
            Sort::Errors => (largest_first(self.errors[at]), ""),
            Sort::LastVisit => (largest_first(self.last[at]), ""),
            Sort::NextVisit => {
                let visits = matches!(
                    self.listed[at],
                    Some(Listed::Waiting) | Some(Listed::SetAside)
                );
                // Who is to have no visit comes last, in either direction.
                let none = if reversed { 0 } else { u64::MAX };
                (
                    if visits {
                        u64::from(self.due[at])
                    } else {
                        none
                    },
                    "",
                )
            }
            Sort::Name => (0, self.name(at)),
        };
        Spot {
            value,
            name,
            key: self.keys[at],
            reversed,
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Spot<'a> {
    value: u64,
    name: &'a str,
    key: u64,
    /// Of all spots that are compared, or of none.
    reversed: bool,
}

impl Spot<'_> {
    fn place(&self) -> Place {
        Place {
            value: self.value,
            name: self.name.into(),
            key: self.key,
        }
    }
}

impl Ord for Spot<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        // Comparing two empty names is slow: there is nothing where their text would be.
        let names = || match (self.name, other.name) {
            ("", "") => Ordering::Equal,
            (name, other) => name.cmp(other),
        };
        let order = self
            .value
            .cmp(&other.value)
            .then_with(names)
            .then_with(|| self.key.cmp(&other.key));
        if self.reversed {
            order.reverse()
        } else {
            order
        }
    }
}

impl PartialOrd for Spot<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
