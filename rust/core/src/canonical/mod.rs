//! Stage 2, canonical: the only maker of URLs.
//!
//! Takes a raw link (and the base it was found under), gives a [`Url`], or a [`Refusal`] that
//! says why not. Guarantees:
//!
//! * one spelling per resource: parsing and resolution by the WHATWG URL standard, then the
//!   additions listed in `docs/path/2-canonical.md`;
//! * idempotent: the canonical form of a canonical form is itself;
//! * `http` and `https` only, at most `max_length` bytes of printable ASCII;
//! * linear time and no panic, whatever the input.
//!
//! `fast` handles the plain links that make up nearly all of the web; `slow` handles everything
//! by way of the `url` crate. A property test holds the two equal.

mod address;
mod base;
mod charset;
mod fast;
#[doc(hidden)]
pub mod fuzz;
mod keys;
mod refusal;
mod rules;
mod slow;
mod strip;
mod token;
mod url;
mod whatwg;

#[cfg(test)]
mod bench;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

pub use address::literal_address;
pub use base::Base;
pub(crate) use keys::key as url_key;
pub use keys::{UrlKey, home, partition, partition_range};
pub use refusal::Refusal;
pub use rules::{Grouping, Names, Rules, SESSION_PARAMS, SESSION_TOKEN, TRACKING_PARAMS};
pub use token::is_token;
pub use url::Url;

/// The canonical form of `raw` as found under `base`.
///
/// # Errors
/// A [`Refusal`] when `raw` is no URL, or none that we could fetch.
pub fn canonical(raw: &str, base: Option<&Base>, rules: &Rules) -> Result<Url, Refusal> {
    let raw = trim(raw);
    // Scripts and inlined data are common and can be long: judged before anything is copied.
    if scheme_of(raw).is_some_and(|scheme| !is_web(scheme)) {
        return Err(Refusal::Scheme);
    }
    // A raw link may shrink (tabs, dot segments, tracking parameters), but not without end.
    if raw.len() > rules.max_length.saturating_mul(8) {
        return Err(Refusal::TooLong);
    }
    let spelled = base.and_then(|base| charset::spell_query(raw, base.charset()?));
    let raw = spelled.as_deref().unwrap_or(raw);
    match fast::resolve(raw, base, rules) {
        Some(done) => done,
        None => slow::resolve(raw, base, rules),
    }
}

/// WHATWG: leading and trailing C0 controls and spaces are no part of a URL.
fn trim(raw: &str) -> &str {
    raw.trim_matches(|c: char| c <= ' ')
}

/// The scheme that `raw` begins with, as spelled. A scheme broken by tabs or line ends is not
/// seen here: the slow path finds it.
fn scheme_of(raw: &str) -> Option<&str> {
    let bytes = raw.as_bytes();
    if !bytes.first()?.is_ascii_alphabetic() {
        return None;
    }
    let end = bytes
        .iter()
        .position(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')))?;
    (bytes[end] == b':').then(|| &raw[..end])
}

fn is_web(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}
