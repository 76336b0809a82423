//! What kind of document a response carries: by its header; without one, by content, then by
//! the extension of the address.

use super::page::DocumentKind;
use super::tokenizer::is_space;

/// The kind and, from the header, the declared charset.
#[must_use]
pub fn document_kind(content_type: Option<&str>, url: &str, body: &[u8]) -> DocumentKind {
    content_type
        .and_then(by_header)
        .or_else(|| by_content(body))
        .or_else(|| by_extension(url))
        .unwrap_or_else(|| {
            if looks_binary(body) {
                DocumentKind::Other
            } else {
                DocumentKind::Text
            }
        })
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

fn by_header(content_type: &str) -> Option<DocumentKind> {
    let essence = content_type.split([';', ',']).next().unwrap_or_default();
    let essence = essence.trim().to_ascii_lowercase();
    let (class, name) = essence.split_once('/')?;
    Some(match (class, name) {
        ("" | "*", _) | (_, "" | "*") | ("unknown", "unknown") | ("application", "unknown") => {
            return None;
        }
        ("text", "html") | ("application", "xhtml+xml") => DocumentKind::Html,
        ("text" | "application", "xml") => DocumentKind::Xml,
        (_, name) if name.ends_with("+xml") && class != "image" => DocumentKind::Xml,
        ("text", _) => DocumentKind::Text,
        _ => DocumentKind::Other,
    })
}

/// The signatures of WHATWG MIME sniffing that tell HTML and XML, and the commonest others.
fn by_content(body: &[u8]) -> Option<DocumentKind> {
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
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
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
        return Some(DocumentKind::Html);
    }
    if begins("<?xml") {
        let head = &body[..body.len().min(512)];
        let xhtml = memchr::memmem::find(head, b"<html").is_some();
        return Some(if xhtml {
            DocumentKind::Html
        } else {
            DocumentKind::Xml
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
        .then_some(DocumentKind::Other)
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
