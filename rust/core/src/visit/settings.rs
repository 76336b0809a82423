//! What an engine is told: once at its start, and what may change while it runs.

use crate::canonical::Rules;
use crate::fetch::FetchSettings;
use crate::links::FollowSettings;
use crate::links::scope::Scope;
use crate::parse::ParseSettings;
use crate::warc::Builder;

/// Settings that hold as long as the engine runs.
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

/// Settings that can be swapped while the engine runs; a visit sees one version of them.
#[derive(Clone, Debug)]
pub struct Policies {
    pub scope: Scope,
    pub follow: FollowSettings,
    pub parse: ParseSettings,
    pub builder: Builder,
    /// Write a metadata record with the outlinks of each page.
    pub outlinks_record: bool,
}
