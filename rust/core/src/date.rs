//! Dates as sitemaps (W3C, RFC 3339), feeds (RFC 2822) and robots directives write them.

use jiff::civil::{Date, DateTime};
use jiff::fmt::rfc2822;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// Microseconds since the epoch; `None` for no date, and for one before 1970.
pub(crate) fn micros(text: &str) -> Option<u64> {
    if text.is_empty() || text.len() > 64 || !text.is_ascii() {
        return None;
    }
    u64::try_from(timestamp(text)?.as_microsecond()).ok()
}

fn timestamp(text: &str) -> Option<Timestamp> {
    if text.as_bytes()[0].is_ascii_digit() && text.as_bytes().get(4).is_none_or(|&b| b == b'-') {
        return text.parse::<Timestamp>().ok().or_else(|| partial(text));
    }
    feed_date(text)
}

/// A year, a month, a day, or a time without zone: their beginning, in UTC.
fn partial(text: &str) -> Option<Timestamp> {
    let date = match text.len() {
        4 => Date::new(text.parse().ok()?, 1, 1).ok()?.at(0, 0, 0, 0),
        7 => Date::new(text[..4].parse().ok()?, text[5..].parse().ok()?, 1)
            .ok()?
            .at(0, 0, 0, 0),
        _ => text.parse::<DateTime>().ok()?,
    };
    utc(date)
}

fn utc(date: DateTime) -> Option<Timestamp> {
    date.to_zoned(TimeZone::UTC)
        .ok()
        .map(|zoned: Zoned| zoned.timestamp())
}

/// Feeds leave out the zone now and then: UTC is meant more often than not.
fn feed_date(text: &str) -> Option<Timestamp> {
    let parser = rfc2822::DateTimeParser::new().relaxed_weekday(true);
    let read = |text: &str| parser.parse_timestamp(text).ok();
    read(text).or_else(|| read(&format!("{text} +0000")))
}
