//! The frontier's own time: the caller's clock, held so that it never runs backwards.
//!
//! If the caller's clock is set back, the frontier's time goes on from where it was, at the same
//! rate; due times keep their meaning and no visit is early. A clock that is set forward cannot be
//! told from time that passed: a caller that wants to be safe from that too passes the wall clock
//! of its start plus a monotonic clock since then.

use super::Micros;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clock {
    /// Frontier time minus the caller's time.
    offset: u64,
    /// The latest frontier time given out.
    last: Micros,
}

impl Clock {
    /// A clock that never goes below `floor`, the last time on record.
    pub fn from(floor: Micros) -> Clock {
        Clock {
            offset: 0,
            last: floor,
        }
    }

    /// Takes the caller's time, gives frontier time.
    pub fn tick(&mut self, raw: Micros) -> Micros {
        let time = raw.saturating_add(self.offset);
        if time < self.last {
            self.offset = self.last.saturating_sub(raw);
        } else {
            self.last = time;
        }
        self.last
    }

    /// The latest frontier time.
    pub fn last(self) -> Micros {
        self.last
    }

    /// Frontier time minus the caller's time.
    pub fn offset(self) -> u64 {
        self.offset
    }

    /// Frontier time of a moment that the caller's clock named.
    pub fn inside(self, raw: Micros) -> Micros {
        raw.saturating_add(self.offset)
    }

    /// What the caller's clock will show at a frontier time.
    pub fn outside(self, time: Micros) -> Micros {
        if time == Micros::MAX {
            time
        } else {
            time.saturating_sub(self.offset)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Clock;

    #[test]
    fn a_clock_set_back_goes_on_at_its_rate() {
        let mut clock = Clock::from(0);
        assert_eq!(clock.tick(5_000), 5_000);
        assert_eq!(clock.tick(1_000), 5_000);
        assert_eq!(clock.tick(1_010), 5_010);
        assert_eq!(clock.outside(5_020), 1_020);
        assert_eq!(clock.inside(1_020), 5_020);
    }

    #[test]
    fn the_time_on_record_is_the_floor() {
        let mut clock = Clock::from(9_000);
        assert_eq!(clock.tick(100), 9_000);
        assert_eq!(clock.tick(150), 9_050);
    }
}
