//! What a policy is being asked about: waiting for a batch, and in batches under way.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::doors::DoorSettings;

/// Filled by the node's loop, emptied by answers and deadlines. Bound: by the caller, who stops
/// asking for visits when there is too much; posted are at most two batches.
#[derive(Debug)]
pub(in crate::node) struct Asked<T> {
    waiting: Vec<T>,
    /// When the first of those that wait came.
    since: Option<Instant>,
    posted: HashMap<u64, Vec<T>>,
    /// Bytes of those that wait or are posted.
    bytes: usize,
}

impl<T> Default for Asked<T> {
    fn default() -> Asked<T> {
        Asked {
            waiting: Vec::new(),
            since: None,
            posted: HashMap::new(),
            bytes: 0,
        }
    }
}

impl<T> Asked<T> {
    pub fn len(&self) -> usize {
        self.waiting.len() + self.posted.values().map(Vec::len).sum::<usize>()
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.posted.is_empty()
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn push(&mut self, item: T, bytes: usize) {
        self.since.get_or_insert_with(Instant::now);
        self.waiting.push(item);
        self.bytes += bytes;
    }

    /// Whether a batch should be posted now.
    pub fn is_due(&self, settings: &DoorSettings, flush: bool) -> bool {
        let Some(since) = self.since else {
            return false;
        };
        let wait = Duration::from_micros(settings.wait);
        flush || self.waiting.len() >= settings.rows || since.elapsed() >= wait
    }

    /// Takes the next batch out of those that wait.
    pub fn take(&mut self, rows: usize) -> Vec<T> {
        let rest = self.waiting.split_off(rows.min(self.waiting.len()));
        let taken = std::mem::replace(&mut self.waiting, rest);
        if self.waiting.is_empty() {
            self.since = None;
        }
        taken
    }

    /// The same, as far as the items have so many bytes together; at least one.
    pub fn take_bytes(&mut self, rows: usize, most: usize, size: impl Fn(&T) -> usize) -> Vec<T> {
        let mut sum = 0_usize;
        let fit = self.waiting.iter().take_while(|item| {
            let before = sum;
            sum = sum.saturating_add(size(item));
            before == 0 || sum <= most
        });
        let fit = fit.count();
        self.take(rows.min(fit))
    }

    /// Takes everything, also what is posted: no answer to it is waited for any longer.
    pub fn take_all(&mut self) -> Vec<T> {
        self.bytes = 0;
        let mut all: Vec<T> = std::mem::take(&mut self.posted)
            .into_values()
            .flatten()
            .collect();
        all.append(&mut self.take(usize::MAX));
        all
    }

    pub fn post(&mut self, number: u64, items: Vec<T>) {
        self.posted.insert(number, items);
    }

    /// A batch that was answered or not waited for any longer; `bytes` is told of each item.
    pub fn end(&mut self, number: u64, bytes: impl Fn(&T) -> usize) -> Vec<T> {
        let items = self.posted.remove(&number).unwrap_or_default();
        self.forget(items.iter().map(bytes).sum());
        items
    }

    pub fn forget(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_sub(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_bounded_in_rows_and_bytes() {
        let mut asked = Asked::default();
        for size in [30, 50, 40, 200, 1] {
            asked.push(size, size);
        }
        let size = |size: &usize| *size;
        assert_eq!(asked.take_bytes(9, 100, size), [30, 50]);
        assert_eq!(asked.take_bytes(9, 100, size), [40]);
        assert_eq!(asked.take_bytes(9, 100, size), [200]);
        asked.post(4, vec![30, 50]);
        assert_eq!((asked.len(), asked.bytes()), (3, 321));
        assert_eq!(asked.end(4, size), [30, 50]);
        assert_eq!(asked.take_bytes(9, 100, size), [1]);
        assert!(asked.is_empty() && asked.bytes() == 241);
    }
}
