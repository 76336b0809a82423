//! URL patterns: a URL without what varies from page to page.
//!
//! `/shop/item-1234/9f8e7d6c5b4a?page=3&sort=up` is of the pattern `/shop/item-{n}/{hash}?page&sort`:
//! numbers, hashes and long tokens are generalised, of a query only the names are kept, sorted.

// These numbers judge nothing: they only say which URLs are counted in one row. A policy sees the row with its
// counts and decides; another grouping would need another row format, so they are no settings.

/// Bytes of a pattern, and segments and parameters that it has at most: bounds of a row's size.
const LONGEST: usize = 200;
const SEGMENTS: usize = 12;
const PARAMETERS: usize = 12;

/// A segment that is longer is taken for a token: titles in URLs are shorter, or vary as much.
const LONG_SEGMENT: usize = 40;
/// Hexadecimal digits from which a segment is taken for a hash: the shortest in use is a CRC-32.
const HASH: usize = 8;

/// The pattern of a path and query.
#[must_use]
pub fn pattern(path_and_query: &str) -> String {
    let (path, query) = path_and_query
        .split_once('?')
        .unwrap_or((path_and_query, ""));
    let mut out = String::with_capacity(path_and_query.len().min(LONGEST));
    let mut segments = path.split('/').filter(|segment| !segment.is_empty());
    for segment in segments.by_ref().take(SEGMENTS) {
        out.push('/');
        generalise(segment, &mut out);
    }
    if segments.next().is_some() {
        out.push_str("/…");
    } else if path.ends_with('/') || out.is_empty() {
        out.push('/');
    }
    let mut names: Vec<&str> = query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split('=').next().unwrap_or_default())
        .collect();
    names.sort_unstable();
    names.dedup();
    for (at, name) in names.iter().take(PARAMETERS).enumerate() {
        out.push(if at == 0 { '?' } else { '&' });
        generalise(name, &mut out);
    }
    if out.len() > LONGEST {
        let end = crate::links::cut(&out, LONGEST).len();
        out.truncate(end);
    }
    out
}

fn generalise(text: &str, out: &mut String) {
    let hex = text
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    if text.len() > LONG_SEGMENT {
        out.push_str("{long}");
    } else if hex && digits > 0 && digits < text.len() && text.len() >= HASH {
        out.push_str("{hash}");
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_varies_is_generalised() {
        for (url, expected) in [
            ("/", "/"),
            ("/a/b.html", "/a/b.html"),
            (
                "/shop/item-1234/9f8e7d6c5b4a?page=3&sort=up",
                "/shop/item-{n}/{hash}?page&sort",
            ),
            ("/calendar/2061/12/8/", "/calendar/{n}/{n}/{n}/"),
            ("/x?sort=up&page=1&page=2", "/x?page&sort"),
            ("/facade/deadbeef", "/facade/deadbeef"),
            ("/u/2f1c-44d0-9a", "/u/{hash}"),
        ] {
            assert_eq!(pattern(url), expected, "{url}");
        }
        let token = "x".repeat(50);
        assert_eq!(pattern(&format!("/t/{token}")), "/t/{long}");
        assert_eq!(
            pattern(&"/a".repeat(40)),
            format!("{}/…", "/a".repeat(SEGMENTS))
        );
    }

    proptest! {
        #[test]
        fn patterns_are_bounded_and_stay_what_they_are(path in "/[a-z0-9/é?&=-]{0,300}") {
            let once = pattern(&path);
            prop_assert!(once.len() <= LONGEST);
            prop_assert!(once.starts_with('/'));
        }
    }
}
