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
    /// The host asked for less a while ago.
    Throttled,
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
            GapSource::Throttled => "throttled",
        }
    }
}

impl HostRecord {
    /// The site's Crawl-delay, as far as it is obeyed.
    fn crawl_delay(&self, settings: &Settings) -> Micros {
        let [http, https] = self.crawl_delay_ms;
        (u64::from(http.max(https)) * 1_000).min(settings.longest_crawl_delay)
    }

    /// Visits at a time. A site that names a Crawl-delay counts on one visitor at a time.
    #[must_use]
    pub fn connections(&self, settings: &Settings) -> u8 {
        if self.crawl_delay(settings) > 0 {
            1
        } else {
            settings.per_host_of(&self.name)
        }
    }

    /// The rest that a response time asks for. Every connection rests `response_factor` times so
    /// long, so several share it. Where several connections and no gap are asked for they work
    /// side by side, and there is none, unless the factor was asked for too.
    #[must_use]
    pub fn rest(&self, key: u64, response: Micros, settings: &Settings) -> Micros {
        let connections = self.connections(settings);
        if connections > 1
            && !settings.rest_side_by_side
            && settings.configured_gap(key, &self.name).0 == 0
        {
            return 0;
        }
        let factor = f64::from(settings.response_factor.max(0.0));
        (response as f64 * factor / f64::from(connections)) as Micros
    }

    /// The least time between two visits.
    #[must_use]
    pub fn gap(&self, key: u64, settings: &Settings) -> Micros {
        self.gap_and_source(key, settings).0
    }

    /// The least time between two visits, and what asks for it.
    #[must_use]
    pub fn gap_and_source(&self, key: u64, settings: &Settings) -> (Micros, GapSource) {
        let (gap, source) = self.usual_gap(key, settings);
        match self.throttle.added() {
            0 => (gap, source),
            added => (gap.saturating_add(added), GapSource::Throttled),
        }
    }

    /// The same, but for what the host added by asking for less.
    pub(super) fn usual_gap(&self, key: u64, settings: &Settings) -> (Micros, GapSource) {
        let (setting, by) = settings.configured_gap(key, &self.name);
        let asked = self.crawl_delay(settings);
        let response = self.rest(key, u64::from(self.response_ms) * 1_000, settings);
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

    #[test]
    fn connections_share_the_rest_and_have_none_where_no_gap_is_asked_for() {
        let mut settings = Settings {
            per_host: 8,
            ..Settings::default()
        };
        let mut record = HostRecord {
            response_ms: 16_000,
            ..HostRecord::default()
        };
        assert_eq!(record.gap(1, &settings), 2 * SECOND);
        settings.gap = 0;
        assert_eq!(
            (record.gap(1, &settings), record.connections(&settings)),
            (0, 8)
        );
        settings.rest_side_by_side = true;
        assert_eq!(record.gap(1, &settings), 2 * SECOND);
        settings.rest_side_by_side = false;
        record.crawl_delay_ms = [3_000, 0];
        assert_eq!(record.connections(&settings), 1);
        assert_eq!(record.gap(1, &settings), 16 * SECOND, "one rests alone");
        settings.longest_crawl_delay = 0;
        assert_eq!(
            (record.gap(1, &settings), record.connections(&settings)),
            (0, 8)
        );
        settings.per_host = 1;
        assert_eq!(record.gap(1, &settings), 16 * SECOND);
    }
}
