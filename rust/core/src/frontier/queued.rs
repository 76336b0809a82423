//! A queued URL: its place in the store and its record.
//!
//! Place, as a key of `Space::Queue`:
//!
//! ```text
//! host key (8) ++ band (1) ++ seq (8)                      ready: lower band first, then in order of coming
//! host key (8) ++ 0xff (1) ++ not before (8) ++ seq (8)    waiting for a time, by time
//! ```
//!
//! Record: version, flags, of a seed that redirects led to their number, score, tries, free tries, depth, referrer; then, where somebody asked to
//! keep it, the link's kind, its parent's score and its anchor text; then, where a policy gave one, the
//! reason of the score; then path and query. Scheme and host are the host's.

use std::sync::Arc;

use super::Purpose;
use super::order::Traits;
use crate::canonical::Url;
use crate::codec::{Reader, put_bytes, put_number};
use crate::links::{ANCHOR_BYTES, Link, Score, cut};
use crate::parse::LinkKind;

const VERSION: u8 = 2;
/// The same, with the number of redirects that led to a seed.
const WITH_HOPS: u8 = 3;

const HTTPS: u8 = 1;
const SEED: u8 = 2;
const SITEMAP: u8 = 4;
const DYNAMIC: u8 = 8;
const REVISIT: u8 = 16;
/// Kind, parent's score and anchor text are kept.
const KNOWN: u8 = 32;
/// There is a parent's score.
const PARENT: u8 = 64;
/// A policy gave a reason for the score.
const REASON: u8 = 128;

/// Bytes kept of who linked to a URL: as long as the longest URL by default.
const FROM_BYTES: usize = 2048;

/// Bytes kept of a reason.
const REASON_BYTES: usize = 200;

/// The band byte of URLs that wait for a time.
const WAITING: u8 = 0xff;

/// Where a URL stands in its host's queue; sorts as the keys of the store do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place {
    band: u8,
    at: u64,
    seq: u64,
}

impl Place {
    pub const FIRST: Place = Place {
        band: 0,
        at: 0,
        seq: 0,
    };

    pub const FIRST_WAITING: Place = Place {
        band: WAITING,
        at: 0,
        seq: 0,
    };

    /// A ready place from its packed form, band in the high byte and sequence below.
    pub fn ready(packed: u64) -> Place {
        Place {
            band: (packed >> 56) as u8,
            at: packed & ((1 << 56) - 1),
            seq: 0,
        }
    }

    /// The packed form of a ready place.
    pub fn packed(self) -> u64 {
        (u64::from(self.band) << 56) | self.at
    }

    pub fn waiting(not_before: u64, seq: u64) -> Place {
        Place {
            band: WAITING,
            at: not_before,
            seq,
        }
    }

    /// The first place after this one.
    pub fn next(self) -> Place {
        if self.is_waiting() {
            Place {
                seq: self.seq.saturating_add(1),
                ..self
            }
        } else {
            Place {
                at: self.at.saturating_add(1),
                ..self
            }
        }
    }

    /// The same place in another band: still in the order of coming.
    pub fn in_band(self, band: u8) -> Place {
        Place { band, ..self }
    }

    pub fn is_waiting(self) -> bool {
        self.band == WAITING
    }

    /// The time before which a waiting URL has no turn.
    pub fn not_before(self) -> u64 {
        self.at
    }

    /// The key in the store.
    pub fn key(self, host: u64) -> Vec<u8> {
        let mut key = Vec::with_capacity(25);
        key.extend_from_slice(&host.to_be_bytes());
        key.push(self.band);
        key.extend_from_slice(&self.at.to_be_bytes());
        if self.is_waiting() {
            key.extend_from_slice(&self.seq.to_be_bytes());
        }
        key
    }

    /// The place that a key of the store names.
    pub fn of_key(key: &[u8]) -> Option<Place> {
        let mut reader = Reader::new(key.get(8..)?);
        let band = reader.byte()?;
        let at = u64::from_be_bytes(reader.take(8)?.try_into().ok()?);
        let seq = match (band, reader.rest()) {
            (WAITING, rest) => u64::from_be_bytes(rest.try_into().ok()?),
            (_, []) => 0,
            _ => return None,
        };
        Some(Place { band, at, seq })
    }
}

/// What is kept of a queued URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Queued<'a> {
    flags: u8,
    pub score: Score,
    pub tries: u8,
    /// Visits given back that cost no try.
    pub free: u8,
    pub depth: u16,
    hops: u8,
    from: &'a str,
    kind: LinkKind,
    parent_score: Option<Score>,
    anchor: &'a str,
    /// Why a policy gave it this score; empty: nobody said.
    pub reason: &'a str,
    path: &'a str,
}

impl<'a> Queued<'a> {
    /// A link as it is queued; `known`: with its kind, its parent's score and its anchor text.
    pub fn of(link: &'a Link, score: Score, known: bool) -> Queued<'a> {
        let mut flags = 0;
        for (bit, set) in [
            (HTTPS, link.url.scheme_is_https()),
            (SEED, link.seed),
            (SITEMAP, link.sitemap),
            (DYNAMIC, link.url.is_dynamic()),
            (REVISIT, link.revisit),
            (KNOWN, known),
        ] {
            flags |= if set { bit } else { 0 };
        }
        Queued {
            flags,
            score,
            tries: 0,
            free: 0,
            depth: link.depth,
            hops: link.hops,
            from: cut(&link.from, FROM_BYTES),
            kind: link.kind,
            parent_score: link.parent_score,
            anchor: cut(link.anchor.as_deref().unwrap_or_default(), ANCHOR_BYTES),
            reason: link.reason.as_deref().unwrap_or_default(),
            path: link.url.path_and_query(),
        }
    }

    pub fn https(&self) -> bool {
        self.flags & HTTPS != 0
    }

    /// It was visited before, and is asked for again.
    pub fn revisit(&self) -> bool {
        self.flags & REVISIT != 0
    }

    pub fn purpose(&self) -> Purpose {
        if self.flags & SITEMAP == 0 {
            Purpose::Page
        } else {
            Purpose::Sitemap
        }
    }

    pub fn traits(&self) -> Traits {
        Traits {
            depth: self.depth,
            dynamic: self.flags & DYNAMIC != 0,
            parameters: super::order::parameters(self.path),
            seed: self.flags & SEED != 0,
            kind: self.kind,
            parent_score: self.parent_score,
        }
    }

    /// The link that was queued; `None`: the record is damaged.
    pub fn link(&self, host: &str, host_key: u64) -> Option<Link> {
        Some(self.link_to(Url::from_parts(self.https(), host, host_key, self.path).ok()?))
    }

    /// How it was found, where that is kept.
    pub fn known_kind(&self) -> Option<LinkKind> {
        (self.flags & (KNOWN | SEED) != 0).then_some(self.kind)
    }

    /// The robots file of the URL's host and scheme, with what is known of the URL.
    pub fn robots(&self, host: &str, host_key: u64) -> Option<Link> {
        let url = Url::from_parts(self.https(), host, host_key, "/robots.txt");
        Some(self.link_to(url.ok()?))
    }

    fn link_to(&self, url: Url) -> Link {
        Link {
            label: 0,
            url,
            from: Arc::from(self.from),
            anchor: (!self.anchor.is_empty()).then(|| self.anchor.into()),
            not_before: 0,
            depth: self.depth,
            kind: self.kind,
            seed: self.flags & SEED != 0,
            hops: self.hops,
            sitemap: self.flags & SITEMAP != 0,
            revisit: self.flags & REVISIT != 0,
            parent_score: self.parent_score,
            score: Some(self.score),
            reason: (!self.reason.is_empty()).then(|| self.reason.into()),
        }
    }

    /// What robots rules are matched against.
    pub fn path(&self) -> &'a str {
        self.path
    }

    pub fn encode(&self) -> Vec<u8> {
        let reason = cut(self.reason, REASON_BYTES);
        let texts = self.from.len() + self.anchor.len() + reason.len() + self.path.len();
        let mut out = Vec::with_capacity(18 + texts);
        let known = self.flags & KNOWN != 0;
        let parent = self.parent_score.filter(|_| known);
        let mut flags = self.flags & !(PARENT | REASON);
        flags |= if parent.is_some() { PARENT } else { 0 };
        flags |= if reason.is_empty() { 0 } else { REASON };
        if self.hops == 0 {
            out.extend_from_slice(&[VERSION, flags]);
        } else {
            out.extend_from_slice(&[WITH_HOPS, flags, self.hops]);
        }
        out.extend_from_slice(&self.score.to_bytes());
        out.extend_from_slice(&[self.tries, self.free]);
        put_number(&mut out, u64::from(self.depth));
        put_bytes(&mut out, self.from.as_bytes());
        if known {
            out.push(self.kind as u8);
            if let Some(score) = parent {
                out.extend_from_slice(&score.to_bytes());
            }
            put_bytes(&mut out, self.anchor.as_bytes());
        }
        if !reason.is_empty() {
            put_bytes(&mut out, reason.as_bytes());
        }
        out.extend_from_slice(self.path.as_bytes());
        out
    }

    pub fn decode(bytes: &'a [u8]) -> Option<Queued<'a>> {
        let mut reader = Reader::new(bytes);
        let version = reader.byte()?;
        if version != VERSION && version != WITH_HOPS {
            return None;
        }
        let text = |bytes: &'a [u8]| std::str::from_utf8(bytes).ok();
        let flags = reader.byte()?;
        let mut queued = Queued {
            flags,
            hops: if version == WITH_HOPS {
                reader.byte()?
            } else {
                0
            },
            score: Score::from_bytes(reader.take(2)?.try_into().ok()?),
            tries: reader.byte()?,
            free: reader.byte()?,
            depth: reader.small()?,
            from: text(reader.bytes()?)?,
            // What most links are, where nobody asked to keep it.
            kind: if flags & SEED == 0 {
                LinkKind::A
            } else {
                LinkKind::Seed
            },
            parent_score: None,
            anchor: "",
            reason: "",
            path: "",
        };
        if flags & KNOWN != 0 {
            queued.kind = *LinkKind::ALL.get(usize::from(reader.byte()?))?;
            if flags & PARENT != 0 {
                queued.parent_score = Some(Score::from_bytes(reader.take(2)?.try_into().ok()?));
            }
            queued.anchor = text(reader.bytes()?)?;
        }
        if flags & REASON != 0 {
            queued.reason = text(reader.bytes()?)?;
        }
        queued.path = text(reader.rest())?;
        Some(queued)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn places_sort_as_their_keys() {
        let places = [
            Place::FIRST,
            Place::ready(7),
            Place::ready((3 << 56) | 1),
            Place::ready((63 << 56) | 1),
            Place::FIRST_WAITING,
            Place::waiting(5, 1),
            Place::waiting(5, 2),
            Place::waiting(6, 0),
        ];
        assert!(places.is_sorted());
        assert!(places.map(|place| place.key(9)).is_sorted());
        for place in places {
            assert_eq!(Place::of_key(&place.key(9)), Some(place));
        }
        assert_eq!(Place::of_key(b"short"), None);
    }

    proptest! {
        #[test]
        fn a_record_reads_back(
            path in "/[a-z?&=]{0,20}", https: bool, depth: u16, from in "[ -~]{0,16}", score in 0_f32..1.0,
            flags: [bool; 3], hops: u8, known: bool, kind in 0..LinkKind::ALL.len(), anchor in ".{0,20}",
            parent in proptest::option::of(0_f32..1.0), reason in ".{0,20}",
        ) {
            let score = Score::new(score);
            let link = Link {
                depth,
                seed: flags[0],
                hops,
                sitemap: flags[1],
                revisit: flags[2],
                anchor: (!anchor.is_empty()).then(|| anchor.into()),
                parent_score: parent.map(Score::new),
                score: Some(score),
                reason: (!reason.is_empty()).then(|| reason.into()),
                ..Link::new(
                    Url::from_parts(https, "a.test:81", 9, &path).unwrap(),
                    Arc::from(from),
                    LinkKind::ALL[kind],
                )
            };
            let bytes = Queued::of(&link, score, known).encode();
            let read = Queued::decode(&bytes).unwrap();
            let back = read.link("a.test:81", 9).unwrap();
            let expected = if known { link } else {
                let kind = if link.seed { LinkKind::Seed } else { LinkKind::A };
                Link { kind, anchor: None, parent_score: None, ..link }
            };
            prop_assert_eq!(back, expected);
            prop_assert_eq!((read.path(), read.https()), (&*path, https));
        }

        #[test]
        fn damaged_records_do_not_panic(bytes: Vec<u8>) {
            if let Some(read) = Queued::decode(&bytes) {
                let _ = (read.link("h", 1), read.robots("h", 1), read.path());
            }
        }
    }
}
