//! Outcomes: what the web does to us. Data, never an error.
//!
//! The one list of outcomes is here; what happens next for each (wait, tries, who is blamed) is
//! decided in Python (`src/gossamer/policy/hosts/outcomes.py`), and a test compares the two lists.

macro_rules! outcomes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// What became of a URL. `as_str` gives the spelling used in logs, settings and the API.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Outcome { $($(#[$doc])* $variant,)* }

        impl Outcome {
            /// Every outcome, in the order of their numbers.
            pub const ALL: &'static [Outcome] = &[$(Outcome::$variant,)*];

            /// The spelling used in logs, settings and the API.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Outcome::$variant => $name,)* }
            }

            /// The outcome of that spelling.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Outcome> {
                match name { $($name => Some(Outcome::$variant),)* _ => None }
            }
        }
    };
}

outcomes! {
    /// 2xx with a body we read to its end.
    Fetched = "fetched",
    /// 304, or a body identical to the one we have of this URL.
    NotModified = "not_modified",
    /// 3xx with a usable target; the target goes round the ring.
    Redirected = "redirected",
    /// 404 or 410.
    Gone = "gone",
    /// Another 4xx: the server understood and refused.
    Refused = "refused",
    /// 5xx other than a request to slow down.
    ServerFailed = "server_failed",
    /// 429, or 503: the server asks us to slow down.
    Throttled = "throttled",
    /// The site's robots rules forbid this URL.
    RobotsRefused = "robots_refused",
    /// The site's robots rules could not be had, so everything on it waits.
    RobotsUnreachable = "robots_unreachable",
    /// Outside the crawl's scope or refused by a filter at a door.
    OutOfScope = "out_of_scope",
    /// A limit of depth, pages, bytes or time was reached.
    OverQuota = "over_quota",
    /// The text is no URL that we could fetch.
    UrlRefused = "url_refused",
    /// The name resolves to an address that we do not visit.
    ForbiddenAddress = "forbidden_address",
    /// The name does not exist or has no address.
    DnsNotFound = "dns_not_found",
    /// The name server failed or did not answer.
    DnsFailed = "dns_failed",
    /// No connection: refused, unreachable, or the proxy failed.
    ConnectFailed = "connect_failed",
    /// The TLS handshake or the certificate failed.
    TlsFailed = "tls_failed",
    /// One of the time limits was reached.
    TimedOut = "timed_out",
    /// The connection ended before the response did, with nothing usable.
    Disconnected = "disconnected",
    /// The response is not HTTP that we understand.
    ProtocolBroken = "protocol_broken",
    /// The body's compression is broken or hostile.
    EncodingBroken = "encoding_broken",
    /// Declared larger than the limit, so the body was not read.
    TooLarge = "too_large",
    /// The body ended early or reached the limit; what came is kept and marked.
    Truncated = "truncated",
    /// A type that the crawl does not want, judged before the body was read.
    UnwantedType = "unwanted_type",
    /// The same content is already stored under another URL.
    Duplicate = "duplicate",
    /// URLs of its pattern brought nothing new: it waits until somebody takes it up.
    SetAside = "set_aside",
    /// The visit was given back: the address has no turn now, or we are stopping.
    Deferred = "deferred",
    /// Our own code failed on it: a defect of the crawler, for which nobody else is blamed.
    InternalError = "internal_error",
    /// A rule of the crawl drops it; the log has the rule and its reason.
    RuleDropped = "rule_dropped",
    /// A policy decided against it: a page that is not kept, or a URL of a host that is given up.
    Dropped = "dropped",
}

#[cfg(test)]
mod tests {
    use super::Outcome;

    #[test]
    fn names_are_unique_and_read_back() {
        for &outcome in Outcome::ALL {
            assert_eq!(Outcome::from_name(outcome.as_str()), Some(outcome));
        }
        assert_eq!(Outcome::from_name("no such outcome"), None);
    }
}
