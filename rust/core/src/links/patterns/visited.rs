//! The URLs that were visited, as far as memory is for it: whether what looks like a view of a page is one.
//!
//! `/ID/raw` is a view of `/ID/` once that was visited, and may be the only way to its text before. A table of
//! fingerprints that grows up to a bound; what is forgotten, or was visited by another process, counts as not visited, which makes us more
//! patient.

use xxhash_rust::xxh3::xxh3_64;

/// Slots at first and at most (8 bytes each).
const LEAST: usize = 1 << 12;
const LARGEST: usize = 1 << 21;
/// Slots that a URL may be in.
const NEAR: usize = 8;

#[derive(Debug, Default)]
pub(super) struct VisitedUrls {
    /// 0: free.
    slots: Vec<u64>,
    used: usize,
}

impl VisitedUrls {
    pub fn add(&mut self, url: &str) {
        if self.used * 2 >= self.slots.len() && self.slots.len() < LARGEST {
            self.grow();
        }
        let print = print(url);
        let near = self.near(print);
        let near = &mut self.slots[near];
        if near.contains(&print) {
            return;
        }
        let free = near.iter().position(|slot| *slot == 0);
        self.used += usize::from(free.is_some());
        // No room: the place of any other will do.
        near[free.unwrap_or(print as usize % NEAR)] = print;
    }

    /// Whether something was forgotten for want of room.
    pub fn is_full(&self) -> bool {
        self.slots.len() >= LARGEST
    }

    pub fn contains(&self, url: &str) -> bool {
        let print = print(url);
        !self.slots.is_empty() && self.slots[self.near(print)].contains(&print)
    }

    fn near(&self, print: u64) -> std::ops::Range<usize> {
        let bits = self.slots.len().trailing_zeros();
        let first = (u128::from(print) << bits >> 64) as usize;
        let first = first.min(self.slots.len() - NEAR);
        first..first + NEAR
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(LEAST);
        let old = std::mem::replace(&mut self.slots, vec![0; size]);
        self.used = 0;
        for print in old.into_iter().filter(|print| *print != 0) {
            let near = self.near(print);
            if let Some(free) = self.slots[near].iter_mut().find(|slot| **slot == 0) {
                *free = print;
                self.used += 1;
            }
        }
    }
}

fn print(url: &str) -> u64 {
    xxh3_64(url.as_bytes()).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bounded_and_what_is_known_stays_when_the_table_grows() {
        let mut visited = VisitedUrls::default();
        let url = |n: u32| format!("http://a/{n}");
        for n in 0..100_000 {
            visited.add(&url(n));
        }
        let known = (0..100_000).filter(|n| visited.contains(&url(*n))).count();
        assert!(known > 98_000, "{known}");
        let unknown = (100_000..200_000).filter(|n| visited.contains(&url(*n)));
        assert_eq!(unknown.count(), 0);
        assert!(visited.slots.len() <= LARGEST);
    }
}
