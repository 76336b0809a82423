//! The rules of one site for one agent.

use super::MAX_BODY;
use super::lines::{Field, Line, lines, product_token};
use super::pattern::{decode_unreserved, matches, spell};
use std::time::Duration;

/// A site may ask for patience, but not take itself out of the crawl by a slip of the pen.
const MAX_DELAY: Duration = Duration::from_secs(86_400);
/// More sitemap lines than this are passed over.
const MAX_SITEMAPS: usize = 1000;
const MAX_SITEMAP_LENGTH: usize = 2048;

/// One rule, as `gossamer why` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// `Allow`, else `Disallow`.
    pub allow: bool,
    /// The path pattern, escapes in upper case.
    pub pattern: String,
    /// The line of `robots.txt` it stands on, counted from 1.
    pub line: u32,
}

/// The rules that hold for our agent on one site.
#[derive(Clone, Debug, Default)]
pub struct Robots {
    /// Longest pattern first and `Allow` before `Disallow`, so the first match decides.
    rules: Box<[Kept]>,
    /// All patterns, one behind the other.
    text: Box<str>,
    delay: Option<Duration>,
    sitemaps: Box<[String]>,
}

#[derive(Clone, Copy, Debug)]
struct Kept {
    start: u32,
    end: u32,
    line: u32,
    allow: bool,
    /// A `Disallow` with escapes of unreserved characters: compared with them undone, too.
    escaped: bool,
}

/// What the groups for one kind of agent gather.
#[derive(Default)]
struct Group {
    named: bool,
    rules: Vec<Rule>,
    delay: Option<Duration>,
}

impl Group {
    fn add(&mut self, allow: bool, line: &Line<'_>) {
        // An empty value matches nothing: `Disallow:` is how sites say that all is open.
        if !line.value.is_empty() {
            self.rules.push(Rule {
                allow,
                pattern: spell(line.value),
                line: line.number,
            });
        }
    }
}

impl Robots {
    /// Reads `body` for the agent with this product token. Pass the bare token (`gossamer`), not
    /// a whole user agent: see [`product_token`].
    #[must_use]
    pub fn parse(body: &[u8], agent: &str) -> Robots {
        let body = &body[..body.len().min(MAX_BODY)];
        let (mut ours, mut everyones) = (Group::default(), Group::default());
        let (mut in_ours, mut in_everyones, mut in_rules) = (false, false, false);
        let mut sitemaps = Vec::new();
        for line in lines(body) {
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
                    if sitemaps.len() < MAX_SITEMAPS
                        && (1..=MAX_SITEMAP_LENGTH).contains(&line.value.len())
                    {
                        sitemaps.push(String::from_utf8_lossy(line.value).into_owned());
                    }
                }
                Field::Unknown => {}
            }
        }
        let group = if ours.named { ours } else { everyones };
        Robots::compact(group, sitemaps)
    }

    fn compact(group: Group, sitemaps: Vec<String>) -> Robots {
        let mut found = group.rules;
        found.sort_by(|a, b| {
            let order = b
                .pattern
                .len()
                .cmp(&a.pattern.len())
                .then(b.allow.cmp(&a.allow));
            order
                .then_with(|| a.pattern.cmp(&b.pattern))
                .then(a.line.cmp(&b.line))
        });
        found.dedup_by(|later, first| later.pattern == first.pattern && later.allow == first.allow);
        let mut text = String::with_capacity(found.iter().map(|rule| rule.pattern.len()).sum());
        let mut rules = Vec::with_capacity(found.len());
        for rule in &found {
            let start = text.len();
            text.push_str(&rule.pattern);
            // At most three times 500 KiB of text: far below 2³².
            let at = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
            rules.push(Kept {
                start: at(start),
                end: at(text.len()),
                line: rule.line,
                allow: rule.allow,
                escaped: !rule.allow && decode_unreserved(&rule.pattern).is_some(),
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
        // Sites write `/~user` or `/%7Euser`, and so do links. A path is matched as spelled and
        // with those escapes undone. A `Disallow` has its own escapes undone too, so that no
        // spelling slips by it; an `Allow` is taken to the letter.
        let plain = decode_unreserved(path);
        let seen = plain.as_deref().unwrap_or(path);
        self.rules.iter().copied().find(|&kept| {
            let pattern = self.pattern(kept);
            matches(pattern, path)
                || (plain.is_some() && matches(pattern, seen))
                || (kept.escaped && decode_unreserved(pattern).is_some_and(|p| matches(&p, seen)))
        })
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
    #[must_use]
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
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
        let sitemaps: usize = self
            .sitemaps
            .iter()
            .map(|text| text.capacity() + size_of::<String>())
            .sum();
        self.text.len() + self.rules.len() * size_of::<Kept>() + sitemaps
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
