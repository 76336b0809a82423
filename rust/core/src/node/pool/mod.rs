//! A visit: fetch, parse, links and the WARC records, in one go on a worker thread.
//!
//! Takes a batch of [`Task`]s; gives a [`Visited`] for each, always. Between the two nothing but
//! native code runs. Guarantees: every task submitted is answered exactly once, also when its
//! code panics ([`Outcome::InternalError`]) or the pool stops; the number of tasks held is bounded by the caller's `room`.

mod process;
mod records;
mod resting;
mod runtime;
mod settings;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests;

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;

use crate::canonical::Url;
pub use crate::fetch::Purpose;
use crate::links::Outlinks;
use crate::links::patterns::Print;
use crate::links::rules::PageTerms;
use crate::outcome::Outcome;
use crate::store::Original;
use crate::store::warc::{Digest, Member};

pub(super) use records::revisit_records;
pub use runtime::FetcherPool;
pub use settings::{Noarchive, PageColumns, Policies, VisitSettings};

/// One visit to make.
#[derive(Clone, Debug)]
pub struct Task {
    /// Given back unchanged with the answer.
    pub lease: u64,
    pub url: Url,
    pub purpose: Purpose,
    /// Links from a seed.
    pub depth: u16,
    /// Of a seed: the redirects that led to it.
    pub seed_hops: Option<u8>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    /// The version that is stored, on a visit that asks for changes only.
    pub earlier: Option<Earlier>,
    /// Give the decoded body back too.
    pub keep_body: bool,
    /// Do not begin before this time; 0: at once.
    pub not_before: u64,
    /// No further try follows: what came of a broken page is better than nothing.
    pub last_try: bool,
    /// The `Cookie` field of this one visit, where no cookies are kept.
    pub cookie: Option<String>,
    /// Not on a connection that was kept.
    pub new_connection: bool,
}

/// A stored version of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Earlier {
    pub date: u64,
    /// As it was received.
    pub payload: Digest,
    /// Its record has the payload, not the head alone.
    pub whole: bool,
}

/// What parsing told of a page, small enough to keep until the batch is committed.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub kind: &'static str,
    pub charset: &'static str,
    pub title: String,
    pub lang: String,
    pub text_bytes: u32,
    pub simhash: u64,
    pub samples: Vec<u32>,
    /// What it is compared with other pages by.
    pub print: Print,
    pub noindex: bool,
    pub nofollow: bool,
    pub noarchive: bool,
    /// Scripts, and hardly any text or links of its own.
    pub scripted: bool,
    /// The URL that the page names as its own.
    pub canonical: Option<Url>,
    /// The page names another URL as its own.
    pub elsewhere: bool,
    /// Where a policy asks for it.
    pub text: String,
}

/// What became of a task.
#[derive(Debug)]
pub struct Visited {
    pub task: Task,
    pub outcome: Outcome,
    /// A request may have reached the server. Only a visit given back before its fetch began was
    /// certainly not sent.
    pub sent: bool,
    /// [`Outcome::Disconnected`] on a kept connection, before any answer: it may have died unseen.
    pub died_unseen: bool,
    /// When the visit began and ended, in microseconds since the epoch.
    pub started: u64,
    pub ended: u64,
    pub status: u16,
    pub ip: Option<IpAddr>,
    /// Bytes of the body as received.
    pub bytes: u64,
    /// Microseconds to the first byte of the answer, name look-up and connection left out.
    pub response_us: u64,
    pub retry_after_us: Option<u64>,
    /// [`Outcome::Deferred`]: not before this time.
    pub not_before: Option<u64>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    pub content_type: Option<String>,
    /// SHA-1 of the decoded content; `None` where there is no content.
    pub content: Option<Digest>,
    /// SHA-1 of the payload as the WARC record has it.
    pub payload: Option<Digest>,
    /// SHA-1 of the payload as it came; another where the record has less.
    pub received: Option<Digest>,
    /// The page stored earlier that has the same content; found when the visit is taken in.
    pub original: Option<Original>,
    pub facts: Option<Facts>,
    /// The page is of a type that is read for its links and not kept.
    pub only_read: bool,
    pub links: Outlinks,
    /// The `Cookie` field that was sent.
    pub cookie: Option<String>,
    /// It redirects to itself and has set cookies: the `Cookie` field to come again with.
    pub next_cookie: Option<String>,
    /// What rules say of it.
    pub terms: PageTerms,
    /// The heads as sent and received: what a revisit record needs.
    pub request_head: Vec<u8>,
    pub response_head: Vec<u8>,
    /// Request and response (or revisit), ready to append.
    pub members: Vec<Member>,
    /// The decoded body, for robots files, sitemaps, and where it was asked for.
    pub body: Option<Bytes>,
    /// What happened, for people: short, no control characters.
    pub detail: String,
}

/// Asked after name resolution and before the first byte: may this address be visited now?
pub trait VisitGate: Send + Sync {
    /// Whether it never refuses, so that nobody needs to ask.
    fn is_open(&self) -> bool {
        false
    }

    /// `Err` is the time before which it may not.
    fn enter(&self, task: &Task, ip: IpAddr) -> Result<(), u64>;

    /// Whether the right to visit still holds, asked when the connection stands.
    fn still_open(&self, _ip: IpAddr) -> bool {
        true
    }
}

/// A gate that is always open, for pools without a frontier.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenGate;

impl VisitGate for OpenGate {
    fn is_open(&self) -> bool {
        true
    }

    fn enter(&self, _task: &Task, _ip: IpAddr) -> Result<(), u64> {
        Ok(())
    }
}

/// Shared parts that a pool is made of.
pub struct Parts {
    pub gate: Arc<dyn VisitGate>,
    pub clock: Arc<crate::clock::Clock>,
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts").finish_non_exhaustive()
    }
}
