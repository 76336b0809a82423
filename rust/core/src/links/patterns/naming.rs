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
use super::visited::{VisitedUrls, pages_of};
use super::words::words;
use crate::canonical::url_key;
use crate::links::Link;
use crate::store::state::{Reads, Space, StateError, Writes};

#[derive(Debug, Default)]
pub(super) struct Naming {
    learners: Learners,
    visited: VisitedUrls,
}

impl Naming {
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
        if pattern.bases().is_empty() {
            return Ok(pattern);
        }
        let pages = pages_of(url);
        let is_visited = pages.iter().any(|page| self.visited.contains(page));
        let view = pattern.clone().of_visited();
        // What was visited before this process began is looked up where it matters.
        let is_view = is_visited || {
            let is_doubted = doubts.doubted_key((host, view.key()), None, &view.text);
            is_doubted.is_some() && was_visited(host, &pages, reads)?
        };
        Ok(if is_view { view } else { pattern })
    }

    /// Learns from a visited URL and its pattern.
    pub fn learn(
        &mut self,
        link: &Link,
        pattern: &Pattern,
        reads: &dyn Reads,
    ) -> Result<(), StateError> {
        let host = link.url.host_key();
        self.visited.add(link.url.as_str());
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
        self.learners.clear();
    }
}

/// The pattern of a URL, and the row that says where the URL belongs: of its family, itself or one of its words if that
/// is doubted, else its own. As the store has them.
pub fn look_up(
    link: &Link,
    settings: &EvidenceSettings,
    reads: &dyn Reads,
) -> Result<(Pattern, CountKey, Counts), StateError> {
    let host = link.url.host_key();
    let mut learners = Learners::default();
    let learner = learners.get(host, reads)?;
    let (url, path) = (link.url.as_str(), link.url.path_and_query());
    let pattern = Pattern::of(url, path, &link.from, learner, &settings.hints);
    let own = (host, pattern.key());
    let family = pattern
        .family
        .as_deref()
        .map(|family| (host, key_of(family)));
    let view = pattern.clone().of_visited();
    let views = (!pattern.bases().is_empty()).then_some(view);
    let texts = || views.iter().chain([&pattern]);
    let patterns = texts().map(Pattern::key);
    let words = texts().flat_map(|text| words(&text.text));
    let words = words.map(|word| key_of(&word));
    let rows = patterns.chain(words).map(|key| (host, key));
    let keys: Vec<CountKey> = family.into_iter().chain(rows).collect();
    for key in keys {
        if let Some(row) = stored(key, reads)?.filter(|row| row.doubt.is_some()) {
            return Ok((pattern, key, row));
        }
    }
    let row = stored(own, reads)?.unwrap_or_default();
    Ok((pattern, own, row))
}

/// Whether the store knows what became of one of some pages.
fn was_visited(host: u64, pages: &[String], reads: &dyn Reads) -> Result<bool, StateError> {
    for page in pages {
        if reads.get(Space::Index, &url_key(host, page))?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}
