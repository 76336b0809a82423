//! The URLs that were visited, as far as memory is for it: whether what looks like a view of a page is one.
//!
//! `/ID/raw` is a view of `/ID/` once that was visited, and may be the only way to its text before. A table of
//! fingerprints that grows up to a bound; what is forgotten, or was visited by another process, counts as not visited, which makes us more
//! patient.

use xxhash_rust::xxh3::xxh3_64;

use super::text::{FEWER, without};

/// Slots at first and at most (4 bytes each).
const LEAST: usize = 1 << 12;
const LARGEST: usize = 1 << 22;
/// Folders above a page that are looked at.
const ABOVE: usize = 8;
/// Slots that a URL may be in.
const NEAR: usize = 8;

#[derive(Debug, Default)]
pub(super) struct VisitedUrls {
    /// 0: free.
    slots: Vec<u32>,
    used: usize,
}

impl VisitedUrls {
    pub fn add(&mut self, url: &str) {
        if self.used * 2 >= self.slots.len() && self.slots.len() < LARGEST {
            self.grow();
        }
        let print = print(url);
        let near = self.near(print);
        let near = &mut self.slots[near];
        if near.contains(&print) {
            return;
        }
        let free = near.iter().position(|slot| *slot == 0);
        self.used += usize::from(free.is_some());
        // No room: the place of any other will do.
        near[free.unwrap_or(print as usize % NEAR)] = print;
    }

    pub fn contains(&self, url: &str) -> bool {
        let print = print(url);
        !self.slots.is_empty() && self.slots[self.near(print)].contains(&print)
    }

    fn near(&self, print: u32) -> std::ops::Range<usize> {
        let bits = self.slots.len().trailing_zeros();
        let first = (u64::from(print) << bits >> 32) as usize;
        let first = first.min(self.slots.len() - NEAR);
        first..first + NEAR
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(LEAST);
        let old = std::mem::replace(&mut self.slots, vec![0; size]);
        self.used = 0;
        for print in old.into_iter().filter(|print| *print != 0) {
            let near = self.near(print);
            if let Some(free) = self.slots[near].iter_mut().find(|slot| **slot == 0) {
                *free = print;
                self.used += 1;
            }
        }
    }
}

/// The pages that a URL may be a view of: without its query, with one parameter less, with a folder above instead of its path;
/// or without the last part of its path.
pub(super) fn pages_of(url: &str) -> Vec<String> {
    let Some((page, query)) = url.split_once('?') else {
        let url = url.trim_end_matches('/');
        let slash = url.rfind('/').unwrap_or(0);
        return vec![url[..=slash].to_owned(), url[..slash].to_owned()];
    };
    let mut pages = vec![page.to_owned()];
    let pairs: Vec<&str> = query.split('&').take(2 * FEWER).collect();
    if pairs.len() > 1 {
        let fewer = |at| format!("{page}?{}", without(&pairs, at).join("&"));
        pages.extend((0..pairs.len().min(FEWER)).map(fewer));
    }
    let host = page.find("://").map_or(0, |at| at + 3);
    let path = page[host..].find('/').map_or(page.len(), |at| host + at);
    let mut above = page.trim_end_matches('/');
    for _ in 0..ABOVE {
        let Some(slash) = above.rfind('/').filter(|slash| *slash >= path) else {
            break;
        };
        above = &above[..slash];
        pages.extend([format!("{above}/?{query}"), format!("{above}?{query}")]);
    }
    pages
}

fn print(url: &str) -> u32 {
    (xxh3_64(url.as_bytes()) as u32).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_is_one_when_its_page_was_visited() {
        let mut visited = VisitedUrls::default();
        assert!(!visited.contains("http://a/7/"));
        for url in ["http://a/7/", "http://a/8", "http://a/commit/?id=1"] {
            visited.add(url);
        }
        let is_view = |url| pages_of(url).iter().any(|page| visited.contains(page));
        for view in [
            "http://a/7/raw",
            "http://a/7/t/",
            "http://a/7/?print=1",
            "http://a/8/raw",
            "http://a/8?print",
            "http://a/commit/b/c?id=1",
            "http://a/commit/?h=old&id=1",
        ] {
            assert!(is_view(view), "{view}");
        }
        for other in [
            "http://a/7",
            "http://a/9/raw",
            "http://a/7/t/u",
            "http://a/",
            "http://a/commit/b/c?id=2",
        ] {
            assert!(!is_view(other), "{other}");
        }
    }

    #[test]
    fn memory_is_bounded_and_what_is_known_stays_when_the_table_grows() {
        let mut visited = VisitedUrls::default();
        let url = |n: u32| format!("http://a/{n}");
        for n in 0..100_000 {
            visited.add(&url(n));
        }
        let known = (0..100_000).filter(|n| visited.contains(&url(*n))).count();
        assert!(known > 98_000, "{known}");
        let unknown = (100_000..200_000).filter(|n| visited.contains(&url(*n)));
        assert!(unknown.count() < 100);
        assert!(visited.slots.len() <= LARGEST);
    }
}
