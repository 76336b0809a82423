//! Remembers which pages have already refused once, in bounded memory.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// When this many pages are remembered all are forgotten, and refuse once more.
const BOUND: usize = 1 << 20;

#[derive(Debug, Default)]
pub(crate) struct Once {
    seen: Mutex<HashSet<u64>>,
}

impl Once {
    /// True the first time that a page is asked for.
    pub fn first(&self, page: u64) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= BOUND {
            seen.clear();
        }
        seen.insert(page)
    }
}
