#![allow(clippy::unwrap_used)]

use super::*;
use crate::store::state::{MemoryState, State};

struct Bench {
    aliases: Aliases,
    state: MemoryState,
    starts: Starts,
    now: u64,
}

impl Bench {
    fn new(settings: Settings) -> Bench {
        let state = MemoryState::default();
        let aliases = Aliases::open(settings, Grouping::Host, &state).unwrap();
        Bench {
            aliases,
            state,
            starts: Starts::Same,
            now: 1,
        }
    }

    /// What a crash and a restart leave.
    fn reopen(&mut self) {
        let settings = self.aliases.settings().clone();
        self.aliases = Aliases::open(settings, Grouping::Host, &self.state).unwrap();
    }

    fn agree(&mut self, page: &str, original: &str, shared_address: bool) -> Option<Finding> {
        let mut writes = Writes::default();
        self.now += 1;
        let seen = Agreement {
            page: &url(page),
            original: &url(original),
            shared_address,
            now: self.now,
        };
        let starts = |_: [&str; 2]| Ok(self.starts);
        let finding = self
            .aliases
            .agree(&seen, &self.state, &mut writes, starts)
            .unwrap();
        self.state.apply(writes, false).unwrap();
        finding
    }

    /// Agreeing paths from a number on, until there is a finding; gives how many it took.
    fn agree_until_found(&mut self, alias: &str, of: &str, shared: bool, from: usize) -> usize {
        for number in 1..100 {
            let path = format!("/p{}", from + number);
            let page = format!("http://{alias}{path}");
            let original = format!("http://{of}{path}");
            if self.agree(&page, &original, shared).is_some() {
                return number;
            }
        }
        0
    }

    fn differ(&mut self, one: &str, other: &str, path: &str) {
        let mut writes = Writes::default();
        self.now += 1;
        let (one, other) = (key(one), key(other));
        self.aliases.differ(one, other, path, self.now, &mut writes);
        self.state.apply(writes, false).unwrap();
    }

    fn undo(&mut self, host: &str) -> Option<Finding> {
        let mut writes = Writes::default();
        let undone = self
            .aliases
            .undo(key(host), host, &self.state, &mut writes)
            .unwrap();
        self.state.apply(writes, false).unwrap();
        undone
    }

    fn of(&self, host: &str) -> Option<&str> {
        self.aliases.of(key(host), host)
    }
}

fn url(text: &str) -> Url {
    Url::from_canonical(text.to_owned(), Grouping::Host).unwrap()
}

fn key(host: &str) -> u64 {
    url(&format!("http://{host}/")).host_key()
}

#[test]
fn an_alias_is_found_after_enough_paths_and_not_before() {
    let mut bench = Bench::new(Settings::default());
    assert_eq!(bench.agree_until_found("b.test", "a.test", false, 0), 16);
    assert_eq!(bench.of("b.test"), Some("http://a.test"));
    assert_eq!(bench.of("a.test"), None);
    let (found, undone) = Aliases::list(&bench.state).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(
        (&*found[0].host, &*found[0].of),
        ("b.test", "http://a.test")
    );
    assert_eq!((found[0].agreements, found[0].differences), (16, 0));
    assert_eq!(found[0].examples, ["/p1", "/p2", "/p3"]);
    assert!(undone.is_empty());
}

#[test]
fn a_shared_address_needs_fewer_paths_and_once_is_enough() {
    let mut bench = Bench::new(Settings::default());
    assert_eq!(bench.agree_until_found("b.test", "a.test", true, 0), 8);
    for number in 0..9 {
        let path = format!("/q{number}");
        let found = bench.agree(
            &format!("http://d.test{path}"),
            &format!("http://c.test{path}"),
            false,
        );
        assert_eq!(found, None);
    }
    assert!(
        bench
            .agree("http://d.test/x", "http://c.test/x", true)
            .is_some()
    );
}

#[test]
fn a_path_counts_once_and_another_path_not_at_all() {
    let mut bench = Bench::new(Settings::default());
    for _ in 0..100 {
        assert_eq!(
            bench.agree("http://b.test/x", "http://a.test/x", true),
            None
        );
    }
    for number in 0..100 {
        let page = format!("http://b.test/{number}");
        assert_eq!(bench.agree(&page, "http://a.test/soft-404", true), None);
    }
    assert_eq!(bench.of("b.test"), None);
}

#[test]
fn start_pages_alone_begin_nothing() {
    let mut bench = Bench::new(Settings {
        after: 1,
        after_shared: 1,
        ..Settings::default()
    });
    assert_eq!(bench.agree("http://b.test/", "http://a.test/", true), None);
    assert!(bench.aliases.partners(key("b.test")).is_empty());
    assert!(
        bench
            .agree("http://b.test/x", "http://a.test/x", true)
            .is_some()
    );
}

#[test]
fn what_one_corner_of_two_sites_has_in_common_is_not_enough() {
    let mut bench = Bench::new(Settings::default());
    bench.starts = Starts::Unknown;
    for number in 0..100 {
        let path = format!("/licences/{number}");
        let [page, original] = ["b", "a"].map(|host| format!("http://{host}.test{path}"));
        assert_eq!(bench.agree(&page, &original, true), None);
    }
    // Two folders more, and another depth: now it is a site.
    let agree = |bench: &mut Bench, path: &str| {
        let [page, original] = ["b", "a"].map(|host| format!("http://{host}.test{path}"));
        bench.agree(&page, &original, true)
    };
    assert_eq!(agree(&mut bench, "/book/1"), None);
    assert_eq!(agree(&mut bench, "/news/1"), None);
    assert!(agree(&mut bench, "/news/2026/1").is_some());
}

#[test]
fn start_pages_that_differ_refute_also_where_they_were_met_before_anything_agreed() {
    let mut bench = Bench::new(Settings::default());
    bench.starts = Starts::Different;
    assert_eq!(bench.agree_until_found("b.test", "a.test", true, 0), 0);
    bench.starts = Starts::Same;
    assert_eq!(bench.agree_until_found("b.test", "a.test", true, 200), 0);
}

#[test]
fn the_host_of_a_seed_is_nobodys_alias() {
    let mut bench = Bench::new(Settings::default());
    let seed = |bench: &Bench, host: &str| {
        let mut writes = Writes::default();
        writes.put(Space::Meta, seed_row(key(host)), Vec::new());
        bench.state.apply(writes, false).unwrap();
    };
    // Whoever came first.
    seed(&bench, "b.test");
    bench.agree_until_found("b.test", "a.test", true, 0);
    assert_eq!(bench.of("b.test"), None);
    assert_eq!(bench.of("a.test"), Some("http://b.test"));
    seed(&bench, "c.test");
    seed(&bench, "d.test");
    assert_eq!(bench.agree_until_found("d.test", "c.test", true, 0), 0);
    assert_eq!((bench.of("c.test"), bench.of("d.test")), (None, None));
}

#[test]
fn samples_of_an_alias_confirm_it_or_do_not() {
    let mut bench = Bench::new(Settings::default());
    bench.agree_until_found("b.test", "a.test", true, 0);
    let samples = |bench: &mut Bench| {
        let alias = key("b.test");
        for number in 0..1_000 {
            if bench.aliases.is_sample(alias, &format!("/{number}")) {
                bench.aliases.count_sample(alias);
            }
        }
        bench.aliases.found[&alias].samples
    };
    let first = samples(&mut bench);
    assert!((30..90).contains(&first), "{first}");
    assert!(!bench.aliases.is_sample(key("a.test"), "/"));
    let tell = |bench: &mut Bench, same: bool| {
        let mut writes = Writes::default();
        let told = bench
            .aliases
            .sampled(key("b.test"), same, &bench.state, &mut writes);
        bench.state.apply(writes, false).unwrap();
        told.unwrap()
    };
    for _ in 0..12 {
        assert!(!tell(&mut bench, true));
    }
    // One of 21 is another page: that may be. Two are too many.
    assert!(!tell(&mut bench, false));
    assert!(tell(&mut bench, false));
    let (found, _) = Aliases::list(&bench.state).unwrap();
    let counted = (found[0].agreements, found[0].differences, found[0].samples);
    assert_eq!(counted, (20, 2, first));
    assert_eq!(bench.aliases.aliases_of(key("a.test")).len(), 1);
    bench.undo("b.test");
    assert!(bench.aliases.aliases_of(key("a.test")).is_empty());
}

#[test]
fn different_start_pages_refute_whatever_agrees() {
    let mut bench = Bench::new(Settings::default());
    bench.agree("http://b.test/x", "http://a.test/x", true);
    bench.differ("a.test", "b.test", "/");
    assert_eq!(bench.agree_until_found("b.test", "a.test", true, 0), 0);
    assert!(bench.aliases.partners(key("b.test")).is_empty());
    bench.reopen();
    assert_eq!(bench.agree_until_found("b.test", "a.test", true, 200), 0);
}

#[test]
fn differences_delay_and_many_of_them_refute() {
    let mut bench = Bench::new(Settings::default());
    bench.agree("http://b.test/x", "http://a.test/x", true);
    bench.differ("b.test", "a.test", "/changed");
    // One of twenty may differ: 19 agree, of which /x is one.
    assert_eq!(bench.agree_until_found("b.test", "a.test", true, 0), 18);
    bench.agree("http://d.test/x", "http://c.test/x", true);
    for number in 0..4 {
        assert_eq!(bench.aliases.partners(key("c.test")).len(), 1);
        bench.differ("d.test", "c.test", &format!("/{number}"));
    }
    assert!(bench.aliases.partners(key("c.test")).is_empty());
    assert_eq!(bench.agree_until_found("d.test", "c.test", true, 0), 0);
}

#[test]
fn evidence_outlives_a_restart() {
    let mut bench = Bench::new(Settings::default());
    for number in 0..7 {
        let path = format!("/q{number}");
        bench.agree(
            &format!("http://b.test{path}"),
            &format!("http://a.test{path}"),
            true,
        );
    }
    bench.reopen();
    assert_eq!(bench.aliases.partners(key("b.test")).len(), 1);
    assert_eq!(bench.agree_until_found("b.test", "a.test", false, 0), 1);
    bench.reopen();
    assert_eq!(bench.of("b.test"), Some("http://a.test"));
}

#[test]
fn the_host_that_came_first_more_often_is_kept_with_its_scheme() {
    let mut bench = Bench::new(Settings::default());
    for number in 0..3 {
        let path = format!("/q{number}");
        bench.agree(
            &format!("https://long-name.test{path}"),
            &format!("http://b.test{path}"),
            true,
        );
    }
    for number in 3..8 {
        let path = format!("/q{number}");
        bench.agree(
            &format!("http://b.test{path}"),
            &format!("https://long-name.test{path}"),
            true,
        );
    }
    assert_eq!(bench.of("b.test"), Some("https://long-name.test"));
}

#[test]
fn chains_are_followed_to_their_end() {
    let mut bench = Bench::new(Settings::default());
    bench.agree_until_found("c.test", "b.test", true, 0);
    bench.agree_until_found("b.test", "a.test", true, 0);
    assert_eq!(bench.of("c.test"), Some("http://a.test"));
    // An alias is compared no more, so no circle can come of it.
    assert_eq!(bench.agree_until_found("a.test", "c.test", true, 100), 0);
    bench.reopen();
    assert_eq!(bench.of("c.test"), Some("http://a.test"));
    bench.undo("b.test");
    assert_eq!(bench.of("c.test"), Some("http://b.test"));
}

#[test]
fn what_was_undone_is_not_found_again_in_either_direction() {
    let mut bench = Bench::new(Settings::default());
    assert_eq!(bench.undo("b.test"), None);
    bench.agree_until_found("b.test", "a.test", true, 0);
    assert_eq!(bench.undo("a.test"), None);
    assert_eq!(bench.undo("b.test").unwrap().of, "http://a.test");
    assert_eq!(bench.of("b.test"), None);
    assert_eq!(bench.agree_until_found("b.test", "a.test", true, 100), 0);
    bench.reopen();
    assert_eq!(bench.agree_until_found("a.test", "b.test", true, 200), 0);
    let (found, undone) = Aliases::list(&bench.state).unwrap();
    assert_eq!((found.len(), undone.len()), (0, 1));
}

#[test]
fn nothing_is_found_when_it_is_off_and_findings_stay() {
    let mut bench = Bench::new(Settings::default());
    bench.agree_until_found("b.test", "a.test", true, 0);
    bench.aliases.set_settings(Settings {
        enabled: false,
        ..Settings::default()
    });
    assert_eq!(bench.agree_until_found("d.test", "c.test", true, 0), 0);
    assert_eq!(bench.of("b.test"), Some("http://a.test"));
}

#[test]
fn memory_is_bounded_and_evidence_left_out_is_taken_up_again() {
    let mut bench = Bench::new(Settings::default());
    for number in 0..7 {
        let path = format!("/q{number}");
        bench.agree(
            &format!("http://b.test{path}"),
            &format!("http://a.test{path}"),
            true,
        );
    }
    for number in 0..CANDIDATES + 10 {
        bench.agree(
            &format!("http://h{number}.test/x"),
            "http://popular.test/x",
            false,
        );
    }
    assert_eq!(bench.aliases.pairs.len(), CANDIDATES);
    assert!(bench.aliases.partners.len() <= 2 * CANDIDATES);
    assert!(bench.aliases.partners(key("popular.test")).len() <= PARTNERS);
    assert!(bench.aliases.partners(key("a.test")).is_empty());
    assert_eq!(bench.agree_until_found("b.test", "a.test", false, 0), 1);
}

#[test]
fn damaged_rows_are_named() {
    let bench = Bench::new(Settings::default());
    let mut writes = Writes::default();
    writes.put(Space::Meta, host_row(FOUND_PREFIX, 7), b"no json".to_vec());
    bench.state.apply(writes, false).unwrap();
    let opened = Aliases::open(Settings::default(), Grouping::Host, &bench.state);
    assert!(matches!(opened, Err(StateError::Format(_))));
}

/// Run by hand: `cargo test --release -p gossamer-core alias::tests::cost -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn cost() {
    let mut bench = Bench::new(Settings::default());
    for number in 0..CANDIDATES {
        let page = format!("http://m{number}.test/x");
        let original = format!("http://o{number}.test/x");
        bench.agree(&page, &original, false);
    }
    bench.agree_until_found("b.test", "a.test", true, 0);
    let urls: Vec<Url> = (0..100_000)
        .map(|number| url(&format!("http://h{number}.test/page/{number}")))
        .collect();
    let timed = |name: &str, count: usize, work: &mut dyn FnMut() -> usize| {
        let began = std::time::Instant::now();
        let result = std::hint::black_box(work());
        let nanos = began.elapsed().as_nanos() as f64 / count as f64;
        println!("{name}: {nanos:.0} ns ({result})");
    };
    let aliases = &bench.aliases;
    timed("page of a host without partners", urls.len(), &mut || {
        urls.iter()
            .map(|url| aliases.partners(url.host_key()).len())
            .sum()
    });
    timed("fresh link: is its host an alias", urls.len(), &mut || {
        urls.iter()
            .filter(|url| aliases.of(url.host_key(), url.host()).is_some())
            .count()
    });
    let pairs: Vec<(Url, Url)> = (0..CANDIDATES)
        .map(|number| {
            (
                url(&format!("http://m{number}.test/y")),
                url(&format!("http://o{number}.test/y")),
            )
        })
        .collect();
    let mut writes = Writes::default();
    let (aliases, state) = (&mut bench.aliases, &bench.state);
    timed("an agreement, its row included", pairs.len(), &mut || {
        for (page, original) in &pairs {
            let seen = Agreement {
                page,
                original,
                shared_address: false,
                now: 9,
            };
            let starts = |_: [&str; 2]| Ok(Starts::Unknown);
            aliases.agree(&seen, state, &mut writes, starts).unwrap();
        }
        writes.len()
    });
}
