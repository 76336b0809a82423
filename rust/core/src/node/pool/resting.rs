//! Hosts that have just asked for a rest, known to all threads the moment the answer is there.
//!
//! With several connections to a host the node may hand out its next visit before it has taken
//! the answer in. Such a visit is given back unsent.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// By then the node has heard of it, and waits by itself.
const HEARD: u64 = 10_000_000;
/// Hosts that are kept; a further one waits as soon as the node has heard.
const HOSTS: usize = 10_000;

/// Filled by answers with a `Retry-After`, emptied as their time passes.
#[derive(Debug, Default)]
pub(super) struct Resting {
    count: AtomicUsize,
    until: Mutex<HashMap<u64, u64>>,
}

impl Resting {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, u64>> {
        // Each change is complete in itself.
        self.until.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A host asked to be left alone for so many microseconds.
    pub fn rest(&self, host: u64, now: u64, wait: u64) {
        let mut until = self.lock();
        until.retain(|_, end| *end > now);
        if until.len() < HOSTS {
            let end = until.entry(host).or_default();
            *end = (*end).max(now.saturating_add(wait.min(HEARD)));
        }
        self.count.store(until.len(), Ordering::Release);
    }

    /// When a host may be visited again, if it rests.
    pub fn until(&self, host: u64, now: u64) -> Option<u64> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        self.lock().get(&host).copied().filter(|end| *end > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_rests_until_its_time_and_is_forgotten() {
        let resting = Resting::default();
        assert_eq!(resting.until(1, 100), None);
        resting.rest(1, 100, 50);
        resting.rest(1, 100, 20);
        assert_eq!(
            (resting.until(1, 149), resting.until(2, 149)),
            (Some(150), None)
        );
        assert_eq!(resting.until(1, 150), None);
        resting.rest(2, 200, u64::MAX);
        assert_eq!(resting.until(2, 201), Some(200 + HEARD));
        assert_eq!(resting.lock().len(), 1);
    }
}
