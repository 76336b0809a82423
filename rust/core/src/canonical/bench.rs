//! `cargo test --release -p gossamer-core --lib canonical::bench -- --ignored --nocapture`
//! prints nanoseconds per link.
#![allow(clippy::unwrap_used, clippy::panic)]

use super::{Base, Rules, canonical, slow};
use std::hint::black_box;
use std::time::Instant;

/// Fifty links as a page of a site has them: most relative to the root or to the page.
fn links() -> Vec<String> {
    (0..50)
        .map(|at| match at % 10 {
            0 => format!("https://other{at}.example.com/blog/2024/post-{at}.html"),
            1 => format!("../section-{at}/index.html"),
            2 => format!("/search?q=word{at}&page={at}&utm_source=feed"),
            3 => format!("page-{at}.html#part-{at}"),
            4 => format!("//static.example.org/img/{at}.png"),
            _ => format!("/articles/{at}/a-title-of-usual-length-{at}"),
        })
        .collect()
}

#[test]
#[ignore = "a benchmark"]
fn nanoseconds_per_link() {
    let base = Base::parse(
        "https://www.example.org/articles/2024/05/some-page.html?x=1",
        None,
    )
    .unwrap();
    let (rules, links) = (Rules::default(), links());
    let rounds = 4000;
    let time = |name: &str, each: &dyn Fn(&str)| {
        let begin = Instant::now();
        for _ in 0..rounds {
            for link in &links {
                each(black_box(link));
            }
        }
        let nanos = begin.elapsed().as_nanos() / (rounds * links.len() as u128);
        println!("{name:<28} {nanos} ns a link");
    };
    time("canonical", &|link| {
        drop(black_box(canonical(link, Some(&base), &rules)))
    });
    time("canonical and key", &|link| {
        black_box(canonical(link, Some(&base), &rules).unwrap().key());
    });
    time("slow path alone", &|link| {
        drop(black_box(slow::resolve(link, Some(&base), &rules)))
    });
    time("url crate, join only", &|link| {
        drop(black_box(base.parsed().join(link)))
    });
}
