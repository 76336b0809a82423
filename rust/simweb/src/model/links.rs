//! Out-links of a page: a tree that reaches every page, and the rest by a power law.

use super::hash::{Purpose, reach};
use super::{Model, Node, Place};

/// Pages that hang below a page of the same host.
pub const BRANCH: u64 = 16;
/// Hosts that hang below the start page of a host.
pub const HOST_BRANCH: u64 = 8;
/// The target's rank has exponent 1 - 1/10 = 0.9; in-links then have a density with exponent
/// 1 + 1/0.9 = 2.1, as on the real web.
pub const RANK_INVERSE: i32 = 10;
/// The target's host has exponent 1 - 1/5 = 0.8.
const HOST_RANK_INVERSE: i32 = 5;
const FEWEST: u64 = 30;
const SPREAD: u64 = 41;
const CROSS_SHARE: f64 = 0.1;
const SLOTS: usize = 256;

/// A set of up to 160 codes, without allocation: open addressing in a fixed table.
struct Distinct {
    slots: [u64; SLOTS],
}

impl Distinct {
    fn insert(&mut self, code: u64) -> bool {
        let mut slot = (code.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize;
        loop {
            match self.slots[slot] {
                found if found == code + 1 => return false,
                0 => {
                    self.slots[slot] = code + 1;
                    return true;
                }
                _ => slot = (slot + 1) % SLOTS,
            }
        }
    }
}

impl Model {
    /// The distinct out-links of the page whose bytes are those of `original`, in the order of the
    /// page. Links to the same host stay on `original.host`, also where that is a mirror.
    pub fn links(&self, original: Place, out: &mut Vec<Node>) {
        out.clear();
        let own = original.host;
        let content = self.hosts.content(own);
        let linked = self.linked_pages(own);
        let mut seen = Distinct { slots: [0; SLOTS] };
        let mut draw = self.draw(Purpose::LinkCount, content, original.page);
        let wanted = FEWEST + draw.below(SPREAD);
        let mut draw = self.draw(Purpose::Links, content, original.page);

        // 1 the tree: pages below this one, and below a start page other hosts
        let first = original.page.saturating_mul(BRANCH) + 1;
        for page in first..first.saturating_add(BRANCH).min(linked) {
            seen.insert(page);
            out.push(Node::Page(Place { host: own, page }));
        }
        let tree = out.len() as u64;
        if original.page == 0 {
            self.hosts_below(content, out);
            if let Some(twin) = self.hosts.twin(content) {
                self.hosts_below(twin, out);
            }
            let id_space = 1 << 60;
            for node in &out[tree as usize..] {
                seen.insert(id_space | self.code(*node));
            }
        }

        // 2 the rest by a power law of the target's rank, one in ten to another host
        let rest = wanted.saturating_sub(out.len() as u64).min(2 * linked + 8);
        let cross_rate = if rest == 0 {
            0.0
        } else {
            CROSS_SHARE * wanted as f64 / rest as f64
        };
        let cross_rate = if self.hosts.count() == 1 {
            0.0
        } else {
            cross_rate
        };
        let page_reach = reach(linked, RANK_INVERSE);
        let host_reach = reach(u64::from(self.hosts.count()), HOST_RANK_INVERSE);
        for _ in 0..rest {
            if draw.chance(cross_rate) {
                let hosts = u64::from(self.hosts.count());
                let host = draw.power_law(hosts, host_reach, HOST_RANK_INVERSE) as u32;
                if host == own || host == content || Some(host) == self.hosts.twin(content) {
                    continue;
                }
                let pages = self.linked_pages(host);
                let page = draw.power_law(pages, reach(pages, RANK_INVERSE), RANK_INVERSE);
                let node = Node::Page(Place { host, page });
                if seen.insert(1 << 60 | self.code(node)) {
                    out.push(node);
                }
                continue;
            }
            // A page that is there already is drawn again, a few times: links are distinct.
            for _ in 0..6 {
                let page = draw.power_law(linked, page_reach, RANK_INVERSE);
                if seen.insert(page) {
                    out.push(Node::Page(Place { host: own, page }));
                    break;
                }
            }
        }

        // 3 links that lead nowhere, and into the host's trap
        self.dead_links(original, content, out);
        self.trap_links(original, content, out);
    }

    fn dead_links(&self, original: Place, content: u32, out: &mut Vec<Node>) {
        if self.options.dead_links == 0.0 {
            return;
        }
        let mut draw = self.draw(Purpose::Dead, content, original.page);
        for slot in 0..out.len().min(255) {
            if draw.chance(self.options.dead_links) {
                out.push(Node::Dead(original, slot as u8));
            }
        }
    }

    fn trap_links(&self, original: Place, content: u32, out: &mut Vec<Node>) {
        let Some(kind) = self.trap_kind(original.host) else {
            return;
        };
        let mut draw = self.draw(Purpose::Trap, content, original.page);
        draw.bits();
        if original.page == 0 || draw.chance(0.05) {
            out.push(Node::Trap(original.host, kind));
        }
    }

    fn hosts_below(&self, host: u32, out: &mut Vec<Node>) {
        let first = u64::from(host) * HOST_BRANCH + 1;
        for below in first..(first + HOST_BRANCH).min(u64::from(self.hosts.count())) {
            out.push(Node::Page(Place {
                host: below as u32,
                page: 0,
            }));
        }
    }

    /// No other host hangs below this one, so that closing it closes nothing else.
    #[must_use]
    pub fn is_last_host(&self, host: u32) -> bool {
        u64::from(host) * HOST_BRANCH + 1 >= u64::from(self.hosts.count())
    }
}
