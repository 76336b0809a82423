//! Beginnings, globs and regular expressions: many at once, in one pass over the text.

use std::collections::BTreeMap;

use regex::{RegexBuilder, RegexSet, RegexSetBuilder};

use super::bits::Bits;

/// Bytes of one compiled expression, and of all of a list together.
const SIZE: usize = 10 << 20;
const SIZE_OF_ALL: usize = 32 << 20;
/// Bytes that matching may use per thread to be fast.
const FAST: usize = 4 << 20;

/// Expressions and the rule of each.
#[derive(Clone, Debug)]
pub(crate) struct Patterns {
    set: RegexSet,
    rules: Vec<u16>,
}

impl Patterns {
    /// Compiles expressions, each with its rule; `None` where there are none. What is wrong is
    /// told with the number of the expression, or with none if all together are too large.
    pub fn new(list: &[(String, u16)]) -> Result<Option<Patterns>, (Option<usize>, String)> {
        if list.is_empty() {
            return Ok(None);
        }
        for (number, (text, _)) in list.iter().enumerate() {
            let one = RegexBuilder::new(text).size_limit(SIZE).build();
            one.map_err(|error| (Some(number), error.to_string()))?;
        }
        let texts = list.iter().map(|(text, _)| text);
        let set = RegexSetBuilder::new(texts)
            .size_limit(SIZE_OF_ALL)
            .dfa_size_limit(FAST)
            .build()
            .map_err(|error| (None, error.to_string()))?;
        let rules = list.iter().map(|(_, rule)| *rule).collect();
        Ok(Some(Patterns { set, rules }))
    }

    pub fn is_match(&self, text: &str) -> bool {
        self.set.is_match(text)
    }

    pub fn find(&self, text: &str, found: &mut Bits) {
        for number in &self.set.matches(text) {
            if let Some(rule) = self.rules.get(number) {
                found.add(usize::from(*rule));
            }
        }
    }
}

/// Beginnings of a text. A look-up is a binary search and a walk along the beginnings of
/// beginnings.
#[derive(Clone, Debug, Default)]
pub(super) struct Prefixes(Vec<Prefix>);

#[derive(Clone, Debug)]
struct Prefix {
    text: Box<str>,
    /// Its rules and those of the shorter beginnings of it.
    rules: Bits,
    /// The longest of these.
    shorter: Option<usize>,
}

impl Prefixes {
    pub fn new(list: &[(String, u16)]) -> Prefixes {
        let mut sorted: BTreeMap<&str, Bits> = BTreeMap::new();
        for (text, rule) in list {
            let bits = sorted.entry(text).or_insert(Bits::NONE);
            bits.add(usize::from(*rule));
        }
        let mut all: Vec<Prefix> = Vec::with_capacity(sorted.len());
        for (text, mut rules) in sorted {
            let shorter = longest_of(&all, text, all.len().checked_sub(1));
            if let Some(other) = shorter.and_then(|at| all.get(at)) {
                rules.join(&other.rules);
            }
            all.push(Prefix {
                text: text.into(),
                rules,
                shorter,
            });
        }
        Prefixes(all)
    }

    pub fn find(&self, text: &str, found: &mut Bits) {
        let after = self.0.partition_point(|prefix| *prefix.text <= *text);
        let at = longest_of(&self.0, text, after.checked_sub(1));
        if let Some(prefix) = at.and_then(|at| self.0.get(at)) {
            found.join(&prefix.rules);
        }
    }
}

/// The longest beginning of `text`, where `at` is the last one that sorts before it: all its
/// beginnings are beginnings of that one too.
fn longest_of(all: &[Prefix], text: &str, mut at: Option<usize>) -> Option<usize> {
    while let Some(prefix) = all.get(at?) {
        if text.starts_with(&*prefix.text) {
            return at;
        }
        at = prefix.shorter;
    }
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::super::spelling::{Place, of_glob};
    use super::*;

    #[test]
    fn a_glob_matches_the_whole_text() {
        let list = ["/a*.html?p=*", "/b", "*print*"];
        let list: Vec<_> = (0..)
            .zip(list)
            .map(|(n, glob)| (of_glob(glob, Place::Path).unwrap(), n))
            .collect();
        let patterns = Patterns::new(&list).unwrap().unwrap();
        let found = |text: &str| {
            let mut bits = Bits::NONE;
            patterns.find(text, &mut bits);
            bits.numbers().collect::<Vec<_>>()
        };
        assert_eq!(found("/a/b/c.html?p=1"), [0]);
        assert!(found("/a/b/c.html").is_empty());
        assert_eq!(found("/b"), [1]);
        assert!(found("/bb").is_empty());
        assert_eq!(found("/a.html?p=print"), [0, 2]);
    }

    #[test]
    fn what_is_wrong_or_too_large_is_named() {
        let list = |text: &str| [("a".to_owned(), 0), (text.to_owned(), 1)];
        assert_eq!(Patterns::new(&list("(")).unwrap_err().0, Some(1));
        let wide = list(r"\w{500}\w{500}\w{500}");
        assert_eq!(Patterns::new(&wide).unwrap_err().0, Some(1));
    }

    proptest! {
        #[test]
        fn prefixes_are_found_as_by_trying_each(
            list in prop::collection::vec("/[ab]{0,4}", 0..20), text in "/[abc]{0,8}",
        ) {
            let list: Vec<(String, u16)> = list.into_iter().zip(0..).collect();
            let mut found = Bits::NONE;
            Prefixes::new(&list).find(&text, &mut found);
            let mut expected = Bits::NONE;
            for (prefix, rule) in &list {
                if text.starts_with(prefix) {
                    expected.add(usize::from(*rule));
                }
            }
            prop_assert_eq!(found, expected);
        }
    }
}
