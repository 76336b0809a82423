//! The URL as every later stage knows it: one canonical text and where its parts begin.

use super::rules::Grouping;
use super::{Refusal, address, keys};
use std::fmt;
use std::hash::{Hash, Hasher};

/// A canonical URL. Made by [`super::canonical`], or read back from our own store.
#[derive(Clone)]
pub struct Url {
    text: String,
    host_key: u64,
    /// Where the authority ends and the path begins.
    path_at: u32,
    /// Where the host name ends: before the port, if there is one.
    name_end: u32,
}

impl Url {
    /// Takes text that is canonical already, apart from what it may have lost on the way to disk:
    /// its shape is checked, not its spelling.
    ///
    /// # Errors
    /// When the text cannot be a canonical URL.
    pub fn from_canonical(text: String, grouping: Grouping) -> Result<Url, Refusal> {
        let start = match text.as_bytes() {
            [b'h', b't', b't', b'p', b':', b'/', b'/', ..] => 7,
            [b'h', b't', b't', b'p', b's', b':', b'/', b'/', ..] => 8,
            _ => return Err(Refusal::Scheme),
        };
        if !text
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'#')
        {
            return Err(Refusal::Malformed);
        }
        let path_at = start + text[start..].find('/').ok_or(Refusal::Malformed)?;
        let host = &text[start..path_at];
        if host.is_empty()
            || host
                .bytes()
                .any(|b| matches!(b, b'@' | b'?' | b'\\' | b'A'..=b'Z'))
        {
            return Err(Refusal::Host);
        }
        let url = Url::assemble(text, start, path_at, grouping)?;
        let port = &url.text[url.name_end as usize..path_at];
        if !port.is_empty() && port[1..].parse::<u16>().is_err() {
            return Err(Refusal::Port);
        }
        Ok(url)
    }

    /// A URL of a host whose key is known, as our own store keeps it: without scheme and host.
    ///
    /// # Errors
    /// When the parts cannot be those of a canonical URL.
    pub fn from_parts(
        https: bool,
        host: &str,
        host_key: u64,
        path_and_query: &str,
    ) -> Result<Url, Refusal> {
        let graphic = |text: &str| text.bytes().all(|b| b.is_ascii_graphic() && b != b'#');
        if !path_and_query.starts_with('/') || !graphic(path_and_query) {
            return Err(Refusal::Malformed);
        }
        if host.is_empty() || !graphic(host) {
            return Err(Refusal::Host);
        }
        let scheme = if https { "https://" } else { "http://" };
        let text = [scheme, host, path_and_query].concat();
        let as_u32 = |at: usize| u32::try_from(at).map_err(|_| Refusal::TooLong);
        Ok(Url {
            host_key,
            path_at: as_u32(scheme.len() + host.len())?,
            name_end: as_u32(scheme.len() + name_length(host))?,
            text,
        })
    }

    /// Builds the URL from text whose authority is at `start..path_at`.
    pub(super) fn assemble(
        text: String,
        start: usize,
        path_at: usize,
        grouping: Grouping,
    ) -> Result<Url, Refusal> {
        let host = &text[start..path_at];
        let name_length = name_length(host);
        let host_key = keys::host_key(host, &host[..name_length], grouping);
        let as_u32 = |at: usize| u32::try_from(at).map_err(|_| Refusal::TooLong);
        Ok(Url {
            host_key,
            path_at: as_u32(path_at)?,
            name_end: as_u32(start + name_length)?,
            text,
        })
    }

    fn host_at(&self) -> usize {
        if self.scheme_is_https() { 8 } else { 7 }
    }

    /// The whole URL.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The whole URL, given away.
    #[must_use]
    pub fn into_string(self) -> String {
        self.text
    }

    /// Whether the scheme is `https` (else it is `http`).
    #[must_use]
    pub fn scheme_is_https(&self) -> bool {
        self.text.as_bytes().get(4) == Some(&b's')
    }

    /// The authority without a default port: `example.org`, `example.org:8080`, `[::1]:81`.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.text[self.host_at()..self.path_at as usize]
    }

    /// The host without its port; an IPv6 address keeps its brackets.
    #[must_use]
    pub fn hostname(&self) -> &str {
        &self.text[self.host_at()..self.name_end as usize]
    }

    /// The port to connect to.
    #[must_use]
    pub fn port(&self) -> u16 {
        let default = if self.scheme_is_https() { 443 } else { 80 };
        self.text[self.name_end as usize..self.path_at as usize]
            .strip_prefix(':')
            .and_then(|digits| digits.parse().ok())
            .unwrap_or(default)
    }

    /// Path and query: what is sent to the server, and what robots rules are matched against.
    #[must_use]
    pub fn path_and_query(&self) -> &str {
        &self.text[self.path_at as usize..]
    }

    /// Scheme and authority: `https://example.org:8080`.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.text[..self.path_at as usize]
    }

    /// The hash by which the host is assigned to a partition.
    #[must_use]
    pub fn host_key(&self) -> u64 {
        self.host_key
    }

    /// 64 bits for this URL, those of its host's group on top.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        keys::fingerprint(self.host_key, &self.text)
    }

    /// 128 bits for this URL, big-endian, sorted by host: exact for all practical purposes.
    #[must_use]
    pub fn key(&self) -> [u8; 16] {
        keys::key(self.host_key, &self.text)
    }

    /// The domain that somebody registered, by the public suffix list; none for an address.
    #[must_use]
    pub fn registered_domain(&self) -> Option<&str> {
        let name = self.hostname();
        if address::is_address(name) {
            return None;
        }
        psl::domain_str(name)
    }

    /// Whether it has a query.
    #[must_use]
    pub fn is_dynamic(&self) -> bool {
        self.path_and_query().contains('?')
    }
}

/// The length of a host without its port.
fn name_length(host: &str) -> usize {
    match host.rfind(':') {
        // The colons of an IPv6 address are inside its brackets.
        Some(colon) if !host[colon..].contains(']') => colon,
        _ => host.len(),
    }
}

impl PartialEq for Url {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Url {}

impl Hash for Url {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Url({})", self.text)
    }
}

impl fmt::Display for Url {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}
