//! `srcset`: the candidates' addresses, split as the standard splits them.
//!
//! Descriptors are skipped, not judged: an image whose descriptor a browser would refuse is still
//! an address that the page names.

use super::tokenizer::is_space;

/// Calls `found` with each address in `value`.
pub fn candidates(value: &str, mut found: impl FnMut(&str)) {
    let bytes = value.as_bytes();
    let space = |at: usize| bytes.get(at).is_some_and(|b| is_space(*b));
    let mut at = 0;
    loop {
        while space(at) || bytes.get(at) == Some(&b',') {
            at += 1;
        }
        if at >= bytes.len() {
            return;
        }
        let from = at;
        while at < bytes.len() && !space(at) {
            at += 1;
        }
        let url = &value[from..at];
        let bare = url.trim_end_matches(',');
        if !bare.is_empty() {
            found(bare);
        }
        if bare.len() < url.len() {
            // A comma at the end of the address: no descriptors.
            continue;
        }
        let mut nested = false;
        while let Some(byte) = bytes.get(at) {
            at += 1;
            match byte {
                b'(' => nested = true,
                b')' => nested = false,
                b',' if !nested => break,
                _ => {}
            }
        }
    }
}
