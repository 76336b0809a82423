use super::*;
use crate::canonical::Rules;
use crate::parse::{Input, ParseSettings, parse};
use crate::store::state::State as _;
use crate::store::state::memory::MemoryState;

pub(crate) fn settings() -> ParameterSettings {
    ParameterSettings {
        enabled: true,
        agreements: 8,
        agreements_session: 3,
        pages: 3,
        values: 3,
        values_token: 2,
        without: 2,
        paths: 3,
        differences: 0.05,
        near_bits: 3,
        sample: 64,
        samples: 8,
        stale: 1_000,
    }
}

fn print(text: &str) -> Print {
    let html = format!("<p>{text}</p>");
    let page = parse(
        &Input {
            url: "http://e.org/",
            content_type: Some("text/html"),
            link: &[],
            robots: &[],
            now: 0,
            body: html.as_bytes(),
        },
        &ParseSettings::default(),
    );
    let mut content = [0; 20];
    content[..8].copy_from_slice(&xxh3_64(html.as_bytes()).to_le_bytes());
    Print::of(&page, Some(&content))
}

fn url(path: &str) -> Url {
    Url::from_canonical(
        format!("http://e.org{path}"),
        crate::canonical::Grouping::Host,
    )
    .unwrap()
}

struct Bench {
    parameters: Parameters,
    state: MemoryState,
    rules: Rules,
    now: u64,
    changed: Vec<Finding>,
    probes: Vec<String>,
}

impl Bench {
    fn new() -> Bench {
        let state = MemoryState::default();
        Bench {
            parameters: Parameters::open(&state).unwrap(),
            state,
            rules: Rules::default(),
            now: 0,
            changed: Vec::new(),
            probes: Vec::new(),
        }
    }

    fn visit(&mut self, path: &str, text: &str) {
        self.visit_print(path, print(text));
    }

    fn visit_print(&mut self, path: &str, print: Print) {
        let mut writes = Writes::default();
        let sessions = Sessions {
            names: &self.rules.strip_session,
            token: self.rules.session_token,
        };
        let told = self.parameters.visit(
            &url(path),
            print,
            self.now,
            sessions,
            &settings(),
            &mut writes,
        );
        self.state.apply(writes, false).unwrap();
        self.changed.extend(told.changed);
        self.probes.extend(told.probe);
    }

    /// Visits pages under ever other values; and without, where that is asked for.
    fn visit_all(&mut self, name: &str, rounds: u32, path: impl Fn(u32) -> String) {
        for n in 0..rounds {
            let page = path(n % 5);
            self.visit(&format!("{page}?{name}=v{n}x"), &words(&page));
            for probe in std::mem::take(&mut self.probes) {
                let path = probe.strip_prefix("http://e.org").unwrap().to_owned();
                self.visit(&path, &words(&path));
            }
        }
    }

    fn stripped(&self, path: &str) -> Option<String> {
        self.parameters.strip(&url(path)).map(|bare| bare.url)
    }
}

fn words(page: &str) -> String {
    (0..30).map(|n| format!("{page} word {n} ")).collect()
}

#[test]
fn a_parameter_that_changes_nothing_is_learnt_and_stored() {
    let mut bench = Bench::new();
    bench.visit_all("ref", 40, |n| format!("/p{n}"));
    let learnt: Vec<String> = bench.changed.iter().map(Finding::pattern).collect();
    assert!(learnt.contains(&"/p{n}?ref".to_owned()), "{learnt:?}");
    let expected = Some("http://e.org/p77?a=1".to_owned());
    assert_eq!(bench.stripped("/p77?a=1&ref=zz"), expected);
    assert_eq!(bench.stripped("/p77?a=1"), None);
    let bare = bench.parameters.strip(&url("/p1?ref=zz")).unwrap();
    assert!(bench.parameters.is_visited(&bare));
    let other = bench.parameters.strip(&url("/p77?ref=zz")).unwrap();
    assert!(!bench.parameters.is_visited(&other));
    // That a page was seen in red says nothing of the page itself.
    bench.visit("/p77?color=red", "red");
    assert!(!bench.parameters.is_visited(&other));
    bench.visit("/p77?ref=1", "all colours");
    assert!(bench.parameters.is_visited(&other));
    // Another process knows it too; of another host nothing is known.
    bench.parameters = Parameters::open(&bench.state).unwrap();
    assert_eq!(bench.stripped("/p77?a=1&ref=zz"), expected);
    let other = Url::from_canonical(
        "http://f.org/p1?ref=1".into(),
        crate::canonical::Grouping::Host,
    );
    assert_eq!(bench.parameters.strip(&other.unwrap()), None);
    let stored = stored(url("/").host_key(), &bench.state).unwrap();
    assert!(stored.strip(&url("/p1?ref=zz")).is_some());
}

#[test]
fn a_parameter_that_matters_is_never_learnt() {
    let mut bench = Bench::new();
    for n in 0..200 {
        bench.visit(
            &format!("/article.php?sid={n}"),
            &words(&format!("article {n}")),
        );
        bench.visit(
            &format!("/list/{}?page={}", n % 7, n / 7),
            &words(&format!("list {} {}", n % 7, n / 7)),
        );
    }
    assert!(bench.changed.is_empty());
}

#[test]
fn the_first_page_of_lists_says_nothing_of_the_others() {
    let mut bench = Bench::new();
    for n in 0..100 {
        let page = words(&format!("list {n}"));
        bench.visit(&format!("/list/{n}"), &page);
        bench.visit(&format!("/list/{n}?page=1"), &page);
    }
    assert!(bench.changed.is_empty());
    assert_eq!(bench.stripped("/list/3?page=2"), None);
}

#[test]
fn a_server_that_wants_the_parameter_keeps_it() {
    let mut bench = Bench::new();
    for n in 0..100 {
        let page = format!("/p{}", n % 5);
        bench.visit(&format!("{page}?ref=v{n}x"), &words(&page));
        for probe in std::mem::take(&mut bench.probes) {
            let path = probe.strip_prefix("http://e.org").unwrap().to_owned();
            bench.visit_print(&path, Print::default());
        }
    }
    assert!(bench.changed.is_empty());
}

#[test]
fn a_finding_that_does_not_hold_is_undone_for_good() {
    let mut bench = Bench::new();
    bench.visit_all("ref", 40, |n| format!("/p{n}"));
    assert!(bench.stripped("/p1?ref=zz").is_some());
    for n in 0..10 {
        bench.visit(
            &format!("/p{}?ref=s{n}", n % 5),
            &words(&format!("other {n}")),
        );
    }
    assert_eq!(bench.changed.last().unwrap().state, State::Undone);
    assert_eq!(bench.stripped("/p1?ref=zz"), None);
    bench.visit_all("ref", 200, |n| format!("/p{n}"));
    assert_eq!(bench.stripped("/p1?ref=zz"), None);
}

#[test]
fn what_somebody_keeps_stays() {
    let mut bench = Bench::new();
    bench.visit_all("ref", 40, |n| format!("/p{n}"));
    let mut writes = Writes::default();
    let host = url("/").host_key();
    assert!(!bench.parameters.keep(host, "other", &mut writes));
    assert!(bench.parameters.keep(host, "ref", &mut writes));
    bench.state.apply(writes, false).unwrap();
    assert_eq!(bench.stripped("/p1?ref=zz"), None);
    bench.parameters = Parameters::open(&bench.state).unwrap();
    bench.visit_all("ref", 100, |n| format!("/p{n}"));
    assert_eq!(bench.stripped("/p1?ref=zz"), None);
}

#[test]
fn sessions_need_fewer_pages() {
    let mut bench = Bench::new();
    bench.visit_all("sid", 9, |n| format!("/p{n}"));
    assert!(bench.stripped("/p1?sid=7").is_some());
}

#[test]
fn a_page_that_changed_meanwhile_says_nothing() {
    let mut bench = Bench::new();
    bench.visit_all("ref", 40, |n| format!("/p{n}"));
    bench.now = 10_000;
    for n in 0..5 {
        bench.visit(&format!("/p{n}?ref=s{n}"), &words(&format!("other {n}")));
    }
    assert!(bench.stripped("/p1?ref=zz").is_some());
}

#[test]
fn two_scripts_may_mean_two_things() {
    let mut bench = Bench::new();
    for n in 0..60 {
        let page = format!("/forum.php?t={}", n % 5);
        bench.visit(&format!("{page}&sid={n}"), &words(&page));
        for probe in std::mem::take(&mut bench.probes) {
            let path = probe.strip_prefix("http://e.org").unwrap().to_owned();
            bench.visit(&path, &words(&path));
        }
    }
    assert!(bench.stripped("/forum.php?t=99&sid=3").is_some());
    assert_eq!(bench.stripped("/article.php?sid=3"), None);
}

#[test]
fn some_urls_keep_it_to_see_whether_that_still_holds() {
    let mut bench = Bench::new();
    let mut rounds = 0;
    while bench.changed.is_empty() {
        rounds += 1;
        bench = Bench::new();
        bench.visit_all("ref", rounds, |n| format!("/p{n}"));
    }
    let samples = (0..10_000).filter(|n| {
        let url = url(&format!("/p{}?ref=n{n}", n % 5));
        let bare = bench.parameters.strip(&url).unwrap();
        bench.parameters.is_sample(&url, &bare, &settings())
    });
    let samples = samples.count();
    assert!((80..320).contains(&samples), "{samples}");
}

#[test]
fn a_number_that_means_nothing_in_articles_may_mean_something_in_a_list() {
    let mut bench = Bench::new();
    for article in ["ant", "bee", "cat", "dog", "elk"] {
        let page = format!("/a-{article}");
        bench.visit(&page, &words(&page));
        for n in 1..4 {
            bench.visit(&format!("{page}?page={n}"), &words(&page));
        }
    }
    // Here it was found, and there nobody has looked.
    assert!(bench.stripped("/a-ant?page=9").is_some());
    assert_eq!(bench.stripped("/news?page=2"), None);
    // Values that are made up for each link are the same everywhere.
    bench.visit_all("ref", 40, |n| {
        format!("/p-{}", char::from(b'a' + (n % 26) as u8))
    });
    assert!(bench.stripped("/news?ref=abc").is_some());
    // Unless the place itself speaks against it.
    bench.visit("/news", &words("/news"));
    bench.visit("/news?ref=one", &words("/other"));
    assert_eq!(bench.stripped("/news?ref=abc"), None);
}
