//! Where a request goes: scheme, host, port and path of a URL, and the bytes of a request head.

use std::net::IpAddr;

use url::{Host, Url};

use super::message::Request;
use super::settings::{FetchSettings, SettingsError};

/// What a connection is made for; the pool's key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Origin {
    pub(super) secure: bool,
    pub(super) host: String,
    pub(super) port: u16,
}

/// A URL taken apart.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) origin: Origin,
    /// The host as an address, when it is one.
    pub(super) literal: Option<IpAddr>,
    /// Host, and port unless it is the scheme's own: the `Host` field, and the frontier's host.
    pub(super) authority: String,
    /// Path and query.
    pub(super) path: String,
}

impl Target {
    /// Takes a URL apart. Odd spellings of addresses (`0x7f.1`) become the address here, before
    /// the guard sees them.
    pub(super) fn parse(text: &str) -> Result<Target, &'static str> {
        let url = Url::parse(text).map_err(|_| "not a URL")?;
        let secure = match url.scheme() {
            "http" => false,
            "https" => true,
            _ => return Err("neither http nor https"),
        };
        let (mut host, literal) = match url.host() {
            Some(Host::Domain(name)) => (name.to_owned(), None),
            Some(Host::Ipv4(ip)) => (ip.to_string(), Some(IpAddr::V4(ip))),
            Some(Host::Ipv6(ip)) => (format!("[{ip}]"), Some(IpAddr::V6(ip))),
            None => return Err("no host"),
        };
        if literal.is_none() && host.ends_with('.') {
            host.pop();
        }
        if host.is_empty() {
            return Err("no host");
        }
        let port = url.port_or_known_default().unwrap_or(80);
        if port == 0 {
            return Err("port 0");
        }
        let authority = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.clone(),
        };
        let path = match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        };
        let origin = Origin { secure, host, port };
        Ok(Target {
            origin,
            literal,
            authority,
            path,
        })
    }
}

/// The part of every request that the settings fix, made once.
#[derive(Clone, Debug)]
pub(super) struct Fields {
    fixed: String,
    credentials: Vec<(Origin, String)>,
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
        let mut credentials = Vec::new();
        for credential in &settings.credentials {
            let target = Target::parse(&credential.origin)
                .map_err(|reason| SettingsError::new("credentials", reason))?;
            if !is_value(&credential.authorization) {
                return Err(SettingsError::new(
                    "credentials",
                    "control characters in a value",
                ));
            }
            credentials.push((target.origin, credential.authorization.clone()));
        }
        Ok(Fields { fixed, credentials })
    }

    /// The head of a request. `line` is the request target: a path, or a URL for a proxy.
    pub(super) fn head(
        &self,
        target: &Target,
        request: &Request,
        absolute: bool,
        proxy_authorization: Option<&str>,
        cookies: Option<&str>,
    ) -> Vec<u8> {
        let mut head = Vec::with_capacity(self.fixed.len() + target.path.len() + 256);
        let mut put = |parts: &[&str]| parts.iter().for_each(|part| head.extend(part.as_bytes()));
        match absolute {
            true => put(&[
                "GET http://",
                &target.authority,
                &target.path,
                " HTTP/1.1\r\n",
            ]),
            false => put(&["GET ", &target.path, " HTTP/1.1\r\n"]),
        }
        put(&["Host: ", &target.authority, "\r\n", &self.fixed]);
        let optional = [
            ("If-None-Match", request.etag.as_deref()),
            ("If-Modified-Since", request.last_modified.as_deref()),
            ("Authorization", self.authorization(&target.origin)),
            ("Proxy-Authorization", proxy_authorization),
            ("Cookie", cookies),
        ];
        for (name, value) in optional {
            // Validators come from servers: one that is no field value is left out.
            if let Some(value) = value.filter(|value| !value.is_empty() && is_value(value)) {
                put(&[name, ": ", value, "\r\n"]);
            }
        }
        put(&["\r\n"]);
        head
    }

    /// The credential for exactly this scheme, host and port.
    fn authorization(&self, origin: &Origin) -> Option<&str> {
        self.credentials
            .iter()
            .find(|(known, _)| known == origin)
            .map(|(_, value)| value.as_str())
    }
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
