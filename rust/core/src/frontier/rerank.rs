//! Re-ranking: everything queued gets the score that the order of this moment gives it.
//!
//! Told once ([`Frontier::rerank`]), done in slices that the caller puts between its other work: by
//! the formula of the settings ([`Frontier::rerank_slice`]), or by scores that somebody else gives
//! ([`Frontier::rerank_take`], and any time later [`Frontier::rerank_give`]). Guarantees:
//!
//! * Afterwards a host's queue is in the new order, in each band still in the order of coming.
//! * Nothing is lost and nothing is queued twice, whenever it is cut off: every move is one atomic
//!   write, and a move that was made is not made again.
//! * A mark in the store says that it is under way; the batch with the last move takes it away. So
//!   a process that died is followed by one that goes through all hosts again.
//!
//! Visits under way are not touched: one that is given back has its old place. Hosts that are being
//! handed over are left out; whoever has them next looks at them (`rerank_range`).

use std::sync::Arc;

use super::overlay::Found;
use super::queued::{Place, Queued};
use super::{Frontier, damaged};
use crate::links::{Link, Score};
use crate::store::state::{Reads, Space, StateError, Writes};

const KEY: &[u8] = b"rerank";

/// How far it is. Filled by `rerank` and by hosts that come from other nodes; emptied by
/// `rerank_slice`; bound: the hosts with queued URLs, 8 bytes each.
#[derive(Debug)]
pub(super) struct Rerank {
    /// Keys of the hosts that are left; the last one is under way …
    todo: Vec<u64>,
    /// … and this is where it goes on.
    from: Place,
    /// The store has the mark.
    marked: bool,
    /// It was done since the order changed last, so hosts that come have to be looked at too.
    done: bool,
    /// Slices taken and not given back yet: it is not over before they are.
    out: u32,
    /// URLs that have got another band since the process began.
    moved: u64,
}

/// A piece of the queue that is scored outside. It must be given back, with scores or without.
#[derive(Debug, Default)]
pub struct RerankSlice {
    /// Host and place of each link …
    at: Vec<(u64, Place)>,
    /// … and what is known of it, with its score of now.
    pub links: Vec<Link>,
}

/// A score from outside, and the reason for it.
pub type Scored = (Score, Option<String>);

impl Default for Rerank {
    fn default() -> Rerank {
        Rerank {
            todo: Vec::new(),
            from: Place::FIRST,
            marked: false,
            done: false,
            out: 0,
            moved: 0,
        }
    }
}

impl Rerank {
    /// Hosts that are left; not 0 before the last slice is given back.
    pub fn left(&self) -> u64 {
        (self.todo.len() as u64).max(u64::from(self.marked))
    }

    pub fn moved(&self) -> u64 {
        self.moved
    }

    pub fn order_changed(&mut self) {
        self.done = false;
    }
}

impl Frontier {
    /// Begins to put everything queued in the order of the settings, from the first host on.
    pub fn rerank(&mut self, writes: &mut Writes) {
        self.mark_rerank(writes);
        self.begin_rerank();
    }

    /// The same for one host.
    pub fn rerank_host(&mut self, key: u64) {
        if !self.rerank.todo.contains(&key) {
            // Behind the one under way, which is the last.
            self.rerank.todo.insert(0, key);
        }
    }

    /// Takes it up again where an earlier process was cut off.
    pub(super) fn resume_rerank(&mut self, reads: &dyn Reads) -> Result<(), StateError> {
        if reads.get(Space::Meta, KEY)?.is_some() {
            self.rerank.marked = true;
            self.begin_rerank();
        }
        Ok(())
    }

    /// Whether there is something left to do.
    #[must_use]
    pub fn is_reranking(&self) -> bool {
        self.rerank.marked || !self.rerank.todo.is_empty()
    }

    /// Looks at about `most` URLs; gives the keys of the hosts whose queue has changed.
    pub fn rerank_slice(
        &mut self,
        most: usize,
        reads: &dyn Reads,
        writes: &mut Writes,
    ) -> Result<Vec<u64>, StateError> {
        let mut changed = Vec::new();
        if !self.is_reranking() {
            return Ok(changed);
        }
        if !self.rerank.marked {
            self.mark_rerank(writes);
        }
        let mut budget = most.max(1);
        while let Some((slot, key, found)) = self.next_to_rerank(&mut budget, reads)? {
            let found = found
                .into_iter()
                .map(|(place, record)| (place, record, None));
            if self.reorder(slot, found, writes)? {
                changed.push(key);
            }
        }
        self.end_rerank(writes);
        Ok(changed)
    }

    /// About `most` URLs to be scored by somebody else; none when nothing is left to take.
    pub fn rerank_take(
        &mut self,
        most: usize,
        reads: &dyn Reads,
        writes: &mut Writes,
    ) -> Result<Option<RerankSlice>, StateError> {
        if !self.is_reranking() {
            return Ok(None);
        }
        if !self.rerank.marked {
            self.mark_rerank(writes);
        }
        let mut slice = RerankSlice::default();
        let mut budget = most.max(1);
        while let Some((slot, key, found)) = self.next_to_rerank(&mut budget, reads)? {
            let Some(host) = self.host(slot) else {
                continue;
            };
            for (place, record) in found {
                let queued = Queued::decode(&record).ok_or_else(|| damaged("queue"))?;
                let link = queued.link(&host.record.name, key);
                slice.links.push(link.ok_or_else(|| damaged("queue"))?);
                slice.at.push((key, place));
            }
        }
        if slice.links.is_empty() {
            self.end_rerank(writes);
            return Ok(None);
        }
        self.rerank.out += 1;
        Ok(Some(slice))
    }

    /// Applies the scores of a slice, one for each link; `None`: it keeps the one it has. What was
    /// visited meanwhile, or is being visited, is left as it is. Gives the keys of the hosts whose
    /// queue has changed.
    pub fn rerank_give(
        &mut self,
        slice: RerankSlice,
        scores: Vec<Option<Scored>>,
        reads: &dyn Reads,
        writes: &mut Writes,
    ) -> Result<Vec<u64>, StateError> {
        self.rerank.out = self.rerank.out.saturating_sub(1);
        let mut changed = Vec::new();
        let mut rows = slice.at.into_iter().zip(scores).peekable();
        while let Some(&((key, _), _)) = rows.peek() {
            let mut found = Vec::new();
            while let Some(((_, place), scored)) = rows.next_if(|((of, _), _)| *of == key) {
                if let Some(scored) = scored
                    && let Some(record) = self.overlay.get(reads, key, place)?
                {
                    found.push((place, record, Some(scored)));
                }
            }
            if let Some(slot) = self.to_rerank(key)
                && self.reorder(slot, found.into_iter(), writes)?
            {
                changed.push(key);
            }
        }
        self.end_rerank(writes);
        Ok(changed)
    }

    /// The next URLs of a host that are to be looked at, at most `budget`, which they use up.
    fn next_to_rerank(
        &mut self,
        budget: &mut usize,
        reads: &dyn Reads,
    ) -> Result<Option<(u32, u64, Found)>, StateError> {
        while *budget > 0
            && let Some(&key) = self.rerank.todo.last()
        {
            let Some(slot) = self.to_rerank(key) else {
                *budget -= 1;
                self.next_host();
                continue;
            };
            let found = self.overlay.scan(reads, key, self.rerank.from, *budget)?;
            let last = found.last().map(|(place, _)| *place);
            let whole = found.len() < *budget;
            // A host costs something too, so that a million of empty ones is not one slice.
            *budget = budget.saturating_sub(found.len().max(1));
            match last {
                Some(last) if !whole => self.rerank.from = last.next(),
                _ => self.next_host(),
            }
            return Ok(Some((slot, key, found)));
        }
        Ok(None)
    }

    fn end_rerank(&mut self, writes: &mut Writes) {
        if self.rerank.todo.is_empty() && self.rerank.out == 0 {
            writes.remove(Space::Meta, KEY);
            self.rerank.marked = false;
            self.rerank.done = true;
        }
    }

    /// Hosts of this range have come, or are no longer about to go.
    pub(super) fn rerank_range(&mut self, first: u64, last: u64) {
        if self.is_reranking() || self.rerank.done {
            let keys = self.queued_in(first, last);
            // Behind the one under way, which is the last.
            self.rerank.todo.splice(0..0, keys);
        }
    }

    fn mark_rerank(&mut self, writes: &mut Writes) {
        writes.put(Space::Meta, KEY, [1]);
        self.rerank.marked = true;
    }

    fn begin_rerank(&mut self) {
        self.rerank.todo = self.queued_in(0, u64::MAX);
        self.rerank.from = Place::FIRST;
    }

    fn next_host(&mut self) {
        self.rerank.todo.pop();
        self.rerank.from = Place::FIRST;
    }

    fn queued_in(&self, first: u64, last: u64) -> Vec<u64> {
        let hosts = self.hosts.iter();
        hosts
            .filter(|host| (first..=last).contains(&host.key) && host.record.queued > 0)
            .map(|host| host.key)
            .collect()
    }

    /// The slot of a host whose queue may be changed and is worth it.
    fn to_rerank(&self, key: u64) -> Option<u32> {
        let slot = *self.slots.get(&key)?;
        let ends = self.host(slot)?.record.given_up.is_some();
        (!ends && !self.is_frozen(key)).then_some(slot)
    }

    /// Gives those another score that should have one: the one from outside, or the formula's. True:
    /// there were some.
    fn reorder(
        &mut self,
        slot: u32,
        found: impl Iterator<Item = (Place, Arc<[u8]>, Option<Scored>)>,
        writes: &mut Writes,
    ) -> Result<bool, StateError> {
        let host = self.host(slot);
        let host = host.map(|host| (host.record.name.clone(), host.key));
        let mut any = false;
        for (place, record, scored) in found {
            let mut queued = Queued::decode(&record).ok_or_else(|| damaged("queue"))?;
            let (score, reason) = scored.unzip();
            let reason = reason.flatten().unwrap_or_default();
            let mut score = score.unwrap_or_else(|| self.settings.order.score(queued.traits()));
            if self.filter.is_set() {
                let link = host
                    .as_ref()
                    .and_then(|(name, key)| queued.link(name, *key));
                let link = link.ok_or_else(|| damaged("queue"))?;
                score = self.filter.score(&link, queued.known_kind(), score);
            }
            let (band, before) = (score.band(), queued.score.band());
            if score == queued.score && reason == queued.reason {
                continue;
            }
            if !any {
                // What is in memory is read again in its new order.
                self.drop_head(slot);
                any = true;
            }
            queued.score = score;
            queued.reason = &reason;
            self.set_band(slot, place, band, queued.encode(), writes);
            self.rerank.moved += u64::from(band != before);
        }
        if any {
            self.changed(slot);
        }
        Ok(any)
    }
}
