//! Order: how soon a URL comes.
//!
//! Takes what is known of a URL when it is queued; gives its score, by a formula whose numbers are
//! a policy's (`src/gossamer/policy/order/`). A pure function, so that a queue can be put in another
//! order at any time by asking again. A policy that is code gives scores instead
//! ([`crate::links::Link::score`]).

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Frontier;
use crate::links::{Link, Score};
use crate::parse::LinkKind;

/// What the formula looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    /// Links from a seed.
    pub depth: u16,
    /// The URL has a query.
    pub dynamic: bool,
    /// Parameters of its query.
    pub parameters: u8,
    pub seed: bool,
    pub kind: LinkKind,
    pub parent_score: Option<Score>,
}

impl Traits {
    #[must_use]
    pub fn of(link: &Link) -> Traits {
        Traits {
            depth: link.depth,
            dynamic: link.url.is_dynamic(),
            parameters: parameters(link.url.path_and_query()),
            seed: link.seed,
            kind: link.kind,
            parent_score: link.parent_score,
        }
    }
}

/// score = base + depth × min(depth of the URL, deepest) + dynamic (if it has a query) + parameter × its
/// parameters (up to 4) + parent × score of the page that has the link + sitemap (if a sitemap names it) + the weight of its kind,
/// cut to 0 to 1. Seeds, and what stands at their depth (where they redirect to, the sitemaps of
/// their hosts), have the score `seed`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Formula {
    pub base: f32,
    pub depth: f32,
    pub deepest: u16,
    pub dynamic: f32,
    #[serde(default)]
    pub parameter: f32,
    pub parent: f32,
    pub sitemap: f32,
    pub seed: f32,
    /// By the name of the kind; 0 where none is given.
    #[serde(default)]
    pub kinds: BTreeMap<String, f32>,
}

impl Default for Formula {
    /// What is near the seeds first, a band for each step.
    fn default() -> Formula {
        Formula {
            base: 1.0,
            depth: -1.0 / 64.0,
            deepest: 63,
            dynamic: 0.0,
            parameter: 0.0,
            parent: 0.0,
            sitemap: 0.0,
            seed: 1.0,
            kinds: BTreeMap::new(),
        }
    }
}

impl Formula {
    /// The score of a URL.
    #[must_use]
    pub fn score(&self, of: Traits) -> Score {
        if of.seed || of.depth == 0 {
            return Score::new(self.seed);
        }
        let mut score = self.base + self.depth * f32::from(of.depth.min(self.deepest));
        if of.dynamic {
            score += self.dynamic;
        }
        score += self.parameter * f32::from(of.parameters);
        if let Some(parent) = of.parent_score {
            score += self.parent * parent.value();
        }
        if of.kind == LinkKind::Sitemap {
            score += self.sitemap;
        }
        if !self.kinds.is_empty() {
            score += self.kinds.get(of.kind.as_str()).copied().unwrap_or(0.0);
        }
        Score::new(score)
    }

    /// Whether it looks at more than every queued URL is kept with.
    #[must_use]
    pub fn needs_known(&self) -> bool {
        self.parent != 0.0 || self.sitemap != 0.0 || !self.kinds.is_empty()
    }
}

impl Frontier {
    /// The score that a link has, or that the order of the settings gives it.
    #[must_use]
    pub fn score(&self, link: &Link) -> Score {
        link.score.unwrap_or_else(|| self.native_score(link))
    }

    /// The score that the formula gives a link, whatever it has now.
    #[must_use]
    pub fn native_score(&self, link: &Link) -> Score {
        self.settings.order.score(Traits::of(link))
    }
}

/// Parameters of a query, up to 4: more tell nothing more.
pub(super) fn parameters(path_and_query: &str) -> u8 {
    let query = path_and_query
        .split_once('?')
        .map_or("", |(_, query)| query);
    let pairs = query.split(['&', ';']).filter(|pair| !pair.is_empty());
    pairs.take(4).count() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(depth: u16) -> Traits {
        Traits {
            depth,
            dynamic: false,
            parameters: 0,
            seed: false,
            kind: LinkKind::A,
            parent_score: None,
        }
    }

    #[test]
    fn every_weight_counts() {
        let formula = Formula {
            base: 0.5,
            depth: -0.125,
            deepest: 2,
            dynamic: -0.0625,
            parameter: 0.0,
            parent: 0.25,
            sitemap: 0.125,
            seed: 0.75,
            kinds: BTreeMap::from([("iframe".to_owned(), -0.25)]),
        };
        let value = |of: Traits| formula.score(of).value();
        assert_eq!(value(of(0)), 0.75);
        assert_eq!(
            value(Traits {
                seed: true,
                ..of(9)
            }),
            0.75
        );
        assert_eq!(
            (value(of(1)), value(of(2)), value(of(3))),
            (0.375, 0.25, 0.25)
        );
        assert_eq!(
            value(Traits {
                dynamic: true,
                ..of(1)
            }),
            0.3125
        );
        let parent_score = Some(Score::new(0.5));
        assert_eq!(
            value(Traits {
                parent_score,
                ..of(1)
            }),
            0.5
        );
        assert_eq!(
            value(Traits {
                kind: LinkKind::Sitemap,
                ..of(1)
            }),
            0.5
        );
        assert_eq!(
            value(Traits {
                kind: LinkKind::Iframe,
                ..of(1)
            }),
            0.125
        );
        assert!(formula.needs_known() && !Formula::default().needs_known());
    }

    #[test]
    fn by_default_each_step_from_the_seeds_is_a_band() {
        let band = |depth| Formula::default().score(of(depth)).band();
        assert_eq!(
            [0, 1, 2, 62, 63, 64, u16::MAX].map(band),
            [0, 1, 2, 62, 63, 63, 63]
        );
    }
}
