//! What the end of a visit to `robots.txt` means: RFC 9309, section 2.3.1. The one place that says so.

use crate::outcome::Outcome;

/// Redirects to be followed in a row, also to another host, before the file counts as absent.
pub const MAX_REDIRECTS: u8 = 5;

/// What follows from a visit to `robots.txt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Read the body; its rules hold for the host first asked, whatever was followed.
    Rules,
    /// Follow the redirect.
    Follow,
    /// The file is unavailable: every path may be visited.
    AllowAll,
    /// The server answers, but not with the file: nothing may be visited for now.
    Unreachable,
    /// Nobody answers at all: nothing may be visited for now.
    NobodyAnswered,
}

impl Meaning {
    /// The spelling for people.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Meaning::Rules => "rules",
            Meaning::Follow => "follow",
            Meaning::AllowAll => "allow_all",
            Meaning::Unreachable => "unreachable",
            Meaning::NobodyAnswered => "nobody_answered",
        }
    }
}

/// The meaning of an outcome behind so many redirects. What is not named is read as unreachable:
/// when in doubt nothing is visited.
#[must_use]
pub const fn meaning(outcome: Outcome, redirects: u8) -> Meaning {
    match outcome {
        Outcome::Fetched | Outcome::Truncated => Meaning::Rules,
        Outcome::Redirected if redirects < MAX_REDIRECTS => Meaning::Follow,
        // 4xx, and 2.3.1.2: more than five redirects may be read as unavailable.
        Outcome::Redirected | Outcome::Gone | Outcome::Refused => Meaning::AllowAll,
        Outcome::UrlRefused
        | Outcome::ForbiddenAddress
        | Outcome::DnsNotFound
        | Outcome::DnsFailed
        | Outcome::ConnectFailed
        | Outcome::TlsFailed
        | Outcome::TimedOut
        | Outcome::Disconnected
        // Whatever was answered, our own code has lost it.
        | Outcome::InternalError => Meaning::NobodyAnswered,
        // 5xx. Also 429, although it is a 4xx: the RFC would let us visit, but the site has just
        // asked us not to.
        _ => Meaning::Unreachable,
    }
}

/// What the URLs of a host leave the queue with, when all visits to its robots file ended so: as
/// the file itself where nobody answered.
#[must_use]
pub fn refusal(outcome: Outcome) -> Outcome {
    match meaning(outcome, MAX_REDIRECTS) {
        Meaning::NobodyAnswered => outcome,
        _ => Outcome::RobotsUnreachable,
    }
}
