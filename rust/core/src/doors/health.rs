//! How the policies of a door are doing, and when the door rests.

use std::time::{Duration, Instant};

use serde::Serialize;

/// Failures in a row after which a door rests.
const STRIKES: u32 = 3;
const FIRST_REST: Duration = Duration::from_secs(10);
const LONGEST_REST: Duration = Duration::from_secs(600);

/// Longest reason that is kept, in bytes.
const REASON: usize = 200;

/// Why a batch has the native default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// No answer within the patience.
    Late,
    /// The policy said that it failed.
    Failed,
    /// The answer could not be used.
    Nonsense,
    /// The doors were closed before the answer came; nobody is to blame.
    Closed,
}

impl Failure {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Failure::Late => "late",
            Failure::Failed => "failed",
            Failure::Nonsense => "nonsense",
            Failure::Closed => "closed",
        }
    }

    /// For people: why a policy did not judge.
    #[must_use]
    pub fn words(self, what: &str) -> String {
        format!("{}: {what}", self.as_str())
    }
}

/// Counts since the process began, and how the door stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DoorReport {
    /// Batches that were answered, and their rows.
    pub batches: u64,
    pub rows: u64,
    /// Batches that were not: in all, not in time, because the policy failed, because the answer was
    /// wrong.
    pub failures: u64,
    pub late: u64,
    pub failed: u64,
    pub nonsense: u64,
    /// Rows that had the native default because of that, or because the door rested.
    pub defaults: u64,
    /// Seconds that the door still rests.
    pub resting: Option<f64>,
    /// The last failure, in words; empty: there was none.
    pub last_failure: String,
}

#[derive(Debug, Default)]
pub(super) struct Health {
    report: DoorReport,
    strikes: u32,
    rest: Option<Duration>,
    until: Option<Instant>,
}

impl Health {
    pub fn rests(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| now < until)
    }

    pub fn answered(&mut self, rows: usize) {
        self.report.batches += 1;
        self.report.rows += rows as u64;
        self.strikes = 0;
        self.rest = None;
        self.until = None;
    }

    pub fn failed(&mut self, failure: Failure, reason: &str, now: Instant) {
        match failure {
            Failure::Late => self.report.late += 1,
            Failure::Failed => self.report.failed += 1,
            Failure::Nonsense => self.report.nonsense += 1,
            Failure::Closed => return,
        }
        self.report.failures += 1;
        self.report.last_failure = short(reason);
        self.strikes += 1;
        if self.strikes >= STRIKES && !self.rests(now) {
            let rest = self.rest.map_or(FIRST_REST, |last| last * 2);
            let rest = rest.min(LONGEST_REST);
            self.rest = Some(rest);
            self.until = Some(now + rest);
            // After the rest one failure is enough for the next.
            self.strikes = STRIKES - 1;
        }
    }

    pub fn count_defaults(&mut self, rows: u64) {
        self.report.defaults += rows;
    }

    pub fn report(&self, now: Instant) -> DoorReport {
        let left = self.until.map(|until| until.saturating_duration_since(now));
        DoorReport {
            resting: left
                .filter(|left| !left.is_zero())
                .map(|left| left.as_secs_f64()),
            ..self.report.clone()
        }
    }
}

/// A text of bounded length without control characters.
pub(super) fn short(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if out.len() + c.len_utf8() > REASON {
            break;
        }
        out.push(if c.is_control() { ' ' } else { c });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_failures_in_a_row_make_a_rest_that_grows() {
        let (mut health, start) = (Health::default(), Instant::now());
        health.failed(Failure::Late, "a", start);
        health.failed(Failure::Failed, "b", start);
        assert!(!health.rests(start));
        health.failed(Failure::Nonsense, "c", start);
        assert!(health.rests(start + Duration::from_secs(9)));
        let mut now = start + Duration::from_secs(11);
        assert!(!health.rests(now));
        let mut rests = Vec::new();
        for _ in 0..8 {
            health.failed(Failure::Late, "d", now);
            let resting = health.report(now).resting.unwrap_or(0.0);
            rests.push(resting as u64);
            now += Duration::from_secs_f64(resting + 1.0);
        }
        assert_eq!(rests, [20, 40, 80, 160, 320, 600, 600, 600]);
        health.answered(5);
        health.failed(Failure::Late, "e", now);
        assert!(!health.rests(now));
        let report = health.report(now);
        assert_eq!(
            (report.late, report.failed, report.nonsense, report.rows),
            (10, 1, 1, 5)
        );
    }

    #[test]
    fn reasons_are_short_and_plain() {
        assert_eq!(short("a\nb\u{7}"), "a b ");
        assert!(short(&"é".repeat(500)).len() <= REASON);
    }
}
