//! The outbox: links for other nodes, from the batch of their page to the acknowledgement.
//!
//! A batch adds one row with its links to the store, under the time as its mark. Rows are loaded in
//! order, their links collected per partition and packed when enough wait or enough time has
//! passed. A row is done when all its links are acknowledged; rows up to the first that is not are
//! behind the line `acked`, which goes to the store now and then: what is sent twice is harmless.
//!
//! Queues: `fresh` (filled by batches, emptied by loading, at most [`FRESH`] links, when full rows are
//! read back from the store), `buffers` (filled by loading, emptied into messages, at most
//! [`BUFFERED`] links, when full nothing is loaded), `sent` (messages without an answer, at most
//! [`UNANSWERED`], when full none is packed).

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::carrier::Outgoing;
use super::message::{decode, encode};
use super::recent::Recent;
use crate::canonical::{Grouping, partition};
use crate::frontier::Micros;
use crate::links::Link;
use crate::store::state::{Reads, Space, StateError, Writes};

pub(super) const FRESH: usize = 100_000;
const BUFFERED: usize = 50_000;
const UNANSWERED: usize = 1_024;
/// Bytes of a message before it is packed; servers take a million by default.
const MESSAGE_BYTES: usize = 512 << 10;
/// Rows removed with one batch, at most.
const PRUNED: usize = 1_000;
const PRUNE_EVERY: Micros = 10_000_000;
/// How often buffers are looked through for links that have waited long enough.
const LOOK_EVERY: Micros = 5_000;

/// Where the store keeps the line behind which all is acknowledged.
const ACKED: &[u8] = b"outbox.acked";
/// And the longest time between a row's mark and its acknowledgement: the engine dates a message by
/// when it came, so whoever asks for what came since a time means rows that are older by this.
const LATEST: &[u8] = b"outbox.latest";

/// When links are sent and how long they are kept.
#[derive(Clone, Debug)]
pub struct OutboxSettings {
    pub partitions: u32,
    pub grouping: Grouping,
    /// Links that make a message at once.
    pub links: usize,
    /// How long a link waits for company.
    pub wait: Micros,
    /// How long rows are kept after they were acknowledged.
    pub keep: Micros,
    /// Entries of the table of links acknowledged lately.
    pub recent: usize,
}

/// How far the outbox is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutboxView {
    /// Links in rows that are not acknowledged as a whole.
    pub waiting: u64,
    /// Bytes of these rows.
    pub bytes: u64,
    /// The mark of the newest row.
    pub newest: u64,
    /// All rows up to this mark are acknowledged.
    pub acked: u64,
    pub messages: u64,
    pub links: u64,
    pub message_bytes: u64,
    /// Links asked of the table of recent ones, and found there.
    pub asked: u64,
    pub hits: u64,
}

#[derive(Debug)]
struct Buffer {
    links: Vec<(u64, Link)>,
    since: Micros,
}

/// A message without an answer.
#[derive(Debug)]
struct Sent {
    partition: u32,
    payload: Vec<u8>,
    /// The row of each link and its hash.
    links: Vec<(u64, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct Size {
    mark: u64,
    links: u32,
    bytes: u32,
}

/// Links for other nodes. One thread owns it.
#[derive(Debug)]
pub struct Outbox {
    settings: OutboxSettings,
    open: Vec<Link>,
    fresh: VecDeque<(u64, Vec<Link>)>,
    fresh_links: usize,
    /// Rows up to this mark are not in `fresh`.
    stored: u64,
    newest: u64,
    /// Rows up to this mark are in the store.
    applied: u64,
    /// Rows up to this mark have been loaded.
    loaded: u64,
    acked: u64,
    acked_stored: u64,
    /// The first row that was done since the line went to the store.
    done: Option<u64>,
    latest: Micros,
    /// Rows loaded and not done: links without an acknowledgement.
    rows: BTreeMap<u64, u32>,
    /// All rows that are not behind `acked`.
    sizes: VecDeque<Size>,
    buffers: HashMap<u32, Buffer>,
    buffered: usize,
    looked: Micros,
    sent: HashMap<u64, Sent>,
    next_token: u64,
    recent: Recent,
    pruned: Micros,
    view: OutboxView,
}

impl Outbox {
    /// Takes up what an earlier process left.
    pub fn open(settings: OutboxSettings, reads: &dyn Reads) -> Result<Outbox, StateError> {
        let number = |key: &[u8]| match reads.get(Space::Meta, key)? {
            Some(bytes) => bytes
                .try_into()
                .map(u64::from_be_bytes)
                .map_err(|_| damaged()),
            None => Ok(0),
        };
        let (acked, latest) = (number(ACKED)?, number(LATEST)?);
        let mut outbox = Outbox {
            recent: Recent::new(settings.recent.max(1)),
            settings,
            open: Vec::new(),
            fresh: VecDeque::new(),
            fresh_links: 0,
            stored: acked,
            newest: acked,
            applied: acked,
            loaded: acked,
            acked,
            acked_stored: acked,
            done: None,
            latest,
            rows: BTreeMap::new(),
            sizes: VecDeque::new(),
            buffers: HashMap::new(),
            buffered: 0,
            looked: 0,
            sent: HashMap::new(),
            next_token: 1,
            pruned: 0,
            view: OutboxView::default(),
        };
        outbox.rewind(acked, reads)?;
        Ok(outbox)
    }

    /// Changes what may change while running: how many links make a message, how long they wait,
    /// how long they are kept.
    pub fn set_settings(&mut self, links: usize, wait: Micros, keep: Micros) {
        self.settings.links = links;
        self.settings.wait = wait;
        self.settings.keep = keep;
    }

    /// Adds a link to the open batch.
    pub fn add(&mut self, link: Link) {
        self.open.push(link);
    }

    /// Ends the batch: its links become a row. Gives the mark of the newest row.
    pub fn seal(&mut self, now: Micros, writes: &mut Writes) -> u64 {
        if self.acked != self.acked_stored {
            self.acked_stored = self.acked;
            writes.put(Space::Meta, ACKED, self.acked.to_be_bytes());
            let late = self.done.take().map_or(0, |row| now.saturating_sub(row));
            if late > self.latest {
                self.latest = late;
                writes.put(Space::Meta, LATEST, late.to_be_bytes());
            }
        }
        let links = std::mem::take(&mut self.open);
        if links.is_empty() {
            return self.newest;
        }
        let mark = now.max(self.newest + 1);
        let count = u32::try_from(links.len()).unwrap_or(u32::MAX);
        let mut value = count.to_be_bytes().to_vec();
        value.extend(encode(links.iter()));
        self.count(Size {
            mark,
            links: count,
            bytes: u32::try_from(value.len()).unwrap_or(u32::MAX),
        });
        writes.put(Space::Outbox, mark.to_be_bytes(), value);
        self.newest = mark;
        if self.stored < self.newest && self.fresh_links + links.len() > FRESH {
            self.fresh.clear();
            self.fresh_links = 0;
            self.stored = mark;
        } else {
            self.fresh_links += links.len();
            self.fresh.push_back((mark, links));
        }
        mark
    }

    /// Rows up to `mark` are in the store.
    pub fn applied(&mut self, mark: u64) {
        self.applied = self.applied.max(mark);
    }

    /// Loads rows and packs messages that are due.
    pub fn pack(&mut self, now: Micros, reads: &dyn Reads) -> Result<Vec<Outgoing>, StateError> {
        self.load(now, reads)?;
        let mut out = Vec::new();
        let old = now.saturating_sub(self.settings.wait);
        if now.saturating_sub(self.looked) < LOOK_EVERY {
            return Ok(out);
        }
        self.looked = now;
        let most = self.settings.links.max(1);
        let due: Vec<u32> = self
            .buffers
            .iter()
            .filter(|(_, buffer)| buffer.links.len() >= most || buffer.since <= old)
            .map(|(partition, _)| *partition)
            .collect();
        for partition in due {
            while self.sent.len() < UNANSWERED
                && let Some(buffer) = self.buffers.get_mut(&partition)
            {
                let count = fitting(&buffer.links, most);
                let links: Vec<(u64, Link)> = buffer.links.drain(..count).collect();
                if buffer.links.is_empty() {
                    self.buffers.remove(&partition);
                }
                self.buffered -= links.len();
                out.push(self.message(partition, &links));
            }
        }
        Ok(out)
    }

    fn message(&mut self, partition: u32, links: &[(u64, Link)]) -> Outgoing {
        let payload = encode(links.iter().map(|(_, link)| link));
        let token = self.next_token;
        self.next_token += 1;
        self.view.messages += 1;
        self.view.links += links.len() as u64;
        self.view.message_bytes += payload.len() as u64;
        let sent = Sent {
            partition,
            payload: payload.clone(),
            links: links.iter().map(|(row, link)| (*row, hash(link))).collect(),
        };
        let outgoing = Outgoing {
            token,
            partition,
            links: links.len(),
            payload,
        };
        self.sent.insert(token, sent);
        outgoing
    }

    /// The engine has a message; or, with `delivered` false, it may not, and it is given again.
    pub fn answered(&mut self, token: u64, delivered: bool) -> Option<Outgoing> {
        if !delivered {
            let sent = self.sent.get(&token)?;
            return Some(Outgoing {
                token,
                partition: sent.partition,
                links: sent.links.len(),
                payload: sent.payload.clone(),
            });
        }
        let sent = self.sent.remove(&token)?;
        for (row, hash) in sent.links {
            self.recent.add(hash);
            if let Some(left) = self.rows.get_mut(&row) {
                *left = left.saturating_sub(1);
            }
        }
        self.settle();
        None
    }

    /// Sends everything again that may have been sent since `since`. Gives the number of rows.
    pub fn resend(
        &mut self,
        since: u64,
        reads: &dyn Reads,
        writes: &mut Writes,
    ) -> Result<usize, StateError> {
        self.recent.clear();
        let since = since.saturating_sub(self.latest);
        self.rewind(since.saturating_sub(1).min(self.acked), reads)?;
        // With the next batch, which the caller makes durable: a restart must not forget it.
        self.acked_stored = self.acked;
        writes.put(Space::Meta, ACKED, self.acked.to_be_bytes());
        Ok(self.sizes.len())
    }

    /// Begins anew behind a mark. Every batch must be applied.
    fn rewind(&mut self, mark: u64, reads: &dyn Reads) -> Result<(), StateError> {
        self.buffers.clear();
        self.buffered = 0;
        self.rows.clear();
        self.sent.clear();
        self.fresh.clear();
        self.fresh_links = 0;
        self.sizes.clear();
        (self.view.waiting, self.view.bytes) = (0, 0);
        (self.acked, self.loaded) = (mark, mark);
        let mut bad = false;
        let mut sizes = Vec::new();
        let from = (mark + 1).to_be_bytes();
        reads.scan(Space::Outbox, &from, &[], &mut |key, value| {
            let mark = key.try_into().ok().map(u64::from_be_bytes);
            let links = value.first_chunk::<4>().map(|n| u32::from_be_bytes(*n));
            let (Some(mark), Some(links)) = (mark, links) else {
                bad = true;
                return false;
            };
            let bytes = u32::try_from(value.len()).unwrap_or(u32::MAX);
            sizes.push(Size { mark, links, bytes });
            true
        })?;
        if bad {
            return Err(damaged());
        }
        for size in sizes {
            self.newest = self.newest.max(size.mark);
            self.count(size);
        }
        self.stored = self.newest;
        self.applied = self.newest;
        Ok(())
    }

    /// Removes rows that nobody will ask for.
    pub fn prune(
        &mut self,
        now: Micros,
        reads: &dyn Reads,
        writes: &mut Writes,
    ) -> Result<(), StateError> {
        if now.saturating_sub(self.pruned) < PRUNE_EVERY {
            return Ok(());
        }
        self.pruned = now;
        let end = self
            .acked_stored
            .min(now.saturating_sub(self.settings.keep));
        let mut count = 0;
        reads.scan(Space::Outbox, &[], &end.to_be_bytes(), &mut |key, _| {
            writes.remove(Space::Outbox, key);
            count += 1;
            count < PRUNED
        })
    }

    /// How far it is.
    #[must_use]
    pub fn view(&self) -> OutboxView {
        OutboxView {
            waiting: self.view.waiting + self.open.len() as u64,
            newest: self.newest,
            acked: self.acked,
            asked: self.recent.asked,
            hits: self.recent.hits,
            ..self.view
        }
    }

    fn count(&mut self, size: Size) {
        self.view.waiting += u64::from(size.links);
        self.view.bytes += u64::from(size.bytes);
        self.sizes.push_back(size);
    }

    fn load(&mut self, now: Micros, reads: &dyn Reads) -> Result<(), StateError> {
        while self.buffered < BUFFERED && self.loaded < self.applied {
            if self.loaded < self.stored {
                let Some((mark, links)) = self.next_stored(reads)? else {
                    self.loaded = self.stored.min(self.applied);
                    continue;
                };
                self.take_row(now, mark, links);
            } else if self
                .fresh
                .front()
                .is_some_and(|(mark, _)| *mark <= self.applied)
                && let Some((mark, links)) = self.fresh.pop_front()
            {
                self.fresh_links -= links.len();
                self.take_row(now, mark, links);
            } else {
                self.loaded = self.applied;
            }
        }
        self.settle();
        Ok(())
    }

    fn next_stored(&self, reads: &dyn Reads) -> Result<Option<(u64, Vec<Link>)>, StateError> {
        let mut row = None;
        let last = self.stored.min(self.applied);
        let (from, to) = ((self.loaded + 1).to_be_bytes(), (last + 1).to_be_bytes());
        reads.scan(Space::Outbox, &from, &to, &mut |key, value| {
            row = Some((key.to_vec(), value.to_vec()));
            false
        })?;
        let Some((key, value)) = row else {
            return Ok(None);
        };
        let mark = u64::from_be_bytes(key.try_into().map_err(|_| damaged())?);
        let packed = value.get(4..).ok_or_else(damaged)?;
        let links = decode(packed, self.settings.grouping).map_err(|_| damaged())?;
        Ok(Some((mark, links)))
    }

    fn take_row(&mut self, now: Micros, mark: u64, links: Vec<Link>) {
        let mut left = 0;
        for link in links {
            if !link.seed && self.recent.has(hash(&link)) {
                continue;
            }
            left += 1;
            self.buffered += 1;
            let to = partition(link.url.host_key(), self.settings.partitions);
            let buffer = self.buffers.entry(to).or_insert_with(|| Buffer {
                links: Vec::new(),
                since: now,
            });
            buffer.links.push((mark, link));
        }
        self.rows.insert(mark, left);
        self.loaded = mark;
    }

    fn settle(&mut self) {
        while let Some(row) = self.rows.first_entry()
            && *row.get() == 0
        {
            self.acked = *row.key();
            self.done.get_or_insert(self.acked);
            row.remove();
        }
        if self.rows.is_empty() {
            self.acked = self.acked.max(self.loaded);
        }
        while let Some(size) = self.sizes.front().copied()
            && size.mark <= self.acked
        {
            self.sizes.pop_front();
            self.view.waiting = self.view.waiting.saturating_sub(u64::from(size.links));
            self.view.bytes = self.view.bytes.saturating_sub(u64::from(size.bytes));
        }
    }
}

/// How many links make one message: as many as are wanted, as far as the engine takes that much.
fn fitting(links: &[(u64, Link)], most: usize) -> usize {
    let mut bytes = 0;
    let fits = links.iter().take(most).take_while(|(_, link)| {
        let anchor = link.anchor.as_ref().map_or(0, |anchor| anchor.len());
        bytes += link.url.as_str().len() + link.from.len() + anchor + 24;
        bytes <= MESSAGE_BYTES
    });
    fits.count().max(1)
}

fn hash(link: &Link) -> u64 {
    let key = link.url.key();
    key.last_chunk::<8>()
        .map_or(0, |half| u64::from_be_bytes(*half))
}

fn damaged() -> StateError {
    StateError::Format("a row of links to other nodes is damaged".to_owned())
}
