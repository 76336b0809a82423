//! Names in conditions, spelt as they are compared.

use crate::canonical::{Rules, canonical};

/// A host as in canonical URLs, with its port if one is given, also where URLs leave it out.
pub(super) fn host(text: &str) -> Result<String, String> {
    let odd = |c: char| c.is_whitespace() || c.is_control() || "/\\?#@%*".contains(c);
    if text.is_empty() || text.contains(odd) {
        return Err(format!("{text:?} is no host name"));
    }
    let url = canonical(&format!("http://{text}/"), None, &Rules::default());
    let url = url.map_err(|refusal| format!("{text:?} is no host name: {refusal}"))?;
    // The text is a host and a port by now, and of ports URLs of this scheme leave out 80.
    Ok(
        match url.host().len() == url.hostname().len() && given_port(text).is_some() {
            true => format!("{}:{}", url.host(), url.port()),
            false => url.host().to_owned(),
        },
    )
}

fn given_port(text: &str) -> Option<u16> {
    // The colons of an IPv6 address are inside its brackets.
    text.rsplit_once(':')?.1.parse().ok()
}

/// Whether a host has the port that URLs of `http` or of `https` leave out.
pub(super) fn has_usual_port(text: &str) -> bool {
    matches!(given_port(text), Some(80 | 443))
}

/// A regular expression for URLs, which are in ASCII.
pub(super) fn expression(text: &str) -> Result<String, String> {
    let Some(c) = text.chars().find(|c| !c.is_ascii()) else {
        return Ok(text.to_owned());
    };
    let escaped = c.to_string().into_bytes();
    let escaped: String = escaped.iter().map(|byte| format!("%{byte:02X}")).collect();
    Err(format!(
        "{text:?} has {c:?}, and URLs are in ASCII: write {escaped}, in a host name punycode (xn--…)"
    ))
}

/// A domain: a name without a port.
pub(super) fn domain(text: &str) -> Result<String, String> {
    let name = host(text.trim_start_matches("*.").trim_start_matches('.'))?;
    if name.contains(':') && !name.ends_with(']') {
        return Err(format!("{text:?} has a port; a domain has none"));
    }
    Ok(name)
}

/// A media type, or a family of them such as `text/*`.
pub(super) fn mime(text: &str) -> Result<String, String> {
    let lower = text.to_ascii_lowercase();
    match lower.split_once('/') {
        Some((family, kind)) if !family.is_empty() && family != "*" && !kind.is_empty() => {
            Ok(lower)
        }
        _ => Err(format!(
            "{text:?} is no media type such as text/html or image/*"
        )),
    }
}

/// The media type of a response, and its family; what a server may add is left out.
pub(super) fn mime_of(text: &str) -> (String, String) {
    let whole = text.split(';').next().unwrap_or_default();
    let whole = whole.trim().to_ascii_lowercase();
    let family = whole.split('/').next().unwrap_or_default();
    let family = format!("{family}/*");
    (whole, family)
}
