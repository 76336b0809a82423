//! How many fetches may run at once: found by measuring, not by a constant.
//!
//! Takes the latency of each fetch as it ends; gives permits. In each window it measures how many
//! fetches ended per second and how long they took. The most that the line and the machine carried
//! lately, times the latency they have without a queue, is the number of fetches that fill them
//! (Little's law); a little more than that is allowed, so that growth shows when there is room.
//! Beyond the knee more fetches only wait for each other: the rate stands, the latency grows, and
//! the limit stays. When the latency grows by itself, the limit falls with it.

use std::collections::VecDeque;
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
/// Allowed over what fills the line.
const GAIN: f64 = 1.25;
/// Windows over which the best rate counts.
const RATE_MEMORY: usize = 8;
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
    rates: VecDeque<f64>,
    base_latency: Option<f64>,
    base_age: u32,
    probing: u32,
    last_latency: f64,
    bytes: u64,
}

/// The limit of the process. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Limiter {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    settings: LimiterSettings,
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
            rates: VecDeque::new(),
            base_latency: None,
            base_age: 0,
            probing: 0,
            last_latency: 0.0,
            bytes: 0,
        };
        Limiter {
            inner: Arc::new(Inner {
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
        target(&self.inner.settings, &self.inner.lock().measure)
    }

    /// Tells how a fetch went. `now` is microseconds; `ok`: an answer came, of whatever status.
    pub fn record(&self, now: u64, latency: Duration, ok: bool, bytes: usize) {
        if self.inner.settings.fixed.is_some() {
            return;
        }
        let mut state = self.inner.lock();
        state.measure.take(now, latency, ok, bytes);
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
        if state.size > target(&self.inner.settings, &state.measure) {
            permit.forget();
            state.size -= 1;
        }
    }
}

fn target(settings: &LimiterSettings, measure: &Measure) -> usize {
    settings
        .fixed
        .unwrap_or_else(|| (measure.limit as usize).clamp(settings.min, settings.max))
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn resize(&self, state: &mut State) {
        let target = target(&self.settings, &state.measure);
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
    fn take(&mut self, now: u64, latency: Duration, ok: bool, bytes: usize) {
        self.window_start.get_or_insert(now);
        self.ended += 1;
        self.bytes += bytes as u64;
        // Failures end fast or at a time limit: their latency says nothing of the line.
        if ok {
            self.latency_sum += latency.as_secs_f64();
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
            let latency = self.latency_sum / self.latency_count as f64;
            self.last_latency = latency;
            self.learn(rate, latency);
            self.steer(latency, saturated, troubled);
        } else if troubled {
            self.limit *= 0.7;
        }
        self.limit = self.limit.clamp(settings.min as f64, settings.max as f64);
        self.window_start = Some(now);
        (self.ended, self.failed, self.latency_count, self.busiest) = (0, 0, 0, 0);
        self.latency_sum = 0.0;
    }

    fn learn(&mut self, rate: f64, latency: f64) {
        self.rates.push_back(rate);
        if self.rates.len() > RATE_MEMORY {
            self.rates.pop_front();
        }
        match self.base_latency {
            Some(base) if latency >= base && self.probing != 1 => self.base_age += 1,
            // Lower than known, or measured on purpose: this is the latency without a queue.
            _ => {
                self.base_latency = Some(latency);
                self.base_age = 0;
            }
        }
        self.probing = self.probing.saturating_sub(1);
    }

    fn steer(&mut self, latency: f64, saturated: bool, troubled: bool) {
        let base = self.base_latency.unwrap_or(latency);
        let best = self.rates.iter().copied().fold(0.0, f64::max);
        let fills = best * base;
        if troubled {
            self.limit *= 0.7;
        } else if self.probing > 0 {
            // Between the two windows of a measurement the limit stays low.
        } else if self.base_age >= LATENCY_MEMORY {
            self.probing = PROBE;
            self.limit = fills * 0.5;
        } else {
            let wanted = GAIN * fills + 2.0;
            if wanted > self.limit && !saturated {
                // Nobody used what was allowed: no reason to allow more.
            } else if wanted > self.limit {
                self.limit = wanted.min(self.limit * 2.0);
            } else {
                // Down by steps, so that one odd window costs little.
                self.limit = wanted.max(self.limit * 0.7);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    /// A line that carries `rate` fetches per second and takes `base` seconds for each when free.
    struct Line {
        limiter: Limiter,
        now: u64,
        next_free: f64,
        running: BinaryHeap<Reverse<(u64, u64)>>,
        permits: Vec<Permit>,
    }

    impl Line {
        fn new(settings: LimiterSettings) -> Self {
            Line {
                limiter: Limiter::new(settings),
                now: 1_000_000,
                next_free: 0.0,
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
                    let spread = 0.5 + f64::from((self.permits.len() * 7919 % 101) as u32) / 100.0;
                    let done = ((enter + base * spread) * 1e6) as u64;
                    self.running.push(Reverse((done, self.now)));
                }
                let Some(Reverse((done, started))) = self.running.pop() else {
                    panic!("no permit and nothing running");
                };
                self.now = self.now.max(done);
                self.permits.pop();
                let latency = Duration::from_micros(self.now - started);
                self.limiter.record(self.now, latency, true, 20_000);
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
            limiter.record(n * 1000, Duration::from_secs(1), false, 0);
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
            fixed.record(n * 100_000, Duration::from_millis(5), n % 2 == 0, 1);
        }
        let held: Vec<_> = std::iter::from_fn(|| fixed.try_acquire()).collect();
        assert_eq!((held.len(), fixed.limit()), (3, 3));
    }

    #[test]
    fn idle_demand_does_not_raise_the_limit() {
        let limiter = Limiter::new(LimiterSettings::default());
        for n in 0..5000u64 {
            let permit = limiter.try_acquire().unwrap();
            limiter.record(n * 10_000, Duration::from_millis(100), true, 1);
            drop(permit);
        }
        assert!(limiter.limit() <= 64, "{}", limiter.limit());
    }
}
