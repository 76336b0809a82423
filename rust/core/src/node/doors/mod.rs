//! Where the node's loop asks policies, door by door.
//!
//! `pages` holds finished visits with their leases until they are answered; `order` and `refresh`
//! are asked inside the open batch, which is not sent before their answers or their deadline: so a
//! crash at any moment repeats the question or has its answer. `hosts` is asked from time to time.

mod asked;
mod hosts;
mod news;
mod order;
mod pages;
mod refresh;

use std::time::{Duration, Instant};

pub(super) use asked::Asked;
pub(super) use hosts::asked_of_hosts;
pub use news::HostDecision;
pub(super) use news::HostNews;
pub(super) use pages::Decision;
pub(super) use refresh::Judged;

use super::{Node, NodeError};
use crate::doors::Door;
use crate::frontier::RerankSlice;
use crate::links::Link;
use crate::node::pool::Visited;

/// How often answers are looked for while visits go on too.
const LOOK: Duration = Duration::from_millis(5);

/// How long the answers of policies are waited for when the node is closed.
const CLOSING: Duration = Duration::from_secs(2);

/// What policies are asked about at the moment.
#[derive(Debug, Default)]
pub(super) struct Questions {
    pub pages: Asked<Visited>,
    pub order: Asked<Link>,
    pub refresh: Asked<Judged>,
    /// A slice of the queue that is being scored anew, and its batch at the door `order`.
    pub rerank: Option<(u64, RerankSlice)>,
    pub hosts: hosts::HostQuestions,
    /// The open batch waits for answers before it can be sent.
    pub blocks: bool,
    /// The node closes: nothing more is asked.
    pub closing: bool,
}

impl Questions {
    /// Whether the open batch may be sent.
    pub fn is_settled(&self) -> bool {
        self.order.is_empty() && self.refresh.is_empty()
    }
}

impl Node {
    /// Visits under way, with those that wait for a policy.
    pub(super) fn in_flight(&self) -> usize {
        self.pool.in_flight() + self.questions.pages.len()
    }

    /// Takes in what policies answered, and asks what there is to ask.
    pub(super) fn doors_round(&mut self) -> Result<(), NodeError> {
        self.pages_round(false)?;
        self.hosts_round()?;
        self.order_round(false)?;
        self.refresh_round(false)?;
        self.questions.blocks &= !self.questions.is_settled();
        Ok(())
    }

    /// Whether every question of the open batch is answered; asks those that wait.
    pub(super) fn settle_questions(&mut self) -> Result<bool, NodeError> {
        if !self.questions.is_settled() {
            // Answers at `refresh` queue links past `order`, so one pass is enough.
            self.order_round(true)?;
            self.refresh_round(true)?;
        }
        self.questions.blocks = !self.questions.is_settled();
        Ok(!self.questions.blocks)
    }

    /// How long a round may wait, with questions open.
    pub(super) fn door_patience(&self, wait: Duration) -> Duration {
        let questions = &self.questions;
        let idle = questions.pages.is_empty() && questions.rerank.is_none();
        if idle && questions.is_settled() {
            wait
        } else {
            wait.min(LOOK)
        }
    }

    /// Before the node closes: a short wait for answers, then the native default for the rest.
    pub(super) fn close_doors(&mut self) -> Result<(), NodeError> {
        let end = Instant::now() + CLOSING;
        while !self.are_doors_settled()? && Instant::now() < end {
            self.doors.wait(LOOK);
        }
        self.questions.closing = true;
        self.doors.close();
        self.pages_round(true)?;
        self.defer_refresh()
    }

    /// Whether no question is open; asks those that wait.
    fn are_doors_settled(&mut self) -> Result<bool, NodeError> {
        self.pages_round(true)?;
        Ok(self.settle_questions()? && self.questions.pages.is_empty())
    }

    /// Whether a door has a policy that can be asked now.
    pub(super) fn is_asked(&self, door: Door) -> bool {
        self.settings.doors.get(door).is_some() && !self.doors.rests(door, Instant::now())
    }
}
