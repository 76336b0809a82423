//! One exchange of HTTP/2, by `h2`; chosen in the TLS handshake.
//!
//! Gives the same as an exchange of HTTP/1.1. Its heads are written as HTTP/1.1 text, since the
//! bytes of HPACK mean nothing outside their connection.

use std::io;

use bytes::Bytes;
use h2::client::SendRequest;
use http::{Method, Request, Uri, Version};
use tokio::io::{AsyncRead, AsyncWrite};

use super::clock::{Clock, Phase, micros};
use super::head::Head;
use super::http1::{Exchange, SIDE_BODY, Wanted, before_body};
use super::judge;
use super::message::HttpVersion;
use super::settings::FetchLimits;
use super::wire::Fault;
use crate::outcome::Outcome;

/// What a server may send before we have read it, per stream and per connection.
const WINDOW: u32 = 1 << 20;

/// Starts HTTP/2 on a connection. The task that drives it ends with the connection.
pub(super) async fn handshake<S>(
    stream: S,
    limits: &FetchLimits,
) -> Result<SendRequest<Bytes>, h2::Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) = h2::client::Builder::new()
        .enable_push(false)
        .initial_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .max_concurrent_streams(0)
        .max_header_list_size(u32::try_from(limits.head_bytes).unwrap_or(u32::MAX))
        .max_concurrent_reset_streams(8)
        .handshake(stream)
        .await?;
    // Ends when the last sender is dropped or the server closes.
    tokio::spawn(async move {
        let _ = connection.await;
    });
    Ok(sender)
}

/// Sends a request, given as the text of an HTTP/1.1 head, and reads its response.
pub(super) async fn exchange(
    sender: &mut SendRequest<Bytes>,
    secure: bool,
    head: &[u8],
    wanted: Wanted<'_>,
    clock: &mut Clock,
) -> Exchange {
    let mut out = Exchange::default();
    out.fault = converse(sender, secure, head, wanted, clock, &mut out)
        .await
        .err();
    out.reusable &= out.fault.is_none();
    out
}

async fn converse(
    sender: &mut SendRequest<Bytes>,
    secure: bool,
    head: &[u8],
    wanted: Wanted<'_>,
    clock: &mut Clock,
    out: &mut Exchange,
) -> Result<(), Fault> {
    let request = request(secure, head).ok_or(Fault::Protocol("a URL that HTTP/2 cannot carry"))?;
    clock.phase(Phase::FirstByte, wanted.limits.first_byte);
    let begun = tokio::time::Instant::now();
    let response = clock
        .run(async {
            let mut ready = sender.clone().ready().await?;
            let (response, _) = ready.send_request(request, true)?;
            response.await
        })
        .await
        .map_err(Fault::Time)?
        .map_err(|error| fault(&error))?;
    out.answered = true;
    out.first_byte = micros(begun.elapsed());
    let (parts, mut stream) = response.into_parts();
    let head = synthesise(&parts, wanted.limits.head_lines)?;
    let head = out.head.insert(head);
    out.reusable = true;
    if judge::bodiless(head.status) {
        return Ok(());
    }
    let declared = head
        .get("content-length")
        .and_then(|text| text.trim().parse().ok());
    let most = if judge::by_status(head.status) == Outcome::Fetched {
        if let Err(outcome) = before_body(head, declared, wanted) {
            // Dropping the stream resets it; the connection stays good.
            out.unread = Some(outcome);
            return Ok(());
        }
        wanted.max_body
    } else {
        wanted.max_body.min(SIDE_BODY)
    };
    loop {
        clock.phase(Phase::Stall, wanted.limits.stall);
        let data = match clock.run(stream.data()).await.map_err(Fault::Time)? {
            None => return Ok(()),
            Some(data) => data.map_err(|error| fault(&error))?,
        };
        let take = data.len().min(most - out.body.len());
        out.body.extend_from_slice(&data[..take]);
        if take < data.len() {
            return Err(Fault::Length);
        }
        // Only what was read makes room for more.
        if stream.flow_control().release_capacity(data.len()).is_err() {
            return Err(Fault::Disconnect);
        }
    }
}

/// The request that an HTTP/1.1 head means.
fn request(secure: bool, head: &[u8]) -> Option<Request<()>> {
    let text = std::str::from_utf8(head).ok()?;
    let mut lines = text.split("\r\n");
    let path = lines.next()?.split(' ').nth(1)?;
    let mut authority = "";
    let mut request = Request::builder()
        .method(Method::GET)
        .version(Version::HTTP_2);
    for line in lines.take_while(|line| !line.is_empty()) {
        let (name, value) = line.split_once(": ")?;
        if name == "Host" {
            authority = value;
        } else {
            request = request.header(name, value);
        }
    }
    let scheme = if secure { "https" } else { "http" };
    let uri = Uri::builder()
        .scheme(scheme)
        .authority(authority)
        .path_and_query(path)
        .build()
        .ok()?;
    request.uri(uri).body(()).ok()
}

/// The response head as HTTP/1.1 text.
fn synthesise(parts: &http::response::Parts, max_lines: usize) -> Result<Head, Fault> {
    let reason = parts.status.canonical_reason().unwrap_or("");
    let mut text = format!("HTTP/1.1 {} {reason}\r\n", parts.status.as_u16()).into_bytes();
    for (name, value) in &parts.headers {
        text.extend(name.as_str().as_bytes());
        text.extend(b": ");
        text.extend(value.as_bytes());
        text.extend(b"\r\n");
    }
    text.extend(b"\r\n");
    let mut head = Head::parse(text, max_lines).map_err(|error| Fault::Protocol(error.as_str()))?;
    head.version = HttpVersion::Http2;
    Ok(head)
}

fn fault(error: &h2::Error) -> Fault {
    if error
        .get_io()
        .is_some_and(|error| error.kind() != io::ErrorKind::InvalidData)
        || error.is_go_away()
        || error.reason() == Some(h2::Reason::NO_ERROR)
    {
        Fault::Disconnect
    } else {
        Fault::Protocol("the server breaks HTTP/2 or ends the stream")
    }
}
