//! What rules can look at.

use crate::canonical::Url;
use crate::parse::LinkKind;

/// What is known of a URL, or of a page. What is absent is not known, and no rule that asks for it
/// matches.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The host with its port, as in URLs.
    pub host: &'a str,
    pub hostname: &'a str,
    pub url: Option<&'a Url>,
    pub depth: Option<u16>,
    pub kind: Option<LinkKind>,
    /// As the server spelt it.
    pub mime: Option<&'a str>,
    pub status: Option<u16>,
}

impl<'a> Facts<'a> {
    #[must_use]
    pub fn of(url: &'a Url) -> Facts<'a> {
        Facts {
            host: url.host(),
            hostname: url.hostname(),
            url: Some(url),
            depth: None,
            kind: None,
            mime: None,
            status: None,
        }
    }

    /// Of a host with its port, as in URLs.
    #[must_use]
    pub fn of_host(host: &'a str) -> Facts<'a> {
        let hostname = match host.rfind(':') {
            // The colons of an IPv6 address are inside its brackets.
            Some(colon) if !host[colon..].contains(']') => &host[..colon],
            _ => host,
        };
        Facts {
            host,
            hostname,
            url: None,
            depth: None,
            kind: None,
            mime: None,
            status: None,
        }
    }

    #[must_use]
    pub fn at_depth(self, depth: u16) -> Facts<'a> {
        Facts {
            depth: Some(depth),
            ..self
        }
    }

    #[must_use]
    pub fn found_as(self, kind: LinkKind) -> Facts<'a> {
        Facts {
            kind: Some(kind),
            ..self
        }
    }

    /// As it was answered; a status of 0: there was no answer.
    #[must_use]
    pub fn answered(self, mime: Option<&'a str>, status: u16) -> Facts<'a> {
        Facts {
            mime,
            status: (status != 0).then_some(status),
            ..self
        }
    }
}
