//! Judging a response head: status to outcome, type, `Retry-After`.
//!
//! Pure functions of the head; nothing here reads a socket or a clock.

use std::time::{Duration, SystemTime};

use super::head::Head;
use super::media::declared_type;
use crate::outcome::Outcome;

/// The longest wait that a server may ask for; beyond it the frontier's own rules decide.
pub const RETRY_AFTER_MOST: Duration = Duration::from_secs(7 * 24 * 3600);

/// The outcome that a status code means, before the body is read.
#[must_use]
pub fn by_status(status: u16) -> Outcome {
    match status {
        200..=299 => Outcome::Fetched,
        304 => Outcome::NotModified,
        300..=399 => Outcome::Redirected,
        404 | 410 => Outcome::Gone,
        429 | 503 => Outcome::Throttled,
        400..=499 => Outcome::Refused,
        // RFC 9110, 15: a code that nobody knows counts as its class; beyond 599, as a failure.
        500..=999 => Outcome::ServerFailed,
        _ => Outcome::ProtocolBroken,
    }
}

/// Whether a response of this status has no body whatever its fields say.
pub(super) fn bodiless(status: u16) -> bool {
    matches!(status, 100..=199 | 204 | 304)
}

/// Whether the type is one of those wanted. No list, or no type that tells anything: wanted.
#[must_use]
pub fn wanted(content_type: Option<&str>, accepted: &[String]) -> bool {
    let Some(essence) = content_type.and_then(declared_type) else {
        return true;
    };
    accepted.is_empty() || is_named(essence, accepted)
}

/// Whether one of the patterns (`text/html`, `text/*`, `*/*`) names the type.
#[must_use]
pub fn is_named(content_type: &str, patterns: &[String]) -> bool {
    let essence = content_type.split([';', ',']).next().unwrap_or("").trim();
    patterns.iter().any(|pattern| {
        let pattern = pattern.trim();
        pattern == "*/*"
            || pattern.eq_ignore_ascii_case(essence)
            || pattern
                .strip_suffix('*')
                .filter(|family| family.ends_with('/'))
                .and_then(|family| essence.get(..family.len()).zip(Some(family)))
                .is_some_and(|(start, family)| start.eq_ignore_ascii_case(family))
    })
}

/// The wait that the server asks for: seconds, or a date. Bounded; dates in the past are zero.
#[must_use]
pub fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    let digits = value.split_once('.').map_or(value, |(whole, _)| whole);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than fit are still a wish to wait long.
        let seconds = digits.parse().unwrap_or(u64::MAX);
        return Some(Duration::from_secs(seconds).min(RETRY_AFTER_MOST));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(
        date.duration_since(now)
            .unwrap_or_default()
            .min(RETRY_AFTER_MOST),
    )
}

/// How the length of a body is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// That many bytes.
    Length(u64),
    /// Chunks.
    Chunked,
    /// All that comes until the server closes.
    Close,
}

/// The framing of a response with a body (RFC 9112, 6.3), and whether it forbids another request
/// on the connection. `Err` is a message that two readers could cut differently.
pub(super) fn framing(head: &Head) -> Result<(Framing, bool), &'static str> {
    let transfer = head.tokens("transfer-encoding");
    let mut length: Option<u64> = None;
    let mut conflicting = false;
    for token in head.tokens("content-length") {
        let value = match token.bytes().all(|byte| byte.is_ascii_digit()) {
            // A length beyond any number is a length beyond any limit.
            true => token.parse().unwrap_or(u64::MAX),
            false => {
                conflicting = true;
                continue;
            }
        };
        conflicting |= length.is_some_and(|known| known != value);
        length = Some(value);
    }
    let chunks = transfer.iter().filter(|token| *token == "chunked").count();
    if chunks > 0 {
        // Said twice in a row it is said once: servers behind servers do that.
        let trailing = transfer
            .iter()
            .rev()
            .take_while(|token| *token == "chunked");
        if trailing.count() != chunks {
            return Err("chunked is not the last transfer coding");
        }
        // With a length beside it the chunks hold, and the connection ends (RFC 9112, 6.3, 3).
        return Ok((
            Framing::Chunked,
            length.is_some() || conflicting || chunks > 1,
        ));
    }
    if transfer.iter().any(|token| token != "identity") {
        return Ok((Framing::Close, true));
    }
    if conflicting {
        return Err("Content-Length is no number, or two that differ");
    }
    Ok(match length {
        Some(length) => (Framing::Length(length), false),
        None => (Framing::Close, true),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn types() {
        let accepted = ["text/html".to_owned(), "application/*".to_owned()];
        for (content_type, is_wanted) in [
            (None, true),
            (Some(""), true),
            (Some("Text/HTML; charset=utf-8"), true),
            (Some("application/xhtml+xml"), true),
            (Some("image/png"), false),
            (Some("text/css"), false),
            (Some("html"), true),
            (Some("unknown/unknown"), true),
            (Some("é"), true),
        ] {
            assert_eq!(
                wanted(content_type, &accepted),
                is_wanted,
                "{content_type:?}"
            );
        }
        assert!(wanted(Some("image/png"), &[]));
    }

    #[test]
    fn waits() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        let seconds = |value: &str| retry_after(value, now).map(|wait| wait.as_secs());
        assert_eq!(seconds(" 120 "), Some(120));
        assert_eq!(seconds("1.5"), Some(1));
        assert_eq!(
            seconds("99999999999999999999999999"),
            Some(RETRY_AFTER_MOST.as_secs())
        );
        assert_eq!(seconds("Sun, 06 Nov 1994 08:50:37 GMT"), Some(60));
        assert_eq!(seconds("Sat, 06 Nov 1993 08:50:37 GMT"), Some(0));
        assert_eq!(
            seconds("Fri, 31 Dec 9999 23:59:59 GMT"),
            Some(RETRY_AFTER_MOST.as_secs())
        );
        assert_eq!(seconds("-5"), None);
        assert_eq!(seconds("soon"), None);
    }

    #[test]
    fn framings() {
        let read = |fields: &str| {
            framing(
                &Head::parse(format!("HTTP/1.1 200 OK\n{fields}\n\n").into_bytes(), 99).unwrap(),
            )
        };
        assert_eq!(read("A: b"), Ok((Framing::Close, true)));
        assert_eq!(read("Content-Length: 5"), Ok((Framing::Length(5), false)));
        assert_eq!(
            read("Content-Length: 5, 5\nContent-Length: 5"),
            Ok((Framing::Length(5), false))
        );
        assert_eq!(
            read("Content-Length: 99999999999999999999999"),
            Ok((Framing::Length(u64::MAX), false))
        );
        for bad in ["-5", "+5", "5 5", "0x5", "5\nContent-Length: 6", "5, 6"] {
            assert!(read(&format!("Content-Length: {bad}")).is_err(), "{bad}");
        }
        assert_eq!(
            read("Transfer-Encoding: Chunked"),
            Ok((Framing::Chunked, false))
        );
        assert_eq!(
            read("Content-Length: 3\nTransfer-Encoding: gzip, chunked"),
            Ok((Framing::Chunked, true))
        );
        assert_eq!(read("Transfer-Encoding: gzip"), Ok((Framing::Close, true)));
        assert_eq!(
            read("Transfer-Encoding: identity\nContent-Length: 3"),
            Ok((Framing::Length(3), false))
        );
        assert!(read("Transfer-Encoding: chunked, gzip").is_err());
        assert_eq!(
            read("Transfer-Encoding: chunked\nTransfer-Encoding: chunked"),
            Ok((Framing::Chunked, true))
        );
        assert!(read("Transfer-Encoding: chunked, gzip, chunked").is_err());
    }
}
