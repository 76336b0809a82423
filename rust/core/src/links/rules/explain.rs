//! Which rule decides what, for `why`.

use super::RuleSet;
use super::facts::Facts;
use super::settings::{RuleRow, ScoreChange};

/// An effect and the rule that decides it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision<'a> {
    pub effect: &'static str,
    pub rule: &'a str,
    /// What is decided, in words; never a secret.
    pub value: String,
    /// Facts that are not known here and that the rule asks for: it decides if they are as it wants.
    pub depends_on: Vec<&'static str>,
}

type Effect = (&'static str, fn(&RuleRow) -> Option<String>);

const EFFECTS: [Effect; 10] = [
    ("drop", |rule| rule.drop.clone()),
    ("score", |rule| {
        rule.score.map(|score| match score {
            ScoreChange::Set(value) => format!("{value}"),
            ScoreChange::Add(value) => format!("{value:+}"),
        })
    }),
    ("delay", |rule| rule.delay.map(seconds)),
    ("per_host", |rule| {
        rule.per_host.map(|count| count.to_string())
    }),
    ("quota", |rule| rule.quota.map(|count| count.to_string())),
    ("credentials", |rule| rule.credentials.clone()),
    ("follow", |rule| rule.follow.map(|on| on.to_string())),
    ("store", |rule| rule.store.map(|on| on.to_string())),
    ("keep_body", |rule| rule.keep_body.map(|on| on.to_string())),
    ("refresh", |rule| rule.refresh.map(seconds)),
];

fn seconds(micros: u64) -> String {
    format!("{} s", micros as f64 / 1e6)
}

impl RuleSet {
    /// For each effect the rule that decides it; before it those that would if something that is
    /// not known here is as they want it.
    #[must_use]
    pub fn explain(&self, facts: &Facts<'_>) -> Vec<Decision<'_>> {
        let mut decisions = Vec::new();
        let sets = [&self.link, &self.host, &self.request, &self.page];
        for (set, effects) in sets.into_iter().zip([0..2, 2..5, 5..6, 6..10]) {
            let Some(set) = set else { continue };
            let matching = set.find(facts, true);
            for (effect, value) in EFFECTS.get(effects).unwrap_or_default() {
                for at in matching.numbers() {
                    let rule = set.rules.get(at).and_then(|at| self.rules.get(*at));
                    let Some((rule, value)) = rule.and_then(|rule| Some((rule, value(rule)?)))
                    else {
                        continue;
                    };
                    let depends_on = unknown(rule, facts);
                    let decided = depends_on.is_empty();
                    decisions.push(Decision {
                        effect,
                        rule: &rule.name,
                        value,
                        depends_on,
                    });
                    if decided {
                        break;
                    }
                }
            }
        }
        decisions
    }
}

fn unknown(rule: &RuleRow, facts: &Facts<'_>) -> Vec<&'static str> {
    let of = &rule.conditions;
    [
        ("depth", of.depth.is_some() && facts.depth.is_none()),
        ("kind", !of.kind.is_empty() && facts.kind.is_none()),
        ("mime", !of.mime.is_empty() && facts.mime.is_none()),
        ("status", !of.status.is_empty() && facts.status.is_none()),
    ]
    .into_iter()
    .filter_map(|(name, open)| open.then_some(name))
    .collect()
}
