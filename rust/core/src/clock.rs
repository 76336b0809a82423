//! The clock: microseconds since the epoch, settable for tests.
//!
//! Only the edges of the system read it; everything inside is handed the time. It is the machine's
//! clock as it was at the start plus the time that has really passed since: a clock that someone
//! sets forward or back while a crawl runs makes no visit early and no wait long.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Wall-clock time at the start plus what has passed, plus an offset that a test can set.
#[derive(Debug)]
pub struct Clock {
    /// The machine's clock at the start.
    start: i64,
    /// The steady clock at the same moment.
    steady_start: i64,
    offset: AtomicI64,
}

impl Default for Clock {
    fn default() -> Clock {
        Clock::with_offset(0)
    }
}

impl Clock {
    /// A clock that is `offset` microseconds ahead of the machine's.
    #[must_use]
    pub fn with_offset(offset: i64) -> Clock {
        let start = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |passed| {
                i64::try_from(passed.as_micros()).unwrap_or(i64::MAX)
            });
        Clock {
            start,
            steady_start: steady(),
            offset: AtomicI64::new(offset),
        }
    }

    /// Microseconds since the epoch.
    #[must_use]
    pub fn now(&self) -> u64 {
        let passed = steady().saturating_sub(self.steady_start);
        let shown = self
            .start
            .saturating_add(passed)
            .saturating_add(self.offset.load(Ordering::Relaxed));
        u64::try_from(shown).unwrap_or(0)
    }

    /// Moves the clock forward or back.
    pub fn shift(&self, micros: i64) {
        self.offset.fetch_add(micros, Ordering::Relaxed);
    }
}

/// The steady clock, for moments that must mean the same before and after the machine slept.
#[must_use]
pub fn steady_micros() -> u64 {
    u64::try_from(steady()).unwrap_or(0)
}

/// CPU that the calling thread has used.
#[must_use]
pub fn thread_cpu() -> std::time::Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    std::time::Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Microseconds of a clock that nobody sets. It goes on while the machine sleeps, where the system
/// has such a clock.
fn steady() -> i64 {
    #[cfg(target_os = "linux")]
    const STEADY: rustix::time::ClockId = rustix::time::ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    const STEADY: rustix::time::ClockId = rustix::time::ClockId::Monotonic;
    let time = rustix::time::clock_gettime(STEADY);
    time.tv_sec
        .saturating_mul(1_000_000)
        .saturating_add(time.tv_nsec / 1_000)
}
