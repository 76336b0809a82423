//! Names in conditions, spelt as they are compared.

use crate::canonical::{Rules, canonical};

/// A host, with a port if the URLs have one: as in canonical URLs.
pub(super) fn host(text: &str) -> Result<String, String> {
    let odd = |c: char| c.is_whitespace() || c.is_control() || "/\\?#@%*".contains(c);
    if text.is_empty() || text.contains(odd) {
        return Err(format!("{text:?} is no host name"));
    }
    let url = canonical(&format!("http://{text}/"), None, &Rules::default());
    let url = url.map_err(|refusal| format!("{text:?} is no host name: {refusal}"))?;
    Ok(url.host().to_owned())
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
