//! Stage 8, links: what leaves a page.
//!
//! Takes a parsed page and the URL it was found under; gives its outlinks. Guarantees: absolute,
//! canonical, in scope, once per page, in the order of the page; everything left out is counted
//! by its reason.

pub mod scope;

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use crate::canonical::{Base, Rules, Url, canonical};
use crate::parse::{Link, LinkKind, Page, RelFlags};
use scope::Scope;

/// Which links of a page are followed.
#[derive(Clone, Copy, Debug)]
pub struct FollowSettings {
    /// Images, scripts, styles and other embeds too.
    pub resources: bool,
    /// Forms that use GET.
    pub forms: bool,
    /// Leave out links marked `rel=nofollow`.
    pub obey_nofollow: bool,
}

impl Default for FollowSettings {
    fn default() -> Self {
        FollowSettings {
            resources: false,
            forms: false,
            obey_nofollow: true,
        }
    }
}

/// The outlinks of one page, and how many were left out for which reason.
#[derive(Clone, Debug, Default)]
pub struct Outlinks {
    pub urls: Vec<Url>,
    pub out_of_scope: u32,
    pub refused: u32,
    pub nofollow: u32,
    pub repeated: u32,
}

/// The key of a URL is a hash already, so the table of keys needs no other.
#[derive(Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 = self.0.rotate_left(32) ^ u64::from_le_bytes(word);
        }
    }
    fn write_usize(&mut self, _length: usize) {}
}

type Keys = HashSet<[u8; 16], BuildHasherDefault<KeyHasher>>;

/// The outlinks of `page`, found under `url`.
#[must_use]
pub fn outlinks(
    page: &Page,
    url: &Url,
    rules: &Rules,
    scope: &Scope,
    follow: &FollowSettings,
) -> Outlinks {
    let mut out = Outlinks::default();
    let base = base_of(page, url);
    let mut keys = Keys::with_capacity_and_hasher(page.links.len(), BuildHasherDefault::default());
    // A page that links to itself adds nothing.
    keys.insert(url.key());
    for link in &page.links {
        if !is_followed(link, follow) {
            continue;
        }
        if follow.obey_nofollow && (page.nofollow || link.rel.intersects(RelFlags::NOFOLLOW)) {
            out.nofollow += 1;
            continue;
        }
        let Ok(target) = canonical(page.text(link.target), Some(&base), rules) else {
            out.refused += 1;
            continue;
        };
        if scope.check(&target).is_err() {
            out.out_of_scope += 1;
        } else if keys.insert(target.key()) {
            out.urls.push(target);
        } else {
            out.repeated += 1;
        }
    }
    out
}

/// What relative links are resolved against: the page's `base`, or the page's own URL.
fn base_of(page: &Page, url: &Url) -> Base {
    let own = Base::from(url);
    match &page.base {
        // A broken base is ignored, as browsers do.
        Some(base) => Base::parse(base, Some(&own)).unwrap_or(own),
        None => own,
    }
}

fn is_followed(link: &Link, follow: &FollowSettings) -> bool {
    match link.kind {
        LinkKind::Base => false,
        LinkKind::Form => follow.forms,
        kind if !kind.is_navigation() => follow.resources,
        LinkKind::Link | LinkKind::Header if link.rel.intersects(RelFlags::RESOURCE) => {
            follow.resources
        }
        _ => true,
    }
}
