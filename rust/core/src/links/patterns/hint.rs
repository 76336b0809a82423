//! Hints: shapes of URLs that endless families often have. A hint refuses nothing: it puts URLs of one shape into
//! one pattern, however their words vary, and asks for evidence earlier.
//!
//! The numbers are those of `policy/hosts/patterns.py`, explained there.

use serde::Deserialize;

use crate::canonical::is_token;

/// Segments that are looked at; no setting is larger.
const MOST_SEGMENTS: usize = 64;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HintSettings {
    pub long_path: usize,
    pub grown_path: usize,
    pub repeats: usize,
    pub longest_run: usize,
    pub crowded_query: usize,
    pub years_ahead: u32,
    pub token: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// The same folders again and again: a relative link that grows.
    Repeating,
    LongPath,
    /// The URL of the page that led to it, and one more folder or parameter.
    Growing,
    CrowdedQuery,
    /// A date, by year and month.
    Date,
    /// A parameter whose value looks like a token: a session.
    Token,
}

impl Hint {
    pub const ALL: [Hint; 6] = [
        Hint::Repeating,
        Hint::LongPath,
        Hint::Growing,
        Hint::CrowdedQuery,
        Hint::Date,
        Hint::Token,
    ];

    /// For people, in the name of a pattern. Families grow from one of the first shapes into the next, so these
    /// are one pattern.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Hint::Repeating | Hint::LongPath | Hint::Growing | Hint::CrowdedQuery => "growing",
            Hint::Date => "date",
            Hint::Token => "token",
        }
    }
}

/// The hint of a path and query, found on the page `from`; `own` is the whole URL.
#[must_use]
pub fn hint(path_and_query: &str, own: &str, from: &str, settings: &HintSettings) -> Option<Hint> {
    let (path, query) = path_and_query
        .split_once('?')
        .unwrap_or((path_and_query, ""));
    let mut segments = [""; MOST_SEGMENTS];
    let mut count = 0;
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        if count == MOST_SEGMENTS {
            break;
        }
        segments[count] = segment;
        count += 1;
    }
    let segments = &segments[..count];
    if (1..=settings.longest_run).any(|run| repeats(segments, run, settings.repeats)) {
        return Some(Hint::Repeating);
    }
    if date(path_and_query).is_some() {
        return Some(Hint::Date);
    }
    if parameters(query).any(|(_, value)| is_token(value, settings.token)) {
        return Some(Hint::Token);
    }
    if !query.is_empty() && parameters(query).count() >= settings.crowded_query {
        return Some(Hint::CrowdedQuery);
    }
    if count >= settings.grown_path && grows(own, from) || query_grows(query, own, from) {
        return Some(Hint::Growing);
    }
    (count >= settings.long_path).then_some(Hint::LongPath)
}

/// The parameters of a query, with their values; old forms separate them by `;`.
pub fn parameters(query: &str) -> impl Iterator<Item = (&str, &str)> {
    query
        .split(['&', ';'])
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
}

/// The year of a date with year and month that ends a path or is a parameter: `/2061/12/`, `2061-12`, `year=2061`. A date
/// that a title follows is that of an article.
#[must_use]
pub fn date(path_and_query: &str) -> Option<u32> {
    let (path, query) = path_and_query
        .split_once('?')
        .unwrap_or((path_and_query, ""));
    let mut year = None;
    let mut found = None;
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        let is_number = segment.len() <= 2 && segment.bytes().all(|byte| byte.is_ascii_digit());
        found = match (year, found) {
            (_, Some(found)) if is_number => Some(found),
            (Some(year), None) if is_month(segment) => Some(year),
            _ => dashed(segment),
        };
        year = year_of(segment);
    }
    if found.is_some() {
        return found;
    }
    parameters(query).find_map(|(name, value)| {
        dashed(value).or_else(|| {
            let names_year = name.eq_ignore_ascii_case("year") || name.eq_ignore_ascii_case("y");
            year_of(value).filter(|_| names_year)
        })
    })
}

/// The year of a moment in microseconds since the epoch, near enough.
#[must_use]
pub fn year_of_time(micros: u64) -> u32 {
    1970 + u32::try_from(micros / (31_556_952 * 1_000_000)).unwrap_or(0)
}

fn year_of(text: &str) -> Option<u32> {
    let is_year = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse()
        .ok()
        .filter(|year| is_year && (1000..=9999).contains(year))
}

fn is_month(text: &str) -> bool {
    text.len() <= 2
        && text
            .parse::<u32>()
            .is_ok_and(|month| (1..=12).contains(&month))
}

/// `2061-12`, `2061-12-08`.
fn dashed(text: &str) -> Option<u32> {
    let (year, rest) = text.split_once('-')?;
    let month = rest.split('-').next()?;
    year_of(year).filter(|_| is_month(month))
}

/// Whether the URL is that of the page that led to it, and one more folder.
fn grows(url: &str, from: &str) -> bool {
    let Some(folder) = url
        .strip_prefix(from)
        .and_then(|rest| rest.strip_suffix('/'))
    else {
        return false;
    };
    from.ends_with('/') && !folder.is_empty() && !folder.contains(['/', '?'])
}

/// Whether the URL is that of the page that led to it, and one more parameter.
fn query_grows(query: &str, own: &str, from: &str) -> bool {
    query.contains(['&', ';'])
        && from.contains('?')
        && own
            .strip_prefix(from)
            .is_some_and(|rest| rest.len() > 1 && rest.starts_with(['&', ';']))
}

/// Whether a run of `run` segments is repeated at least `most` times in a row.
fn repeats(segments: &[&str], run: usize, most: usize) -> bool {
    let mut same = 0;
    for at in run..segments.len() {
        same = if segments[at] == segments[at - run] {
            same + 1
        } else {
            0
        };
        if same >= run * most {
            return true;
        }
    }
    false
}
