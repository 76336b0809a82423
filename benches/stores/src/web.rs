//! The web as arithmetic, the same as `frontier/rehearsal.rs` of the core: every host has a start
//! page, each page visited brings 50 fresh URLs of one host, hosts come in mixed order, and their
//! sizes follow a power law.

/// Fresh URLs of a page.
pub const LINKS: u64 = 50;

/// How many hosts and groups of fresh URLs there are, and in what order they come.
#[derive(Clone, Copy, Debug)]
pub struct Web {
    pub hosts: u32,
    /// Groups of fresh URLs, one for each page visited.
    pub groups: u64,
    group_step: u64,
    host_step: u64,
}

impl Web {
    /// A web of about so many URLs.
    pub fn new(urls: u64, hosts: u32) -> Web {
        let hosts = hosts.max(1);
        let groups = (urls.saturating_sub(u64::from(hosts)) / LINKS).max(1);
        Web {
            hosts,
            groups,
            group_step: step(groups),
            host_step: step(u64::from(hosts)),
        }
    }

    /// The group that the `nth` page visited brings.
    pub fn group(&self, nth: u64) -> u64 {
        nth_of(nth, self.group_step, self.groups)
    }

    /// The host of a group: the h-th of n hosts ends at (h/n)³ of all groups.
    pub fn host_of(&self, group: u64) -> u32 {
        let share = group as f64 / self.groups as f64;
        ((share.cbrt() * f64::from(self.hosts)) as u32).min(self.hosts - 1)
    }

    /// The host whose start page has the `nth` turn: without this small hosts would go first.
    pub fn mixed_host(&self, nth: u32) -> u32 {
        nth_of(u64::from(nth), self.host_step, u64::from(self.hosts)) as u32
    }
}

/// The paths of a group's URLs.
pub fn paths(group: u64) -> impl Iterator<Item = String> {
    (group * LINKS..(group + 1) * LINKS)
        .map(|page| format!("/section-{}/article-{page}.html", page % 17))
}

/// A step that shares no factor with `count`: it visits each number below once.
fn step(count: u64) -> u64 {
    let mut step = (count as f64 * 0.618) as u64 | 1;
    while common_divisor(step, count) != 1 {
        step += 2;
    }
    step
}

fn nth_of(nth: u64, step: u64, count: u64) -> u64 {
    ((u128::from(nth) * u128::from(step)) % u128::from(count)) as u64
}

fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
