//! Property tests: the guarantees of the stage on generated links.
#![allow(clippy::unwrap_used, clippy::panic)]

use super::fuzz::check;
use super::{Base, Rules};
use proptest::prelude::*;

/// Pieces of links, plain and nasty, so that joined at random they meet the edges.
fn piece() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "/",
        "//",
        ".",
        "..",
        "./",
        "../",
        "?",
        "#",
        "&",
        "=",
        ";",
        ":",
        "@",
        "%",
        "%2e",
        "%2E",
        "%2",
        "%7b",
        "%C3%a9",
        "%zz",
        "\\",
        "\t",
        "\n",
        " ",
        "'",
        "\"",
        "<",
        "|",
        "^",
        "`",
        "{",
        "[",
        "]",
        "http:",
        "https:",
        "http://",
        "https://",
        "HTTP://",
        "ftp://",
        "mailto:",
        "javascript:",
        "www.",
        "example.org",
        "Example.ORG",
        "a.b.",
        "xn--bcher-kva.example",
        "xn--",
        "XN--a",
        "xn--a.example",
        "_x-_a",
        "/c:/",
        "/d|",
        "q0q",
        "bücher.example",
        "é",
        "\u{3002}",
        "127.0.0.1",
        "127.1",
        "0x7f.1",
        "256.256.256.256",
        "1.2.3.04",
        "[::1]",
        ":80",
        ":443",
        ":8080",
        ":0",
        ":99999",
        ":080",
        "user:pw@",
        "utm_source=x",
        "&utm_a=1",
        "gclid=",
        "sid=0123456789abcdef",
        ";jsessionid=0123456789abcdef",
        ";JSESSIONID=2",
        "PHPSESSID=9",
        "a=1",
        "index.html",
        "a",
        "b",
        "c_d-e",
        "~u",
        "\u{0}",
        "\u{ad}",
    ])
    .prop_map(str::to_owned);
    prop_oneof![6 => fixed, 2 => "[a-z0-9]{1,4}", 1 => any::<char>().prop_map(String::from)]
}

fn link() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::collection::vec(piece(), 0..8).prop_map(|pieces| pieces.concat()),
        (
            "(https?://)?[a-z0-9.:-]{0,12}",
            prop::collection::vec(piece(), 0..5)
        )
            .prop_map(|(host, pieces)| host + &pieces.concat()),
        "(\\.\\./|\\./|/)?[a-z0-9./?&=;%#:~_-]{0,20}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn guarantees_hold_without_base(raw in link()) {
        check(&raw, None, &Rules::default());
        check(&raw, None, &Rules::plain());
    }

    #[test]
    fn guarantees_hold_under_a_base(raw in link(), base in link()) {
        let base = Base::parse(&format!("http://h.example/{base}"), None);
        if let Ok(base) = base {
            check(&raw, Some(&base), &Rules::default());
            check(&raw, Some(&base), &Rules { max_length: 40, ..Rules::plain() });
        }
    }

    #[test]
    fn guarantees_hold_under_any_base(raw in link(), base in link()) {
        if let Ok(base) = Base::parse(&base, None) {
            check(&raw, Some(&base), &Rules::default());
        }
    }
}
