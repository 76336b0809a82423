//! The `url` crate, and the three places where it is not what the standard of 2026 says.
//!
//! * Under a web base, any number of slashes begins an authority: `///host/` is `//host/`.
//! * A host all in ASCII is only lower-cased, also when one of its labels claims to be punycode
//!   and is not. The crate refuses such labels, so they are shown to it under a disguise of the
//!   same length, and the true host is kept beside.
//! * `..` takes away the segment before it, also one like `c:`, which the crate spares as the
//!   drive of a file. Such segments are marked while it parses.

use super::Refusal;
use super::base::Base;
use ::url::{ParseError, Url};
use std::borrow::Cow;
use std::collections::HashSet;

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
    let dots = raw.contains("..") || raw.contains("%2");
    if dots && (has_drive(&raw) || base.is_some_and(|base| has_drive(base.as_str()))) {
        return parse_marked(&raw, base);
    }
    parse_as_is(&raw, base)
}

fn parse_as_is(raw: &str, base: Option<&Url>) -> Result<Parsed, Refusal> {
    match Url::options().base_url(base).parse(raw) {
        Ok(url) => Ok(Parsed {
            url,
            true_host: None,
        }),
        Err(ParseError::IdnaError) => ascii_host(raw, base).ok_or(Refusal::Host),
        Err(error) => Err(reason(error)),
    }
}

/// Places where a segment may look like the drive of a file: a letter, `:` or `|`, an end.
fn drives(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    bytes.windows(3).enumerate().filter_map(|(at, window)| {
        let ends = matches!(bytes.get(at + 3), None | Some(b'/' | b'\\' | b'?' | b'#'));
        let drive =
            matches!(window, [b'/' | b'\\', letter, b':' | b'|'] if letter.is_ascii_alphabetic());
        (ends && drive).then_some(at + 2)
    })
}

fn has_drive(text: &str) -> bool {
    text.contains([':', '|']) && drives(text).next().is_some()
}

/// Parses with a mark in each such segment, one that occurs nowhere else, and takes it out again.
/// No dot segment is left by then, so the second parse changes nothing.
fn parse_marked(raw: &str, base: Option<&Url>) -> Result<Parsed, Refusal> {
    let mark = unused_mark(&format!("{raw} {}", base.map_or("", Url::as_str)));
    let marked = |text: &str| {
        let mut out = text.to_owned();
        let places: Vec<usize> = drives(text).collect();
        places
            .iter()
            .rev()
            .for_each(|&at| out.insert_str(at, &mark));
        out
    };
    let base = base.and_then(|base| Url::parse(&marked(base.as_str())).ok());
    let parsed = parse_as_is(&marked(raw), base.as_ref())?;
    let url = Url::parse(&parsed.url.as_str().replace(&mark, "")).map_err(reason)?;
    Ok(Parsed {
        url,
        true_host: parsed.true_host.map(|host| host.replace(&mark, "")),
    })
}

/// A word `q0q`, `q1q`, … that `text` has nowhere, in any case, escaped or not. One pass: the numbers
/// met are noted, and the least that is missing is at most as large as their count.
fn unused_mark(text: &str) -> String {
    let plain: Vec<u8> = percent_encoding::percent_decode_str(text).collect();
    let mut met = HashSet::new();
    for bytes in [text.as_bytes(), &plain] {
        let mut number: Option<usize> = None;
        for byte in bytes {
            number = match byte {
                b'q' | b'Q' => {
                    met.extend(number);
                    Some(0)
                }
                // Noted modulo 2⁶⁴: a number too many is harmless, one too few would not be.
                digit @ b'0'..=b'9' => {
                    number.map(|so_far| so_far.wrapping_mul(10).wrapping_add((digit - b'0').into()))
                }
                _ => None,
            };
        }
    }
    let least = (0..=met.len()).find(|number| !met.contains(number));
    format!("q{}q", least.unwrap_or_default())
}

/// `///host/` under a web base becomes `http://host/`. Tabs and line ends are no part of a URL.
fn with_scheme<'r>(raw: &'r str, base: Option<&Url>) -> Cow<'r, str> {
    let unseen = |c: char| matches!(c, '\t' | '\n' | '\r');
    let raw: Cow<'r, str> = if raw.contains(unseen) {
        super::trim(raw)
            .chars()
            .filter(|&c| !unseen(c))
            .collect::<String>()
            .into()
    } else {
        super::trim(raw).into()
    };
    match base {
        Some(base) if super::is_web(base.scheme()) => {
            let rest = raw.trim_start_matches(['/', '\\']);
            if raw.len() - rest.len() > 2 {
                format!("{}://{rest}", base.scheme()).into()
            } else {
                raw
            }
        }
        _ => raw,
    }
}

/// A URL whose host is ASCII and has labels that look like punycode and are not.
fn ascii_host(raw: &str, base: Option<&Url>) -> Option<Parsed> {
    let slash = |c: char| matches!(c, '/' | '\\');
    let (scheme, rest) = match super::scheme_of(raw) {
        Some(scheme) => (scheme.to_ascii_lowercase(), &raw[scheme.len() + 1..]),
        None => (base?.scheme().to_owned(), raw),
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
