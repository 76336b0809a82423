//! Cookies, for crawls that ask for them: kept host by host, in memory, bounded. Others give the
//! cookies of one response to the one visit that repeats its request, and forget them.
//!
//! A cookie may be for a whole domain only below a public suffix, so no site sets one for
//! `co.uk`. Oldest first out when a host or the jar is full.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use ahash::AHashMap;

use super::head::{Head, text};
use super::target::{Target, is_value};

/// Cookies of one host (or of one domain).
const PER_HOST: usize = 50;
/// Hosts with cookies.
const HOSTS: usize = 20_000;
/// Name and value together.
const COOKIE_BYTES: usize = 4096;
/// The `Cookie` field.
const HEADER_BYTES: usize = 8192;
/// The longest life.
const LIFE: Duration = Duration::from_secs(400 * 24 * 3600);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Cookie {
    name: String,
    value: String,
    path: String,
    /// Also sent to hosts below.
    below: bool,
    secure: bool,
    expires: Option<SystemTime>,
}

#[derive(Debug, Default)]
pub(super) struct Jar {
    hosts: Mutex<AHashMap<String, Vec<Cookie>>>,
}

impl Jar {
    /// The `Cookie` field for a request.
    pub(super) fn header(&self, target: &Target<'_>, now: SystemTime) -> Option<String> {
        let hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        let path = target.path().split('?').next().unwrap_or("/");
        let mut header = String::new();
        let mut domain = target.origin.host.as_str();
        loop {
            let exact = domain.len() == target.origin.host.len();
            for cookie in hosts.get(domain).into_iter().flatten() {
                let fits = (exact || cookie.below)
                    && (target.origin.secure || !cookie.secure)
                    && path_matches(path, &cookie.path)
                    && cookie.expires.is_none_or(|end| end > now);
                let size = header.len() + cookie.name.len() + cookie.value.len() + 3;
                if fits && size <= HEADER_BYTES {
                    let joint = if header.is_empty() { "" } else { "; " };
                    header.extend([joint, &cookie.name, "=", &cookie.value]);
                }
            }
            match domain.split_once('.') {
                Some((_, parent)) if target.literal.is_none() => domain = parent,
                _ => return (!header.is_empty()).then_some(header),
            }
        }
    }

    /// Takes the cookies of a response.
    pub(super) fn store(&self, target: &Target<'_>, head: &Head, now: SystemTime) {
        for line in head.all("set-cookie").take(PER_HOST) {
            let Some((domain, cookie)) = parse(&text(line), target, now) else {
                continue;
            };
            let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
            if hosts.len() >= HOSTS && !hosts.contains_key(&domain) {
                // Any host: the jar is a convenience, and this keeps it bounded.
                if let Some(victim) = hosts.keys().next().cloned() {
                    hosts.remove(&victim);
                }
            }
            let cookies = hosts.entry(domain).or_default();
            cookies.retain(|known| {
                (known.name != cookie.name || known.path != cookie.path)
                    && known.expires.is_none_or(|end| end > now)
            });
            if cookie.expires.is_none_or(|end| end > now) {
                if cookies.len() >= PER_HOST {
                    cookies.remove(0);
                }
                cookies.push(cookie);
            }
        }
    }
}

/// The `Cookie` field that the cookies of one response make for its URL.
pub(super) fn of_one(target: &Target<'_>, head: &Head, now: SystemTime) -> Option<String> {
    let jar = Jar::default();
    jar.store(target, head, now);
    jar.header(target, now)
}

fn parse(line: &str, target: &Target<'_>, now: SystemTime) -> Option<(String, Cookie)> {
    let mut parts = line.split(';');
    let (name, value) = parts.next()?.split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    if name.is_empty()
        || name.len() + value.len() > COOKIE_BYTES
        || !is_value(name)
        || !is_value(value)
    {
        return None;
    }
    let host = target.origin.host.as_str();
    let folder = target.path().split('?').next().unwrap_or("/");
    let mut cookie = Cookie {
        name: name.to_owned(),
        value: value.to_owned(),
        path: match folder.rfind('/') {
            Some(0) | None => "/".to_owned(),
            Some(end) => folder[..end].to_owned(),
        },
        below: false,
        secure: false,
        expires: None,
    };
    let mut domain = host.to_owned();
    let mut max_age = None;
    for part in parts {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let value = value.trim();
        match key.trim().to_ascii_lowercase().as_str() {
            "domain" if !value.is_empty() => {
                let wide = value.trim_start_matches('.').to_ascii_lowercase();
                if wide != host {
                    let inside = host
                        .strip_suffix(&wide)
                        .is_some_and(|rest| rest.ends_with('.'));
                    if !inside || target.literal.is_some() || is_public_suffix(&wide) {
                        return None;
                    }
                }
                cookie.below = target.literal.is_none() && !is_public_suffix(&wide);
                domain = wide;
            }
            "path" if value.starts_with('/') => cookie.path = value.to_owned(),
            "secure" => cookie.secure = true,
            "max-age" => {
                max_age = value
                    .parse::<i64>()
                    .ok()
                    .map(|age| u64::try_from(age).unwrap_or(0));
            }
            "expires" => cookie.expires = httpdate::parse_http_date(value).ok(),
            _ => {}
        }
    }
    // A plain connection may not set what only secure ones are to see.
    if cookie.secure && !target.origin.secure {
        return None;
    }
    if let Some(seconds) = max_age {
        cookie.expires = Some(now + Duration::from_secs(seconds).min(LIFE));
    }
    Some((domain, cookie))
}

fn is_public_suffix(domain: &str) -> bool {
    psl::suffix_str(domain).is_none_or(|suffix| suffix == domain)
}

fn path_matches(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix)
        .is_some_and(|rest| rest.is_empty() || prefix.ends_with('/') || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::fetch::tests::url as url_of;

    fn jar_with(url: &str, cookies: &[&str]) -> Jar {
        let jar = Jar::default();
        let mut head = String::from("HTTP/1.1 200 OK\r\n");
        for cookie in cookies {
            head.push_str(&format!("Set-Cookie: {cookie}\r\n"));
        }
        let head = Head::parse(head.into_bytes(), 999).unwrap();
        let url = url_of(url);
        jar.store(&Target::new(&url).unwrap(), &head, SystemTime::now());
        jar
    }

    fn sent(jar: &Jar, url: &str) -> Option<String> {
        let url = url_of(url);
        jar.header(&Target::new(&url).unwrap(), SystemTime::now())
    }

    #[test]
    fn kept_for_host_path_and_scheme() {
        let jar = jar_with(
            "https://a.example.org/x/y",
            &[
                "one=1",
                "two=2; Path=/; Secure",
                "three=3; Domain=example.org; Path=/",
                "old=1; Max-Age=0",
            ],
        );
        assert_eq!(
            sent(&jar, "https://a.example.org/x/z").unwrap(),
            "one=1; two=2; three=3"
        );
        assert_eq!(sent(&jar, "http://a.example.org/").unwrap(), "three=3");
        assert_eq!(sent(&jar, "http://b.example.org/").unwrap(), "three=3");
        assert_eq!(sent(&jar, "http://example.com/"), None);
        assert_eq!(
            sent(&jar, "https://a.example.org/xy").unwrap(),
            "two=2; three=3"
        );
    }

    #[test]
    fn never_for_a_public_suffix_or_a_stranger() {
        let jar = jar_with(
            "http://shop.co.uk/",
            &[
                "a=1; Domain=co.uk",
                "b=1; Domain=other.co.uk",
                "c=1; Domain=uk",
                "d=1; Secure",
                "e=1; Domain=op.co.uk",
            ],
        );
        assert_eq!(sent(&jar, "http://shop.co.uk/"), None);
        assert_eq!(sent(&jar, "http://other.co.uk/"), None);
        let jar = jar_with("http://127.0.0.1/", &["a=1; Domain=0.0.1", "b=2"]);
        assert_eq!(sent(&jar, "http://127.0.0.1/").unwrap(), "b=2");
        assert_eq!(sent(&jar, "http://126.0.0.1/"), None);
    }
}
