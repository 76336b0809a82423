//! The cache of names under a clock that stands still until it is moved.
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::{advance, sleep};

use super::dns::{Addresses, Dns, DnsError, Lookup, LookupAnswer};
use super::settings::DnsSettings;

#[derive(Clone, Default)]
struct Fake {
    asked: Arc<AtomicUsize>,
    at_once: Arc<AtomicUsize>,
    most_at_once: Arc<AtomicUsize>,
    answers: Arc<Mutex<HashMap<String, LookupAnswer>>>,
}

impl Fake {
    fn set(&self, name: &str, answer: Result<[u8; 4], DnsError>, ttl: Option<u64>) {
        let answer = answer.map(|ip| Addresses::from([IpAddr::from(ip)]));
        let answer = (answer, ttl.map(Duration::from_secs));
        self.answers.lock().unwrap().insert(name.to_owned(), answer);
    }
}

impl Lookup for Fake {
    fn lookup(&self, name: String) -> Pin<Box<dyn Future<Output = LookupAnswer> + Send>> {
        let fake = self.clone();
        Box::pin(async move {
            fake.asked.fetch_add(1, Ordering::SeqCst);
            let now = fake.at_once.fetch_add(1, Ordering::SeqCst) + 1;
            fake.most_at_once.fetch_max(now, Ordering::SeqCst);
            sleep(Duration::from_millis(10)).await;
            fake.at_once.fetch_sub(1, Ordering::SeqCst);
            let answers = fake.answers.lock().unwrap();
            answers
                .get(&name)
                .cloned()
                .unwrap_or((Err(DnsError::NotFound), None))
        })
    }
}

fn cache(fake: &Fake) -> Dns {
    cache_with(fake, None)
}

fn cache_with(fake: &Fake, first_negative_ttl: Option<Duration>) -> Dns {
    let settings = DnsSettings {
        first_negative_ttl,
        ttl_floor: Duration::from_secs(10),
        ttl_ceiling: Duration::from_secs(100),
        negative_ttl: Duration::from_secs(30),
        stale: Duration::from_secs(50),
        concurrency: 3,
        ..DnsSettings::default()
    };
    Dns::new(settings, Box::new(fake.clone()))
}

async fn asked_after(fake: &Fake, dns: &Dns, name: &str, seconds: u64) -> usize {
    advance(Duration::from_secs(seconds)).await;
    let _ = dns.resolve(name).await;
    sleep(Duration::from_millis(50)).await;
    fake.asked.load(Ordering::SeqCst)
}

#[tokio::test(start_paused = true)]
async fn answers_live_within_floor_and_ceiling() {
    let fake = Fake::default();
    fake.set("short", Ok([1, 1, 1, 1]), Some(0));
    fake.set("long", Ok([2, 2, 2, 2]), Some(9999));
    let dns = cache(&fake);
    assert_eq!(
        dns.resolve("short").await.unwrap()[0],
        IpAddr::from([1, 1, 1, 1])
    );
    assert_eq!(asked_after(&fake, &dns, "short", 9).await, 1);
    assert_eq!(asked_after(&fake, &dns, "short", 2).await, 2);
    let _ = dns.resolve("long").await;
    assert_eq!(asked_after(&fake, &dns, "long", 99).await, 3);
    assert_eq!(asked_after(&fake, &dns, "long", 2).await, 4);
}

#[tokio::test(start_paused = true)]
async fn refusals_are_remembered() {
    let fake = Fake::default();
    let dns = cache(&fake);
    fake.set("short", Err(DnsError::NotFound), Some(5));
    for name in ["none", "short"] {
        assert_eq!(dns.resolve(name).await, Err(DnsError::NotFound));
    }
    assert_eq!(asked_after(&fake, &dns, "none", 4).await, 2);
    assert_eq!(asked_after(&fake, &dns, "short", 2).await, 3);
    assert_eq!(asked_after(&fake, &dns, "none", 30).await, 4);
}

#[tokio::test(start_paused = true)]
async fn a_first_refusal_is_soon_asked_about_again() {
    let fake = Fake::default();
    let dns = cache_with(&fake, Some(Duration::from_secs(2)));
    assert_eq!(dns.resolve("none").await, Err(DnsError::NotFound));
    assert_eq!(asked_after(&fake, &dns, "none", 1).await, 1);
    assert_eq!(asked_after(&fake, &dns, "none", 1).await, 2);
    assert_eq!(asked_after(&fake, &dns, "none", 28).await, 2);
    assert_eq!(asked_after(&fake, &dns, "none", 2).await, 3);
    assert_eq!(asked_after(&fake, &dns, "none", 28).await, 3);
}

#[tokio::test(start_paused = true)]
async fn a_stale_answer_serves_while_a_new_one_comes_and_when_none_comes() {
    let fake = Fake::default();
    fake.set("host", Ok([1, 1, 1, 1]), Some(20));
    let dns = cache(&fake);
    let first = dns.resolve("host").await;
    fake.set("host", Ok([2, 2, 2, 2]), Some(20));
    advance(Duration::from_secs(21)).await;
    assert_eq!(dns.resolve("host").await, first);
    sleep(Duration::from_millis(50)).await;
    assert_eq!(
        dns.resolve("host").await.unwrap()[0],
        IpAddr::from([2, 2, 2, 2])
    );
    // The name server fails: the stale answer serves on, to the end of its grace.
    fake.set("host", Err(DnsError::Failed), None);
    assert_eq!(asked_after(&fake, &dns, "host", 21).await, 3);
    assert!(dns.resolve("host").await.is_ok());
    advance(Duration::from_secs(80)).await;
    assert_eq!(dns.resolve("host").await, Err(DnsError::Failed));
}

#[tokio::test(start_paused = true)]
async fn many_askers_are_one_look_up_and_many_names_wait_their_turn() {
    let fake = Fake::default();
    fake.set("host", Ok([1, 1, 1, 1]), Some(20));
    let dns = cache(&fake);
    let same: Vec<_> = (0..50)
        .map(|_| {
            let dns = dns.clone();
            tokio::spawn(async move { dns.resolve("host").await })
        })
        .collect();
    // One who gives up takes nothing from the others.
    same[0].abort();
    for task in same.into_iter().skip(1) {
        assert!(task.await.unwrap().is_ok());
    }
    assert_eq!(fake.asked.load(Ordering::SeqCst), 1);
    let many: Vec<_> = (0..30)
        .map(|number| {
            let dns = dns.clone();
            tokio::spawn(async move { dns.resolve(&format!("host{number}")).await })
        })
        .collect();
    for task in many {
        assert_eq!(task.await.unwrap(), Err(DnsError::NotFound));
    }
    assert_eq!(fake.most_at_once.load(Ordering::SeqCst), 3);
}

#[tokio::test(start_paused = true)]
async fn questions_hits_and_look_ups_are_counted() {
    let fake = Fake::default();
    fake.set("known", Ok([1, 1, 1, 1]), Some(20));
    let dns = cache(&fake);
    for _ in 0..3 {
        let _ = dns.resolve("known").await;
    }
    let _ = dns.resolve("none").await;
    let counters = dns.counters();
    assert_eq!((counters.asked, counters.hits, counters.lookups), (4, 2, 2));
    assert_eq!(counters.lookup_time, Duration::from_millis(20));
}
