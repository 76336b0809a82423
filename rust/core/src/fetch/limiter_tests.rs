//! The limiter on simulated lines, with simulated time.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use super::limiter::{Limiter, LimiterSettings, Permit};

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

/// A line without end, and hosts that may be visited again `gap` after their last answer: gives
/// how late the latest visit of the second half of the time began, in seconds. Hosts differ in
/// latency: those that are quick come round sooner.
fn latest(limiter: &Limiter, hosts: usize, seconds: u64) -> f64 {
    let (gap, end) = (5_000_000, seconds * 1_000_000);
    let mut chance = 1u32;
    let mut due: BinaryHeap<_> = (0..hosts as u64).map(|host| Reverse((1, host))).collect();
    let mut running = BinaryHeap::new();
    let mut permits = Vec::new();
    let (mut now, mut latest) = (0, 0);
    while now < end {
        while let Some(&Reverse((at, host))) = due.peek()
            && at <= now
            && let Some(permit) = limiter.try_acquire()
        {
            due.pop();
            permits.push(permit);
            chance = chance.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let own = 20_000 + host * 160_000 / hosts as u64;
            let took = own + u64::from(chance >> 8) * 20_000 / (1 << 24);
            running.push(Reverse((now + took, took, host)));
            if now > end / 2 {
                latest = latest.max(now - at);
            }
        }
        let ending = running.peek().map_or(u64::MAX, |Reverse((at, ..))| *at);
        let next = due.peek().map_or(u64::MAX, |Reverse((at, _))| *at);
        now = if next > now { ending.min(next) } else { ending };
        if now == ending
            && let Some(Reverse((_, took, host))) = running.pop()
        {
            limiter.record(now, Duration::from_micros(took), true);
            permits.pop();
            due.push(Reverse((now + gap, host)));
        }
    }
    latest as f64 / 1e6
}

#[test]
fn hosts_that_wait_for_politeness_do_not_wait_for_the_limit() {
    // All due at once: bursts, with silence between.
    for hosts in [200, 1_000, 10_000, 30_000] {
        let limiter = Limiter::new(LimiterSettings::default());
        let late = latest(&limiter, hosts, 300);
        assert!(late < 1.0, "{hosts} hosts: {late} s, {}", limiter.limit());
    }
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
