//! `meta[http-equiv=refresh]`: the shared declarative refresh steps of the standard.

use super::tokenizer::is_space;

/// Seconds and address (empty: the page itself), or nothing where the value must be ignored.
#[must_use]
pub fn parse(value: &str) -> Option<(u32, &str)> {
    let space = |c: char| c.is_ascii() && is_space(c as u8);
    let rest = value.trim_start_matches(space);
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if digits == 0 && !rest.starts_with('.') {
        return None;
    }
    // Longer than any wait that matters: the largest stands for it.
    let seconds = match &rest[..digits] {
        "" => 0,
        number => number.parse().unwrap_or(u32::MAX),
    };
    let rest = rest[digits..].trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    if rest.is_empty() {
        return Some((seconds, ""));
    }
    if !rest.starts_with(|c| space(c) || c == ';' || c == ',') {
        return None;
    }
    let rest = rest.trim_start_matches(space);
    let rest = rest.strip_prefix([';', ',']).unwrap_or(rest);
    let rest = rest.trim_start_matches(space);
    let url = match behind_url_equals(rest) {
        Some(url) => url,
        None => rest,
    };
    let url = match url.chars().next() {
        Some(quote @ ('"' | '\'')) => url[1..].split(quote).next().unwrap_or_default(),
        _ => url,
    };
    Some((seconds, url.trim_matches(|c: char| c <= ' ')))
}

fn behind_url_equals(text: &str) -> Option<&str> {
    let space = |c: char| c.is_ascii() && is_space(c as u8);
    let head = text.get(..3)?;
    if !head.eq_ignore_ascii_case("url") {
        return None;
    }
    let rest = text[3..].trim_start_matches(space).strip_prefix('=')?;
    Some(rest.trim_start_matches(space))
}
