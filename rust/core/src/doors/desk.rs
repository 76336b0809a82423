//! One door: batches from the node to the policy's thread, and answers back.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::health::{DoorReport, Failure, Health};
use super::{Answer, Door, Table, Values};

/// Batches of a door that may be under way.
pub const MOST: usize = 2;

/// Questions for a policy.
#[derive(Debug)]
pub struct Batch {
    pub door: Door,
    pub number: u64,
    pub table: Table,
}

/// The doors are closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed;

/// What became of a batch.
#[derive(Debug)]
pub struct Collected {
    pub number: u64,
    /// The answer, or why the native default goes on, with a reason for people.
    pub answer: Result<Answer, (Failure, String)>,
}

/// Filled by the node (`post`), emptied by the policy's thread (`next`, `answer`) and the node
/// (`collect`); bound: [`MOST`] batches; when it is full the node is told, and asks later or never.
#[derive(Debug, Default)]
pub(super) struct Desk {
    inner: Mutex<Inner>,
    arrived: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    last: u64,
    /// Posted, and not taken yet.
    waiting: VecDeque<Arc<Batch>>,
    /// Posted, and neither answered nor late: with the deadline.
    open: Vec<(Arc<Batch>, Instant)>,
    done: Vec<Collected>,
    health: Health,
    closed: bool,
}

impl Inner {
    /// Ends a batch; gives its rows. `None`: it is not waited for.
    fn end(&mut self, number: u64) -> Option<usize> {
        let at = (self.open.iter()).position(|(open, _)| open.number == number)?;
        self.waiting.retain(|batch| batch.number != number);
        Some(self.open.swap_remove(at).0.table.len())
    }

    fn fail(&mut self, number: u64, failure: Failure, reason: String, now: Instant) -> bool {
        let Some(rows) = self.end(number) else {
            return false;
        };
        self.health.failed(failure, &reason, now);
        self.health.count_defaults(rows as u64);
        self.done.push(Collected {
            number,
            answer: Err((failure, reason)),
        });
        true
    }
}

impl Desk {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Every change is whole before anything can panic.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_open(&self, now: Instant) -> bool {
        let inner = self.lock();
        !inner.closed && !inner.health.rests(now) && inner.open.len() + inner.done.len() < MOST
    }

    pub fn rests(&self, now: Instant) -> bool {
        let inner = self.lock();
        inner.closed || inner.health.rests(now)
    }

    pub fn post(&self, door: Door, table: Table, patience: Duration) -> Option<u64> {
        let mut inner = self.lock();
        if inner.closed || inner.open.len() + inner.done.len() >= MOST {
            return None;
        }
        inner.last += 1;
        let number = door.batch_number(inner.last);
        let batch = Arc::new(Batch {
            door,
            number,
            table,
        });
        let deadline = Instant::now() + patience;
        inner.open.push((Arc::clone(&batch), deadline));
        inner.waiting.push_back(batch);
        drop(inner);
        self.arrived.notify_one();
        Some(number)
    }

    pub fn collect(&self, now: Instant) -> Vec<Collected> {
        let mut inner = self.lock();
        let late: Vec<u64> = inner
            .open
            .iter()
            .filter(|(_, deadline)| *deadline <= now)
            .map(|(batch, _)| batch.number)
            .collect();
        for number in late {
            let taken = !inner.waiting.iter().any(|batch| batch.number == number);
            let reason = if taken {
                "no answer in time"
            } else {
                "not taken in time: the policy is busy with an earlier batch"
            };
            inner.fail(number, Failure::Late, reason.to_owned(), now);
        }
        std::mem::take(&mut inner.done)
    }

    pub fn under_way(&self) -> usize {
        let inner = self.lock();
        inner.open.len() + inner.done.len()
    }

    pub fn next(&self, wait: Duration) -> Result<Option<Arc<Batch>>, Closed> {
        let end = Instant::now() + wait;
        let mut inner = self.lock();
        loop {
            if inner.closed {
                return Err(Closed);
            }
            if let Some(batch) = inner.waiting.pop_front() {
                return Ok(Some(batch));
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            let woken = self.arrived.wait_timeout(inner, left);
            inner = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub fn answer(
        &self,
        door: Door,
        number: u64,
        columns: Vec<(String, Values)>,
    ) -> Result<bool, String> {
        let batch = {
            let inner = self.lock();
            let open = inner.open.iter().find(|(open, _)| open.number == number);
            match open {
                Some((batch, _)) => Arc::clone(batch),
                None => return Ok(false),
            }
        };
        // Checked without the lock: the node looks in every few milliseconds.
        let answer = match Answer::new(door, &batch.table, columns) {
            Ok(answer) => answer,
            Err(what) => {
                self.fail(number, Failure::Nonsense, &what);
                return Err(what);
            }
        };
        let mut inner = self.lock();
        if inner.end(number).is_none() {
            return Ok(false);
        }
        inner.health.answered(batch.table.len());
        inner.done.push(Collected {
            number,
            answer: Ok(answer),
        });
        Ok(true)
    }

    pub fn fail(&self, number: u64, failure: Failure, reason: &str) -> bool {
        let reason = super::health::short(reason);
        self.lock().fail(number, failure, reason, Instant::now())
    }

    pub fn close(&self) {
        let mut inner = self.lock();
        inner.closed = true;
        let open: Vec<u64> = inner.open.iter().map(|(batch, _)| batch.number).collect();
        for number in open {
            let reason = "the crawl is closing".to_owned();
            inner.fail(number, Failure::Closed, reason, Instant::now());
        }
        drop(inner);
        self.arrived.notify_all();
    }

    pub fn report(&self, now: Instant) -> DoorReport {
        self.lock().health.report(now)
    }

    pub fn count_defaults(&self, rows: u64) {
        self.lock().health.count_defaults(rows);
    }
}
