//! What it costs to make and append the records of a 20 KB page.
//! Run: `cargo run --release -p gossamer-core --example warc_bench`
#![allow(clippy::unwrap_used)]

use gossamer_core::store::warc::{Builder, FsyncPolicy, Member, Meta, Settings, Writer, sha1};
use std::hint::black_box;
use std::time::Instant;

const NOW: u64 = 1_763_233_422_123_456;

/// A page of about 20 KB with 50 links and words of a long-tailed vocabulary.
fn page() -> Vec<u8> {
    let mut state = 1u64;
    let mut next = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize
    };
    let mut out =
        String::from("<!doctype html><html lang=en><head><title>A page</title></head><body>\n");
    while out.len() < 20_000 {
        if next() % 3 == 0 {
            let (path, word) = (next() % 1_000_000, next() % 97);
            out += &format!(
                "<li class=\"item\"><a href=\"/section/{path}.html\">word{word}</a></li>\n"
            );
        } else {
            out += "<p class=\"text\">";
            for _ in 0..25 {
                // Two draws multiplied: small numbers are common, large ones rare.
                let word = (next() % 64) * (next() % 64);
                out += &format!("{}{} ", ["ra", "ne", "to", "li", "su"][word % 5], word);
            }
            out += "</p>\n";
        }
    }
    out.into_bytes()
}

fn best(name: &str, mut work: impl FnMut() -> usize) {
    let mut least = f64::MAX;
    let mut size = 0;
    for _ in 0..300 {
        let begin = Instant::now();
        for _ in 0..20 {
            size = work();
        }
        least = least.min(begin.elapsed().as_secs_f64() / 20.0 * 1e6);
    }
    println!("{name:44} {least:7.2} µs   {size} bytes");
}

fn members(builder: &Builder, body: &[u8]) -> [Member; 2] {
    let meta = Meta {
        ip: Some([127, 0, 0, 1].into()),
        ..Meta::new("http://example.org/section/12345.html", NOW)
    };
    let head = b"HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Sun, 15 Nov 2026 19:00:00 GMT\r\n\
        Content-Type: text/html; charset=utf-8\r\nContent-Length: 20000\r\nConnection: keep-alive\r\n\
        ETag: \"5f3c-1a2b\"\r\nLast-Modified: Sat, 14 Nov 2026 10:00:00 GMT\r\n\r\n";
    let request = b"GET /section/12345.html HTTP/1.1\r\nHost: example.org\r\n\
        User-Agent: gossamer (+http://example.org/bot)\r\nAccept: */*\r\nAccept-Encoding: gzip, br\r\n\r\n";
    let response = builder.response(&meta, head, body);
    let request = builder.request(&meta.concurrent_to(response.record_id), request);
    [response, request]
}

fn main() {
    let body = page();
    println!("page of {} bytes; best mean of 20, of 300", body.len());
    best("SHA-1 of the body", || black_box(sha1(&body)).len());
    for level in [0, 1, 2, 3, 6] {
        let builder = Builder {
            level,
            block_digest: false,
        };
        best(&format!("response + request, level {level}"), || {
            members(&builder, &body)
                .iter()
                .map(|member| member.bytes.len())
                .sum()
        });
    }
    let builder = Builder {
        level: 1,
        block_digest: true,
    };
    best("response + request, level 1, block digest", || {
        members(&builder, &body)
            .iter()
            .map(|member| member.bytes.len())
            .sum()
    });
    let dir = std::env::temp_dir().join(format!("gossamer-warc-bench-{}", std::process::id()));
    let settings = Settings {
        fsync: FsyncPolicy::Never,
        ..Settings::default()
    };
    let mut writer = Writer::create(&dir, settings).unwrap();
    let batch: Vec<Member> = (0..64)
        .flat_map(|_| members(&Builder::default(), &body))
        .collect();
    best("append of 64 pages to a file", || {
        if writer.position().is_some_and(|at| at.offset > 900 << 20) {
            let settings = Settings {
                fsync: FsyncPolicy::Never,
                ..Settings::default()
            };
            std::fs::remove_dir_all(&dir).unwrap();
            writer = Writer::create(&dir, settings).unwrap();
        }
        writer
            .append(NOW, &batch)
            .unwrap()
            .iter()
            .map(|at| at.length as usize)
            .sum()
    });
    drop(writer);
    std::fs::remove_dir_all(&dir).unwrap();
}
