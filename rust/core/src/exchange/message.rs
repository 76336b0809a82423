//! A message: links to one partition, compressed.
//!
//! ```text
//! version (1) ++ length of the text (4) ++ zstd of: { flags (1), kind (1), [hops (1)], depth, [from],
//!   [parent's score (2)], [score (2)], [not before], [anchor], url }*
//! ```
//!
//! Hops are those of seeds that redirects led to.
//! What links of one page share is written with the first of them.

use std::cell::RefCell;
use std::sync::Arc;

use zstd::bulk::{Compressor, Decompressor};

use crate::canonical::{Grouping, Url};
use crate::codec::{Reader, put_bytes, put_number};
use crate::links::{ANCHOR_BYTES, Link, Score, cut};
use crate::parse::LinkKind;

const VERSION: u8 = 3;
/// A first byte that is larger is no version but damage: to meet it is no reason to stop.
const NEWEST: u8 = 31;
const SEED: u8 = 1;
const SITEMAP: u8 = 2;
/// Found on the same page as the link before it.
const SAME_PAGE: u8 = 4;
const REVISIT: u8 = 8;
const PARENT: u8 = 16;
const SCORE: u8 = 32;
const NOT_BEFORE: u8 = 64;
const ANCHOR: u8 = 128;
/// With the kind: hops follow.
const HOPS: u8 = 128;

/// More than any node packs into one message or row.
const LONGEST: usize = 256 << 20;
/// Speed before size: links of a page are alike, the first level finds most of it.
const LEVEL: i32 = 1;

thread_local! {
    // Messages are small: making a compressor would cost more than its work.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

fn compress(text: &[u8]) -> std::io::Result<Vec<u8>> {
    COMPRESSOR.with_borrow_mut(|kept| {
        if kept.is_none() {
            *kept = Some(Compressor::new(LEVEL)?);
        }
        match kept {
            Some(compressor) => compressor.compress(text),
            None => zstd::bulk::compress(text, LEVEL),
        }
    })
}

fn decompress(bytes: &[u8], length: usize) -> std::io::Result<Vec<u8>> {
    DECOMPRESSOR.with_borrow_mut(|kept| {
        if kept.is_none() {
            *kept = Some(Decompressor::new()?);
        }
        match kept {
            Some(decompressor) => decompressor.decompress(bytes, length),
            None => zstd::bulk::decompress(bytes, length),
        }
    })
}

/// Packs links.
#[must_use]
pub fn encode<'a>(links: impl Iterator<Item = &'a Link>) -> Vec<u8> {
    let mut text = Vec::new();
    let mut page: Option<(&Arc<str>, Option<Score>)> = None;
    for link in links {
        let same = page.is_some_and(|(from, parent)| {
            parent == link.parent_score && (Arc::ptr_eq(from, &link.from) || *from == link.from)
        });
        let parent = link.parent_score.filter(|_| !same);
        let anchor = cut(link.anchor.as_deref().unwrap_or_default(), ANCHOR_BYTES);
        let mut flags = 0;
        for (bit, set) in [
            (SEED, link.seed),
            (SITEMAP, link.sitemap),
            (SAME_PAGE, same),
            (REVISIT, link.revisit),
            (PARENT, parent.is_some()),
            (SCORE, link.score.is_some()),
            (NOT_BEFORE, link.not_before > 0),
            (ANCHOR, !anchor.is_empty()),
        ] {
            flags |= if set { bit } else { 0 };
        }
        if link.hops == 0 {
            text.extend_from_slice(&[flags, link.kind as u8]);
        } else {
            text.extend_from_slice(&[flags, link.kind as u8 | HOPS, link.hops]);
        }
        put_number(&mut text, u64::from(link.depth));
        if !same {
            put_bytes(&mut text, link.from.as_bytes());
            page = Some((&link.from, link.parent_score));
        }
        for score in [parent, link.score].into_iter().flatten() {
            text.extend_from_slice(&score.to_bytes());
        }
        if link.not_before > 0 {
            put_number(&mut text, link.not_before);
        }
        if !anchor.is_empty() {
            put_bytes(&mut text, anchor.as_bytes());
        }
        put_bytes(&mut text, link.url.as_str().as_bytes());
    }
    let mut out = vec![VERSION];
    out.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_be_bytes());
    // Compressing into memory does not fail; an empty rest would be refused by the reader.
    out.extend(compress(&text).unwrap_or_default());
    out
}

/// Why a message cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// Another Gossamer wrote it: its links are good, and not for this program.
    Version(u8),
    /// Nobody can read it; the text says what is wrong with the bytes.
    Damaged(String),
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unreadable::Version(version) => write!(
                f,
                "a message of version {version}; this program reads version {VERSION}: run the same Gossamer everywhere"
            ),
            Unreadable::Damaged(text) => f.write_str(text),
        }
    }
}

impl From<&str> for Unreadable {
    fn from(text: &str) -> Unreadable {
        Unreadable::Damaged(text.to_owned())
    }
}

/// Unpacks links.
pub fn decode(bytes: &[u8], grouping: Grouping) -> Result<Vec<Link>, Unreadable> {
    let (&version, rest) = bytes.split_first().ok_or("an empty message")?;
    if version > NEWEST {
        return Err("not a message of links".into());
    }
    if version != VERSION {
        return Err(Unreadable::Version(version));
    }
    let (length, rest) = rest.split_first_chunk::<4>().ok_or("a cut message")?;
    let length = u32::from_be_bytes(*length) as usize;
    if length > LONGEST {
        return Err("a message that is too long".into());
    }
    let text = decompress(rest, length);
    let text = text.map_err(|error| Unreadable::Damaged(error.to_string()))?;
    if text.len() != length {
        return Err("a cut message".into());
    }
    let mut reader = Reader::new(&text);
    let mut links = Vec::new();
    let mut page = (Arc::<str>::from(""), None);
    while let Some(flags) = reader.byte() {
        let link = read(flags, &mut reader, &mut page, grouping).ok_or("a damaged message")?;
        // What is no URL here would be refused by every node: it must not take others with it.
        links.extend(link);
    }
    Ok(links)
}

/// Reads one link; `None`: the message is damaged, `Some(None)`: the link has no URL.
fn read(
    flags: u8,
    reader: &mut Reader<'_>,
    page: &mut (Arc<str>, Option<Score>),
    grouping: Grouping,
) -> Option<Option<Link>> {
    let score = |reader: &mut Reader<'_>, bit: u8| -> Option<Option<Score>> {
        if flags & bit == 0 {
            return Some(None);
        }
        Some(Some(Score::from_bytes(reader.take(2)?.try_into().ok()?)))
    };
    let text = |bytes| std::str::from_utf8(bytes).ok();
    let kind = reader.byte()?;
    let hops = if kind & HOPS == 0 { 0 } else { reader.byte()? };
    let kind = *LinkKind::ALL.get(usize::from(kind & !HOPS))?;
    let depth = reader.small()?;
    if flags & SAME_PAGE == 0 {
        let from = Arc::from(text(reader.bytes()?)?);
        *page = (from, score(reader, PARENT)?);
    }
    let own = score(reader, SCORE)?;
    let not_before = if flags & NOT_BEFORE == 0 {
        0
    } else {
        reader.number()?
    };
    let anchor = if flags & ANCHOR == 0 {
        None
    } else {
        Some(cut(text(reader.bytes()?)?, ANCHOR_BYTES).into())
    };
    let url = Url::from_canonical(text(reader.bytes()?)?.to_owned(), grouping);
    Some(url.ok().map(|url| Link {
        label: 0,
        url,
        from: Arc::clone(&page.0),
        anchor,
        not_before,
        depth,
        kind,
        seed: flags & SEED != 0,
        hops,
        sitemap: flags & SITEMAP != 0,
        revisit: flags & REVISIT != 0,
        parent_score: page.1,
        score: own,
        reason: None,
    }))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn link(url: &str, from: &str) -> Link {
        let url = Url::from_canonical(url.to_owned(), Grouping::Host).unwrap();
        Link {
            depth: 300,
            seed: from.is_empty(),
            ..Link::new(url, Arc::from(from), LinkKind::Area)
        }
    }

    #[test]
    fn what_was_packed_is_unpacked() {
        let page = |path: &str| Link {
            parent_score: Some(Score::new(0.25)),
            ..link(path, "http://b.example/")
        };
        let links = [
            page("http://a.example/1"),
            Link {
                anchor: Some("a word, ein Wört".into()),
                score: Some(Score::new(0.75)),
                ..page("http://a.example/2")
            },
            Link {
                parent_score: None,
                revisit: true,
                not_before: 1 << 50,
                ..page("http://a.example/3")
            },
            Link {
                sitemap: true,
                ..link("http://a.example/4", "")
            },
        ];
        let message = encode(links.iter());
        assert_eq!(message[0], VERSION);
        let back = decode(&message, Grouping::Host).unwrap();
        assert_eq!(back, links);
        let redirected = Link {
            seed: true,
            hops: 3,
            ..link("http://www.a.example/", "http://a.example/")
        };
        let message = encode([&links[0], &redirected].into_iter());
        assert_eq!(message[0], VERSION);
        let back_too = decode(&message, Grouping::Host).unwrap();
        assert_eq!(back_too, [links[0].clone(), redirected]);
        assert!(Arc::ptr_eq(&back[0].from, &back[1].from), "read once");
    }

    #[test]
    fn damaged_messages_are_refused() {
        let good = encode([link("http://a.example/1", "x")].iter());
        for cut in 0..good.len() {
            assert!(
                decode(&good[..cut], Grouping::Host).is_err(),
                "cut at {cut}"
            );
        }
        for version in [1, 2, 9] {
            let mut other = good.clone();
            other[0] = version;
            let refused = decode(&other, Grouping::Host).unwrap_err();
            assert_eq!(refused, Unreadable::Version(version));
            let words = format!("version {version}; this program reads version 3");
            assert!(refused.to_string().contains(&words));
        }
        let mut long = good;
        long[1] = 0xff;
        assert!(decode(&long, Grouping::Host).is_err());
    }
}
