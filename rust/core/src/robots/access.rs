//! What it means that `robots.txt` could or could not be had: RFC 9309, section 2.3.1.

/// Redirects to be followed in a row, also to another host, before the file counts as absent.
pub const MAX_REDIRECTS: u32 = 5;

/// How the visit to `robots.txt` ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A response with this status.
    Status(u16),
    /// A redirect behind [`MAX_REDIRECTS`] others.
    TooManyRedirects,
    /// No response: name, connection, TLS, time or protocol failed.
    Unreachable,
}

/// What follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read the body; its rules hold for the host first asked, whatever was followed.
    Parse,
    /// Follow the redirect.
    Follow,
    /// Unavailable: every path may be visited.
    AllowAll,
    /// Unreachable: nothing may be visited for now.
    DisallowAll,
}

/// The meaning of an answer. A status that asks us to slow down is read as unreachable, although
/// it is a 4xx: the RFC lets us visit then, the site has just asked us not to.
#[must_use]
pub fn meaning(answer: Answer) -> Access {
    match answer {
        Answer::Status(200..=299) => Access::Parse,
        Answer::Status(301 | 302 | 303 | 307 | 308) => Access::Follow,
        Answer::Status(429) => Access::DisallowAll,
        Answer::Status(300..=499) | Answer::TooManyRedirects => Access::AllowAll,
        Answer::Status(_) | Answer::Unreachable => Access::DisallowAll,
    }
}
