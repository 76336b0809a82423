//! Hosts: how many pages each has, its address and name, which one mirrors which.

use std::net::Ipv4Addr;

use super::Place;
use super::hash::{Draw, Purpose};
use crate::options::{MAX_HOSTS, Options};

const NO_HOST: u32 = u32::MAX;
/// Further addresses of a host lie in networks that are nobody's first address.
const SECOND_NETWORK: u32 = 200;

/// The table of hosts: the only part of the model that takes memory, 12 bytes a host.
#[derive(Debug)]
pub struct Hosts {
    /// Pages before each host, and at the end the total.
    before: Vec<u64>,
    /// For each host the one it shares its content with, if any; the even one is the original.
    twin: Vec<u32>,
    seed: u64,
    port: u16,
    names: bool,
    shared_address: f64,
    multi_address: f64,
}

impl Hosts {
    #[must_use]
    pub fn new(options: &Options) -> Hosts {
        let count = options.hosts as usize;
        let mut sizes = shares(count, options.pages, options.host_skew);
        let mut twin = vec![NO_HOST; if options.mirrors > 0.0 { count } else { 0 }];
        if !twin.is_empty() {
            for mirror in (3..count).step_by(2) {
                let mut draw = Draw::new(options.seed, Purpose::Mirror, mirror as u64, 0);
                if draw.chance(options.mirrors * 2.0) {
                    twin[mirror] = mirror as u32 - 1;
                    twin[mirror - 1] = mirror as u32;
                    // A mirror has as many pages as its original; what is left over goes to host 0.
                    let both = sizes[mirror - 1] + sizes[mirror];
                    sizes[mirror - 1] = both / 2;
                    sizes[mirror] = both / 2;
                    sizes[0] += both % 2;
                }
            }
        }
        let mut before = Vec::with_capacity(count + 1);
        let mut sum = 0;
        before.push(0);
        for size in sizes {
            sum += size;
            before.push(sum);
        }
        Hosts {
            before,
            twin,
            seed: options.seed,
            port: options.port,
            names: options.names,
            shared_address: options.shared_address,
            multi_address: options.multi_address,
        }
    }

    #[must_use]
    pub fn count(&self) -> u32 {
        self.before.len() as u32 - 1
    }

    #[must_use]
    pub fn pages(&self, host: u32) -> u64 {
        self.before[host as usize + 1] - self.before[host as usize]
    }

    #[must_use]
    pub fn total(&self) -> u64 {
        *self.before.last().unwrap_or(&0)
    }

    /// The number of a page among all pages.
    #[must_use]
    pub fn id(&self, place: Place) -> u64 {
        self.before[place.host as usize] + place.page
    }

    /// The page of a number; the last one for numbers past the end.
    #[must_use]
    pub fn place(&self, id: u64) -> Place {
        let id = id.min(self.total().saturating_sub(1));
        let host = self.before.partition_point(|&start| start <= id) - 1;
        Place {
            host: host as u32,
            page: id - self.before[host],
        }
    }

    /// The host whose content this one shows: itself, or for a mirror its original.
    #[inline]
    #[must_use]
    pub fn content(&self, host: u32) -> u32 {
        match self.twin.get(host as usize) {
            Some(&twin) if twin < host => twin,
            _ => host,
        }
    }

    /// The other host with the same content, if any.
    #[inline]
    #[must_use]
    pub fn twin(&self, host: u32) -> Option<u32> {
        self.twin
            .get(host as usize)
            .copied()
            .filter(|&twin| twin != NO_HOST)
    }

    /// The host as it stands in a URL, with the port.
    #[must_use]
    pub fn authority(&self, host: u32) -> String {
        let mut out = Vec::with_capacity(24);
        self.write_authority(host, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    /// Appends the host as it stands in a URL.
    pub fn write_authority(&self, host: u32, out: &mut Vec<u8>) {
        let mut digits = itoa::Buffer::new();
        if self.names {
            out.push(b'h');
            out.extend_from_slice(digits.format(host).as_bytes());
            out.extend_from_slice(b".sim.test");
        } else {
            for (index, octet) in own_address(host).octets().into_iter().enumerate() {
                if index > 0 {
                    out.push(b'.');
                }
                out.extend_from_slice(digits.format(octet).as_bytes());
            }
        }
        if self.port != 80 {
            out.push(b':');
            out.extend_from_slice(digits.format(self.port).as_bytes());
        }
    }

    /// What DNS answers for a host: its addresses, the first one first.
    #[must_use]
    pub fn addresses(&self, host: u32) -> Vec<Ipv4Addr> {
        let mut draw = Draw::new(self.seed, Purpose::Address, u64::from(host), 0);
        if draw.chance(self.shared_address) {
            // Eight neighbours at most share the address of the first of them.
            return vec![own_address(host - host % 8)];
        }
        let mut all = vec![own_address(host)];
        if draw.chance(self.multi_address) {
            let extra = 1 + draw.below(3);
            let base = u32::from(own_address(host)) & 0x0000_ffff;
            for index in 0..extra as u32 {
                let network = 127 << 24 | (SECOND_NETWORK + index) << 16;
                all.push(Ipv4Addr::from(network | base));
            }
        }
        all
    }

    /// The host of an address, where hosts are known by address.
    #[must_use]
    pub fn of_address(&self, address: Ipv4Addr) -> Option<u32> {
        let [first, x, y, z] = address.octets();
        if first != 127 || x == 0 || y == 0 || z == 0 || y == 255 || z == 255 {
            return None;
        }
        let host = (u32::from(x) - 1) * 254 * 254 + (u32::from(y) - 1) * 254 + u32::from(z) - 1;
        (host < self.count()).then_some(host)
    }

    /// The host of a name such as `h12.sim.test`, with or without a port or final dot.
    #[must_use]
    pub fn of_name(&self, name: &[u8]) -> Option<u32> {
        let name = std::str::from_utf8(name).ok()?;
        let name = name.split(':').next()?.trim_end_matches('.');
        let (label, rest) = name.split_once('.')?;
        if !rest.eq_ignore_ascii_case("sim.test") {
            return None;
        }
        let digits = label.strip_prefix(['h', 'H'])?;
        if digits.is_empty() || (digits.len() > 1 && digits.starts_with('0')) {
            return None;
        }
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        digits
            .parse()
            .ok()
            .filter(|&host: &u32| host < self.count())
    }
}

/// The address that belongs to a host alone.
#[must_use]
pub fn own_address(host: u32) -> Ipv4Addr {
    let host = host % MAX_HOSTS;
    let (x, rest) = (host / (254 * 254), host % (254 * 254));
    Ipv4Addr::new(
        127,
        1 + x as u8,
        1 + (rest / 254) as u8,
        1 + (rest % 254) as u8,
    )
}

/// Pages per host: one each, and the rest by a long tail that sums up exactly.
fn shares(count: usize, pages: u64, skew: f64) -> Vec<u64> {
    let spare = pages - count as u64;
    let weight = |rank: usize| ((rank + 1) as f64).powf(-skew);
    let whole: f64 = (0..count).map(weight).sum();
    let mut sizes = Vec::with_capacity(count);
    let (mut sum, mut given) = (0.0, 0);
    for rank in 0..count {
        sum += weight(rank);
        let upto = if rank + 1 == count {
            spare
        } else {
            ((spare as f64 * (sum / whole)).round() as u64).clamp(given, spare)
        };
        sizes.push(1 + upto - given);
        given = upto;
    }
    sizes
}
