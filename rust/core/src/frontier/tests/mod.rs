//! The frontier's guarantees, judged by a simulated web in simulated time.
#![allow(clippy::unwrap_used, clippy::panic)]

mod judge;
mod priority;
mod properties;
mod reranking;
mod scores;
mod units;
mod waiting;
mod world;

use super::{CompileRobots, Formula, Micros, RobotsRules};
use crate::canonical::Url;
use crate::links::Link;

/// A toy robots language, so that nothing here depends on the real one: lines `deny PREFIX` and
/// `delay SECONDS`.
struct ToyRules {
    denied: Vec<String>,
    delay: Option<Micros>,
}

impl RobotsRules for ToyRules {
    fn allows(&self, path: &str) -> bool {
        !self.denied.iter().any(|prefix| path.starts_with(prefix))
    }

    fn crawl_delay_us(&self) -> Option<Micros> {
        self.delay
    }
}

fn toy_rules() -> CompileRobots {
    Box::new(|body| {
        let text = String::from_utf8_lossy(body);
        let words = |word: &str| -> Vec<String> {
            let found = text.lines().filter_map(|line| line.strip_prefix(word));
            found.map(|rest| rest.trim().to_owned()).collect()
        };
        Box::new(ToyRules {
            denied: words("deny "),
            delay: words("delay ")
                .first()
                .and_then(|delay| delay.parse::<u64>().ok())
                .map(|delay| delay * 1_000_000),
        })
    })
}

/// A seed of a host with a key of the test's choice.
fn seed(url: &str, key: u64) -> Link {
    let (scheme, rest) = url.split_once("://").unwrap();
    let path = rest.find('/').unwrap();
    let url = Url::from_parts(scheme == "https", &rest[..path], key, &rest[path..]).unwrap();
    Link::seed(url)
}

/// The orders that `src/gossamer/policy/order/` declares.
fn orders() -> [Formula; 4] {
    let breadth = Formula::default();
    let deep = Formula {
        base: 0.0,
        depth: 1.0 / 64.0,
        ..breadth.clone()
    };
    let arrival = Formula {
        base: 0.5,
        depth: 0.0,
        ..breadth.clone()
    };
    let fixed = Formula {
        deepest: 31,
        dynamic: -0.5,
        ..breadth.clone()
    };
    [breadth, deep, arrival, fixed]
}

/// A small generator of numbers, so that a run is its seed.
#[derive(Clone, Debug)]
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.roll() % end.max(1)
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}
