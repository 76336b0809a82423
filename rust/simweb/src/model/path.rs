//! Paths of pages, in many shapes, and back from a path to its page.
//! A path holds the page's number as its last run of digits; whatever else it says is checked by
//! writing the page's path again, so each page has exactly one path.

use super::hash::Purpose;
use super::shape::Shape;
pub use super::shape::{LEAF_WORDS, STEM_WORDS, WORDS};
use super::{Model, Node, Place, holds_others, traps};

/// What a request's path means on a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target<'a> {
    Page(u64),
    Hop(u64, u8),
    Trap(traps::Trap<'a>),
    Robots,
    /// One of the host's sitemap files.
    Sitemap(&'a [u8]),
    Nothing,
}

pub(crate) fn push_number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

fn push_all(out: &mut Vec<u8>, parts: &[&str]) {
    for part in parts {
        out.extend_from_slice(part.as_bytes());
    }
}

impl Model {
    /// Appends the path and query of a page.
    pub fn write_path(&self, place: Place, out: &mut Vec<u8>) {
        if place.page == 0 {
            out.push(b'/');
            return;
        }
        if self.options.orphans > 0.0 && self.write_orphan_path(place, out) {
            return;
        }
        self.shape(place, self.linked_pages(place.host)).append(out);
    }

    /// The shape of the path of a page that is no orphan nor below one; `linked` is the number of
    /// linked pages of its host.
    #[inline(always)]
    pub(crate) fn shape(&self, place: Place, linked: u64) -> Shape {
        let host = self.hosts.content(place.host);
        let bits = self.draw(Purpose::Shape, host, place.page).bits();
        Shape::new(place.page, holds_others(place.page, linked), bits)
    }

    /// Appends the path of an orphan that is a directory, or of the page that lies in it.
    fn write_orphan_path(&self, place: Place, out: &mut Vec<u8>) -> bool {
        if let Some(index) = self.ascending_orphan(place) {
            push_all(out, &["/u"]);
            push_number(out, index);
            out.push(b'/');
            return true;
        }
        let Some(index) = self.below_orphan(place) else {
            return false;
        };
        push_all(out, &["/u"]);
        push_number(out, index);
        push_all(out, &["/p"]);
        push_number(out, place.page);
        push_all(out, &[".html"]);
        true
    }

    /// Appends the path and query of a node.
    pub fn write_node_path(&self, node: Node, out: &mut Vec<u8>) {
        match node {
            Node::Page(place) => self.write_path(place, out),
            Node::Dead(place, slot) => {
                push_all(out, &["/gone/"]);
                push_number(out, place.page);
                out.push(b'-');
                push_number(out, u64::from(slot));
                push_all(out, &[".html"]);
            }
            Node::Hop(place, stop) => {
                push_all(out, &["/hop"]);
                push_number(out, u64::from(stop));
                out.push(b'/');
                push_number(out, place.page);
            }
            Node::Trap(host, kind) => self.write_trap_entrance(host, kind, out),
        }
    }

    /// What a path (with its query) means on a host.
    #[must_use]
    pub fn resolve<'a>(&self, host: u32, path: &'a [u8], scratch: &mut Vec<u8>) -> Target<'a> {
        if path == b"/" {
            return Target::Page(0);
        }
        if path == b"/robots.txt" {
            return Target::Robots;
        }
        if path.starts_with(b"/sitemap") {
            return Target::Sitemap(path);
        }
        if let Some(trap) = self.parse_trap(host, path) {
            return Target::Trap(trap);
        }
        if let Some(rest) = path.strip_prefix(b"/hop") {
            return self.parse_hop(host, rest);
        }
        let linked = self.linked_pages(host);
        let page = match path
            .strip_prefix(b"/u")
            .and_then(|rest| rest.strip_suffix(b"/"))
        {
            Some(digits) if digits.iter().all(u8::is_ascii_digit) => {
                number(digits).and_then(|index| linked.checked_add(index))
            }
            _ => last_number(path),
        };
        if let Some(page) = page.filter(|&page| page < self.hosts.pages(host)) {
            scratch.clear();
            self.write_path(Place { host, page }, scratch);
            if scratch == path {
                return Target::Page(page);
            }
        }
        self.parse_missing(host, path)
            .map_or(Target::Nothing, Target::Trap)
    }

    fn parse_hop(&self, host: u32, rest: &[u8]) -> Target<'static> {
        let mut parts = rest.splitn(2, |&byte| byte == b'/');
        let stop = parts.next().and_then(number);
        let page = parts.next().and_then(number);
        let (Some(stop), Some(page)) = (stop, page) else {
            return Target::Nothing;
        };
        if page >= self.hosts.pages(host) || stop == 0 {
            return Target::Nothing;
        }
        match self.kind(Place { host, page }) {
            super::kind::Kind::Redirect(redirect) if stop <= u64::from(redirect.stops) => {
                Target::Hop(page, stop as u8)
            }
            _ => Target::Nothing,
        }
    }

    /// For an orphan that is the directory of a linked page: its number among the orphans.
    fn ascending_orphan(&self, place: Place) -> Option<u64> {
        let linked = self.linked_pages(place.host);
        let index = place.page.checked_sub(linked)?;
        self.leaf_below(place.host, index).map(|_| index)
    }

    /// For a page that lies in the directory of an orphan: the orphan's number.
    fn below_orphan(&self, place: Place) -> Option<u64> {
        let linked = self.linked_pages(place.host);
        if linked == self.hosts.pages(place.host) {
            return None;
        }
        let index = (linked - 1).checked_sub(place.page)?;
        (self.leaf_below(place.host, index)? == place.page).then_some(index)
    }

    /// The linked page whose path leads up to that orphan; none where only a sitemap finds it.
    fn leaf_below(&self, host: u32, index: u64) -> Option<u64> {
        let linked = self.linked_pages(host);
        if index >= self.hosts.pages(host) - linked {
            return None;
        }
        if index.is_multiple_of(2) && self.sitemap_kind(host).is_some() {
            return None;
        }
        let page = linked.checked_sub(1 + index)?;
        (!self.is_structural(Place { host, page })).then_some(page)
    }

    /// How an orphan can be found.
    #[must_use]
    pub fn orphan_is_below_a_path(&self, place: Place) -> bool {
        self.ascending_orphan(place).is_some()
    }
}

/// A decimal number written the one usual way.
fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 15 || (digits.len() > 1 && digits[0] == b'0') {
        return None;
    }
    digits.iter().try_fold(0u64, |sum, &digit| {
        digit
            .is_ascii_digit()
            .then(|| sum * 10 + u64::from(digit - b'0'))
    })
}

fn last_number(path: &[u8]) -> Option<u64> {
    let end = path.iter().rposition(u8::is_ascii_digit)? + 1;
    let start = path[..end]
        .iter()
        .rposition(|byte| !byte.is_ascii_digit())?
        + 1;
    number(&path[start..end])
}
