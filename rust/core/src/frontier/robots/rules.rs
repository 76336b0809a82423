//! The rules of one site for one agent.

use super::lines::{Field, Line, lines, product_token, readable};
use super::pattern::{Side, matches, normal, spell};
use std::time::Duration;

/// A site may ask for patience, but not take itself out of the crawl by a slip of the pen.
const MAX_DELAY: Duration = Duration::from_secs(86_400);
/// A longer address is none that we would visit.
const MAX_SITEMAP_LENGTH: usize = 2048;

/// One rule, as `gossamer why` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// `Allow`, else `Disallow`.
    pub allow: bool,
    /// The path pattern as the file spells it, escapes in upper case.
    pub pattern: String,
    /// The line of `robots.txt` it stands on, counted from 1.
    pub line: u32,
}

/// The rules that hold for our agent on one site.
#[derive(Clone, Debug, Default)]
pub struct Robots {
    /// Longest pattern first and `Allow` before `Disallow`, so the first match decides.
    rules: Box<[Kept]>,
    /// All patterns, one behind the other; behind each its normal form, where that is another.
    text: Box<str>,
    delay: Option<Duration>,
    /// One behind the other, a line each: so they take no more than the file that names them.
    sitemaps: Box<str>,
}

#[derive(Clone, Copy, Debug)]
struct Kept {
    start: u32,
    end: u32,
    /// Where its normal form ends; `end`: there is no other form.
    normal_end: u32,
    line: u32,
    allow: bool,
}

/// A rule as found, with its normal form where that is another.
struct Found {
    rule: Rule,
    normal: Option<String>,
}

impl Found {
    fn normal(&self) -> &str {
        self.normal.as_deref().unwrap_or(&self.rule.pattern)
    }
}

/// What the groups for one kind of agent gather.
#[derive(Default)]
struct Group {
    named: bool,
    rules: Vec<Found>,
    delay: Option<Duration>,
}

impl Group {
    fn add(&mut self, allow: bool, line: &Line<'_>) {
        // An empty value matches nothing: `Disallow:` is how sites say that all is open.
        if !line.value.is_empty() {
            let pattern = spell(line.value);
            let side = if allow { Side::Allow } else { Side::Disallow };
            self.rules.push(Found {
                normal: normal(&pattern, side),
                rule: Rule {
                    allow,
                    pattern,
                    line: line.number,
                },
            });
        }
    }
}

impl Robots {
    /// Reads `body` for the agent with this product token. Pass the bare token (`gossamer`), not
    /// a whole user agent: see [`product_token`].
    #[must_use]
    pub fn parse(body: &[u8], agent: &str) -> Robots {
        let body = readable(body);
        let (mut ours, mut everyones) = (Group::default(), Group::default());
        let (mut in_ours, mut in_everyones, mut in_rules) = (false, false, false);
        let mut sitemaps = String::new();
        for line in lines(&body) {
            match line.field {
                Field::UserAgent => {
                    // The first agent line behind rules begins a new group; other lines between
                    // two agent lines do not part them.
                    if in_rules {
                        (in_ours, in_everyones, in_rules) = (false, false, false);
                    }
                    if is_star(line.value) {
                        in_everyones = true;
                    } else if names(line.value, agent) {
                        in_ours = true;
                        ours.named = true;
                    }
                }
                Field::Allow | Field::Disallow => {
                    in_rules = true;
                    let allow = line.field == Field::Allow;
                    if in_ours {
                        ours.add(allow, &line);
                    }
                    if in_everyones {
                        everyones.add(allow, &line);
                    }
                }
                Field::CrawlDelay => {
                    let delay = delay_of(line.value);
                    if in_ours {
                        ours.delay = ours.delay.max(delay);
                    }
                    if in_everyones {
                        everyones.delay = everyones.delay.max(delay);
                    }
                }
                Field::Sitemap => {
                    if (1..=MAX_SITEMAP_LENGTH).contains(&line.value.len()) {
                        sitemaps.push_str(&String::from_utf8_lossy(line.value));
                        sitemaps.push('\n');
                    }
                }
                Field::Unknown => {}
            }
        }
        let group = if ours.named { ours } else { everyones };
        Robots::compact(group, sitemaps)
    }

    fn compact(group: Group, sitemaps: String) -> Robots {
        let mut found = group.rules;
        // Lengths are those of the normal form: how a character is spelled makes no rule more specific.
        found.sort_by(|a, b| {
            let order = b.normal().len().cmp(&a.normal().len());
            order
                .then(b.rule.allow.cmp(&a.rule.allow))
                .then_with(|| a.rule.pattern.cmp(&b.rule.pattern))
                .then(a.rule.line.cmp(&b.rule.line))
        });
        found.dedup_by(|later, first| {
            later.rule.pattern == first.rule.pattern && later.rule.allow == first.rule.allow
        });
        let length =
            |one: &Found| one.rule.pattern.len() + one.normal.as_ref().map_or(0, String::len);
        let mut text = String::with_capacity(found.iter().map(length).sum());
        let mut rules = Vec::with_capacity(found.len());
        for one in &found {
            // At most nine times 500 KiB of text: far below 2³².
            let at = |text: &String| u32::try_from(text.len()).unwrap_or(u32::MAX);
            let start = at(&text);
            text.push_str(&one.rule.pattern);
            let end = at(&text);
            text.push_str(one.normal.as_deref().unwrap_or_default());
            rules.push(Kept {
                start,
                end,
                normal_end: at(&text),
                line: one.rule.line,
                allow: one.rule.allow,
            });
        }
        Robots {
            rules: rules.into(),
            text: text.into(),
            delay: group.delay,
            sitemaps: sitemaps.into(),
        }
    }

    /// Whether the path and query of a canonical URL may be visited.
    #[must_use]
    pub fn allows(&self, path_and_query: &str) -> bool {
        self.deciding(path_and_query).is_none_or(|kept| kept.allow)
    }

    /// The rule that decides on this path; none when no rule matches, and then it is allowed.
    #[must_use]
    pub fn which_rule(&self, path_and_query: &str) -> Option<Rule> {
        self.deciding(path_and_query).map(|kept| Rule {
            allow: kept.allow,
            pattern: self.pattern(kept).to_owned(),
            line: kept.line,
        })
    }

    fn deciding(&self, path: &str) -> Option<Kept> {
        if self.rules.is_empty() || path == "/robots.txt" {
            return None;
        }
        // Sites write `/~user` or `/%7Euser`, `Special:` or `Special%3A`, and so do links. A rule counts
        // when it matches to the letter or in the normal form: so no spelling slips by it.
        let plain = normal(path, Side::Path);
        let seen = plain.as_deref().unwrap_or(path);
        self.rules.iter().copied().find(|&kept| {
            let differs = plain.is_some() || kept.normal_end > kept.end;
            matches(self.pattern(kept), path) || (differs && matches(self.normal(kept), seen))
        })
    }

    fn normal(&self, kept: Kept) -> &str {
        if kept.normal_end == kept.end {
            return self.pattern(kept);
        }
        &self.text[kept.end as usize..kept.normal_end as usize]
    }

    fn pattern(&self, kept: Kept) -> &str {
        &self.text[kept.start as usize..kept.end as usize]
    }

    /// The gap that the site asks for between two visits, a day at most.
    #[must_use]
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.delay
    }

    /// The sitemaps that the site names, as it spells them.
    pub fn sitemaps(&self) -> impl Iterator<Item = &str> {
        self.sitemaps.lines()
    }

    /// The number of rules kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether every path is allowed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Bytes on the heap.
    #[must_use]
    pub fn heap_size(&self) -> usize {
        self.text.len() + self.rules.len() * size_of::<Kept>() + self.sitemaps.len()
    }
}

/// `*`, alone or with words behind it.
fn is_star(value: &[u8]) -> bool {
    matches!(value, [b'*']) || matches!(value, [b'*', next, ..] if next.is_ascii_whitespace())
}

/// Whether an agent line names us: its product token is ours, ASCII case not counted.
fn names(value: &[u8], agent: &str) -> bool {
    let end = value
        .iter()
        .position(|b| !(b.is_ascii_alphabetic() || matches!(b, b'-' | b'_')));
    let token = &value[..end.unwrap_or(value.len())];
    !token.is_empty()
        && product_token(agent) == agent
        && token.eq_ignore_ascii_case(agent.as_bytes())
}

/// Seconds, whole or not. What is no number of seconds is passed over.
fn delay_of(value: &[u8]) -> Option<Duration> {
    let text = std::str::from_utf8(value)
        .ok()?
        .split_ascii_whitespace()
        .next()?;
    if !text.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return None;
    }
    let seconds: f64 = text.parse().ok()?;
    Some(
        Duration::try_from_secs_f64(seconds)
            .unwrap_or(MAX_DELAY)
            .min(MAX_DELAY),
    )
}
