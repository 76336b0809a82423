//! `trie`: the URLs as a tree of characters, in memory: what URLs have in common at their
//! beginning (scheme, host, directories) is kept once. A node is a run of bytes with a list of
//! followers: a generalised list, whose elements are bytes or lists again. The store keeps the
//! texts for the next start.

use super::pending::Batches;
use super::{Candidate, Mark, Seen, SeenKind};
use crate::store::state::{Reads, Space, StateError, Writes};

/// No node.
const NONE: u32 = u32::MAX;

/// A run of bytes, its first follower and its next sibling. Siblings differ in their first byte,
/// so there are at most 256.
#[derive(Clone, Copy, Debug)]
struct Node {
    start: u32,
    len: u32,
    child: u32,
    next: u32,
    /// Whether a URL ends here.
    end: bool,
}

/// The tree. Positions are 32 bits: 4 GiB of text and 4·10⁹ nodes.
#[derive(Debug)]
struct Tree {
    nodes: Vec<Node>,
    bytes: Vec<u8>,
}

impl Tree {
    fn new() -> Tree {
        let root = Node {
            start: 0,
            len: 0,
            child: NONE,
            next: NONE,
            end: false,
        };
        Tree {
            nodes: vec![root],
            bytes: Vec::new(),
        }
    }

    fn label(&self, node: u32) -> &[u8] {
        let node = &self.nodes[node as usize];
        &self.bytes[node.start as usize..][..node.len as usize]
    }

    fn child_with(&self, node: u32, byte: u8) -> Option<u32> {
        let mut at = self.nodes[node as usize].child;
        while at != NONE {
            let found = &self.nodes[at as usize];
            if self.bytes[found.start as usize] == byte {
                return Some(at);
            }
            at = found.next;
        }
        None
    }

    /// The node at the end of `text`, made if needed; None when the tree is full.
    fn place(&mut self, text: &[u8]) -> Option<u32> {
        let (mut node, mut rest) = (0, text);
        while let Some(&byte) = rest.first() {
            let Some(child) = self.child_with(node, byte) else {
                return self.add(node, rest);
            };
            let label = self.label(child);
            let common = label.iter().zip(rest).take_while(|(a, b)| a == b).count();
            if common < label.len() {
                self.split(child, common as u32)?;
            }
            (node, rest) = (child, &rest[common..]);
        }
        Some(node)
    }

    /// Adds a follower with the label `text`.
    fn add(&mut self, parent: u32, text: &[u8]) -> Option<u32> {
        let start = u32::try_from(self.bytes.len()).ok()?;
        let len = u32::try_from(text.len()).ok()?;
        start.checked_add(len)?;
        let number = self.next_number()?;
        self.bytes.extend_from_slice(text);
        let next = self.nodes[parent as usize].child;
        self.nodes.push(Node {
            start,
            len,
            child: NONE,
            next,
            end: false,
        });
        self.nodes[parent as usize].child = number;
        Some(number)
    }

    /// Cuts a node's label after `at` bytes; the rest becomes its only follower.
    fn split(&mut self, node: u32, at: u32) -> Option<()> {
        let number = self.next_number()?;
        let upper = self.nodes[node as usize];
        self.nodes.push(Node {
            start: upper.start + at,
            len: upper.len - at,
            next: NONE,
            ..upper
        });
        self.nodes[node as usize] = Node {
            len: at,
            child: number,
            end: false,
            ..upper
        };
        Some(())
    }

    fn next_number(&self) -> Option<u32> {
        u32::try_from(self.nodes.len()).ok().filter(|n| *n != NONE)
    }
}

/// A set of URLs that shares their beginnings.
#[derive(Debug)]
pub struct Trie {
    mark: Mark,
    tree: Tree,
    batches: Batches<Box<[u8]>>,
}

impl Trie {
    pub(super) fn open(mark: Mark, reads: &dyn Reads) -> Result<Trie, StateError> {
        let mut tree = Tree::new();
        let mut full = false;
        reads.scan(Space::Seen, &[], &[], &mut |_, url| {
            match tree.place(url) {
                Some(node) => tree.nodes[node as usize].end = true,
                None => full = true,
            }
            !full
        })?;
        if full {
            return Err(too_many());
        }
        Ok(Trie {
            mark,
            tree,
            batches: Batches::default(),
        })
    }

    fn take_back(&mut self, url: &[u8]) {
        if let Some(node) = self.tree.place(url) {
            self.tree.nodes[node as usize].end = false;
        }
    }
}

fn too_many() -> StateError {
    StateError::Store("more URLs than seen = 'trie' can hold: use 'exact'".to_owned())
}

impl Seen for Trie {
    fn kind(&self) -> SeenKind {
        SeenKind::Trie
    }

    fn admit(
        &mut self,
        urls: &[Candidate<'_>],
        _reads: &dyn Reads,
        writes: &mut Writes,
        fresh: &mut Vec<bool>,
    ) -> Result<(), StateError> {
        fresh.clear();
        let (before, written) = (self.batches.open().len(), writes.list.len());
        for candidate in urls {
            let text = candidate.url.as_bytes();
            let Some(node) = self.tree.place(text) else {
                writes.list.truncate(written);
                let lost: Vec<_> = self.batches.take_back(before).collect();
                for url in lost {
                    self.take_back(&url);
                }
                return Err(too_many());
            };
            let node = &mut self.tree.nodes[node as usize];
            let new = !node.end;
            node.end = true;
            fresh.push(new);
            if new {
                self.batches.add(text.into());
                writes.put(Space::Seen, candidate.key.0, text);
            }
        }
        Ok(())
    }

    fn seal(&mut self, writes: &mut Writes) -> Result<u64, StateError> {
        self.mark.write(writes);
        Ok(self.batches.seal())
    }

    fn applied(&mut self, batch: u64, _durable: bool) {
        self.batches.take_applied(batch);
    }

    fn forget_pending(&mut self) {
        for url in self.batches.take_all_back() {
            self.take_back(&url);
        }
    }

    fn ram_bytes(&self) -> u64 {
        let tree = self.tree.nodes.capacity() * size_of::<Node>() + self.tree.bytes.capacity();
        (tree + self.batches.bytes()) as u64
    }
}
