//! Dates as WARC and CDXJ spell them, from microseconds since the epoch.

use super::Micros;

struct Civil {
    year: u64,
    month: u64,
    day: u64,
    second_of_day: u64,
}

/// The proleptic Gregorian date; eras of 400 years starting in March (Hinnant's method).
fn civil(seconds: u64) -> Civil {
    let days = seconds / 86_400 + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    Civil {
        year: year_of_era + era * 400 + u64::from(month <= 2),
        month,
        day: day_of_year - (153 * shifted + 2) / 5 + 1,
        second_of_day: seconds % 86_400,
    }
}

fn digits(out: &mut Vec<u8>, value: u64, width: u32) {
    for place in (0..width).rev() {
        out.push(b'0' + (value / 10u64.pow(place) % 10) as u8);
    }
}

/// Appends `2026-11-15T19:03:42.123456Z`.
pub(crate) fn push(out: &mut Vec<u8>, date: Micros) {
    let at = civil(date / 1_000_000);
    let time = at.second_of_day;
    for (value, width, end) in [
        (at.year, 4, b'-'),
        (at.month, 2, b'-'),
        (at.day, 2, b'T'),
        (time / 3600, 2, b':'),
        (time / 60 % 60, 2, b':'),
        (time % 60, 2, b'.'),
        (date % 1_000_000, 6, b'Z'),
    ] {
        digits(out, value, width);
        out.push(end);
    }
}

/// `2026-11-15T19:03:42.123456Z`
#[must_use]
pub fn iso(date: Micros) -> String {
    let mut out = Vec::with_capacity(27);
    push(&mut out, date);
    String::from_utf8_lossy(&out).into_owned()
}

/// `20261115190342`
#[must_use]
pub fn fourteen(date: Micros) -> String {
    fourteen_of(&iso(date))
}

/// The fourteen digits of a date spelled as in a WARC record.
#[must_use]
pub fn fourteen_of(iso: &str) -> String {
    iso.chars().filter(char::is_ascii_digit).take(14).collect()
}

#[cfg(test)]
mod tests {
    use super::{fourteen, iso};

    #[test]
    fn known_dates() {
        assert_eq!(iso(0), "1970-01-01T00:00:00.000000Z");
        assert_eq!(iso(951_782_400_000_001), "2000-02-29T00:00:00.000001Z");
        assert_eq!(iso(4_102_444_799_999_999), "2099-12-31T23:59:59.999999Z");
        assert_eq!(fourteen(1_763_233_422_500_000), "20251115190342");
    }
}
