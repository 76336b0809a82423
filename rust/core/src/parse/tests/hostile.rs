//! Bytes made to hurt: the work for twice the input stays about twice the work.

use super::super::fuzz::fuzz_html;
use super::super::tokenizer::{Content, Sink, tokenize};
use super::super::{Input, ParseSettings, parse};
use proptest::prelude::*;
use std::ops::Range;
use std::time::Duration;

/// Units that a bad state machine would read again and again, with what stands before them.
const WORST: &[(&str, &str)] = &[
    ("", "<"),
    ("", "<!"),
    ("", "<!--"),
    ("", "</"),
    ("<!--", "--!"),
    ("<!--", "-"),
    ("<!--", "<!--"),
    ("", "<a "),
    ("", "<a href="),
    ("", "<a href=\""),
    ("", "<a href='x' "),
    ("<a ", "href=x "),
    ("<a ", "a=\"b\""),
    ("<a ", "/"),
    ("<a href=\"", "&"),
    ("<a href=\"", "&amp;&#x26;&notit;"),
    ("", "&"),
    ("", "&CounterClockwiseContourIntegra"),
    ("", "&#"),
    ("", "&#x1111111111"),
    ("<script>", "<!--<script>"),
    ("<script><!--", "<script></script>"),
    ("<script>", "</script"),
    ("<style>", "</style"),
    ("<title>", "</titl<"),
    ("<title>", "x "),
    ("<svg>", "<![CDATA["),
    ("", "<svg>"),
    ("", "<svg><foreignObject>"),
    ("", "<a href=x>y"),
    ("", "<img src=x srcset='a 1x, b 2x' alt=c>"),
    ("<img srcset='", "a (, "),
    ("<img srcset='", ",,,a,"),
    ("", "<base href=x>"),
    ("", "<meta http-equiv=refresh content='1;url=x'>"),
    ("<meta name=robots content='", "none,"),
    ("", "<!DOCTYPE "),
    ("", "\u{1F600}"),
    ("", "\0"),
    ("", "\r"),
    ("", "a b c "),
];

fn body(before: &str, unit: &str, size: usize) -> Vec<u8> {
    let mut text = String::from(before);
    text.push_str(&unit.repeat(size / unit.len()));
    text.into_bytes()
}

/// One element with a long list and a long label: no work may be done for each pair of the two.
fn list_and_label(size: usize) -> Vec<u8> {
    let list = "a, ".repeat(size / 6);
    let label = " ".repeat(size / 2);
    format!("<a href=x><img src=x srcset='{list}' alt='{label}'>").into_bytes()
}

fn best_time(body: &[u8]) -> Duration {
    let input = Input {
        content_type: Some("text/html"),
        body,
        ..Input::default()
    };
    let settings = ParseSettings::default();
    (0..3)
        .map(|_| {
            let start = crate::clock::thread_cpu();
            std::hint::black_box(parse(&input, &settings));
            crate::clock::thread_cpu() - start
        })
        .min()
        .unwrap_or_default()
}

#[test]
fn a_megabyte_of_the_worst_takes_linear_time() {
    let made = WORST.iter().map(|(before, unit)| {
        let name = format!("{before}{unit}…");
        let [small, large] = [1 << 17, 1 << 20].map(|size| body(before, unit, size));
        (name, small, large)
    });
    let labels = [1 << 17, 1 << 20].map(list_and_label);
    let [small, large] = labels;
    for (name, small, large) in made.chain([(String::from("labels"), small, large)]) {
        let small = best_time(&small);
        let large = best_time(&large);
        // Eight times the bytes; a quadratic step would show as 64. The floor forgives noise on
        // times too short to compare.
        let allowed = small.max(Duration::from_millis(4)) * 30;
        assert!(large < allowed, "{name}: {small:?} then {large:?}");
    }
}

/// Counts how many bytes the tokens cover: none may be handed out twice.
struct Cover {
    bytes: usize,
    behind: usize,
}

impl Cover {
    fn take(&mut self, range: Range<usize>) {
        assert!(
            range.start >= self.behind || range.is_empty(),
            "{range:?} again"
        );
        self.behind = self.behind.max(range.end);
        self.bytes += range.len();
    }
}

impl Sink for Cover {
    fn text(&mut self, range: Range<usize>, _: Content) {
        self.take(range);
    }
    fn open(&mut self, name: Range<usize>) -> bool {
        self.take(name);
        true
    }
    fn attribute(&mut self, name: Range<usize>, value: Range<usize>) {
        self.take(name);
        self.take(value);
    }
    fn opened(&mut self, _: bool) -> Content {
        Content::Data
    }
    fn close(&mut self, name: Range<usize>) {
        self.bytes += name.len();
    }
    fn comment(&mut self, data: Range<usize>) {
        self.take(data);
    }
    fn doctype(&mut self, inside: Range<usize>, _: bool) {
        self.take(inside);
    }
    fn cdata_allowed(&self) -> bool {
        true
    }
}

#[test]
fn no_byte_is_handed_out_twice() {
    for (before, unit) in WORST {
        let text = String::from_utf8(body(before, unit, 1 << 16)).unwrap();
        let mut cover = Cover {
            bytes: 0,
            behind: 0,
        };
        tokenize(&text, &mut cover);
        assert!(cover.bytes <= text.len(), "{before}{unit}");
    }
}

#[test]
fn the_limits_hold() {
    let many = "<a href=x>y</a>".repeat(50_000);
    let long = format!(
        "<a href={}>y</a><a href=x>{}</a>",
        "x".repeat(9000),
        "y ".repeat(9000)
    );
    let title = format!("<title>{}</title>", "ä".repeat(100_000));
    let read_with = |body: &str, settings: &ParseSettings| {
        let input = Input {
            content_type: Some("text/html"),
            body: body.as_bytes(),
            ..Input::default()
        };
        parse(&input, settings)
    };
    let read = |body: &str| read_with(body, &ParseSettings::default());
    let page = read(&many);
    assert_eq!((page.links.len(), page.links_cut), (50_000, 0));
    let narrow = ParseSettings {
        links_bytes: 40_000,
        ..ParseSettings::default()
    };
    let page = read_with(&many, &narrow);
    assert!(
        (500..2_000).contains(&page.links.len()),
        "{}",
        page.links.len()
    );
    assert_eq!(page.links.len() + page.links_cut as usize, 50_000);
    let page = read(&long);
    let left_out = (page.links_cut, page.links_long);
    assert_eq!((page.links.len(), left_out), (1, (0, 1)));
    assert_eq!(page.text(page.links[0].anchor).len(), 255);
    assert_eq!(read(&title).title.len(), 1024);
    assert_eq!(read("<a href=x>").links_cut, 0);
}

/// Pieces that mutated documents are made of.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let fixed: Vec<&'static str> = WORST
        .iter()
        .flat_map(|(before, unit)| [*before, *unit])
        .chain([
            "</a>",
            "</script>",
            "-->",
            "]]>",
            "</svg>",
            "</title>",
            ">",
            "\"",
            "'",
            "=",
            " ",
            "<plaintext>",
            "<textarea>",
            "&amp;",
            "&not",
            "<link rel='canonical nofollow' href=/c>",
            "<html lang=de>",
            "text",
            "é",
            "\u{3042}",
        ])
        .collect();
    prop_oneof![
        4 => prop::sample::select(fixed).prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..12),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_bytes_keep_the_promises(pieces in prop::collection::vec(piece(), 0..60)) {
        fuzz_html(&pieces.concat());
    }
}
