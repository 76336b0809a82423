//! Rows: the counters of hosts and URL patterns, in memory as far as they are used, in the store for good.
//!
//! Takes the key of a host, a pattern, a family or a word; gives its [`Counts`], those of the store where they are not in
//! memory. A row of the space `meta` is `counts/` ++ host key ++ hash of the pattern (0: the host itself). It belongs to the
//! host, so it goes with its partition. What was changed ([`Rows::soil`]) is in the next batch, and stays in memory until the
//! store has that batch. RAM is bounded by [`IN_RAM`] rows beside those that the store does not have yet, the patterns of a
//! host by [`PATTERNS`]: what comes beyond is counted with the pattern `…`.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use xxhash_rust::xxh3::xxh3_64;

use super::row::Counts;
use super::text::{Pattern, key_of, twins};
use crate::store::state::{Reads, Space, StateError, Writes};

/// Where the rows are in the space `meta`.
pub(crate) const PREFIX: &[u8] = b"counts/";
const PREFIX_END: &[u8] = b"counts0";
/// Rows kept in memory.
pub(super) const IN_RAM: usize = 65_536;
/// Patterns of one host that are told apart.
pub(super) const PATTERNS: u32 = 1_000;
pub(super) const OTHERS: &str = "…";

/// A host, and the hash of a pattern or 0.
pub type CountKey = (u64, u64);

#[derive(Debug, Default)]
pub(super) struct Rows {
    of: HashMap<CountKey, Counts>,
    /// Changed since the last batch.
    dirty: Vec<CountKey>,
    /// Patterns that others are made of, and that were not met yet.
    bases: HashSet<CountKey>,
    /// The store has all batches up to this one.
    applied: u64,
}

impl Rows {
    /// The counters of a host or a pattern; those of the store where they are not in memory.
    pub fn row(
        &mut self,
        key: CountKey,
        pattern: &str,
        reads: &dyn Reads,
    ) -> Result<&mut Counts, StateError> {
        match self.of.entry(key) {
            Entry::Occupied(row) => Ok(row.into_mut()),
            Entry::Vacant(place) => {
                let counts = stored(key, reads)?;
                Ok(place.insert(counts.unwrap_or_else(|| Counts {
                    pattern: pattern.into(),
                    ..Counts::default()
                })))
            }
        }
    }

    /// The same without making one.
    pub fn known(&self, key: CountKey, reads: &dyn Reads) -> Result<Option<Counts>, StateError> {
        match self.of.get(&key) {
            Some(counts) => Ok(Some(counts.clone())),
            None => stored(key, reads),
        }
    }

    /// Reads a row that is not in memory, if the store has it.
    pub fn load(&mut self, key: CountKey, reads: &dyn Reads) -> Result<(), StateError> {
        if let Entry::Vacant(place) = self.of.entry(key)
            && let Some(row) = stored(key, reads)?
        {
            place.insert(row);
        }
        Ok(())
    }

    /// Whether there is any row in a store.
    pub fn is_known(reads: &dyn Reads) -> Result<bool, StateError> {
        let mut is_known = false;
        reads.scan(Space::Meta, PREFIX, PREFIX_END, &mut |_, _| {
            is_known = true;
            false
        })?;
        Ok(is_known)
    }

    /// Notes that the store has another row: this one is written with the next batch.
    pub fn soil(&mut self, key: CountKey) {
        if let Some(counts) = self.of.get_mut(&key)
            && !std::mem::replace(&mut counts.is_dirty, true)
        {
            self.dirty.push(key);
        }
    }

    /// The row if it is in memory, as one is that was asked for just now: nothing is read.
    pub fn get(&self, key: CountKey) -> Option<&Counts> {
        self.of.get(&key)
    }

    pub fn get_mut(&mut self, key: CountKey) -> Option<&mut Counts> {
        self.of.get_mut(&key)
    }

    /// Puts a row in the place of the one that is known.
    pub fn put(&mut self, key: CountKey, counts: Counts) {
        self.of.insert(key, counts);
        self.soil(key);
    }

    /// The row of a pattern, made if there is none; that of all others where the host has too many.
    pub fn of_pattern(
        &mut self,
        host: u64,
        pattern: &Pattern,
        reads: &dyn Reads,
    ) -> Result<CountKey, StateError> {
        let key = (host, pattern.key());
        let row = self.row(key, &pattern.text, reads)?;
        if row.is_counted {
            return Ok(key);
        }
        row.hint = pattern.hint;
        let is_base = self.bases.remove(&key);
        let of_host = self.row((host, 0), "", reads)?;
        if of_host.patterns < PATTERNS {
            of_host.patterns += 1;
            if let Some(row) = self.of.get_mut(&key) {
                row.is_counted = true;
                row.is_base |= is_base;
            }
            for base in pattern.bases() {
                for base in twins(&base) {
                    self.note_base((host, base), reads)?;
                }
            }
            return Ok(key);
        }
        // What a word that reads like it was judged by stays.
        let applied = self.applied;
        let is_empty = |row: &Counts| !row.is_dirty && row.doubt.is_none() && row.batch <= applied;
        if self.of.get(&key).is_some_and(is_empty) {
            self.of.remove(&key);
        }
        self.row(others_of(host), OTHERS, reads)?.is_counted = true;
        Ok(others_of(host))
    }

    /// The row of the family that a pattern belongs to.
    pub fn of_family(
        &mut self,
        host: u64,
        pattern: &Pattern,
        reads: &dyn Reads,
    ) -> Result<Option<CountKey>, StateError> {
        let Some(family) = &pattern.family else {
            return Ok(None);
        };
        let key = (host, key_of(family));
        let row = self.row(key, family, reads)?;
        row.is_family = true;
        row.hint = row.hint.or(pattern.hint);
        Ok(Some(key))
    }

    /// Others are made of this pattern.
    fn note_base(&mut self, key: CountKey, reads: &dyn Reads) -> Result<(), StateError> {
        if self.known(key, reads)?.is_none_or(|row| !row.is_counted) {
            if self.bases.len() < IN_RAM {
                self.bases.insert(key);
            }
            return Ok(());
        }
        let row = self.row(key, "", reads)?;
        if !std::mem::replace(&mut row.is_base, true) {
            self.soil(key);
        }
        Ok(())
    }

    /// Whether a host may have patterns that are not counted by themselves; without its row in memory it may.
    pub fn may_have_rest(&self, host: u64) -> bool {
        let row = self.get((host, 0));
        row.is_none_or(|host| host.patterns >= PATTERNS)
    }

    /// Adds the changed rows to the batch of that number.
    pub fn seal(&mut self, batch: u64, writes: &mut Writes) {
        for key in self.dirty.drain(..) {
            if let Some(counts) = self.of.get_mut(&key) {
                counts.is_dirty = false;
                counts.batch = batch;
                writes.put(Space::Meta, row_key(key), counts.encode());
            }
        }
        if self.of.len() > IN_RAM {
            // What the store does not show yet would be read from it as it was before.
            let applied = self.applied;
            self.of.retain(|_, counts| counts.batch > applied);
        }
    }

    /// The store has all batches up to this one.
    pub fn set_applied(&mut self, batch: u64) {
        self.applied = batch;
    }

    pub fn applied(&self) -> u64 {
        self.applied
    }

    /// Forgets all rows, to read them anew; which patterns others are made of is still known.
    pub fn clear(&mut self) {
        self.of.clear();
        self.dirty.clear();
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.of.len()
    }
}

/// The key of all patterns of a host that are not counted by themselves.
pub(super) fn others_of(host: u64) -> CountKey {
    (host, xxh3_64(OTHERS.as_bytes()))
}

/// A row as the store has it.
pub(super) fn stored(key: CountKey, reads: &dyn Reads) -> Result<Option<Counts>, StateError> {
    let row = reads.get(Space::Meta, &row_key(key))?;
    Ok(row.as_deref().and_then(Counts::decode))
}

fn row_key((host, pattern): CountKey) -> Vec<u8> {
    [PREFIX, &host.to_be_bytes(), &pattern.to_be_bytes()].concat()
}
