//! Patterns of URLs as real software makes them.

use proptest::prelude::*;

use super::*;

fn settings() -> HintSettings {
    HintSettings {
        long_path: 9,
        grown_path: 5,
        repeats: 3,
        longest_run: 3,
        crowded_query: 5,
        years_ahead: 2,
        token: 16,
    }
}

fn pattern(path: &str, learner: &Learner) -> Pattern {
    Pattern::of(
        &format!("http://a.test{path}"),
        path,
        "",
        learner,
        &settings(),
    )
}

/// The pattern after so many other visits.
fn after(visits: &[String], path: &str) -> String {
    let mut learner = Learner::default();
    for visit in visits {
        pattern(visit, &learner).teach(&mut learner);
    }
    pattern(path, &learner).text
}

#[test]
fn what_varies_by_its_look_is_generalised_at_once() {
    for (url, expected) in [
        ("/", "/"),
        ("/a/b.html", "/a/b.html"),
        (
            "/shop/item-1234/9f8e7d6c5b4a?page=3&sort=up",
            "/shop/item-{n}/{hash}?page&sort=up",
        ),
        ("/?C=M;O=A", "/?C=M&O=A"),
        ("/x?sort=up&page=1", "/x?page&sort=up"),
        ("/facade/deadbeef", "/facade/deadbeef"),
        ("/u/2f1c-44d0-9a", "/u/{hash}"),
        ("/msg00123.html", "/msg{n}.html"),
        ("/login/?next=/topic/7/", "/login/?next"),
        ("/wiki/Caf%C3%A9", "/wiki/*"),
        ("/a/b/c/d/e/f/g.html", "/a/b/c/**"),
        ("/a/b/c/d/e/f/g/", "/a/b/c/**/"),
        ("/product/1234", "/product/{n}"),
    ] {
        assert_eq!(pattern(url, &Learner::default()).text, expected, "{url}");
    }
    let token = "x".repeat(50);
    assert_eq!(
        pattern(&format!("/t/{token}.html"), &Learner::default()).text,
        "/t/{long}"
    );
}

#[test]
fn urls_with_a_hint_are_of_a_family() {
    for (url, expected) in [
        ("/calendar/2061/12/8/", Some("/calendar… (date)")),
        ("/2020/05/", Some("/{n}… (date)")),
        ("/2020/05/a-title/", None),
        ("/cal?day=1889-01-02", Some("/cal… (date)")),
        ("/shop?sid=01234567abcdef01&p=2", Some("/shop… (token)")),
        ("/a/a/a/a/", Some("/a… (growing)")),
        ("/f?a=1&b=2&c=3&d=4&e=5", Some("/f… (growing)")),
        ("/product/1234", None),
    ] {
        let family = pattern(url, &Learner::default()).family;
        assert_eq!(family.as_deref(), expected, "{url}");
    }
}

#[test]
fn names_of_a_folder_with_many_become_one() {
    let letters = |n: usize| ["alpha", "beta", "gamma", "delta"][n % 4].repeat(1 + n / 4);
    let wiki: Vec<String> = (0..20).map(|n| format!("/wiki/{}", letters(n))).collect();
    assert_eq!(after(&wiki, "/wiki/Other"), "/wiki/*");
    assert_eq!(after(&wiki, "/wiki/Special:Log"), "/wiki/Special:*");
    assert_eq!(after(&wiki, "/wiki/Other/edit"), "/wiki/*/edit");
    assert_eq!(after(&wiki[..3], "/wiki/Other"), "/wiki/Other");
    let doku: Vec<String> = (0..20)
        .map(|n| format!("/doku.php?id={}&do=edit", letters(n)))
        .collect();
    assert_eq!(
        after(&doku, "/doku.php?id=other&do=edit"),
        "/doku.php?do=edit&id=*"
    );
    assert_eq!(
        after(&doku, "/doku.php?do=index&id=other"),
        "/doku.php?do=index&id=*"
    );
    // What was visited often keeps its name.
    let mut blog: Vec<String> = (0..6)
        .map(|n| format!("/category/{}/", letters(n)))
        .collect();
    blog.extend((0..20).map(|n| format!("/{}/", letters(n))));
    assert_eq!(after(&blog, "/category/other/"), "/category/other/");
    assert_eq!(after(&blog, "/a-new-post/"), "/*/");
    assert_eq!(after(&blog, "/a-new-post/feed/"), "/*/feed/");
}

proptest! {
    #[test]
    fn patterns_are_bounded(path in "/[a-z0-9/é?&=%:.-]{0,300}", from in "[a-z/:.]{0,30}") {
        let mut learner = Learner::default();
        let url = format!("http://a.test{path}");
        for _ in 0..3 {
            let pattern = Pattern::of(&url, &path, &from, &learner, &settings());
            prop_assert!(pattern.text.len() <= LONGEST + 32);
            prop_assert!(pattern.text.starts_with('/'));
            pattern.teach(&mut learner);
        }
    }
}

/// The pages that a URL of some pattern is a view of.
fn pages(pattern: &str, path: &str) -> Vec<String> {
    let pattern = Pattern {
        text: pattern.into(),
        ..Pattern::default()
    };
    let origin = "http://a.example";
    let pages = pattern.pages(&format!("{origin}{path}"));
    let paths = pages.iter().map(|page| page.replace(origin, ""));
    paths.collect()
}

#[test]
fn a_view_is_told_from_its_page() {
    assert_eq!(pages("/*/raw", "/7/raw"), ["/7", "/7/"]);
    assert_eq!(pages("/*/t/", "/7/t/"), ["/7", "/7/"]);
    assert_eq!(
        pages("/wiki/*?print", "/wiki/A?print"),
        ["/wiki/A", "/wiki?print", "/wiki/?print"]
    );
    assert_eq!(
        pages("/x/commit/*/**?id", "/x/commit/a/b/c?id=1"),
        [
            "/x/commit/a/b/c",
            "/x/commit/a/b?id=1",
            "/x/commit/a/b/?id=1",
            "/x/commit/a?id=1",
            "/x/commit/a/?id=1",
            "/x/commit?id=1",
            "/x/commit/?id=1",
        ]
    );
    // A page by its parameters is no view of the page without any.
    assert_eq!(
        pages("/index.php?id&mod=news", "/index.php?mod=news&id=5"),
        ["/index.php?id=5", "/index.php?mod=news"]
    );
    assert_eq!(pages("/?a=log&p", "/?p=git;a=log"), ["/?a=log", "/?p=git"]);
    let whole: [&str; 0] = [];
    for (pattern, path) in [
        ("/index.php?id", "/index.php?id=5"),
        ("/docs/a/b.html", "/docs/a/b.html"),
        ("/wiki/*", "/wiki/A"),
        ("/?page", "/?page=2"),
        ("/", "/"),
    ] {
        assert_eq!(pages(pattern, path), whole, "{pattern}");
    }
}

#[test]
fn a_pattern_and_its_views_are_known_by_both_names() {
    assert_eq!(twins("/*/raw"), twins("/*/raw (view)"));
    assert_eq!(twins("/*/raw")[0], key_of("/*/raw"));
}
