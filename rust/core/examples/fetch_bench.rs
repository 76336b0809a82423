//! Requests per second and CPU time per request of the fetch stage.
//!
//! `cargo run --release --example fetch_bench -- CONCURRENCY COUNT URL...`
//! `FETCH_BENCH_CLIENT=hyper` runs the same load through hyper's HTTP/1 connection, keep-alive,
//! body read whole, without limits, cache, guard or decoding: the floor to compare with.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use gossamer_core::canonical::{Rules, canonical};
use gossamer_core::fetch::{FetchSettings, Fetcher, Request};
use gossamer_core::outcome::Outcome;
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// CPU time of this process so far, in seconds: user and system, in clock ticks of 10 ms.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = stat.rsplit(')').next().unwrap_or_default();
    let ticks: f64 = after
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|text| text.parse::<f64>().ok())
        .sum();
    ticks / 100.0
}

async fn with_fetcher(
    fetcher: Fetcher,
    url: String,
    turns: Arc<AtomicUsize>,
    count: usize,
) -> usize {
    let mut bytes = 0;
    let url = match canonical(&url, None, &Rules::plain()) {
        Ok(url) => url,
        Err(refusal) => {
            eprintln!("{url}: {refusal}");
            return 0;
        }
    };
    while turns.fetch_add(1, Ordering::Relaxed) < count {
        let response = fetcher.fetch(Request::page(url.clone())).await;
        if response.outcome != Outcome::Fetched {
            eprintln!("{}: {}", response.outcome.as_str(), response.detail);
        }
        bytes += response.body.len();
    }
    bytes
}

async fn with_hyper(
    url: String,
    turns: Arc<AtomicUsize>,
    count: usize,
) -> Result<usize, Box<dyn Error + Send + Sync>> {
    let uri: http::Uri = url.parse()?;
    let host = uri.host().unwrap_or_default().to_owned();
    let port = uri.port_u16().unwrap_or(80);
    let stream = TcpStream::connect((host.as_str(), port)).await?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let mut bytes = 0;
    while turns.fetch_add(1, Ordering::Relaxed) < count {
        let request = http::Request::get(uri.path())
            .header("Host", format!("{host}:{port}"))
            .header("User-Agent", "gossamer/0.1.0")
            .header(
                "Accept",
                "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            )
            .header("Accept-Encoding", "gzip, deflate, br, zstd")
            .body(Empty::<bytes::Bytes>::new())?;
        sender.ready().await?;
        let response = sender.send_request(request).await?;
        bytes += response.into_body().collect().await?.to_bytes().len();
    }
    Ok(bytes)
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut arguments = std::env::args().skip(1);
    let usage = "usage: fetch_bench CONCURRENCY COUNT URL...";
    let concurrency: usize = arguments.next().ok_or(usage)?.parse()?;
    let count: usize = arguments.next().ok_or(usage)?.parse()?;
    let urls: Vec<String> = arguments.collect();
    if urls.is_empty() {
        return Err(usage.into());
    }
    let hyper = std::env::var("FETCH_BENCH_CLIENT").is_ok_and(|client| client == "hyper");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let settings = FetchSettings {
        allow_private: true,
        idle_per_host: concurrency,
        ..FetchSettings::default()
    };
    let fetcher = Fetcher::new(settings)?;
    let (began, cpu) = (Instant::now(), cpu_seconds());
    let bytes: usize = runtime.block_on(async {
        let turns = Arc::new(AtomicUsize::new(0));
        let mut tasks = Vec::new();
        for number in 0..concurrency {
            let url = urls[number % urls.len()].clone();
            let turns = Arc::clone(&turns);
            let fetcher = fetcher.clone();
            tasks.push(tokio::spawn(async move {
                if hyper {
                    with_hyper(url, turns, count).await.unwrap_or_else(|error| {
                        eprintln!("{error}");
                        0
                    })
                } else {
                    with_fetcher(fetcher, url, turns, count).await
                }
            }));
        }
        let mut bytes = 0;
        for task in tasks {
            bytes += task.await.unwrap_or(0);
        }
        bytes
    });
    let (seconds, cpu) = (began.elapsed().as_secs_f64(), cpu_seconds() - cpu);
    println!(
        "{}: {:.0} requests/s, {:.1} µs CPU per request, {:.0} bytes per body",
        if hyper { "hyper" } else { "gossamer" },
        count as f64 / seconds,
        cpu * 1e6 / count as f64,
        bytes as f64 / count as f64,
    );
    Ok(())
}
