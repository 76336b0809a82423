//! The doors: where native code asks policies, which are written in Python, in batches.
//!
//! The node posts a [`Table`] of questions at a door; a thread of the policy takes it with
//! [`Doors::next`] and answers with [`Doors::answer`]; the node collects the answers in its loop.
//! Nothing here waits for a policy: what is not answered within the door's patience has the native
//! default. Guarantees:
//!
//! * A batch that was posted is collected exactly once: answered, failed, or late.
//! * At most [`MOST`] batches of a door are under way.
//! * After three failures in a row a door rests, longer each time, and is not asked meanwhile.
//!
//! The contract with Python is `docs/decisions/0017-five-doors.md`.

mod answer;
mod desk;
mod door;
mod health;
mod settings;
mod table;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests;

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub use answer::{Answer, Values};
pub use desk::{Batch, Closed, Collected, MOST};
pub use door::{Door, Kind};
pub use health::{DoorReport, Failure};
pub use settings::{DoorSettings, DoorsTable};
pub use table::{Column, Table, Value};

use desk::Desk;

/// The doors of one node, shared by its loop and the threads of policies. A clone is the same doors.
#[derive(Clone, Debug, Default)]
pub struct Doors {
    desks: Arc<[Desk; Door::ALL.len()]>,
    answered: Arc<Signal>,
}

/// Tells the node that some batch was answered.
#[derive(Debug, Default)]
struct Signal {
    set: Mutex<bool>,
    raised: Condvar,
}

impl Signal {
    fn raise(&self) {
        *self.set.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.raised.notify_one();
    }

    /// Waits until it was raised since the last wait, or the time has passed.
    fn wait(&self, wait: Duration) {
        let set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.raised.wait_timeout_while(set, wait, |set| !*set);
        *waited.unwrap_or_else(PoisonError::into_inner).0 = false;
    }
}

impl Doors {
    fn desk(&self, door: Door) -> &Desk {
        &self.desks[door as usize]
    }

    /// Whether another batch may be posted at the door now: it does not rest, and has room.
    #[must_use]
    pub fn is_open(&self, door: Door, now: Instant) -> bool {
        self.desk(door).is_open(now)
    }

    /// Whether the door rests after failures.
    #[must_use]
    pub fn rests(&self, door: Door, now: Instant) -> bool {
        self.desk(door).rests(now)
    }

    /// Posts a batch; an answer after `patience` does not count. `None`: there is no room, or the
    /// doors are closed.
    #[must_use]
    pub fn post(&self, door: Door, table: Table, patience: Duration) -> Option<u64> {
        self.desk(door).post(door, table, patience)
    }

    /// The batches that were answered, failed or late since the last call.
    #[must_use]
    pub fn collect(&self, door: Door, now: Instant) -> Vec<Collected> {
        self.desk(door).collect(now)
    }

    /// Batches posted and not collected yet.
    #[must_use]
    pub fn under_way(&self, door: Door) -> usize {
        self.desk(door).under_way()
    }

    /// Takes the next batch of a door; waits up to `wait` for one.
    pub fn next(&self, door: Door, wait: Duration) -> Result<Option<Arc<Batch>>, Closed> {
        self.desk(door).next(wait)
    }

    /// Answers a batch. False: it was not waited for any longer. A wrong answer fails the batch, and
    /// the text says what is wrong.
    pub fn answer(&self, number: u64, columns: Vec<(String, Values)>) -> Result<bool, String> {
        let door = Door::of_batch(number);
        let answered = self.desk(door).answer(door, number, columns);
        self.answered.raise();
        answered
    }

    /// A policy could not answer. False: the batch was not waited for any longer.
    pub fn fail(&self, number: u64, reason: &str) -> bool {
        let door = Door::of_batch(number);
        let failed = self.desk(door).fail(number, Failure::Failed, reason);
        self.answered.raise();
        failed
    }

    /// Fails a batch whose answer could not even be read. False: as with [`Doors::fail`].
    pub fn refuse(&self, number: u64, reason: &str) -> bool {
        let door = Door::of_batch(number);
        let failed = self.desk(door).fail(number, Failure::Nonsense, reason);
        self.answered.raise();
        failed
    }

    /// Waits until some batch was answered, or the time has passed.
    pub fn wait(&self, wait: Duration) {
        self.answered.wait(wait);
    }

    /// No batch is given any more; whoever waits for one is told.
    pub fn close(&self) {
        self.desks.iter().for_each(Desk::close);
    }

    /// How the policies of a door are doing.
    #[must_use]
    pub fn report(&self, door: Door, now: Instant) -> DoorReport {
        self.desk(door).report(now)
    }

    /// Counts a row that had the native default although a policy was asked, or should have been.
    pub fn count_defaults(&self, door: Door, rows: u64) {
        self.desk(door).count_defaults(rows);
    }
}
