//! Seeds: links without a parent, through the same door as every link.

use std::collections::BTreeMap;

use super::rules::facts_of;
use super::{Node, NodeError, NodeSettings};
use crate::canonical::{Rules, Url, canonical, partition};
use crate::exchange::encode;
use crate::links::Link;
use crate::links::rules::RuleSet;
use crate::links::scope::Scope;
use crate::store::state::{Reads, Space, StateError};

/// Roots of the scope are kept under this prefix in the space `meta`.
const ROOT: &[u8] = b"root/";
const ROOT_END: &[u8] = b"root0";

/// Seeds in one message at most.
const MESSAGE: usize = 1_000;

impl Node {
    /// Takes seeds; gives for each `None`, or why it was refused. They are safe when this returns.
    pub fn add_seeds(&mut self, urls: &[String]) -> Result<Vec<Option<String>>, NodeError> {
        let mut scope = self.scope();
        let declared = self.rule_set();
        let mut reasons = Vec::with_capacity(urls.len());
        let mut links = Vec::new();
        for raw in urls {
            match accepted(raw, &self.rules, &scope, declared.as_deref()) {
                Ok(link) => {
                    self.keep_root(&mut scope, &link.url);
                    links.push(link);
                    reasons.push(None);
                }
                Err(reason) => reasons.push(Some(reason)),
            }
        }
        if self.settings.frontier.ascend {
            links = self.with_folders(links, &scope);
        }
        self.set_scope(scope);
        self.admit(links)?;
        self.commit_open()?;
        Ok(reasons)
    }

    /// Takes the seeds that bound the scope; the URLs themselves come from elsewhere.
    pub fn set_roots(&mut self, urls: &[String]) -> Result<(), NodeError> {
        let mut scope = self.scope();
        for raw in urls {
            if let Ok(url) = canonical(raw, None, &self.rules) {
                self.keep_root(&mut scope, &url);
            }
        }
        self.set_scope(scope);
        self.commit_open()
    }

    /// Widens the scope by a seed, for later processes too. A root that is known is written again:
    /// whether it is in the store is not known here.
    pub(super) fn keep_root(&mut self, scope: &mut Scope, seed: &Url) {
        if let Some(root) = scope.add_seed(seed) {
            let key = [ROOT, root.as_bytes()].concat();
            self.open.writes.put(Space::Meta, key, Vec::new());
        }
    }

    /// Sends the open batch and waits until it is safe. No room on the disk is an error here: the
    /// caller cannot look at progress meanwhile.
    pub(super) fn commit_open(&mut self) -> Result<(), NodeError> {
        while !self.open_is_empty() || !self.committer.is_idle() {
            self.send_batch(true)?;
            if self.questions.blocks {
                self.doors.wait(std::time::Duration::from_millis(100));
                self.note_commits()?;
                continue;
            }
            if self.committer.disk_full() || self.seen_waits {
                let text = "no room left on the disk".to_owned();
                return Err(StateError::DiskFull(text).into());
            }
            self.committer.wait(std::time::Duration::from_millis(100));
            self.note_commits()?;
        }
        Ok(())
    }
}

/// A seed as a link, or why it is refused. A seed that is refused changes nothing.
fn accepted(
    raw: &str,
    rules: &Rules,
    scope: &Scope,
    declared: Option<&RuleSet>,
) -> Result<Link, String> {
    let url = canonical(raw, None, rules).map_err(|refusal| refusal.to_string())?;
    scope
        .check_seed(&url)
        .map_err(|rule| format!("out of scope: {}", rule.as_str()))?;
    let link = Link::seed(url);
    match declared.and_then(|set| set.dropped(&facts_of(&link))) {
        Some(drop) => Err(drop.words()),
        None => Ok(link),
    }
}

/// Messages by partition, and for each seed why it was refused.
pub type PackedSeeds = (Vec<(u32, Vec<u8>)>, Vec<Option<String>>);

/// Packs seeds into messages for the owners of their hosts; gives for each seed `None`, or why it
/// was refused.
/// `hops`: the redirects that led to them.
pub fn pack_seeds(
    settings: &NodeSettings,
    urls: &[String],
    hops: u8,
) -> Result<PackedSeeds, NodeError> {
    let rules = settings.rules();
    let policies = settings.policies(&[])?;
    let mut reasons = Vec::with_capacity(urls.len());
    let mut links: BTreeMap<u32, Vec<Link>> = BTreeMap::new();
    for raw in urls {
        match accepted(raw, &rules, &policies.scope, policies.rules.as_deref()) {
            Ok(link) => {
                let to = partition(link.url.host_key(), settings.partitions);
                links.entry(to).or_default().push(Link { hops, ..link });
                reasons.push(None);
            }
            Err(reason) => reasons.push(Some(reason)),
        }
    }
    let mut messages = Vec::new();
    for (to, links) in &links {
        let pieces = links.chunks(MESSAGE);
        messages.extend(pieces.map(|piece| (*to, encode(piece.iter()))));
    }
    Ok((messages, reasons))
}

/// The roots that seeds have added to the scope so far.
pub(super) fn stored_roots(reads: &dyn Reads) -> Result<Vec<String>, StateError> {
    let mut roots = Vec::new();
    reads.scan(Space::Meta, ROOT, ROOT_END, &mut |key, _| {
        let text = key.get(ROOT.len()..).unwrap_or_default();
        roots.push(String::from_utf8_lossy(text).into_owned());
        true
    })?;
    Ok(roots)
}
