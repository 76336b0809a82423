//! The first failure of each seed, for people who wait for it: a name that is spelt wrong should not look like
//! a crawl that has much to do.
//!
//! Told once for a host that gives no robots rules, and once for a seed that brings no page. The list:
//! filled when a visit or a refusal is taken in, never emptied; bound: [`SHOWN`] with their words and
//! [`COUNTED`] that are told apart; further ones are neither shown nor counted.

use std::collections::HashSet;

use serde::Serialize;

use super::seeds_again::brought_nothing;
use crate::canonical::Url;
use crate::frontier::Verdict;
use crate::links::Link;
use crate::outcome::Outcome;

const SHOWN: usize = 10;
const COUNTED: usize = 100_000;

/// A seed that could not be had, or not yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SeedFailure {
    pub url: String,
    pub outcome: &'static str,
}

#[derive(Debug, Default)]
pub(super) struct SeedFailures {
    shown: Vec<SeedFailure>,
    hosts: HashSet<u64>,
    pages: HashSet<[u8; 16]>,
}

impl SeedFailures {
    /// A robots file of a host, asked for because of `link`.
    pub fn robots(&mut self, link: &Link, outcome: Outcome, verdict: &Verdict) {
        let failed = !matches!(verdict, Verdict::RobotsKnown | Verdict::UnknownLease);
        if link.seed && failed && self.has_room() && self.hosts.insert(link.url.host_key()) {
            let url = Url::from_parts(
                link.url.scheme_is_https(),
                link.url.host(),
                link.url.host_key(),
                "/",
            );
            let url = url.unwrap_or_else(|_| link.url.clone());
            self.show(&url, outcome);
        }
    }

    /// A seed that was visited, or left the queue without a visit.
    pub fn page(&mut self, link: &Link, outcome: Outcome) {
        if link.seed
            && brought_nothing(outcome)
            && !link.sitemap
            && !self.hosts.contains(&link.url.host_key())
            && self.has_room()
            && self.pages.insert(link.url.key())
        {
            self.show(&link.url, outcome);
        }
    }

    pub fn shown(&self) -> Vec<SeedFailure> {
        self.shown.clone()
    }

    pub fn count(&self) -> u64 {
        (self.hosts.len() + self.pages.len()) as u64
    }

    fn has_room(&self) -> bool {
        self.hosts.len() + self.pages.len() < COUNTED
    }

    fn show(&mut self, url: &Url, outcome: Outcome) {
        if self.shown.len() < SHOWN {
            self.shown.push(SeedFailure {
                url: url.as_str().to_owned(),
                outcome: outcome.as_str(),
            });
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::canonical::{Rules, canonical};

    fn seed(url: &str) -> Link {
        Link::seed(canonical(url, None, &Rules::default()).unwrap())
    }

    #[test]
    fn a_host_is_told_once_and_its_seeds_not_again() {
        let mut failures = SeedFailures::default();
        let until = Verdict::Returned { until: 1 };
        let robots = seed("http://nohost.test/robots.txt");
        failures.robots(&robots, Outcome::DnsNotFound, &until);
        failures.robots(&robots, Outcome::DnsNotFound, &until);
        failures.page(&seed("http://nohost.test/a"), Outcome::DnsNotFound);
        let shown = failures.shown();
        assert_eq!((shown.len(), failures.count()), (1, 1));
        assert_eq!(shown[0].url, "http://nohost.test/");
        assert_eq!(shown[0].outcome, "dns_not_found");
    }

    #[test]
    fn rules_pages_and_what_is_no_seed_are_no_failures() {
        let mut failures = SeedFailures::default();
        let robots = seed("http://a.test/robots.txt");
        failures.robots(&robots, Outcome::Gone, &Verdict::RobotsKnown);
        failures.page(&seed("http://a.test/"), Outcome::Redirected);
        let found = Link {
            seed: false,
            ..seed("http://a.test/gone")
        };
        failures.page(&found, Outcome::Gone);
        assert!(failures.shown().is_empty());
    }

    #[test]
    fn ten_are_shown_and_the_others_counted() {
        let mut failures = SeedFailures::default();
        for number in 0..25 {
            failures.page(&seed(&format!("http://a.test/{number}")), Outcome::Gone);
            failures.page(&seed(&format!("http://a.test/{number}")), Outcome::Gone);
        }
        assert_eq!((failures.shown().len(), failures.count()), (SHOWN, 25));
    }
}
