//! The frontier's settings: all may change while the crawl runs.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Formula, GapSource, Micros, Throttling};
use crate::outcome::Outcome;

pub const SECOND: Micros = 1_000_000;
pub const HOUR: Micros = 3_600 * SECOND;
pub const DAY: Micros = 24 * HOUR;

/// Who is to blame for an outcome, and so who waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    Url,
    Host,
    Node,
    Nobody,
}

/// What happens next after an outcome.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    pub blame: Blame,
    /// The first wait; further ones grow by `growth` each time, up to `longest`.
    pub wait: Micros,
    pub growth: f32,
    pub longest: Micros,
    /// The URL is finished after so many tries; 1: at once.
    pub tries: u8,
    /// Costs the URL no try, up to `Settings::free_tries`.
    pub free: bool,
}

impl Policy {
    /// The outcome is final.
    pub const FINAL: Policy = Policy {
        blame: Blame::Nobody,
        wait: 0,
        growth: 1.0,
        longest: 0,
        tries: 1,
        free: false,
    };

    const fn again(blame: Blame, wait: Micros, tries: u8) -> Policy {
        Policy {
            blame,
            wait,
            growth: 4.0,
            longest: DAY,
            tries,
            free: false,
        }
    }

    /// The wait after `before` earlier ones.
    #[must_use]
    pub fn grown(&self, before: u32) -> Micros {
        grow(self.wait, self.growth, before, self.longest)
    }

    /// The policy used where the caller gives none.
    #[must_use]
    pub const fn default_for(outcome: Outcome) -> Policy {
        match outcome {
            Outcome::ServerFailed | Outcome::TimedOut | Outcome::Disconnected => {
                Policy::again(Blame::Host, 10 * SECOND, 3)
            }
            Outcome::ConnectFailed | Outcome::TlsFailed | Outcome::DnsNotFound => {
                Policy::again(Blame::Host, 30 * SECOND, 2)
            }
            Outcome::ProtocolBroken | Outcome::EncodingBroken => {
                Policy::again(Blame::Url, 60 * SECOND, 2)
            }
            Outcome::InternalError => Policy::again(Blame::Nobody, 60 * SECOND, 2),
            Outcome::Throttled => Policy {
                free: true,
                ..Policy::again(Blame::Host, 30 * SECOND, 3)
            },
            Outcome::DnsFailed => Policy {
                free: true,
                ..Policy::again(Blame::Node, 30 * SECOND, 3)
            },
            _ => Policy::FINAL,
        }
    }
}

/// `first × growth^before`, at most `longest`.
pub(super) fn grow(first: Micros, growth: f32, before: u32, longest: Micros) -> Micros {
    let factor = f64::from(growth.max(1.0)).powi(before.min(64) as i32);
    ((first as f64 * factor).min(longest as f64)) as Micros
}

/// How often a host that has never given its robots rules is asked for them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Patience {
    /// All visits, the first one too.
    pub tries: u8,
    /// The first wait; each further one is `growth` times as long.
    pub wait: Micros,
    pub growth: f32,
}

impl Patience {
    /// The patience used where the caller gives none.
    #[must_use]
    pub const fn default_for(outcome: Outcome) -> Patience {
        let (tries, wait, growth) = match outcome {
            Outcome::UrlRefused | Outcome::ForbiddenAddress => (1, 0, 1.0),
            Outcome::DnsNotFound | Outcome::TlsFailed => (2, 5 * SECOND, 1.0),
            Outcome::ServerFailed | Outcome::Throttled => (6, 60 * SECOND, 2.0),
            _ => (3, 60 * SECOND, 4.0),
        };
        Patience {
            tries,
            wait,
            growth,
        }
    }
}

/// Limits of a crawl; `None`: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    pub depth: Option<u16>,
    pub depth_dynamic: Option<u16>,
    pub pages: Option<u64>,
    pub pages_per_host: Option<u32>,
    pub bytes_per_host: Option<u64>,
    pub queued_per_host: Option<u32>,
}

/// What rules say of a host; absent: as the settings have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostTerms {
    pub gap: Option<Micros>,
    pub per_host: Option<u8>,
    pub pages: Option<u32>,
}

/// Rules for hosts, asked by the name of a host with its port.
pub trait HostRules: std::fmt::Debug + Send + Sync {
    fn terms(&self, host: &str) -> HostTerms;
}

/// All settings of the frontier.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The least time from the end of a visit to a host to the start of the next.
    pub gap: Micros,
    /// Another gap for some hosts, which comes before what rules say.
    pub gaps: HashMap<u64, Micros>,
    pub rules: Option<Arc<dyn HostRules>>,
    /// The gap is at least this many times the last response time, shared by the connections.
    pub response_factor: f32,
    /// That holds also where several connections and no gap are asked for.
    pub rest_side_by_side: bool,
    /// A Crawl-delay that is longer counts as this.
    pub longest_crawl_delay: Micros,
    /// The least time between visits to an address.
    pub ip_gap: Micros,
    /// Visits at a time.
    pub per_host: u8,
    pub per_ip: u8,
    pub limits: Limits,
    /// By the number of the outcome.
    pub policies: [Policy; Outcome::ALL.len()],
    /// So many visits that cost no try, before they do.
    pub free_tries: u8,
    /// `Retry-After` is believed up to here.
    pub longest_retry_after: Micros,
    /// What a host that asks for less adds to its gap.
    pub throttling: Throttling,
    /// Failures in a row of a host before it waits itself, besides its URLs.
    pub failures_before_wait: u16,
    /// A host is set aside after so many failures in a row …
    pub set_aside_after: u16,
    /// … for this long, growing by `set_aside_growth` each time …
    pub set_aside: Micros,
    pub set_aside_growth: f32,
    /// … and given up when it failed after so many times.
    pub set_asides: u8,
    /// URLs of a host given up are refused for this long.
    pub given_up_for: Micros,
    /// Robots rules are fetched again after this.
    pub robots_fresh: Micros,
    /// First wait where robots rules cannot be had; grows by `robots_growth` up to `robots_fresh`.
    pub robots_wait: Micros,
    pub robots_growth: f32,
    /// Instead of these, for a host that has never given its rules; by the number of the outcome.
    pub unanswered: [Patience; Outcome::ALL.len()],
    /// URLs are refused when robots rules could not be had for this long.
    pub robots_give_up: Micros,
    /// A robots file is kept up to so many bytes.
    pub robots_bytes: usize,
    /// Compiled rules in memory, by the bytes of their files.
    pub rules_in_ram: usize,
    /// Queued URLs of one host in memory.
    pub head: usize,
    /// Queued URLs of all hosts in memory, in bytes.
    pub heads_in_ram: u64,
    /// Hosts without queued URLs that stay in memory.
    pub idle_in_ram: usize,
    /// URLs that one call of `take` may refuse.
    pub slice: usize,
    /// Keep a list of all hosts in memory, for people to look at. Counts at the start only.
    pub list: bool,
    /// The score of a URL that has none; counts for URLs queued from now on.
    pub order: Formula,
    /// Keep the kind, the parent's score and the anchor text of what is queued, for a policy that
    /// asks for them. A formula that looks at them keeps them too.
    pub known: bool,
    /// How long a host that is due lets others go first for each band that they are better.
    pub band_wait: Micros,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            gap: SECOND,
            gaps: HashMap::new(),
            rules: None,
            response_factor: 1.0,
            rest_side_by_side: false,
            longest_crawl_delay: Micros::MAX,
            ip_gap: SECOND / 2,
            per_host: 1,
            per_ip: 1,
            limits: Limits::default(),
            policies: std::array::from_fn(|number| Policy::default_for(Outcome::ALL[number])),
            free_tries: 10,
            longest_retry_after: DAY,
            throttling: Throttling::default(),
            failures_before_wait: 2,
            set_aside_after: 5,
            set_aside: HOUR,
            set_aside_growth: 4.0,
            set_asides: 3,
            given_up_for: 30 * DAY,
            robots_fresh: DAY,
            robots_wait: 60 * SECOND,
            robots_growth: 2.0,
            unanswered: std::array::from_fn(|n| Patience::default_for(Outcome::ALL[n])),
            robots_give_up: DAY,
            robots_bytes: 512 << 10,
            rules_in_ram: 32 << 20,
            head: 8,
            heads_in_ram: 64 << 20,
            idle_in_ram: 100_000,
            slice: 256,
            list: false,
            order: Formula::default(),
            known: false,
            band_wait: 10 * SECOND,
        }
    }
}

impl Settings {
    /// What happens next after an outcome.
    #[must_use]
    pub fn policy(&self, outcome: Outcome) -> Policy {
        self.policies[outcome as usize]
    }

    /// How often a host that has never given its robots rules is asked, when it ended so.
    #[must_use]
    pub fn patience(&self, outcome: Outcome) -> Patience {
        self.unanswered[outcome as usize]
    }

    fn terms(&self, host: &str) -> HostTerms {
        let rules = self.rules.as_ref();
        rules.map_or_else(HostTerms::default, |rules| rules.terms(host))
    }

    /// The gap that is set for a host, and by whom.
    #[must_use]
    pub fn configured_gap(&self, key: u64, host: &str) -> (Micros, GapSource) {
        match self.gaps.get(&key) {
            Some(gap) => (*gap, GapSource::Setting),
            None => match self.terms(host).gap {
                Some(gap) => (gap, GapSource::Rule),
                None => (self.gap, GapSource::Setting),
            },
        }
    }

    /// Visits to a host at a time, as far as settings and rules say.
    #[must_use]
    pub fn per_host_of(&self, host: &str) -> u8 {
        self.terms(host).per_host.unwrap_or(self.per_host).max(1)
    }

    /// Pages of a host, at most.
    #[must_use]
    pub fn pages_of(&self, host: &str) -> Option<u32> {
        self.terms(host).pages.or(self.limits.pages_per_host)
    }

    /// Sets what happens next after an outcome.
    pub fn set_policy(&mut self, outcome: Outcome, policy: Policy) {
        self.policies[outcome as usize] = policy;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_their_end() {
        let policy = Policy::default_for(Outcome::TimedOut);
        assert_eq!(policy.grown(0), 10 * SECOND);
        assert_eq!(policy.grown(1), 40 * SECOND);
        assert_eq!(policy.grown(1_000), DAY);
    }

    #[test]
    fn a_policy_can_be_set() {
        let mut settings = Settings::default();
        settings.set_policy(Outcome::TimedOut, Policy::FINAL);
        assert_eq!(settings.policy(Outcome::TimedOut), Policy::FINAL);
        assert_eq!(settings.policy(Outcome::Deferred), Policy::FINAL);
    }
}
