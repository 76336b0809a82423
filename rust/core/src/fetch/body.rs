//! Bodies of HTTP/1: by length, in chunks, or until the server closes; always under a hard limit.

use bytes::{Buf, BufMut};
use memchr::memchr;
use tokio::io::AsyncRead;

use super::clock::Clock;
use super::judge::Framing;
use super::settings::FetchLimits;
use super::wire::{Fault, Wire};

/// The longest line that gives the size of a chunk, extensions included.
const CHUNK_LINE: usize = 4096;
/// The framing of chunks may cost this many times the body limit: one-byte chunks cost five.
const CHUNK_OVERHEAD: u64 = 8;
/// Room made at once for a body whose length is not known.
const STEP: usize = 32 << 10;
/// Room made at once for a body whose length is only promised.
const PROMISED: u64 = 256 << 10;

/// Reads a body; what came before a fault stays in `body`.
pub(super) async fn read<S: AsyncRead + Unpin>(
    wire: &mut Wire<S>,
    framing: Framing,
    most: usize,
    limits: &FetchLimits,
    clock: &mut Clock,
    body: &mut Vec<u8>,
) -> Result<(), Fault> {
    match framing {
        Framing::Length(length) => by_length(wire, length, most, limits, clock, body).await,
        Framing::Chunked => in_chunks(wire, most, limits, clock, body).await,
        Framing::Close => until_close(wire, most, limits, clock, body).await,
    }
}

async fn by_length<S: AsyncRead + Unpin>(
    wire: &mut Wire<S>,
    length: u64,
    most: usize,
    limits: &FetchLimits,
    clock: &mut Clock,
    body: &mut Vec<u8>,
) -> Result<(), Fault> {
    let over = length > most as u64;
    let length = length.min(most as u64) as usize;
    body.reserve_exact((length as u64).min(PROMISED) as usize);
    let have = wire.buffer.len().min(length);
    body.extend_from_slice(&wire.buffer[..have]);
    wire.buffer.advance(have);
    while body.len() < length {
        if body.capacity() == body.len() {
            let more = body.len().min(length - body.len());
            body.reserve_exact(more.max(STEP.min(length - body.len())));
        }
        let left = length - body.len();
        if wire
            .read_into(body.limit(left), limits.stall, clock)
            .await?
            == 0
        {
            return Err(Fault::Short);
        }
    }
    if over { Err(Fault::Length) } else { Ok(()) }
}

async fn until_close<S: AsyncRead + Unpin>(
    wire: &mut Wire<S>,
    most: usize,
    limits: &FetchLimits,
    clock: &mut Clock,
    body: &mut Vec<u8>,
) -> Result<(), Fault> {
    let have = wire.buffer.len().min(most);
    body.extend_from_slice(&wire.buffer[..have]);
    wire.buffer.advance(have);
    if wire.buffer.has_remaining() {
        return Err(Fault::Length);
    }
    loop {
        if body.len() >= most {
            // Whether it ends exactly at the limit is one read away.
            return match wire.fill(limits.stall, clock).await? {
                0 => Ok(()),
                _ => Err(Fault::Length),
            };
        }
        if body.capacity() == body.len() {
            body.reserve(STEP);
        }
        let left = most - body.len();
        if wire
            .read_into(body.limit(left), limits.stall, clock)
            .await?
            == 0
        {
            return Ok(());
        }
    }
}

async fn in_chunks<S: AsyncRead + Unpin>(
    wire: &mut Wire<S>,
    most: usize,
    limits: &FetchLimits,
    clock: &mut Clock,
    body: &mut Vec<u8>,
) -> Result<(), Fault> {
    let mut overhead: u64 = 0;
    loop {
        let line = next_line(wire, CHUNK_LINE, limits, clock).await?;
        overhead += line as u64;
        if overhead > CHUNK_OVERHEAD * most as u64 + (1 << 20) {
            return Err(Fault::Protocol("more chunk framing than body"));
        }
        let size = chunk_size(&wire.buffer[..line])?;
        wire.buffer.advance(line);
        if size == 0 {
            return trailers(wire, limits, clock).await;
        }
        let mut left = size;
        while left > 0 {
            if wire.buffer.is_empty() && wire.fill(limits.stall, clock).await? == 0 {
                return Err(Fault::Disconnect);
            }
            let room = (most - body.len()) as u64;
            let take = left.min(wire.buffer.len() as u64).min(room) as usize;
            body.extend_from_slice(&wire.buffer[..take]);
            wire.buffer.advance(take);
            left -= take as u64;
            if left > 0 && body.len() >= most {
                return Err(Fault::Length);
            }
        }
        let line = next_line(wire, CHUNK_LINE, limits, clock).await?;
        if !matches!(&wire.buffer[..line], b"\r\n" | b"\n") {
            return Err(Fault::Protocol("a chunk is longer than its size says"));
        }
        wire.buffer.advance(line);
    }
}

/// Reads fields after the last chunk up to the empty line; they are bounded and not kept.
async fn trailers<S: AsyncRead + Unpin>(
    wire: &mut Wire<S>,
    limits: &FetchLimits,
    clock: &mut Clock,
) -> Result<(), Fault> {
    let mut seen = 0;
    loop {
        let line = match next_line(wire, limits.head_bytes, limits, clock).await {
            Ok(line) => line,
            // The last chunk came, so the body is whole: many servers forget the empty line.
            Err(Fault::Disconnect) => return Ok(()),
            Err(fault) => return Err(fault),
        };
        let empty = matches!(&wire.buffer[..line], b"\r\n" | b"\n");
        wire.buffer.advance(line);
        if empty {
            return Ok(());
        }
        seen += line;
        if seen > limits.head_bytes {
            return Err(Fault::Protocol("trailer fields beyond the limit"));
        }
    }
}

/// The length of the next line, its end included, once it is in the buffer.
async fn next_line<S: AsyncRead + Unpin>(
    wire: &mut Wire<S>,
    most: usize,
    limits: &FetchLimits,
    clock: &mut Clock,
) -> Result<usize, Fault> {
    let mut looked = 0;
    loop {
        if let Some(at) = memchr(b'\n', &wire.buffer[looked..]) {
            return Ok(looked + at + 1);
        }
        looked = wire.buffer.len();
        if looked > most {
            return Err(Fault::Protocol("a chunk line beyond the limit"));
        }
        if wire.fill(limits.stall, clock).await? == 0 {
            return Err(Fault::Disconnect);
        }
    }
}

fn chunk_size(line: &[u8]) -> Result<u64, Fault> {
    const BROKEN: Fault = Fault::Protocol("the size of a chunk is no number");
    let digits = line
        .iter()
        .take_while(|byte| byte.is_ascii_hexdigit())
        .count();
    // Blanks, then an extension or the end of the line, may follow.
    let follows = line[digits..]
        .iter()
        .find(|byte| !matches!(byte, b' ' | b'\t'));
    if digits == 0 || !matches!(follows, Some(b';' | b'\r' | b'\n')) {
        return Err(BROKEN);
    }
    let text = std::str::from_utf8(&line[..digits]).map_err(|_| BROKEN)?;
    u64::from_str_radix(text, 16).map_err(|_| BROKEN)
}
