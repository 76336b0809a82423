//! The carrier's side of the exchange: queues between the node's thread and whoever talks to the
//! engine. Quick calls, safe from any thread.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Fence, OutboxView};

/// Messages that wait to be taken in; more are refused until there is room.
const INBOX: usize = 512;
/// And their bytes.
const INBOX_BYTES: usize = 64 << 20;

/// A message for the owner of a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    pub token: u64,
    pub partition: u32,
    pub links: usize,
    pub payload: Vec<u8>,
}

/// A message from the stream, with its place there.
#[derive(Clone, Debug)]
pub struct Incoming {
    pub partition: u32,
    pub stream: u64,
    pub sequence: u64,
    pub payload: Vec<u8>,
}

#[derive(Debug, Default)]
struct Queues {
    /// Filled by `receive`, emptied by the node; bound and full: see [`INBOX`].
    inbox: VecDeque<Incoming>,
    inbox_bytes: usize,
    /// Filled by the node, emptied by `outgoing`; bounded by the outbox's messages without answer.
    outgoing: VecDeque<Outgoing>,
    /// Filled by `answer`, emptied by the node; bounded as `outgoing`.
    answers: Vec<(u64, bool)>,
    view: OutboxView,
    /// Counts changes of the partitions that are read.
    generation: u64,
}

/// What the node shares with the carrier.
#[derive(Debug, Default)]
pub struct Carrier {
    queues: Mutex<Queues>,
    pub fence: Fence,
}

impl Carrier {
    fn lock(&self) -> MutexGuard<'_, Queues> {
        // Each change is complete in itself.
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Which reader of the stream is listened to: the one that began with this number and from the
    /// positions of that time. It changes when a partition comes or goes.
    pub fn generation(&self) -> u64 {
        self.lock().generation
    }

    /// Takes messages in; gives how many. The rest must be given again. Of a reader of another
    /// generation nothing is listened to: it may have left out what came before.
    pub fn receive(&self, generation: u64, messages: Vec<Incoming>) -> usize {
        let mut queues = self.lock();
        if generation != queues.generation {
            return messages.len();
        }
        let mut taken = 0;
        for message in messages {
            let bytes = queues.inbox_bytes + message.payload.len();
            let full = queues.inbox.len() >= INBOX || bytes > INBOX_BYTES;
            if full && !queues.inbox.is_empty() {
                break;
            }
            queues.inbox_bytes = bytes;
            queues.inbox.push_back(message);
            taken += 1;
        }
        taken
    }

    /// Messages to be sent now.
    pub fn outgoing(&self, most: usize) -> Vec<Outgoing> {
        let mut queues = self.lock();
        let count = queues.outgoing.len().min(most);
        queues.outgoing.drain(..count).collect()
    }

    /// What became of messages: acknowledged, or to be sent again.
    pub fn answer(&self, tokens: &[u64], delivered: bool) {
        self.lock()
            .answers
            .extend(tokens.iter().map(|token| (*token, delivered)));
    }

    /// How far the outbox was when the node last looked.
    pub fn view(&self) -> OutboxView {
        self.lock().view
    }

    pub(crate) fn take_incoming(&self) -> Option<Incoming> {
        let mut queues = self.lock();
        let message = queues.inbox.pop_front()?;
        queues.inbox_bytes -= message.payload.len();
        Some(message)
    }

    pub(crate) fn has_incoming(&self) -> bool {
        !self.lock().inbox.is_empty()
    }

    /// Forgets what was received and not taken in: the stream still has it, and the next reader
    /// begins at the positions of now.
    pub(crate) fn next_generation(&self) {
        let mut queues = self.lock();
        queues.generation += 1;
        queues.inbox.clear();
        queues.inbox_bytes = 0;
    }

    pub(crate) fn take_answers(&self) -> Vec<(u64, bool)> {
        std::mem::take(&mut self.lock().answers)
    }

    pub(crate) fn give_outgoing(&self, messages: Vec<Outgoing>, view: OutboxView) {
        let mut queues = self.lock();
        queues.outgoing.extend(messages);
        queues.view = view;
    }

    /// After a resend: messages that nobody took are of the time before.
    pub(crate) fn clear_outgoing(&self) {
        self.lock().outgoing.clear();
    }
}
