//! Tokens: values that a machine made, as session ids are.

/// Letters and digits of a token change places at least once in so many characters: in random text they do so
/// every second or third time, in a title with a year once.
const CHANGE: usize = 6;

/// Whether a value looks made by a machine: at least so long, of letters and digits, mixed; or a hexadecimal
/// number, a UUID. `7`, `article` and `my-article-of-2026` do not.
#[must_use]
pub fn is_token(value: &str, least: usize) -> bool {
    if value.len() < least {
        return false;
    }
    let (mut letters, mut digits, mut changes) = (0_usize, 0_usize, 0_usize);
    let mut is_hex = true;
    let mut was_digit = None;
    for byte in value.bytes() {
        let is_digit = byte.is_ascii_digit();
        match byte {
            b'0'..=b'9' => digits += 1,
            b'a'..=b'z' | b'A'..=b'Z' => letters += 1,
            // What stands between the parts of a UUID, and before the name of a server.
            b'-' | b'_' | b'.' | b'!' | b'~' | b',' => {
                is_hex &= byte == b'-';
                continue;
            }
            _ => return false,
        }
        is_hex &= byte.is_ascii_hexdigit();
        changes += usize::from(was_digit == Some(!is_digit));
        was_digit = Some(is_digit);
    }
    letters > 0 && digits > 0 && (is_hex || changes * CHANGE >= value.len())
}

#[cfg(test)]
mod tests {
    use super::is_token;

    #[test]
    fn what_a_machine_made_is_told_from_numbers_and_words() {
        for token in [
            "0123456789abcdef0123456789ABCDEF",
            "8e3v4e6rt8y9u1i2o3pa5s6dfg",
            "mza2ji454s04cwbgwb2ttj55",
            "123e4567-e89b-12d3-a456-426614174000",
            "A1B2C3D4E5F6A7B8.node1",
        ] {
            assert!(is_token(token, 16), "{token}");
        }
        for other in [
            "",
            "7",
            "article",
            "12345678901234567890",
            "my-article-of-2026",
            "report-2024.01.pdf",
            "abcdefghijklmnopqrstuvwxyz",
            "0123456789abcde",
            "a%20b%20c1%202d3e4f5",
        ] {
            assert!(!is_token(other, 16), "{other}");
        }
    }
}
