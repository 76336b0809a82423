//! URLs that are set aside: their pattern is doubted and has had its share of visits. They wait for somebody to
//! take them up again, and do not keep a crawl from ending.
//!
//! A row of the space `meta` is `aside/` ++ host key ++ pattern ++ URL; it goes with the host's partition.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Node, NodeError};
use crate::canonical::Url;
use crate::frontier::Refusal;
use crate::links::Link;
use crate::links::patterns::{CountKey, DoubtedRow, Taking};
use crate::outcome::Outcome;
use crate::parse::LinkKind;
use crate::store::state::{Reads, Space};

/// Where the rows are in the space `meta`.
pub(super) const PREFIX: &[u8] = b"aside/";

/// URLs taken up in one round: a few milliseconds.
const SLICE: usize = 1_000;

/// Writes of a batch with which it is full.
const WRITES: usize = 20_000;

/// What a command to take up has begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TakenUp {
    /// Patterns that are doubted no more.
    pub patterns: u64,
    /// URLs of theirs that are queued again, now or in a moment.
    pub urls: u64,
}

impl Node {
    /// A link waits until it is taken up.
    pub(super) fn put_aside(&mut self, link: &Link, key: CountKey) -> Result<(), NodeError> {
        let now = self.clock.now();
        self.open.begin(now);
        let mut value = link.depth.to_be_bytes().to_vec();
        value.extend_from_slice(link.from.as_bytes());
        let row = row_key(key, link.url.as_str());
        self.open.writes.put(Space::Meta, row, value);
        let mut book = self.book.lock();
        book.set_aside(key, 1, &*self.state)?;
        let reason = book
            .pattern_of(key)
            .map(|pattern| format!("URLs like {pattern}"));
        drop(book);
        // In the log like all that is not fetched, so that nothing is missing in silence.
        let refusal = Refusal {
            link: link.clone(),
            tries: 0,
            outcome: Outcome::SetAside,
        };
        self.note_outcome(&refusal, reason.as_deref(), now);
        Ok(())
    }

    /// A queued URL at its turn, whose pattern has had its share.
    pub(super) fn aside_refused(&mut self, refusal: &Refusal) -> Result<(), NodeError> {
        let placed = self
            .book
            .lock()
            .place(&refusal.link, false, self.evidence(), &*self.state)?;
        match placed.1 {
            Some(key) => self.put_aside(&refusal.link, key),
            // The verdict changed in this moment.
            None => {
                let link = Link {
                    score: None,
                    ..refusal.link.clone()
                };
                self.queue(vec![link])
            }
        }
    }

    /// Takes up what is set aside of a host, of one pattern or of all: it is visited like any other URL, and its patterns
    /// are not doubted any more, whatever they bring; `?NAME` is a parameter that was found to change nothing. That it will be is safe when this returns; the URLs come back to the
    /// queue a slice a round.
    pub fn take_up(&mut self, host: &str, pattern: Option<&str>) -> Result<TakenUp, NodeError> {
        let Some(url) = self.host_url(host) else {
            return Ok(TakenUp::default());
        };
        if let Some(name) = pattern.and_then(|pattern| pattern.strip_prefix('?')) {
            let kept = self.keep_parameter(host, name)?;
            self.checkpoint()?;
            return Ok(kept.map_or_else(TakenUp::default, |urls| TakenUp { patterns: 1, urls }));
        }
        let host = url.host_key();
        let wanted = pattern.map(crate::links::patterns::twins);
        let mut taken = TakenUp::default();
        let mut book = self.book.lock();
        let mut keys = book.doubted_of(host);
        keys.retain(|key| wanted.is_none_or(|wanted| wanted.contains(&key.1)));
        for key in &keys {
            taken.patterns += 1;
            taken.urls += book.trust(*key, &*self.state)?.unwrap_or(0);
        }
        drop(book);
        if !keys.is_empty() {
            // What waits at the end of the queue has its usual place.
            self.frontier.rerank_host(host);
            self.shares.touch_host(host);
            self.checkpoint()?;
        }
        Ok(taken)
    }

    /// Queues a slice of what is taken up.
    pub(super) fn take_up_round(&mut self, has_room: bool) -> Result<(), NodeError> {
        if !has_room || self.stopping || self.open.writes.len() >= WRITES {
            return Ok(());
        }
        let next = self.book.lock().next_to_take_up();
        let Some((key, at)) = next else {
            return Ok(());
        };
        let from = if at.after.is_empty() {
            row_key(key, "")
        } else {
            [at.after.as_slice(), b"\0"].concat()
        };
        let slice = self.aside_rows(&from, &row_end(key), SLICE)?;
        let at = Taking {
            has_found: at.has_found || !slice.is_empty(),
            after: slice.last().map(|row| row.0.clone()).unwrap_or_default(),
            ..at
        };
        let is_whole = slice.len() < SLICE;
        let count = slice.len() as i64;
        let mut links = Vec::with_capacity(slice.len());
        self.open.begin(self.clock.now());
        for (row, _, link) in slice {
            self.open.writes.remove(Space::Meta, row);
            links.push(link);
        }
        let batch = self.committer.next_number();
        let mut book = self.book.lock();
        book.set_aside(key, -count, &*self.state)?;
        book.took_up(key, at, is_whole, batch, &*self.state)?;
        drop(book);
        self.shares.touch_host(key.0);
        self.queue(links)
    }

    /// Whether URLs that were set aside are on their way back to the queue.
    pub(super) fn takes_up(&self) -> bool {
        self.book.lock().takes_up()
    }

    fn aside_rows(
        &self,
        from: &[u8],
        to: &[u8],
        most: usize,
    ) -> Result<Vec<(Vec<u8>, CountKey, Link)>, NodeError> {
        let mut rows = Vec::new();
        self.state.scan(Space::Meta, from, to, &mut |row, value| {
            rows.extend(self.read_row(row, value));
            rows.len() < most
        })?;
        Ok(rows)
    }

    fn read_row(&self, row: &[u8], value: &[u8]) -> Option<(Vec<u8>, CountKey, Link)> {
        let number = |at: usize| {
            let bytes = row.get(PREFIX.len() + at..PREFIX.len() + at + 8)?;
            Some(u64::from_be_bytes(bytes.try_into().ok()?))
        };
        let key = (number(0)?, number(8)?);
        let url = std::str::from_utf8(row.get(PREFIX.len() + 16..)?).ok()?;
        let url = Url::from_canonical(url.to_owned(), self.rules.grouping).ok()?;
        let (depth, from) = value.split_at_checked(2)?;
        let link = Link {
            depth: u16::from_be_bytes(depth.try_into().ok()?),
            ..Link::new(url, Arc::from(&*String::from_utf8_lossy(from)), LinkKind::A)
        };
        Some((row.to_vec(), key, link))
    }

    /// The patterns that are doubted, of one host or of all, with their evidence and how many of their URLs are set
    /// aside; those with most of them first.
    pub fn doubted_patterns(&self, host: Option<&str>, most: usize) -> Result<Value, NodeError> {
        let url = host.map(|host| self.host_url(host));
        if matches!(url, Some(None)) {
            return Ok(json!({"patterns": [], "total": 0}));
        }
        let key = url.flatten().map(|url| url.host_key());
        let (rows, total) = self.book.lock().doubted_rows(key, most, &*self.state)?;
        let mut list = Vec::with_capacity(rows.len());
        for DoubtedRow {
            key,
            row,
            is_taken_up,
        } in rows
        {
            let view = self.frontier.explain(key.0, &*self.state)?;
            let host = view.map(|view| view.record.name.to_string());
            let has_visits = row.evidence.visits > 0;
            list.push(json!({
                "host": host,
                "pattern": row.pattern,
                "reason": row.why(),
                "evidence": has_visits.then(|| row.evidence.words()),
                "visits": row.evidence.visits,
                "set_aside": row.set_aside,
                "taken_up": is_taken_up,
            }));
        }
        Ok(json!({"patterns": list, "total": total}))
    }
}

/// The end of a pattern's rows.
fn row_end(key: CountKey) -> Vec<u8> {
    // No URL has this byte.
    [row_key(key, "").as_slice(), b"\xff"].concat()
}

pub(super) fn row_key((host, pattern): CountKey, url: &str) -> Vec<u8> {
    [
        PREFIX,
        &host.to_be_bytes(),
        &pattern.to_be_bytes(),
        url.as_bytes(),
    ]
    .concat()
}
