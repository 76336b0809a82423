//! Which parts of a host's URLs vary: folders, and parameters, with many different children.
//!
//! A folder keeps the names of its children apart until there are more than [`FEW`] and most of them were met once or
//! twice; from then on they are one, `*`, but for those that are met again and again: `/category/` beside a
//! thousand titles keeps its name. The commonest children are counted (space-saving, Metwally and others
//! 2005). Filled by visits; bound: [`NODES`] folders of a host, [`COUNTED`] children each.

use std::collections::HashMap;

use crate::codec::{Reader, put_number};

// These numbers judge nothing: they say which URLs are counted together.

/// Children that a folder tells apart at least.
const FEW: usize = 10;
/// A child keeps its name if it has so many visits, and one of [`PART`] of its folder's.
const OFTEN: u16 = 4;
const PART: u16 = 32;
/// Children of a folder that are counted.
const COUNTED: usize = 24;
/// Folders of one host that are learnt about.
const NODES: usize = 256;

const VERSION: u8 = 2;

/// A child by the hash of its name.
pub type Child = u32;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Node {
    visits: u16,
    is_wild: bool,
    /// The commonest children.
    children: Vec<Counted>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counted {
    child: Child,
    visits: u16,
    /// Of those, so many may be of children that it took the place of.
    others: u16,
}

impl Counted {
    fn own(self) -> u16 {
        self.visits.saturating_sub(self.others)
    }
}

/// What was learnt of one host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learner {
    nodes: HashMap<u64, Node>,
    is_changed: bool,
}

impl Learner {
    /// Whether a child is one of many, so that its name says nothing.
    #[must_use]
    pub fn is_wild(&self, folder: u64, child: Child) -> bool {
        let is_wild = self.nodes.get(&folder).is_some_and(|node| node.is_wild);
        is_wild && !self.is_named(folder, child)
    }

    /// Whether a child is met again and again.
    #[must_use]
    pub fn is_named(&self, folder: u64, child: Child) -> bool {
        let node = self.nodes.get(&folder);
        let children = node.map_or(&[][..], |node| &node.children);
        let known = children.iter().find(|known| known.child == child);
        let part = node.map_or(0, |node| node.visits / PART);
        known.is_some_and(|known| known.own() >= OFTEN && known.own() >= part)
    }

    /// Counts a visit below a child of a folder.
    pub fn visit(&mut self, folder: u64, child: Child) {
        if self.nodes.len() >= NODES && !self.nodes.contains_key(&folder) {
            return;
        }
        let node = self.nodes.entry(folder).or_default();
        if node.visits == u16::MAX {
            // What is known by now is known.
            return;
        }
        self.is_changed = true;
        node.visits += 1;
        if let Some(known) = node.children.iter_mut().find(|known| known.child == child) {
            known.visits = known.visits.saturating_add(1);
        } else if node.children.len() < COUNTED {
            node.children.push(Counted {
                child,
                visits: 1,
                others: 0,
            });
        } else if let Some(least) = node.children.iter_mut().min_by_key(|known| known.visits) {
            *least = Counted {
                child,
                visits: least.visits.saturating_add(1),
                others: least.visits,
            };
        }
        let distinct = node.children.len();
        node.is_wild |= distinct > FEW && distinct * 2 > usize::from(node.visits);
        node.is_wild |= distinct == COUNTED;
    }

    /// Whether there is something to write; it counts as written afterwards.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.is_changed)
    }

    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        put_number(&mut out, self.nodes.len() as u64);
        for (folder, node) in &self.nodes {
            out.extend_from_slice(&folder.to_be_bytes());
            out.push(u8::from(node.is_wild));
            put_number(&mut out, node.visits.into());
            put_number(&mut out, node.children.len() as u64);
            for known in &node.children {
                out.extend_from_slice(&known.child.to_be_bytes());
                put_number(&mut out, known.visits.into());
                put_number(&mut out, known.others.into());
            }
        }
        out
    }

    /// Damaged bytes give `None`.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Learner> {
        let mut reader = Reader::new(bytes);
        if reader.byte()? != VERSION {
            return None;
        }
        let mut nodes = HashMap::new();
        for _ in 0..reader.small::<usize>()?.min(NODES) {
            let folder = u64::from_be_bytes(reader.take(8)?.try_into().ok()?);
            let mut node = Node {
                is_wild: reader.byte()? != 0,
                visits: reader.small()?,
                ..Node::default()
            };
            for _ in 0..reader.small::<usize>()?.min(COUNTED) {
                let child = u32::from_be_bytes(reader.take(4)?.try_into().ok()?);
                node.children.push(Counted {
                    child,
                    visits: reader.small()?,
                    others: reader.small()?,
                });
            }
            nodes.insert(folder, node);
        }
        Some(Learner {
            nodes,
            is_changed: false,
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn many_children_become_one_and_those_met_again_keep_their_names() {
        let mut learner = Learner::default();
        for _ in 0..5 {
            learner.visit(1, 7);
        }
        for child in 100..100 + FEW as u32 - 1 {
            learner.visit(1, child);
        }
        assert!(!learner.is_wild(1, 7) && !learner.is_wild(1, 101) && !learner.is_wild(1, 999));
        learner.visit(1, 999);
        assert!(!learner.is_wild(1, 7));
        assert!(learner.is_wild(1, 101) && learner.is_wild(1, 5) && !learner.is_wild(2, 5));
        // One that comes up later gets its name.
        for n in 0..40 {
            learner.visit(1, 1_000 + n);
            learner.visit(1, 8);
        }
        assert!(!learner.is_wild(1, 8) && learner.is_wild(1, 1_039));
        let again = Learner::decode(&learner.encode()).unwrap();
        assert!(learner.take_changed() && !learner.take_changed());
        assert_eq!(again, learner);
        for end in 0..learner.encode().len() {
            let _ = Learner::decode(&learner.encode()[..end]);
        }
    }

    #[test]
    fn none_of_very_many_has_a_name() {
        let mut learner = Learner::default();
        for n in 0..2_000 {
            learner.visit(1, n % 500);
        }
        assert!((0..500).all(|child| learner.is_wild(1, child)));
    }

    #[test]
    fn few_children_that_are_met_again_and_again_keep_their_names() {
        let mut learner = Learner::default();
        for n in 0..200 {
            learner.visit(1, n % 9 + if n > 90 { n % 14 } else { 0 });
        }
        assert!((0..9).all(|child| !learner.is_wild(1, child)));
    }

    #[test]
    fn a_host_with_endless_folders_is_bounded() {
        let mut learner = Learner::default();
        for folder in 0..10_000 {
            learner.visit(folder, 1);
        }
        assert!(learner.encode().len() < 8_000);
    }
}
