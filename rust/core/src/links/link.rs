//! A link: the one type in which a URL goes round the ring, with what is known of it.

use std::sync::Arc;

use super::score::Score;
use crate::canonical::Url;
use crate::parse::LinkKind;

/// A URL and how it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub url: Url,
    /// The page that has the link; empty for a seed. Shared by all links of the page.
    pub from: Arc<str>,
    /// The text of the link, where somebody asked for it ([`super::FollowSettings::anchors`]).
    pub anchor: Option<Box<str>>,
    /// A hash of that text, of a link that was found just now; 0: none.
    pub label: u32,
    /// No visit before this time, in microseconds since the epoch; 0: at once.
    pub not_before: u64,
    /// Links from a seed.
    pub depth: u16,
    pub kind: LinkKind,
    pub seed: bool,
    /// Of a seed: the redirects that led to it.
    pub hops: u8,
    /// It is a sitemap, or a name that cannot exist by which a host is asked for its 404; not a page.
    pub sitemap: bool,
    /// It was visited before, and is asked for again by decision.
    pub revisit: bool,
    /// The score of the page that has the link.
    pub parent_score: Option<Score>,
    /// How soon it should be visited; `None`: the order of the frontier's settings says.
    pub score: Option<Score>,
    /// Why a policy gave it this score, for people.
    pub reason: Option<Box<str>>,
}

impl Link {
    /// A link of a page, at depth 0 until the page's depth is known.
    #[must_use]
    pub fn new(url: Url, from: Arc<str>, kind: LinkKind) -> Link {
        Link {
            url,
            from,
            anchor: None,
            label: 0,
            not_before: 0,
            depth: 0,
            kind,
            seed: false,
            hops: 0,
            sitemap: false,
            revisit: false,
            parent_score: None,
            score: None,
            reason: None,
        }
    }

    /// A link without a parent.
    #[must_use]
    pub fn seed(url: Url) -> Link {
        Link {
            seed: true,
            ..Link::new(url, Arc::default(), LinkKind::Seed)
        }
    }

    /// The same link to another URL.
    #[must_use]
    pub fn to(&self, url: Url) -> Link {
        Link {
            url,
            ..self.clone()
        }
    }
}
