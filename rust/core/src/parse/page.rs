//! What parsing gives: the page, its links, and the names of their kinds.

use std::ops::Range;

use super::print::TextPrint;

/// What kind of document the response carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DocumentKind {
    /// HTML and XHTML.
    Html,
    /// Any other XML: feeds, sitemaps.
    Xml,
    /// Text without markup.
    Text,
    /// Anything else; nothing is read from it.
    #[default]
    Other,
}

impl DocumentKind {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            DocumentKind::Html => "html",
            DocumentKind::Xml => "xml",
            DocumentKind::Text => "text",
            DocumentKind::Other => "other",
        }
    }
}

macro_rules! link_kinds {
    ($( $(#[$doc:meta])* $name:ident = $text:literal, )*) => {
        /// Where a link stood, or who gave it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum LinkKind { $( $(#[$doc])* $name, )* }

        impl LinkKind {
            /// Every kind, in the order of their numbers.
            pub const ALL: &'static [LinkKind] = &[$( LinkKind::$name, )*];

            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $( LinkKind::$name => $text, )* }
            }
        }
    };
}

link_kinds! {
    A = "a",
    Area = "area",
    /// Resolved against the document's own URL, unlike all others.
    Base = "base",
    Frame = "frame",
    Iframe = "iframe",
    Img = "img",
    Link = "link",
    /// `body[background]`.
    Background = "background",
    Applet = "applet",
    Object = "object",
    Embed = "embed",
    Script = "script",
    Source = "source",
    Video = "video",
    Audio = "audio",
    Track = "track",
    /// A form that is sent with GET.
    Form = "form",
    /// `meta[http-equiv=refresh]`.
    Refresh = "refresh",
    /// The HTTP header `Link`.
    Header = "header",
    /// Given by the user, not found.
    Seed = "seed",
    /// Where a redirect leads.
    Redirect = "redirect",
    /// Named by a sitemap, or a sitemap that a robots file names.
    Sitemap = "sitemap",
    /// A folder above another link.
    Folder = "folder",
    /// Given by a policy.
    Policy = "policy",
}

impl LinkKind {
    /// Whether following it leads to a document, not to a part of this one.
    #[must_use]
    pub const fn is_navigation(self) -> bool {
        matches!(
            self,
            LinkKind::A
                | LinkKind::Area
                | LinkKind::Base
                | LinkKind::Frame
                | LinkKind::Iframe
                | LinkKind::Link
                | LinkKind::Form
                | LinkKind::Refresh
                | LinkKind::Header
                | LinkKind::Seed
                | LinkKind::Redirect
                | LinkKind::Sitemap
                | LinkKind::Folder
                | LinkKind::Policy
        )
    }
}

/// The relations a link names, as a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RelFlags(pub u64);

macro_rules! relations {
    ($( $(#[$doc:meta])* $name:ident = $bit:literal $text:literal, )*) => {
        impl RelFlags {
            $( $(#[$doc])* pub const $name: RelFlags = RelFlags(1 << $bit); )*
            const NAMES: &'static [(&'static str, RelFlags)] =
                &[$( ($text, RelFlags::$name), )*];
        }
    };
}

relations! {
    NOFOLLOW = 0 "nofollow",
    UGC = 1 "ugc",
    SPONSORED = 2 "sponsored",
    CANONICAL = 3 "canonical",
    ALTERNATE = 4 "alternate",
    NEXT = 5 "next",
    PREV = 6 "prev",
    STYLESHEET = 7 "stylesheet",
    ICON = 8 "icon",
    PRELOAD = 9 "preload",
    MODULEPRELOAD = 10 "modulepreload",
    PREFETCH = 11 "prefetch",
    PRECONNECT = 12 "preconnect",
    DNS_PREFETCH = 13 "dns-prefetch",
    MANIFEST = 14 "manifest",
    AMPHTML = 15 "amphtml",
    EXTERNAL = 16 "external",
    NOOPENER = 17 "noopener",
    NOREFERRER = 18 "noreferrer",
    LICENSE = 19 "license",
    AUTHOR = 20 "author",
    SEARCH = 21 "search",
    TAG = 22 "tag",
    SHORTLINK = 23 "shortlink",
    APPLE_TOUCH_ICON = 24 "apple-touch-icon",
    PINGBACK = 25 "pingback",
    /// Also an alternate of a feed's media type.
    FEED = 26 "feed",
    /// An alternate that describes how to embed the page.
    OEMBED = 27 "oembed",
    /// An alternate in another format than HTML.
    FORMAT = 28 "format",
    FIRST = 29 "first",
    LAST = 30 "last",
    UP = 31 "up",
    START = 32 "start",
    TOP = 33 "top",
    HOME = 34 "home",
    CONTENTS = 35 "contents",
    INDEX = 36 "index",
    CHAPTER = 37 "chapter",
    SECTION = 38 "section",
    SUBSECTION = 39 "subsection",
    APPENDIX = 40 "appendix",
    GLOSSARY = 41 "glossary",
    HELP = 42 "help",
    COPYRIGHT = 43 "copyright",
    PRIVACY_POLICY = 44 "privacy-policy",
    TERMS_OF_SERVICE = 45 "terms-of-service",
}

/// Other spellings of relations.
const SYNONYMS: [(&str, RelFlags); 2] = [("previous", RelFlags::PREV), ("toc", RelFlags::CONTENTS)];

impl RelFlags {
    /// Relations that name a part of this document or a hint for a browser, not a document.
    pub const RESOURCE: RelFlags = RelFlags(
        Self::STYLESHEET.0
            | Self::ICON.0
            | Self::PRELOAD.0
            | Self::MODULEPRELOAD.0
            | Self::PRECONNECT.0
            | Self::DNS_PREFETCH.0
            | Self::MANIFEST.0
            | Self::APPLE_TOUCH_ICON.0
            | Self::PINGBACK.0,
    );

    /// Reads a `rel` value; unknown relations are ignored.
    #[must_use]
    pub fn parse(value: &str) -> RelFlags {
        let mut set = 0;
        for token in value.split_ascii_whitespace() {
            set |= Self::of(token).map_or(0, |flag| flag.0);
        }
        RelFlags(set)
    }

    /// The relation of that name; `None`: none that is known.
    #[must_use]
    pub fn of(name: &str) -> Option<RelFlags> {
        let is = |entry: &&(&str, RelFlags)| name.eq_ignore_ascii_case(entry.0);
        let found = Self::NAMES.iter().chain(&SYNONYMS).find(is);
        found.map(|(_, flag)| *flag)
    }

    /// The same relations, with what the media type says an alternate is.
    #[must_use]
    pub fn typed(self, media_type: &str) -> RelFlags {
        if !self.intersects(Self::ALTERNATE) || self.intersects(Self::STYLESHEET) {
            return self;
        }
        let essence = media_type.split(';').next().unwrap_or_default().trim();
        let ends_with = |end: &str| {
            let at = essence.len().checked_sub(end.len());
            let tail = at.and_then(|at| essence.get(at..));
            tail.is_some_and(|tail| tail.eq_ignore_ascii_case(end))
        };
        if essence.is_empty() || ends_with("text/html") || ends_with("/xhtml+xml") {
            return self;
        }
        let feeds = ["/rss+xml", "/atom+xml", "/rdf+xml", "/feed+json"];
        let what = if feeds.into_iter().any(ends_with) {
            Self::FEED
        } else if ends_with("+oembed") {
            Self::OEMBED
        } else {
            Self::FORMAT
        };
        RelFlags((self.0 & !Self::ALTERNATE.0) | what.0)
    }

    /// Whether any relation of `other` is in this set.
    #[must_use]
    pub const fn intersects(self, other: RelFlags) -> bool {
        self.0 & other.0 != 0
    }

    /// The names of the relations in the set.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES
            .iter()
            .filter(move |(_, flag)| self.intersects(*flag))
            .map(|(name, _)| *name)
    }
}

/// A piece of [`Page::arena`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    pub from: u32,
    pub to: u32,
}

impl Piece {
    #[must_use]
    pub const fn range(self) -> Range<usize> {
        self.from as usize..self.to as usize
    }

    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.from == self.to
    }
}

/// One link. Its texts lie in [`Page::arena`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The address as written: references decoded, ends stripped, not resolved.
    pub target: Piece,
    /// The text of the link, white space collapsed, cut at the limit.
    pub anchor: Piece,
    /// The language of an alternate.
    pub hreflang: Piece,
    pub rel: RelFlags,
    pub kind: LinkKind,
}

/// A `meta` refresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refresh {
    pub seconds: u32,
    /// Empty: the page itself.
    pub target: Piece,
}

/// What parsing found.
#[derive(Clone, Debug, Default)]
pub struct Page {
    pub kind: DocumentKind,
    /// Read by the rules of XML: any element may close itself.
    pub xml: bool,
    /// The encoding the body was read in, by its WHATWG name.
    pub charset: &'static str,
    pub title: String,
    /// `html[lang]`.
    pub lang: String,
    /// Length of the visible text: bytes of all words, and one for each.
    pub text_bytes: u32,
    /// 64-bit SimHash of the visible text; 0 where there is none.
    pub simhash: u64,
    /// Samples of the visible text: pages that share text share samples.
    pub samples: Vec<u32>,
    /// What two pages are compared by.
    pub print: TextPrint,
    /// The first `base[href]`, as written.
    pub base: Option<String>,
    /// Meta robots and X-Robots-Tag, for everyone or for our agent, joined.
    pub noindex: bool,
    pub nofollow: bool,
    pub noarchive: bool,
    /// It has scripts, and hardly any text or links of its own: a browser would make the page.
    pub scripted: bool,
    /// When the page ends to be for the public, in microseconds since the epoch. If that has passed,
    /// `noindex` is set.
    pub unavailable_after: Option<u64>,
    pub refresh: Option<Refresh>,
    pub links: Vec<Link>,
    /// The texts of all links.
    pub arena: String,
    /// Links that were not kept because the others took all the memory that they may have.
    pub links_cut: u32,
    /// Links that were not kept because their address is longer than any that is taken.
    pub links_long: u32,
    /// The visible text, white space collapsed, where it was asked for.
    pub text: String,
}

impl Page {
    /// A text of a link.
    #[must_use]
    pub fn text(&self, piece: Piece) -> &str {
        self.arena.get(piece.range()).unwrap_or_default()
    }

    /// The address of the first link of relation `canonical`.
    #[must_use]
    pub fn canonical(&self) -> Option<&str> {
        self.links
            .iter()
            .find(|link| {
                matches!(link.kind, LinkKind::Link | LinkKind::Header)
                    && link.rel.intersects(RelFlags::CANONICAL)
            })
            .map(|link| self.text(link.target))
    }
}
