//! From an exchange to a response: the outcome, the decoded body, what the fields ask for.

use std::time::SystemTime;

use bytes::Bytes;

use super::decode::{self, Decoded};
use super::head::Head;
use super::http1::Exchange;
use super::judge;
use super::message::{Response, Truncated};
use super::settings::FetchLimits;
use super::wire::Fault;
use crate::outcome::Outcome;

/// The response that an exchange means.
pub(super) fn respond(exchange: Exchange, limits: &FetchLimits) -> Response {
    let Some(head) = exchange.head else {
        let fault = exchange.fault.unwrap_or(Fault::Disconnect);
        let (outcome, _, detail) = verdict(fault);
        return Response::empty(outcome, detail);
    };
    let mut response = Response::empty(judge::by_status(head.status), "");
    response.status = head.status;
    response.http_version = head.version;
    response.chunked = exchange.chunked;
    fields(&mut response, &head);
    let empty = exchange.body.is_empty();
    response.wire_body = Bytes::from(exchange.body);
    let page = response.outcome == Outcome::Fetched;
    if let Some(outcome) = exchange.unread {
        response.outcome = outcome;
        response.detail = match outcome {
            Outcome::TooLarge => "declared larger than the limit".to_owned(),
            _ => "a type that is not wanted".to_owned(),
        };
    }
    if let Some(fault) = exchange.fault {
        let (outcome, truncated, detail) = verdict(fault);
        response.truncated = Some(truncated);
        response.detail = detail.to_owned();
        // A page of which something came is a page cut short; a redirect or an error says what
        // it says by its head alone.
        if matches!(fault, Fault::Protocol(_)) || (page && empty && fault != Fault::Length) {
            response.outcome = outcome;
        } else if page {
            response.outcome = Outcome::Truncated;
        }
    }
    if response.outcome == Outcome::Redirected && response.location.is_none() {
        response.outcome = Outcome::ProtocolBroken;
        response.detail = "a redirect without a target".to_owned();
    }
    response.body = response.wire_body.clone();
    if !response.wire_body.is_empty() {
        remove_codings(&mut response, &head, limits, page);
    }
    response.response_head = head;
    response
}

fn verdict(fault: Fault) -> (Outcome, Truncated, &'static str) {
    match fault {
        Fault::Disconnect => (
            Outcome::Disconnected,
            Truncated::Disconnect,
            "the connection ended early",
        ),
        Fault::Short => (
            Outcome::Disconnected,
            Truncated::Short,
            "the server closed before the length that it had declared",
        ),
        Fault::Time(phase) => (Outcome::TimedOut, Truncated::Time, phase.as_str()),
        Fault::Protocol(reason) => (Outcome::ProtocolBroken, Truncated::Unspecified, reason),
        Fault::Length => (
            Outcome::Truncated,
            Truncated::Length,
            "the size limit was reached",
        ),
    }
}

fn fields(response: &mut Response, head: &Head) {
    if matches!(head.status, 300..=399) && head.status != 304 {
        response.location = head.get("location").filter(|target| !target.is_empty());
    }
    if let Some(value) = head.get("retry-after") {
        // The server's own clock says what its date means, if it tells it.
        let now = head
            .get("date")
            .and_then(|date| httpdate::parse_http_date(&date).ok())
            .unwrap_or_else(SystemTime::now);
        response.retry_after = judge::retry_after(&value, now);
    }
}

fn remove_codings(response: &mut Response, head: &Head, limits: &FetchLimits, page: bool) {
    let mut tokens = head.tokens("content-encoding");
    // A transfer coding other than chunked lies outside the content codings.
    tokens.extend(
        head.tokens("transfer-encoding")
            .into_iter()
            .filter(|token| token != "chunked"),
    );
    let codings = match decode::codings(&tokens) {
        Ok(codings) if codings.is_empty() => return,
        Ok(codings) => codings,
        Err(reason) => {
            response.body = Bytes::new();
            return broken(response, page, reason);
        }
    };
    let (body, end) = decode::decode(
        &response.wire_body,
        &codings,
        limits.decoded_bytes,
        limits.ratio,
    );
    let nothing = body.is_empty();
    response.body = Bytes::from(body);
    match end {
        Decoded::Whole => {}
        Decoded::Bomb => broken(response, page, "decoded beyond the ratio limit"),
        // The wire body was cut, so the decoded one had to be.
        Decoded::Broken if response.truncated.is_some() => {}
        Decoded::Broken if nothing => broken(response, page, "the content coding is broken"),
        Decoded::Broken => cut(response, page, "the content coding ends early or is broken"),
        Decoded::Limit => cut(response, page, "decoded up to the size limit"),
    }
}

fn broken(response: &mut Response, page: bool, reason: &str) {
    if page {
        response.outcome = Outcome::EncodingBroken;
    }
    response.detail = reason.to_owned();
}

fn cut(response: &mut Response, page: bool, reason: &str) {
    if page {
        response.outcome = Outcome::Truncated;
    }
    response.truncated.get_or_insert(Truncated::Decoded);
    response.detail = reason.to_owned();
}
