//! What other parts ask of a node while it works: robots rules, turns at an address, known content.

use std::net::IpAddr;
use std::sync::Arc;

use super::rows;
use crate::clock::Clock;
use crate::exchange::{Carrier, Grants};
use crate::frontier::{IpTable, RobotsRules};
use crate::robots::Robots;
use crate::state::disk::DiskState;
use crate::state::{Reads, Space};
use crate::visit::{Gate, Known, Original, Task};
use crate::warc::Digest;

/// The robots rules of one host.
pub(super) struct Compiled {
    pub robots: Robots,
}

impl RobotsRules for Compiled {
    fn allows(&self, path_and_query: &str) -> bool {
        self.robots.allows(path_and_query)
    }

    fn crawl_delay_us(&self) -> Option<u64> {
        let delay = self.robots.crawl_delay()?;
        Some(u64::try_from(delay.as_micros()).unwrap_or(u64::MAX))
    }
}

/// Turns at an address, asked by the fetcher at the moment it would connect.
#[derive(Debug)]
pub(super) struct IpGate {
    pub ips: Arc<IpTable>,
    pub clock: Arc<Clock>,
    pub cluster: Option<(Arc<Carrier>, Arc<Grants>)>,
}

/// How long a visit waits that met the fence.
const FENCED: u64 = 1_000_000;

impl Gate for IpGate {
    fn enter(&self, task: &Task, ip: IpAddr) -> Result<(), u64> {
        let now = self.clock.now();
        match &self.cluster {
            Some((carrier, _)) if carrier.fence.passed() => Err(now + FENCED),
            Some((_, grants)) => grants.enter(task.lease, ip),
            None => self.ips.enter_ip(task.lease, ip, now),
        }
    }

    fn still_open(&self, ip: IpAddr) -> bool {
        self.cluster
            .as_ref()
            .is_none_or(|(carrier, grants)| !carrier.fence.passed() && grants.holds(ip))
    }
}

/// Content stored in batches that are applied.
#[derive(Debug)]
pub(super) struct Stored {
    pub state: Arc<DiskState>,
}

impl Known for Stored {
    fn original(&self, content: &Digest) -> Option<Original> {
        // A store that fails here fails the next batch too, where it is reported.
        let row = self
            .state
            .get(Space::Content, rows::content_key(content))
            .ok()??;
        rows::read_content(&row)
    }
}
