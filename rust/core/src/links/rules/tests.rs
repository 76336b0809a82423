#![allow(clippy::unwrap_used, clippy::panic)]

use proptest::prelude::*;

use super::*;
use crate::canonical::{Rules, canonical};
use crate::parse::LinkKind;

fn url(text: &str) -> Url {
    canonical(text, None, &Rules::default()).unwrap()
}

fn table(json: &str) -> RuleTable {
    serde_json::from_str(json).unwrap()
}

fn compile(rules: &str) -> Result<Option<Arc<RuleSet>>, String> {
    let credentials = r#"{"intranet": [["Authorization", "Bearer secret"]]}"#;
    RuleSet::compile(&table(&format!(
        r#"{{"list": [{rules}], "credentials": {credentials}}}"#
    )))
}

fn rules(list: &str) -> Arc<RuleSet> {
    compile(list).unwrap().unwrap()
}

/// The names of the rules that drop these, in a list where each drops.
fn dropped(conditions: &str, yes: &[&str], no: &[&str]) {
    let set = rules(&format!(
        r#"{{"name": "it", "match": {conditions}, "drop": "so"}}"#
    ));
    for text in yes {
        let url = url(text);
        assert!(
            set.dropped(&Facts::of(&url)).is_some(),
            "{conditions} {text}"
        );
    }
    for text in no {
        let url = url(text);
        assert!(
            set.dropped(&Facts::of(&url)).is_none(),
            "{conditions} {text}"
        );
    }
}

#[test]
fn each_condition_on_urls() {
    dropped(
        r#"{"host": ["www.Example.org", "a.test:81", "[::1]"]}"#,
        &[
            "http://www.example.org/x",
            "https://www.example.org:8/",
            "http://a.test:81/",
            "http://[::1]/",
        ],
        &[
            "http://example.org/",
            "http://a.test/",
            "http://b.www.example.org/",
        ],
    );
    dropped(
        r#"{"domain": ["example.org", "b\u00fccher.test"]}"#,
        &[
            "http://example.org/",
            "http://a.b.example.org:8/",
            "http://xn--bcher-kva.test/",
        ],
        &["http://notexample.org/", "http://org/"],
    );
    dropped(
        r#"{"path_prefix": ["/a/", "/a/b"]}"#,
        &["http://x/a/", "http://x/a/b?c", "http://y/a/z"],
        &["http://x/a", "http://x/b/a/"],
    );
    dropped(
        r#"{"glob": ["/*.cgi?*", "*/print"]}"#,
        &["http://x/a/b.cgi?c=d", "http://x/a/print"],
        &["http://x/a.cgi", "http://x/a/print/"],
    );
    dropped(
        r#"{"regex": ["/p[0-9]+$"]}"#,
        &["http://x/p12"],
        &["http://x/p12/"],
    );
    dropped(
        r#"{"query": ["print", "sort=d*"]}"#,
        &[
            "http://x/?a=1&print",
            "http://x/?print=",
            "http://x/?sort=desc",
        ],
        &[
            "http://x/print",
            "http://x/?sort=asc",
            "http://x/?printed=1",
            "http://x/?a=print",
        ],
    );
    dropped(r#"{"scheme": ["http"]}"#, &["http://x/"], &["https://x/"]);
    dropped("{}", &["http://x/"], &[]);
}

#[test]
fn conditions_are_spelt_as_urls_are() {
    dropped(
        r#"{"path_prefix": ["/caf\u00e9/", "/a b/", "/%c3%a4"]}"#,
        &[
            "http://x/caf\u{e9}/1",
            "http://x/caf%c3%a9/1",
            "http://x/a b/",
            "http://x/\u{e4}",
        ],
        &["http://x/cafe/"],
    );
    dropped(
        r#"{"glob": ["*/caf\u00e9?q=*'*"]}"#,
        &["http://x/a/caf\u{e9}?q=it's"],
        &["http://x/caf\u{e9}"],
    );
    dropped(
        r#"{"query": ["gr\u00f6\u00dfe", "sort=na\u00efve*"]}"#,
        &["http://x/?gr\u{f6}\u{df}e=1", "http://x/?sort=na%c3%afve+1"],
        &["http://x/?sort=naive"],
    );
}

#[test]
fn a_port_that_is_given_must_hold() {
    dropped(
        r#"{"host": ["a.test:80", "127.0.0.1:443", "[::1]:80"]}"#,
        &[
            "http://a.test/",
            "http://a.test:80/",
            "https://a.test:80/",
            "https://127.0.0.1/",
            "http://[::1]/",
        ],
        &[
            "https://a.test/",
            "http://a.test:8080/",
            "http://127.0.0.1/",
            "http://127.0.0.1:8000/",
            "https://[::1]/",
        ],
    );
}

#[test]
fn all_conditions_must_hold_and_of_a_list_one() {
    dropped(
        r#"{"host": ["a.test", "b.test"], "path_prefix": ["/x"], "query": ["p"], "scheme": ["https"]}"#,
        &["https://a.test/x?p", "https://b.test/xy?p=1"],
        &[
            "http://a.test/x?p",
            "https://c.test/x?p",
            "https://a.test/x",
            "https://a.test/?p",
        ],
    );
}

#[test]
fn depth_and_kind_are_facts_of_a_link() {
    let set = rules(
        r#"{"name": "deep", "match": {"depth": [3, 5]}, "drop": "deep"},
           {"name": "form", "match": {"kind": ["form", "img"]}, "drop": "form"}"#,
    );
    let url = url("http://x/");
    let name = |depth: u16, kind: LinkKind| {
        let facts = Facts::of(&url).at_depth(depth).found_as(kind);
        set.dropped(&facts).map(|drop| drop.rule.to_owned())
    };
    assert_eq!(name(2, LinkKind::A), None);
    assert_eq!(name(3, LinkKind::A).as_deref(), Some("deep"));
    assert_eq!(name(5, LinkKind::Form).as_deref(), Some("deep"));
    assert_eq!(name(6, LinkKind::Form).as_deref(), Some("form"));
    assert_eq!(name(6, LinkKind::A), None);
    assert_eq!(
        set.dropped(&Facts::of(&url)),
        None,
        "what is not known matches nothing"
    );
}

#[test]
fn the_first_that_matches_decides_each_effect() {
    let set = rules(
        r#"{"name": "one", "match": {"path_prefix": ["/a"]}, "score": {"add": 0.25}},
           {"name": "two", "match": {"path_prefix": ["/a/b"]}, "score": {"set": 0.5}, "drop": "two"},
           {"name": "three", "drop": "three"}"#,
    );
    let terms = |text: &str| {
        let url = url(text);
        let terms = set.link(&Facts::of(&url));
        (terms.score, terms.drop.map(|drop| drop.reason.to_owned()))
    };
    assert_eq!(
        terms("http://x/a/b"),
        (Some(ScoreChange::Add(0.25)), Some("two".into()))
    );
    assert_eq!(terms("http://x/"), (None, Some("three".into())));
    assert_eq!(ScoreChange::Add(0.25).apply(0.9), 1.0);
    assert_eq!(ScoreChange::Set(0.5).apply(0.9), 0.5);
}

#[test]
fn hosts_requests_and_pages() {
    let set = rules(
        r#"{"name": "slow", "match": {"domain": ["a.test"]}, "delay": 5000000},
           {"name": "wide", "match": {"host": ["w.a.test"]}, "per_host": 4, "delay": 0},
           {"name": "few", "quota": 7},
           {"name": "login", "match": {"host": ["a.test"], "path_prefix": ["/in/"]}, "credentials": "intranet"},
           {"name": "feeds", "match": {"mime": ["application/rss+xml"]}, "store": false, "refresh": 60000000},
           {"name": "errors", "match": {"status": [[400, 499]]}, "follow": false},
           {"name": "media", "match": {"mime": ["image/*"]}, "keep_body": false, "store": true}"#,
    );
    let terms = |delay, per_host| HostTerms {
        delay,
        per_host,
        quota: Some(7),
    };
    assert_eq!(set.host("w.a.test:8080"), terms(Some(5_000_000), Some(4)));
    assert_eq!(set.host("b.test"), terms(None, None));
    let headers = |text: &str| set.credentials(&Facts::of(&url(text))).cloned();
    assert_eq!(headers("http://a.test/in/x").unwrap()[0].0, "Authorization");
    assert!(headers("http://a.test/out").is_none() && headers("http://b.test/in/").is_none());
    let url = url("http://x/");
    let page = |mime: Option<&str>, status| {
        let terms = set.page(&Facts::of(&url).at_depth(1).answered(mime, status));
        (terms.follow, terms.store, terms.keep_body)
    };
    assert_eq!(
        page(Some("Application/RSS+xml; charset=x"), 200),
        (true, false, true)
    );
    assert_eq!(page(Some("image/png"), 404), (false, true, false));
    assert_eq!(page(None, 200), (true, true, true));
    let again = |mime| set.refresh_interval(&url, 0, mime, 200);
    assert_eq!(
        again(Some("application/rss+xml")),
        Some(Duration::from_secs(60))
    );
    assert_eq!(again(Some("text/html")), None);
}

#[test]
fn why_names_the_rules_and_what_it_does_not_know() {
    let set = rules(
        r#"{"name": "feeds", "match": {"mime": ["text/xml"]}, "follow": false},
           {"name": "rest", "match": {"host": ["x"]}, "follow": true, "drop": "no", "quota": 3},
           {"name": "login", "match": {"host": ["x"]}, "credentials": "intranet"},
           {"name": "never", "match": {"host": ["y"]}, "follow": true}"#,
    );
    let url = url("http://x/");
    let decisions = set.explain(&Facts::of(&url));
    let told: Vec<_> = decisions
        .iter()
        .map(|one| {
            (
                one.effect,
                one.rule,
                one.value.as_str(),
                one.depends_on.join(" "),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("drop", "rest", "no", String::new()),
            ("quota", "rest", "3", String::new()),
            ("credentials", "login", "intranet", String::new()),
            ("follow", "feeds", "false", "mime".to_owned()),
            ("follow", "rest", "true", String::new()),
        ]
    );
    assert!(!format!("{decisions:?}").contains("secret"));
}

#[test]
fn what_is_wrong_is_named_with_rule_and_field() {
    for (wrong, said) in [
        (
            r#"{"name": "a", "match": {"regex": ["caf\u00e9"]}, "drop": "so"}"#,
            "rule 'a': match.regex: \"caf\u{e9}\" has '\u{e9}', and URLs are in ASCII: write %C3%A9",
        ),
        (
            r#"{"name": "a", "match": {"path_prefix": ["/a/../b"]}, "drop": "so"}"#,
            "rule 'a': match.path_prefix: \"/a/../b\" has a segment of dots",
        ),
        (
            r#"{"name": "a", "match": {"query": ["a&b"]}, "drop": "so"}"#,
            "rule 'a': match.query: \"a&b\" is more than one parameter",
        ),
        (
            r#"{"name": "a", "match": {"domain": ["a.test:80"]}, "drop": "so"}"#,
            "rule 'a': match.domain: \"a.test:80\" has a port",
        ),
        (
            r#"{"name": "a", "match": {"host": ["a.test:443"]}, "delay": 1}"#,
            "rule 'a': delay: it cannot depend on the port of a.test:443",
        ),
        (
            r#"{"name": "x", "match": {"regex": ["a("]}, "drop": "y"}"#,
            "rule 'x': match.regex: ",
        ),
        (
            r#"{"name": "x", "match": {"host": ["a/b"]}, "drop": "y"}"#,
            "rule 'x': match.host: ",
        ),
        (
            r#"{"name": "x", "match": {"domain": ["a:80", "b:81"]}, "drop": "y"}"#,
            "rule 'x': match.domain: ",
        ),
        (
            r#"{"name": "x", "match": {"kind": ["link", "anker"]}, "drop": "y"}"#,
            "rule 'x': match.kind: \"anker\" is none of a, ",
        ),
        (
            r#"{"name": "x", "match": {"mime": ["html"]}, "store": true}"#,
            "rule 'x': match.mime: ",
        ),
        (
            r#"{"name": "x", "match": {"path_prefix": ["a"]}, "drop": "y"}"#,
            "rule 'x': match.path_prefix: ",
        ),
        (
            r#"{"name": "x", "match": {"query": ["=a"]}, "drop": "y"}"#,
            "rule 'x': match.query: ",
        ),
        (
            r#"{"name": "x", "match": {"scheme": ["ftp"]}, "drop": "y"}"#,
            "rule 'x': match.scheme: ",
        ),
        (
            r#"{"name": "x", "match": {"status": [[5, 6]]}, "store": true}"#,
            "rule 'x': match.status: ",
        ),
        (
            r#"{"name": "x", "match": {"path_prefix": ["/"]}, "delay": 1}"#,
            "rule 'x': delay: it cannot depend on match.path_prefix: it holds for a whole host",
        ),
        (
            r#"{"name": "x", "match": {"scheme": ["http"]}, "quota": 1}"#,
            "rule 'x': quota: it cannot depend on match.scheme",
        ),
        (
            r#"{"name": "x", "match": {"mime": ["text/html"]}, "drop": "y"}"#,
            "rule 'x': drop: it cannot depend on match.mime",
        ),
        (
            r#"{"name": "x", "match": {"kind": ["a"]}, "follow": true}"#,
            "rule 'x': follow: it cannot depend on match.kind",
        ),
        (
            r#"{"name": "x", "match": {"path_prefix": ["/"]}, "credentials": "intranet"}"#,
            "rule 'x': credentials: it needs match.host or match.domain",
        ),
        (
            r#"{"name": "x", "match": {"host": ["a"]}, "credentials": "other"}"#,
            "rule 'x': credentials: there are no credentials called \"other\"",
        ),
        (
            r#"{"name": "x", "match": {"host": ["a"]}}"#,
            "rule 'x': effect: it has none",
        ),
        (
            r#"{"name": "x", "drop": "y"}, {"name": "x", "drop": "y"}"#,
            "rule 'x': name: another",
        ),
        (
            r#"{"name": "x", "score": {"set": -0.5}}"#,
            "rule 'x': score: ",
        ),
        (r#"{"name": "x", "drop": ""}"#, "rule 'x': drop: a reason"),
        (r#"{"name": "x", "per_host": 0}"#, "rule 'x': per_host: "),
    ] {
        let error = compile(wrong).unwrap_err();
        assert!(error.starts_with(said), "{wrong}: {error}");
    }
    let many: Vec<String> = (0..=MOST_RULES)
        .map(|number| format!(r#"{{"name": "{number}", "drop": "x"}}"#))
        .collect();
    assert!(
        compile(&many.join(","))
            .unwrap_err()
            .starts_with("rules: list: 1025 rules")
    );
    assert!(compile(&many[1..].join(",")).is_ok());
    assert!(compile("").unwrap().is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A list gives what asking each rule alone, in order, gives.
    #[test]
    fn a_list_is_its_rules_one_after_the_other(
        made in prop::collection::vec((0..4u8, 0..4u8, 0..4u8, any::<[bool; 6]>()), 1..100),
        paths in prop::collection::vec("/[ab]{0,3}(/[ab]{0,2})?([?][pq]=[ab]?)?", 1..10),
        depth in 0..4u16,
    ) {
        let rows: Vec<String> = made.iter().enumerate().map(|(number, (a, b, c, has))| {
            let mut conditions = Vec::new();
            let letter = ["a", "b", "aa", "ab"];
            let of = |at: u8| letter[usize::from(at)];
            if has[0] { conditions.push(format!(r#""host": ["{}.test"]"#, of(*a))); }
            if has[1] { conditions.push(format!(r#""path_prefix": ["/{}"]"#, of(*b))); }
            if has[2] { conditions.push(format!(r#""glob": ["*{}*"]"#, of(*c))); }
            if has[3] { conditions.push(format!(r#""query": ["p", "q={}"]"#, of(*a))); }
            if has[4] { conditions.push(format!(r#""depth": [{}, 3]"#, a.min(&3))); }
            if has[5] { conditions.push(format!(r#""regex": ["{}$"]"#, of(*b))); }
            format!(r#"{{"name": "{number}", "match": {{{}}}, "drop": "x"}}"#, conditions.join(","))
        }).collect();
        let all = rules(&rows.join(","));
        let each: Vec<_> = rows.iter().map(|row| rules(row)).collect();
        for (number, path) in paths.iter().enumerate() {
            let host = ["a.test", "b.test", "ab.test"][number % 3];
            let url = url(&format!("http://{host}{path}"));
            let facts = Facts::of(&url).at_depth(depth);
            let alone = each.iter().find_map(|set| set.dropped(&facts));
            let alone = alone.map(|drop| drop.rule);
            prop_assert_eq!(all.dropped(&facts).map(|drop| drop.rule), alone);
        }
    }
}

/// Hundreds of rules cost about what ten do: within a factor that looking at each would break.
#[test]
fn the_cost_is_flat() {
    let list = |count: usize| {
        let rows: Vec<String> = (0..count)
            .map(|n| match n % 4 {
                0 => format!(
                    r#"{{"name": "{n}", "match": {{"domain": ["d{n}.test"]}}, "drop": "x"}}"#
                ),
                1 => format!(
                    r#"{{"name": "{n}", "match": {{"path_prefix": ["/p{n}/"]}}, "drop": "x"}}"#
                ),
                2 => format!(r#"{{"name": "{n}", "match": {{"query": ["q{n}"]}}, "drop": "x"}}"#),
                _ => format!(
                    r#"{{"name": "{n}", "match": {{"glob": ["/g{n}/*.html"]}}, "drop": "x"}}"#
                ),
            })
            .collect();
        rules(&rows.join(","))
    };
    let url = url("http://www.example.org/some/folders/page.html?a=1&b=2");
    let time = |set: &RuleSet| {
        let facts = Facts::of(&url);
        assert!(set.dropped(&facts).is_none());
        let mut best = Duration::MAX;
        for _ in 0..20 {
            let begun = std::time::Instant::now();
            for _ in 0..1_000 {
                assert!(set.dropped(std::hint::black_box(&facts)).is_none());
            }
            best = best.min(begun.elapsed());
        }
        best
    };
    let (few, many) = (time(&list(8)), time(&list(1_000)));
    assert!(many < few * 8, "{few:?} and {many:?} for a thousand URLs");
}
