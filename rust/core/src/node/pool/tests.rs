//! Every task is answered once, also when our own code fails or the pool stops.

use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::runtime::guarded;
use super::{
    FetcherPool, Noarchive, OpenGate, PageColumns, Parts, Policies, Purpose, Task, VisitGate,
    VisitSettings, Visited,
};
use crate::canonical::{Rules, canonical};
use crate::clock::Clock;
use crate::fetch::FetchSettings;
use crate::links::FollowSettings;
use crate::links::scope::{Scope, ScopeSettings};
use crate::outcome::Outcome;
use crate::parse::ParseSettings;
use crate::store::warc::Builder;

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

fn pool(gate: Arc<dyn VisitGate>) -> FetcherPool {
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
        rules: None,
        follow: FollowSettings::default(),
        keep_types: Vec::new(),
        follow_types: vec!["text/html".to_owned()],
        seed_redirects: 10,
        parse: ParseSettings::default(),
        builder: Builder::default(),
        outlinks_record: false,
        noarchive: Noarchive::default(),
        page: PageColumns::default(),
    };
    let clock = Arc::new(Clock::default());
    FetcherPool::start(settings, policies, Parts { gate, clock }).unwrap()
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
        depth: 0,
        seed_hops: None,
        etag: None,
        last_modified: None,
        earlier: None,
        keep_body: false,
        not_before: 0,
        last_try: true,
        cookie: None,
        new_connection: false,
    };
    (0..count).map(task).collect()
}

/// Collects until nothing is under way, and gives the answers in the order of their leases.
fn all(pool: &FetcherPool) -> Vec<Visited> {
    let end = Instant::now() + Duration::from_secs(30);
    let mut answers = Vec::new();
    while pool.in_flight() > 0 {
        assert!(Instant::now() < end, "visits without an answer");
        answers.extend(pool.collect(3, Duration::from_secs(1)));
    }
    answers.sort_by_key(|visited| visited.task.lease);
    answers
}

fn leases(answers: &[Visited]) -> Vec<u64> {
    answers.iter().map(|visited| visited.task.lease).collect()
}

struct Failing;

impl VisitGate for Failing {
    fn enter(&self, task: &Task, _: IpAddr) -> Result<(), u64> {
        assert!(task.lease.is_multiple_of(2), "on purpose: in a fetch");
        Ok(())
    }
}

#[test]
fn each_task_is_answered_once() {
    let pool = pool(Arc::new(OpenGate));
    pool.submit(tasks(server(false), 50));
    let answers = all(&pool);
    assert_eq!(leases(&answers), (0..50).collect::<Vec<_>>());
    for visited in answers {
        assert_eq!(visited.outcome, Outcome::Fetched, "{}", visited.detail);
        assert_eq!(visited.members.len(), 2, "response and request");
        assert!(visited.body.is_none(), "a body that nobody asked for");
    }
}

#[test]
fn a_panic_in_the_work_on_a_page_is_an_answer_that_blames_us() {
    let task = tasks(80, 1).remove(0);
    let visited = guarded(&task, 7, || panic!("on purpose: in the work on a page"));
    assert_eq!(visited.outcome, Outcome::InternalError);
    assert_eq!((visited.task.lease, visited.ended), (0, 7));
    assert!(visited.sent && visited.detail.contains("our own code"));
    assert!(visited.members.is_empty());
}

#[test]
fn a_panic_in_a_fetch_is_an_answer_and_frees_its_place() {
    let pool = pool(Arc::new(Failing));
    // More failures than there are places: a place that leaked would stop the rest.
    pool.submit(tasks(server(false), 40));
    let answers = all(&pool);
    assert_eq!(leases(&answers), (0..40).collect::<Vec<_>>());
    for visited in answers {
        let expected = match visited.task.lease % 2 {
            0 => Outcome::Fetched,
            _ => Outcome::InternalError,
        };
        assert_eq!((visited.outcome, visited.sent), (expected, true));
    }
}

#[test]
fn stopping_gives_every_task_back_at_once() {
    let pool = pool(Arc::new(OpenGate));
    pool.submit(tasks(server(true), 30));
    assert!(pool.collect(1, Duration::from_millis(200)).is_empty());
    let begun = Instant::now();
    pool.stop(true);
    let answers = all(&pool);
    assert_eq!(leases(&answers), (0..30).collect::<Vec<_>>());
    assert!(answers.iter().all(|v| v.outcome == Outcome::Deferred));
    // Four at least were on the wire, so nobody knows what the server has seen of them.
    let sent = answers.iter().filter(|visited| visited.sent).count();
    // One that was about to begin may have got the place of one that ended.
    assert!((4..30).contains(&sent), "{sent}");
    assert!(begun.elapsed() < Duration::from_secs(5));
    drop(pool);
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_recalled_visit_says_whether_it_was_sent() {
    let pool = pool(Arc::new(OpenGate));
    pool.submit(tasks(server(true), 30));
    assert!(pool.collect(1, Duration::from_millis(200)).is_empty());
    pool.recall();
    let answers = all(&pool);
    assert!(answers.iter().all(|v| v.outcome == Outcome::Deferred));
    let sent = answers.iter().filter(|visited| visited.sent).count();
    // One that was about to begin may have got the place of one that ended.
    assert!((4..30).contains(&sent), "{sent}");
}
