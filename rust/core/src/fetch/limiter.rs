//! How many fetches may run at once: found by measuring, not by a constant.
//!
//! Takes the latency of each fetch as it ends; gives permits. In each window it measures how many
//! fetches ended per second and how long the typical one took. Below the knee of line and machine
//! more fetches raise the rate and leave the latency; beyond it they only wait for each other. So
//! the limit follows the ratio of the latency without a queue to the latency now, and goes back
//! where a larger limit brought no larger rate. The latency without a queue is measured anew from
//! time to time with the limit lowered: hosts change, and so does the line.
//!
//! Visits come in bursts, since politeness makes hosts wait. Of a burst the quick answers end first
//! and the slow ones last, so a window says something of the latency only if about as many fetches
//! began in it as ended, and something of the rate only if the limit was in use all the time. And
//! quick hosts come round sooner, so a window may hold mostly such: a latency that seems too long
//! lowers the limit only as long as the rate stays.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bounds of the limit.
#[derive(Clone, Copy, Debug)]
pub struct LimiterSettings {
    /// Never fewer.
    pub min: usize,
    /// Never more: file descriptors and memory end somewhere.
    pub max: usize,
    /// Where it begins.
    pub start: usize,
    /// This many, whatever is measured.
    pub fixed: Option<usize>,
}

impl Default for LimiterSettings {
    fn default() -> Self {
        LimiterSettings {
            min: 8,
            max: 8192,
            start: 64,
            fixed: None,
        }
    }
}

/// The shortest window, in microseconds; it is at least two mean latencies long.
const WINDOW: u64 = 250_000;
/// The longest window: news must not wait for ever behind slow hosts.
const WINDOW_MOST: u64 = 5_000_000;
/// A window says something from this many fetches on.
const SAMPLES: u64 = 20;
/// The first windows see only the quick answers and say nothing of the usual latency.
const WARM_UP: u32 = 2;
/// The latency may be this many times the one without a queue: noise, and a queue that keeps
/// the line busy.
const TOLERANCE: f64 = 1.5;
/// The limit grows at most so much in a window, and shrinks at most so much.
const GROWTH: f64 = 1.25;
const SHRINKAGE: f64 = 0.7;
/// A window in which more or fewer fetches began than ended, by this share, saw a burst rise or
/// fall: of such a one mostly the quick or mostly the slow ones have ended.
const BURST: f64 = 0.3;
/// The latency without a queue is the least of noisy means: so many standard errors are added, or
/// it would be the luckiest window instead of the usual one.
const CERTAINTY: f64 = 2.0;
/// A limit that is this much larger must have brought this much more rate.
const STEP: f64 = 1.5;
const STEP_GAIN: f64 = 1.1;
/// A limit that is this much smaller must not have cost this much of the rate.
const STEP_BACK: f64 = 1.4;
const STEP_LOSS: f64 = 1.2;
/// Windows without growth after a step that brought nothing.
const HOLD: u32 = 8;
/// Windows after which the unqueued latency is measured anew, with the limit lowered for it.
const LATENCY_MEMORY: u32 = 40;
/// Windows that such a measurement takes: one to drain, one to measure.
const PROBE: u32 = 2;
/// A window in which this much more than usual failed is a sign of trouble.
const FAILURES: f64 = 0.2;

#[derive(Debug)]
struct Measure {
    limit: f64,
    window_start: Option<u64>,
    ended: u64,
    began: u64,
    latency_sum: f64,
    latency_squares: f64,
    latency_count: u64,
    failed: u64,
    usual_failures: f64,
    /// The most and the fewest that ran at once in this window.
    busiest: usize,
    idlest: usize,
    windows: u32,
    /// Limit and rate where the last step began.
    mark: Option<(f64, f64)>,
    /// Where the limit began to fall.
    fall: Option<Fall>,
    hold: u32,
    base_latency: Option<f64>,
    base_age: u32,
    probing: u32,
    last_latency: f64,
}

/// The limit of the process. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Limiter {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    settings: LimiterSettings,
    /// This many, whatever is measured; 0: as measured.
    fixed: AtomicUsize,
    permits: Arc<Semaphore>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    measure: Measure,
    /// Permits in being: given out or free.
    size: usize,
}

/// One fetch may run while this lives.
#[derive(Debug)]
pub struct Permit {
    permit: Option<OwnedSemaphorePermit>,
    inner: Arc<Inner>,
}

impl Limiter {
    /// A limiter within these bounds.
    #[must_use]
    pub fn new(settings: LimiterSettings) -> Self {
        let max = settings.max.clamp(1, Semaphore::MAX_PERMITS / 2);
        let min = settings.min.clamp(1, max);
        let start = settings
            .fixed
            .unwrap_or(settings.start.clamp(min, max))
            .max(1);
        let settings = LimiterSettings {
            min,
            max,
            start,
            fixed: settings.fixed,
        };
        let measure = Measure {
            limit: start as f64,
            window_start: None,
            ended: 0,
            began: 0,
            latency_sum: 0.0,
            latency_squares: 0.0,
            latency_count: 0,
            failed: 0,
            usual_failures: 0.0,
            busiest: 0,
            idlest: usize::MAX,
            windows: 0,
            mark: None,
            fall: None,
            hold: 0,
            base_latency: None,
            base_age: 0,
            probing: 0,
            last_latency: 0.0,
        };
        Limiter {
            inner: Arc::new(Inner {
                fixed: AtomicUsize::new(settings.fixed.map_or(0, |fixed| fixed.max(1))),
                settings,
                permits: Arc::new(Semaphore::new(start)),
                state: Mutex::new(State {
                    measure,
                    size: start,
                }),
            }),
        }
    }

    /// Waits for a permit.
    pub async fn acquire(&self) -> Permit {
        let permit = Arc::clone(&self.inner.permits).acquire_owned().await.ok();
        self.permit(permit)
    }

    /// A permit, if one is free now.
    #[must_use]
    pub fn try_acquire(&self) -> Option<Permit> {
        let permit = Arc::clone(&self.inner.permits).try_acquire_owned().ok()?;
        Some(self.permit(Some(permit)))
    }

    fn permit(&self, permit: Option<OwnedSemaphorePermit>) -> Permit {
        let mut state = self.inner.lock();
        let busy = state
            .size
            .saturating_sub(self.inner.permits.available_permits());
        state.measure.began += 1;
        state.measure.busiest = state.measure.busiest.max(busy);
        drop(state);
        Permit {
            permit,
            inner: Arc::clone(&self.inner),
        }
    }

    /// How many may run at once, as of now.
    #[must_use]
    pub fn limit(&self) -> usize {
        let state = self.inner.lock();
        self.inner.target(&state.measure)
    }

    /// Fixes the number from now on, or leaves it to measurement again. Fetches under way go on.
    pub fn set_fixed(&self, fixed: Option<usize>) {
        let fixed = fixed.map_or(0, |fixed| fixed.clamp(1, Semaphore::MAX_PERMITS / 2));
        let mut state = self.inner.lock();
        let before = self.inner.fixed.swap(fixed, Ordering::Relaxed);
        if fixed == 0 && before != 0 {
            // What was measured before holds no longer; begin where the fixed number was.
            state.measure.restart(before as f64);
        }
        self.inner.resize(&mut state);
    }

    /// Tells how a fetch went. `now` is microseconds; `ok`: an answer came, of whatever status.
    pub fn record(&self, now: u64, latency: Duration, ok: bool) {
        if self.inner.fixed.load(Ordering::Relaxed) != 0 {
            return;
        }
        let mut state = self.inner.lock();
        let busy = state
            .size
            .saturating_sub(self.inner.permits.available_permits());
        state.measure.take(now, latency, ok, busy);
        if state.measure.window_is_over(now) {
            state.measure.close_window(now, &self.inner.settings);
            self.inner.resize(&mut state);
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let Some(permit) = self.permit.take() else {
            return;
        };
        let mut state = self.inner.lock();
        // The limit fell while this was out: the permit goes with it.
        if state.size > self.inner.target(&state.measure) {
            permit.forget();
            state.size -= 1;
        }
    }
}

impl Inner {
    fn target(&self, measure: &Measure) -> usize {
        match self.fixed.load(Ordering::Relaxed) {
            0 => (measure.limit as usize).clamp(self.settings.min, self.settings.max),
            fixed => fixed,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn resize(&self, state: &mut State) {
        let target = self.target(&state.measure);
        if target > state.size {
            self.permits.add_permits(target - state.size);
            state.size = target;
        } else {
            // Free permits go now; those given out go as they come back.
            state.size -= self.permits.forget_permits(state.size - target);
        }
    }
}

impl Measure {
    fn restart(&mut self, limit: f64) {
        self.limit = limit;
        self.window_start = None;
        (self.ended, self.failed, self.latency_count, self.busiest) = (0, 0, 0, 0);
        self.latency_sum = 0.0;
        self.mark = None;
    }

    fn take(&mut self, now: u64, latency: Duration, ok: bool, busy: usize) {
        self.window_start.get_or_insert(now);
        self.ended += 1;
        self.idlest = self.idlest.min(busy);
        // Failures end fast or at a time limit: their latency says nothing of the line.
        if ok {
            // The logarithm, so that a few slow hosts do not hide what most do.
            let logarithm = latency.as_secs_f64().max(1e-6).ln();
            self.latency_sum += logarithm;
            self.latency_squares += logarithm * logarithm;
            self.latency_count += 1;
        } else {
            self.failed += 1;
        }
    }

    fn window_is_over(&self, now: u64) -> bool {
        let age = now.saturating_sub(self.window_start.unwrap_or(now));
        let length = ((2.0 * self.last_latency * 1e6) as u64).clamp(WINDOW, WINDOW_MOST);
        age >= length && (self.ended >= SAMPLES || age >= WINDOW_MOST)
    }

    fn close_window(&mut self, now: u64, settings: &LimiterSettings) {
        let seconds = now.saturating_sub(self.window_start.unwrap_or(now)) as f64 / 1e6;
        let rate = self.latency_count as f64 / seconds.max(1e-6);
        let failures = self.failed as f64 / self.ended.max(1) as f64;
        let troubled = failures > self.usual_failures + FAILURES;
        self.usual_failures += (failures - self.usual_failures) * 0.1;
        let steady = (self.began.abs_diff(self.ended)) as f64 <= BURST * self.ended as f64;
        let full = |busy: usize| busy as f64 >= self.limit * 0.8;
        let demand = Demand {
            saturated: full(self.busiest),
            throughout: full(self.idlest),
        };
        if troubled {
            self.limit *= SHRINKAGE;
        } else if self.latency_count > 0 && steady {
            let count = self.latency_count as f64;
            let mean = self.latency_sum / count;
            let variance = (self.latency_squares / count - mean * mean).max(0.0);
            self.last_latency = mean.exp();
            let certain = (mean + CERTAINTY * (variance / count).sqrt()).exp();
            self.learn(certain, demand.saturated);
            self.steer(rate, mean.exp(), demand);
        } else {
            // A measurement that meets a burst is given up rather than let it wait.
            self.probing = self.probing.saturating_sub(1);
        }
        self.limit = self.limit.clamp(settings.min as f64, settings.max as f64);
        self.window_start = Some(now);
        (self.ended, self.began, self.failed, self.latency_count) = (0, 0, 0, 0);
        (self.busiest, self.idlest) = (0, usize::MAX);
        (self.latency_sum, self.latency_squares) = (0.0, 0.0);
    }

    fn learn(&mut self, latency: f64, saturated: bool) {
        self.windows = self.windows.saturating_add(1);
        let measured = self.probing == 1;
        self.probing = self.probing.saturating_sub(1);
        if self.windows <= WARM_UP {
            return;
        }
        match self.base_latency {
            // With little asked for it may be of few hosts, and those the quick ones.
            Some(base) if !measured && (latency >= base || !saturated) => self.base_age += 1,
            // Lower than known, or measured on purpose.
            _ => {
                self.base_latency = Some(latency);
                self.base_age = 0;
            }
        }
    }

    fn steer(&mut self, rate: f64, latency: f64, demand: Demand) {
        let Some(base) = self.base_latency else {
            return;
        };
        let ratio = TOLERANCE * base / latency;
        if self.probing > 0 {
            // Between the two windows of a measurement the limit stays low.
        } else if self.base_age >= LATENCY_MEMORY && (demand.saturated || ratio < 1.0) {
            self.probing = PROBE;
            self.base_age = 0;
            self.limit *= 0.5 * (base / latency).min(1.0);
            self.mark = None;
            self.fall = None;
        } else {
            self.follow(rate, latency, ratio, demand);
        }
    }

    fn follow(&mut self, rate: f64, latency: f64, ratio: f64, demand: Demand) {
        self.hold = self.hold.saturating_sub(1);
        if ratio < 1.0 {
            self.mark = None;
            self.fall(rate, latency, ratio, demand);
            return;
        }
        self.fall = None;
        // Nobody used what was allowed: no reason to allow more.
        if !demand.saturated || self.hold > 0 {
            return;
        }
        if demand.throughout {
            let (marked_limit, marked_rate) = *self.mark.get_or_insert((self.limit, rate));
            if self.limit >= marked_limit * STEP {
                if rate < marked_rate * STEP_GAIN {
                    self.limit = marked_limit;
                    self.hold = HOLD;
                    self.mark = None;
                    return;
                }
                self.mark = Some((self.limit, rate));
            }
        } else {
            // The rate was what was asked for, not what the line could carry.
            self.mark = None;
        }
        self.limit = self.limit * ratio.min(GROWTH) + 1.0;
    }
}

impl Measure {
    /// Lowers the limit, as long as that costs no rate.
    fn fall(&mut self, rate: f64, latency: f64, ratio: f64, demand: Demand) {
        let Some(mut fall) = self.fall.take() else {
            // The rate of the next window is the one to compare with: in this one the line may
            // have slowed down, which is no fault of the limit.
            self.fall = Some(Fall {
                from: self.limit,
                step: None,
            });
            self.limit *= ratio.max(SHRINKAGE);
            return;
        };
        let (limit, usual) = *fall.step.get_or_insert((self.limit, rate));
        if self.limit * STEP_BACK <= limit {
            if demand.throughout && rate * STEP_LOSS < usual {
                // Fewer at once, fewer in a second: they were not waiting for each other, these
                // hosts are slower.
                self.limit = fall.from;
                self.base_latency = Some(latency);
                self.base_age = 0;
                return;
            }
            fall.step = Some((self.limit, rate));
        }
        self.fall = Some(fall);
        self.limit *= ratio.max(SHRINKAGE);
    }
}

/// A limit on its way down.
#[derive(Clone, Copy, Debug)]
struct Fall {
    /// Where it was before.
    from: f64,
    /// Limit and rate where the last step down began.
    step: Option<(f64, f64)>,
}

/// How much of what was allowed was in use in a window.
#[derive(Clone, Copy, Debug)]
struct Demand {
    /// At some moment nearly all of it.
    saturated: bool,
    /// At every moment nearly all of it.
    throughout: bool,
}
