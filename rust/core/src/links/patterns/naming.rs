//! Naming: which pattern a URL belongs to, by what is known of its host.
//!
//! Takes a URL and the page that led to it; gives its [`Pattern`], that of a view where the page that it is a view of was
//! visited. Keeps what makes two URLs of a host alike (the [`Learners`], which the store has too) and the visited URLs (in
//! memory only; what was visited before this process began is looked up in the store where it matters).

use super::doubts::Doubts;
use super::evidence::EvidenceSettings;
use super::learners::Learners;
use super::row::Counts;
use super::rows::{CountKey, stored};
use super::text::{Pattern, key_of};
use super::visited::VisitedUrls;
use super::words::words;
use crate::canonical::url_key;
use crate::links::Link;
use crate::outcome::Outcome;
use crate::store::rows::IndexRow;
use crate::store::state::{Reads, Space, StateError, Writes};

#[derive(Debug, Default)]
pub(super) struct Naming {
    learners: Learners,
    visited: VisitedUrls,
    /// Pages were visited that are not among them.
    forgets: bool,
}

impl Naming {
    /// Others than this process have visited pages.
    pub fn forget(&mut self) {
        self.forgets = true;
    }

    /// Whether the store may know more than the memory.
    pub fn forgets(&self) -> bool {
        self.forgets || self.visited.is_full()
    }

    /// The pattern of a URL, by what is known of its host.
    pub fn pattern(
        &mut self,
        link: &Link,
        doubts: &Doubts,
        settings: &EvidenceSettings,
        reads: &dyn Reads,
    ) -> Result<Pattern, StateError> {
        let learner = self.learners.get(link.url.host_key(), reads)?;
        let (url, path) = (link.url.as_str(), link.url.path_and_query());
        let pattern = Pattern::of(url, path, &link.from, learner, &settings.hints);
        self.seen_pattern(link.url.host_key(), pattern, url, doubts, reads)
    }

    /// The pattern of the page that led to a URL, if it is of the same host.
    pub fn parent_key(
        &mut self,
        link: &Link,
        doubts: &Doubts,
        settings: &EvidenceSettings,
        reads: &dyn Reads,
    ) -> Result<Option<CountKey>, StateError> {
        let Some(path) = link.from.strip_prefix(link.url.origin()) else {
            return Ok(None);
        };
        let host = link.url.host_key();
        let learner = self.learners.get(host, reads)?;
        let pattern = Pattern::of(&link.from, path, "", learner, &settings.hints);
        let pattern = self.seen_pattern(host, pattern, &link.from, doubts, reads)?;
        Ok(Some((host, pattern.key())))
    }

    /// The pattern of a URL that may be a view of a visited page.
    fn seen_pattern(
        &self,
        host: u64,
        pattern: Pattern,
        url: &str,
        doubts: &Doubts,
        reads: &dyn Reads,
    ) -> Result<Pattern, StateError> {
        let pages = pattern.pages(url);
        if pages.iter().any(|page| self.visited.contains(page)) {
            return Ok(pattern.of_visited());
        }
        if pages.is_empty() || !self.forgets() || !doubts.has_doubted(host) {
            return Ok(pattern);
        }
        // What was visited before this process began is looked up where it matters.
        let view = pattern.clone().of_visited();
        let doubted = doubts.doubted_key((host, view.key()), None, &view.text);
        Ok(if doubted.is_some() && was_visited(host, &pages, reads)? {
            view
        } else {
            pattern
        })
    }

    /// Learns from a visited URL and its pattern. `is_there`: there was a page.
    pub fn learn(
        &mut self,
        link: &Link,
        is_there: bool,
        pattern: &Pattern,
        reads: &dyn Reads,
    ) -> Result<(), StateError> {
        let host = link.url.host_key();
        if is_there {
            self.visited.add(link.url.as_str());
        }
        pattern.teach(self.learners.get(host, reads)?);
        self.learners.touch(host);
        Ok(())
    }

    /// Adds what was learnt to the batch of that number; the store has all up to `applied`.
    pub fn seal(&mut self, batch: u64, applied: u64, writes: &mut Writes) {
        self.learners.seal(batch, applied, writes);
    }

    /// What was learnt is read anew; visited URLs stay visited.
    pub fn clear(&mut self) {
        self.forgets = true;
        self.learners.clear();
    }
}

/// The pattern of a URL, the row that says where the URL belongs (of its family, itself or one of its words if that
/// is doubted, else its own), and the keys of all that it belongs to. As the store has them.
pub fn look_up(
    link: &Link,
    settings: &EvidenceSettings,
    reads: &dyn Reads,
) -> Result<(Pattern, Counts, Vec<CountKey>), StateError> {
    let host = link.url.host_key();
    let mut learners = Learners::default();
    let learner = learners.get(host, reads)?;
    let (url, path) = (link.url.as_str(), link.url.path_and_query());
    let pattern = Pattern::of(url, path, &link.from, learner, &settings.hints);
    let other = pattern.clone().of_visited();
    let pages = pattern.pages(url);
    let (pattern, other) = if was_visited(host, &pages, reads)? {
        (other, pattern)
    } else {
        (pattern, other)
    };
    let own = (host, pattern.key());
    let family = pattern
        .family
        .as_deref()
        .map(|family| (host, key_of(family)));
    let keys = |pattern: &Pattern| {
        let words = words(&pattern.text).map(|word| (host, key_of(&word)));
        [(host, pattern.key())].into_iter().chain(words).collect()
    };
    let mut own_keys: Vec<CountKey> = keys(&pattern);
    own_keys.splice(0..0, family);
    let mut decides = None;
    for key in &own_keys {
        decides = stored(*key, reads)?.filter(|row| row.doubt.is_some());
        if decides.is_some() {
            break;
        }
    }
    let row = match decides {
        Some(row) => row,
        None => stored(own, reads)?.unwrap_or_default(),
    };
    // It may have been set aside as what it was before its page was visited.
    own_keys.extend(keys(&other));
    Ok((pattern, row, own_keys))
}

/// Whether one of some pages was visited, and was there, by the store.
fn was_visited(host: u64, pages: &[String], reads: &dyn Reads) -> Result<bool, StateError> {
    for page in pages {
        let row = reads.get(Space::Index, &url_key(host, page))?;
        let outcome = row.and_then(|row| IndexRow::read(&row)?.outcome());
        if outcome.is_some_and(is_there) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether there was a page.
#[must_use]
pub fn is_there(outcome: Outcome) -> bool {
    use Outcome::{Dropped, Duplicate, Fetched, Truncated};
    matches!(outcome, Fetched | Truncated | Dropped | Duplicate)
}
