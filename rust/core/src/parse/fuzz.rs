//! What must hold for any bytes at all; called by the fuzzer and by property tests.

use super::page::Piece;
use super::{Input, LONGEST_TARGET, Page, ParseSettings, TITLE_BYTES, parse};

/// Parses `data` as HTML, with and without a declared type, and checks the promises.
///
/// # Panics
/// Where a promise is broken: that is its use.
pub fn fuzz_html(data: &[u8]) {
    let settings = ParseSettings {
        links_bytes: 16 << 10,
        anchor_bytes: 32,
        forms: true,
        ..ParseSettings::default()
    };
    let header = String::from_utf8_lossy(&data[..data.len().min(256)]).into_owned();
    for content_type in [Some("text/html"), None, Some(header.as_str())] {
        let page = parse(
            &Input {
                url: "http://a.example/page",
                content_type,
                link: &[&header],
                robots: &[&header],
                now: 0,
                body: data,
            },
            &settings,
        );
        check(&page, &settings, data.len() + 2 * header.len());
    }
}

/// The promises about a page made of `size` bytes.
fn check(page: &Page, settings: &ParseSettings, size: usize) {
    // The texts of the last link taken, and what belongs to no link (labels), may be beyond it.
    let entries = size_of_val(page.links.as_slice());
    assert!(
        entries <= settings.links_bytes + size_of::<super::Link>(),
        "too many links"
    );
    assert!(page.title.len() <= TITLE_BYTES, "title too long");
    let inside = |piece: Piece, most: usize| {
        let text = page.arena.get(piece.range());
        assert!(
            text.is_some_and(|text| text.len() <= most),
            "a text outside its bounds"
        );
    };
    for link in &page.links {
        inside(link.target, LONGEST_TARGET);
        inside(link.anchor, settings.anchor_bytes);
        inside(link.hreflang, 64);
        assert!(!link.target.is_empty(), "an empty target");
    }
    // Decoding makes at most three bytes of one; an attribute is used at most for its link, for
    // a label and for the text around it. Every link may repeat a bounded label.
    let labels = page.links.len() * settings.anchor_bytes;
    assert!(
        page.arena.len() <= 6 * size + labels,
        "the arena outgrew the body"
    );
}
