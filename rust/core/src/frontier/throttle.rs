//! What a host that asked for less (429, 503) adds to its gap, and how it gets that back.
//!
//! Each throttling multiplies the gap, from `least` up to `longest`; each stretch of good answers
//! takes half of what was added away. The numbers: `src/gossamer/policy/hosts/throttling.py`.

use serde::Deserialize;

use super::Micros;

/// How a gap widens and narrows. Times are microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Throttling {
    /// The gap after a throttling is at least this …
    pub least: Micros,
    /// … and so many times the one before …
    pub growth: f32,
    /// … but it does not widen beyond this.
    pub longest: Micros,
    /// Good answers in a row after which half of what was added goes.
    pub stretch: u16,
}

impl Default for Throttling {
    fn default() -> Throttling {
        Throttling {
            least: 250_000,
            growth: 2.0,
            longest: 60_000_000,
            stretch: 20,
        }
    }
}

/// What is kept of a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Throttle {
    /// Added to the gap, in milliseconds.
    pub added_ms: u32,
    /// Good answers since it changed.
    pub good: u16,
}

impl Throttle {
    pub fn added(self) -> Micros {
        u64::from(self.added_ms) * 1_000
    }

    /// The host was throttled; `gap`: without what is added. `again`: by a URL that it has refused
    /// before; if other URLs were answered well meanwhile, that is the page's own trouble.
    pub(super) fn widen(&mut self, gap: Micros, again: bool, numbers: &Throttling) {
        if again && self.good > 0 {
            return;
        }
        let now = gap.saturating_add(self.added()) as f64;
        let wider = (now * f64::from(numbers.growth.max(1.0))) as Micros;
        let wider = wider.max(numbers.least).min(numbers.longest);
        let added = wider.saturating_sub(gap).div_ceil(1_000);
        // What was added before is not taken back by a throttling.
        self.added_ms = self.added_ms.max(added.try_into().unwrap_or(u32::MAX));
        self.good = 0;
    }

    /// The host answered well.
    pub(super) fn narrow(&mut self, numbers: &Throttling) {
        if self.added_ms == 0 {
            return;
        }
        self.good = self.good.saturating_add(1);
        if self.good >= numbers.stretch.max(1) {
            self.good = 0;
            self.added_ms /= 2;
            // The last hundredth of a first widening is no rest that a server would notice.
            if self.added() < numbers.least / 100 {
                self.added_ms = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_widens_to_its_bound_and_narrows_to_nothing() {
        let numbers = Throttling::default();
        let mut throttle = Throttle::default();
        let mut gaps = Vec::new();
        for _ in 0..9 {
            throttle.widen(0, true, &numbers);
            gaps.push(throttle.added_ms);
        }
        assert_eq!(
            gaps,
            [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000]
        );
        let mut answers = 0;
        while throttle.added_ms > 0 {
            throttle.narrow(&numbers);
            answers += 1;
            if answers == 19 {
                assert_eq!(throttle.added_ms, 60_000);
                throttle.widen(0, true, &numbers);
                assert_eq!(throttle.good, 19, "a page that was refused before");
            }
            if answers == 20 {
                assert_eq!(throttle.added_ms, 30_000);
            }
        }
        assert_eq!(answers, 15 * 20);
        // On top of a gap of its own; beyond the bound nothing is added.
        throttle.widen(3_000_000, false, &numbers);
        assert_eq!(throttle.added_ms, 3_000);
        let mut slow = Throttle::default();
        slow.widen(90_000_000, false, &numbers);
        assert_eq!(slow.added_ms, 0);
    }
}
