//! The pool: a runtime of its own, tasks in, answers out.

use std::fmt;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use super::process::process;
use super::resting::Resting;
use super::{Parts, Policies, Task, VisitGate, VisitSettings, Visited};
use crate::canonical::{Rules, Url};
use crate::clock::Clock;
use crate::fetch::{AddressGate, DnsCounters, Fetcher, Limiter, LimiterSettings, Request};
use crate::links::rules;
use crate::outcome::Outcome;

/// How far the pool has been told to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stopping {
    /// It has not.
    No,
    /// No visit begins for the time being.
    Held,
    /// No visit begins; those under way go on.
    NoNew,
    /// Visits under way are given back too.
    Now,
}

type Notify = Box<dyn Fn() + Send + Sync>;

struct Shared {
    fetcher: Fetcher,
    limiter: Limiter,
    rules: Rules,
    warc: bool,
    policies: RwLock<Arc<Policies>>,
    gate: Arc<dyn VisitGate>,
    clock: Arc<Clock>,
    resting: Arc<Resting>,
    /// Filled by workers, emptied by `collect`; bounded by what the caller submits (`in_flight`
    /// counts until collected), so it cannot outgrow the caller's own bound.
    done: Mutex<Vec<Visited>>,
    arrived: Condvar,
    in_flight: AtomicUsize,
    notify: Mutex<Option<Notify>>,
}

/// Fetches, parses and packs pages on its own threads. Cheap calls, safe from any thread.
pub struct FetcherPool {
    shared: Arc<Shared>,
    stopping: watch::Sender<Stopping>,
    /// Counts recalls; a task ends when it has changed.
    recalled: watch::Sender<u64>,
    runtime: Option<Runtime>,
}

impl fmt::Debug for FetcherPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FetcherPool")
            .field("in_flight", &self.in_flight())
            .finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic while the lock was held leaves the list as valid as before.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FetcherPool {
    /// Starts the threads; a wrong setting is named in the error.
    pub fn start(
        settings: VisitSettings,
        policies: Policies,
        parts: Parts,
    ) -> Result<FetcherPool, String> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if settings.threads == 0 {
            cores
        } else {
            settings.threads
        };
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_name("gossamer-visit")
            .enable_all()
            .build()
            .map_err(|error| format!("cannot start the visit threads: {error}"))?;
        let inside = runtime.enter();
        let fetcher = Fetcher::new(settings.fetch).map_err(|error| error.to_string())?;
        drop(inside);
        let limiter = Limiter::new(LimiterSettings {
            fixed: (settings.concurrency > 0).then_some(settings.concurrency),
            ..LimiterSettings::default()
        });
        let shared = Arc::new(Shared {
            fetcher,
            limiter,
            rules: settings.rules,
            warc: settings.warc,
            policies: RwLock::new(Arc::new(policies)),
            gate: parts.gate,
            clock: parts.clock,
            resting: Arc::default(),
            done: Mutex::new(Vec::new()),
            arrived: Condvar::new(),
            in_flight: AtomicUsize::new(0),
            notify: Mutex::new(None),
        });
        Ok(FetcherPool {
            shared,
            stopping: watch::Sender::new(Stopping::No),
            recalled: watch::Sender::new(0),
            runtime: Some(runtime),
        })
    }

    /// Takes a batch of tasks. Each will be answered exactly once through [`FetcherPool::collect`].
    pub fn submit(&self, tasks: Vec<Task>) {
        let Some(runtime) = &self.runtime else { return };
        self.shared
            .in_flight
            .fetch_add(tasks.len(), Ordering::Relaxed);
        for task in tasks {
            let shared = Arc::clone(&self.shared);
            let stopping = self.stopping.subscribe();
            let recalled = self.recalled.subscribe();
            runtime.spawn(shared.run(task, stopping, recalled));
        }
    }

    /// Waits until there is an answer or `wait` has passed, and takes up to `max` answers.
    #[must_use]
    pub fn collect(&self, max: usize, wait: Duration) -> Vec<Visited> {
        let end = Instant::now() + wait;
        let mut done = lock(&self.shared.done);
        while done.is_empty() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || self.in_flight() == 0 {
                return Vec::new();
            }
            let woken = self.shared.arrived.wait_timeout(done, left);
            done = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        let count = done.len().min(max);
        let taken: Vec<Visited> = done.drain(..count).collect();
        drop(done);
        self.shared
            .in_flight
            .fetch_sub(taken.len(), Ordering::Relaxed);
        taken
    }

    /// Tasks submitted and not yet collected.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.shared.in_flight.load(Ordering::Relaxed)
    }

    /// How many visits the machine and the line carry at the moment.
    #[must_use]
    pub fn concurrency(&self) -> usize {
        self.shared.limiter.limit()
    }

    /// What the cache of names did so far.
    #[must_use]
    pub fn dns(&self) -> DnsCounters {
        self.shared.fetcher.dns()
    }

    /// The `Cookie` field that a URL would be asked with now, where cookies are kept.
    #[must_use]
    pub fn cookie(&self, url: &Url) -> Option<String> {
        self.shared.fetcher.cookie(url)
    }

    /// Swaps the settings that may change while running.
    pub fn set_policies(&self, policies: Policies) {
        let mut current = self
            .shared
            .policies
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(policies);
    }

    /// Swaps limits of a visit, wanted types and how much may be under way; 0 visits: adapts by
    /// itself. A wrong value is named, and nothing is changed.
    pub fn set_live(&self, settings: &VisitSettings) -> Result<(), String> {
        let fetch = &settings.fetch;
        self.shared
            .fetcher
            .set_live(
                fetch.limits.clone(),
                fetch.accept_types.clone(),
                fetch.dns.concurrency,
            )
            .map_err(|error| error.to_string())?;
        let fixed = (settings.concurrency > 0).then_some(settings.concurrency);
        self.shared.limiter.set_fixed(fixed);
        Ok(())
    }

    /// Holds visits back, or lets them begin again. Tasks that wait, and those that would connect
    /// only now, are answered [`Outcome::Deferred`]; visits under way go on.
    pub fn hold(&self, hold: bool) {
        self.stopping
            .send_if_modified(|current| match (*current, hold) {
                (Stopping::No, true) => {
                    *current = Stopping::Held;
                    true
                }
                (Stopping::Held, false) => {
                    *current = Stopping::No;
                    true
                }
                _ => false,
            });
    }

    /// The settings in force.
    #[must_use]
    pub fn policies(&self) -> Arc<Policies> {
        self.shared.policies()
    }

    /// Calls `notify` whenever an answer arrives where there was none.
    pub fn on_arrival(&self, notify: Notify) {
        *lock(&self.shared.notify) = Some(notify);
    }

    /// Gives back all visits under way; later ones are not touched.
    pub fn recall(&self) {
        self.recalled.send_modify(|count| *count += 1);
    }

    /// Begins no further visit; waiting tasks are answered [`Outcome::Deferred`]. With `now`,
    /// visits under way are given back too.
    pub fn stop(&self, now: bool) {
        let level = if now { Stopping::Now } else { Stopping::NoNew };
        self.stopping.send_if_modified(|current| {
            let higher = level > *current;
            *current = level.max(*current);
            higher
        });
        self.shared.arrived.notify_all();
    }
}

impl Drop for FetcherPool {
    fn drop(&mut self) {
        self.stop(true);
        if let Some(runtime) = self.runtime.take() {
            // Tasks see the stop at once; this bounds a thread that is busy with a large page.
            runtime.shutdown_timeout(Duration::from_secs(5));
        }
    }
}

impl Shared {
    fn policies(&self) -> Arc<Policies> {
        Arc::clone(&self.policies.read().unwrap_or_else(PoisonError::into_inner))
    }

    async fn run(
        self: Arc<Self>,
        task: Task,
        mut stopping: watch::Receiver<Stopping>,
        mut recalled: watch::Receiver<u64>,
    ) {
        let mut owed = OwedAnswer {
            shared: Arc::clone(&self),
            task: Some(task.clone()),
            sent: Arc::default(),
        };
        let (begin, sent) = (stopping.clone(), Arc::clone(&owed.sent));
        let visited = tokio::select! {
            biased;
            () = reached(&mut stopping, Stopping::Now) => None,
            // A pool that is gone has stopped, and the line above knows.
            Ok(()) = recalled.changed() => None,
            visited = self.visit(task, begin, &sent) => visited,
        };
        if let Some(task) = owed.task.take() {
            let given_back = || self.given_back(task, sent.load(Ordering::Relaxed));
            self.push(visited.unwrap_or_else(given_back));
        }
    }

    /// A visit that was cut off. If its fetch had begun, nobody knows what the server has seen: then
    /// it counts as one.
    fn given_back(&self, task: Task, sent: bool) -> Visited {
        let mut visited = Visited::without_answer(task, Outcome::Deferred, self.clock.now());
        visited.sent = sent;
        visited
    }

    /// `sent` is set before the first byte could leave; `None`: given back before that.
    async fn visit(
        &self,
        task: Task,
        mut stopping: watch::Receiver<Stopping>,
        sent: &AtomicBool,
    ) -> Option<Visited> {
        let turn = async {
            let early = task.not_before.saturating_sub(self.clock.now());
            if task.not_before != 0 && early > 0 {
                tokio::time::sleep(Duration::from_micros(early)).await;
            }
            self.limiter.acquire().await
        };
        let permit = tokio::select! {
            biased;
            () = reached(&mut stopping, Stopping::Held) => return None,
            permit = turn => permit,
        };
        let started = self.clock.now();
        let request = Request {
            url: task.url.clone(),
            etag: task.etag.clone(),
            last_modified: task.last_modified.clone(),
            purpose: task.purpose,
            max_body: None,
            credentials: self.credentials(&task),
            cookie: task.cookie.clone(),
            new_connection: task.new_connection,
        };
        sent.store(true, Ordering::Relaxed);
        let response = if self.gate.is_open() {
            self.fetcher.fetch(request).await
        } else {
            let gate = TaskGate {
                stopping,
                clock: Arc::clone(&self.clock),
                gate: Arc::clone(&self.gate),
                resting: Arc::clone(&self.resting),
                task: task.clone(),
            };
            self.fetcher.with_gate(Arc::new(gate)).fetch(request).await
        };
        if response.outcome == Outcome::Throttled
            && let Some(wait) = response.retry_after
        {
            // Before the end is told: no visit that begins after it may miss this.
            let wait = u64::try_from(wait.as_micros()).unwrap_or(u64::MAX);
            self.resting
                .rest(task.url.host_key(), self.clock.now(), wait);
        }
        let ended = self.clock.now();
        let latency = Duration::from_micros(response.timings.total);
        self.limiter.record(ended, latency, response.status != 0);
        drop(permit);
        let policies = self.policies();
        let work = || {
            process(
                &task,
                response,
                (started, ended),
                &self.rules,
                &policies,
                self.warc,
            )
        };
        let mut visited = guarded(&task, ended, work);
        visited.started = started;
        Some(visited)
    }

    /// What a rule of this moment adds to a request.
    fn credentials(&self, task: &Task) -> Option<rules::Headers> {
        let policies = self.policies();
        let declared = policies.rules.as_ref()?;
        let facts = rules::Facts::of(&task.url).at_depth(task.depth);
        declared.credentials(&facts).cloned()
    }

    fn push(&self, visited: Visited) {
        let mut done = lock(&self.done);
        let first = done.is_empty();
        done.push(visited);
        drop(done);
        if first {
            self.arrived.notify_one();
            if let Some(notify) = &*lock(&self.notify) {
                notify();
            }
        }
    }
}

/// Waits until the pool has been told to stop that far.
async fn reached(stopping: &mut watch::Receiver<Stopping>, level: Stopping) {
    if stopping.wait_for(|now| *now >= level).await.is_err() {
        // The pool is gone: as good as stopped.
    }
}

/// Does the work on a response. One bad page must not end the process, nor lose its lease: where our
/// own code fails, that is the outcome.
pub(super) fn guarded(task: &Task, ended: u64, work: impl FnOnce() -> Visited) -> Visited {
    std::panic::catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| internal_error(task.clone(), ended))
}

/// The answer where our own code failed. The place in the code has just been printed by Rust; here is
/// the URL that belongs to it.
fn internal_error(task: Task, now: u64) -> Visited {
    let url = task.url.as_str();
    eprintln!("gossamer: a defect: our own code failed on {url}; the lines above say where");
    let mut failed = Visited::without_answer(task, Outcome::InternalError, now);
    failed.detail = "our own code failed on this page".to_owned();
    failed
}

/// Answers for a task whatever happens to the code that works on it.
struct OwedAnswer {
    shared: Arc<Shared>,
    task: Option<Task>,
    sent: Arc<AtomicBool>,
}

impl Drop for OwedAnswer {
    fn drop(&mut self) {
        if let Some(task) = self.task.take() {
            let sent = self.sent.load(Ordering::Relaxed);
            let visited = if std::thread::panicking() {
                let mut failed = internal_error(task, self.shared.clock.now());
                failed.sent = sent;
                failed
            } else {
                self.shared.given_back(task, sent)
            };
            self.shared.push(visited);
        }
    }
}

struct TaskGate {
    stopping: watch::Receiver<Stopping>,
    clock: Arc<Clock>,
    gate: Arc<dyn VisitGate>,
    resting: Arc<Resting>,
    task: Task,
}

impl AddressGate for TaskGate {
    fn enter(&self, _host: &str, ip: IpAddr) -> Result<(), u64> {
        // Names may have taken long to resolve: a pause meanwhile holds for this visit too.
        if *self.stopping.borrow() == Stopping::Held {
            return Err(self.clock.now());
        }
        let host = self.task.url.host_key();
        if let Some(until) = self.resting.until(host, self.clock.now()) {
            return Err(until);
        }
        self.gate.enter(&self.task, ip)
    }

    fn still_open(&self, ip: IpAddr) -> bool {
        let host = self.task.url.host_key();
        self.resting.until(host, self.clock.now()).is_none() && self.gate.still_open(ip)
    }
}
