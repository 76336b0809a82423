//! What has been admitted and is not in the store yet, batch by batch.

use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

use super::UrlKey;

/// Keys are hashes already: their random half is the hash.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        if let Some(half) = bytes.last_chunk::<8>() {
            self.0 = u64::from_be_bytes(*half);
        }
    }
    fn write_usize(&mut self, _length: usize) {}
    fn finish(&self) -> u64 {
        self.0
    }
}

/// A set of keys.
pub type KeySet = HashSet<UrlKey, BuildHasherDefault<KeyHasher>>;

/// Items admitted per batch, oldest first; the last list is the batch being filled.
#[derive(Debug)]
pub struct Batches<T> {
    open: Vec<T>,
    sealed: VecDeque<(u64, Vec<T>)>,
    next: u64,
}

impl<T> Default for Batches<T> {
    fn default() -> Self {
        Self::starting_at(1)
    }
}

impl<T> Batches<T> {
    /// No items; the next batch has the number `next`.
    pub fn starting_at(next: u64) -> Self {
        Self {
            open: Vec::new(),
            sealed: VecDeque::new(),
            next,
        }
    }

    /// Adds an item to the batch being filled.
    pub fn add(&mut self, item: T) {
        self.open.push(item);
    }

    /// The items of the batch being filled.
    pub fn open(&self) -> &[T] {
        &self.open
    }

    /// The items of all batches.
    pub fn all(&self) -> impl Iterator<Item = &T> {
        let sealed = self.sealed.iter().flat_map(|(_, list)| list);
        sealed.chain(&self.open)
    }

    /// Takes back the items of the batch being filled from the `from`-th on, latest first.
    pub fn take_back(&mut self, from: usize) -> impl Iterator<Item = T> + '_ {
        self.open.drain(from..).rev()
    }

    /// Ends the batch being filled and gives its number.
    pub fn seal(&mut self) -> u64 {
        let number = self.next;
        self.next += 1;
        self.sealed
            .push_back((number, std::mem::take(&mut self.open)));
        number
    }

    /// Takes the batches up to `batch`, with their numbers.
    pub fn take_applied(&mut self, batch: u64) -> Vec<(u64, Vec<T>)> {
        let count = self.sealed.partition_point(|(number, _)| *number <= batch);
        self.sealed.drain(..count).collect()
    }

    /// Takes all items, latest first.
    pub fn take_all_back(&mut self) -> Vec<T> {
        let mut items: Vec<T> = Vec::new();
        for (_, mut list) in self.sealed.drain(..) {
            items.append(&mut list);
        }
        items.append(&mut self.open);
        items.reverse();
        items
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        let lists = self.sealed.iter().map(|(_, list)| list.capacity());
        (self.open.capacity() + lists.sum::<usize>()) * size_of::<T>()
    }
}
