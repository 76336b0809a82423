//! Rules: an ordered list of declarations, match → effect, compiled once.
//!
//! Takes what is known of a URL, a host or a page; gives what the rules decide for it. For each effect
//! the first rule that matches and has it decides; the others are not asked. Guarantees:
//!
//! * One pass whatever the number of rules (at most [`MOST_RULES`]): names by hash, beginnings by
//!   binary search, expressions in one automaton, and sets of rules as bits.
//! * An effect is decided where all that its rule asks for is known. A rule that asks for more is
//!   refused when the list is compiled, with its name and the field.
//! * Bounded: entries of a list ([`MOST_ENTRIES`]), the length and size of expressions.
//! * No rules cost nothing: there is no [`RuleSet`] then.
//!
//! | stage | decided | may ask for |
//! |---|---|---|
//! | link | drop, score | everything but MIME type and status |
//! | host | delay, per_host, quota | host, domain |
//! | request | credentials | everything but kind, MIME type and status; a host or domain it must |
//! | page | follow, store, keep_body, refresh | everything but kind |

pub(crate) mod bits;
mod check;
mod explain;
mod facts;
pub(crate) mod hosts;
mod names;
pub(crate) mod patterns;
mod set;
mod settings;
mod spelling;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use xxhash_rust::xxh3::Xxh3;

use crate::canonical::Url;

pub use bits::MOST_RULES;
pub use check::MOST_ENTRIES;
pub use explain::Decision;
pub use facts::Facts;
pub use settings::{Conditions, RuleRow, RuleTable, ScoreChange};

use set::Set;

/// Request headers that stand for a user.
pub type Headers = Arc<[(String, String)]>;

/// The compiled list.
#[derive(Debug)]
pub struct RuleSet {
    rules: Vec<RuleRow>,
    credentials: BTreeMap<String, Headers>,
    link: Option<Set>,
    host: Option<Set>,
    request: Option<Set>,
    page: Option<Set>,
}

/// What is wrong with a list.
#[derive(Debug)]
struct Wrong {
    /// The number of the rule; `None`: of the list.
    rule: Option<usize>,
    field: &'static str,
    text: String,
}

/// A rule that drops a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drop<'a> {
    pub rule: &'a str,
    pub reason: &'a str,
}

impl Drop<'_> {
    /// The rule and its reason, for people.
    #[must_use]
    pub fn words(&self) -> String {
        format!("rule '{}' drops it: {}", self.rule, self.reason)
    }

    /// Tells this drop from those of other rules and reasons.
    #[must_use]
    pub fn mark(&self) -> u64 {
        let mut sum = Xxh3::new();
        sum.update(self.rule.as_bytes());
        sum.update(&[0]);
        sum.update(self.reason.as_bytes());
        sum.digest()
    }
}

/// What rules decide for a link.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkTerms<'a> {
    pub drop: Option<Drop<'a>>,
    pub score: Option<ScoreChange>,
}

/// What rules decide for a host; times in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostTerms {
    pub delay: Option<u64>,
    pub per_host: Option<u8>,
    pub quota: Option<u32>,
}

/// What rules decide for a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageTerms {
    pub follow: bool,
    pub store: bool,
    pub keep_body: bool,
}

impl PageTerms {
    /// What is kept of the answer, where that is less than all of it, as the log spells it.
    #[must_use]
    pub fn stored(&self) -> Option<&'static str> {
        match (self.store, self.keep_body) {
            (false, _) => Some("no"),
            (true, false) => Some("head"),
            (true, true) => None,
        }
    }
}

impl Default for PageTerms {
    fn default() -> PageTerms {
        PageTerms {
            follow: true,
            store: true,
            keep_body: true,
        }
    }
}

impl RuleSet {
    /// Compiles a list; `None` for an empty one. The error names the rule and the field.
    pub fn compile(table: &RuleTable) -> Result<Option<Arc<RuleSet>>, String> {
        if table.list.is_empty() {
            return Ok(None);
        }
        let compiled = check::check(table).and_then(|()| compile(table));
        compiled.map(|set| Some(Arc::new(set))).map_err(|wrong| {
            let rule = wrong.rule.and_then(|at| table.list.get(at));
            match rule {
                Some(rule) => format!("rule '{}': {}: {}", rule.name, wrong.field, wrong.text),
                None => format!("rules: {}: {}", wrong.field, wrong.text),
            }
        })
    }

    /// What is decided when a link is taken in.
    #[must_use]
    pub fn link(&self, facts: &Facts<'_>) -> LinkTerms<'_> {
        let Some(set) = &self.link else {
            return LinkTerms::default();
        };
        let mut terms = LinkTerms::default();
        for rule in self.matching(set, facts) {
            if let (None, Some(reason)) = (terms.drop, &rule.drop) {
                terms.drop = Some(Drop {
                    rule: &rule.name,
                    reason,
                });
            }
            terms.score = terms.score.or(rule.score);
        }
        terms
    }

    /// The rule that drops a link, if one does.
    #[must_use]
    pub fn dropped(&self, facts: &Facts<'_>) -> Option<Drop<'_>> {
        self.link(facts).drop
    }

    /// Whether any rule asks how a link was found.
    #[must_use]
    pub fn asks_for_kind(&self) -> bool {
        self.rules
            .iter()
            .any(|rule| !rule.conditions.kind.is_empty())
    }

    /// What is decided for a host, by its name with its port.
    #[must_use]
    pub fn host(&self, host: &str) -> HostTerms {
        let mut terms = HostTerms::default();
        let Some(set) = &self.host else {
            return terms;
        };
        for rule in self.matching(set, &Facts::of_host(host)) {
            terms.delay = terms.delay.or(rule.delay);
            terms.per_host = terms.per_host.or(rule.per_host);
            terms.quota = terms.quota.or(rule.quota);
        }
        terms
    }

    /// Whether any rule decides something for hosts.
    #[must_use]
    pub fn has_host_terms(&self) -> bool {
        self.host.is_some()
    }

    /// The headers that a request is made with.
    #[must_use]
    pub fn credentials(&self, facts: &Facts<'_>) -> Option<&Headers> {
        let set = self.request.as_ref()?;
        let rule = self.matching(set, facts).next()?;
        self.credentials.get(rule.credentials.as_deref()?)
    }

    /// What is decided when a page was answered.
    #[must_use]
    pub fn page(&self, facts: &Facts<'_>) -> PageTerms {
        let (mut follow, mut store, mut keep_body) = (None, None, None);
        if let Some(set) = &self.page {
            for rule in self.matching(set, facts) {
                follow = follow.or(rule.follow);
                store = store.or(rule.store);
                keep_body = keep_body.or(rule.keep_body);
            }
        }
        PageTerms {
            follow: follow.unwrap_or(true),
            store: store.unwrap_or(true),
            keep_body: keep_body.unwrap_or(true),
        }
    }

    /// Whether some rule says when pages are to be visited again.
    #[must_use]
    pub fn refreshes(&self) -> bool {
        self.rules.iter().any(|rule| rule.refresh.is_some())
    }

    /// After which time a page is to be visited again, if a rule says so.
    #[must_use]
    pub fn refresh_interval(
        &self,
        url: &Url,
        depth: u16,
        mime: Option<&str>,
        status: u16,
    ) -> Option<Duration> {
        let set = self.page.as_ref()?;
        let facts = Facts::of(url).at_depth(depth).answered(mime, status);
        let interval = self.matching(set, &facts).find_map(|rule| rule.refresh);
        interval.map(Duration::from_micros)
    }

    fn matching<'a>(
        &'a self,
        set: &'a Set,
        facts: &Facts<'_>,
    ) -> impl Iterator<Item = &'a RuleRow> + use<'a> {
        let numbers = set.find(facts, false).numbers();
        numbers.filter_map(|at| self.rules.get(*set.rules.get(at)?))
    }
}

fn compile(table: &RuleTable) -> Result<RuleSet, Wrong> {
    let rules = table.list.clone();
    let conditions: Vec<&Conditions> = rules.iter().map(|rule| &rule.conditions).collect();
    let stage = |has: fn(&RuleRow) -> bool| {
        let with = rules.iter().enumerate().filter(|(_, rule)| has(rule));
        Set::new(with.map(|(at, _)| at).collect(), &conditions)
    };
    let credentials = table.credentials.iter();
    let credentials = credentials.map(|(name, list)| (name.clone(), list.clone().into()));
    Ok(RuleSet {
        credentials: credentials.collect(),
        link: stage(|rule| rule.drop.is_some() || rule.score.is_some())?,
        host: stage(|rule| {
            rule.delay.is_some() || rule.per_host.is_some() || rule.quota.is_some()
        })?,
        request: stage(|rule| rule.credentials.is_some())?,
        page: stage(|rule| {
            rule.follow.is_some()
                || rule.store.is_some()
                || rule.keep_body.is_some()
                || rule.refresh.is_some()
        })?,
        rules,
    })
}
