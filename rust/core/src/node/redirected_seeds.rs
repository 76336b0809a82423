//! Targets of seeds' redirects. They are seeds (DESIGN: "the target of a seed's redirect is a seed"): each
//! brings a root of its own to the scope.
//!
//! In a crawl on one machine the scope grows with the batch of the redirect. In a cluster every node must know
//! a root before links by it are found anywhere, so such a target is not queued here: it is kept, with the
//! partition of the host that redirects, until the control node has taken it for a seed.

use std::collections::BTreeMap;

use super::{Node, NodeError};
use crate::links::Link;
use crate::store::state::{Reads, Space, StateError};

/// Rows of the space `meta`: this, the key of the host that redirects, and the target.
pub(super) const PREFIX: &[u8] = b"redirected/";
const PREFIX_END: &[u8] = b"redirected0";

/// Targets that wait for the control node, by their rows: the redirects that led to them.
#[derive(Debug, Default)]
pub(super) struct RedirectedSeeds(BTreeMap<Vec<u8>, u8>);

impl RedirectedSeeds {
    pub fn open(reads: &dyn Reads) -> Result<RedirectedSeeds, StateError> {
        let mut rows = BTreeMap::new();
        reads.scan(Space::Meta, PREFIX, PREFIX_END, &mut |key, value| {
            rows.insert(key.to_vec(), value.first().copied().unwrap_or(1));
            true
        })?;
        Ok(RedirectedSeeds(rows))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Node {
    /// The links of a seed's redirect that are to be admitted here, with their roots in the scope.
    pub(super) fn with_roots(&mut self, from: u64, links: Vec<Link>) -> Vec<Link> {
        let mut scope = None;
        let mut admitted = Vec::with_capacity(links.len());
        for link in links {
            if !link.seed || self.pool.policies().scope.judge(&link).is_ok() {
                admitted.push(link);
            } else if self.exchange.is_some() {
                let key = [PREFIX, &from.to_be_bytes(), link.url.as_str().as_bytes()].concat();
                let writes = &mut self.open.writes;
                writes.put(Space::Meta, key.clone(), vec![link.hops]);
                self.redirected_seeds.0.insert(key, link.hops);
            } else {
                let scope = scope.get_or_insert_with(|| self.scope());
                self.keep_root(scope, &link.url);
                if self.settings.frontier.ascend {
                    admitted.extend(self.with_folders(vec![link], scope));
                } else {
                    admitted.push(link);
                }
            }
        }
        if let Some(scope) = scope {
            self.set_scope(scope);
        }
        admitted
    }

    /// Targets of seeds' redirects that wait to be made seeds, with the redirects that led to them.
    #[must_use]
    pub fn redirected_seeds(&self) -> Vec<(String, u8)> {
        let rows = self.redirected_seeds.0.iter();
        rows.map(|(key, hops)| (url_of(key), *hops)).collect()
    }

    /// These are seeds now, or were refused: they wait no longer.
    pub fn seeds_taken(&mut self, urls: &[String]) -> Result<(), NodeError> {
        let writes = &mut self.open.writes;
        self.redirected_seeds.0.retain(|key, _| {
            let taken = urls.contains(&url_of(key));
            if taken {
                writes.remove(Space::Meta, key.clone());
            }
            !taken
        });
        self.commit_open()
    }
}

fn url_of(row: &[u8]) -> String {
    let url = row.get(PREFIX.len() + 8..).unwrap_or_default();
    String::from_utf8_lossy(url).into_owned()
}
