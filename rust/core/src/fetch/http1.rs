//! One exchange of HTTP/1.1: the request in one write, the head judged before the body is read.
//!
//! Takes a connection and the bytes of a request; gives a head, a body and how it ended. It never
//! reads more than the limits and never waits longer than the clock.

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use super::body;
use super::clock::{Clock, Phase, micros};
use super::head::{self, Head};
use super::judge::{self, Framing};
use super::message::HttpVersion;
use super::settings::FetchLimits;
use super::wire::{Fault, Wire};
use crate::outcome::Outcome;
use crate::parse::sniff::is_read;

/// Interim responses (1xx) that are passed over before the real one.
const INTERIM_MOST: usize = 8;
/// Of a response that is no page (a redirect, an error) this much is read.
pub(super) const SIDE_BODY: usize = 256 << 10;

/// What is wanted of a response.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'a> {
    pub(super) limits: &'a FetchLimits,
    pub(super) max_body: usize,
    /// A body that is declared larger is read up to the limit instead of refused, whatever its
    /// type.
    pub(super) cut: bool,
    /// Types whose body is read; empty: all.
    pub(super) types: &'a [String],
}

/// What came.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    pub(super) head: Option<Head>,
    pub(super) body: Vec<u8>,
    pub(super) chunked: bool,
    /// The body was not read, for this reason.
    pub(super) unread: Option<Outcome>,
    /// Why the response is not whole.
    pub(super) fault: Option<Fault>,
    /// Another request may follow on the connection.
    pub(super) reusable: bool,
    /// Something came back.
    pub(super) answered: bool,
    /// Microseconds from the request sent to the first byte.
    pub(super) first_byte: u64,
}

/// Sends a request and reads its response.
pub(super) async fn exchange<S: AsyncRead + AsyncWrite + Unpin>(
    wire: &mut Wire<S>,
    request: &[u8],
    wanted: Wanted<'_>,
    clock: &mut Clock,
) -> Exchange {
    let mut out = Exchange::default();
    out.fault = converse(wire, request, wanted, clock, &mut out).await.err();
    // Bytes after the end belong to nothing that we asked for.
    out.reusable &= out.fault.is_none() && wire.buffer.is_empty();
    out
}

async fn converse<S: AsyncRead + AsyncWrite + Unpin>(
    wire: &mut Wire<S>,
    request: &[u8],
    wanted: Wanted<'_>,
    clock: &mut Clock,
    out: &mut Exchange,
) -> Result<(), Fault> {
    clock.phase(Phase::FirstByte, wanted.limits.first_byte);
    let sent = clock.run(wire.stream.write_all(request)).await;
    if let Err(phase) = sent {
        return Err(Fault::Time(phase));
    }
    // A failed write is no verdict: a server may have answered and closed without listening.
    let begun = tokio::time::Instant::now();
    clock.phase(Phase::FirstByte, wanted.limits.first_byte);
    if wire.fill_in_phase(clock).await? == 0 {
        return Err(Fault::Disconnect);
    }
    out.answered = true;
    out.first_byte = micros(begun.elapsed());
    let mut interim = 0;
    let head = loop {
        let head = read_head(wire, wanted.limits, clock).await?;
        match head.status {
            101 => return Err(Fault::Protocol("the server switches protocols unasked")),
            100..=199 if interim < INTERIM_MOST => interim += 1,
            100..=199 => return Err(Fault::Protocol("too many interim responses")),
            _ => break head,
        }
    };
    let head = out.head.insert(head);
    out.reusable = persists(head);
    if judge::bodiless(head.status) {
        return Ok(());
    }
    let (framing, closes) = judge::framing(head).map_err(Fault::Protocol)?;
    out.reusable &= !closes;
    out.chunked = framing == Framing::Chunked;
    let most = match plan(head, framing, wanted) {
        Ok(most) => most,
        Err(outcome) => {
            out.unread = Some(outcome);
            out.reusable = false;
            return Ok(());
        }
    };
    body::read(wire, framing, most, wanted.limits, clock, &mut out.body).await
}

/// How much of the body to read, or why not to read it.
fn plan(head: &Head, framing: Framing, wanted: Wanted<'_>) -> Result<usize, Outcome> {
    if judge::by_status(head.status) != Outcome::Fetched {
        return Ok(wanted.max_body.min(SIDE_BODY));
    }
    let declared = match framing {
        Framing::Length(length) => Some(length),
        Framing::Chunked | Framing::Close => None,
    };
    before_body(head, declared, wanted).map(|()| wanted.max_body)
}

/// Judges type and declared size of a page before its body is read.
pub(super) fn before_body(
    head: &Head,
    declared: Option<u64>,
    wanted: Wanted<'_>,
) -> Result<(), Outcome> {
    let content_type = head.get("content-type");
    let content_type = content_type.as_deref();
    if !wanted.types.is_empty() && !judge::wanted(content_type, wanted.types) {
        return Err(Outcome::UnwantedType);
    }
    // The beginning of a page has a title and links; that of an archive or a film is worth nothing.
    let cut = wanted.cut || is_read(content_type);
    if !cut && declared.is_some_and(|length| length > wanted.max_body as u64) {
        return Err(Outcome::TooLarge);
    }
    Ok(())
}

async fn read_head<S: AsyncRead + Unpin>(
    wire: &mut Wire<S>,
    limits: &FetchLimits,
    clock: &mut Clock,
) -> Result<Head, Fault> {
    let mut looked: usize = 0;
    loop {
        if !head::plausible(&wire.buffer) {
            return Err(Fault::Protocol(head::HeadError::NotHttp.as_str()));
        }
        // The empty line may lie across two arrivals.
        let end = head::end(&wire.buffer, looked.saturating_sub(3));
        if end.unwrap_or(wire.buffer.len()) > limits.head_bytes {
            return Err(Fault::Protocol("a head beyond the limit"));
        }
        if let Some(end) = end {
            let bytes = wire.buffer.split_to(end).to_vec();
            return Head::parse(bytes, limits.head_lines)
                .map_err(|error| Fault::Protocol(error.as_str()));
        }
        looked = wire.buffer.len();
        if wire.fill(limits.stall, clock).await? == 0 {
            return Err(Fault::Disconnect);
        }
    }
}

fn persists(head: &Head) -> bool {
    let options = head.tokens("connection");
    let has = |name: &str| options.iter().any(|option| option == name);
    match head.version {
        HttpVersion::Http11 => !has("close"),
        _ => has("keep-alive") && !has("close"),
    }
}
