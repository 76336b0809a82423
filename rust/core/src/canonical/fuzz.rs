//! What must hold for every input: run by the fuzzer and by the property tests.

use super::{Base, Grouping, Rules, Url, canonical, slow, trim};

/// Inputs to begin from: each meets a part of the code that random bytes hardly find.
pub const SEEDS: &[&[u8]] = &[
    b"https://user:pw@Example.org:443/a/./b/../%7ec;jsessionid=0123456789abcdef?utm_source=x&b=1#f",
    b"../c?d=e\nhttp://xn--a.example/x/y",
    b"//[::1]:81\\\\p\nhttps://0x7f.1/",
    "http://b\u{fc}cher.example./\u{e9}?q=\u{3042}".as_bytes(),
    b"http:g\nhttp://127.0.0.1:8000/a//b/",
];

/// Reads `data` as a link and, behind the first line end, the base it was found under.
///
/// # Panics
/// When a guarantee of the stage is broken.
#[allow(clippy::panic)]
pub fn fuzz_url(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (raw, base) = match text.split_once('\n') {
        Some((raw, base)) => (raw, Base::parse(base, None).ok()),
        None => (text.as_ref(), None),
    };
    for rules in [Rules::default(), Rules::plain()] {
        check(raw, base.as_ref(), &rules);
    }
}

/// Every guarantee of the stage, for one link.
///
/// # Panics
/// When a guarantee of the stage is broken.
pub fn check(raw: &str, base: Option<&Base>, rules: &Rules) {
    let made = canonical(raw, base, rules);
    // The fast path gives what the slow path gives, text and refusal alike, whenever it answers.
    if let Some(fast) = super::fast::resolve(trim(raw), base, rules) {
        assert_eq!(
            fast,
            slow::resolve(trim(raw), base, rules),
            "fast and slow differ on {raw:?}"
        );
    }
    let Ok(url) = made else { return };
    let text = url.as_str();
    assert!(text.len() <= rules.max_length, "too long: {text}");
    assert!(
        text.bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'#'),
        "not plain: {text}"
    );
    assert!(
        !url.hostname().is_empty() && !url.hostname().ends_with('.'),
        "host: {text}"
    );
    assert!(url.path_and_query().starts_with('/'), "path: {text}");
    let again = canonical(text, None, rules);
    assert_eq!(
        again.as_ref().map(Url::as_str),
        Ok(text),
        "not idempotent from {raw:?}"
    );
    let slowly = slow::resolve(text, None, rules);
    assert_eq!(
        slowly.as_ref().map(Url::as_str),
        Ok(text),
        "not idempotent the slow way from {raw:?}"
    );
    let read = Url::from_canonical(text.to_owned(), Grouping::Host);
    assert!(
        read.is_ok_and(|read| read.host_key() == url.host_key() && read.key() == url.key()),
        "not read back: {text}"
    );
    let _ = (
        url.registered_domain(),
        url.port(),
        super::literal_address(&url),
    );
}

#[cfg(test)]
mod tests {
    use super::{SEEDS, fuzz_url};

    #[test]
    fn guarantees_hold_on_mutated_seeds() {
        let rounds = std::env::var("FUZZ_ROUNDS")
            .ok()
            .and_then(|n| n.parse().ok())
            .unwrap_or(3000);
        crate::mutation::mutate(SEEDS, rounds, fuzz_url);
    }
}
