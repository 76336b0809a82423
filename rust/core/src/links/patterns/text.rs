//! The pattern of a URL: the URL without what varies from page to page.
//!
//! `/shop/item-1234/9f8e7d6c5b4a?page=3&sort=up` is of the pattern `/shop/item-{n}/{hash}?page&sort=up`:
//! numbers, hashes and long tokens are generalised at once, names where a folder or a parameter has many
//! ([`Learner`]). A URL with a [`Hint`] is besides of the family of its first folder and that hint, whatever its words.

use xxhash_rust::xxh3::xxh3_64;

use super::hint::{Hint, HintSettings, hint, parameters};
use super::learn::{Child, Learner};
use super::novelty::{BASES, Whose};
use crate::links::cut;

// These numbers judge nothing: they only say which URLs are counted in one row, and bound its size.

const LONGEST: usize = 200;
const SEGMENTS: usize = 3;
const PARAMETERS: usize = 8;
/// A segment that is longer is taken for a token: titles in URLs are shorter, or vary as much.
const LONG_SEGMENT: usize = 40;
/// A value that is longer is no word that says what a page is for.
const LONG_VALUE: usize = 24;
/// Hexadecimal digits from which a segment is taken for a hash: the shortest in use is a CRC-32.
const HASH: usize = 8;
/// Letters of a prefix (`Special:`) that a name keeps when its folder is wild.
const PREFIX: usize = 16;

/// Parameters that are left out one by one, to see whether there is a page with the others.
const FEWER: usize = 4;
/// Folders above a page that are looked at.
const ABOVE: usize = 4;

/// Ends the pattern of what looks like a view of a page, if that page was visited: what it brings then is another question
/// than what it brings where it is the first that is seen of the page.
pub(super) const VIEW: &str = " (view)";

/// A pattern, and what it was made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    pub text: String,
    pub hint: Option<Hint>,
    /// The family of URLs with a hint that it belongs to, by its first folder.
    pub family: Option<String>,
    /// The names in it, each with its folder: what a visit tells the learner.
    names: Vec<(u64, Child)>,
}

impl Pattern {
    /// The pattern of a URL of a host of which so much was learnt. `from`: the page that led to it.
    #[must_use]
    pub fn of(
        url: &str,
        path_and_query: &str,
        from: &str,
        learner: &Learner,
        settings: &HintSettings,
    ) -> Pattern {
        let mut pattern = Pattern {
            hint: hint(path_and_query, url, from, settings),
            ..Pattern::default()
        };
        let (path, query) = path_and_query
            .split_once('?')
            .unwrap_or((path_and_query, ""));
        pattern.family = pattern.hint.map(|hint| {
            let mut family = String::from("/");
            let first = path.split('/').find(|segment| !segment.is_empty());
            generalise(first.unwrap_or_default(), &mut family);
            family + "… (" + hint.as_str() + ")"
        });
        pattern.add_path(path, learner);
        if !query.is_empty() {
            pattern.add_query(query, learner);
        }
        if pattern.text.len() > LONGEST {
            let end = cut(&pattern.text, LONGEST).len();
            pattern.text.truncate(end);
        }
        pattern
    }

    /// The key of its row.
    #[must_use]
    pub fn key(&self) -> u64 {
        key_of(&self.text)
    }

    /// The page that it is a view of was visited.
    #[must_use]
    pub(super) fn of_visited(mut self) -> Pattern {
        self.text.push_str(VIEW);
        self
    }

    fn plain(&self) -> &str {
        plain(&self.text)
    }

    /// The patterns of the pages that it looks like a view of: a word behind what varies (`/ID/raw` of `/ID/`), a query behind
    /// it (`/ID?print` of `/ID`), one more parameter (`?id&do=edit` of `?id`), a query that a folder above has too
    /// (`/commit/FILE?id` of `/commit/?id`).
    #[must_use]
    pub fn bases(&self) -> Vec<String> {
        bases_of(&self.text)
    }

    /// The pages that a URL of this pattern is a view of, one for each of [`Pattern::bases`] and each folder above.
    #[must_use]
    pub fn pages(&self, url: &str) -> Vec<String> {
        let shape = Shape::of(self.plain());
        let start = url.find("://").map_or(0, |at| at + 3);
        let start = url[start..].find('/').map_or(url.len(), |at| start + at);
        let (origin, path) = url.split_at(start);
        let mut pages = shape.pages(path);
        pages.iter_mut().for_each(|page| page.insert_str(0, origin));
        pages
    }

    /// Its key and those of what it may be a view of, as far as they say whose text it shows.
    #[must_use]
    pub fn whose(&self) -> Whose {
        let mut whose = Whose {
            pattern: (key_of(self.plain()) as u32).max(1),
            ..Whose::default()
        };
        for (place, base) in whose.bases.iter_mut().zip(self.bases()) {
            *place = (key_of(&base) as u32).max(1);
        }
        whose
    }

    /// Tells the learner of a visit.
    pub fn teach(&self, learner: &mut Learner) {
        for (folder, child) in &self.names {
            learner.visit(*folder, *child);
        }
    }

    fn add_path(&mut self, path: &str, learner: &Learner) {
        let mut segments = path.split('/').filter(|segment| !segment.is_empty());
        for segment in segments.by_ref().take(SEGMENTS) {
            self.text.push('/');
            self.add_name(segment, LONG_SEGMENT, learner);
        }
        if let Some(last) = segments.next_back() {
            self.text.push_str("/**");
            // What is at the end may say what a page is for (`/edit`), if it is met again and again.
            let folder = self.here();
            let child = xxh3_64(last.as_bytes()) as Child;
            if !varies(last, LONG_VALUE) {
                self.names.push((folder, child));
                if learner.is_named(folder, child) {
                    self.text.push('/');
                    self.text.push_str(last);
                }
            }
        }
        if path.ends_with('/') || self.text.is_empty() {
            self.text.push('/');
        }
    }

    fn add_query(&mut self, query: &str, learner: &Learner) {
        self.text.push('?');
        let folder = self.here();
        let mut pairs: Vec<(&str, &str)> = parameters(query).take(PARAMETERS).collect();
        pairs.sort_unstable();
        // How often a filter is used does not matter.
        pairs.dedup_by(|other, one| other.0 == one.0);
        let names: Vec<&str> = pairs.iter().map(|(name, _)| *name).collect();
        let set = xxh3_64(names.join("&").as_bytes()) as Child;
        self.names.push((folder, set));
        if learner.is_wild(folder, set) {
            self.text.push('*');
            return;
        }
        let path_end = self.text.len();
        for (at, (name, value)) in pairs.into_iter().enumerate() {
            if at > 0 {
                self.text.push('&');
            }
            generalise(name, &mut self.text);
            if value.is_empty() || varies(value, LONG_VALUE) {
                continue;
            }
            // The values of a parameter are learnt by path and name, whatever else stands in the query.
            let place = xxh3_64([&self.text[..path_end], name].concat().as_bytes());
            self.text.push('=');
            self.add_known(value, place, learner);
        }
    }

    /// A name below what stands so far.
    fn add_name(&mut self, name: &str, longest: usize, learner: &Learner) {
        if varies(name, longest) {
            generalise(name, &mut self.text);
        } else {
            let folder = self.here();
            self.add_known(name, folder, learner);
        }
    }

    /// A name of words: itself, or `*` where there are many.
    fn add_known(&mut self, name: &str, folder: u64, learner: &Learner) {
        let child = xxh3_64(name.as_bytes()) as Child;
        self.names.push((folder, child));
        if !learner.is_wild(folder, child) {
            self.text.push_str(name);
            return;
        }
        self.text.push_str(prefix(name));
        self.text.push('*');
        self.text.push_str(suffix(name));
    }

    fn here(&self) -> u64 {
        xxh3_64(self.text.as_bytes())
    }
}

/// The patterns that one looks like a view of ([`Pattern::bases`]), by its text.
pub(super) fn bases_of(text: &str) -> Vec<String> {
    let plain = plain(text);
    let mut bases = Shape::of(plain).pages(plain);
    bases.truncate(BASES);
    bases
}

/// A pattern without what says that it is a view of a visited page.
pub(super) fn plain(text: &str) -> &str {
    text.strip_suffix(VIEW).unwrap_or(text)
}

/// The keys of a pattern and of the same as a view of visited pages.
#[must_use]
pub fn twins(text: &str) -> [u64; 2] {
    let plain = plain(text);
    [key_of(plain), key_of(&[plain, VIEW].concat())]
}

/// What makes a URL look like a view of others.
struct Shape {
    /// Parts at the end of its path that vary.
    varying: usize,
    /// Parts of its path before them.
    fixed: usize,
    /// A word behind what varies ends its path.
    is_suffixed: bool,
}

impl Shape {
    fn of(plain: &str) -> Shape {
        let varies = |part: &&str| part.contains(['*', '{']);
        let path = plain.split('?').next().unwrap_or_default();
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let varying = parts.iter().rev().take_while(|part| varies(part)).count();
        let before = parts.iter().rev().nth(1);
        Shape {
            varying,
            fixed: parts.len() - varying,
            is_suffixed: varying == 0 && before.is_some_and(varies),
        }
    }

    /// The path and query of a URL, or the text of its pattern, as those of the pages that it is a view of.
    fn pages(&self, url: &str) -> Vec<String> {
        let Some((path, query)) = url.split_once('?') else {
            let folder = url.trim_end_matches('/');
            let parent = folder.rsplit_once('/').map_or("", |(parent, _)| parent);
            return if self.is_suffixed {
                vec![parent.to_owned(), format!("{parent}/")]
            } else {
                Vec::new()
            };
        };
        let mut pages = Vec::new();
        if self.varying > 0 {
            pages.push(path.to_owned());
        }
        // Some sites part the parameters by semicolons.
        let separator = if query.contains('&') { "&" } else { ";" };
        let pairs: Vec<&str> = query.split(separator).collect();
        if (2..=PARAMETERS).contains(&pairs.len()) {
            let fewer = |at| format!("{path}?{}", without(&pairs, at).join(separator));
            pages.extend((0..pairs.len().min(FEWER)).map(fewer));
        }
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let least = self.fixed.max(1);
        if self.varying > 0 {
            for count in (least..parts.len()).rev().take(ABOVE) {
                let above = parts[..count].join("/");
                pages.extend([format!("/{above}?{query}"), format!("/{above}/?{query}")]);
            }
        }
        pages
    }
}

/// All but one.
fn without<'a>(parts: &[&'a str], at: usize) -> Vec<&'a str> {
    let (before, after) = parts.split_at(at);
    [before, &after[1..]].concat()
}

/// The key of the row of a pattern, by its text.
#[must_use]
pub fn key_of(text: &str) -> u64 {
    xxh3_64(text.as_bytes()).max(1)
}

/// `Special:` of `Special:Log`.
fn prefix(name: &str) -> &str {
    let end = name.find(':').map_or(0, |at| at + 1);
    let letters = name[..end.saturating_sub(1)]
        .bytes()
        .all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    if letters && end <= PREFIX {
        &name[..end]
    } else {
        ""
    }
}

/// `.xml` of `index.xml`: a suffix that says that it is no page.
fn suffix(name: &str) -> &str {
    const FORMATS: [&str; 12] = [
        ".atom", ".csv", ".diff", ".gz", ".json", ".patch", ".pdf", ".ps", ".rdf", ".rss", ".txt",
        ".xml",
    ];
    let at = name.rfind('.').filter(|at| *at > 0).unwrap_or(name.len());
    let suffix = &name[at..];
    let known = FORMATS
        .iter()
        .any(|format| suffix.eq_ignore_ascii_case(format));
    if known { suffix } else { "" }
}

/// Whether a name varies by what it looks like: a number, a hash, a token, escapes.
fn varies(name: &str, longest: usize) -> bool {
    name.len() > longest
        || name
            .bytes()
            .any(|byte| byte.is_ascii_digit() || byte == b'%' || byte == b'+')
}

fn generalise(text: &str, out: &mut String) {
    if text.contains('%') || text.contains('+') {
        out.push_str(prefix(text));
        out.push('*');
        out.push_str(suffix(text));
        return;
    }
    let hex = text
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    if text.len() > LONG_SEGMENT {
        out.push_str(prefix(text));
        out.push_str("{long}");
        out.push_str(suffix(text));
    } else if hex && digits > 0 && digits < text.len() && text.len() >= HASH {
        out.push_str("{hash}");
    } else if digits * 3 < text.len() && digits > 0 && text.len() > 12 {
        // A title with a number in it.
        out.push_str(prefix(text));
        out.push('*');
        out.push_str(suffix(text));
    } else {
        let mut in_number = false;
        for c in text.chars() {
            let is_digit = c.is_ascii_digit();
            if is_digit && !in_number {
                out.push_str("{n}");
            } else if !is_digit {
                out.push(c);
            }
            in_number = is_digit;
        }
    }
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
