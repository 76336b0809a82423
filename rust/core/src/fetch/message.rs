//! What goes into a fetch and what comes out: a request, and a response that is always there.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::head::Head;
use crate::canonical::Url;
use crate::outcome::Outcome;

/// What a fetch is for. Only pages are judged by type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// A page of the crawl.
    #[default]
    Page,
    /// A robots file.
    Robots,
    /// A sitemap.
    Sitemap,
    /// A name that cannot exist, to learn what the host answers then.
    Probe,
}

/// One visit, as the fetcher sees it.
#[derive(Clone, Debug)]
pub struct Request {
    pub url: Url,
    /// The validator of the copy we have, as the server spelt it.
    pub etag: Option<String>,
    /// The `Last-Modified` of the copy we have, as the server spelt it.
    pub last_modified: Option<String>,
    /// What it is for.
    pub purpose: Purpose,
    /// Instead of the setting: the largest body, in bytes.
    pub max_body: Option<usize>,
    /// Further headers that stand for a user: sent, and recorded without their values.
    pub credentials: Option<Arc<[(String, String)]>>,
    /// The `Cookie` field of this one request, where no cookies are kept.
    pub cookie: Option<String>,
    /// Not on a connection that was kept.
    pub new_connection: bool,
}

impl Request {
    /// A page, unconditionally.
    #[must_use]
    pub fn page(url: Url) -> Self {
        Request {
            url,
            etag: None,
            last_modified: None,
            purpose: Purpose::Page,
            max_body: None,
            credentials: None,
            cookie: None,
            new_connection: false,
        }
    }
}

/// Why a body is not whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncated {
    /// The size limit was reached.
    Length,
    /// A time limit was reached.
    Time,
    /// The connection ended early.
    Disconnect,
    /// The server closed in good order before the declared length, which may be the wrong one.
    Short,
    /// The wire body is broken in a way that is none of these.
    Unspecified,
    /// The wire body is whole; its decoded form is not (size limit, or broken compression).
    Decoded,
}

impl Truncated {
    /// The spelling for logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Truncated::Length => "length",
            Truncated::Time => "time",
            Truncated::Disconnect | Truncated::Short => "disconnect",
            Truncated::Unspecified => "unspecified",
            Truncated::Decoded => "decoded",
        }
    }

    /// The value for `WARC-Truncated`; none when the wire body is whole.
    #[must_use]
    pub const fn warc_reason(self) -> Option<&'static str> {
        match self {
            Truncated::Decoded => None,
            other => Some(other.as_str()),
        }
    }
}

/// Which protocol carried the response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HttpVersion {
    /// No response, or an unknown one.
    #[default]
    Unknown,
    /// HTTP/1.0.
    Http10,
    /// HTTP/1.1.
    Http11,
    /// HTTP/2; the heads are synthesised as HTTP/1.1 text.
    Http2,
}

impl HttpVersion {
    /// The spelling for logs and for `WARC-Protocol`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            HttpVersion::Unknown => "",
            HttpVersion::Http10 => "http/1.0",
            HttpVersion::Http11 => "http/1.1",
            HttpVersion::Http2 => "h2",
        }
    }
}

/// How long each phase took, in microseconds; 0 where a phase did not happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Name look-up.
    pub dns: u64,
    /// TCP connection, proxy handshake included.
    pub connect: u64,
    /// TLS handshake.
    pub tls: u64,
    /// From the request sent to the first byte of the response.
    pub first_byte: u64,
    /// From the call to the answer.
    pub total: u64,
}

/// What became of a request. Every field is there for every outcome; empty where nothing came.
#[derive(Clone, Debug)]
pub struct Response {
    /// The verdict.
    pub outcome: Outcome,
    /// The status code, 0 when no response head came.
    pub status: u16,
    /// The protocol.
    pub http_version: HttpVersion,
    /// The head as sent (HTTP/2: the same as HTTP/1.1 text). Credentials and cookies included.
    pub request_head: Vec<u8>,
    /// The head as received, byte for byte; under HTTP/2 it is synthesised as HTTP/1.1 text.
    pub response_head: Head,
    /// The body with its transfer coding removed and its content codings kept.
    pub wire_body: Bytes,
    /// The body without content codings; the same buffer as `wire_body` when there were none.
    pub body: Bytes,
    /// The body came in chunks, so the bytes on the wire were not exactly `wire_body`.
    pub chunked: bool,
    /// The address that was visited; none behind a proxy that resolves names.
    pub ip: Option<IpAddr>,
    /// The target of a redirect, as the server spelt it.
    pub location: Option<String>,
    /// The `Cookie` field that was sent.
    pub cookie: Option<String>,
    /// Of a redirect that set cookies: the `Cookie` field that this URL would be asked with now, if
    /// it is another than the one that was sent.
    pub next_cookie: Option<String>,
    /// How long the server asks us to stay away.
    pub retry_after: Option<Duration>,
    /// How long each phase took.
    pub timings: Timings,
    /// The connection had carried another request before.
    pub reused: bool,
    /// Why the body is not whole, if it is not.
    pub truncated: Option<Truncated>,
    /// `Outcome::Deferred`: the time before which the address gate refuses, in microseconds.
    pub not_before: Option<u64>,
    /// What happened, for people: short, no control characters.
    pub detail: String,
}

impl Response {
    /// No fetch: the text is no URL that could be visited.
    #[must_use]
    pub fn refused(reason: &str) -> Self {
        Response::empty(Outcome::UrlRefused, reason)
    }

    pub(super) fn empty(outcome: Outcome, detail: &str) -> Self {
        Response {
            outcome,
            status: 0,
            http_version: HttpVersion::Unknown,
            request_head: Vec::new(),
            response_head: Head::default(),
            wire_body: Bytes::new(),
            body: Bytes::new(),
            chunked: false,
            ip: None,
            location: None,
            cookie: None,
            next_cookie: None,
            retry_after: None,
            timings: Timings::default(),
            reused: false,
            truncated: None,
            not_before: None,
            detail: bounded(detail),
        }
    }

    /// The first field of that name, whatever its case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<String> {
        self.response_head.get(name)
    }

    /// The `Content-Type` field.
    #[must_use]
    pub fn content_type(&self) -> Option<String> {
        self.header("content-type")
    }

    /// The `ETag` field.
    #[must_use]
    pub fn etag(&self) -> Option<String> {
        self.header("etag")
    }

    /// The `Last-Modified` field.
    #[must_use]
    pub fn last_modified(&self) -> Option<String> {
        self.header("last-modified")
    }
}

/// The longest `detail`, in characters.
const DETAIL_CHARS: usize = 200;

/// Text fit for a log line: bounded, control characters escaped.
pub(super) fn bounded(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(DETAIL_CHARS));
    for character in text.chars().take(DETAIL_CHARS) {
        // Marks that turn the reading direction would let a server disguise a log line.
        let disguise = matches!(character, '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if character.is_control() || disguise {
            out.extend(character.escape_unicode());
        } else {
            out.push(character);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::bounded;

    #[test]
    fn detail_has_no_control_characters_and_an_end() {
        assert_eq!(
            bounded("a\r\n\u{1b}[1m\u{202e}"),
            "a\\u{d}\\u{a}\\u{1b}[1m\\u{202e}"
        );
        assert!(bounded(&"\n".repeat(100_000)).len() < 2000);
    }
}
