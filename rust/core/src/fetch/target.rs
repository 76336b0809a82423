//! Where a request goes: what of a canonical URL a connection and a request head need.

use std::net::IpAddr;

use super::message::Request;
use super::ports;
use super::settings::{FetchSettings, SettingsError};
use crate::canonical::{Url, literal_address};

/// What a connection is made for; the pool's key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Origin {
    pub(super) secure: bool,
    pub(super) host: String,
    pub(super) port: u16,
}

impl From<&Url> for Origin {
    fn from(url: &Url) -> Origin {
        Origin {
            secure: url.scheme_is_https(),
            host: url.hostname().to_owned(),
            port: url.port(),
        }
    }
}

/// A URL to visit. Its text is the canonical one: nothing is parsed here a second time.
#[derive(Clone, Debug)]
pub(super) struct Target<'a> {
    url: &'a Url,
    pub(super) origin: Origin,
    /// The host as an address, when it is one.
    pub(super) literal: Option<IpAddr>,
}

impl<'a> Target<'a> {
    /// The target that a URL names, or why none is visited there.
    pub(super) fn new(url: &'a Url) -> Result<Target<'a>, &'static str> {
        let origin = Origin::from(url);
        if ports::is_bad(origin.port) {
            return Err("a port of another service, which is not asked for pages");
        }
        let literal = literal_address(url);
        Ok(Target {
            url,
            origin,
            literal,
        })
    }

    /// Host, and port unless it is the scheme's own: the `Host` field, and the frontier's host.
    pub(super) fn authority(&self) -> &'a str {
        self.url.host()
    }

    /// Path and query.
    pub(super) fn path(&self) -> &'a str {
        self.url.path_and_query()
    }
}

/// The part of every request that the settings fix, made once.
#[derive(Clone, Debug)]
pub(super) struct Fields {
    fixed: String,
}

impl Fields {
    pub(super) fn new(settings: &FetchSettings) -> Result<Self, SettingsError> {
        let mut fixed = String::new();
        let mut add = |setting: &'static str, name: &str, value: &str| {
            if name.is_empty() || !name.bytes().all(is_token) {
                return Err(SettingsError::new(
                    setting,
                    format!("{name:?} is no field name"),
                ));
            }
            if !is_value(value) {
                return Err(SettingsError::new(
                    setting,
                    "control characters in a field value",
                ));
            }
            if !value.is_empty() {
                fixed.push_str(&format!("{name}: {value}\r\n"));
            }
            Ok(())
        };
        if settings.user_agent.trim().is_empty() {
            return Err(SettingsError::new("user_agent", "a crawler names itself"));
        }
        add("user_agent", "User-Agent", &settings.user_agent)?;
        add("contact", "From", &settings.contact)?;
        add("accept", "Accept", &settings.accept)?;
        add(
            "accept_encoding",
            "Accept-Encoding",
            &settings.accept_encoding,
        )?;
        for (name, value) in &settings.extra_headers {
            let lower = name.to_ascii_lowercase();
            if matches!(
                lower.as_str(),
                "host"
                    | "connection"
                    | "content-length"
                    | "transfer-encoding"
                    | "upgrade"
                    | "te"
                    | "authorization"
                    | "proxy-authorization"
                    | "cookie"
                    | "range"
                    | "expect"
                    | "if-none-match"
                    | "if-modified-since"
            ) {
                let reason = format!("{name} is set by the fetcher itself");
                return Err(SettingsError::new("extra_headers", reason));
            }
            add("extra_headers", name, value)?;
        }
        Ok(Fields { fixed })
    }

    /// The head of a request. `line` is the request target: a path, or a URL for a proxy.
    pub(super) fn head(
        &self,
        target: &Target<'_>,
        request: &Request,
        absolute: bool,
        proxy_authorization: Option<&str>,
        cookies: Option<&str>,
    ) -> Vec<u8> {
        let mut head = Vec::with_capacity(self.fixed.len() + target.path().len() + 256);
        let mut put = |parts: &[&str]| parts.iter().for_each(|part| head.extend(part.as_bytes()));
        match absolute {
            true => put(&[
                "GET http://",
                target.authority(),
                target.path(),
                " HTTP/1.1\r\n",
            ]),
            false => put(&["GET ", target.path(), " HTTP/1.1\r\n"]),
        }
        put(&["Host: ", target.authority(), "\r\n", &self.fixed]);
        let optional = [
            ("If-None-Match", request.etag.as_deref()),
            ("If-Modified-Since", request.last_modified.as_deref()),
            ("Proxy-Authorization", proxy_authorization),
            ("Cookie", cookies),
        ];
        for (name, value) in optional {
            // Validators come from servers: one that is no field value is left out.
            if let Some(value) = value.filter(|value| !value.is_empty() && is_value(value)) {
                put(&[name, ": ", value, "\r\n"]);
            }
        }
        for (name, value) in request.credentials.iter().flat_map(|list| list.iter()) {
            if is_name(name) && is_value(value) {
                put(&[name, ": ", value, "\r\n"]);
            }
        }
        put(&["\r\n"]);
        head
    }
}

/// The head as it is recorded: credentials without their values.
pub(super) fn recorded(head: Vec<u8>, request: &Request) -> Vec<u8> {
    let Some(credentials) = &request.credentials else {
        return head;
    };
    let is_secret = |line: &[u8]| {
        credentials.iter().any(|(name, _)| {
            let (start, rest) = line.split_at(name.len().min(line.len()));
            start.eq_ignore_ascii_case(name.as_bytes()) && rest.starts_with(b":")
        })
    };
    let mut out = Vec::with_capacity(head.len());
    for line in head.split_inclusive(|byte| *byte == b'\n') {
        match line.iter().position(|byte| *byte == b':') {
            Some(colon) if is_secret(line) => {
                out.extend_from_slice(&line[..colon]);
                out.extend_from_slice(b": (not recorded)\r\n");
            }
            _ => out.extend_from_slice(line),
        }
    }
    out
}

/// A name of a field that the fetcher does not set by itself.
fn is_name(name: &str) -> bool {
    const OWN: [&str; 9] = [
        "host",
        "connection",
        "content-length",
        "transfer-encoding",
        "upgrade",
        "te",
        "expect",
        "range",
        "user-agent",
    ];
    !name.is_empty()
        && name.bytes().all(is_token)
        && !OWN.iter().any(|own| name.eq_ignore_ascii_case(own))
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Text that is safe as a field value: no line can end inside it.
pub(super) fn is_value(text: &str) -> bool {
    text.len() <= 8192
        && text
            .chars()
            .all(|character| character == '\t' || !character.is_control())
}
