//! The committer: makes batches durable, one after the other, on a thread of its own.
//!
//! The order is the guarantee: WARC records and log lines first, flushed to the device, then the
//! state with their positions in one atomic write. So the state never names a record that is not
//! there, and what the files have beyond it is cut at the next start.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::batch::Batch;
use super::exchange::StreamPosition;
use super::progress::Reading;
use super::{LOG_POSITION, NodeError, WARC_POSITION};
use crate::clock::Clock;
use crate::store::state::disk::DiskState;
use crate::store::state::{Space, StateError, Writes};
use crate::store::warc::{LogWriter, Member, Writer};

/// Batches that may wait or be under way; the node stops taking visits in when they are as many.
const MOST: usize = 2;

/// How long to wait for room on the disk before looking again.
const FULL_WAIT: Duration = Duration::from_millis(500);

/// A batch that is safe.
#[derive(Debug)]
pub(super) struct Commit {
    pub number: u64,
    pub frontier_batch: u64,
    pub seen_batch: u64,
    pub tally: Reading,
    pub outbox: u64,
    pub positions: Vec<(u32, StreamPosition)>,
    /// What it took to apply it to the state.
    applying: Duration,
}

type CommitResult = Result<Commit, NodeError>;

#[derive(Debug)]
pub(super) struct Committer {
    batches: Option<SyncSender<(u64, Batch)>>,
    answers: Receiver<CommitResult>,
    /// An answer that `wait` met.
    waiting: Option<CommitResult>,
    sent: u64,
    done: u64,
    /// The longest that a batch took to be applied.
    longest: Duration,
    disk_full: Arc<AtomicBool>,
    closing: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), NodeError>>>,
}

impl Committer {
    pub fn start(
        state: Arc<DiskState>,
        warc: Writer,
        log: LogWriter,
        clock: Arc<Clock>,
        durable: bool,
    ) -> Committer {
        let (batches, incoming) = sync_channel(MOST);
        let (outgoing, answers) = sync_channel(MOST + 1);
        let disk_full = Arc::new(AtomicBool::new(false));
        let closing = Arc::new(AtomicBool::new(false));
        let mut work = Work {
            state,
            warc,
            log,
            clock,
            durable,
            disk_full: Arc::clone(&disk_full),
            closing: Arc::clone(&closing),
        };
        let thread = std::thread::Builder::new()
            .name("gossamer-commit".into())
            .spawn(move || {
                while let Ok((number, batch)) = incoming.recv() {
                    let answer = work.commit(number, batch);
                    let failed = answer.is_err();
                    if outgoing.send(answer).is_err() || failed {
                        return Ok(());
                    }
                }
                work.close()
            });
        Committer {
            batches: Some(batches),
            answers,
            waiting: None,
            sent: 0,
            done: 0,
            longest: Duration::ZERO,
            disk_full,
            closing,
            thread: thread.ok(),
        }
    }

    /// The number that the next batch will have.
    pub fn next_number(&self) -> u64 {
        self.sent + 1
    }

    pub fn is_idle(&self) -> bool {
        self.sent == self.done
    }

    pub fn has_room(&self) -> bool {
        self.sent - self.done < MOST as u64
    }

    /// Whether it is waiting for room on the disk.
    pub fn disk_full(&self) -> bool {
        self.disk_full.load(Ordering::Relaxed)
    }

    /// The longest that a batch took to be applied to the state, without waiting for room on the disk.
    pub fn longest(&self) -> Duration {
        self.longest
    }

    /// Takes a batch; the caller has seen `has_room`.
    pub fn send(&mut self, batch: Batch) {
        self.sent += 1;
        if let Some(batches) = &self.batches
            && batches.send((self.sent, batch)).is_err()
        {
            // The thread has ended after a failure; its answer says which.
        }
    }

    /// Batches that became safe since the last call.
    pub fn finished(&mut self) -> Vec<CommitResult> {
        let finished: Vec<CommitResult> = self
            .waiting
            .take()
            .into_iter()
            .chain(self.answers.try_iter())
            .collect();
        self.done += finished.len() as u64;
        let applying = finished.iter().flatten().map(|commit| commit.applying);
        self.longest = applying.fold(self.longest, Duration::max);
        finished
    }

    /// Waits until a batch is safe or the time has passed.
    pub fn wait(&mut self, wait: Duration) {
        if self.waiting.is_some() {
            return;
        }
        match self.answers.recv_timeout(wait) {
            Ok(answer) => self.waiting = Some(answer),
            Err(RecvTimeoutError::Timeout) => {}
            // The thread has ended: nothing will come, but the caller must not spin.
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(wait),
        }
    }

    /// Waits for the batches under way and finishes the files.
    pub fn close(mut self) -> Result<(), NodeError> {
        self.batches = None;
        self.closing.store(true, Ordering::Relaxed);
        for answer in self.waiting.take().into_iter().chain(self.answers.iter()) {
            answer?;
        }
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            _ => Err(StateError::Store("the committing thread has failed".into()).into()),
        }
    }
}

struct Work {
    state: Arc<DiskState>,
    warc: Writer,
    log: LogWriter,
    clock: Arc<Clock>,
    durable: bool,
    disk_full: Arc<AtomicBool>,
    /// Someone waits for the end: a full disk is then an error instead of a wait.
    closing: Arc<AtomicBool>,
}

impl Work {
    fn commit(&mut self, number: u64, mut batch: Batch) -> CommitResult {
        let now = self.clock.now();
        // 0. Records must not take the room that the store needs to go on.
        let members = std::mem::take(&mut batch.members);
        let length: usize = members.iter().map(|member| member.bytes.len()).sum();
        let length = (length + batch.log.len()) as u64;
        self.patiently(|work| Ok(work.state.check_room(length)?))?;
        // 1. Records and lines, each appended whole or not at all.
        self.append_members(&members, &mut batch, now)?;
        drop(members);
        self.patiently(|work| Ok(work.log.append(now, &batch.log)?))?;
        // 2. On the device before the state that names them.
        self.patiently(|work| Ok(work.warc.sync(now)?))?;
        self.patiently(|work| Ok(work.log.sync(now)?))?;
        // 3. The state, with the positions, as one step.
        if let Some(position) = self.warc.position() {
            batch
                .writes
                .put(Space::Meta, WARC_POSITION, position.to_bytes());
        }
        if let Some(position) = self.log.position() {
            batch
                .writes
                .put(Space::Meta, LOG_POSITION, position.to_bytes());
        }
        let writes = std::mem::take(&mut batch.writes);
        let applying = self.apply(writes)?;
        // 4. Files that were filled may now lose their mark.
        if let Some(position) = self.warc.position().cloned() {
            self.patiently(|work| Ok(work.warc.committed(&position)?))?;
        }
        if let Some(position) = self.log.position().cloned() {
            self.patiently(|work| Ok(work.log.committed(&position)?))?;
        }
        Ok(Commit {
            number,
            frontier_batch: batch.frontier_batch,
            seen_batch: batch.seen_batch,
            tally: batch.tally,
            outbox: batch.outbox,
            positions: batch.positions,
            applying,
        })
    }

    fn append_members(
        &mut self,
        members: &[Member],
        batch: &mut Batch,
        now: u64,
    ) -> Result<(), NodeError> {
        let places = self.patiently(|work| Ok(work.warc.append(now, members)?))?;
        for mut placed in batch.rows.drain(..) {
            if let Some(place) = placed.member.and_then(|member| places.get(member)) {
                placed.row.serial = place.serial;
                placed.row.offset = place.offset;
                placed.row.length = u32::try_from(place.length).unwrap_or(u32::MAX);
            }
            batch
                .writes
                .put(Space::Index, placed.key, placed.row.to_bytes());
        }
        Ok(())
    }

    fn apply(&mut self, writes: Writes) -> Result<Duration, NodeError> {
        let durable = self.durable;
        // A full disk takes nothing, so the same writes can be tried again.
        self.patiently(move |work| {
            let begun = Instant::now();
            work.state.apply_kept(&writes, durable)?;
            Ok(begun.elapsed())
        })
    }

    /// Tries until it works or fails for another reason than a full disk.
    fn patiently<T>(
        &mut self,
        mut action: impl FnMut(&mut Work) -> Result<T, NodeError>,
    ) -> Result<T, NodeError> {
        loop {
            match action(self) {
                Err(error) if is_disk_full(&error) && !self.closing.load(Ordering::Relaxed) => {
                    self.disk_full.store(true, Ordering::Relaxed);
                    std::thread::sleep(FULL_WAIT);
                }
                result => {
                    self.disk_full.store(false, Ordering::Relaxed);
                    return result;
                }
            }
        }
    }

    fn close(self) -> Result<(), NodeError> {
        self.warc.close()?;
        self.log.close()?;
        Ok(())
    }
}

fn is_disk_full(error: &NodeError) -> bool {
    match error {
        NodeError::State(StateError::DiskFull(_)) => true,
        NodeError::Files(error) => error.is_disk_full(),
        _ => false,
    }
}
