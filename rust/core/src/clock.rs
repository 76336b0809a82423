//! The clock: microseconds since the epoch, settable for tests.
//!
//! Only the edges of the system read it; everything inside is handed the time. The machine's clock
//! is read once, at the start, and counted on by a clock that cannot be set: whatever happens to
//! the machine's clock during a run, gaps stay as long as they must be.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The time of the machine at the start, counted on, plus an offset that a test can set.
#[derive(Debug)]
pub struct Clock {
    /// Microseconds since the epoch at `counted_from`, the offset included.
    start: AtomicI64,
    counted_from: Instant,
}

impl Default for Clock {
    fn default() -> Self {
        Clock::with_offset(0)
    }
}

impl Clock {
    /// A clock that is `offset` microseconds ahead of the machine's.
    #[must_use]
    pub fn with_offset(offset: i64) -> Clock {
        let machine = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |passed| i64::try_from(passed.as_micros()).unwrap_or(i64::MAX));
        Clock {
            start: AtomicI64::new(machine.saturating_add(offset)),
            counted_from: Instant::now(),
        }
    }

    /// Microseconds since the epoch.
    #[must_use]
    pub fn now(&self) -> u64 {
        let passed = i64::try_from(self.counted_from.elapsed().as_micros()).unwrap_or(i64::MAX);
        let shown = self.start.load(Ordering::Relaxed).saturating_add(passed);
        u64::try_from(shown).unwrap_or(0)
    }

    /// Moves the clock forward or back.
    pub fn shift(&self, micros: i64) {
        self.start.fetch_add(micros, Ordering::Relaxed);
    }
}
