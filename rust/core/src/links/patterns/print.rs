//! The print of a page: what tells whether two URLs, which differ in one parameter, have the same page.
//!
//! The same content to the byte is the same page. So is, of HTML, the same text with the same links, where the
//! parameter in question is left out of the links: a page that hands out a new session with each answer is the same
//! all the same. Of what is not HTML only the content counts.

use xxhash_rust::xxh3::xxh3_64;

use crate::parse::{DocumentKind, Page, TextPrint, simhash_distance};
use crate::store::warc::Digest;

// These numbers judge nothing: they bound the work for a page.

/// Parameters of a link that are looked at.
const PARAMETERS: usize = 8;
/// Names of parameters in the links of a page that are told apart.
const NAMES: usize = 16;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Print {
    /// 0: there is no page.
    content: u64,
    text: Option<Html>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Html {
    words: TextPrint,
    simhash: u64,
    /// The sum of its links, and by name what the sum changes by without that parameter.
    links: u64,
    without: Box<[(u32, u64)]>,
}

/// How two pages compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    Same,
    /// Too much alike to be called different: a counter, an advertisement.
    Near,
    Different,
}

/// What is compared.
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'a> {
    pub name: &'a str,
    /// Tokens in the text may differ.
    pub tokens_differ: bool,
    /// Pages whose SimHashes differ in so few bits are too much alike to be called different.
    pub near_bits: u32,
}

impl Print {
    #[must_use]
    pub fn of(page: &Page, content: Option<&Digest>) -> Print {
        let content = content.map_or(0, |digest| xxh3_64(digest).max(1));
        let text = (page.kind == DocumentKind::Html && page.simhash != 0).then(|| {
            let mut links = Links::default();
            for link in &page.links {
                links.add(page.text(link.target));
            }
            Html {
                words: page.print,
                simhash: page.simhash,
                links: links.sum,
                without: links.without.into(),
            }
        });
        Print { content, text }
    }

    /// Whether there is a page at all.
    #[must_use]
    pub fn is_page(&self) -> bool {
        self.content != 0
    }

    /// Whether the value of a parameter stands in the text, as a token.
    #[must_use]
    pub fn echoes(&self, value: &str) -> bool {
        let text = self.text.as_ref();
        text.is_some_and(|text| text.words.echoes(value))
    }

    /// `None`: neither is a page.
    #[must_use]
    pub fn compare(&self, other: &Print, by: Comparison<'_>) -> Option<Likeness> {
        if !(self.is_page() || other.is_page()) {
            return None;
        }
        if self.content == other.content {
            return Some(Likeness::Same);
        }
        let (Some(one), Some(two)) = (&self.text, &other.text) else {
            return Some(Likeness::Different);
        };
        let same_words = if by.tokens_differ {
            one.words.plain == two.words.plain
        } else {
            one.words.all == two.words.all
        };
        if same_words && one.links_without(by.name) == two.links_without(by.name) {
            return Some(Likeness::Same);
        }
        let near = simhash_distance(one.simhash, two.simhash) <= by.near_bits;
        Some(if near {
            Likeness::Near
        } else {
            Likeness::Different
        })
    }
}

impl Html {
    fn links_without(&self, name: &str) -> u64 {
        let name = short(name);
        let change = self.without.iter().find(|(known, _)| *known == name);
        self.links
            .wrapping_add(change.map_or(0, |(_, change)| *change))
    }
}

#[derive(Default)]
struct Links {
    sum: u64,
    without: Vec<(u32, u64)>,
}

impl Links {
    fn add(&mut self, address: &str) {
        let address = address.split('#').next().unwrap_or_default();
        let (path, query) = address.split_once('?').unwrap_or((address, ""));
        let pairs = || query.split('&').filter(|pair| !pair.is_empty());
        let hash = |text: &str| xxh3_64(text.as_bytes());
        let whole = pairs().fold(hash(path), |sum, pair| sum.wrapping_add(hash(pair)));
        self.sum = self.sum.wrapping_add(mixed(whole));
        for pair in pairs().take(PARAMETERS) {
            let name = short(pair.split('=').next().unwrap_or_default());
            let rest = mixed(whole.wrapping_sub(hash(pair)));
            let change = rest.wrapping_sub(mixed(whole));
            if let Some((_, sum)) = self.without.iter_mut().find(|(known, _)| *known == name) {
                *sum = sum.wrapping_add(change);
            } else if self.without.len() < NAMES {
                self.without.push((name, change));
            }
        }
    }
}

/// So that a sum of links tells which parts belong together.
fn mixed(sum: u64) -> u64 {
    xxh3_64(&sum.to_le_bytes())
}

fn short(name: &str) -> u32 {
    xxh3_64(name.as_bytes()) as u32
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::parse::{Input, ParseSettings, parse};

    fn print(html: &str) -> Print {
        let page = parse(
            &Input {
                url: "http://e.org/",
                content_type: Some("text/html"),
                link: &[],
                robots: &[],
                now: 0,
                body: html.as_bytes(),
            },
            &ParseSettings {
                resources: false,
                ..ParseSettings::default()
            },
        );
        let mut content = Digest::default();
        let hash = xxh3_64(html.as_bytes()).to_le_bytes();
        content[..8].copy_from_slice(&hash);
        Print::of(&page, Some(&content))
    }

    fn likeness(one: &str, two: &str, tokens_differ: bool) -> Likeness {
        let by = Comparison {
            name: "ref",
            tokens_differ,
            near_bits: 3,
        };
        print(one).compare(&print(two), by).unwrap()
    }

    #[test]
    fn links_may_differ_in_the_parameter_alone() {
        let page = |links: &str| format!("<p>A page of some words.</p>{links}");
        let one = page("<a href='/a?ref=1&b=2'>x</a><a href='/b?ref=7'>x</a>");
        let two = page("<a href='/a?b=2&ref=99'>x</a><a href='/b'>x</a>");
        assert_eq!(likeness(&one, &two, false), Likeness::Same);
        let other = page("<a href='/a?b=3&ref=99'>x</a><a href='/b'>x</a>");
        assert_ne!(likeness(&one, &other, false), Likeness::Same);
    }

    #[test]
    fn a_number_in_the_text_counts_a_time_of_day_does_not() {
        let article = |n: u32| format!("<h1>Article {n}</h1><p>always the same words here</p>");
        assert_ne!(likeness(&article(7), &article(8), true), Likeness::Same);
        let clock = |at: &str| format!("<p>it is {at} o'clock in this town</p>");
        let (one, two) = (clock("12:34:56"), clock("9:05"));
        assert_ne!(one, two);
        assert_eq!(likeness(&one, &clock("12:35:01"), false), Likeness::Same);
    }

    #[test]
    fn a_token_in_the_text_may_differ_where_sessions_are_looked_for() {
        let page = |token: &str| format!("<p>your session is {token} today</p>");
        let (one, two) = (page("9f8e7d6c5b4a3210"), page("0a1b2c3d4e5f6789"));
        assert_eq!(likeness(&one, &two, true), Likeness::Same);
        assert_ne!(likeness(&one, &two, false), Likeness::Same);
        assert!(print(&one).echoes("9f8e7d6c5b4a3210"));
        assert!(!print(&one).echoes("0a1b2c3d4e5f6789"));
    }

    #[test]
    fn pictures_are_content() {
        let page = |n: u32| format!("<p>a gallery of pictures</p><img src='/img/{n}.jpg'>");
        assert_ne!(likeness(&page(1), &page(2), true), Likeness::Same);
    }
}
