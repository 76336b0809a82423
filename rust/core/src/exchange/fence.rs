//! The fence: a moment after which this node begins no visit. Asked at the moment of connecting, so
//! that a process that was frozen asks when it wakes.

use std::sync::atomic::{AtomicU64, Ordering};

/// A moment of the clock that runs also while the machine sleeps; none for a standalone crawl.
#[derive(Debug)]
pub struct Fence {
    until: AtomicU64,
}

impl Default for Fence {
    fn default() -> Fence {
        Fence {
            until: AtomicU64::new(u64::MAX),
        }
    }
}

impl Fence {
    /// Visits may begin until then, in microseconds of `CLOCK_BOOTTIME`; `None`: for ever.
    pub fn set(&self, until: Option<u64>) {
        self.until
            .store(until.unwrap_or(u64::MAX), Ordering::SeqCst);
    }

    /// Whether the moment has passed.
    #[must_use]
    pub fn passed(&self) -> bool {
        let until = self.until.load(Ordering::SeqCst);
        until != u64::MAX && crate::clock::steady_micros() >= until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_passes_with_time() {
        let fence = Fence::default();
        assert!(!fence.passed());
        fence.set(Some(crate::clock::steady_micros() + 60_000_000));
        assert!(!fence.passed());
        fence.set(Some(0));
        assert!(fence.passed());
        fence.set(None);
        assert!(!fence.passed());
    }
}
