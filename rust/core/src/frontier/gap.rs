//! The gap of a host: the least time from the end of a visit to the start of the next.

use super::Micros;
use super::host::HostRecord;
use super::settings::Settings;

/// What makes the gap of a host as long as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GapSource {
    Setting,
    Rule,
    CrawlDelay,
    ResponseTime,
    /// A host policy's delay.
    Policy,
}

impl GapSource {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            GapSource::Setting => "setting",
            GapSource::Rule => "rule",
            GapSource::CrawlDelay => "crawl_delay",
            GapSource::ResponseTime => "response_time",
            GapSource::Policy => "policy",
        }
    }
}

impl HostRecord {
    /// The least time between two visits.
    #[must_use]
    pub fn gap(&self, key: u64, settings: &Settings) -> Micros {
        self.gap_and_source(key, settings).0
    }

    /// The least time between two visits, and what asks for it.
    #[must_use]
    pub fn gap_and_source(&self, key: u64, settings: &Settings) -> (Micros, GapSource) {
        let (setting, by) = settings.configured_gap(key, &self.name);
        let [http, https] = self.crawl_delay_ms;
        let asked = (u64::from(http.max(https)) * 1_000).min(settings.longest_crawl_delay);
        let response =
            f64::from(self.response_ms) * 1_000.0 * f64::from(settings.response_factor.max(0.0));
        let response = response as Micros;
        let decided = self.policy.as_ref().map_or(0, |policy| policy.delay);
        let gap = setting.max(asked).max(response).max(decided);
        let source = if gap == setting {
            by
        } else if gap == asked {
            GapSource::CrawlDelay
        } else if gap == response {
            GapSource::ResponseTime
        } else {
            GapSource::Policy
        };
        (gap, source)
    }
}

#[cfg(test)]
mod tests {
    use super::super::policy::HostPolicy;
    use super::super::settings::{DAY, SECOND};
    use super::*;

    #[test]
    fn the_gap_is_the_largest_of_all() {
        let mut settings = Settings::default();
        let mut record = HostRecord::default();
        assert_eq!(record.gap(1, &settings), SECOND);
        record.response_ms = 3_000;
        settings.response_factor = 2.0;
        assert_eq!(record.gap(1, &settings), 6 * SECOND);
        record.crawl_delay_ms = [0, 10_000];
        assert_eq!(record.gap(1, &settings), 10 * SECOND);
        settings.longest_crawl_delay = 7 * SECOND;
        assert_eq!(record.gap(1, &settings), 7 * SECOND);
        settings.longest_crawl_delay = DAY;
        settings.gaps.insert(1, 60 * SECOND);
        assert_eq!(record.gap(1, &settings), 60 * SECOND);
        assert_eq!(
            record.gap_and_source(2, &settings),
            (10 * SECOND, GapSource::CrawlDelay)
        );
        let policy = HostPolicy {
            delay: 90 * SECOND,
            ..HostPolicy::default()
        };
        record.policy = Some(Box::new(policy));
        assert_eq!(
            record.gap_and_source(1, &settings),
            (90 * SECOND, GapSource::Policy)
        );
    }
}
