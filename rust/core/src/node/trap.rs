//! Traps: URLs of endless families, told by their shape alone.
//!
//! A path that repeats itself is the mark of a relative link that grows (`/a/b/a/b/a/b`). Session
//! ids are removed by `canonical`; families that no shape tells are bounded by depth and quotas.

use crate::canonical::Url;

/// More path segments than any site that people write.
const MOST_SEGMENTS: usize = 24;

/// A segment, or a run of two or three, that stands so often in a row.
const MOST_REPEATS: usize = 3;

/// More query parameters than a link that people write.
const MOST_PARAMETERS: usize = 16;

/// Whether the URL looks like one of an endless family.
pub(super) fn suspected(url: &Url) -> bool {
    let (path, query) = url
        .path_and_query()
        .split_once('?')
        .unwrap_or((url.path_and_query(), ""));
    let mut segments = [""; MOST_SEGMENTS];
    let mut count = 0;
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        if count == MOST_SEGMENTS {
            return true;
        }
        segments[count] = segment;
        count += 1;
    }
    (1..=3).any(|run| repeats(&segments[..count], run))
        || (!query.is_empty() && query.split('&').count() > MOST_PARAMETERS)
}

/// Whether a run of that length stands more than [`MOST_REPEATS`] times in a row.
fn repeats(segments: &[&str], run: usize) -> bool {
    let mut same = 0;
    for at in run..segments.len() {
        same = if segments[at] == segments[at - run] {
            same + 1
        } else {
            0
        };
        if same >= run * MOST_REPEATS {
            return true;
        }
    }
    false
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::canonical::Grouping;

    fn judged(path: &str) -> bool {
        let text = format!("http://a.example{path}");
        suspected(&Url::from_canonical(text, Grouping::Host).unwrap())
    }

    #[test]
    fn growing_paths_are_suspected_and_ordinary_ones_are_not() {
        assert!(judged("/a/a/a/a/"));
        assert!(judged("/x/a/b/a/b/a/b/a/b"));
        assert!(judged(&"/s".repeat(40)));
        assert!(!judged("/2026/11/15/11/title.html"));
        assert!(!judged("/a/b/c/d/e/f/g?x=1&y=2"));
        assert!(!judged("/1/1/2"));
        assert!(!judged("/"));
    }
}
