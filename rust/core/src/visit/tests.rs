//! Every task is answered once, also when our own code fails or the engine stops.

use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{
    Engine, Gate, Known, NothingKnown, OpenGate, Original, Parts, Policies, Purpose, Task,
    VisitSettings, Visited,
};
use crate::canonical::{Rules, canonical};
use crate::clock::Clock;
use crate::fetch::FetchSettings;
use crate::links::FollowSettings;
use crate::links::scope::{Scope, ScopeSettings};
use crate::outcome::Outcome;
use crate::parse::ParseSettings;
use crate::warc::{Builder, Digest};

/// Answers every connection with the same page, or keeps silent.
fn server(silent: bool) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            if silent {
                kept.push(stream);
                continue;
            }
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length: 17\r\n\r\n<a href=/x>x</a>\n",
            );
        }
    });
    port
}

fn engine(gate: Arc<dyn Gate>, known: Arc<dyn Known>) -> Engine {
    let settings = VisitSettings {
        fetch: FetchSettings {
            allow_private: true,
            ..FetchSettings::default()
        },
        rules: Rules::default(),
        threads: 2,
        concurrency: 4,
        warc: true,
    };
    let policies = Policies {
        scope: Scope::new(&ScopeSettings::default()).unwrap(),
        follow: FollowSettings::default(),
        parse: ParseSettings::default(),
        builder: Builder::default(),
        outlinks_record: false,
    };
    let clock = Arc::new(Clock::default());
    Engine::start(settings, policies, Parts { gate, known, clock }).unwrap()
}

fn tasks(port: u16, count: u64) -> Vec<Task> {
    let task = |lease| Task {
        lease,
        url: canonical(
            &format!("http://127.0.0.1:{port}/{lease}"),
            None,
            &Rules::default(),
        )
        .unwrap(),
        purpose: Purpose::Page,
        etag: None,
        last_modified: None,
        keep_body: false,
        not_before: 0,
    };
    (0..count).map(task).collect()
}

/// Collects until nothing is under way, and gives the answers in the order of their leases.
fn all(engine: &Engine) -> Vec<Visited> {
    let end = Instant::now() + Duration::from_secs(30);
    let mut answers = Vec::new();
    while engine.in_flight() > 0 {
        assert!(Instant::now() < end, "visits without an answer");
        answers.extend(engine.collect(3, Duration::from_secs(1)));
    }
    answers.sort_by_key(|visited| visited.task.lease);
    answers
}

fn leases(answers: &[Visited]) -> Vec<u64> {
    answers.iter().map(|visited| visited.task.lease).collect()
}

struct Failing;

impl Known for Failing {
    fn original(&self, _: &Digest) -> Option<Original> {
        panic!("on purpose: in the work on a page")
    }
}

impl Gate for Failing {
    fn enter(&self, task: &Task, _: IpAddr) -> Result<(), u64> {
        assert!(task.lease.is_multiple_of(2), "on purpose: in a fetch");
        Ok(())
    }
}

#[test]
fn each_task_is_answered_once() {
    let engine = engine(Arc::new(OpenGate), Arc::new(NothingKnown));
    engine.submit(tasks(server(false), 50));
    let answers = all(&engine);
    assert_eq!(leases(&answers), (0..50).collect::<Vec<_>>());
    for visited in answers {
        assert_eq!(visited.outcome, Outcome::Fetched, "{}", visited.detail);
        assert_eq!(visited.members.len(), 2, "response and request");
        assert!(visited.body.is_none(), "a body that nobody asked for");
    }
}

#[test]
fn a_panic_in_the_work_on_a_page_is_an_answer() {
    let engine = engine(Arc::new(OpenGate), Arc::new(Failing));
    engine.submit(tasks(server(false), 20));
    let answers = all(&engine);
    assert_eq!(leases(&answers), (0..20).collect::<Vec<_>>());
    for visited in answers {
        assert_eq!(visited.outcome, Outcome::ProtocolBroken);
        assert!(visited.detail.contains("our own code"));
        assert!(visited.members.is_empty());
    }
}

#[test]
fn a_panic_in_a_fetch_is_an_answer_and_frees_its_place() {
    let engine = engine(Arc::new(Failing), Arc::new(NothingKnown));
    // More failures than there are places: a place that leaked would stop the rest.
    engine.submit(tasks(server(false), 40));
    let answers = all(&engine);
    assert_eq!(leases(&answers), (0..40).collect::<Vec<_>>());
    for visited in answers {
        let expected = match visited.task.lease % 2 {
            0 => Outcome::Fetched,
            _ => Outcome::Deferred,
        };
        assert_eq!(visited.outcome, expected);
    }
}

#[test]
fn stopping_gives_every_task_back_at_once() {
    let engine = engine(Arc::new(OpenGate), Arc::new(NothingKnown));
    engine.submit(tasks(server(true), 30));
    assert!(engine.collect(1, Duration::from_millis(200)).is_empty());
    let begun = Instant::now();
    engine.stop(true);
    let answers = all(&engine);
    assert_eq!(leases(&answers), (0..30).collect::<Vec<_>>());
    assert!(answers.iter().all(|v| v.outcome == Outcome::Deferred));
    assert!(begun.elapsed() < Duration::from_secs(5));
    drop(engine);
    assert!(begun.elapsed() < Duration::from_secs(10));
}
