//! Change: each page changes by a Poisson process of its own rate, on a simulated clock.
//! The time line is cut into cells in which one change is expected; each cell's changes follow
//! from a hash, so the state at any time is found by looking back over a few cells.

use std::time::{Duration, UNIX_EPOCH};

use super::hash::{Draw, Purpose};
use super::{Model, Place};

/// The simulated clock shows this when the server starts: 2026-01-01T00:00:00Z.
pub const SIM_START: f64 = 1_767_225_600.0;
const DAY: f64 = 86_400.0;
/// 64 empty cells in a row have a probability of e^-64.
const LOOK_BACK: u64 = 64;

/// A page's content at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct State {
    /// Differs between any two states of the page.
    pub version: u64,
    /// When this state began, in simulated seconds since 1970.
    pub changed: f64,
}

impl Model {
    /// Changes per simulated day of a page, by the page whose bytes it shows.
    #[must_use]
    pub fn change_rate(&self, original: Place) -> f64 {
        if self.options.change_rate == 0.0 {
            return 0.0;
        }
        let host = self.hosts.content(original.host);
        // Log-normal about the mean: a few pages change often, most seldom.
        let spread = (self.draw(Purpose::Rate, host, original.page).normal() - 0.5).exp();
        self.options.change_rate * spread
    }

    /// The state of a page at a simulated time in seconds since 1970.
    #[must_use]
    pub fn state(&self, original: Place, now: f64) -> State {
        let rate = self.change_rate(original);
        let host = self.hosts.content(original.host);
        let born = || {
            let age = self.draw(Purpose::Change, host, original.page).unit() * 365.0 * DAY;
            State {
                version: 0,
                changed: (SIM_START - age).floor(),
            }
        };
        if rate <= 0.0 {
            return born();
        }
        let width = DAY / rate;
        let cell = (now / width) as u64;
        for cell in (cell.saturating_sub(LOOK_BACK)..=cell).rev() {
            let seed = self.options.seed ^ cell.wrapping_mul(0xff51_afd7_ed55_8ccd);
            let mut draw = Draw::new(seed, Purpose::Change, u64::from(host), original.page);
            let (mut changes, mut last) = (0, f64::MIN);
            for _ in 0..poisson_one(draw.unit()) {
                let at = (cell as f64 + draw.unit()) * width;
                if at <= now {
                    changes += 1;
                    last = last.max(at);
                }
            }
            if changes > 0 {
                return State {
                    version: cell.wrapping_mul(32) + changes,
                    changed: last,
                };
            }
        }
        born()
    }
}

/// A Poisson number of mean 1 from a uniform draw.
fn poisson_one(roll: f64) -> u64 {
    let (mut count, mut term) = (0, (-1.0f64).exp());
    let mut sum = term;
    while roll >= sum && count < 16 {
        count += 1;
        term /= count as f64;
        sum += term;
    }
    count
}

/// A time as in HTTP headers.
#[must_use]
pub fn http_date(seconds: f64) -> String {
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(seconds.clamp(0.0, 2e11) as u64))
}

/// A day as in sitemaps.
#[must_use]
pub fn iso_date(seconds: f64) -> String {
    // Days to a date of the civil calendar, counted from 0000-03-01.
    let days = (seconds.clamp(0.0, 2e11) / DAY) as i64 + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}
