//! Rules as the settings hand them over. Times are microseconds.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The list, and the credentials that it may name.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleTable {
    pub list: Vec<RuleRow>,
    /// Request headers by the name of the credentials.
    pub credentials: BTreeMap<String, Vec<(String, String)>>,
}

/// A rule: where all of `conditions` hold, each effect that is given.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RuleRow {
    pub name: String,
    #[serde(rename = "match")]
    pub conditions: Conditions,
    /// The reason.
    pub drop: Option<String>,
    pub score: Option<ScoreChange>,
    pub delay: Option<u64>,
    pub per_host: Option<u8>,
    /// Pages of each host.
    pub quota: Option<u32>,
    pub follow: Option<bool>,
    pub store: Option<bool>,
    pub keep_body: Option<bool>,
    pub credentials: Option<String>,
    pub refresh: Option<u64>,
}

/// Each that is not empty must hold; of a list, one.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Conditions {
    pub host: Vec<String>,
    pub domain: Vec<String>,
    pub path_prefix: Vec<String>,
    pub glob: Vec<String>,
    pub regex: Vec<String>,
    /// `name`, or `name=value` with `*` in the value.
    pub query: Vec<String>,
    pub scheme: Vec<String>,
    /// From and to, both included.
    pub depth: Option<(u16, u16)>,
    pub kind: Vec<String>,
    pub mime: Vec<String>,
    /// From and to, both included.
    pub status: Vec<(u16, u16)>,
}

/// What becomes of a score from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ScoreChange {
    Set(f32),
    Add(f32),
}

impl ScoreChange {
    #[must_use]
    pub fn apply(self, score: f32) -> f32 {
        let changed = match self {
            ScoreChange::Set(value) => value,
            ScoreChange::Add(value) => score + value,
        };
        changed.clamp(0.0, 1.0)
    }
}
