//! The gate before an address: in a cluster also the fence and the grants of other nodes.

use std::net::IpAddr;
use std::sync::Arc;

use crate::clock::Clock;
use crate::exchange::{Carrier, Grants};
use crate::frontier::IpTable;
use crate::node::pool::{Task, VisitGate};

/// Turns at an address, asked by the fetcher at the moment it would connect.
#[derive(Debug)]
pub(super) struct IpGate {
    pub ips: Arc<IpTable>,
    pub clock: Arc<Clock>,
    pub cluster: Option<(Arc<Carrier>, Arc<Grants>)>,
}

/// How long a visit waits that met the fence.
const FENCED: u64 = 1_000_000;

impl VisitGate for IpGate {
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
