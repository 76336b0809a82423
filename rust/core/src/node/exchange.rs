//! What crosses nodes: foreign links into the outbox (`crate::exchange`), messages of others through
//! the door into `seen`. `src/gossamer/cluster/exchange.py` carries them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::settings::Cluster;
use super::{Node, NodeError};
use crate::canonical::Grouping;
use crate::clock::thread_cpu;
use crate::exchange::{Carrier, Grants, Incoming, Outbox, OutboxSettings, Unreadable, decode};
use crate::links::Link;
use crate::store::state::{Reads, Space, State, StateError, Writes};

/// Positions of partitions in the stream of links are kept under this prefix in the space `meta`.
const POSITION: &[u8] = b"position/";

/// How soon a node looks at what others sent.
pub(super) const LOOK: Duration = Duration::from_millis(10);

/// What happens to links whose partition belongs to another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Exchange,
    Discard,
    Local,
}

/// The identity of a stream and a sequence number in it.
pub type StreamPosition = (u64, u64);

/// A node's part in a cluster.
#[derive(Debug)]
pub(super) struct Exchange {
    pub carrier: Arc<Carrier>,
    pub grants: Arc<Grants>,
    pub outbox: Outbox,
    mode: Mode,
    /// Bytes of unsent rows with which no visits begin.
    backlog: u64,
    /// The last message taken in of each partition.
    positions: HashMap<u32, StreamPosition>,
    /// The same, as far as they are safe.
    safe: HashMap<u32, StreamPosition>,
    pub received: u64,
    pub discarded: u64,
    /// Messages that could not be read.
    pub damaged: u64,
    /// CPU that packing, unpacking and sorting out what is foreign took.
    pub spent: Duration,
}

impl Exchange {
    pub fn open(
        settings: &Cluster,
        partitions: u32,
        grouping: Grouping,
        grants: Arc<Grants>,
        reads: &dyn Reads,
    ) -> Result<Exchange, NodeError> {
        let mode = match settings.mode.as_str() {
            "exchange" => Mode::Exchange,
            "discard" => Mode::Discard,
            "local" => Mode::Local,
            other => {
                let text = format!("cluster.mode: cannot use {other}");
                return Err(NodeError::Settings(text));
            }
        };
        let outbox = OutboxSettings {
            partitions,
            grouping,
            links: settings.batch_links,
            wait: settings.batch_wait,
            keep: settings.keep,
            recent: settings.cache,
        };
        let positions = stored_positions(reads)?;
        Ok(Exchange {
            carrier: Arc::new(Carrier::default()),
            grants,
            outbox: Outbox::open(outbox, reads)?,
            mode,
            backlog: settings.backlog,
            safe: positions.clone(),
            positions,
            received: 0,
            discarded: 0,
            damaged: 0,
            spent: Duration::ZERO,
        })
    }

    pub fn set_settings(&mut self, settings: &Cluster, gap: u64) {
        let (links, wait, keep) = (settings.batch_links, settings.batch_wait, settings.keep);
        self.outbox.set_settings(links, wait, keep);
        self.backlog = settings.backlog;
        self.grants.set_gap(gap);
    }

    /// Whether so much waits to be sent that new visits would only add to it.
    pub fn is_behind(&self) -> bool {
        self.outbox.view().bytes > self.backlog
    }

    pub fn committed(&mut self, mark: u64, positions: Vec<(u32, StreamPosition)>) {
        self.outbox.applied(mark);
        self.safe.extend(positions);
    }

    pub fn position(&self, partition: u32) -> Option<StreamPosition> {
        self.positions.get(&partition).copied()
    }

    pub fn safe_positions(&self) -> &HashMap<u32, StreamPosition> {
        &self.safe
    }

    pub fn set_position(&mut self, partition: u32, position: Option<StreamPosition>) {
        for positions in [&mut self.positions, &mut self.safe] {
            match position {
                Some(position) => positions.insert(partition, position),
                None => positions.remove(&partition),
            };
        }
    }
}

impl Node {
    /// Keeps what belongs to this node; the rest goes where the mode says.
    pub(super) fn split_by_owner(&mut self, mut links: Vec<Link>) -> Vec<Link> {
        let Some(exchange) = &mut self.exchange else {
            return links;
        };
        if exchange.mode == Mode::Local {
            return links;
        }
        let begun = thread_cpu();
        for link in links.extract_if(.., |link| !self.shares.owns(link.url.host_key())) {
            if exchange.mode == Mode::Discard {
                exchange.discarded += 1;
            } else {
                exchange.outbox.add(link);
                self.open.foreign = true;
            }
        }
        exchange.spent += thread_cpu().saturating_sub(begun);
        links
    }

    /// Answers of the engine, messages of other nodes, and messages for them.
    pub(super) fn exchange_round(&mut self, has_room: bool) -> Result<(), NodeError> {
        let Some(exchange) = &mut self.exchange else {
            return Ok(());
        };
        let begun = thread_cpu();
        let carrier = Arc::clone(&exchange.carrier);
        let mut again = Vec::new();
        for (token, delivered) in carrier.take_answers() {
            again.extend(exchange.outbox.answered(token, delivered));
        }
        let now = self.clock.now();
        exchange
            .outbox
            .prune(now, &*self.state, &mut self.open.writes)?;
        again.extend(exchange.outbox.pack(now, &*self.state)?);
        carrier.give_outgoing(again, exchange.outbox.view());
        exchange.spent += thread_cpu().saturating_sub(begun);
        if carrier.fence.passed() && self.pool.in_flight() > 0 {
            self.pool.recall();
        }
        while has_room
            && self.open.pages < self.settings.store.batch_pages
            && let Some(message) = carrier.take_incoming()
        {
            self.take_message(&message)?;
        }
        Ok(())
    }

    fn take_message(&mut self, message: &Incoming) -> Result<(), NodeError> {
        let partition = message.partition;
        let Some(exchange) = &mut self.exchange else {
            return Ok(());
        };
        // Of a partition that is not ours (any more) the owner reads it.
        if !self.shares.is_owned(partition) {
            return Ok(());
        }
        let place = (message.stream, message.sequence);
        let before = exchange.positions.get(&partition);
        if before.is_some_and(|(stream, sequence)| *stream == place.0 && *sequence >= place.1) {
            return Ok(());
        }
        let begun = thread_cpu();
        let links = decode(&message.payload, self.rules.grouping);
        exchange.spent += thread_cpu().saturating_sub(begun);
        if let Err(other @ Unreadable::Version(_)) = &links {
            // A node of the right version can read it: it must stay in the stream.
            return Err(NodeError::Version(other.to_string()));
        }
        exchange.received += 1;
        exchange.positions.insert(partition, place);
        self.open.positions.push((partition, place));
        self.open
            .writes
            .put(Space::Meta, position_key(partition), position_value(place));
        self.open.begin(self.clock.now());
        self.open.pages += 1;
        self.shares.touch(partition);
        let Ok(links) = links else {
            // Nothing of it can be used, and it would be as damaged the next time.
            if let Some(exchange) = &mut self.exchange {
                exchange.damaged += 1;
            }
            return Ok(());
        };
        // Who found a link has added the folders above it; nobody has for a seed.
        let ascends = self.settings.frontier.ascend && links.iter().any(|link| link.seed);
        if !ascends {
            return self.admit(links);
        }
        let policies = self.pool.policies();
        let (seeds, others) = links.into_iter().partition(|link| link.seed);
        let seeds = self.with_folders(seeds, &policies.scope);
        self.admit(seeds)?;
        self.admit(others)
    }

    /// Sends links again that were found since a time. Gives the number of rows.
    pub fn resend(&mut self, since: u64) -> Result<usize, NodeError> {
        self.commit_open()?;
        let Some(exchange) = &mut self.exchange else {
            return Ok(0);
        };
        exchange.carrier.clear_outgoing();
        let mut writes = Writes::default();
        let rows = exchange.outbox.resend(since, &*self.state, &mut writes)?;
        self.state.apply(writes, true)?;
        Ok(rows)
    }

    /// How far each partition has read the stream of links, as far as it is safe.
    #[must_use]
    pub fn positions(&self) -> HashMap<u32, StreamPosition> {
        self.exchange
            .as_ref()
            .map(|exchange| exchange.safe_positions().clone())
            .unwrap_or_default()
    }

    /// What the carrier of messages needs; none in a standalone crawl.
    #[must_use]
    pub fn carrier(&self) -> Option<(Arc<Carrier>, Arc<Grants>)> {
        let exchange = self.exchange.as_ref()?;
        Some((Arc::clone(&exchange.carrier), Arc::clone(&exchange.grants)))
    }
}

pub(super) fn position_key(partition: u32) -> Vec<u8> {
    [POSITION, &partition.to_be_bytes()].concat()
}

pub(super) fn position_value((stream, sequence): StreamPosition) -> Vec<u8> {
    [stream.to_be_bytes(), sequence.to_be_bytes()].concat()
}

fn stored_positions(reads: &dyn Reads) -> Result<HashMap<u32, StreamPosition>, StateError> {
    let mut positions = HashMap::new();
    let mut bad = false;
    reads.scan(Space::Meta, POSITION, b"position0", &mut |key, value| {
        let partition = key
            .get(POSITION.len()..)
            .and_then(|tail| tail.try_into().ok());
        let halves = value.split_at_checked(8).and_then(|(stream, sequence)| {
            Some((stream.try_into().ok()?, sequence.try_into().ok()?))
        });
        match (partition, halves) {
            (Some(partition), Some((stream, sequence))) => {
                let place = (u64::from_be_bytes(stream), u64::from_be_bytes(sequence));
                positions.insert(u32::from_be_bytes(partition), place);
            }
            _ => bad = true,
        }
        !bad
    })?;
    if bad {
        return Err(StateError::Format(
            "a position in the stream of links is damaged".to_owned(),
        ));
    }
    Ok(positions)
}
