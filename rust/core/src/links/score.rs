//! A score: how soon a URL should be visited, from 0 (last) to 1 (first).
//!
//! Kept in 16 bits: 65,536 steps are far more than the bands of the queue, and every queued URL has one.

/// The number of bands of a queue; 0 is the best.
pub const BANDS: u8 = 64;

/// Steps of a score in one band.
const STEPS: u32 = 65_536 / BANDS as u32;

/// Bands for what promises less than is usual, but one; and as many for what looks like a view of something else.
const LOW: f32 = 5.0;
const SIDE: u16 = 6;

/// From 0 (last) to 1 (first).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Score(u16);

impl Score {
    pub const LAST: Score = Score(0);
    pub const FIRST: Score = Score(u16::MAX);

    /// Cut to 0 to 1; what is no number is 0.
    #[must_use]
    pub fn new(value: f32) -> Score {
        // `as` cuts at the ends, and takes NaN for 0.
        let steps = (value.clamp(0.0, 1.0) * 65_536.0) as u32;
        Score(u16::try_from(steps).unwrap_or(u16::MAX))
    }

    /// Behind what is usual and before the last: by what a URL promises, from 0 to 1. `is_side`: it looks like a view of
    /// something else, and comes behind what does not.
    #[must_use]
    pub fn low(promises: f32, is_side: bool) -> Score {
        let side = if is_side { 0 } else { SIDE };
        let band = 1 + side + (promises.clamp(0.0, 1.0) * LOW) as u16;
        Score(band * STEPS as u16)
    }

    #[must_use]
    pub fn value(self) -> f32 {
        match self {
            Score::FIRST => 1.0,
            Score(steps) => f32::from(steps) / 65_536.0,
        }
    }

    /// The band of the queue: steps of 1/64 from the best score down.
    #[must_use]
    pub fn band(self) -> u8 {
        let below = (65_536 - u32::from(self.0)) / STEPS;
        (below as u8).min(BANDS - 1)
    }

    pub(crate) fn to_bytes(self) -> [u8; 2] {
        self.0.to_be_bytes()
    }

    pub(crate) fn from_bytes(bytes: [u8; 2]) -> Score {
        Score(u16::from_be_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_is_a_step_of_a_64th() {
        for band in 0..BANDS {
            let score = Score::new(1.0 - f32::from(band) / 64.0);
            assert_eq!(score.band(), band);
            assert_eq!(score.value(), 1.0 - f32::from(band) / 64.0);
        }
        assert_eq!((Score::FIRST.band(), Score::LAST.band()), (0, 63));
        assert_eq!(Score::new(0.999).band(), 0);
    }

    #[test]
    fn odd_numbers_are_cut() {
        for (odd, value) in [
            (f32::NAN, 0.0),
            (f32::NEG_INFINITY, 0.0),
            (-0.1, 0.0),
            (7.0, 1.0),
            (f32::INFINITY, 1.0),
        ] {
            assert_eq!(Score::new(odd).value(), value);
        }
        for value in 0..=u16::MAX {
            assert_eq!(Score::new(Score(value).value()), Score(value));
            assert_eq!(Score::from_bytes(Score(value).to_bytes()), Score(value));
        }
    }
}
