//! `exact`: all keys in sorted runs on disk, and in front of them, in this order, a table of
//! popular keys, the keys of late batches, and a filter that knows most fresh URLs for fresh.
//!
//! A batch adds one row with its fresh keys to the store, so that they are as safe as the batch.
//! When enough rows have come together their keys move into a run and the rows go.

use super::cache::Cache;
use super::filter::GrowingFilter;
use super::pending::{Batches, KeySet};
use super::rows::{GROUPED, decode, encode};
use super::runs::Runs;
use super::{Candidate, Mark, Seen, SeenKind, SeenSettings, UrlKey};
use crate::store::state::{Reads, Space, StateError, Writes};

/// Bits set per key in the filter: few, so that it is of use even at 5 bits a key.
const PROBES: u32 = 4;

/// The default kind: never wrong, RAM bounded by its settings and the batches under way.
#[derive(Debug)]
pub struct Exact {
    mark: Mark,
    cache: Cache,
    /// Keys that are in no run and not on the way into one.
    recent: KeySet,
    /// Of these, those whose batch is not applied yet.
    batches: Batches<UrlKey>,
    /// Rows of the store that hold the others.
    rows: Vec<u64>,
    /// How many keys `rows` have, and with how many they are moved.
    row_keys: usize,
    move_at: usize,
    filter: GrowingFilter,
    runs: Option<Runs>,
    /// Candidates of a call that only the runs can answer; kept for their room.
    asked: Vec<(UrlKey, usize)>,
    keys: Vec<UrlKey>,
    known: Vec<bool>,
}

impl Exact {
    pub(super) fn open(
        mark: Mark,
        settings: &SeenSettings,
        reads: &dyn Reads,
    ) -> Result<Exact, StateError> {
        let mut filter = GrowingFilter::new(settings.filter_bytes, PROBES);
        let runs = match &settings.directory {
            Some(dir) => Some(Runs::open(dir, reads, |key| {
                filter.insert(key);
            })?),
            None => None,
        };
        let (mut recent, mut rows, mut row_keys) = (KeySet::default(), Vec::new(), 0);
        let mut odd = 0usize;
        reads.scan(Space::Seen, &[], &[], &mut |row, value| {
            match decode(row, value) {
                Some((row, keys)) => {
                    for key in &keys {
                        filter.insert(*key);
                        recent.insert(*key);
                    }
                    row_keys += keys.len();
                    rows.push(row);
                }
                None => odd += 1,
            }
            true
        })?;
        if odd > 0 {
            return Err(StateError::Format(format!(
                "{odd} rows do not hold keys of known URLs"
            )));
        }
        let next = rows.last().map_or(1, |row| row + 1) | GROUPED;
        Ok(Exact {
            mark,
            cache: Cache::new(settings.cache_bytes),
            recent,
            batches: Batches::starting_at(next),
            rows,
            row_keys,
            move_at: settings.recent_keys.max(1),
            filter,
            runs,
            asked: Vec::new(),
            keys: Vec::new(),
            known: Vec::new(),
        })
    }

    /// Begins to move applied keys into a run when there are enough, and waits when there are far
    /// too many: RAM is bounded also when URLs come faster than the disk takes them.
    fn move_on(&mut self) -> Result<(), StateError> {
        let Some(runs) = &mut self.runs else {
            return Ok(());
        };
        runs.progress(self.row_keys > 2 * self.move_at)?;
        if self.row_keys < self.move_at || !runs.is_idle() {
            return Ok(());
        }
        // The set goes as it is, but for the keys of batches that are not applied yet: whatever is done here for
        // each key is what a batch waits for.
        let room = KeySet::with_capacity_and_hasher(self.move_at, Default::default());
        let mut keys = std::mem::replace(&mut self.recent, room);
        for key in self.batches.all() {
            keys.remove(key);
            self.recent.insert(*key);
        }
        self.row_keys = 0;
        runs.begin(keys, std::mem::take(&mut self.rows))
    }
}

impl Seen for Exact {
    fn kind(&self) -> SeenKind {
        SeenKind::Exact
    }

    fn admit(
        &mut self,
        urls: &[Candidate<'_>],
        _reads: &dyn Reads,
        _writes: &mut Writes,
        fresh: &mut Vec<bool>,
    ) -> Result<(), StateError> {
        fresh.clear();
        fresh.resize(urls.len(), false);
        self.asked.clear();
        for (at, Candidate { key, .. }) in urls.iter().enumerate() {
            if !self.cache.touch(*key) && !self.recent.contains(key) {
                self.asked.push((*key, at));
            }
        }
        // In the order of the keys: the links of a page are neighbours, and equal keys meet, the
        // first of the page in front.
        self.asked.sort_unstable();
        self.asked.dedup_by_key(|(key, _)| *key);
        self.keys.clear();
        if self.runs.is_some() {
            let maybe = self.asked.iter().map(|(key, _)| *key);
            self.keys
                .extend(maybe.filter(|key| self.filter.contains(*key)));
        }
        self.known.clear();
        self.known.resize(self.keys.len(), false);
        if let Some(runs) = &self.runs {
            runs.find(&self.keys, &mut self.known)?;
        }
        let mut answers = self.keys.iter().zip(&self.known).peekable();
        for (key, at) in &self.asked {
            let answer = answers.next_if(|(asked, _)| *asked == key);
            if answer.is_some_and(|(_, known)| *known) {
                self.cache.add(*key);
            } else {
                fresh[*at] = true;
                self.recent.insert(*key);
                self.batches.add(*key);
            }
        }
        Ok(())
    }

    fn seal(&mut self, writes: &mut Writes) -> Result<u64, StateError> {
        self.move_on()?;
        self.mark.write(writes);
        let keys = encode(self.batches.open());
        let batch = self.batches.seal();
        if !keys.is_empty() {
            writes.put(Space::Seen, batch.to_be_bytes(), keys);
        }
        if let Some(runs) = &mut self.runs {
            runs.carry(batch, writes);
        }
        Ok(batch)
    }

    fn applied(&mut self, batch: u64, durable: bool) {
        for (row, keys) in self.batches.take_applied(batch) {
            self.row_keys += keys.len();
            if !keys.is_empty() {
                self.rows.push(row);
            }
            for key in keys {
                self.filter.insert(key);
            }
        }
        if let Some(runs) = &mut self.runs {
            runs.applied(batch, durable);
        }
    }

    fn forget_pending(&mut self) {
        for key in self.batches.take_all_back() {
            self.recent.remove(&key);
        }
        if let Some(runs) = &mut self.runs {
            runs.forget_pending();
        }
    }

    fn keys(
        &self,
        first: UrlKey,
        last: UrlKey,
        _reads: &dyn Reads,
        visit: &mut dyn FnMut(UrlKey),
    ) -> Result<(), StateError> {
        let range = first..=last;
        self.recent
            .iter()
            .filter(|key| range.contains(key))
            .for_each(|key| visit(*key));
        match &self.runs {
            Some(runs) => runs.keys(first, last, visit),
            None => Ok(()),
        }
    }

    fn ram_bytes(&self) -> u64 {
        let recent = self.recent.capacity() * (size_of::<UrlKey>() + 1);
        let rows = self.rows.capacity() * size_of::<u64>();
        let runs = self.runs.as_ref().map_or(0, |runs| runs.bytes().0);
        let fixed = self.cache.bytes() + self.filter.bytes();
        (fixed + recent + rows + self.batches.bytes() + runs) as u64
    }

    fn disk_bytes(&self) -> u64 {
        self.runs.as_ref().map_or(0, |runs| runs.bytes().1)
    }
}
