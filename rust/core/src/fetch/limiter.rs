//! How many fetches may run at once: found by measuring, not by a constant.
//!
//! Takes the latency of each fetch as it ends; gives permits. In each window it measures how many
//! fetches ended per second and how long the typical one took. Below the knee of line and machine
//! more fetches raise the rate and leave the latency; beyond it they only wait for each other. So
//! the limit follows the ratio of the latency without a queue to the latency now, and goes back
//! where a larger limit brought no larger rate. The latency without a queue is measured anew from
//! time to time with the limit lowered: hosts change, and so does the line.

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
/// A limit that is this much larger must have brought this much more rate.
const STEP: f64 = 1.5;
const STEP_GAIN: f64 = 1.1;
/// Windows without growth after a step that brought nothing.
const HOLD: u32 = 20;
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
    latency_sum: f64,
    latency_count: u64,
    failed: u64,
    usual_failures: f64,
    busiest: usize,
    windows: u32,
    /// Limit and rate where the last step began.
    mark: Option<(f64, f64)>,
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
            latency_sum: 0.0,
            latency_count: 0,
            failed: 0,
            usual_failures: 0.0,
            busiest: 0,
            windows: 0,
            mark: None,
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
        state.measure.take(now, latency, ok);
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

    fn take(&mut self, now: u64, latency: Duration, ok: bool) {
        self.window_start.get_or_insert(now);
        self.ended += 1;
        // Failures end fast or at a time limit: their latency says nothing of the line.
        if ok {
            // The logarithm, so that a few slow hosts do not hide what most do.
            self.latency_sum += latency.as_secs_f64().max(1e-6).ln();
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
        let saturated = self.busiest as f64 >= self.limit * 0.8;
        if self.latency_count > 0 {
            let latency = (self.latency_sum / self.latency_count as f64).exp();
            self.last_latency = latency;
            self.learn(latency);
            self.steer(rate, latency, saturated, troubled);
        } else if troubled {
            self.limit *= 0.7;
        }
        self.limit = self.limit.clamp(settings.min as f64, settings.max as f64);
        self.window_start = Some(now);
        (self.ended, self.failed, self.latency_count, self.busiest) = (0, 0, 0, 0);
        self.latency_sum = 0.0;
    }

    fn learn(&mut self, latency: f64) {
        self.windows = self.windows.saturating_add(1);
        let measured = self.probing == 1;
        self.probing = self.probing.saturating_sub(1);
        if self.windows <= WARM_UP {
            return;
        }
        match self.base_latency {
            Some(base) if latency >= base && !measured => self.base_age += 1,
            // Lower than known, or measured on purpose.
            _ => {
                self.base_latency = Some(latency);
                self.base_age = 0;
            }
        }
    }

    fn steer(&mut self, rate: f64, latency: f64, saturated: bool, troubled: bool) {
        let Some(base) = self.base_latency else {
            return;
        };
        if troubled {
            self.limit *= SHRINKAGE;
        } else if self.probing > 0 {
            // Between the two windows of a measurement the limit stays low.
        } else if self.base_age >= LATENCY_MEMORY {
            self.probing = PROBE;
            self.base_age = 0;
            self.limit *= 0.5 * (base / latency).min(1.0);
            self.mark = None;
        } else {
            self.follow(rate, TOLERANCE * base / latency, saturated);
        }
    }

    fn follow(&mut self, rate: f64, ratio: f64, saturated: bool) {
        self.hold = self.hold.saturating_sub(1);
        if ratio < 1.0 {
            self.limit *= ratio.max(SHRINKAGE);
            self.mark = None;
            return;
        }
        // Nobody used what was allowed: no reason to allow more.
        if !saturated || self.hold > 0 {
            return;
        }
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
        self.limit = self.limit * ratio.min(GROWTH) + 1.0;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    /// A line that carries `rate` fetches per second and takes `base` seconds for each when free.
    struct Line {
        limiter: Limiter,
        now: u64,
        next_free: f64,
        started: u32,
        running: BinaryHeap<Reverse<(u64, u64)>>,
        permits: Vec<Permit>,
    }

    impl Line {
        fn new(settings: LimiterSettings) -> Self {
            Line {
                limiter: Limiter::new(settings),
                now: 1_000_000,
                next_free: 0.0,
                started: 1,
                running: BinaryHeap::new(),
                permits: Vec::new(),
            }
        }

        /// Runs for so long with endless demand; gives the limit averaged over the second half.
        fn run(&mut self, seconds: u64, rate: f64, base: f64) -> f64 {
            let begun = self.now;
            let end = begun + seconds * 1_000_000;
            let (mut sum, mut count) = (0.0, 0.0);
            while self.now < end {
                while let Some(permit) = self.limiter.try_acquire() {
                    self.permits.push(permit);
                    // Through the bottleneck one after the other, then over the line. Latency
                    // varies by host; the sequence is fixed.
                    let enter = self.next_free.max(self.now as f64 / 1e6) + 1.0 / rate;
                    self.next_free = enter;
                    self.started = self
                        .started
                        .wrapping_mul(1_664_525)
                        .wrapping_add(1_013_904_223);
                    let spread = 0.5 + f64::from(self.started >> 8) / f64::from(1 << 24);
                    let done = ((enter + base * spread) * 1e6) as u64;
                    self.running.push(Reverse((done, self.now)));
                }
                let Some(Reverse((done, started))) = self.running.pop() else {
                    panic!("no permit and nothing running");
                };
                self.now = self.now.max(done);
                self.permits.pop();
                let latency = Duration::from_micros(self.now - started);
                self.limiter.record(self.now, latency, true);
                if self.now > begun + seconds * 500_000 {
                    sum += self.limiter.limit() as f64;
                    count += 1.0;
                }
            }
            sum / count
        }
    }

    #[test]
    fn finds_the_knee_within_a_factor_of_two() {
        for (rate, base) in [(1000.0, 0.1), (5000.0, 0.2), (200.0, 1.0), (3000.0, 0.02)] {
            let mut line = Line::new(LimiterSettings::default());
            let limit = line.run(120, rate, base);
            let knee: f64 = rate * base;
            assert!(
                (knee / 2.0..knee * 2.0).contains(&limit),
                "knee {knee}: {limit}"
            );
        }
    }

    #[test]
    fn backs_off_when_the_line_slows_and_grows_again() {
        let mut line = Line::new(LimiterSettings::default());
        let before = line.run(60, 4000.0, 0.1);
        let slowed = line.run(60, 400.0, 0.1);
        assert!(slowed < before / 4.0, "{before} then {slowed}");
        let again = line.run(60, 4000.0, 0.1);
        assert!(again > slowed * 4.0, "{slowed} then {again}");
    }

    #[test]
    fn backs_off_when_fetches_begin_to_fail() {
        let limiter = Limiter::new(LimiterSettings {
            start: 1000,
            ..LimiterSettings::default()
        });
        for n in 0..2000 {
            limiter.record(n * 1000, Duration::from_secs(1), false);
        }
        assert!(limiter.limit() < 500, "{}", limiter.limit());
    }

    #[test]
    fn bounds_and_a_fixed_value_hold() {
        let mut line = Line::new(LimiterSettings {
            max: 100,
            ..LimiterSettings::default()
        });
        assert!(line.run(20, 100_000.0, 0.1) <= 100.0);
        let fixed = Limiter::new(LimiterSettings {
            fixed: Some(3),
            ..LimiterSettings::default()
        });
        for n in 0..1000 {
            fixed.record(n * 100_000, Duration::from_millis(5), n % 2 == 0);
        }
        let held: Vec<_> = std::iter::from_fn(|| fixed.try_acquire()).collect();
        assert_eq!((held.len(), fixed.limit()), (3, 3));
    }

    #[test]
    fn a_fixed_value_can_change_and_end() {
        let limiter = Limiter::new(LimiterSettings::default());
        let mut held: Vec<_> = std::iter::from_fn(|| limiter.try_acquire()).collect();
        assert_eq!(held.len(), 64);
        limiter.set_fixed(Some(3));
        assert_eq!(limiter.limit(), 3);
        // Permits given out go as they come back.
        held.truncate(3);
        assert!(limiter.try_acquire().is_none());
        held.clear();
        let held: Vec<_> = std::iter::from_fn(|| limiter.try_acquire()).collect();
        assert_eq!(held.len(), 3);
        limiter.set_fixed(Some(10));
        let more: Vec<_> = std::iter::from_fn(|| limiter.try_acquire()).collect();
        assert_eq!(more.len(), 7);
        limiter.set_fixed(None);
        assert_eq!(limiter.limit(), 10);
    }

    #[test]
    fn idle_demand_does_not_raise_the_limit() {
        let limiter = Limiter::new(LimiterSettings::default());
        for n in 0..5000u64 {
            let permit = limiter.try_acquire().unwrap();
            limiter.record(n * 10_000, Duration::from_millis(100), true);
            drop(permit);
        }
        assert!(limiter.limit() <= 64, "{}", limiter.limit());
    }
}
