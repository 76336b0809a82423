//! Examples and properties.
#![allow(clippy::unwrap_used, clippy::panic)]

use super::fuzz::fuzz_sitemap;
use super::{ChangeFrequency, Kind, Limits, Sitemap, parse};
use crate::canonical::{Base, Rules};
use proptest::prelude::*;
use std::io::Write;

fn read(body: &[u8]) -> Sitemap {
    let base = Base::parse("https://e.org/maps/sitemap.xml", None).unwrap();
    parse(body, &base, &Rules::default(), Limits::default())
}

fn locs(map: &Sitemap) -> Vec<&str> {
    map.entries.iter().map(|entry| entry.loc.as_str()).collect()
}

#[test]
fn a_url_set() {
    let map = read(b"<?xml version='1.0'?><urlset xmlns='x' xmlns:image='y'><url><loc> https://e.org/a?x=1&amp;y=2 </loc>\
        <lastmod>2005-01-01</lastmod><changefreq>Daily</changefreq><priority>7</priority>\
        <image:image><image:loc>https://e.org/i.png</image:loc></image:image></url>\
        <url><loc>/b?x=1&y=2</loc></url><url><loc>mailto:x</loc></url></urlset>");
    assert_eq!(
        locs(&map),
        ["https://e.org/a?x=1&y=2", "https://e.org/b?x=1&y=2"]
    );
    let first = &map.entries[0];
    assert_eq!(first.lastmod, Some(1_104_537_600_000_000));
    assert_eq!(
        (first.changefreq, first.priority),
        (Some(ChangeFrequency::Daily), Some(1.0))
    );
    assert_eq!(
        (map.kind, map.refused, map.truncated, map.is_index()),
        (Kind::UrlSet, 1, false, false)
    );
}

#[test]
fn an_index_in_gzip_and_in_utf_16() {
    let text = "<sitemapindex><sitemap><loc>https://e.org/é.xml</loc></sitemap></sitemapindex>";
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let mut wide = vec![0xff, 0xfe];
    wide.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    let latin = [
        b"<?xml version='1.0' encoding='ISO-8859-1'?>".as_slice(),
        &encoding_rs::WINDOWS_1252.encode(text).0,
    ]
    .concat();
    for body in [
        gzip.finish().unwrap(),
        wide,
        latin,
        text.as_bytes().to_vec(),
    ] {
        let map = read(&body);
        assert!(map.is_index());
        assert_eq!(locs(&map), ["https://e.org/%C3%A9.xml"]);
    }
}

#[test]
fn text_takes_whole_urls_only() {
    let map = read(b"\xef\xbb\xbfhttps://e.org/a\r\n\r\nnot a url\nHTTPS://E.org/b");
    assert_eq!(locs(&map), ["https://e.org/a", "https://e.org/b"]);
    assert_eq!((map.kind, map.refused), (Kind::Text, 1));
    assert_eq!(read(b"Not found").kind, Kind::Unknown);
    assert_eq!(
        read(b"<html><a href='https://e.org/'>x</a><url><loc>https://e.org/</loc></url>")
            .entries
            .len(),
        0
    );
}

#[test]
fn entities_of_the_document_are_not_expanded() {
    let bomb = b"<!DOCTYPE urlset [<!ENTITY a 'https://e.org/'><!ENTITY b '&a;&a;'><!ENTITY f SYSTEM 'file:///etc/passwd'>]>\
        <urlset><url><loc>&f;</loc></url><url><loc>&b;</loc></url><url><loc>https://e.org/ok</loc></url></urlset>";
    let map = read(bomb);
    assert_eq!(locs(&map), ["https://e.org/ok"]);
    assert_eq!(map.refused, 2);
}

#[test]
fn limits_hold() {
    let base = Base::parse("https://e.org/", None).unwrap();
    let many: String = (0..100)
        .map(|n| format!("<url><loc>/{n}</loc></url>"))
        .collect();
    let body = format!("<urlset>{many}</urlset>");
    let few = Limits {
        max_entries: 10,
        ..Limits::default()
    };
    let map = parse(body.as_bytes(), &base, &Rules::default(), few);
    assert_eq!((map.entries.len(), map.truncated), (10, true));
    // A thousandfold bomb: unpacked to the limit and no further.
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(b"<urlset><url><loc>/a</loc></url>").unwrap();
    gzip.write_all(&vec![b' '; 20 << 20]).unwrap();
    let small = Limits {
        max_bytes: 1 << 16,
        ..Limits::default()
    };
    let map = parse(&gzip.finish().unwrap(), &base, &Rules::default(), small);
    assert_eq!((map.entries.len(), map.truncated), (1, true));
}

#[test]
fn dates() {
    let second = 1_000_000;
    for (text, expected) in [
        ("2004-10-01T18:23:17+00:00", Some(1_096_654_997 * second)),
        (
            "2004-10-01T18:23:17.5Z",
            Some(1_096_654_997 * second + 500_000),
        ),
        ("2004-10-01T18:23+00:00", Some(1_096_654_980 * second)),
        ("2004-10", Some(1_096_588_800 * second)),
        ("2004", Some(1_072_915_200 * second)),
        (
            "Sun, 06 Sep 2009 16:20:00 +0000",
            Some(1_252_254_000 * second),
        ),
        ("05 Jan 17 13:34:54 +0100", Some(1_483_619_694 * second)),
        ("05 Jan 17 13:34:55", Some(1_483_623_295 * second)),
        ("yesterday", None),
        ("", None),
        ("1969-01-01", None),
        ("2004-13-01", None),
        ("é", None),
    ] {
        assert_eq!(crate::date::micros(text), expected, "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn guarantees_hold(data in prop::collection::vec(any::<u8>(), 0..200)) {
        fuzz_sitemap(&data);
    }

    #[test]
    fn guarantees_hold_on_likely_files(body in "<(urlset|sitemapindex|rss|feed)>(</?(url|sitemap|item|entry|loc|link|lastmod|guid|s:loc|!\\[CDATA\\[)/?>|&[a-z#0-9]{1,5};?|https://e\\.org/|2004-1|é|<|]]>){0,20}") {
        fuzz_sitemap(body.as_bytes());
    }
}
