//! Sitemaps: the lists of URLs that a site offers by itself.
//!
//! Takes the body of a sitemap and the URL it came from, gives [`Sitemap`]: canonical URLs with
//! what the site says of them. Reads XML sitemaps, sitemap indexes, text, RSS and Atom, plain or
//! gzip. Guarantees:
//!
//! * never fails: what can be read of a broken or truncated file is given, the rest is counted;
//! * at most [`Limits::max_bytes`] are unpacked and [`Limits::max_entries`] given, in linear time;
//! * reads no file and opens no connection: entities that a document declares are never expanded.

mod decode;
#[doc(hidden)]
pub mod fuzz;
mod xml;

#[cfg(test)]
mod tests;

use crate::canonical::{Base, Rules, Url, canonical};
use crate::date;

/// How much of a sitemap is taken.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes after unpacking; the protocol's own limit is 50 MiB.
    pub max_bytes: usize,
    /// Entries; the protocol's own limit is 50,000.
    pub max_entries: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_bytes: 50 * 1024 * 1024,
            max_entries: 50_000,
        }
    }
}

/// What kind of document it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// `<urlset>`: pages.
    UrlSet,
    /// `<sitemapindex>`: further sitemaps.
    Index,
    /// A URL on each line.
    Text,
    /// RSS, 0.9 to 2.0.
    Rss,
    /// Atom.
    Atom,
    /// None of these: an error page, for example.
    #[default]
    Unknown,
}

impl Kind {
    /// The kind in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::UrlSet => "urlset",
            Kind::Index => "index",
            Kind::Text => "text",
            Kind::Rss => "rss",
            Kind::Atom => "atom",
            Kind::Unknown => "unknown",
        }
    }
}

/// How often the site says that a page changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeFrequency {
    /// Different at each visit.
    Always,
    /// Every hour.
    Hourly,
    /// Every day.
    Daily,
    /// Every week.
    Weekly,
    /// Every month.
    Monthly,
    /// Every year.
    Yearly,
    /// An archived page.
    Never,
}

impl ChangeFrequency {
    const NAMES: [(&'static str, ChangeFrequency); 7] = [
        ("always", ChangeFrequency::Always),
        ("hourly", ChangeFrequency::Hourly),
        ("daily", ChangeFrequency::Daily),
        ("weekly", ChangeFrequency::Weekly),
        ("monthly", ChangeFrequency::Monthly),
        ("yearly", ChangeFrequency::Yearly),
        ("never", ChangeFrequency::Never),
    ];

    fn read(text: &str) -> Option<ChangeFrequency> {
        let known = Self::NAMES
            .iter()
            .find(|(name, _)| text.eq_ignore_ascii_case(name));
        known.map(|(_, frequency)| *frequency)
    }

    /// The spelling of the protocol.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::NAMES
            .iter()
            .find(|(_, frequency)| *frequency == self)
            .map_or("", |(name, _)| *name)
    }
}

/// A URL that the site offers.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Where.
    pub loc: Url,
    /// When it last changed, in microseconds since the epoch.
    pub lastmod: Option<u64>,
    /// How often it changes.
    pub changefreq: Option<ChangeFrequency>,
    /// From 0 to 1, among the pages of this site.
    pub priority: Option<f32>,
}

/// A sitemap that was read.
#[derive(Clone, Debug, Default)]
pub struct Sitemap {
    /// The kind of document.
    pub kind: Kind,
    /// In the order of the document.
    pub entries: Vec<Entry>,
    /// Entries without a URL that could be fetched.
    pub refused: u32,
    /// Whether a limit or broken syntax ended the reading early.
    pub truncated: bool,
}

impl Sitemap {
    /// Whether the entries are sitemaps rather than pages.
    #[must_use]
    pub fn is_index(&self) -> bool {
        self.kind == Kind::Index
    }
}

/// Reads a sitemap that was found at `base`.
#[must_use]
pub fn parse(body: &[u8], base: &Base, rules: &Rules, limits: Limits) -> Sitemap {
    let (text, cut) = decode::text_of(body, limits.max_bytes);
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}' || c == '\0');
    let mut gather = Gather {
        base,
        rules,
        limits,
        out: Sitemap::default(),
    };
    gather.out.truncated = cut;
    if text.starts_with('<') {
        xml::read(text, &mut gather);
    } else {
        lines(text, &mut gather);
    }
    gather.out
}

/// What an entry says, before it is judged.
#[derive(Debug, Default)]
struct Raw {
    loc: String,
    lastmod: String,
    changefreq: String,
    priority: String,
}

struct Gather<'a> {
    base: &'a Base,
    rules: &'a Rules,
    limits: Limits,
    out: Sitemap,
}

impl Gather<'_> {
    /// Takes an entry; `false` when the limit is reached and reading should end.
    fn take(&mut self, raw: &Raw) -> bool {
        let loc = raw.loc.trim();
        if loc.is_empty() {
            self.out.refused = self.out.refused.saturating_add(1);
            return true;
        }
        self.push(canonical(loc, Some(self.base), self.rules).ok(), raw)
    }

    fn push(&mut self, loc: Option<Url>, raw: &Raw) -> bool {
        let Some(loc) = loc else {
            self.out.refused = self.out.refused.saturating_add(1);
            return true;
        };
        if self.out.entries.len() >= self.limits.max_entries {
            self.out.truncated = true;
            return false;
        }
        let priority = raw
            .priority
            .trim()
            .parse::<f32>()
            .ok()
            .filter(|value| value.is_finite());
        self.out.entries.push(Entry {
            loc,
            lastmod: date::micros(raw.lastmod.trim()),
            changefreq: ChangeFrequency::read(raw.changefreq.trim()),
            priority: priority.map(|value| value.clamp(0.0, 1.0)),
        });
        true
    }
}

/// A text sitemap has absolute URLs only: a line of prose must not become a relative link.
fn lines(text: &str, gather: &mut Gather<'_>) {
    let lines = text
        .split(['\n', '\r'])
        .map(str::trim)
        .filter(|line| !line.is_empty());
    for line in lines {
        let url = canonical(line, None, gather.rules).ok();
        if url.is_some() {
            gather.out.kind = Kind::Text;
        }
        if !gather.push(url, &Raw::default()) {
            return;
        }
    }
}
