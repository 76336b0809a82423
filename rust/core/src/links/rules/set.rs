//! The compiled conditions of some rules: gives those that match, in one pass.

use ahash::AHashMap;

use super::bits::Bits;
use super::facts::Facts;
use super::hosts::Names;
use super::patterns::{Patterns, Prefixes};
use super::settings::Conditions;
use super::spelling::{Place, of_glob, spell};
use super::{Wrong, names};
use crate::canonical::Url;
use crate::parse::LinkKind;

/// Rules that are looked at together. Numbers in here are places in `rules`.
#[derive(Debug)]
pub(super) struct Set {
    /// The number in the list, by the number in this set.
    pub rules: Vec<usize>,
    all: Bits,
    host: Option<Condition<Names<Bits>>>,
    /// Some rule names the usual port of a scheme, which no URL has.
    usual_ports: bool,
    domain: Option<Condition<Names<Bits>>>,
    scheme: Option<Condition<[Bits; 2]>>,
    /// From a depth on, which match; sorted.
    depth: Option<Condition<Vec<(u16, Bits)>>>,
    /// By the number of the kind.
    kind: Option<Condition<Vec<Bits>>>,
    prefix: Option<Condition<Prefixes>>,
    query: Option<Condition<Names<Parameter>>>,
    glob: Option<Condition<Patterns>>,
    regex: Option<Condition<Patterns>>,
    mime: Option<Condition<Names<Bits>>>,
    status: Option<Condition<AHashMap<u16, Bits>>>,
}

/// What some of the rules ask for.
#[derive(Debug)]
struct Condition<T> {
    /// Rules that do not ask for it.
    free: Bits,
    index: T,
}

#[derive(Debug)]
struct Parameter {
    /// Rules that ask for the name only.
    named: Bits,
    values: Option<Patterns>,
}

impl Default for Parameter {
    fn default() -> Parameter {
        Parameter {
            named: Bits::NONE,
            values: None,
        }
    }
}

impl Default for Bits {
    fn default() -> Bits {
        Bits::NONE
    }
}

impl Set {
    /// Compiles the conditions of the rules with these numbers; `None` where there are none.
    pub fn new(rules: Vec<usize>, all: &[&Conditions]) -> Result<Option<Set>, Wrong> {
        if rules.is_empty() {
            return Ok(None);
        }
        let rows: Vec<&Conditions> = rules
            .iter()
            .filter_map(|at| all.get(*at).copied())
            .collect();
        let part = Part {
            rules: &rules,
            rows: &rows,
        };
        let mut hosts = rows.iter().flat_map(|row| &row.host);
        Ok(Some(Set {
            all: Bits::first(rules.len()),
            usual_ports: hosts.any(|text| names::has_usual_port(text)),
            host: part.names(|row| &row.host, names::host, "match.host")?,
            domain: part.names(|row| &row.domain, names::domain, "match.domain")?,
            scheme: part.schemes()?,
            depth: part.depths(),
            kind: part.kinds()?,
            prefix: part.prefixes()?,
            query: part.queries()?,
            glob: part.globs()?,
            regex: part.patterns(|row| &row.regex, names::expression, "match.regex")?,
            mime: part.names(|row| &row.mime, names::mime, "match.mime")?,
            status: part.statuses()?,
            rules,
        }))
    }

    /// The rules that match. With `guess`, what is not known is taken to be as a rule wants it.
    pub fn find(&self, facts: &Facts<'_>, guess: bool) -> Bits {
        let mut left = self.all;
        let open = |condition_free: Bits| if guess { self.all } else { condition_free };
        if let Some(host) = &self.host {
            let mut found = host.free;
            let mut join = |name: &str| {
                if let Some(rules) = host.index.get(name) {
                    found.join(rules);
                }
            };
            join(facts.hostname);
            join(facts.host);
            if self.usual_ports
                && let Some(url) = facts.url
                && facts.host == facts.hostname
            {
                join(&format!("{}:{}", facts.host, url.port()));
            }
            left.keep(&found);
        }
        if let Some(domain) = &self.domain {
            let mut found = domain.free;
            for rules in domain.index.above(facts.hostname) {
                found.join(rules);
            }
            left.keep(&found);
        }
        if let Some(depth) = &self.depth {
            let mut found = depth.free;
            match facts.depth {
                Some(at) => {
                    let after = depth.index.partition_point(|(from, _)| *from <= at);
                    if let Some((_, rules)) = after.checked_sub(1).and_then(|n| depth.index.get(n))
                    {
                        found.join(rules);
                    }
                }
                None => found = open(found),
            }
            left.keep(&found);
        }
        if let Some(kind) = &self.kind {
            let mut found = kind.free;
            match facts.kind {
                Some(of) => {
                    if let Some(rules) = kind.index.get(of as usize) {
                        found.join(rules);
                    }
                }
                None => found = open(found),
            }
            left.keep(&found);
        }
        if let Some(status) = &self.status {
            let mut found = status.free;
            match facts.status {
                Some(code) => {
                    if let Some(rules) = status.index.get(&code) {
                        found.join(rules);
                    }
                }
                None => found = open(found),
            }
            left.keep(&found);
        }
        if let Some(mime) = &self.mime {
            let mut found = mime.free;
            match facts.mime {
                Some(text) => {
                    let (whole, family) = names::mime_of(text);
                    for name in [whole, family] {
                        if let Some(rules) = mime.index.get(&name) {
                            found.join(rules);
                        }
                    }
                }
                None => found = open(found),
            }
            left.keep(&found);
        }
        match facts.url {
            Some(url) => self.look_at_url(url, &mut left),
            None => debug_assert!(!self.asks_for_url()),
        }
        left
    }

    /// The conditions on the text, the dearest last; each is left out where no rule needs it.
    fn look_at_url(&self, url: &Url, left: &mut Bits) {
        if let Some(scheme) = &self.scheme {
            let mut found = scheme.free;
            found.join(&scheme.index[usize::from(url.scheme_is_https())]);
            left.keep(&found);
        }
        narrow(left, self.prefix.as_ref(), |index, found| {
            index.find(url.path_and_query(), found);
        });
        narrow(left, self.query.as_ref(), |index, found| {
            find_parameters(index, url.path_and_query(), found);
        });
        narrow(left, self.glob.as_ref(), |index, found| {
            index.find(url.path_and_query(), found);
        });
        narrow(left, self.regex.as_ref(), |index, found| {
            index.find(url.as_str(), found);
        });
    }

    fn asks_for_url(&self) -> bool {
        self.scheme.is_some()
            || self.prefix.is_some()
            || self.query.is_some()
            || self.glob.is_some()
            || self.regex.is_some()
    }
}

fn narrow<T>(left: &mut Bits, on: Option<&Condition<T>>, look: impl FnOnce(&T, &mut Bits)) {
    if let Some(condition) = on
        && left.without(&condition.free).any()
    {
        let mut found = condition.free;
        look(&condition.index, &mut found);
        left.keep(&found);
    }
}

fn find_parameters(index: &Names<Parameter>, path_and_query: &str, found: &mut Bits) {
    let Some((_, query)) = path_and_query.split_once('?') else {
        return;
    };
    for part in query.split('&') {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        if let Some(parameter) = index.get(name) {
            found.join(&parameter.named);
            if let Some(values) = &parameter.values {
                values.find(value, found);
            }
        }
    }
}

/// What a set is made of.
struct Part<'a> {
    rules: &'a [usize],
    rows: &'a [&'a Conditions],
}

impl Part<'_> {
    fn wrong(&self, at: usize, field: &'static str, text: impl Into<String>) -> Wrong {
        Wrong {
            rule: self.rules.get(at).copied(),
            field,
            text: text.into(),
        }
    }

    fn free(&self, asks: impl Fn(&Conditions) -> bool) -> Bits {
        let mut free = Bits::NONE;
        for (at, row) in self.rows.iter().enumerate() {
            if !asks(row) {
                free.add(at);
            }
        }
        free
    }

    fn none(&self, free: &Bits) -> bool {
        *free == Bits::first(self.rows.len())
    }

    /// All texts of a field, each with its rule.
    fn texts<'b>(
        &'b self,
        field: fn(&Conditions) -> &Vec<String>,
    ) -> impl Iterator<Item = (usize, &'b str)> + 'b {
        let rows = self.rows.iter().enumerate();
        rows.flat_map(move |(at, row)| field(row).iter().map(move |text| (at, text.as_str())))
    }

    fn names(
        &self,
        field: fn(&Conditions) -> &Vec<String>,
        spell: fn(&str) -> Result<String, String>,
        name: &'static str,
    ) -> Result<Option<Condition<Names<Bits>>>, Wrong> {
        let free = self.free(|row| !field(row).is_empty());
        let mut index = Names::<Bits>::default();
        for (at, text) in self.texts(field) {
            let spelt = spell(text).map_err(|reason| self.wrong(at, name, reason))?;
            index.entry(&spelt).add(at);
        }
        Ok((!index.is_empty()).then_some(Condition { free, index }))
    }

    fn schemes(&self) -> Result<Option<Condition<[Bits; 2]>>, Wrong> {
        let free = self.free(|row| !row.scheme.is_empty());
        let mut index = [Bits::NONE; 2];
        for (at, text) in self.texts(|row| &row.scheme) {
            match text {
                "http" => index[0].add(at),
                "https" => index[1].add(at),
                _ => {
                    let text = format!("{text:?} is not http or https");
                    return Err(self.wrong(at, "match.scheme", text));
                }
            }
        }
        Ok((!self.none(&free)).then_some(Condition { free, index }))
    }

    fn depths(&self) -> Option<Condition<Vec<(u16, Bits)>>> {
        let free = self.free(|row| row.depth.is_some());
        let ranges: Vec<(usize, (u16, u16))> = self
            .rows
            .iter()
            .enumerate()
            .filter_map(|(at, row)| Some((at, row.depth?)))
            .collect();
        let mut starts: Vec<u16> = ranges.iter().map(|(_, (from, _))| *from).collect();
        starts.extend(ranges.iter().filter_map(|(_, (_, to))| to.checked_add(1)));
        starts.sort_unstable();
        starts.dedup();
        let matching = |depth: u16| {
            let mut bits = Bits::NONE;
            for (at, (from, to)) in &ranges {
                if (*from..=*to).contains(&depth) {
                    bits.add(*at);
                }
            }
            (depth, bits)
        };
        let index: Vec<(u16, Bits)> = starts.into_iter().map(matching).collect();
        (!index.is_empty()).then_some(Condition { free, index })
    }

    fn kinds(&self) -> Result<Option<Condition<Vec<Bits>>>, Wrong> {
        let free = self.free(|row| !row.kind.is_empty());
        let mut index = vec![Bits::NONE; LinkKind::ALL.len()];
        for (at, text) in self.texts(|row| &row.kind) {
            let kind = LinkKind::ALL.iter().find(|kind| kind.as_str() == text);
            let Some(kind) = kind else {
                let known: Vec<&str> = LinkKind::ALL.iter().map(|kind| kind.as_str()).collect();
                let text = format!("{text:?} is none of {}", known.join(", "));
                return Err(self.wrong(at, "match.kind", text));
            };
            if let Some(bits) = index.get_mut(*kind as usize) {
                bits.add(at);
            }
        }
        Ok((!self.none(&free)).then_some(Condition { free, index }))
    }

    fn prefixes(&self) -> Result<Option<Condition<Prefixes>>, Wrong> {
        let free = self.free(|row| !row.path_prefix.is_empty());
        let mut list = Vec::new();
        for (at, text) in self.texts(|row| &row.path_prefix) {
            if !text.starts_with('/') {
                let text = format!("{text:?} does not begin with /");
                return Err(self.wrong(at, "match.path_prefix", text));
            }
            let spelt = spell(text, Place::Path);
            let spelt = spelt.map_err(|text| self.wrong(at, "match.path_prefix", text))?;
            list.push((spelt, at as u16));
        }
        let index = Prefixes::new(&list);
        Ok((!list.is_empty()).then_some(Condition { free, index }))
    }

    fn patterns(
        &self,
        field: fn(&Conditions) -> &Vec<String>,
        spell: fn(&str) -> Result<String, String>,
        name: &'static str,
    ) -> Result<Option<Condition<Patterns>>, Wrong> {
        let free = self.free(|row| !field(row).is_empty());
        let mut list: Vec<(String, u16)> = Vec::new();
        for (at, text) in self.texts(field) {
            let spelt = spell(text).map_err(|reason| self.wrong(at, name, reason))?;
            list.push((spelt, at as u16));
        }
        let compiled = Patterns::new(&list).map_err(|(number, reason)| {
            let at = number.and_then(|number| list.get(number));
            Wrong {
                rule: at.and_then(|(_, at)| self.rules.get(usize::from(*at)).copied()),
                field: name,
                text: reason,
            }
        })?;
        Ok(compiled.map(|index| Condition { free, index }))
    }

    fn globs(&self) -> Result<Option<Condition<Patterns>>, Wrong> {
        for (at, text) in self.texts(|row| &row.glob) {
            if !text.starts_with(['/', '*']) {
                let text = format!("{text:?} does not begin with / or *");
                return Err(self.wrong(at, "match.glob", text));
            }
        }
        self.patterns(
            |row| &row.glob,
            |glob| of_glob(glob, Place::Path),
            "match.glob",
        )
    }

    fn queries(&self) -> Result<Option<Condition<Names<Parameter>>>, Wrong> {
        let free = self.free(|row| !row.query.is_empty());
        let mut index = Names::<Parameter>::default();
        let mut values: AHashMap<String, Vec<(String, u16)>> = AHashMap::new();
        for (at, text) in self.texts(|row| &row.query) {
            let (name, value) = text.split_once('=').unwrap_or((text, "*"));
            if name.is_empty() {
                let text = format!("{text:?} has no parameter name");
                return Err(self.wrong(at, "match.query", text));
            }
            if text.contains('&') {
                let text = format!("{text:?} is more than one parameter");
                return Err(self.wrong(at, "match.query", text));
            }
            let wrong = |text: String| self.wrong(at, "match.query", text);
            let name = spell(name, Place::Query).map_err(wrong)?;
            if value == "*" {
                index.entry(&name).named.add(at);
            } else {
                let value = of_glob(value, Place::Query).map_err(wrong)?;
                values.entry(name).or_default().push((value, at as u16));
            }
        }
        for (name, list) in values {
            let compiled = Patterns::new(&list).map_err(|(number, reason)| {
                let at = number.and_then(|number| list.get(number));
                self.wrong(
                    at.map_or(0, |(_, at)| usize::from(*at)),
                    "match.query",
                    reason,
                )
            })?;
            index.entry(&name).values = compiled;
        }
        Ok((!index.is_empty()).then_some(Condition { free, index }))
    }

    fn statuses(&self) -> Result<Option<Condition<AHashMap<u16, Bits>>>, Wrong> {
        let free = self.free(|row| !row.status.is_empty());
        let mut index: AHashMap<u16, Bits> = AHashMap::new();
        for (at, row) in self.rows.iter().enumerate() {
            for &(from, to) in &row.status {
                if from < 100 || to > 999 || from > to {
                    let text = format!("{from} to {to} is no range of statuses from 100 to 999");
                    return Err(self.wrong(at, "match.status", text));
                }
                for code in from..=to {
                    index.entry(code).or_default().add(at);
                }
            }
        }
        Ok((!index.is_empty()).then_some(Condition { free, index }))
    }
}
