//! Settings of the fetch stage: typed, with units, and checked once before the first fetch.
//!
//! Takes what the operator chose; a wrong value is an error at start, never a guess later.

use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// Everything that bounds one fetch. Sizes are bytes.
#[derive(Clone, Debug)]
pub struct FetchLimits {
    /// From the first connection attempt to a connected socket, all addresses of a name together.
    pub connect: Duration,
    /// The TLS handshake.
    pub tls: Duration,
    /// From the request sent to the first byte of the answer.
    pub first_byte: Duration,
    /// Between two arrivals of data; each arrival starts it anew.
    pub stall: Duration,
    /// The whole fetch, name look-up included. `fetch` has answered when it is over.
    pub total: Duration,
    /// Status line and header fields together (also: trailer fields).
    pub head_bytes: usize,
    /// Number of header lines.
    pub head_lines: usize,
    /// The body as it comes over the wire, transfer coding removed.
    pub body_bytes: usize,
    /// The body after its content codings are removed.
    pub decoded_bytes: usize,
    /// Decoded size over wire size, judged from the first MiB of decoded text on.
    pub ratio: usize,
}

impl Default for FetchLimits {
    fn default() -> Self {
        FetchLimits {
            connect: Duration::from_secs(10),
            tls: Duration::from_secs(10),
            first_byte: Duration::from_secs(30),
            stall: Duration::from_secs(20),
            total: Duration::from_secs(120),
            head_bytes: 64 << 10,
            head_lines: 256,
            body_bytes: 16 << 20,
            decoded_bytes: 64 << 20,
            ratio: 200,
        }
    }
}

/// How names become addresses.
#[derive(Clone, Debug)]
pub struct DnsSettings {
    /// Name servers to ask; empty: those of the system.
    pub servers: Vec<SocketAddr>,
    /// Answers that are never asked for, by lower-case name.
    pub fixed: HashMap<String, Vec<IpAddr>>,
    /// An answer is kept at least this long, whatever its TTL says.
    pub ttl_floor: Duration,
    /// An answer is kept at most this long.
    pub ttl_ceiling: Duration,
    /// How long "no such name" and failures of the name server are remembered.
    pub negative_ttl: Duration,
    /// The first "no such name" is remembered at most this long, so that a second try some seconds
    /// later is one; absent: as the others.
    pub first_negative_ttl: Option<Duration>,
    /// How long past its life an answer may still be given while a new one is fetched.
    pub stale: Duration,
    /// Names remembered.
    pub capacity: u64,
    /// Look-ups under way at once.
    pub concurrency: usize,
    /// One try of one name server.
    pub timeout: Duration,
    /// Tries before a look-up has failed.
    pub attempts: usize,
}

impl Default for DnsSettings {
    fn default() -> Self {
        DnsSettings {
            servers: Vec::new(),
            fixed: HashMap::new(),
            ttl_floor: Duration::from_secs(60),
            ttl_ceiling: Duration::from_secs(24 * 3600),
            negative_ttl: Duration::from_secs(60),
            first_negative_ttl: None,
            stale: Duration::from_secs(3600),
            capacity: 200_000,
            concurrency: 256,
            timeout: Duration::from_secs(3),
            attempts: 2,
        }
    }
}

/// Which certificates end a chain of trust.
#[derive(Clone, Debug)]
pub struct TlsSettings {
    /// Mozilla's list, compiled in.
    pub web_roots: bool,
    /// The list of the machine.
    pub native_roots: bool,
    /// More roots, each a DER certificate.
    pub extra_roots: Vec<Vec<u8>>,
}

impl Default for TlsSettings {
    fn default() -> Self {
        TlsSettings {
            web_roots: true,
            native_roots: false,
            extra_roots: Vec::new(),
        }
    }
}

/// What the fetcher is told once.
#[derive(Clone, Debug)]
pub struct FetchSettings {
    /// The crawler's name and where to read about it.
    pub user_agent: String,
    /// The operator's address, sent as `From`; empty: not sent.
    pub contact: String,
    /// The `Accept` field.
    pub accept: String,
    /// The `Accept-Encoding` field; empty: not sent.
    pub accept_encoding: String,
    /// More request fields, sent in this order.
    pub extra_headers: Vec<(String, String)>,
    /// Bounds of one fetch.
    pub limits: FetchLimits,
    /// Types whose bodies are read: `text/html`, `text/*`. Empty: all. Without a type that tells
    /// anything: read.
    pub accept_types: Vec<String>,
    /// Offer HTTP/2 in the TLS handshake.
    pub http2: bool,
    /// `http://`, `socks5://` (names resolved here) or `socks5h://` (names resolved there),
    /// with `user:password@` when needed.
    pub proxy: Option<String>,
    /// Visit loopback, private and other addresses that are not of the public internet.
    pub allow_private: bool,
    /// Keep cookies, host by host.
    pub cookies: bool,
    /// How names become addresses.
    pub dns: DnsSettings,
    /// Which certificates are trusted.
    pub tls: TlsSettings,
    /// Connections kept open for reuse, all hosts together.
    pub idle_connections: usize,
    /// Of these, for one host.
    pub idle_per_host: usize,
    /// How long an unused connection is kept.
    pub idle_timeout: Duration,
    /// The local address to connect from.
    pub local_address: Option<IpAddr>,
}

impl Default for FetchSettings {
    fn default() -> Self {
        FetchSettings {
            user_agent: concat!("gossamer/", env!("CARGO_PKG_VERSION")).to_owned(),
            contact: String::new(),
            accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8".to_owned(),
            accept_encoding: "gzip, deflate, br, zstd".to_owned(),
            extra_headers: Vec::new(),
            limits: FetchLimits::default(),
            accept_types: Vec::new(),
            http2: true,
            proxy: None,
            allow_private: false,
            cookies: false,
            dns: DnsSettings::default(),
            tls: TlsSettings::default(),
            idle_connections: 4096,
            // As many as `politeness.per_host` may be: fewer would throw good connections away.
            idle_per_host: 64,
            idle_timeout: Duration::from_secs(15),
            local_address: None,
        }
    }
}

/// A setting that cannot be used: which, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError {
    /// The name of the setting.
    pub setting: &'static str,
    /// What is wrong with its value.
    pub reason: String,
}

impl SettingsError {
    pub(super) fn new(setting: &'static str, reason: impl Into<String>) -> Self {
        SettingsError {
            setting,
            reason: reason.into(),
        }
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.setting, self.reason)
    }
}

impl std::error::Error for SettingsError {}
