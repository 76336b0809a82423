//! Robots directives in pages and headers: `meta[name=robots]` and `X-Robots-Tag`.
//!
//! What is said to everyone and what is said to our agent hold together: the stricter wins.
//! Directives are parted by commas, semicolons or blanks.

use crate::date;

/// What the directives forbid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Directives {
    pub noindex: bool,
    pub nofollow: bool,
    pub noarchive: bool,
    /// Microseconds since the epoch; the earliest that was said.
    pub unavailable_after: Option<u64>,
}

/// The directive whose value is a date, with blanks, colons and perhaps a comma in it.
const UNAVAILABLE_AFTER: &str = "unavailable_after";

/// Further directives that carry a value behind a colon; in a header, any other word before a colon is an
/// agent.
const WITH_VALUE: [&str; 4] = [
    "max-snippet",
    "max-image-preview",
    "max-video-preview",
    "max-image-size",
];

/// Words that a date has at most: `Sunday, 25 Jun 2010 15:00:00 GMT`.
const DATE_WORDS: usize = 6;
const DAY: u64 = 86_400_000_000;

/// Whether `name`, the product token of a rule, means `agent` (a token or a whole user agent).
#[must_use]
pub fn names_agent(name: &str, agent: &str) -> bool {
    let token = agent.split(['/', ' ', ';']).next().unwrap_or_default();
    !token.is_empty() && name.eq_ignore_ascii_case(token)
}

fn parts(c: char) -> bool {
    matches!(c, ',' | ';') || c.is_whitespace()
}

/// Splits at the first character for which `end` holds.
fn split(text: &str, end: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(end).unwrap_or(text.len()))
}

impl Directives {
    /// Adds the directives of a `content` value.
    pub fn add(&mut self, content: &str) {
        self.read(content, None);
    }

    /// Adds one value of `X-Robots-Tag`; an agent's name holds until the next one.
    pub fn add_header(&mut self, value: &str, agent: &str) {
        self.read(value, Some(agent));
    }

    fn read(&mut self, value: &str, agent: Option<&str>) {
        let mut ours = true;
        let mut rest = value;
        loop {
            rest = rest.trim_start_matches(parts);
            if rest.is_empty() {
                return;
            }
            let (word, after) = split(rest, |c| c == ':' || parts(c));
            let is = |name: &str| word.eq_ignore_ascii_case(name);
            let Some(behind) = after.trim_start().strip_prefix(':') else {
                if ours {
                    self.add_one(word);
                }
                rest = after;
                continue;
            };
            let behind = behind.trim_start();
            rest = if is(UNAVAILABLE_AFTER) {
                let (time, after) = date_at(behind);
                if ours && let Some(time) = time {
                    self.unavailable_after =
                        Some(self.unavailable_after.map_or(time, |t| t.min(time)));
                }
                after
            } else if agent.is_none() || WITH_VALUE.iter().any(|name| is(name)) {
                // `max-image-preview: none` says nothing of the page.
                split(behind, parts).1
            } else {
                ours = word == "*" || agent.is_some_and(|agent| names_agent(word, agent));
                behind
            };
        }
    }

    fn add_one(&mut self, directive: &str) {
        let is = |name: &str| directive.eq_ignore_ascii_case(name);
        let none = is("none");
        self.noindex |= none || is("noindex");
        self.nofollow |= none || is("nofollow");
        self.noarchive |= is("noarchive");
    }
}

/// The date that `text` begins with, if it can be read, and what follows it. The longest beginning that
/// is a date is one: what follows may be parted from it by a blank.
fn date_at(text: &str) -> (Option<u64>, &str) {
    let mut ends = [0; DATE_WORDS];
    let mut count = 0;
    let mut at = 0;
    while count < DATE_WORDS {
        let rest = &text[at..];
        let word = rest.trim_start_matches(parts);
        if word.is_empty() {
            break;
        }
        at = text.len() - split(word, parts).1.len();
        ends[count] = at;
        count += 1;
    }
    for &end in ends[..count].iter().rev() {
        if let Some(time) = read_date(&text[..end]) {
            return (Some(time), &text[end..]);
        }
    }
    (None, split(text, |c| matches!(c, ',' | ';')).1)
}

/// When the time is over that `text` names: a day without a time ends with it.
fn read_date(text: &str) -> Option<u64> {
    const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    let begins = |word: &str, with: &str| {
        word.get(..with.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(with))
    };
    let (first, after) = split(text, parts);
    let text = match WEEKDAYS.iter().any(|day| begins(first, day)) {
        true => after.trim_start_matches(parts),
        false => text,
    };
    if text.contains([',', ';']) {
        return None;
    }
    let timed = text.contains(':');
    let whole_day = |start: u64| {
        if timed {
            start
        } else {
            start.saturating_add(DAY)
        }
    };
    if let Some(time) = date::micros(text) {
        return Some(whole_day(time));
    }
    // `25-Jun-2010` and `25 June 2010`, as RFC 2822 spells them.
    let words = text.split(|c: char| c == '-' || c.is_whitespace());
    let short: Vec<&str> = words
        .enumerate()
        .map(|(at, word)| match at {
            1 => word.get(..3).unwrap_or(word),
            _ => word,
        })
        .collect();
    let mut spelled = short.join(" ");
    if !timed {
        spelled.push_str(" 00:00");
    }
    date::micros(&spelled).map(whole_day)
}
