//! A node: where the stages meet. Frontier, visits, seen and store, stepped from outside.
//!
//! Takes seeds and steps; gives progress. Guarantees:
//!
//! * A page, its links, its host's state and its place in the WARC file are one atomic write: after
//!   a crash at any moment all of them are there or none.
//! * Links enter the frontier in the batch of their page or a later one, never in an earlier one.
//! * The state never runs ahead of the WARC files, also when the power is cut.
//! * A full disk stops new visits and loses nothing; it goes on when there is room.
//!
//! One thread owns the node and calls [`Node::step`]; visits run on the fetcher pool's threads and the
//! [`committer`] has one of its own, so that neither waits for the disk.

mod admit;
mod alias;
mod batch;
mod changes;
mod committer;
mod cookies;
mod dead_connections;
mod disk_use;
mod doors;
mod duplicates;
mod error;
mod evidence;
mod exchange;
mod files;
mod find;
mod gather;
mod hand_out;
mod hosts;
mod ip_gate;
mod parameters;
mod partitions;
pub mod pool;
mod progress;
mod queue_drops;
mod redirected_seeds;
mod rerank;
mod rules;
mod seed_failures;
mod seeds;
mod seeds_again;
mod set_aside;
mod settings;
mod snapshot;
mod soft404;
mod view;
mod why;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::canonical::Rules;
use crate::clock::{Clock, thread_cpu};
use crate::doors::Doors;
use crate::exchange::Grants;
use crate::frontier::robots::Robots;
use crate::frontier::{Frontier, Next, RobotsRules, Visit};
use crate::links::patterns::Novelty;
use crate::links::scope::Scope;
use crate::node::pool::{FetcherPool, Parts, Policies};
use crate::seen::alias::Aliases;
use crate::seen::{self, Seen};
use crate::store::Original;
use crate::store::rows::IndexRow;
use crate::store::state::disk::DiskState;
use crate::store::state::{Reads, Space, State, StateError, Writes};
use crate::store::warc::Digest;

use batch::Batch;
use committer::Committer;
use disk_use::DiskUse;
pub use disk_use::used as disk_use;
pub use error::NodeError;
pub use exchange::StreamPosition;
pub use hosts::{HostAction, HostsQuestion};
pub use progress::{Activity, Progress};
use seed_failures::SeedFailures;
pub use seeds::pack_seeds;
pub use set_aside::TakenUp;
pub use settings::NodeSettings;
pub use snapshot::Summary;
pub use view::View;
pub use why::why;

/// One crawl's share in this process.
pub struct Node {
    settings: NodeSettings,
    rules: Rules,
    clock: Arc<Clock>,
    state: Arc<DiskState>,
    frontier: Frontier,
    seen: Box<dyn Seen>,
    pool: FetcherPool,
    committer: Committer,
    /// The batch being filled; sent to the committer when it is full or old enough.
    open: Batch,
    /// Visits handed out, by lease. Bounded by the number of leases.
    leases: HashMap<u64, Leased>,
    /// Content of pages whose batch is not applied yet, so that workers cannot know it.
    fresh_content: HashMap<Digest, (u64, Original)>,
    aliases: Aliases,
    /// Hosts that are called aliases and are none.
    alias_undos: Vec<String>,
    /// Rows of the index whose batch is not applied yet; only where pages are visited again.
    recent_rows: HashMap<[u8; 16], (u64, IndexRow)>,
    /// What became of pages whose batch is not applied yet, by URL key.
    fresh_rows: HashMap<[u8; 16], (u64, alias::Brief)>,
    tally: progress::Tally,
    paused: bool,
    stopping: bool,
    /// `seen` found no room on the disk for the open batch.
    seen_waits: bool,
    next: Next,
    shares: partitions::Shares,
    /// This node's part in a cluster; none in a standalone crawl.
    exchange: Option<exchange::Exchange>,
    /// Where policies are asked.
    doors: Doors,
    questions: doors::Questions,
    /// A rule has dropped URLs out of the queue; when it is gone they may come in again.
    queue_drops: queue_drops::QueueDrops,
    seeds_again: seeds_again::SeedsAgain,
    /// Targets of seeds' redirects that the control node is to make seeds of.
    redirected_seeds: redirected_seeds::RedirectedSeeds,
    /// What host policies decided lately, for those who watch.
    host_news: doors::HostNews,
    /// URLs that are asked for once more because of a cookie.
    cookies: cookies::CookieVisits,
    /// URLs whose kept connection died: they are asked for on new ones.
    dead_connections: dead_connections::DeadConnections,
    /// Counters of hosts and URL patterns.
    book: evidence::Book,
    /// Parameters that change nothing, and hosts where one did after all.
    parameters: parameters::ParameterBook,
    parameter_undos: Vec<(u64, String)>,
    /// How much of a page's text is new on its host.
    novelty: Novelty,
    /// What hosts answer to names that do not exist.
    soft404s: soft404::Soft404s,
    seed_failures: SeedFailures,
    disk_use: DiskUse,
}

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Node")
            .field("leases", &self.leases.len())
            .finish_non_exhaustive()
    }
}

/// What the node remembers of a visit under way.
#[derive(Debug)]
struct Leased {
    visit: Visit,
    /// Redirects of a robots file followed so far.
    hops: u8,
    /// What the index has of an earlier visit.
    earlier: Option<IndexRow>,
}

const WARC_POSITION: &[u8] = b"warc.position";
const LOG_POSITION: &[u8] = b"log.position";
const TALLY: &[u8] = b"tally";

impl Node {
    /// Opens the crawl in `dir`, new or old. After a crash this cuts what was not committed.
    pub fn open(dir: &Path, settings: NodeSettings) -> Result<Node, NodeError> {
        let clock = Arc::new(Clock::with_offset(settings.clock_offset));
        let rules = settings.rules();
        let state = Arc::new(DiskState::open(&dir.join("state"), settings.disk())?);
        let (warc, log) = files::open(dir, &settings, &*state)?;
        let (shares, halves) = match settings.cluster {
            Some(_) => partitions::Shares::stored(settings.partitions, dir, &state)?,
            None => (partitions::Shares::all(settings.partitions), Vec::new()),
        };
        for half in halves {
            partitions::remove_rows(half, settings.partitions, &*state)?;
        }
        let mut writes = Writes::default();
        let agent = settings.fetch.agent.clone();
        let compile =
            move |body: &[u8]| -> Box<dyn RobotsRules> { Box::new(Robots::parse(body, &agent)) };
        let policies = settings.policies(&seeds::stored_roots(&*state)?)?;
        let mut frontier = Frontier::open(
            settings.frontier(policies.rules.as_ref())?,
            Box::new(compile),
            &*state,
            clock.now(),
            &mut writes,
        )?;
        let kind = settings.seen_kind()?;
        if settings.cluster.is_some() && !kind.can_be_handed_over() {
            return Err(NodeError::Settings(format!(
                "seen.kind: '{}' cannot be used in a cluster; use 'exact'",
                kind.as_str()
            )));
        }
        let seen = seen::open(kind, &settings.seen(dir), &*state)?;
        let batch = frontier.seal(&mut writes);
        state.apply(writes, true)?;
        frontier.applied(batch);
        let tally = progress::Tally::read(state.get(Space::Meta, TALLY)?.as_deref());
        let queue_drops = queue_drops::QueueDrops::open(&*state)?;
        let redirected_seeds = redirected_seeds::RedirectedSeeds::open(&*state)?;
        let aliases = Aliases::open(settings.alias.clone(), rules.grouping, &*state)?;
        let book = evidence::Book::open(doors::asked_of_hosts(&settings.doors), &*state)?;
        let parameters = parameters::ParameterBook::open(&*state)?;
        // A process may have ended before what ended for them was queued again.
        let parameter_undos = parameters.lock().undone();
        let exchange = open_exchange(&settings, &frontier, &clock, &*state)?;
        let parts = Parts {
            gate: Arc::new(ip_gate::IpGate {
                ips: frontier.ips(),
                clock: Arc::clone(&clock),
                cluster: exchange
                    .as_ref()
                    .map(|exchange| (Arc::clone(&exchange.carrier), Arc::clone(&exchange.grants))),
            }),
            clock: Arc::clone(&clock),
        };
        let pool =
            FetcherPool::start(settings.visit()?, policies, parts).map_err(NodeError::Settings)?;
        let durable = settings.store.durable;
        let committer =
            Committer::start(Arc::clone(&state), warc, log, Arc::clone(&clock), durable);
        let mut node = Node {
            settings,
            rules,
            clock,
            state,
            frontier,
            seen,
            pool,
            committer,
            open: Batch::default(),
            leases: HashMap::new(),
            fresh_content: HashMap::new(),
            aliases,
            alias_undos: Vec::new(),
            recent_rows: HashMap::new(),
            fresh_rows: HashMap::new(),
            tally,
            paused: false,
            stopping: false,
            seen_waits: false,
            next: Next::Taken(0),
            shares,
            exchange,
            doors: Doors::default(),
            questions: doors::Questions::default(),
            queue_drops,
            seeds_again: seeds_again::SeedsAgain::default(),
            redirected_seeds,
            host_news: doors::HostNews::default(),
            cookies: cookies::CookieVisits::default(),
            dead_connections: dead_connections::DeadConnections::default(),
            book,
            parameters,
            parameter_undos,
            novelty: Novelty::default(),
            soft404s: soft404::Soft404s::default(),
            seed_failures: SeedFailures::default(),
            disk_use: DiskUse::new(dir),
        };
        node.resume_shares();
        // What an earlier process queued may be out of a scope that was changed since.
        if node.frontier.counters().hosts_known > 0 || node.rule_set().is_some() {
            node.refilter();
        }
        Ok(node)
    }

    /// The doors where policies are asked; they stay the same as long as the node is open.
    #[must_use]
    pub fn doors(&self) -> Doors {
        self.doors.clone()
    }

    /// Works for about `wait`, or until there is nothing left to do, and tells how far it is.
    pub fn step(&mut self, wait: Duration) -> Result<Progress, NodeError> {
        let end = Instant::now() + wait;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            self.round(left)?;
            let idle = self.in_flight() == 0 && self.open_is_empty();
            if Instant::now() >= end || (idle && self.has_ended()) {
                return Ok(self.progress());
            }
        }
    }

    /// Whether no visit would be handed out however long one waits.
    fn has_ended(&self) -> bool {
        // What is finished here can begin again when another node sends something.
        self.stopping
            || self.exchange.is_none()
                && (self.limit_reached()
                    || matches!(self.next, Next::LimitReached)
                    || matches!(self.next, Next::Finished) && !self.takes_up())
    }

    /// One round: take in what visits brought, hand out new visits, send a full batch to the
    /// committer.
    fn round(&mut self, wait: Duration) -> Result<(), NodeError> {
        self.note_commits()?;
        self.undo_refuted()?;
        self.undo_parameters()?;
        let mut has_room = self.committer.has_room() && !self.seen_waits;
        if has_room {
            self.doors_round()?;
        }
        has_room &= !self.questions.blocks;
        self.exchange_round(has_room)?;
        self.rerank_round(has_room)?;
        self.take_up_round(has_room)?;
        let wait = self.door_patience(self.patience(wait, has_room));
        if has_room {
            let most = self.settings.store.batch_pages;
            for visited in self.pool.collect(most, wait) {
                self.take_in(visited)?;
            }
        } else if self.questions.blocks {
            self.doors.wait(wait);
        } else {
            self.committer.wait(wait);
            self.note_commits()?;
        }
        self.hand_out()?;
        self.send_batch(self.is_batch_whole())?;
        if self.pool.in_flight() == 0 && (self.in_flight() > 0 || self.rerank_waits()) {
            // Only a policy can bring something; what was held just now is given to it in time.
            self.doors.wait(self.door_patience(wait));
        } else if self.in_flight() == 0 && self.open_is_empty() {
            // Nothing can arrive: rest until something is due, or the caller wants to look.
            self.committer.wait(wait);
        }
        Ok(())
    }

    /// How long this round may wait for something to arrive.
    fn patience(&self, wait: Duration, has_room: bool) -> Duration {
        let until = |time: u64| Duration::from_micros(time.saturating_sub(self.clock.now()));
        let busy = has_room
            && (self.frontier.is_reranking() && !self.rerank_waits()
                || self.book.lock().next_to_take_up().is_some());
        let mut wait = if busy { Duration::ZERO } else { wait };
        if self.exchange.is_some() {
            wait = wait.min(exchange::LOOK);
        }
        if has_room && let Some(due) = self.open.due(self.settings.store.batch_wait) {
            wait = wait.min(until(due));
        }
        // What is due and may not begin is nothing to wake up for.
        if self.may_begin()
            && let Next::NothingDue { until: due } = self.next
        {
            wait = wait.min(until(due));
        }
        wait
    }

    /// Learns which batches are safe now.
    fn note_commits(&mut self) -> Result<(), NodeError> {
        for commit in self.committer.finished() {
            let commit = commit?;
            self.frontier.applied(commit.frontier_batch);
            // Where no batch is flushed there is no later one to wait for.
            self.seen.applied(commit.seen_batch, true);
            self.fresh_content
                .retain(|_, (batch, _)| *batch > commit.number);
            self.fresh_rows
                .retain(|_, (batch, _)| *batch > commit.number);
            self.recent_rows
                .retain(|_, (batch, _)| *batch > commit.number);
            self.book.lock().applied(commit.number);
            self.soft404s.applied(commit.number);
            self.queue_drops.applied(commit.number);
            self.seeds_again.applied(commit.number);
            self.tally.committed(&commit.tally);
            if let Some(exchange) = &mut self.exchange {
                exchange.committed(commit.outbox, commit.positions);
            }
        }
        Ok(())
    }

    /// Whether nothing waits to be committed.
    fn open_is_empty(&self) -> bool {
        self.open.is_empty() && self.questions.is_settled()
    }

    /// Whether visits may begin at all.
    fn may_begin(&self) -> bool {
        let exchange = self.exchange.as_ref();
        let held = exchange
            .is_some_and(|exchange| exchange.carrier.fence.passed() || exchange.is_behind());
        // With the committer behind, new visits would only fill memory.
        let full = self.seen_waits || !self.committer.has_room();
        !(self.paused || self.stopping || held || full)
    }

    /// Sends the open batch to the committer when it is full, old enough, or when `now` is set.
    fn send_batch(&mut self, now: bool) -> Result<(), NodeError> {
        if self.open_is_empty() {
            return Ok(());
        }
        let full = self.open.pages >= self.settings.store.batch_pages;
        let old = self
            .open
            .due(self.settings.store.batch_wait)
            .is_none_or(|due| due <= self.clock.now());
        if !(now || full || old) || !self.committer.has_room() {
            return Ok(());
        }
        if !self.settle_questions()? {
            return Ok(());
        }
        // First what can fail: a full disk leaves the batch open, to be sent later.
        self.seen_waits = false;
        let seen_batch = match self.seen.seal(&mut self.open.writes) {
            Err(StateError::DiskFull(_)) => {
                self.seen_waits = true;
                return Ok(());
            }
            sealed => sealed?,
        };
        let mut batch = std::mem::take(&mut self.open);
        batch.seen_batch = seen_batch;
        batch.frontier_batch = self.frontier.seal(&mut batch.writes);
        let number = self.committer.next_number();
        self.book.lock().seal(number, &mut batch.writes);
        if let Some(exchange) = &mut self.exchange {
            let (now, begun) = (self.clock.now(), thread_cpu());
            batch.outbox = exchange.outbox.seal(now, &mut batch.writes);
            exchange.spent += thread_cpu().saturating_sub(begun);
        }
        batch.tally = self.tally.reading(self.clock.now());
        batch.writes.put(Space::Meta, TALLY, batch.tally.to_bytes());
        self.committer.send(batch);
        Ok(())
    }

    /// No further visit begins; with `now`, those under way are given back too.
    pub fn stop(&mut self, now: bool) {
        self.stopping = true;
        self.pool.stop(now);
    }

    /// Pauses or resumes handing out visits.
    pub fn set_paused(&mut self, paused: bool) {
        self.paused = paused;
        self.pool.hold(paused);
    }

    /// Commits everything that visits brought, and closes the files. With no room on the disk it
    /// says so instead of waiting: what was not committed is visited again after a resume. Gives the
    /// counters of all that is safe then, with what ended after the last step.
    pub fn close(mut self) -> Result<Progress, NodeError> {
        self.stop(true);
        while self.pool.in_flight() > 0 {
            let most = self.settings.store.batch_pages;
            for visited in self.pool.collect(most, Duration::from_secs(1)) {
                self.take_in(visited)?;
            }
        }
        self.close_doors()?;
        self.tally.rest(self.clock.now());
        // A batch also where nothing was visited since the last one: it has the time that was worked.
        let committed = self.checkpoint();
        let mut progress = self.progress();
        self.committer.close()?;
        progress.disk = self.disk_use.look();
        committed.map(|()| progress)
    }

    /// Swaps the settings that may change while running.
    pub fn set_settings(&mut self, settings: NodeSettings) -> Result<(), NodeError> {
        let roots = seeds::stored_roots(&*self.state)?;
        let policies = settings.policies(&roots)?;
        let frontier = settings.frontier(policies.rules.as_ref())?;
        // First what can refuse a value, so that all is changed or nothing.
        self.pool
            .set_live(&settings.visit()?)
            .map_err(NodeError::Settings)?;
        self.frontier.set_settings(frontier);
        if let (Some(exchange), Some(cluster)) = (&mut self.exchange, &settings.cluster) {
            exchange.set_settings(cluster, settings.frontier.address_delay);
        }
        self.pool.set_policies(policies);
        self.refilter();
        self.aliases.set_settings(settings.alias.clone());
        self.settings = settings;
        Ok(())
    }

    fn scope(&self) -> Scope {
        self.pool.policies().scope.clone()
    }

    fn set_scope(&mut self, scope: Scope) {
        let policies = Policies {
            scope,
            ..(*self.pool.policies()).clone()
        };
        self.pool.set_policies(policies);
        if self.frontier.filter().is_set() {
            self.refilter();
        }
    }
}

fn open_exchange(
    settings: &NodeSettings,
    frontier: &Frontier,
    clock: &Arc<Clock>,
    reads: &dyn Reads,
) -> Result<Option<exchange::Exchange>, NodeError> {
    let Some(cluster) = &settings.cluster else {
        return Ok(None);
    };
    let grants = Grants::new(
        settings.partitions,
        settings.frontier.address_delay,
        frontier.ips(),
        Arc::clone(clock),
    );
    let grouping = settings.rules().grouping;
    let (partitions, grants) = (settings.partitions, Arc::new(grants));
    exchange::Exchange::open(cluster, partitions, grouping, grants, reads).map(Some)
}
