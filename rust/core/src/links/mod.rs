//! Stage 8, links: what leaves a page.
//!
//! Takes a parsed page and the URL it was found under; gives its outlinks. Guarantees: absolute,
//! canonical, in scope, once per page, in the order of the page; everything left out is counted
//! by its reason.

mod link;
pub mod rules;
pub mod scope;
mod score;
pub mod trap;

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

pub use link::Link;
pub use score::{BANDS, Score};

use crate::canonical::{Base, Rules, Url, canonical};
use crate::parse::{self, LinkKind, Page, RelFlags};
use scope::Scope;

/// Bytes of an anchor text that go with a link, whatever the parser kept.
pub const ANCHOR_BYTES: usize = 512;

/// Which links of a page are followed.
#[derive(Clone, Copy, Debug)]
pub struct FollowSettings {
    /// Images, scripts, styles and other embeds too.
    pub resources: bool,
    /// Forms that use GET.
    pub forms: bool,
    /// Leave out links marked `rel=nofollow`.
    pub obey_nofollow: bool,
    /// Give each link its anchor text; somebody asks for it.
    pub anchors: bool,
}

impl Default for FollowSettings {
    fn default() -> Self {
        FollowSettings {
            resources: false,
            forms: false,
            obey_nofollow: true,
            anchors: false,
        }
    }
}

/// The outlinks of one page, and how many were left out for which reason.
#[derive(Clone, Debug, Default)]
pub struct Outlinks {
    pub followed: Vec<Link>,
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

/// The outlinks of `page`, found under `url`. Their depth and their parent's score are for the
/// caller to set: the page does not know its own.
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
    let from: Arc<str> = Arc::from(url.as_str());
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
            let mut found = Link::new(target, Arc::clone(&from), link.kind);
            if follow.anchors {
                found.anchor = anchor(page.text(link.anchor));
            }
            out.followed.push(found);
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

/// An anchor text as it goes with a link; none where there is none.
fn anchor(text: &str) -> Option<Box<str>> {
    let text = cut(text, ANCHOR_BYTES);
    (!text.is_empty()).then(|| text.into())
}

/// The beginning of a text, at most so many bytes, cut between characters.
pub(crate) fn cut(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn is_followed(link: &parse::Link, follow: &FollowSettings) -> bool {
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
