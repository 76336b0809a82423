//! The judge: sees each visit begin and end in true time, as the servers would, and knows what the
//! crawler was told. It shares no code with the frontier.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use super::super::{Micros, Purpose};

/// What the crawler was told by or about a host; unsaved knowledge ends with a crash.
#[derive(Clone, Debug, Default)]
pub struct Told {
    pub crawl_delay: [Micros; 2],
    pub response: Micros,
    pub not_before: Micros,
    /// When the rules of each scheme were fetched, and whether they can be used.
    pub robots: [Option<Micros>; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Queued,
    Left,
}

#[derive(Clone, Debug)]
pub struct Known {
    pub fate: Fate,
    pub band: u8,
    pub order: u64,
    /// Nothing happened to it yet that could change its place.
    pub untouched: bool,
    pub leased: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Memory {
    pub told: HashMap<u64, Told>,
    /// By host and URL.
    pub urls: HashMap<u64, BTreeMap<String, Known>>,
}

#[derive(Clone, Debug, Default)]
pub struct Clocked {
    last_start: Option<Micros>,
    last_end: Option<Micros>,
    inside: u32,
}

impl Clocked {
    fn enter(&mut self, what: &str, now: Micros, gap: Micros, most: u32) {
        assert!(
            self.inside < most,
            "{what}: {} visits at a time",
            self.inside + 1
        );
        for last in [self.last_start, self.last_end].into_iter().flatten() {
            assert!(
                now >= last + gap,
                "{what}: early by {} us (gap {gap})",
                last + gap - now
            );
        }
        self.last_start = Some(now);
        self.inside += 1;
    }

    fn free(&self, now: Micros, gap: Micros) -> bool {
        let past = |last: Option<Micros>| last.is_none_or(|last| now >= last + gap);
        self.inside == 0 && past(self.last_start) && past(self.last_end)
    }

    fn leave(&mut self, now: Micros) {
        self.last_end = Some(now);
        self.inside -= 1;
    }
}

#[derive(Debug, Default)]
pub struct Judge {
    pub gap: Micros,
    pub ip_gap: Micros,
    pub response_factor: u64,
    pub per_host: u32,
    pub robots_fresh: Micros,
    /// Time that the crawler cannot know to have passed, because its clock was set back.
    pub slack: Micros,
    pub now: Memory,
    pub saved: Memory,
    pub hosts: HashMap<u64, Clocked>,
    pub ips: HashMap<IpAddr, Clocked>,
    pub visits: u64,
    pub order: u64,
}

impl Judge {
    pub fn added(&mut self, host: u64, url: &str, band: u8, untouched: bool) {
        self.order += 1;
        let known = Known {
            fate: Fate::Queued,
            band,
            order: self.order,
            untouched,
            leased: false,
        };
        let before = self
            .now
            .urls
            .entry(host)
            .or_default()
            .insert(url.into(), known);
        assert!(before.is_none(), "{url} added twice by the test");
    }

    /// A visit was handed out: is it the right one?
    pub fn given(&mut self, host: u64, url: &str, purpose: Purpose, https: bool, now: Micros) {
        if purpose == Purpose::Robots {
            return;
        }
        let told = self.now.told.entry(host).or_default();
        let fresh = self.robots_fresh + self.slack + 1_000_000;
        let fetched = told.robots[usize::from(https)].expect("a page before its robots rules");
        assert!(now <= fetched + fresh, "stale robots rules");
        let urls = &self.now.urls[&host];
        let known = &urls[url];
        assert_eq!(
            known.fate,
            Fate::Queued,
            "{url} was finished and is given again"
        );
        if known.untouched {
            for (other, before) in urls {
                let is_first = before.fate == Fate::Left
                    || !before.untouched
                    || before.leased
                    || (known.band, known.order) <= (before.band, before.order);
                assert!(is_first, "{url} is given before {other}");
            }
        }
    }

    pub fn leased(&mut self, host: u64, url: &str, leased: bool) {
        if let Some(known) = self.now.urls.entry(host).or_default().get_mut(url) {
            known.leased = leased;
        }
    }

    pub fn forget_waits(&mut self) {
        for memory in [&mut self.now, &mut self.saved] {
            for told in memory.told.values_mut() {
                told.not_before = 0;
            }
        }
    }

    /// In a web where nothing fails: no host with a URL that could be visited now is left out.
    pub fn nobody_waits(&self, hosts: u64, ips: u64, now: Micros) {
        for host in 0..hosts {
            let ready = |known: &Known| known.fate == Fate::Queued && known.untouched;
            let Some(urls) = self.now.urls.get(&host) else {
                continue;
            };
            if !urls.values().any(ready) {
                continue;
            }
            let told = self.now.told.get(&host).cloned().unwrap_or_default();
            let gap = self
                .gap
                .max(told.crawl_delay[0])
                .max(told.crawl_delay[1])
                .max((told.response * self.response_factor).div_ceil(1_000) * 1_000);
            let host_free = self.hosts.get(&host).is_none_or(|c| c.free(now, gap));
            let ip = IpAddr::from([10, 0, 0, (host % ips) as u8]);
            let ip_free = self.ips.get(&ip).is_none_or(|c| c.free(now, self.ip_gap));
            assert!(
                !(host_free && ip_free),
                "host {host} is passed over at {now}: {:?} {:?} gap {gap}",
                self.hosts.get(&host),
                self.ips.get(&ip)
            );
        }
    }

    /// A connection is made.
    pub fn begins(&mut self, host: u64, ip: IpAddr, now: Micros) {
        self.visits += 1;
        let told = self.now.told.entry(host).or_default();
        let asked = told.crawl_delay[0].max(told.crawl_delay[1]);
        let connections = if asked > 0 { 1 } else { self.per_host };
        let rest = told.response * self.response_factor / u64::from(connections);
        let gap = self.gap.max(asked).max(rest);
        assert!(now >= told.not_before, "a host was not left alone");
        let clocked = self.hosts.entry(host).or_default();
        clocked.enter(&format!("host {host}"), now, gap, connections);
        let clocked = self.ips.entry(ip).or_default();
        clocked.enter(&format!("address {ip}"), now, self.ip_gap, self.per_host);
    }

    pub fn ends(&mut self, host: u64, ip: IpAddr, now: Micros) {
        self.hosts.get_mut(&host).unwrap().leave(now);
        self.ips.get_mut(&ip).unwrap().leave(now);
    }

    pub fn touched(&mut self, host: u64, url: &str) {
        self.now
            .urls
            .get_mut(&host)
            .unwrap()
            .get_mut(url)
            .unwrap()
            .untouched = false;
    }

    pub fn touched_all(&mut self, host: u64) {
        for known in self.now.urls.entry(host).or_default().values_mut() {
            known.untouched = false;
        }
    }

    pub fn left(&mut self, host: u64, url: &str) {
        let known = self.now.urls.get_mut(&host).unwrap().get_mut(url).unwrap();
        assert_eq!(known.fate, Fate::Queued, "{url} left twice");
        known.fate = Fate::Left;
    }

    pub fn queued(&self) -> u64 {
        let all = self.now.urls.values().flat_map(BTreeMap::values);
        all.filter(|known| known.fate == Fate::Queued).count() as u64
    }

    pub fn snapshot(&self) -> Memory {
        self.now.clone()
    }

    pub fn saved(&mut self, snapshot: Memory) {
        self.saved = snapshot;
    }

    /// All connections break; what was not saved is forgotten, but not when the visits were.
    pub fn crash(&mut self, now: Micros) {
        self.now = self.saved.clone();
        for known in self.now.urls.values_mut().flat_map(BTreeMap::values_mut) {
            known.leased = false;
        }
        for clocked in self.hosts.values_mut().chain(self.ips.values_mut()) {
            if clocked.inside > 0 {
                clocked.inside = 0;
                clocked.last_end = Some(now);
            }
        }
    }
}
