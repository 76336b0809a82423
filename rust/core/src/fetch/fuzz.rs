//! Entry for fuzzing: a whole exchange over an in-memory connection that says anything.
#![allow(clippy::panic)]

use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::clock::Clock;
use super::finish;
use super::http1::{self, Wanted};
use super::settings::FetchLimits;
use super::wire::Wire;

/// A server that sends its script in pieces and then closes.
struct Script<'a> {
    rest: &'a [u8],
    piece: usize,
}

impl AsyncRead for Script<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let count = self.piece.min(buffer.remaining()).min(self.rest.len());
        let (now, later) = self.rest.split_at(count);
        buffer.put_slice(now);
        self.rest = later;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Script<'_> {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(data.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// The first byte chooses the size of the pieces, the rest is what the server sends.
///
/// # Panics
/// When a promise of the stage is broken; that is what a fuzzer looks for.
pub fn fuzz_http(data: &[u8]) {
    let Some((&first, rest)) = data.split_first() else {
        return;
    };
    let limits = FetchLimits {
        total: Duration::from_secs(60),
        head_bytes: 4096,
        head_lines: 64,
        body_bytes: 8192,
        decoded_bytes: 64 << 10,
        ratio: 50,
        ..FetchLimits::default()
    };
    let types = ["text/html".to_owned()];
    let wanted = Wanted {
        limits: &limits,
        max_body: limits.body_bytes,
        cut: first & 2 == 0,
        types: if first & 1 == 0 { &[] } else { &types },
    };
    let piece = usize::from(first >> 1) * 8 + 1;
    let mut wire = Wire::new(Script { rest, piece });
    let mut clock = Clock::new(limits.total);
    let exchange = http1::exchange(&mut wire, b"GET / HTTP/1.1\r\n\r\n", wanted, &mut clock);
    let mut context = Context::from_waker(Waker::noop());
    // The script is always ready, so the exchange never waits.
    let Poll::Ready(exchange) = pin!(exchange).poll(&mut context) else {
        panic!("an exchange waits though its connection is ready");
    };
    let response = finish::respond(exchange, &limits);
    assert!(response.wire_body.len() <= limits.body_bytes, "body limit");
    assert!(
        response.body.len() <= limits.decoded_bytes.max(limits.body_bytes),
        "decoded limit"
    );
    assert!(
        response.response_head.as_bytes().len() <= limits.head_bytes,
        "head limit"
    );
    assert!(!response.detail.chars().any(char::is_control), "detail");
    for (name, value) in response.response_head.iter() {
        assert!(
            !name.contains('\n') && !value.contains(['\r', '\n']),
            "field with a line end"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::fuzz_http;

    /// Pieces of HTTP put together by a fixed random sequence: a fuzzer's first minute, in every
    /// run of the tests.
    #[test]
    fn scrambled_responses_keep_the_promises() {
        const PARTS: &[&[u8]] = &[
            b"HTTP/1.1 200 OK\r\n",
            b"HTTP/1.0 404\n",
            b"HTTP/1.1 100 \r\n\r\n",
            b"\r\n",
            b"\n",
            b"Content-Length: 5\r\n",
            b"Content-Length: -5\r\n",
            b"Content-Length: 99999\r\n",
            b"Transfer-Encoding: chunked\r\n",
            b"Content-Encoding: gzip\r\n",
            b" folded\r\n",
            b"Content-Encoding: deflate, br, zstd\r\n",
            b"Content-Type: text/html\r\n",
            b"hello",
            b"5\r\nhello\r\n",
            b"0\r\n\r\n",
            b"ffffffffffffffff\r\n",
            b"\0",
            b"\xff\xfe",
            b":",
            b"a: b\r\n",
            b"\x1f\x8b\x08\0\0\0\0\0\0\x03",
            b"\x78\x9c",
            b"\x28\xb5\x2f\xfd",
            b"Location: x\r\n",
            b"HTTP/1.1 301 Moved\r\n",
            b"Connection: close\r\n",
            b"Retry-After: 5\r\n",
        ];
        let mut seed = 12345u64;
        let mut next = move || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize
        };
        for _ in 0..20_000 {
            let mut data = vec![next() as u8];
            if next() % 4 > 0 {
                data.extend(PARTS[0]);
            }
            for _ in 0..next() % 16 {
                data.extend(PARTS[next() % PARTS.len()]);
            }
            if next() % 3 == 0 && data.len() > 1 {
                let at = next() % data.len();
                data[at] = next() as u8;
            }
            fuzz_http(&data);
        }
    }
}
