//! What a pool is told: once at its start, and what may change while it runs.

use std::sync::Arc;

use crate::canonical::Rules;
use crate::fetch::FetchSettings;
use crate::links::FollowSettings;
use crate::links::rules::RuleSet;
use crate::links::scope::Scope;
use crate::parse::ParseSettings;
use crate::store::warc::Builder;

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
    pub parse: ParseSettings,
    pub builder: Builder,
    /// Write a metadata record with the outlinks of each page.
    pub outlinks_record: bool,
    pub page: PageColumns,
}

/// What policies ask to know of a page beyond what every page brings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageColumns {
    /// The decoded body.
    pub body: bool,
    /// The address of the link of relation `canonical`.
    pub canonical: bool,
}
