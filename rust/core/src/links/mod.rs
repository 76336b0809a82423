//! Stage 8, links: what leaves a page.
//!
//! Takes a parsed page and the URL it was found under; gives its outlinks. Guarantees: absolute,
//! canonical, in scope, once per page, in the order of the page; everything left out is counted
//! by its reason.

pub mod left_out;
mod link;
pub mod patterns;
pub mod rules;
pub mod scope;
mod score;
pub mod soft404;

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

pub use left_out::{LeftOut, Reason};
pub use link::Link;
pub use score::{BANDS, Score};

use xxhash_rust::xxh3::xxh3_64;

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
    /// Relations of `<link>` and of the header `Link` that are followed; `None`: all, known or not.
    pub relations: Option<RelFlags>,
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
            relations: None,
            obey_nofollow: true,
            anchors: false,
        }
    }
}

/// The outlinks of one page, and how many were left out for which reason.
#[derive(Clone, Debug, Default)]
pub struct Outlinks {
    pub followed: Vec<Link>,
    pub left_out: LeftOut,
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
    out.left_out.add(Reason::Cut, page.links_cut);
    out.left_out.add(Reason::UrlRefused, page.links_long);
    let base = base_of(page, url);
    let mut keys = Keys::with_capacity_and_hasher(page.links.len(), BuildHasherDefault::default());
    // A page that links to itself adds nothing.
    keys.insert(url.key());
    let from: Arc<str> = Arc::from(url.as_str());
    for link in &page.links {
        match standing(link, follow) {
            Standing::Part => continue,
            Standing::Unrelated => {
                out.left_out.add(Reason::Relation, 1);
                continue;
            }
            Standing::Followed => {}
        }
        if follow.obey_nofollow && (page.nofollow || link.rel.intersects(RelFlags::NOFOLLOW)) {
            out.left_out.add(Reason::NoFollow, 1);
            continue;
        }
        let target = match canonical(page.text(link.target), Some(&base), rules) {
            Ok(target) => target,
            Err(refusal) => {
                out.left_out.add(refusal, 1);
                continue;
            }
        };
        if let Err(rule) = scope.check(&target) {
            out.left_out.add(rule, 1);
        } else if keys.insert(target.key()) {
            let mut found = Link::new(target, Arc::clone(&from), link.kind);
            found.label = label(page.text(link.anchor));
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

/// The URL that a page names as its own, by the relation `canonical`.
#[must_use]
pub fn canonical_of(page: &Page, url: &Url, rules: &Rules) -> Option<Url> {
    canonical(page.canonical()?, Some(&base_of(page, url)), rules).ok()
}

/// A page whose links are not followed, all for one reason.
#[must_use]
pub fn none_followed(page: &Page, reason: Reason, follow: &FollowSettings) -> Outlinks {
    let mut out = Outlinks::default();
    let links = page.links.iter().map(|link| standing(link, follow));
    let links = links.filter(|standing| *standing == Standing::Followed);
    out.left_out
        .add(reason, u32::try_from(links.count()).unwrap_or(u32::MAX));
    out
}

/// What relative links are resolved against: the page's `base`, or the page's own URL.
fn base_of(page: &Page, url: &Url) -> Base {
    let own = Base::from(url);
    let base = match &page.base {
        // A broken base is ignored, as browsers do.
        Some(base) => Base::parse(base, Some(&own)).unwrap_or(own),
        None => own,
    };
    base.in_charset(page.charset)
}

/// Bytes of an anchor text that tell it from others.
pub const LABEL_BYTES: usize = 96;

fn label(text: &str) -> u32 {
    let text = cut(text, LABEL_BYTES);
    if text.is_empty() {
        0
    } else {
        (xxh3_64(text.as_bytes()) as u32).max(1)
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

/// What a link of a page is to those who follow links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Followed,
    /// Not a link to anything: a part of the page, a base, a form.
    Part,
    /// A `<link>` to something that is no page.
    Unrelated,
}

fn standing(link: &parse::Link, follow: &FollowSettings) -> Standing {
    let if_set = |set: bool| match set {
        true => Standing::Followed,
        false => Standing::Part,
    };
    match link.kind {
        LinkKind::Base => Standing::Part,
        LinkKind::Form => if_set(follow.forms),
        kind if !kind.is_navigation() => if_set(follow.resources),
        LinkKind::Link | LinkKind::Header if link.rel.intersects(RelFlags::RESOURCE) => {
            if_set(follow.resources)
        }
        LinkKind::Link | LinkKind::Header => match follow.relations {
            Some(relations) if !link.rel.intersects(relations) => Standing::Unrelated,
            _ => Standing::Followed,
        },
        _ => Standing::Followed,
    }
}
