//! The base of a page's links: parsed once per page, used for each link.

use super::Refusal;
use super::charset::of_queries;
use super::slow::upper_escapes;
use super::url::Url;
use super::whatwg::{Parsed, parse};
use ::url::Position;
use encoding_rs::Encoding;

/// What relative links are resolved against: the page's URL, or its `<base href>`.
#[derive(Clone, Debug)]
pub struct Base {
    parsed: Parsed,
    /// Absent when the base is no plain web address: then every link takes the slow path.
    plain: Option<Plain>,
    /// What queries are spelled in; `None`: UTF-8.
    charset: Option<&'static Encoding>,
}

/// The parts of a base that the fast path copies.
#[derive(Clone, Debug)]
pub(super) struct Plain {
    /// Scheme, authority, path and query, escapes in upper case.
    pub text: String,
    pub path_at: usize,
    /// Where the path ends and the query, if any, begins.
    pub path_end: usize,
    /// Behind the last `/` of the path.
    pub directory_end: usize,
}

impl Base {
    /// Reads a base, itself perhaps relative to the page's URL (`<base href="/docs/">`).
    ///
    /// # Errors
    /// When the text is no URL. A scheme other than http is no fault of a base: absolute links
    /// under it are good.
    pub fn parse(raw: &str, outer: Option<&Base>) -> Result<Base, Refusal> {
        let mut parsed = parse(raw, outer.map(Base::parsed))?;
        if parsed.true_host.is_none() && parsed.host(outer) != parsed.url.host_str() {
            parsed.true_host = parsed.host(outer).map(str::to_owned);
        }
        Ok(Base::new(parsed))
    }

    fn new(parsed: Parsed) -> Base {
        Base {
            plain: Plain::of(&parsed),
            parsed,
            charset: None,
        }
    }

    /// The same base in a document of this charset, by its WHATWG name: queries of its links are spelled
    /// in it.
    #[must_use]
    pub fn in_charset(self, name: &str) -> Base {
        Base {
            charset: of_queries(name),
            ..self
        }
    }

    pub(super) fn charset(&self) -> Option<&'static Encoding> {
        self.charset
    }

    pub(super) fn parsed(&self) -> &::url::Url {
        &self.parsed.url
    }

    /// The host of this base, where the parser knows it under a disguise.
    pub(super) fn true_host(&self) -> Option<&str> {
        self.parsed.true_host.as_deref()
    }

    pub(super) fn plain(&self) -> Option<&Plain> {
        self.plain.as_ref()
    }
}

impl From<&Url> for Base {
    fn from(url: &Url) -> Base {
        match parse(url.as_str(), None) {
            Ok(parsed) => Base::new(parsed),
            // Canonical text parses; should it not, links under it are refused, not guessed.
            Err(_) => Base {
                parsed: nowhere(),
                plain: None,
                charset: None,
            },
        }
    }
}

fn nowhere() -> Parsed {
    #[allow(clippy::expect_used)]
    let url = ::url::Url::parse("about:blank").expect("a constant");
    Parsed {
        url,
        true_host: None,
    }
}

impl Plain {
    fn of(parsed: &Parsed) -> Option<Plain> {
        let host = parsed.host(None)?;
        let parsed = &parsed.url;
        let web = matches!(parsed.scheme(), "http" | "https");
        // A trailing dot, or a name that the slow path would refuse, is left to the slow path.
        if !web || host.ends_with('.') || host.len() > 253 {
            return None;
        }
        if !host.starts_with('[')
            && host
                .split('.')
                .any(|label| label.is_empty() || label.len() > 63)
        {
            return None;
        }
        let mut text = format!("{}://{host}", parsed.scheme());
        if let Some(port) = parsed.port() {
            text.push_str(&format!(":{port}"));
        }
        let path_at = text.len();
        text.push_str(parsed.path());
        let path_end = text.len();
        text.push_str(&parsed[Position::AfterPath..Position::AfterQuery]);
        let mut bytes = text.into_bytes();
        upper_escapes(&mut bytes[path_at..]);
        let text = String::from_utf8(bytes).ok()?;
        let directory_end = path_at + text[path_at..path_end].rfind('/')? + 1;
        Some(Plain {
            text,
            path_at,
            path_end,
            directory_end,
        })
    }
}
