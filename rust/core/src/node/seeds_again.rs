//! Seeds that are given again after they could not be had. `seen` passes a URL once; a seed that brought
//! nothing is let in again, because somebody who names it anew has mended what was wrong: a setting, a network,
//! a site that was down.

use std::collections::HashMap;

use super::{Node, NodeError};
use crate::frontier::{QueueLook, find_queued};
use crate::links::Link;
use crate::outcome::Outcome;
use crate::store::rows::IndexRow;
use crate::store::state::{Reads, Space};

/// A host's queue is looked through up to here; in a longer one the seed's host is no lost one.
const LOOKED_THROUGH: u64 = 10_000;

/// URLs let in again, in batches that are not applied yet: the store does not show them queued.
#[derive(Debug, Default)]
pub(super) struct SeedsAgain {
    recent: HashMap<[u8; 16], u64>,
}

impl SeedsAgain {
    /// The batches up to this number are applied.
    pub fn applied(&mut self, batch: u64) {
        self.recent.retain(|_, of| *of > batch);
    }
}

/// Whether a seed with this outcome brought nothing.
pub(super) fn brought_nothing(outcome: Outcome) -> bool {
    !matches!(
        outcome,
        Outcome::Fetched
            | Outcome::NotModified
            | Outcome::Redirected
            | Outcome::Duplicate
            | Outcome::Truncated
            | Outcome::Dropped
            | Outcome::Deferred
            | Outcome::SetAside
    )
}

impl Node {
    /// Lets seeds that `seen` knows in again if they brought nothing and do not wait for a try anyway. A host of
    /// which nothing is queued gets another chance with them, but for a wait that it asked for itself.
    pub(super) fn let_seeds_back(
        &mut self,
        links: &[Link],
        fresh: &mut [bool],
    ) -> Result<(), NodeError> {
        for (link, fresh) in links.iter().zip(fresh) {
            if *fresh || !link.seed || link.sitemap || !self.is_lost_seed(link)? {
                continue;
            }
            let (key, now) = (link.url.host_key(), self.clock.now());
            self.frontier.let_back(key, now, &*self.state)?;
            let batch = self.committer.next_number();
            self.seeds_again.recent.insert(link.url.key(), batch);
            *fresh = true;
        }
        Ok(())
    }

    fn is_lost_seed(&self, link: &Link) -> Result<bool, NodeError> {
        let key = link.url.key();
        if self.seeds_again.recent.contains_key(&key) {
            return Ok(false);
        }
        let row = self.state.get(Space::Index, &key)?;
        let row = row.as_deref().and_then(IndexRow::read);
        let outcome = row.and_then(|row| row.outcome());
        if !outcome.is_some_and(brought_nothing) {
            return Ok(false);
        }
        let queued = find_queued(&link.url, LOOKED_THROUGH, &*self.state)?;
        Ok(queued == QueueLook::NotQueued)
    }
}
