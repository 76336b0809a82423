//! The head of an HTTP message, made fit for an archive.
//!
//! The head is kept byte for byte, except where a reader of the archive would be misled:
//! * the body is stored without its transfer coding, so `Transfer-Encoding` (and a `Content-Length`
//!   beside it, which HTTP says to ignore) becomes `X-Crawl-…`;
//! * a status line of HTTP/2 or 3 is spelled `HTTP/1.1`, the real protocol is in `WARC-Protocol`;
//! * bare line feeds, empty or invisible lines and a missing end are mended, so that every reader
//!   finds the same first byte of the body.

use std::borrow::Cow;

const PREFIX: &[u8] = b"X-Crawl-";

/// The lines of a head without their ends.
fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split(|&b| b == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

/// Whether a line has a character that a reader would not strip. A line without one would end
/// the head for some readers.
fn visible(line: &[u8]) -> bool {
    line.iter().any(u8::is_ascii_graphic)
}

fn name(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|&b| b == b':').unwrap_or(0);
    line[..end].trim_ascii_end()
}

/// The value of the first field of that name, without surrounding blanks.
#[must_use]
pub fn field<'a>(head: &'a [u8], wanted: &str) -> Option<&'a [u8]> {
    lines(head)
        .skip(1)
        .find(|line| name(line).eq_ignore_ascii_case(wanted.as_bytes()))
        .and_then(|line| {
            line.iter()
                .position(|&b| b == b':')
                .map(|at| &line[at + 1..])
        })
        .map(<[u8]>::trim_ascii)
}

/// The three digits of the status line.
#[must_use]
pub fn status(head: &[u8]) -> Option<u16> {
    let line = lines(head).next()?;
    let code = line
        .split(|&b| b == b' ')
        .filter(|part| !part.is_empty())
        .nth(1)?;
    if code.len() != 3 {
        return None;
    }
    std::str::from_utf8(code).ok()?.parse().ok()
}

/// The media type without parameters, in lower case.
#[must_use]
pub fn mime(head: &[u8]) -> Option<String> {
    let value = field(head, "content-type")?;
    let end = value.iter().position(|&b| b == b';').unwrap_or(value.len());
    let kind = value[..end].trim_ascii();
    let clean = !kind.is_empty() && kind.iter().all(|b| b.is_ascii_graphic());
    clean.then(|| String::from_utf8_lossy(kind).to_ascii_lowercase())
}

/// Which protocol a status line of HTTP/2 or 3 names.
pub(super) fn protocol(head: &[u8]) -> Option<&'static str> {
    match head.get(..6) {
        Some(b"HTTP/2") => Some("h2"),
        Some(b"HTTP/3") => Some("h3"),
        _ => None,
    }
}

/// The head as it goes into a record: ends in an empty line, and has no other.
#[must_use]
pub fn archived(head: &[u8]) -> Cow<'_, [u8]> {
    let recoded = field(head, "transfer-encoding").is_some();
    if !recoded && protocol(head).is_none() && well_formed(head) {
        return Cow::Borrowed(head);
    }
    let mut out = Vec::with_capacity(head.len() + 2 * PREFIX.len() + 4);
    for (at, line) in lines(head).filter(|line| visible(line)).enumerate() {
        if at == 0 && protocol(line).is_some() {
            let rest = line.iter().position(|&b| b == b' ').unwrap_or(line.len());
            out.extend_from_slice(b"HTTP/1.1");
            out.extend_from_slice(&line[rest..]);
        } else {
            let name = name(line);
            if recoded
                && at > 0
                && (name.eq_ignore_ascii_case(b"transfer-encoding")
                    || name.eq_ignore_ascii_case(b"content-length"))
            {
                out.extend_from_slice(PREFIX);
            }
            out.extend_from_slice(line);
        }
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"\r\n");
    Cow::Owned(out)
}

/// Whether every line ends in CR LF and is visible, and the head ends in one empty line.
fn well_formed(head: &[u8]) -> bool {
    head.strip_suffix(b"\r\n").is_some_and(|lines| {
        !lines.is_empty()
            && lines
                .split_inclusive(|&b| b == b'\n')
                .all(|line| line.ends_with(b"\r\n") && visible(line))
    })
}

#[cfg(test)]
mod tests {
    use super::{archived, field, mime, status};
    use std::borrow::Cow;

    #[test]
    fn a_plain_head_is_kept_as_it_is() {
        let head = b"HTTP/1.1 200 OK\r\nA: b\r\n folded\r\nX\xff: \x01\r\n\r\n";
        assert!(matches!(archived(head), Cow::Borrowed(kept) if kept == head));
    }

    #[test]
    fn transfer_coding_is_renamed() {
        let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding : chunked\r\nContent-Length: 3\r\n\r\n";
        assert_eq!(
            archived(head).as_ref(),
            b"HTTP/1.1 200 OK\r\nX-Crawl-transfer-encoding : chunked\r\nX-Crawl-Content-Length: 3\r\n\r\n"
        );
    }

    #[test]
    fn ends_are_mended() {
        for head in [
            &b"HTTP/1.1 200 OK\nA: b\n\n"[..],
            b"HTTP/1.1 200 OK\r\nA: b",
            b"HTTP/1.1 200 OK\r\n \t\r\nA: b\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n\r\n",
            b"HTTP/2 200 OK\r\nA: b\r\n\r\n",
            b"HTTP/1.1 200 OK\nA: b\r\n\r\n",
        ] {
            assert_eq!(archived(head).as_ref(), b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n");
        }
        assert_eq!(archived(b"").as_ref(), b"\r\n");
    }

    #[test]
    fn facts_are_read() {
        let head = b"HTTP/1.1 404 Not Found\r\nContent-Type: Text/HTML; charset=x\r\nE:\r\n\r\n";
        assert_eq!(status(head), Some(404));
        assert_eq!(mime(head).as_deref(), Some("text/html"));
        assert_eq!(field(head, "e"), Some(&b""[..]));
        assert_eq!(field(head, "http/1.1 404 not found"), None);
        assert_eq!(status(b"HTTP/1.1 4x4"), None);
        assert_eq!(status(b""), None);
    }
}
