//! Re-ranking between a node's other work: a slice a round, so that visits go on meanwhile.

use std::time::Instant;

use super::{Node, NodeError};
use crate::doors::Door;

/// URLs looked at in one round: a few milliseconds.
const SLICE: usize = 1_000;

/// Writes of a batch with which it is full.
const WRITES: usize = 20_000;

impl Node {
    /// Everything queued is put in the order of the settings from now on. That it will be is safe
    /// when this returns; the counters tell how far it is.
    pub fn rerank(&mut self) -> Result<(), NodeError> {
        self.frontier.rerank(&mut self.open.writes);
        self.checkpoint()
    }

    pub(super) fn rerank_round(&mut self, has_room: bool) -> Result<(), NodeError> {
        let full = !has_room || self.open.writes.len() >= WRITES;
        if full || !self.frontier.is_reranking() {
            return Ok(());
        }
        self.open.begin(self.clock.now());
        if self.ask_rerank(SLICE)? {
            return Ok(());
        }
        let writes = &mut self.open.writes;
        for key in self.frontier.rerank_slice(SLICE, &*self.state, writes)? {
            self.shares.touch_host(key);
        }
        Ok(())
    }

    /// Whether re-ranking goes on only when a policy has answered: a slice of the queue, or fresh links that
    /// hold all places at the door.
    pub(super) fn rerank_waits(&self) -> bool {
        let is_full = || !self.doors.is_open(Door::Order, Instant::now());
        self.frontier.is_reranking()
            && (self.questions.rerank.is_some() || (self.is_asked(Door::Order) && is_full()))
    }

    /// Whether the open batch gains nothing by waiting.
    pub(super) fn is_batch_whole(&self) -> bool {
        if self.frontier.is_reranking() {
            self.open.writes.len() >= WRITES
        } else {
            // With nothing under way, it would not become any fuller.
            self.in_flight() == 0
        }
    }
}
