//! What no list may have: names twice, effects that cannot be decided, values out of range.

use std::collections::HashSet;

use super::settings::{Conditions, RuleRow, RuleTable, ScoreChange};
use super::{MOST_RULES, Wrong};

/// Entries of all conditions of a list, at most.
pub const MOST_ENTRIES: usize = 100_000;

/// No time is longer: ten years.
const LONGEST: u64 = 10 * 365 * 86_400 * 1_000_000;

/// Which conditions a rule has.
type Asks = [(&'static str, bool); 11];

fn asks(of: &Conditions) -> Asks {
    [
        ("match.host", !of.host.is_empty()),
        ("match.domain", !of.domain.is_empty()),
        ("match.path_prefix", !of.path_prefix.is_empty()),
        ("match.glob", !of.glob.is_empty()),
        ("match.regex", !of.regex.is_empty()),
        ("match.query", !of.query.is_empty()),
        ("match.scheme", !of.scheme.is_empty()),
        ("match.depth", of.depth.is_some()),
        ("match.kind", !of.kind.is_empty()),
        ("match.mime", !of.mime.is_empty()),
        ("match.status", !of.status.is_empty()),
    ]
}

pub(super) fn check(table: &RuleTable) -> Result<(), Wrong> {
    let of_list = |text: String| Wrong {
        rule: None,
        field: "list",
        text,
    };
    if table.list.len() > MOST_RULES {
        let text = format!("{} rules; at most {MOST_RULES}", table.list.len());
        return Err(of_list(text));
    }
    let entries: usize = table
        .list
        .iter()
        .map(|rule| entries(&rule.conditions))
        .sum();
    if entries > MOST_ENTRIES {
        let text = format!("{entries} entries in all conditions; at most {MOST_ENTRIES}");
        return Err(of_list(text));
    }
    let mut names = HashSet::new();
    for (number, rule) in table.list.iter().enumerate() {
        check_rule(rule, table, &mut names).map_err(|(field, text)| Wrong {
            rule: Some(number),
            field,
            text,
        })?;
    }
    Ok(())
}

fn entries(of: &Conditions) -> usize {
    let lists = [
        &of.host,
        &of.domain,
        &of.path_prefix,
        &of.glob,
        &of.regex,
        &of.query,
        &of.scheme,
        &of.kind,
        &of.mime,
    ];
    lists.iter().map(|list| list.len()).sum::<usize>() + of.status.len()
}

type Said = (&'static str, String);

fn check_rule<'a>(
    rule: &'a RuleRow,
    table: &RuleTable,
    names: &mut HashSet<&'a str>,
) -> Result<(), Said> {
    if rule.name.is_empty() || rule.name.len() > 100 || rule.name.contains(char::is_control) {
        return Err(("name", "1 to 100 bytes without control characters".into()));
    }
    if !names.insert(&rule.name) {
        return Err(("name", "another rule has this name".into()));
    }
    check_values(rule)?;
    let asks = asks(&rule.conditions);
    let mut any = false;
    for (effect, given, excluded, why) in stages(rule) {
        any |= given;
        if !given {
            continue;
        }
        let asked = asks.iter().find(|(name, asked)| *asked && excluded(name));
        if let Some((name, _)) = asked {
            return Err((effect, format!("it cannot depend on {name}: {why}")));
        }
    }
    if !any {
        return Err(("effect", "it has none".into()));
    }
    check_ports(rule)?;
    if let Some(name) = &rule.credentials {
        if !table.credentials.contains_key(name) {
            let text = format!("there are no credentials called {name:?}");
            return Err(("credentials", text));
        }
        if rule.conditions.host.is_empty() && rule.conditions.domain.is_empty() {
            let text = "it needs match.host or match.domain, so that no other site gets them";
            return Err(("credentials", text.into()));
        }
    }
    Ok(())
}

/// A host is one whatever its scheme: what holds for all of it cannot ask for a usual port.
fn check_ports(rule: &RuleRow) -> Result<(), Said> {
    let of_host = [
        ("delay", rule.delay.is_some()),
        ("per_host", rule.per_host.is_some()),
        ("quota", rule.quota.is_some()),
    ];
    let mut hosts = rule.conditions.host.iter();
    let usual = hosts.find(|text| super::names::has_usual_port(text));
    match (of_host.iter().find(|(_, given)| *given), usual) {
        (Some((effect, _)), Some(host)) => {
            let text = "http and https on their usual ports are one host; leave the port out";
            Err((
                effect,
                format!("it cannot depend on the port of {host}: {text}"),
            ))
        }
        _ => Ok(()),
    }
}

/// An effect, whether it is given, the conditions that it cannot have, and why.
type Stage = (&'static str, bool, fn(&str) -> bool, &'static str);

fn stages(rule: &RuleRow) -> [Stage; 10] {
    let page_only = |name: &str| matches!(name, "match.mime" | "match.status");
    let no_kind = |name: &str| name == "match.kind";
    let no_page = |name: &str| matches!(name, "match.mime" | "match.status" | "match.kind");
    let host_only = |name: &str| !matches!(name, "match.host" | "match.domain");
    let link = "it is decided when the link is found, before there is an answer";
    let host = "it holds for a whole host; match by host or domain";
    let request = "it is decided when the request is made";
    let page = "it is decided when the page is there, and pages do not keep how they were found";
    [
        ("drop", rule.drop.is_some(), page_only, link),
        ("score", rule.score.is_some(), page_only, link),
        ("delay", rule.delay.is_some(), host_only, host),
        ("per_host", rule.per_host.is_some(), host_only, host),
        ("quota", rule.quota.is_some(), host_only, host),
        ("credentials", rule.credentials.is_some(), no_page, request),
        ("follow", rule.follow.is_some(), no_kind, page),
        ("store", rule.store.is_some(), no_kind, page),
        ("keep_body", rule.keep_body.is_some(), no_kind, page),
        ("refresh", rule.refresh.is_some(), no_kind, page),
    ]
}

fn check_values(rule: &RuleRow) -> Result<(), Said> {
    if let Some(reason) = &rule.drop
        && (reason.is_empty() || reason.len() > 200 || reason.contains(char::is_control))
    {
        return Err(("drop", "a reason of 1 to 200 bytes on one line".into()));
    }
    let (score, from) = match rule.score {
        Some(ScoreChange::Set(score)) => (score, 0.0),
        Some(ScoreChange::Add(score)) => (score, -1.0),
        None => (0.0, 0.0),
    };
    if !(from..=1.0).contains(&score) {
        return Err(("score", format!("{score} is not from {from} to 1")));
    }
    if rule
        .per_host
        .is_some_and(|count| !(1..=64).contains(&count))
    {
        return Err(("per_host", "from 1 to 64 connections".into()));
    }
    for (field, time) in [("delay", rule.delay), ("refresh", rule.refresh)] {
        if time.is_some_and(|time| time > LONGEST) {
            return Err((field, "longer than ten years".into()));
        }
    }
    if rule.conditions.depth.is_some_and(|(from, to)| from > to) {
        return Err(("match.depth", "it ends before it begins".into()));
    }
    Ok(())
}
