//! What kind of document a response carries: by its header; where that tells nothing, by content, then
//! by the extension of the address. XML is HTML where its root says so.

use super::page::DocumentKind;
use super::tokenizer::is_space;
use crate::fetch::declared_type;
use encoding_rs::{Encoding, UTF_8};
use std::borrow::Cow;

/// Bytes of a body that are looked at: comments and declarations may come before the root.
const LOOKED_AT: usize = 64 * 1024;

/// What a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sniffed {
    pub kind: DocumentKind,
    /// It is read by the rules of XML: any element may close itself.
    pub xml: bool,
}

impl From<DocumentKind> for Sniffed {
    fn from(kind: DocumentKind) -> Sniffed {
        let xml = kind == DocumentKind::Xml;
        Sniffed { kind, xml }
    }
}

const XHTML: Sniffed = Sniffed {
    kind: DocumentKind::Html,
    xml: true,
};

/// The kind of a document.
#[must_use]
pub fn document_kind(content_type: Option<&str>, url: &str, body: &[u8]) -> Sniffed {
    let head = readable(body);
    if let Some(essence) = content_type.and_then(declared_type) {
        return by_type(&essence.to_ascii_lowercase(), &head);
    }
    by_content(&head)
        .or_else(|| by_extension(url).map(Sniffed::from))
        .unwrap_or_else(|| match looks_binary(body) {
            true => DocumentKind::Other.into(),
            false => DocumentKind::Text.into(),
        })
}

/// The beginning of a body, as ASCII where a byte order mark says that it is UTF-16.
fn readable(body: &[u8]) -> Cow<'_, [u8]> {
    let head = &body[..body.len().min(LOOKED_AT)];
    match Encoding::for_bom(head) {
        Some((encoding, skip)) if encoding != UTF_8 => {
            let (text, _) = encoding.decode_without_bom_handling(&head[skip..]);
            Cow::Owned(text.into_owned().into_bytes())
        }
        Some((_, skip)) => Cow::Borrowed(&head[skip..]),
        None => Cow::Borrowed(head),
    }
}

/// Whether something is read from a body of this type. A type that tells nothing: by content.
#[must_use]
pub fn is_read(content_type: Option<&str>) -> bool {
    let Some(essence) = content_type.and_then(declared_type) else {
        return true;
    };
    by_type(&essence.to_ascii_lowercase(), &[]).kind != DocumentKind::Other
}

/// The `charset` parameter of a Content-Type value.
#[must_use]
pub fn charset_parameter(content_type: &str) -> Option<&str> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim()
            .eq_ignore_ascii_case("charset")
            .then(|| value.trim().trim_matches(['"', '\'']))
    })
}

/// By a declared type, in lower case. Browsers believe it, but for XML, whose root tells more.
fn by_type(essence: &str, head: &[u8]) -> Sniffed {
    match essence {
        "text/html" => DocumentKind::Html.into(),
        "application/xhtml+xml" => XHTML,
        "text/xml" | "application/xml" if is_xhtml(head) => XHTML,
        "text/xml" | "application/xml" => DocumentKind::Xml.into(),
        _ if essence.ends_with("+xml") && !essence.starts_with("image/") => {
            DocumentKind::Xml.into()
        }
        _ if essence.starts_with("text/") => DocumentKind::Text.into(),
        _ => DocumentKind::Other.into(),
    }
}

/// Whether a document of XML is a page: its document type or its root is `html`.
fn is_xhtml(head: &[u8]) -> bool {
    let mut rest = head.trim_ascii_start();
    let behind = |text: &[u8], end: &[u8]| memchr::memmem::find(text, end).map(|at| at + end.len());
    loop {
        let skip = if rest.starts_with(b"<?") {
            behind(rest, b"?>")
        } else if rest.starts_with(b"<!--") {
            behind(rest, b"-->")
        } else if rest.starts_with(b"<!") {
            let name = word(rest.get(9..).unwrap_or_default().trim_ascii_start());
            if name.eq_ignore_ascii_case(b"html") {
                return true;
            }
            // Declarations of its own stand in brackets.
            match memchr::memchr2(b'[', b'>', rest) {
                Some(at) if rest[at] == b'[' => behind(rest, b"]>"),
                end => end.map(|at| at + 1),
            }
        } else {
            let name = word(rest.strip_prefix(b"<").unwrap_or_default());
            let local = name.rsplit(|b| *b == b':').next().unwrap_or(name);
            return local.eq_ignore_ascii_case(b"html");
        };
        match skip {
            Some(skip) => rest = rest[skip..].trim_ascii_start(),
            None => return false,
        }
    }
}

/// The name that `text` begins with.
fn word(text: &[u8]) -> &[u8] {
    let end = text
        .iter()
        .position(|b| is_space(*b) || matches!(b, b'>' | b'/' | b'['));
    &text[..end.unwrap_or(text.len())]
}

/// The signatures of WHATWG MIME sniffing that tell HTML and XML, and the commonest others.
fn by_content(body: &[u8]) -> Option<Sniffed> {
    const TAGS: [&str; 17] = [
        "<!DOCTYPE HTML",
        "<HTML",
        "<HEAD",
        "<SCRIPT",
        "<IFRAME",
        "<H1",
        "<DIV",
        "<FONT",
        "<TABLE",
        "<A",
        "<STYLE",
        "<TITLE",
        "<B",
        "<BODY",
        "<BR",
        "<P",
        "<META",
    ];
    let start = body.iter().take(1024).position(|b| !is_space(*b))?;
    let body = &body[start..];
    let begins = |text: &str| {
        body.get(..text.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(text.as_bytes()))
    };
    if TAGS.iter().any(|tag| {
        begins(tag)
            && body
                .get(tag.len())
                .is_none_or(|b| matches!(b, b' ' | b'>' | b'\t' | b'\n' | b'\r'))
    }) || begins("<!--")
    {
        return Some(DocumentKind::Html.into());
    }
    if begins("<?xml") {
        return Some(match is_xhtml(body) {
            true => XHTML,
            false => DocumentKind::Xml.into(),
        });
    }
    let other: [&[u8]; 9] = [
        b"%PDF-",
        b"\x89PNG",
        b"\xff\xd8\xff",
        b"GIF8",
        b"PK\x03\x04",
        b"\x1f\x8b",
        b"RIFF",
        b"\x00\x00\x01\x00",
        b"wOF",
    ];
    other
        .iter()
        .any(|magic| body.starts_with(magic))
        .then_some(DocumentKind::Other.into())
}

fn by_extension(url: &str) -> Option<DocumentKind> {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let (_, path) = path.split_once("://")?;
    let (_, path) = path.split_once('/')?;
    let (_, extension) = path.rsplit('/').next()?.rsplit_once('.')?;
    Some(match extension.to_ascii_lowercase().as_str() {
        "html" | "htm" | "xhtml" | "xht" | "shtml" | "php" | "asp" | "aspx" | "jsp" => {
            DocumentKind::Html
        }
        "xml" | "rss" | "atom" | "rdf" => DocumentKind::Xml,
        "txt" | "text" | "md" | "csv" | "css" | "js" | "json" => DocumentKind::Text,
        "pdf" | "zip" | "gz" | "png" | "jpg" | "jpeg" | "gif" | "webp" | "svg" | "ico" | "mp3"
        | "mp4" | "woff" | "woff2" | "exe" | "doc" | "docx" => DocumentKind::Other,
        _ => return None,
    })
}

/// WHATWG: a byte that no text has, among the first 1,445.
fn looks_binary(body: &[u8]) -> bool {
    body.starts_with(b"\xfe\xff") == body.starts_with(b"\xff\xfe")
        && body
            .iter()
            .take(1445)
            .any(|b| matches!(b, 0..=8 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f))
}
