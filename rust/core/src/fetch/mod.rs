//! Fetch, the fifth stage: a visit in, a response or an outcome out.
//!
//! Takes a canonical URL (`Request`); gives a `Response`, always, within the total time limit and
//! the size limits, whatever the server does. Redirects are not followed: a redirect is an outcome
//! whose target goes round the ring. Every address is judged after resolution, and the connection
//! goes to exactly the address that was judged.
//!
//! ```text
//! target → pool ──────────────────────────┐
//!        → dns → guard → gate → connect → tls → http1 | http2 → finish (decode, outcome)
//! ```

mod body;
mod clock;
mod connect;
mod cookies;
mod decode;
mod dns;
#[cfg(test)]
mod dns_tests;
mod fetcher;
mod finish;
#[doc(hidden)]
pub mod fuzz;
pub mod guard;
mod head;
mod http1;
mod http2;
#[cfg(test)]
mod http2_tests;
mod judge;
mod limiter;
#[cfg(test)]
mod limiter_tests;
mod media;
mod message;
mod nameserver;
mod pool;
mod ports;
mod proxy;
mod settings;
mod stream;
mod target;
#[cfg(test)]
mod tests;
mod tls;
mod wire;

use std::net::IpAddr;

pub use decode::decoded;
pub use dns::{Addresses, DnsCounters, DnsError};
pub use fetcher::Fetcher;
pub use head::Head;
pub use judge::{RETRY_AFTER_MOST, by_status, is_named, retry_after, wanted};
pub use limiter::{Limiter, LimiterSettings, Permit};
pub use media::declared_type;
pub use message::{HttpVersion, Purpose, Request, Response, Timings, Truncated};
pub use settings::{DnsSettings, FetchLimits, FetchSettings, SettingsError, TlsSettings};

/// Whose turn an address is: asked after resolution and before any byte is sent, also when a
/// kept connection is used again.
pub trait AddressGate: Send + Sync {
    /// Takes the turn of this address for this host, or says before which time (microseconds
    /// since the epoch) there is none.
    fn enter(&self, host: &str, ip: IpAddr) -> Result<(), u64>;

    /// Asked once more when the connection stands: whether the right to visit has not ended while
    /// it was made.
    fn still_open(&self, _ip: IpAddr) -> bool {
        true
    }
}
