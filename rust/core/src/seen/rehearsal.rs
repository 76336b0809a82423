//! A rehearsal of `seen` at a size that no test crawl reaches: keys of a web that exists only as
//! arithmetic, so that a hundred million of them cost no more than their tests.
//!
//! The web has `total` URLs in groups of 50 (what one page adds), on hosts whose sizes follow a
//! power law. A page links 45 times to its own host and 5 times elsewhere, and prefers the first
//! URLs of a host (its start page, its menu) as the third power of an even draw does.

use std::time::{Duration, Instant};

use super::{Candidate, Seen, UrlKey};
use crate::store::state::{State, StateError, Writes};

/// Links of a page.
pub const LINKS: u64 = 50;
/// Links of a page that leave its host.
const AWAY: u64 = 5;
/// Pages of a batch.
const PAGES: u64 = 40;

/// What a step of the rehearsal took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Took {
    pub tests: u64,
    pub fresh: u64,
    /// URLs that passed and should not have, or the other way round.
    pub errors: u64,
    /// Time in `admit`.
    pub admit: Duration,
    /// Time in `admit` on the processor, which a busy machine does not stretch as much.
    pub admit_cpu: Duration,
    /// Time to apply the batches.
    pub apply: Duration,
}

/// The web and how much of it is known.
#[derive(Debug)]
pub struct Rehearsal {
    groups: u64,
    hosts: u64,
    loaded: u64,
    drawn: u64,
    extra: u64,
}

fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

impl Rehearsal {
    /// A web of `total` URLs on `hosts` hosts; nothing of it is known.
    #[must_use]
    pub fn new(total: u64, hosts: u64) -> Rehearsal {
        Rehearsal {
            groups: (total / LINKS).max(1),
            hosts: hosts.max(1),
            loaded: 0,
            drawn: 0,
            extra: 0,
        }
    }

    /// The host of a group: the h-th ends at (h/hosts)³ of all groups.
    fn host(&self, group: u64) -> u64 {
        let share = group as f64 / self.groups as f64;
        ((share.cbrt() * self.hosts as f64) as u64).min(self.hosts - 1)
    }

    /// The first group of a host.
    fn start(&self, host: u64) -> u64 {
        let share = host as f64 / self.hosts as f64;
        ((share * share * share * self.groups as f64).ceil() as u64).min(self.groups - 1)
    }

    fn key(host: u64, url: u64) -> UrlKey {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&mix(host.wrapping_add(1)).to_be_bytes()[..4]);
        bytes[4..8].copy_from_slice(&mix(url.wrapping_add(77)).to_be_bytes()[..4]);
        bytes[8..].copy_from_slice(&mix(url ^ 0x5555_5555_5555_5555).to_be_bytes());
        UrlKey(bytes)
    }

    /// An even draw from 0 to 1.
    fn draw(&mut self) -> f64 {
        self.drawn += 1;
        (mix(self.drawn.wrapping_mul(0x9E37_79B9_7F4A_7C15)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A known URL of a host, popular ones more often.
    fn popular(&mut self, host: u64) -> UrlKey {
        let (start, end) = (self.start(host), self.start(host + 1));
        let urls = (end.max(start + 1) - start) * LINKS;
        let draw = self.draw();
        let url = (draw * draw * draw * urls as f64) as u64;
        let url = start * LINKS + url.min(urls - 1);
        Self::key(self.host(url / LINKS), url)
    }

    /// Makes `pages` pages of 50 fresh URLs each known, hosts in mixed order.
    pub fn load(
        &mut self,
        seen: &mut dyn Seen,
        state: &dyn State,
        pages: u64,
    ) -> Result<Took, StateError> {
        // A step that shares no factor with the number of groups visits each once.
        let mut step = (self.groups as f64 * 0.618) as u64 | 1;
        while greatest_common_divisor(step, self.groups) != 1 {
            step += 2;
        }
        self.run(seen, state, pages, |web, keys| {
            if web.loaded >= web.groups {
                return 0;
            }
            let group = (u128::from(web.loaded) * u128::from(step) % u128::from(web.groups)) as u64;
            web.loaded += 1;
            let host = web.host(group);
            keys.extend((0..LINKS).map(|i| Self::key(host, group * LINKS + i)));
            LINKS
        })
    }

    /// Tests `pages` pages of a web that is known but for `fresh` links of each page.
    pub fn visit(
        &mut self,
        seen: &mut dyn Seen,
        state: &dyn State,
        pages: u64,
        fresh: u64,
    ) -> Result<Took, StateError> {
        let fresh = fresh.min(LINKS);
        self.run(seen, state, pages, |web, keys| {
            let group = (web.draw() * web.groups as f64) as u64;
            let host = web.host(group.min(web.groups - 1));
            for link in 0..LINKS {
                if link < fresh {
                    web.extra += 1;
                    keys.push(Self::key(host, web.groups * LINKS + web.extra));
                } else if link < LINKS - AWAY {
                    keys.push(web.popular(host));
                } else {
                    let group = (web.draw() * web.groups as f64) as u64;
                    let other = web.host(group.min(web.groups - 1));
                    keys.push(web.popular(other));
                }
            }
            fresh
        })
    }

    fn run(
        &mut self,
        seen: &mut dyn Seen,
        state: &dyn State,
        pages: u64,
        mut page: impl FnMut(&mut Rehearsal, &mut Vec<UrlKey>) -> u64,
    ) -> Result<Took, StateError> {
        let mut took = Took::default();
        let mut fresh = Vec::new();
        let mut left = pages;
        while left > 0 {
            let mut keys = Vec::with_capacity((PAGES * LINKS) as usize);
            let mut expected = 0;
            for _ in 0..left.min(PAGES) {
                expected += page(self, &mut keys);
            }
            left = left.saturating_sub(PAGES);
            let urls: Vec<Candidate<'_>> =
                keys.iter().map(|&key| Candidate { key, url: "" }).collect();
            let mut writes = Writes::default();
            let mut passed = 0;
            let (begun, begun_cpu) = (Instant::now(), cpu_time());
            for links in urls.chunks(LINKS as usize) {
                seen.admit(links, state, &mut writes, &mut fresh)?;
                passed += fresh.iter().filter(|fresh| **fresh).count() as u64;
            }
            took.admit += begun.elapsed();
            took.admit_cpu += cpu_time().saturating_sub(begun_cpu);
            took.tests += urls.len() as u64;
            took.fresh += passed;
            took.errors += passed.abs_diff(expected);
            let begun = Instant::now();
            let batch = seen.seal(&mut writes)?;
            // Now and then safe against a power cut, as in a crawl.
            let durable = batch.is_multiple_of(32);
            state.apply(writes, durable)?;
            seen.applied(batch, durable);
            took.apply += begun.elapsed();
        }
        Ok(took)
    }
}

/// Time this thread has had on the processor.
fn cpu_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32)
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::seen::{SeenKind, SeenSettings, open};
    use crate::store::state::MemoryState;

    #[test]
    fn the_web_is_loaded_once_and_then_known() {
        let state = MemoryState::default();
        let mut seen = open(SeenKind::Exact, &SeenSettings::default(), &state).unwrap();
        let mut web = Rehearsal::new(100_000, 300);
        let took = web.load(seen.as_mut(), &state, 1_500).unwrap();
        assert_eq!((took.fresh, took.errors), (75_000, 0));
        let took = web.load(seen.as_mut(), &state, 1_500).unwrap();
        assert_eq!((took.fresh, took.errors), (25_000, 0), "all of it");
        let took = web.visit(seen.as_mut(), &state, 1_000, 3).unwrap();
        assert_eq!(
            (took.tests, took.fresh, took.errors),
            (50_000, 3_000, 0),
            "links lead to known URLs but for the fresh ones"
        );
    }
}
