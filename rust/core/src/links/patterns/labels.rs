//! Labels: whether the links to the URLs of a pattern all have the same text.
//!
//! A page is linked by its title; what is made of every page is linked by the name of what is made: *raw*, *history*, *reply*.
//! Takes the hash of each fresh link's text; gives whether most had one. In memory only, bounded.

use std::collections::HashMap;

use super::rows::CountKey;

/// Patterns whose labels are counted; more are not until the process begins anew.
const PATTERNS: usize = 1 << 16;

/// The label that most links had, found by votes.
#[derive(Clone, Copy, Debug, Default)]
struct Votes {
    label: u32,
    /// Votes for it less those against it.
    lead: u32,
    links: u32,
}

#[derive(Debug, Default)]
pub(super) struct Labels {
    of: HashMap<CountKey, Votes>,
}

impl Labels {
    /// A fresh link with a text; 0: it has none.
    pub fn add(&mut self, pattern: CountKey, label: u32) {
        if label == 0 || self.of.len() >= PATTERNS && !self.of.contains_key(&pattern) {
            return;
        }
        let votes = self.of.entry(pattern).or_default();
        votes.links = votes.links.saturating_add(1);
        if votes.lead == 0 {
            votes.label = label;
        }
        votes.lead = if votes.label == label {
            votes.lead.saturating_add(1)
        } else {
            votes.lead - 1
        };
    }

    /// Whether of at least `least` links `share` or more had the same text.
    pub fn is_same(&self, pattern: CountKey, least: u32, share: f32) -> bool {
        self.of.get(&pattern).is_some_and(|votes| {
            // Those with the label are half of what they lead by and of all.
            let same = (votes.lead + votes.links) as f32 / 2.0;
            votes.links >= least && same >= share * votes.links as f32
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_differ_and_the_names_of_views_do_not() {
        let mut labels = Labels::default();
        let (raw, titles, mixed, none) = ((1, 1), (1, 2), (1, 3), (1, 4));
        for n in 1..=20 {
            labels.add(raw, 7);
            labels.add(titles, n);
            labels.add(mixed, if n % 2 == 0 { 7 } else { n });
            labels.add(none, 0);
        }
        assert!(labels.is_same(raw, 8, 0.8));
        for other in [titles, mixed, none, (2, 1)] {
            assert!(!labels.is_same(other, 8, 0.8), "{other:?}");
        }
        assert!(!labels.is_same(raw, 21, 0.8));
    }
}
