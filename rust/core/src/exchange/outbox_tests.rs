//! The outbox over its life: what leaves, what comes back, what is kept.

use std::sync::Arc;

use super::carrier::Outgoing;
use super::message::decode;
use super::outbox::*;
use crate::canonical::Grouping;
use crate::canonical::Url;
use crate::links::Link;
use crate::parse::LinkKind;
use crate::store::state::{MemoryState, State};
use crate::store::state::{Reads, Space, Writes};

fn settings() -> OutboxSettings {
    OutboxSettings {
        partitions: 4,
        grouping: Grouping::Host,
        links: 10,
        wait: 100,
        keep: 1_000_000,
        recent: 1_024,
    }
}

fn link(host: usize, page: usize) -> Link {
    let url = format!("http://h{host}.example/{page}");
    let url = Url::from_canonical(url, Grouping::Host).unwrap();
    let from = Arc::from("http://f.example/");
    Link {
        depth: 1,
        ..Link::new(url, from, LinkKind::A)
    }
}

fn commit(outbox: &mut Outbox, state: &MemoryState, now: u64) -> u64 {
    let mut writes = Writes::default();
    let mark = outbox.seal(now, &mut writes);
    state.apply(writes, false).unwrap();
    outbox.applied(mark);
    mark
}

fn urls(messages: &[Outgoing]) -> Vec<String> {
    let mut urls: Vec<String> = messages
        .iter()
        .flat_map(|message| decode(&message.payload, Grouping::Host).unwrap())
        .map(|link| link.url.into_string())
        .collect();
    urls.sort();
    urls
}

#[test]
fn every_link_leaves_once_and_counts_until_it_is_acknowledged() {
    let state = MemoryState::default();
    let mut outbox = Outbox::open(settings(), &state).unwrap();
    for page in 0..7 {
        for host in 0..9 {
            outbox.add(link(host, page));
        }
        commit(&mut outbox, &state, 1_000 + page as u64);
    }
    let mut got = outbox.pack(10_000, &state).unwrap();
    assert!(got.len() >= 4, "full and old buffers are packed");
    assert_eq!(urls(&got).len(), 63);
    assert_eq!(outbox.view().waiting, 63);
    let last = got.pop().unwrap();
    for message in &got {
        assert!(message.links <= 10);
        assert!(outbox.answered(message.token, true).is_none());
    }
    assert!(outbox.view().waiting > 0, "one message is not acknowledged");
    assert!(outbox.view().acked < 1_006);
    let again = outbox.answered(last.token, false).unwrap();
    assert_eq!(again.payload, last.payload);
    outbox.answered(last.token, true);
    let view = outbox.view();
    assert_eq!((view.waiting, view.bytes, view.acked), (0, 0, 1_006));
    // A popular link is not sent again once it is acknowledged.
    outbox.add(link(1, 1));
    outbox.add(link(1, 100));
    commit(&mut outbox, &state, 20_000);
    assert_eq!(
        outbox.pack(30_000, &state).unwrap(),
        [],
        "it waits for company"
    );
    let got = outbox.pack(40_000, &state).unwrap();
    assert_eq!(urls(&got), ["http://h1.example/100"]);
}

#[test]
fn a_restart_and_a_resend_send_again() {
    let state = MemoryState::default();
    let mut outbox = Outbox::open(settings(), &state).unwrap();
    outbox.add(link(1, 1));
    commit(&mut outbox, &state, 1_000);
    outbox.pack(5_000, &state).unwrap();
    for message in outbox.pack(10_000, &state).unwrap() {
        outbox.answered(message.token, true);
    }
    outbox.add(link(2, 2));
    commit(&mut outbox, &state, 11_000);
    outbox.pack(15_000, &state).unwrap();
    assert_eq!(outbox.pack(20_000, &state).unwrap().len(), 1);
    let mut outbox = Outbox::open(settings(), &state).unwrap();
    assert_eq!(outbox.view().waiting, 1);
    assert_eq!(outbox.pack(20_000, &state).unwrap(), []);
    let got = outbox.pack(30_000, &state).unwrap();
    assert_eq!(urls(&got), ["http://h2.example/2"]);
    outbox.answered(got[0].token, true);
    let mut writes = Writes::default();
    assert_eq!(outbox.resend(0, &state, &mut writes).unwrap(), 2);
    state.apply(writes, true).unwrap();
    let again = Outbox::open(settings(), &state).unwrap();
    assert_eq!(again.view().waiting, 2, "a restart does not forget it");
    outbox.pack(40_000, &state).unwrap();
    let got = outbox.pack(50_000, &state).unwrap();
    assert_eq!(urls(&got).len(), 2);
}

#[test]
fn a_row_that_waited_long_is_sent_again_by_the_time_it_left() {
    let state = MemoryState::default();
    let mut outbox = Outbox::open(settings(), &state).unwrap();
    outbox.add(link(1, 1));
    commit(&mut outbox, &state, 1_000);
    outbox.pack(5_000, &state).unwrap();
    // The line is cut for long: the engine has the message only now, and dates it so.
    let got = outbox.pack(10_000, &state).unwrap();
    let got = outbox.answered(got[0].token, false).unwrap();
    outbox.answered(got.token, true);
    commit(&mut outbox, &state, 900_000);
    let mut outbox = Outbox::open(settings(), &state).unwrap();
    assert_eq!(outbox.view().waiting, 0);
    let mut writes = Writes::default();
    assert_eq!(outbox.resend(890_000, &state, &mut writes).unwrap(), 1);
}

#[test]
fn more_than_memory_holds_comes_back_from_the_store() {
    let state = MemoryState::default();
    let mut outbox = Outbox::open(settings(), &state).unwrap();
    let count = FRESH + 30_000;
    for page in 0..count / 1_000 {
        for at in 0..1_000 {
            outbox.add(link(at % 9, page * 1_000 + at));
        }
        commit(&mut outbox, &state, 1_000 + page as u64);
    }
    let (mut now, mut sent) = (1_000_000, 0);
    while outbox.view().waiting > 0 {
        now += 10_000;
        for message in outbox.pack(now, &state).unwrap() {
            sent += message.links;
            outbox.answered(message.token, true);
        }
    }
    assert_eq!(sent, count);
    let mut writes = Writes::default();
    outbox.seal(now, &mut writes);
    outbox
        .prune(now + 100_000_000, &state, &mut writes)
        .unwrap();
    state.apply(writes, false).unwrap();
    let mut left = 0;
    state
        .scan(Space::Outbox, &[], &[], &mut |_, _| {
            left += 1;
            true
        })
        .unwrap();
    assert!(left <= 1, "acknowledged rows go after a while: {left}");
}
