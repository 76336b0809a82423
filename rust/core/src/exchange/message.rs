//! A message: links to one partition, compressed.
//!
//! ```text
//! version (1) ++ length of the text (4) ++ zstd of: { flags (1), depth, [from], url }*
//! ```

use std::cell::RefCell;
use std::sync::Arc;

use zstd::bulk::{Compressor, Decompressor};

use crate::canonical::{Grouping, Url};
use crate::frontier::bytes::{Reader, put_bytes, put_number};

const VERSION: u8 = 1;
const SEED: u8 = 1;
const SITEMAP: u8 = 2;
/// Found on the same page as the link before it.
const SAME_PAGE: u8 = 4;

/// More than any node packs into one message or row.
const LONGEST: usize = 256 << 20;
/// Speed before size: links of a page are alike, the first level finds most of it.
const LEVEL: i32 = 1;

/// A link on its way.
#[derive(Clone, Debug)]
pub struct Link {
    pub url: Url,
    pub depth: u16,
    pub seed: bool,
    pub sitemap: bool,
    /// The page that has the link; empty for a seed.
    pub from: Arc<str>,
}

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
    let mut page: Option<&Arc<str>> = None;
    for link in links {
        let same = page.is_some_and(|page| Arc::ptr_eq(page, &link.from) || *page == link.from);
        let mut flags = (u8::from(link.seed) * SEED) | (u8::from(link.sitemap) * SITEMAP);
        flags |= u8::from(same) * SAME_PAGE;
        text.push(flags);
        put_number(&mut text, u64::from(link.depth));
        if !same {
            put_bytes(&mut text, link.from.as_bytes());
            page = Some(&link.from);
        }
        put_bytes(&mut text, link.url.as_str().as_bytes());
    }
    let mut out = vec![VERSION];
    out.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_be_bytes());
    // Compressing into memory does not fail; an empty rest would be refused by the reader.
    out.extend(compress(&text).unwrap_or_default());
    out
}

/// Unpacks links. The text says what is wrong with the bytes.
pub fn decode(bytes: &[u8], grouping: Grouping) -> Result<Vec<Link>, String> {
    let (&version, rest) = bytes.split_first().ok_or("an empty message")?;
    if version != VERSION {
        return Err(format!(
            "a message of version {version}; this program reads version {VERSION}"
        ));
    }
    let (length, rest) = rest.split_first_chunk::<4>().ok_or("a cut message")?;
    let length = u32::from_be_bytes(*length) as usize;
    if length > LONGEST {
        return Err(format!("a message of {length} bytes is too long"));
    }
    let text = decompress(rest, length).map_err(|error| error.to_string())?;
    if text.len() != length {
        return Err("a cut message".to_owned());
    }
    let mut reader = Reader::new(&text);
    let mut links = Vec::new();
    let mut from: Arc<str> = Arc::from("");
    while let Some(flags) = reader.byte() {
        let mut part = || {
            let depth = reader.small()?;
            if flags & SAME_PAGE == 0 {
                from = Arc::from(std::str::from_utf8(reader.bytes()?).ok()?);
            }
            let url = std::str::from_utf8(reader.bytes()?).ok()?;
            Some((depth, url.to_owned()))
        };
        let (depth, url) = part().ok_or("a damaged message")?;
        // What is no URL here would be refused by every node: it must not take others with it.
        let Ok(url) = Url::from_canonical(url, grouping) else {
            continue;
        };
        links.push(Link {
            url,
            depth,
            seed: flags & SEED != 0,
            sitemap: flags & SITEMAP != 0,
            from: Arc::clone(&from),
        });
    }
    Ok(links)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn link(url: &str, from: &str) -> Link {
        Link {
            url: Url::from_canonical(url.to_owned(), Grouping::Host).unwrap(),
            depth: 300,
            seed: from.is_empty(),
            sitemap: false,
            from: Arc::from(from),
        }
    }

    #[test]
    fn what_was_packed_is_unpacked() {
        let links = [
            link("http://a.example/1", "http://b.example/"),
            link("http://a.example/2", "http://b.example/"),
            link("http://a.example/3", ""),
        ];
        let back = decode(&encode(links.iter()), Grouping::Host).unwrap();
        assert_eq!(back.len(), 3);
        for (a, b) in links.iter().zip(&back) {
            assert_eq!(a.url, b.url);
            assert_eq!((a.depth, a.seed, &a.from), (b.depth, b.seed, &b.from));
        }
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
        let mut other = good.clone();
        other[0] = 9;
        assert!(
            decode(&other, Grouping::Host)
                .unwrap_err()
                .contains("version 9")
        );
        let mut long = good;
        long[1] = 0xff;
        assert!(decode(&long, Grouping::Host).is_err());
    }
}
