//! What the frontier costs: CPU time per visit and per added link, RAM per host and per queued URL.
//!
//! `cargo run --release -p gossamer-core --example frontier_bench -- HOSTS [URLS_PER_HOST]`
#![allow(clippy::unwrap_used)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use cpu_time::ProcessTime as Instant;

use gossamer_core::canonical::Url;
use gossamer_core::frontier::{
    CompileRobots, Frontier, Micros, Purpose, Report, RobotsRules, SECOND, Settings,
};
use gossamer_core::links::Link;
use gossamer_core::outcome::Outcome;
use gossamer_core::parse::LinkKind;
use gossamer_core::store::state::memory::MemoryState;
use gossamer_core::store::state::{Reads, Space, State, Writes};

struct Free;

impl RobotsRules for Free {
    fn allows(&self, _: &str) -> bool {
        true
    }
    fn crawl_delay_us(&self) -> Option<Micros> {
        None
    }
}

fn compile() -> CompileRobots {
    Box::new(|_| Box::new(Free))
}

/// Counts the bytes asked for: RSS would hide what is taken from memory freed before.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size(), Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn key(host: u64) -> u64 {
    host.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn main() {
    let mut numbers = std::env::args().skip(1).map(|n| n.parse::<u64>().unwrap());
    let hosts = numbers.next().unwrap_or(10_000);
    let per_host = numbers.next().unwrap_or(10);
    let settings = Settings {
        ip_gap: 0,
        idle_in_ram: 0,
        ..Settings::default()
    };
    let state = MemoryState::default();
    let mut now = 1_000_000 * SECOND;
    let mut writes = Writes::default();
    let mut frontier =
        Frontier::open(settings.clone(), compile(), &state, now, &mut writes).unwrap();
    let apply = |frontier: &mut Frontier, mut writes: Writes| {
        let batch = frontier.seal(&mut writes);
        let begun = Instant::now();
        state.apply(writes, false).unwrap();
        let spent = begun.elapsed();
        frontier.applied(batch);
        spent
    };

    // Links: batches of 50, 90 % of them of one host, as pages have them.
    let (mut spent, mut added, mut out) = (0.0, 0_u64, Vec::new());
    let from: Arc<str> = Arc::from("http://a.page.example/");
    let mut made = vec![0_u32; hosts as usize];
    let mut dice = 1_u64;
    for page in 0..hosts * per_host / 50 {
        let items: Vec<Link> = (0..50_u64)
            .map(|link| {
                dice = dice
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(99);
                let host = if link < 45 { page } else { dice >> 33 } % hosts;
                made[host as usize] += 1;
                let name = format!("host-{host}.example");
                let number = made[host as usize];
                let path = format!("/a/path/of/usual/length/page-{number}.html");
                let url = Url::from_parts(true, &name, key(host), &path).unwrap();
                Link {
                    depth: 3,
                    ..Link::new(url, Arc::clone(&from), LinkKind::A)
                }
            })
            .collect();
        let begun = Instant::now();
        out.clear();
        frontier
            .add(now, &items, &state, &mut writes, &mut out)
            .unwrap();
        spent += begun.elapsed().as_secs_f64();
        added += items.len() as u64;
        if writes.list.len() > 10_000 {
            let begun = Instant::now();
            let store = apply(&mut frontier, std::mem::take(&mut writes));
            spent += (begun.elapsed() - store).as_secs_f64();
        }
    }
    apply(&mut frontier, std::mem::take(&mut writes));
    println!(
        "{hosts} hosts, {added} URLs: add {:.2} us per link",
        spent * 1e6 / added as f64
    );

    // What the frontier itself holds: the growth when it is opened anew over the same store.
    let counters = frontier.counters();
    println!(
        "heads in RAM: {} URLs, {} bytes",
        counters.heads, counters.head_bytes
    );
    drop(frontier);
    let before = HELD.load(Relaxed);
    let begun = Instant::now();
    let mut frontier = Frontier::open(settings, compile(), &state, now, &mut writes).unwrap();
    println!(
        "open: {:.2} us and {} bytes of RAM per host in memory (no heads)",
        begun.elapsed().as_secs_f64() * 1e6 / hosts as f64,
        HELD.load(Relaxed).saturating_sub(before) / frontier.counters().hosts_in_ram as usize
    );
    let (mut queue, mut records) = ((0, 0), (0, 0));
    for (space, sum) in [(Space::Queue, &mut queue), (Space::Hosts, &mut records)] {
        let mut visit = |key: &[u8], value: &[u8]| {
            *sum = (sum.0 + 1, sum.1 + key.len() + value.len());
            true
        };
        state.scan(space, &[], &[], &mut visit).unwrap();
    }
    println!(
        "store: {} bytes per queued URL, {} per host",
        queue.1 / queue.0.max(1),
        records.1 / records.0.max(1)
    );

    // Visits.
    let (mut visits, mut refusals) = (Vec::new(), Vec::new());
    let (mut spent, mut done) = (0.0, 0_u64);
    while done < hosts.max(200_000).min(hosts * per_host) {
        now += SECOND / 10;
        let begun = Instant::now();
        visits.clear();
        frontier
            .take(now, 1_000, &state, &mut writes, &mut visits, &mut refusals)
            .unwrap();
        for visit in &visits {
            let mut report = Report::new(Outcome::Fetched, now, now);
            report.response_us = Some(1_000);
            report.bytes = 20_000;
            if visit.purpose == Purpose::Robots {
                report.outcome = Outcome::Gone;
            }
            frontier.finish(now, visit.lease, &report, &mut writes);
        }
        let batch = std::mem::take(&mut writes);
        let store = apply(&mut frontier, batch);
        spent += (begun.elapsed() - store).as_secs_f64();
        done += visits.len() as u64;
    }
    println!(
        "{done} visits: take + finish + seal {:.2} us per visit; heads {} URLs, {} bytes; repairs {}",
        spent * 1e6 / done as f64,
        frontier.counters().heads,
        frontier.counters().head_bytes,
        frontier.counters().repairs
    );
}
