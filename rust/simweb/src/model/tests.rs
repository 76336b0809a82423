//! Properties of the model that hold for every seed.
#![allow(clippy::unwrap_used, clippy::panic)]

use super::change::SIM_START;
use super::html::Scratch;
use super::path::Target;
use super::{Model, Node};
use crate::options::Options;

fn busy(seed: u64) -> Model {
    Model::new(Options {
        seed,
        hosts: 30,
        pages: 2_000,
        errors: 0.05,
        redirects: 0.1,
        dead_links: 0.02,
        duplicates: 0.1,
        near_duplicates: 0.1,
        sitemaps: 0.5,
        robots: 0.8,
        mirrors: 0.3,
        traps: 0.5,
        orphans: 0.2,
        charsets: 0.3,
        change_rate: 1.0,
        ..Options::default()
    })
    .unwrap()
}

#[test]
fn a_path_leads_back_to_its_page() {
    for seed in 0..5 {
        let model = busy(seed);
        let mut scratch = Vec::new();
        for id in 0..model.hosts.total() {
            let place = model.place(id);
            assert_eq!(model.hosts.id(place), id);
            let mut path = Vec::new();
            model.write_path(place, &mut path);
            let target = model.resolve(place.host, &path, &mut scratch);
            assert_eq!(
                target,
                Target::Page(place.page),
                "{}",
                String::from_utf8_lossy(&path)
            );
            path.push(b'x');
            assert_ne!(
                model.resolve(place.host, &path, &mut scratch),
                Target::Page(place.page)
            );
        }
    }
}

#[test]
fn codes_lead_back_to_their_nodes() {
    let model = busy(9);
    let mut links = Vec::new();
    for id in 0..model.hosts.total() {
        model.links(model.original(model.place(id)), &mut links);
        for &node in &links {
            assert_eq!(model.node(model.code(node)), node);
            if let Node::Page(place) = node {
                assert!(!model.is_orphan(place));
            }
        }
    }
}

#[test]
fn pages_sum_up_exactly_whatever_the_skew() {
    for (hosts, pages, skew) in [
        (1, 1, 0.8),
        (7, 7, 2.0),
        (1_000, 123_457, 0.0),
        (50, 1 << 40, 1.3),
    ] {
        let options = Options {
            hosts,
            pages,
            host_skew: skew,
            mirrors: 0.5,
            ..Options::default()
        };
        let model = Model::new(options).unwrap();
        assert_eq!(model.hosts.total(), pages);
        assert!((0..hosts).all(|host| model.hosts.pages(host) >= 1));
    }
}

#[test]
fn mirrors_show_the_bytes_of_their_original() {
    let model = busy(2);
    let mut scratch = Scratch::default();
    let mut compared = 0;
    for host in 0..model.hosts.count() {
        let original = model.hosts.content(host);
        if original == host {
            continue;
        }
        assert_eq!(model.hosts.pages(host), model.hosts.pages(original));
        for page in 0..model.hosts.pages(host) {
            let bytes = [host, original].map(|host| {
                let place = super::Place { host, page };
                let state = model.state(model.original(place), SIM_START);
                let mut out = Vec::new();
                let tail = model.write_page(place, state, &mut scratch, &mut out);
                (out, tail)
            });
            assert_eq!(bytes[0], bytes[1]);
            compared += 1;
        }
    }
    assert!(compared > 50);
}

#[test]
fn changes_come_at_the_rate_of_the_page() {
    let model = busy(4);
    let (mut expected, mut seen) = (0.0, 0.0);
    for id in 0..200 {
        let place = model.original(model.place(id));
        let rate = model.change_rate(place);
        // A thousand looks, a twentieth of the mean gap apart: nearly every change is seen.
        let step = 86_400.0 / rate / 20.0;
        let mut last = model.state(place, SIM_START);
        for look in 1..=1_000 {
            let now = SIM_START + f64::from(look) * step;
            let state = model.state(place, now);
            assert!(state.changed <= now);
            assert!(state.version >= last.version && state.changed >= last.changed);
            seen += f64::from(state.version != last.version);
            last = state;
        }
        expected += 1_000.0 / 20.0;
    }
    // Two changes between two looks count once: 1 - e^-0.05 of 0.05, 2.5 % fewer.
    let ratio: f64 = seen / expected;
    assert!((0.93..=1.02).contains(&ratio), "{ratio}");
}

#[test]
fn addresses_and_names_lead_back_to_their_hosts() {
    let model = busy(1);
    for host in 0..model.hosts.count() {
        let address = super::hosts::own_address(host);
        assert_eq!(model.hosts.of_address(address), Some(host));
        assert_eq!(
            model
                .hosts
                .of_name(format!("H{host}.SIM.test.:80").as_bytes()),
            Some(host)
        );
    }
    for name in [
        "h30.sim.test",
        "h01.sim.test",
        "h.sim.test",
        "h1.sim.testx",
        "h-1.sim.test",
        "",
    ] {
        assert_eq!(model.hosts.of_name(name.as_bytes()), None, "{name}");
    }
}

#[test]
fn the_bytes_of_a_seed_never_change() {
    // Recordings and expected results elsewhere lean on these: another sum is another web.
    let everything = busy(3);
    let plain = Model::new(Options {
        hosts: 5,
        pages: 1 << 40,
        names: true,
        ..Options::default()
    })
    .unwrap();
    let without_orphans = Model::new(Options {
        orphans: 0.0,
        ..busy(9).options
    })
    .unwrap();
    let mut scratch = Scratch::default();
    let mut sum_of = |model: &Model| {
        let (mut sum, mut out) = (0xcbf2_9ce4_8422_2325u64, Vec::new());
        let count = model.hosts.count();
        for (host, page) in (0..count).flat_map(|host| (0..50).map(move |page| (host, page))) {
            // Numbers of all lengths where there are so many pages.
            let page = (page * page * page * page * 31) % model.hosts.pages(host);
            let place = super::Place { host, page };
            let state = model.state(model.original(place), SIM_START);
            out.clear();
            let tail = model.write_page(place, state, &mut scratch, &mut out);
            out.extend_from_slice(model.prose(tail));
            for &byte in &out {
                sum = (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
        }
        sum
    };
    assert_eq!(
        [everything, plain, without_orphans].map(|model| format!("{:016x}", sum_of(&model))),
        ["828a17e1f0d93518", "8b150415e77da9b8", "13654bc861ddb649"]
    );
}
