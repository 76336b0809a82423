//! Takes tracking parameters and session ids out of a URL.

use super::rules::Rules;
use super::token::is_token;

/// Removes what `rules` name from the path and query that begin at `path_at`.
pub(super) fn strip(text: &mut String, path_at: usize, rules: &Rules) {
    let query_at = text[path_at..].find('?').map(|at| path_at + at);
    if let Some(query_at) = query_at {
        strip_query(text, query_at, rules);
    }
    let path_end = query_at.unwrap_or(text.len());
    if !rules.strip_session.is_empty() && text[path_at..path_end].contains(';') {
        strip_path(text, path_at, path_end, rules);
    }
}

fn named(rules: &Rules, parameter: &str) -> bool {
    let name = parameter.split('=').next().unwrap_or(parameter).as_bytes();
    rules.strip_params.contains(name) || is_session(rules, parameter)
}

/// The name alone says little: `article.php?sid=7` is an article.
fn is_session(rules: &Rules, parameter: &str) -> bool {
    let Some((name, value)) = parameter.split_once('=') else {
        return false;
    };
    rules.strip_session.contains(name.as_bytes()) && is_token(value, rules.session_token)
}

/// The order of what stays is kept: servers may care. A query that becomes empty loses its `?`;
/// one that came empty keeps it, as the standard does.
fn strip_query(text: &mut String, query_at: usize, rules: &Rules) {
    let query = &text[query_at + 1..];
    if !query.split('&').any(|parameter| named(rules, parameter)) {
        return;
    }
    let mut kept = String::with_capacity(query.len());
    let mut first = true;
    for parameter in query
        .split('&')
        .filter(|parameter| !named(rules, parameter))
    {
        if !first {
            kept.push('&');
        }
        kept.push_str(parameter);
        first = false;
    }
    text.truncate(query_at);
    if !kept.is_empty() {
        text.push('?');
        text.push_str(&kept);
    }
}

fn strip_path(text: &mut String, path_at: usize, path_end: usize, rules: &Rules) {
    let path = &text[path_at..path_end];
    let mut kept = String::with_capacity(path.len());
    for (at, segment) in path.split('/').enumerate() {
        if at > 0 {
            kept.push('/');
        }
        let before = kept.len();
        let mut pieces = segment.split(';');
        kept.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            if !is_session(rules, piece) {
                kept.push(';');
                kept.push_str(piece);
            }
        }
        // What remains must not read as a dot segment, or the next parse would fold it.
        if is_dots(&kept[before..]) {
            kept.truncate(before);
            kept.push_str(segment);
        }
    }
    if kept.len() != path.len() {
        text.replace_range(path_at..path_end, &kept);
    }
}

fn is_dots(segment: &str) -> bool {
    let unescaped =
        |text: &str| text.len() <= 6 && matches!(text.replace("%2E", ".").as_str(), "." | "..");
    unescaped(segment)
}
