//! Charset: the html5lib cases, and the order mark, header, meta, detection.

use super::super::charset::{decode, find};
use super::super::prescan::prescan;
use super::suite;
use encoding_rs::{Encoding, WINDOWS_1252};
use std::fs;

/// The cases of a file: document and expected encoding.
fn cases(bytes: &[u8]) -> Vec<(&[u8], &'static Encoding)> {
    let seek =
        |from: usize, what: &[u8]| memchr::memmem::find(&bytes[from..], what).map(|at| from + at);
    let mut list = Vec::new();
    let mut at = 0;
    while let Some(data) = seek(at, b"#data\n") {
        let from = data + 6;
        let to = seek(from, b"#encoding\n").unwrap();
        let label = bytes[to + 10..].split(|b| *b == b'\n').next().unwrap();
        list.push((&bytes[from..to], Encoding::for_label(label).unwrap()));
        at = to + 10;
    }
    list
}

#[test]
fn html5lib_encoding_cases() {
    let Some(folder) = suite("html-html5lib-tests/encoding") else {
        return;
    };
    let (mut declared, mut named, mut same_text, mut differences) = (0, 0, 0, Vec::new());
    for file in ["tests1.dat", "tests2.dat", "test-yahoo-jp.dat"] {
        for (body, expected) in cases(&fs::read(folder.join(file)).unwrap()) {
            // The declaration alone, with the default that the cases assume.
            let mark = Encoding::for_bom(body).map(|(encoding, _)| encoding);
            let by_document = mark.or_else(|| prescan(body, 64 * 1024));
            declared += usize::from(by_document.unwrap_or(WINDOWS_1252) == expected);
            let (found, _) = find(body, None, true, "http://a.example/");
            if found == expected {
                named += 1;
            } else if found.decode(body).0 == expected.decode(body).0 {
                // Undeclared ASCII: read as UTF-8 where the cases name another default.
                same_text += 1;
            } else {
                let text = String::from_utf8_lossy(body).into_owned();
                differences.push((file, expected.name(), found.name(), text));
            }
        }
    }
    eprintln!("{differences:#?}");
    assert_eq!(declared, 82);
    assert_eq!((named, same_text, differences.len()), (44, 38, 0));
}

#[test]
fn mark_then_header_then_meta_then_detection() {
    let meta = b"\xef\xbb\xbf<meta charset=koi8-r>\xd0\x96";
    assert_eq!(decode(meta, Some("big5"), true, "").1, "UTF-8");
    assert_eq!(
        decode(&meta[3..], Some("iso-8859-2"), true, "").1,
        "ISO-8859-2"
    );
    assert_eq!(decode(&meta[3..], Some("nonsense"), true, "").1, "KOI8-R");
    assert_eq!(decode(&meta[3..], None, false, "").1, "UTF-8");
    assert_eq!(
        decode(b"<?xml version='1.0' encoding='euc-jp'?>", None, true, "").1,
        "EUC-JP"
    );
}

#[test]
fn undeclared_bytes_are_detected_with_the_help_of_the_domain() {
    // "Привет, как дела?" in windows-1251.
    let russian =
        b"\xcf\xf0\xe8\xe2\xe5\xf2, \xea\xe0\xea \xe4\xe5\xeb\xe0? \xd1\xef\xe0\xf1\xe8\xe1\xee";
    let (text, name) = decode(russian, None, true, "http://a.example.ru/");
    assert_eq!(name, "windows-1251");
    assert!(text.starts_with("Привет"));
    if let Some(folder) = suite("html-html5lib-tests/encoding/chardet") {
        let body = fs::read(folder.join("test_big5.txt")).unwrap();
        assert_eq!(decode(&body, None, false, "").1, "Big5");
    }
}

#[test]
fn valid_bytes_are_not_copied() {
    for (body, header) in [
        (&b"<p>plain"[..], None),
        (b"<p>plain", Some("windows-1252")),
        ("<p>Žluťoučký".as_bytes(), Some("utf-8")),
    ] {
        let (text, _) = decode(body, header, true, "");
        assert!(matches!(text, std::borrow::Cow::Borrowed(_)), "{header:?}");
    }
}
