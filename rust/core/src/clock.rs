//! The clock: microseconds since the epoch, settable for tests.
//!
//! Only the edges of the system read it; everything inside is handed the time.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Wall-clock time plus an offset that a test can set.
#[derive(Debug, Default)]
pub struct Clock {
    offset: AtomicI64,
}

impl Clock {
    /// A clock that is `offset` microseconds ahead of the machine's.
    #[must_use]
    pub fn with_offset(offset: i64) -> Clock {
        Clock {
            offset: AtomicI64::new(offset),
        }
    }

    /// Microseconds since the epoch.
    #[must_use]
    pub fn now(&self) -> u64 {
        let machine = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |passed| {
                i64::try_from(passed.as_micros()).unwrap_or(i64::MAX)
            });
        let shown = machine.saturating_add(self.offset.load(Ordering::Relaxed));
        u64::try_from(shown).unwrap_or(0)
    }

    /// Moves the clock forward or back.
    pub fn shift(&self, micros: i64) {
        self.offset.fetch_add(micros, Ordering::Relaxed);
    }
}
