//! Duplicates: whether the content of a page is stored under another URL already.

use super::{Node, NodeError};
use crate::links::Reason;
use crate::node::pool::{Visited, revisit_records};
use crate::outcome::Outcome;
use crate::store::Original;
use crate::store::rows;
use crate::store::state::{Reads, Space};
use crate::store::warc::Digest;

impl Node {
    /// Whether the content is stored under another URL already: then it is a duplicate, and its
    /// record refers to the first.
    pub(super) fn find_duplicate(&mut self, visited: &mut Visited) -> Result<(), NodeError> {
        let (Some(content), Some(payload)) = (visited.content, visited.payload) else {
            return Ok(());
        };
        if visited.outcome != Outcome::Fetched {
            return Ok(());
        }
        let stored = self.stored_content(&content)?;
        let elsewhere = |original: &Original| original.url != visited.task.url.as_str();
        if let Some(original) = stored.filter(elsewhere) {
            if !self.settings.duplicates.follow_links {
                let links = visited.links.followed.drain(..).count();
                let links = u32::try_from(links).unwrap_or(u32::MAX);
                visited.links.left_out.add(Reason::Copy, links);
            }
            if original.payload == payload && visited.terms.stored().is_none() {
                let policies = self.pool.policies();
                visited.members = revisit_records(visited, &original, payload, &policies);
            }
            visited.original = Some(original);
            visited.outcome = Outcome::Duplicate;
            return Ok(());
        }
        // What is not in the files cannot be referred to.
        if visited.terms.stored().is_some() {
            return Ok(());
        }
        let original = Original {
            url: visited.task.url.as_str().to_owned(),
            date: visited.started,
            payload,
        };
        let row = rows::write_content(&original);
        self.open
            .writes
            .put(Space::Content, rows::content_key(&content), row);
        self.fresh_content
            .insert(content, (self.committer.next_number(), original));
        Ok(())
    }

    /// The page that has this content already, under another URL.
    pub(super) fn stored_elsewhere(
        &self,
        visited: &Visited,
    ) -> Result<Option<Original>, NodeError> {
        let Some(content) = visited
            .content
            .filter(|_| visited.outcome == Outcome::Fetched)
        else {
            return Ok(None);
        };
        let stored = self.stored_content(&content)?;
        Ok(stored.filter(|original| original.url != visited.task.url.as_str()))
    }

    /// The first page with this content, in a batch under way or in one that is applied.
    fn stored_content(&self, content: &Digest) -> Result<Option<Original>, NodeError> {
        if let Some((_, original)) = self.fresh_content.get(content) {
            return Ok(Some(original.clone()));
        }
        let row = self.state.get(Space::Content, rows::content_key(content))?;
        Ok(row.as_deref().and_then(rows::read_content))
    }
}
