//! Parse: what a page says.
//!
//! Takes: a response body, its content encodings undone, with the headers that speak about it.
//! Gives: a [`Page`]: links as written, robots directives, title, language, text signals.
//! Next: store, then links.
//! Guarantees: never fails and never panics, whatever the bytes; time linear in the body; memory
//! bounded by the body and the settings.
//!
//! ```text
//! sniff → charset (prescan) → tokenizer → extract (charref, srcset, refresh, directives, simhash)
//! ```

mod anchor;
pub mod charref;
pub mod charset;
mod directives;
mod extract;
mod foreign;
#[doc(hidden)]
pub mod fuzz;
mod link_header;
mod names;
pub mod page;
mod prescan;
mod print;
pub mod refresh;
mod simhash;
pub mod sniff;
pub mod srcset;
#[cfg(test)]
mod tests;
pub mod tokenizer;
mod word_mask;

pub use extract::{LONGEST_TARGET, TITLE_BYTES};
pub use page::{DocumentKind, Link, LinkKind, Page, Piece, Refresh, RelFlags};
pub use print::TextPrint;
pub use simhash::simhash_distance;

use directives::Directives;
use extract::Extractor;

/// How to parse.
#[derive(Clone, Debug)]
pub struct ParseSettings {
    /// The crawler's product token (or whole user agent): directives for it hold.
    pub agent: String,
    /// Memory that the links of one page may take, in bytes: their texts and their entries.
    pub links_bytes: usize,
    /// Bytes of anchor text kept per link.
    pub anchor_bytes: usize,
    /// Whether forms that are sent with GET are links.
    pub forms: bool,
    /// Whether images, scripts, styles and the like are links, or only what leads to documents.
    pub resources: bool,
    /// Whether the SimHash is computed.
    pub simhash: bool,
    /// Bytes of the visible text that are kept; 0: none.
    pub text_bytes: usize,
}

impl Default for ParseSettings {
    fn default() -> Self {
        ParseSettings {
            agent: String::from("gossamer"),
            links_bytes: 64 << 20,
            anchor_bytes: 256,
            forms: false,
            resources: true,
            simhash: true,
            text_bytes: 0,
        }
    }
}

/// A response, as far as parsing needs it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Input<'a> {
    /// The address; only its extension and top-level domain are looked at.
    pub url: &'a str,
    pub content_type: Option<&'a str>,
    /// The values of all `Link` headers.
    pub link: &'a [&'a str],
    /// The values of all `X-Robots-Tag` headers.
    pub robots: &'a [&'a str],
    /// When it was received, in microseconds since the epoch: pages may say how long they hold.
    pub now: u64,
    pub body: &'a [u8],
}

/// Parses a response.
#[must_use]
pub fn parse(input: &Input<'_>, settings: &ParseSettings) -> Page {
    let sniffed = sniff::document_kind(input.content_type, input.url, input.body);
    let kind = sniffed.kind;
    let mut page = Page {
        kind,
        xml: sniffed.xml,
        ..Page::default()
    };
    let mut directives = Directives::default();
    for value in input.robots {
        directives.add_header(value, &settings.agent);
    }
    let (text, charset) = match kind {
        DocumentKind::Html | DocumentKind::Text | DocumentKind::Xml => {
            let declared = input.content_type.and_then(sniff::charset_parameter);
            let markup = kind == DocumentKind::Html;
            charset::decode(input.body, declared, markup, input.url)
        }
        DocumentKind::Other => Default::default(),
    };
    page.charset = charset;
    if kind == DocumentKind::Html {
        // What an ordinary page needs, at once.
        page.links.reserve(64);
        page.arena.reserve(4096);
    }
    let mut extractor = Extractor::new(&text, settings, page, directives);
    for value in input.link {
        link_header::links(value, |link| extractor.header_link(&link));
    }
    match kind {
        DocumentKind::Html => tokenizer::tokenize(&text, &mut extractor),
        // Of a feed the tags are words among the others: what it repeats is found all the same.
        DocumentKind::Text | DocumentKind::Xml => extractor.plain(),
        DocumentKind::Other => {}
    }
    let mut page = extractor.finish();
    page.noindex |= page.unavailable_after.is_some_and(|end| end <= input.now);
    page
}
