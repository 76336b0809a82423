//! What a pool is told: once at its start, and what may change while it runs.

use std::sync::Arc;

use crate::canonical::Rules;
use crate::fetch::FetchSettings;
use crate::links::FollowSettings;
use crate::links::rules::RuleSet;
use crate::links::scope::Scope;
use crate::parse::ParseSettings;
use crate::store::warc::Builder;
use serde::Deserialize;

/// Settings that hold as long as the pool runs.
#[derive(Clone, Debug)]
pub struct VisitSettings {
    pub fetch: FetchSettings,
    pub rules: Rules,
    /// Threads that fetch and parse; 0: one per core.
    pub threads: usize,
    /// Visits under way at most; 0: adapts by itself.
    pub concurrency: usize,
    /// Make WARC records.
    pub warc: bool,
}

/// Settings that can be swapped while the pool runs; a visit sees one version of them.
#[derive(Clone, Debug)]
pub struct Policies {
    pub scope: Scope,
    /// `None`: there are none.
    pub rules: Option<Arc<RuleSet>>,
    pub follow: FollowSettings,
    /// Media types of pages that are kept; empty: all.
    pub keep_types: Vec<String>,
    /// Media types of pages whose links are followed.
    pub follow_types: Vec<String>,
    /// Redirects from a seed whose targets are seeds too.
    pub seed_redirects: u8,
    pub parse: ParseSettings,
    pub builder: Builder,
    /// Write a metadata record with the outlinks of each page.
    pub outlinks_record: bool,
    pub noarchive: Noarchive,
    pub page: PageColumns,
}

/// What is stored of a page that says `noarchive`; see `policy/pages/noarchive.py`.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Noarchive {
    #[default]
    Page,
    Head,
    Nothing,
}

/// What policies ask to know of a page beyond what every page brings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageColumns {
    /// The decoded body.
    pub body: bool,
}
