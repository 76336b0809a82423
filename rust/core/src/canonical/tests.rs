//! Examples, one per line of the stage's page.
#![allow(clippy::unwrap_used, clippy::panic)]

use super::{Base, Grouping, Names, Refusal, Rules, Url, canonical, literal_address, partition};

fn made(raw: &str) -> String {
    canonical(raw, None, &Rules::default())
        .unwrap()
        .into_string()
}

fn under(raw: &str, base: &str) -> String {
    let base = Base::parse(base, None).unwrap();
    canonical(raw, Some(&base), &Rules::default())
        .unwrap()
        .into_string()
}

fn refused(raw: &str) -> Refusal {
    canonical(raw, None, &Rules::default()).unwrap_err()
}

#[test]
fn one_spelling() {
    for (raw, expected) in [
        ("HTTP://User:Secret@EXAMPLE.org:80", "http://example.org/"),
        (
            "https://example.org:443/a/./b/../c#top",
            "https://example.org/a/c",
        ),
        ("http://example.org./x", "http://example.org/x"),
        (
            "http://example.org/%7bfoo%7d?q=%e9",
            "http://example.org/%7Bfoo%7D?q=%E9",
        ),
        (
            "http://bücher.example/ü",
            "http://xn--bcher-kva.example/%C3%BC",
        ),
        ("  http://example.org/a b\t", "http://example.org/a%20b"),
        ("http://example.org?", "http://example.org/?"),
        ("http:\\\\example.org\\a", "http://example.org/a"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://127.0.0.1:8000/p", "http://127.0.0.1:8000/p"),
        ("http://[0:0::1]:81/", "http://[::1]:81/"),
    ] {
        assert_eq!(made(raw), expected, "{raw}");
    }
}

#[test]
fn relative_links() {
    let base = "https://example.org/a/b/c.html?x=1#f";
    for (raw, expected) in [
        ("", "https://example.org/a/b/c.html?x=1"),
        ("#top", "https://example.org/a/b/c.html?x=1"),
        ("?y=2", "https://example.org/a/b/c.html?y=2"),
        ("d.html", "https://example.org/a/b/d.html"),
        ("./d", "https://example.org/a/b/d"),
        ("../d", "https://example.org/a/d"),
        ("../../../../d", "https://example.org/d"),
        ("/d%2fe", "https://example.org/d%2Fe"),
        ("//Other.example/x", "https://other.example/x"),
        ("https:d", "https://example.org/a/b/d"),
        ("x/y:/../z", "https://example.org/a/b/x/z"),
        ("x/C|/%2e%2E/z:", "https://example.org/a/b/x/z:"),
        ("//c:/q0q/d:/../e", "https://c/q0q/e"),
        ("/c:/../q0q/Q1q/q%32q", "https://example.org/q0q/Q1q/q%32q"),
        ("//c:/../q%30q/d:/../e", "https://c/q%30q/e"),
        ("///other.example/x", "https://other.example/x"),
        ("//XN--a.example/x", "https://xn--a.example/x"),
    ] {
        assert_eq!(under(raw, base), expected, "{raw}");
    }
}

#[test]
fn a_host_that_only_claims_to_be_punycode() {
    let base = "http://xn--a.example/b/c";
    assert_eq!(under("", base), base);
    assert_eq!(under("d e", base), "http://xn--a.example/b/d%20e");
    assert_eq!(under("/d/./e", base), "http://xn--a.example/d/e");
    assert_eq!(
        made("http://u@xn--%61.example:81/"),
        "http://xn--a.example:81/"
    );
    assert_eq!(refused("http://xn--a.ü.example/"), Refusal::Host);
    assert_eq!(refused("http://xn--a.1.2/"), Refusal::Host);
}

/// The time of a link that needs a mark grows with its length, not with its square. Compared with
/// a link of the same length that needs none, so that a busy machine slows both.
#[test]
fn marks_are_found_in_linear_time() {
    let rules = Rules {
        max_length: 1 << 20,
        ..Rules::plain()
    };
    let words: String = (0..60_000).map(|number| format!("q{number}")).collect();
    let time = |link: &str| {
        let best = (0..5).map(|_| {
            let begun = std::time::Instant::now();
            assert!(canonical(link, None, &rules).is_ok());
            begun.elapsed()
        });
        best.min().unwrap_or_default()
    };
    let plain = time(&format!("http://e.org/cc/../{words}q"));
    let marked = time(&format!("http://e.org/c:/../{words}q"));
    assert!(marked < plain * 50, "{marked:?} against {plain:?}");
}

#[test]
fn removes_tracking_and_sessions() {
    for (raw, expected) in [
        (
            "http://e.org/?utm_source=a&b=1&UTM_x=2",
            "http://e.org/?b=1",
        ),
        ("http://e.org/?fbclid=1", "http://e.org/"),
        (
            "http://e.org/p;jsessionid=AB12CD34EF56AB78?x=1",
            "http://e.org/p?x=1",
        ),
        (
            "http://e.org/p;v=1;JSESSIONID=AB12CD34EF56AB78.node1/q",
            "http://e.org/p;v=1/q",
        ),
        (
            "http://e.org/?PHPSESSID=8e3v4e6rt8y9u1i2o3pa5s6dfg&a=&&b",
            "http://e.org/?a=&&b",
        ),
        (
            "http://e.org/?sid=0123456789abcdef&side=4",
            "http://e.org/?side=4",
        ),
        // A session's name is no evidence: these may be pages.
        (
            "http://e.org/article.php?sid=7&sessionid=latest",
            "http://e.org/article.php?sid=7&sessionid=latest",
        ),
        ("http://e.org/p;sid=7/q?sid", "http://e.org/p;sid=7/q?sid"),
        (
            "http://e.org/a/..;jsessionid=0123456789abcdef/b",
            "http://e.org/a/..;jsessionid=0123456789abcdef/b",
        ),
    ] {
        assert_eq!(made(raw), expected, "{raw}");
        assert_eq!(made(expected), expected);
    }
    let plain = Rules::plain();
    let kept = "http://e.org/p;jsessionid=0123456789abcdef?utm_source=a";
    assert_eq!(canonical(kept, None, &plain).unwrap().as_str(), kept);
    let own = Rules {
        strip_params: Names::new(["ref", "x-*"]),
        ..Rules::plain()
    };
    let made = canonical("http://e.org/?REF=1&x-a=2&y=3", None, &own).unwrap();
    assert_eq!(made.as_str(), "http://e.org/?y=3");
}

#[test]
fn refuses_with_a_reason() {
    assert_eq!(refused("mailto:someone@example.org"), Refusal::Scheme);
    assert_eq!(refused("javascript:void(0)"), Refusal::Scheme);
    assert_eq!(refused("ftp://example.org/"), Refusal::Scheme);
    assert_eq!(refused("/path"), Refusal::NoBase);
    assert_eq!(refused("http://"), Refusal::Host);
    assert_eq!(refused("http://1.2.3.256/"), Refusal::Host);
    assert_eq!(refused("http://a..b/"), Refusal::HostName);
    assert_eq!(refused("http://a:99999/"), Refusal::Port);
    assert_eq!(
        refused(&format!("http://e.org/{}", "a".repeat(2048))),
        Refusal::TooLong
    );
    assert_eq!(
        refused(&format!("http://{}.org/", "a".repeat(64))),
        Refusal::HostName
    );
    assert!(!Refusal::Scheme.to_string().is_empty());
}

#[test]
fn parts() {
    let url = canonical(
        "https://www.Example.co.uk:8443/a?b",
        None,
        &Rules::default(),
    )
    .unwrap();
    assert_eq!(url.host(), "www.example.co.uk:8443");
    assert_eq!(url.hostname(), "www.example.co.uk");
    assert_eq!(
        (url.port(), url.scheme_is_https(), url.is_dynamic()),
        (8443, true, true)
    );
    assert_eq!(url.path_and_query(), "/a?b");
    assert_eq!(url.origin(), "https://www.example.co.uk:8443");
    assert_eq!(url.registered_domain(), Some("example.co.uk"));
    let six = canonical("http://[::1]/", None, &Rules::default()).unwrap();
    assert_eq!(
        (six.hostname(), six.port(), six.registered_domain()),
        ("[::1]", 80, None)
    );
    assert_eq!(literal_address(&six), Some("::1".parse().unwrap()));
    let idn = canonical("http://a.b.公司.cn/", None, &Rules::default()).unwrap();
    assert_eq!(idn.registered_domain(), Some("b.xn--55qx5d.cn"));
}

#[test]
fn keys_keep_hosts_together() {
    let make = |raw: &str, grouping| {
        canonical(
            raw,
            None,
            &Rules {
                grouping,
                ..Rules::default()
            },
        )
        .unwrap()
    };
    let (one, two) = (
        make("http://a.org/1", Grouping::Host),
        make("http://a.org/2", Grouping::Host),
    );
    assert_eq!(one.host_key(), two.host_key());
    assert_eq!(one.fingerprint() >> 32, two.fingerprint() >> 32);
    assert_ne!(one.fingerprint(), two.fingerprint());
    assert_eq!(one.key()[..8], one.fingerprint().to_be_bytes());
    let (site, mirror) = (
        make("http://shop.a.org/", Grouping::FirstLabel),
        make("http://shop.b.org/", Grouping::FirstLabel),
    );
    assert_eq!(site.host_key() >> 32, mirror.host_key() >> 32);
    assert_ne!(site.host_key(), mirror.host_key());
    let (here, there) = (
        make("http://127.0.0.1/", Grouping::FirstLabel),
        make("http://127.0.0.2/", Grouping::FirstLabel),
    );
    assert_ne!(here.host_key() >> 32, there.host_key() >> 32);
}

#[test]
fn partitions_are_ranges_of_keys() {
    assert_eq!(partition(0, 256), 0);
    assert_eq!(partition(u64::MAX, 256), 255);
    assert_eq!(partition(1 << 56, 256), 1);
    assert_eq!(partition((1 << 56) - 1, 256), 0);
    assert_eq!(partition(u64::MAX, 1), 0);
}

#[test]
fn reads_back_its_own_text_and_nothing_else() {
    let text = "https://e.org:81/a?b";
    let url = Url::from_canonical(text.to_owned(), Grouping::Host).unwrap();
    assert_eq!(url.as_str(), text);
    for broken in [
        "",
        "ftp://e.org/",
        "http://e.org",
        "http:///a",
        "http://E.org/",
        "http://e.org/a b",
        "http://e.org/#f",
        "http://e.org:99999/",
        "http://e.org:/",
    ] {
        assert!(
            Url::from_canonical(broken.to_owned(), Grouping::Host).is_err(),
            "{broken}"
        );
    }
}
