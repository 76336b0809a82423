//! Why a text did not become a URL. Data for the log and for `gossamer why`, not an error.

use std::fmt;

/// The reason why a raw link is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// A scheme other than `http` and `https`.
    Scheme,
    /// A relative link without a base.
    NoBase,
    /// Longer than the limit.
    TooLong,
    /// A host that is empty or breaks the rules of IDNA or of addresses.
    Host,
    /// A host that no name server can know: an empty label, a label over 63 bytes, over 253 in all.
    HostName,
    /// A port that is no number up to 65535.
    Port,
    /// No URL for another reason.
    Malformed,
}

impl Refusal {
    /// The reason in one word, for logs and counters.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Refusal::Scheme => "scheme",
            Refusal::NoBase => "no_base",
            Refusal::TooLong => "too_long",
            Refusal::Host => "host",
            Refusal::HostName => "host_name",
            Refusal::Port => "port",
            Refusal::Malformed => "malformed",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Refusal::Scheme => "the scheme is neither http nor https",
            Refusal::NoBase => "a relative link without a base",
            Refusal::TooLong => "longer than the limit",
            Refusal::Host => "the host is empty or not valid",
            Refusal::HostName => "no name server can know this host name",
            Refusal::Port => "the port is not valid",
            Refusal::Malformed => "not a URL",
        })
    }
}

impl std::error::Error for Refusal {}
