//! Nodes of the web's graph: pages, and the URLs that are no pages but that links lead to.
//! A node has a code of 64 bits: kind (8), detail (8), number (48).

use super::{Model, Place};

/// A URL that a crawler can meet, traps only at their entrance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Node {
    Page(Place),
    /// A link on this page that leads nowhere.
    Dead(Place, u8),
    /// A stop on the way of a redirecting page.
    Hop(Place, u8),
    /// Where a trap of a host begins.
    Trap(u32, u8),
}

const NUMBER_BITS: u32 = 48;

impl Model {
    /// The code of a node.
    #[must_use]
    pub fn code(&self, node: Node) -> u64 {
        let (kind, detail, number) = match node {
            Node::Page(place) => (0, 0, self.hosts.id(place)),
            Node::Dead(place, slot) => (1, slot, self.hosts.id(place)),
            Node::Hop(place, stop) => (2, stop, self.hosts.id(place)),
            Node::Trap(host, kind) => (3, kind, u64::from(host)),
        };
        kind << 56 | u64::from(detail) << NUMBER_BITS | number
    }

    /// The node of a code.
    #[must_use]
    pub fn node(&self, code: u64) -> Node {
        let number = code & ((1 << NUMBER_BITS) - 1);
        let detail = (code >> NUMBER_BITS) as u8;
        match code >> 56 {
            0 => Node::Page(self.place(number)),
            1 => Node::Dead(self.place(number), detail),
            2 => Node::Hop(self.place(number), detail),
            _ => Node::Trap(number as u32 % self.hosts.count(), detail),
        }
    }

    /// The host that a node is on.
    #[must_use]
    pub fn node_host(&self, node: Node) -> u32 {
        match node {
            Node::Page(place) | Node::Dead(place, _) | Node::Hop(place, _) => place.host,
            Node::Trap(host, _) => host,
        }
    }

    /// The URL of a node.
    #[must_use]
    pub fn url(&self, node: Node) -> String {
        let mut out = b"http://".to_vec();
        self.hosts.write_authority(self.node_host(node), &mut out);
        self.write_node_path(node, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }
}
