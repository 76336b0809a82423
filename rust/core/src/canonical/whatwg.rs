//! The `url` crate, and the two places where it is behind the standard of 2026.
//!
//! * Under a web base, any number of slashes begins an authority: `///host/` is `//host/`.
//! * A host all in ASCII is only lower-cased, also when one of its labels claims to be punycode
//!   and is not. The crate refuses such labels, so they are shown to it under a disguise of the
//!   same length, and the true host is kept beside.

use super::Refusal;
use super::base::Base;
use ::url::{ParseError, Url};
use std::borrow::Cow;

/// Letters that a host may have, and that no name on the web begins with.
const DISGUISE: &str = "_x-_";

/// A URL as the crate parsed it, and its host if that was disguised.
#[derive(Clone, Debug)]
pub(super) struct Parsed {
    pub url: Url,
    pub true_host: Option<String>,
}

impl Parsed {
    /// The host as the standard has it. A link that names no host has the base's.
    pub(super) fn host<'a>(&'a self, base: Option<&'a Base>) -> Option<&'a str> {
        let shown = self.url.host_str()?;
        if !shown.contains(DISGUISE) {
            return Some(shown);
        }
        let inherited = || {
            base.filter(|base| base.parsed().host_str() == Some(shown))?
                .true_host()
        };
        self.true_host.as_deref().or_else(inherited).or(Some(shown))
    }
}

/// Parses `raw` under `base` as the standard does.
pub(super) fn parse(raw: &str, base: Option<&Url>) -> Result<Parsed, Refusal> {
    let raw = with_scheme(raw, base);
    match Url::options().base_url(base).parse(&raw) {
        Ok(url) => Ok(Parsed {
            url,
            true_host: None,
        }),
        Err(ParseError::IdnaError) => ascii_host(&raw, base).ok_or(Refusal::Host),
        Err(error) => Err(reason(error)),
    }
}

/// `///host/` under a web base becomes `http://host/`.
fn with_scheme<'r>(raw: &'r str, base: Option<&Url>) -> Cow<'r, str> {
    let slash = |c: char| matches!(c, '/' | '\\');
    let unseen = |c: char| matches!(c, '\t' | '\n' | '\r');
    match base {
        Some(base) if matches!(base.scheme(), "http" | "https") => {
            let trimmed = super::trim(raw);
            let rest = trimmed.trim_start_matches(|c| slash(c) || unseen(c));
            let slashes = trimmed[..trimmed.len() - rest.len()]
                .chars()
                .filter(|&c| slash(c))
                .count();
            if slashes > 2 {
                format!("{}://{rest}", base.scheme()).into()
            } else {
                raw.into()
            }
        }
        _ => raw.into(),
    }
}

/// A URL whose host is ASCII and has labels that look like punycode and are not.
fn ascii_host(raw: &str, base: Option<&Url>) -> Option<Parsed> {
    let text: String = super::trim(raw)
        .chars()
        .filter(|c| !matches!(c, '\t' | '\n' | '\r'))
        .collect();
    let slash = |c: char| matches!(c, '/' | '\\');
    let (scheme, rest) = match super::scheme_of(&text) {
        Some(scheme) => (scheme.to_ascii_lowercase(), &text[scheme.len() + 1..]),
        None => (base?.scheme().to_owned(), text.as_str()),
    };
    if !super::is_web(&scheme) {
        return None;
    }
    let rest = rest.trim_start_matches(slash);
    let authority = &rest[..rest
        .find(|c| slash(c) || matches!(c, '?' | '#'))
        .unwrap_or(rest.len())];
    let tail = &rest[authority.len()..];
    let host_and_port = authority.rsplit('@').next().unwrap_or(authority);
    let host = host_and_port.split(':').next().unwrap_or(host_and_port);
    let port = &host_and_port[host.len()..];
    // Hosts are unescaped once before they are looked at.
    let host: Vec<u8> = percent_encoding::percent_decode_str(host).collect();
    let host = String::from_utf8(host)
        .ok()
        .filter(|host| host.is_ascii())?
        .to_ascii_lowercase();
    let disguised: Vec<Cow<'_, str>> = host
        .split('.')
        .map(|label| match label.strip_prefix("xn--") {
            Some(rest) => format!("{DISGUISE}{rest}").into(),
            None => label.into(),
        })
        .collect();
    let url = Url::parse(&format!("{scheme}://{}{port}{tail}", disguised.join("."))).ok()?;
    // The crate must have left the host alone: no address, nothing folded away.
    (url.host_str()? == disguised.join(".")).then_some(Parsed {
        url,
        true_host: Some(host),
    })
}

fn reason(error: ParseError) -> Refusal {
    match error {
        ParseError::EmptyHost
        | ParseError::IdnaError
        | ParseError::InvalidIpv4Address
        | ParseError::InvalidIpv6Address
        | ParseError::InvalidDomainCharacter => Refusal::Host,
        ParseError::InvalidPort => Refusal::Port,
        ParseError::RelativeUrlWithoutBase | ParseError::RelativeUrlWithCannotBeABaseBase => {
            Refusal::NoBase
        }
        ParseError::Overflow => Refusal::TooLong,
        _ => Refusal::Malformed,
    }
}
