//! Options of a simulated web.
//! Takes: a JSON object. Gives: checked `Options`, or the name of the wrong option and why.

use std::fmt;

use serde::Deserialize;

/// The option that is wrong, spelled as on the command line, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadOption {
    pub name: &'static str,
    pub why: String,
}

impl fmt::Display for BadOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--{}: {}", self.name, self.why)
    }
}

impl std::error::Error for BadOption {}

/// How long a host takes to begin an answer; one draw per host.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind", deny_unknown_fields)]
pub enum Latency {
    Constant { ms: f64 },
    Uniform { low_ms: f64, high_ms: f64 },
    Exponential { mean_ms: f64 },
    Lognormal { median_ms: f64, sigma: f64 },
}

macro_rules! options {
    ($($(#[$doc:meta])* $field:ident : $kind:ty = $default:expr, $spelling:literal;)*) => {
        /// Everything that decides what the web looks like. Rates are 0 to 1; 0 means off.
        #[derive(Debug, Clone, PartialEq, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct Options { $($(#[$doc])* pub $field: $kind,)* }

        impl Default for Options {
            fn default() -> Self { Options { $($field: $default,)* } }
        }

        /// The spelling of each field on the command line.
        pub const SPELLINGS: &[(&str, &str)] = &[$((stringify!($field), $spelling),)*];
    };
}

options! {
    /// Everything follows from this number.
    seed: u64 = 1, "seed";
    hosts: u32 = 100, "hosts";
    /// Pages of all hosts together.
    pages: u64 = 10_000, "pages";
    /// The one port of all hosts, as written in absolute links.
    port: u16 = 8080, "port";
    /// Exponent of the long tail of pages per host; 0 makes all hosts alike.
    host_skew: f64 = 0.8, "host-skew";
    /// Hosts are called hN.sim.test instead of by their address.
    names: bool = false, "names";
    latency: Option<Latency> = None, "latency";
    /// Seconds in robots files that say Crawl-delay.
    crawl_delay: f64 = 1.0, "crawl-delay";
    /// Share of hosts that send a body slowly.
    drip: f64 = 0.0, "drip";
    drip_seconds: f64 = 2.0, "drip-seconds";
    errors: f64 = 0.0, "errors";
    resets: f64 = 0.0, "resets";
    redirects: f64 = 0.0, "redirects";
    dead_links: f64 = 0.0, "dead-links";
    throttle: f64 = 0.0, "throttle";
    /// What Retry-After asks for, in seconds.
    retry_after: u32 = 1, "retry-after";
    robots: f64 = 0.0, "robots";
    meta_robots: f64 = 0.0, "meta-robots";
    sitemaps: f64 = 0.0, "sitemaps";
    duplicates: f64 = 0.0, "duplicates";
    near_duplicates: f64 = 0.0, "near-duplicates";
    mirrors: f64 = 0.0, "mirrors";
    shared_address: f64 = 0.0, "shared-address";
    multi_address: f64 = 0.0, "multi-address";
    traps: f64 = 0.0, "traps";
    /// Mean number of changes of a page per simulated day.
    change_rate: f64 = 0.0, "change-rate";
    /// Simulated seconds per real second.
    clock_speed: f64 = 1.0, "clock-speed";
    validators: f64 = 0.0, "validators";
    charsets: f64 = 0.0, "charsets";
    compression: f64 = 0.0, "compression";
    orphans: f64 = 0.0, "orphans";
}

/// The most hosts that 127.1.1.1 to 127.199.254.254 can hold.
pub const MAX_HOSTS: u32 = 199 * 254 * 254;
/// Page numbers take 48 bits in a node code.
pub const MAX_PAGES: u64 = 1 << 47;

impl Options {
    /// Options from a JSON object; unknown names are refused.
    pub fn from_json(text: &str) -> Result<Options, BadOption> {
        let options: Options = serde_json::from_str(text).map_err(|error| BadOption {
            name: "options",
            why: error.to_string(),
        })?;
        options.check()?;
        Ok(options)
    }

    fn check(&self) -> Result<(), BadOption> {
        let bad = |name, why: String| Err(BadOption { name, why });
        if self.hosts == 0 || self.hosts > MAX_HOSTS {
            return bad("hosts", format!("must be 1 to {MAX_HOSTS}"));
        }
        if self.pages < u64::from(self.hosts) || self.pages > MAX_PAGES {
            return bad(
                "pages",
                format!(
                    "must be at least the number of hosts ({}) and at most {MAX_PAGES}",
                    self.hosts
                ),
            );
        }
        if !(0.0..=2.0).contains(&self.host_skew) {
            return bad("host-skew", "must be 0 to 2".into());
        }
        let rates = [
            ("drip", self.drip, 1.0),
            ("errors", self.errors, 1.0),
            ("resets", self.resets, 1.0),
            ("redirects", self.redirects, 1.0),
            ("dead-links", self.dead_links, 1.0),
            ("throttle", self.throttle, 1.0),
            ("robots", self.robots, 1.0),
            ("meta-robots", self.meta_robots, 1.0),
            ("sitemaps", self.sitemaps, 1.0),
            ("duplicates", self.duplicates, 1.0),
            ("near-duplicates", self.near_duplicates, 1.0),
            ("mirrors", self.mirrors, 0.5),
            ("shared-address", self.shared_address, 1.0),
            ("multi-address", self.multi_address, 1.0),
            ("traps", self.traps, 1.0),
            ("validators", self.validators, 1.0),
            ("charsets", self.charsets, 1.0),
            ("compression", self.compression, 1.0),
            ("orphans", self.orphans, 0.4),
        ];
        for (name, rate, most) in rates {
            if !(0.0..=most).contains(&rate) {
                return bad(name, format!("must be 0 to {most}, not {rate}"));
            }
        }
        let kinds = self.redirects
            + self.errors
            + self.resets
            + self.throttle
            + self.duplicates
            + self.near_duplicates;
        if kinds > 1.0 {
            return bad(
                "redirects",
                format!(
                    "with errors, resets, throttle, duplicates and near-duplicates together at most 1, not {kinds}"
                ),
            );
        }
        for (name, value, most) in [
            ("drip-seconds", self.drip_seconds, 3600.0),
            ("crawl-delay", self.crawl_delay, 3600.0),
            ("change-rate", self.change_rate, 1e9),
            ("clock-speed", self.clock_speed, 1e9),
        ] {
            if !(0.0..=most).contains(&value) {
                return bad(name, format!("must be 0 to {most}, not {value}"));
            }
        }
        if self.retry_after > 86_400 {
            return bad("retry-after", "must be at most 86400 seconds".into());
        }
        if !self.names && (self.shared_address > 0.0 || self.multi_address > 0.0) {
            let name = if self.shared_address > 0.0 {
                "shared-address"
            } else {
                "multi-address"
            };
            return bad(
                name,
                "needs --names: without names a host is its address".into(),
            );
        }
        self.check_latency()
    }

    fn check_latency(&self) -> Result<(), BadOption> {
        let fits = |ms: f64| (0.0..=600_000.0).contains(&ms);
        let good = match self.latency {
            None => true,
            Some(Latency::Constant { ms }) => fits(ms),
            Some(Latency::Uniform { low_ms, high_ms }) => {
                fits(low_ms) && fits(high_ms) && low_ms <= high_ms
            }
            Some(Latency::Exponential { mean_ms }) => fits(mean_ms),
            Some(Latency::Lognormal { median_ms, sigma }) => {
                fits(median_ms) && (0.0..=4.0).contains(&sigma)
            }
        };
        if good {
            return Ok(());
        }
        Err(BadOption {
            name: "latency",
            why: "times must be 0 to 10 minutes, low before high".into(),
        })
    }
}
