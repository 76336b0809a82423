//! Partitions of this node: gained, frozen, handed over.
//!
//! Kept in the space `meta` as `partition/` ++ number: a byte for how it stands, and the epoch with
//! which it came here.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::changes::Changes;
use super::exchange::{StreamPosition, position_key, position_value};
use super::queue_drops::QueueDrops;
use super::redirected_seeds::RedirectedSeeds;
use super::snapshot::{self, Item, Summary};
use super::{Node, NodeError};
use crate::canonical::{partition, partition_range};
use crate::seen::alias::Aliases;
use crate::seen::{Candidate, SeenKind, UrlKey};
use crate::store::state::{DiskState, Reads, Space, State, StateError, Write, Writes};

const PREFIX: &[u8] = b"partition/";
const PREFIX_END: &[u8] = b"partition0";
const OWNED: u8 = 1;
/// Rows of a snapshot are being taken in: after a crash they are removed.
const LOADING: u8 = 2;
const FROZEN: u8 = 3;

/// Changes applied at a time when a partition is taken in or removed.
const CHUNK: usize = 20_000;

/// How a partition stands with this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Share {
    Foreign,
    Owned { epoch: u64, changed: bool },
    Frozen { epoch: u64 },
}

/// Which partitions are this node's. A standalone crawl has them all.
#[derive(Debug)]
pub(super) struct Shares {
    count: u32,
    list: Vec<Share>,
    /// None in a standalone crawl, which makes no snapshots.
    changes: Option<Arc<Changes>>,
}

impl Shares {
    pub fn all(count: u32) -> Shares {
        let own = Share::Owned {
            epoch: 0,
            changed: false,
        };
        Shares {
            count,
            list: vec![own; count as usize],
            changes: None,
        }
    }

    /// Those that the state has; others that a crash left half taken in are given too.
    pub fn stored(
        count: u32,
        dir: &Path,
        state: &DiskState,
    ) -> Result<(Shares, Vec<u32>), StateError> {
        let mut list = vec![Share::Foreign; count as usize];
        let mut halves = Vec::new();
        let mut bad = false;
        state.scan(Space::Meta, PREFIX, PREFIX_END, &mut |key, value| {
            let number = key
                .get(PREFIX.len()..)
                .and_then(|tail| tail.try_into().ok());
            let number = number.map(u32::from_be_bytes);
            let epoch = value.get(1..).and_then(|tail| tail.try_into().ok());
            let epoch = epoch.map(u64::from_be_bytes);
            let slot = number.and_then(|number| list.get_mut(number as usize));
            match (value.first(), slot, epoch, number) {
                (Some(&OWNED), Some(slot), Some(epoch), _) => {
                    *slot = Share::Owned {
                        epoch,
                        changed: true,
                    };
                }
                (Some(&FROZEN), Some(slot), Some(epoch), _) => *slot = Share::Frozen { epoch },
                (Some(&LOADING), Some(_), _, Some(number)) => halves.push(number),
                _ => bad = true,
            }
            !bad
        })?;
        if bad {
            return Err(StateError::Format(
                "a partition's record is damaged, or the number of partitions has changed"
                    .to_owned(),
            ));
        }
        let dir = dir.join("changes");
        let changes = Changes::open(&dir, count).map_err(|error| {
            StateError::Store(format!("{} cannot be written: {error}", dir.display()))
        })?;
        let changes = Arc::new(changes);
        let watch = Arc::clone(&changes);
        state.tell(watch);
        let shares = Shares {
            count,
            list,
            changes: Some(changes),
        };
        Ok((shares, halves))
    }

    /// Whether a host's links are taken in here.
    pub fn owns(&mut self, host_key: u64) -> bool {
        match self.list.get_mut(partition(host_key, self.count) as usize) {
            Some(Share::Owned { changed, .. }) => {
                *changed = true;
                true
            }
            _ => false,
        }
    }

    pub fn is_owned(&self, partition: u32) -> bool {
        matches!(self.list.get(partition as usize), Some(Share::Owned { .. }))
    }

    /// Notes that a partition is no longer as its last snapshot has it.
    pub fn touch(&mut self, partition: u32) {
        if let Some(Share::Owned { changed, .. }) = self.list.get_mut(partition as usize) {
            *changed = true;
        }
    }

    pub fn touch_host(&mut self, host_key: u64) {
        self.touch(partition(host_key, self.count));
    }

    fn unfollow(&self, partition: u32) {
        if let Some(changes) = &self.changes {
            changes.stop(partition);
        }
    }

    fn get(&self, partition: u32) -> Result<Share, NodeError> {
        let share = self.list.get(partition as usize).copied();
        share.ok_or_else(|| {
            let text = format!("partition {partition}: there are only {}", self.count);
            NodeError::Settings(text)
        })
    }

    fn set(&mut self, partition: u32, share: Share) {
        if let Some(slot) = self.list.get_mut(partition as usize) {
            *slot = share;
        }
    }
}

impl Node {
    /// Takes up the partitions that the state has: after a restart nothing is known of loans.
    pub(super) fn resume_shares(&mut self) {
        let partitions = self.partitions();
        let frozen = self.frozen();
        let Some(exchange) = &self.exchange else {
            return;
        };
        for (number, _) in partitions {
            exchange.grants.gain(number, false);
        }
        for number in frozen {
            let (first, last) = partition_range(number, self.settings.partitions);
            self.frontier.freeze_range(first, last);
        }
    }

    /// The partitions of this node with the epochs they came with, frozen ones too.
    #[must_use]
    pub fn partitions(&self) -> Vec<(u32, u64)> {
        let shares = (0..).zip(&self.shares.list);
        shares
            .filter_map(|(number, share)| match share {
                Share::Foreign => None,
                Share::Owned { epoch, .. } | Share::Frozen { epoch } => Some((number, *epoch)),
            })
            .collect()
    }

    /// Those of them that are being handed over.
    #[must_use]
    pub fn frozen(&self) -> Vec<u32> {
        let shares = (0..).zip(&self.shares.list);
        shares
            .filter(|(_, share)| matches!(share, Share::Frozen { .. }))
            .map(|(number, _)| number)
            .collect()
    }

    /// Whether a partition has changed since its last snapshot.
    pub fn changed(&self, partition: u32) -> Result<bool, NodeError> {
        Ok(match self.shares.get(partition)? {
            Share::Owned { changed, .. } => changed,
            Share::Frozen { .. } => true,
            Share::Foreign => false,
        })
    }

    /// Takes a partition, from a whole snapshot and those of changes after it, or empty. It is safe
    /// when this returns. A snapshot that cannot be used leaves everything as it was.
    pub fn gain(&mut self, partition: u32, epoch: u64, from: &[PathBuf]) -> Result<(), NodeError> {
        let own = Share::Owned {
            epoch,
            changed: true,
        };
        let (first, last) = partition_range(partition, self.settings.partitions);
        if self.shares.get(partition)? != Share::Foreign {
            self.mark(partition, OWNED, epoch)?;
            self.shares.set(partition, own);
            self.frontier.thaw_range(first, last);
            self.read_anew();
            return Ok(());
        }
        let mut position = None;
        for (number, path) in from.iter().enumerate() {
            let summary = snapshot::check(path)?;
            if (summary.partition, summary.partitions) != (partition, self.settings.partitions) {
                return Err(NodeError::Settings(format!(
                    "the snapshot holds partition {} of {}, not {partition} of {}",
                    summary.partition, summary.partitions, self.settings.partitions
                )));
            }
            if summary.changes != (number > 0) {
                let text = "whole snapshots and those of changes are mixed up";
                return Err(NodeError::Settings(format!("{text} at {}", path.display())));
            }
            position = summary.position;
        }
        self.commit_open()?;
        self.mark(partition, LOADING, epoch)?;
        for path in from {
            self.load(path)?;
        }
        self.arrive_at(partition, position)?;
        self.commit_open()?;
        self.mark(partition, OWNED, epoch)?;
        self.shares.set(partition, own);
        // Without a snapshot nobody has had a partition of the first map.
        let quiet = epoch <= 1 && from.is_empty();
        if quiet {
            self.frontier.load_range(first, last, &*self.state)?;
        } else {
            let now = self.clock.now();
            self.frontier.take_over(first, last, now, &*self.state)?;
        }
        self.book.lock().read_anew(&*self.state)?;
        self.read_parameters()?;
        self.soft404s.clear();
        self.queue_drops = QueueDrops::open(&*self.state)?;
        self.redirected_seeds = RedirectedSeeds::open(&*self.state)?;
        self.aliases = Aliases::open(
            self.settings.alias.clone(),
            self.rules.grouping,
            &*self.state,
        )?;
        if let Some(exchange) = &mut self.exchange {
            exchange.grants.gain(partition, quiet);
        }
        self.read_anew();
        Ok(())
    }

    /// The stream is read anew, from the positions of now.
    fn read_anew(&self) {
        if let Some(exchange) = &self.exchange {
            exchange.carrier.next_generation();
        }
    }

    fn load(&mut self, from: &Path) -> Result<(), NodeError> {
        let mut writes = Writes::default();
        let mut keys: Vec<UrlKey> = Vec::new();
        // Rows of the queue's index must not reach the device before their blocks.
        let durable = self.settings.store.durable;
        for item in snapshot::read(from)? {
            match item? {
                Item::Row { space, key, value } => writes.put(space, key, value),
                Item::Removal { space, key } => writes.remove(space, key),
                Item::Key(key) => keys.push(key),
            }
            if writes.len() >= CHUNK {
                self.state.apply(std::mem::take(&mut writes), durable)?;
            }
            if keys.len() >= CHUNK {
                self.know(&std::mem::take(&mut keys))?;
            }
        }
        self.state.apply(writes, durable)?;
        self.know(&keys)
    }

    /// From where a partition's links are read.
    fn arrive_at(
        &mut self,
        partition: u32,
        position: Option<StreamPosition>,
    ) -> Result<(), NodeError> {
        let Some(position) = position else {
            return Ok(());
        };
        let mut writes = Writes::default();
        let value = position_value(position);
        writes.put(Space::Meta, position_key(partition), value);
        self.state.apply(writes, false)?;
        if let Some(exchange) = &mut self.exchange {
            exchange.set_position(partition, Some(position));
        }
        Ok(())
    }

    /// Keys of URLs that another node has seen.
    fn know(&mut self, keys: &[UrlKey]) -> Result<(), NodeError> {
        let candidates: Vec<Candidate<'_>> = keys
            .iter()
            .map(|key| Candidate { key: *key, url: "" })
            .collect();
        let mut fresh = Vec::new();
        self.seen
            .admit(&candidates, &*self.state, &mut self.open.writes, &mut fresh)?;
        // The keys go with a batch of their own, also where they add no write before its end.
        self.open.foreign = true;
        self.commit_open()
    }

    fn mark(&mut self, partition: u32, standing: u8, epoch: u64) -> Result<(), NodeError> {
        let mut value = vec![standing];
        value.extend_from_slice(&epoch.to_be_bytes());
        let mut writes = Writes::default();
        writes.put(Space::Meta, mark_key(partition), value);
        self.state.apply(writes, true)?;
        Ok(())
    }

    /// No new visits to hosts of these partitions; links to them go out like those to others.
    pub fn freeze(&mut self, partitions: &[u32]) -> Result<(), NodeError> {
        for number in partitions {
            let Share::Owned { epoch, .. } = self.shares.get(*number)? else {
                continue;
            };
            self.mark(*number, FROZEN, epoch)?;
            self.shares.set(*number, Share::Frozen { epoch });
            let (first, last) = partition_range(*number, self.settings.partitions);
            self.frontier.freeze_range(first, last);
        }
        Ok(())
    }

    /// Visits to a partition that have not ended.
    #[must_use]
    pub fn under_way(&self, partition: u32) -> usize {
        let (first, last) = partition_range(partition, self.settings.partitions);
        let leases = self.leases.values();
        leases
            .filter(|leased| (first..=last).contains(&leased.visit.link.url.host_key()))
            .count()
    }

    /// Writes all that is known of a partition to a file, as it is at a commit; or, unless `whole`
    /// is asked for, what changed since the last time, if that is less work.
    pub fn snapshot(
        &mut self,
        partition: u32,
        to: &Path,
        whole: bool,
    ) -> Result<Summary, NodeError> {
        let share = self.shares.get(partition)?;
        let (Share::Owned { epoch, .. } | Share::Frozen { epoch }) = share else {
            let text = format!("partition {partition} is not this node's");
            return Err(NodeError::Settings(text));
        };
        self.commit_open()?;
        let mut summary = Summary {
            partition,
            partitions: self.settings.partitions,
            epoch,
            position: self
                .exchange
                .as_ref()
                .and_then(|exchange| exchange.position(partition)),
            outbox: self
                .exchange
                .as_ref()
                .map_or(0, |exchange| exchange.outbox.view().newest),
            ..Summary::default()
        };
        let changes = self.shares.changes.clone();
        let changed = changes.as_ref().filter(|_| !whole);
        if let Some(body) = changed.and_then(|changes| changes.take(partition)) {
            summary.changes = true;
            snapshot::write(to, &mut summary, &body)?;
            if let Some(changes) = changes {
                changes.went_on(partition, summary.bytes);
            }
        } else {
            let body = snapshot::whole(to, &mut summary, &*self.state, &*self.seen)?;
            snapshot::write(to, &mut summary, &body)?;
            // Other kinds do not have all their keys in the store's batches.
            if let (Some(changes), SeenKind::Exact) = (changes, self.seen.kind()) {
                changes.follow(partition, summary.bytes);
            }
        }
        if let Share::Owned { epoch, .. } = share {
            let share = Share::Owned {
                epoch,
                changed: false,
            };
            self.shares.set(partition, share);
        }
        Ok(summary)
    }

    /// Gives a frozen partition up: its rows are removed.
    pub fn lose(&mut self, partition: u32) -> Result<(), NodeError> {
        let Share::Frozen { epoch } = self.shares.get(partition)? else {
            let text = format!("partition {partition} is not frozen");
            return Err(NodeError::Settings(text));
        };
        self.commit_open()?;
        let (first, last) = partition_range(partition, self.settings.partitions);
        if self.frontier.drop_range(first, last, &*self.state)? > 0 {
            let text = format!("partition {partition} has visits under way");
            return Err(NodeError::Settings(text));
        }
        self.shares.unfollow(partition);
        // From here on a crash leaves rows that the next start removes.
        self.mark(partition, LOADING, epoch)?;
        self.shares.set(partition, Share::Foreign);
        remove_rows(partition, self.settings.partitions, &*self.state)?;
        self.frontier.thaw_range(first, last);
        self.book.lock().read_anew(&*self.state)?;
        self.read_parameters()?;
        self.soft404s.clear();
        self.queue_drops = QueueDrops::open(&*self.state)?;
        self.redirected_seeds = RedirectedSeeds::open(&*self.state)?;
        self.aliases = Aliases::open(
            self.settings.alias.clone(),
            self.rules.grouping,
            &*self.state,
        )?;
        if let Some(exchange) = &mut self.exchange {
            exchange.set_position(partition, None);
            exchange.grants.lose(partition);
        }
        self.read_anew();
        Ok(())
    }
}

fn mark_key(partition: u32) -> Vec<u8> {
    [PREFIX, &partition.to_be_bytes()].concat()
}

/// Removes what the store has of a partition, its mark last.
pub(super) fn remove_rows(
    partition: u32,
    partitions: u32,
    state: &dyn State,
) -> Result<(), StateError> {
    for (space, from, to) in snapshot::ranges(partition, partitions) {
        loop {
            let mut writes = Writes::default();
            state.scan(space, &from, &to, &mut |key, _| {
                writes.list.push(Write::Remove {
                    space,
                    key: key.to_vec(),
                });
                writes.len() < CHUNK
            })?;
            if writes.is_empty() {
                break;
            }
            state.apply(writes, false)?;
        }
    }
    let mut writes = Writes::default();
    writes.remove(Space::Meta, position_key(partition));
    writes.remove(Space::Meta, mark_key(partition));
    state.apply(writes, true)
}
