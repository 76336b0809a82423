//! Response heads: found, cut into fields, and kept byte for byte.
//!
//! Takes bytes as a server sent them; gives a status and fields, or says what is wrong. Lenient
//! where real servers are wrong and the meaning is clear (bare LF, no reason phrase, folded lines,
//! blanks before the colon, bytes outside ASCII, lines without a colon); linear in the input.

use memchr::{memchr, memchr_iter};

use super::message::HttpVersion;

/// A response head: its exact bytes, and where its fields are.
#[derive(Clone, Debug, Default)]
pub struct Head {
    bytes: Vec<u8>,
    fields: Vec<Field>,
    /// The status code.
    pub status: u16,
    /// The protocol of the status line.
    pub version: HttpVersion,
}

#[derive(Clone, Copy, Debug)]
struct Field {
    name: (u32, u32),
    value: (u32, u32),
}

/// Why a head is no HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadError {
    /// It does not begin as HTTP/1 does (HTTP/0.9, another protocol, noise).
    NotHttp,
    /// The status line has no status code.
    Status,
    /// More lines than the limit.
    Lines,
    /// A NUL byte: no server means that, and parsers disagree about it.
    Nul,
}

impl HeadError {
    /// The reason, for people.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            HeadError::NotHttp => "the answer does not begin as HTTP does",
            HeadError::Status => "no status code in the status line",
            HeadError::Lines => "too many header lines",
            HeadError::Nul => "a NUL byte in the head",
        }
    }
}

/// Empty lines before the status line that are passed over, in bytes.
const LEADING_BLANK: usize = 8;

/// Where the status line begins, after the few line ends that RFC 9112 says to ignore.
pub(super) fn start(data: &[u8]) -> usize {
    data.iter()
        .take(LEADING_BLANK)
        .take_while(|&&byte| byte == b'\r' || byte == b'\n')
        .count()
}

/// Whether what came so far can still become an HTTP/1 head.
pub(super) fn plausible(data: &[u8]) -> bool {
    let data = &data[start(data)..];
    let prefix = &data[..data.len().min(5)];
    prefix.eq_ignore_ascii_case(&b"HTTP/"[..prefix.len()])
}

/// The length of the head including its empty line, once that line is there. `from` is where the
/// search goes on: what lies before it has been looked at.
pub(super) fn end(data: &[u8], from: usize) -> Option<usize> {
    let first = start(data);
    for newline in memchr_iter(b'\n', data.get(from.max(first)..)?) {
        let after = from.max(first) + newline + 1;
        match data.get(after..) {
            Some([b'\n', ..]) => return Some(after + 1),
            Some([b'\r', b'\n', ..]) => return Some(after + 2),
            _ => {}
        }
    }
    None
}

impl Head {
    /// Reads a whole head, as cut off by `end`.
    pub(super) fn parse(bytes: Vec<u8>, max_lines: usize) -> Result<Head, HeadError> {
        if memchr(0, &bytes).is_some() {
            return Err(HeadError::Nul);
        }
        let mut position = start(&bytes);
        let line_end = memchr(b'\n', &bytes[position..]).map_or(bytes.len(), |at| position + at);
        let (version, status) = status_line(&bytes[position..line_end])?;
        position = (line_end + 1).min(bytes.len());
        let mut fields: Vec<Field> = Vec::with_capacity(16);
        let mut lines = 0;
        while position < bytes.len() {
            let line_end =
                memchr(b'\n', &bytes[position..]).map_or(bytes.len(), |at| position + at);
            let line = &bytes[position..line_end];
            lines += 1;
            if lines > max_lines + 1 {
                return Err(HeadError::Lines);
            }
            if matches!(line.first(), Some(b' ' | b'\t')) {
                // Obsolete folding: the line belongs to the field before it.
                let text_end = position + trim_end(line);
                if let Some(field) = fields.last_mut() {
                    field.value.1 = field.value.1.max(text_end as u32);
                }
            } else if let Some(colon) = memchr(b':', line) {
                let name_end = trim_end(&line[..colon]);
                if name_end > 0 {
                    let value = &line[colon + 1..];
                    let skipped = value.len() - trim_start(value).len();
                    let from = position + colon + 1 + skipped;
                    let to = from + trim_end(&value[skipped..]);
                    fields.push(Field {
                        name: (position as u32, (position + name_end) as u32),
                        value: (from as u32, to as u32),
                    });
                }
            }
            // A line without a colon means nothing and is passed over.
            position = line_end + 1;
        }
        Ok(Head {
            bytes,
            fields,
            status,
            version,
        })
    }

    /// The exact bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn slice(&self, range: (u32, u32)) -> &[u8] {
        &self.bytes[range.0 as usize..range.1 as usize]
    }

    /// The raw values of every field of that name, in order.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> + 'a {
        self.fields
            .iter()
            .filter(move |field| self.slice(field.name).eq_ignore_ascii_case(name.as_bytes()))
            .map(|field| self.slice(field.value))
    }

    /// The first value of that name as text: UTF-8, or else Latin-1; folds become one blank.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<String> {
        self.all(name).next().map(text)
    }

    /// Every field as text.
    pub fn iter(&self) -> impl Iterator<Item = (String, String)> + '_ {
        self.fields
            .iter()
            .map(|field| (text(self.slice(field.name)), text(self.slice(field.value))))
    }

    /// The tokens of a comma-separated field, lower case, over all its lines.
    pub(super) fn tokens(&self, name: &str) -> Vec<String> {
        let mut tokens = Vec::new();
        for value in self.all(name) {
            for token in text(value).split(',') {
                let token = token.trim();
                if !token.is_empty() {
                    tokens.push(token.to_ascii_lowercase());
                }
            }
        }
        tokens
    }
}

/// A field value as text.
pub(super) fn text(value: &[u8]) -> String {
    let text = match std::str::from_utf8(value) {
        Ok(text) => text.to_owned(),
        // Latin-1 is what such bytes were meant as when HTTP/1.0 was written.
        Err(_) => value.iter().map(|&byte| char::from(byte)).collect(),
    };
    if memchr::memchr2(b'\r', b'\n', value).is_none() {
        return text;
    }
    text.split(['\r', '\n'])
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn status_line(line: &[u8]) -> Result<(HttpVersion, u16), HeadError> {
    let Some((prefix, rest)) = line.split_at_checked(5) else {
        return Err(HeadError::NotHttp);
    };
    if !prefix.eq_ignore_ascii_case(b"HTTP/") {
        return Err(HeadError::NotHttp);
    }
    let blank = rest
        .iter()
        .position(|&byte| byte == b' ' || byte == b'\t')
        .ok_or(HeadError::Status)?;
    let version = match &rest[..blank] {
        b"1.0" => HttpVersion::Http10,
        // A minor version that we do not know speaks 1.1 to us.
        [b'1'] | [b'1', b'.', b'1'..=b'9'] => HttpVersion::Http11,
        _ => return Err(HeadError::NotHttp),
    };
    let code = trim_start(&rest[blank..]);
    match code {
        [
            a @ b'1'..=b'9',
            b @ b'0'..=b'9',
            c @ b'0'..=b'9',
            after @ ..,
        ] if !after.first().is_some_and(u8::is_ascii_digit) => {
            let digit = |byte: &u8| u16::from(byte - b'0');
            Ok((version, digit(a) * 100 + digit(b) * 10 + digit(c)))
        }
        _ => Err(HeadError::Status),
    }
}

fn trim_start(mut data: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = data {
        data = rest;
    }
    data
}

/// The length without blanks and line ends at the end.
fn trim_end(mut data: &[u8]) -> usize {
    while let [rest @ .., b' ' | b'\t' | b'\r'] = data {
        data = rest;
    }
    data.len()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn head(text: &[u8]) -> Result<Head, HeadError> {
        Head::parse(text.to_vec(), 100)
    }

    #[test]
    fn ordinary() {
        let text = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX:\r\n\r\nbody";
        let end = end(text, 0).unwrap();
        assert_eq!(&text[end..], b"body");
        let head = head(&text[..end]).unwrap();
        assert_eq!((head.status, head.version), (200, HttpVersion::Http11));
        assert_eq!(head.get("content-type").as_deref(), Some("text/html"));
        assert_eq!(head.get("x").as_deref(), Some(""));
        assert_eq!(head.get("y"), None);
        assert_eq!(head.as_bytes(), &text[..end]);
    }

    #[test]
    fn lenient_where_the_meaning_is_clear() {
        let head = head(
            b"\r\nHTTP/1.0 404\nA : 1 \nB: x\n\t y\n  z\r\nno colon\n: empty\nC: \xe4\xff\nC: two\n\n",
        )
        .unwrap();
        assert_eq!((head.status, head.version), (404, HttpVersion::Http10));
        assert_eq!(head.get("a").as_deref(), Some("1"));
        assert_eq!(head.get("b").as_deref(), Some("x y z"));
        assert_eq!(head.get("c").as_deref(), Some("äÿ"));
        assert_eq!(head.all("c").count(), 2);
        assert_eq!(head.iter().count(), 4);
    }

    #[test]
    fn refused() {
        assert_eq!(head(b"<html>\n\n").unwrap_err(), HeadError::NotHttp);
        assert_eq!(head(b"HTTP/2 200 OK\n\n").unwrap_err(), HeadError::NotHttp);
        assert_eq!(head(b"HTTP/1.1 OK\n\n").unwrap_err(), HeadError::Status);
        assert_eq!(head(b"HTTP/1.1 2000\n\n").unwrap_err(), HeadError::Status);
        assert_eq!(head(b"HTTP/1.1 099\n\n").unwrap_err(), HeadError::Status);
        assert_eq!(
            head(b"HTTP/1.1 200\nA: \0\n\n").unwrap_err(),
            HeadError::Nul
        );
        let many = [b"HTTP/1.1 200\n".as_slice(), &b"a: b\n".repeat(102), b"\n"].concat();
        assert_eq!(head(&many).unwrap_err(), HeadError::Lines);
        assert!(!plausible(b"<htm") && plausible(b"\r\nHT") && !plausible(b"\n\n\n\n\n\n\n\n\n\n"));
    }

    #[test]
    fn the_end_is_found_across_arrivals() {
        let text = b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n";
        for cut in 0..text.len() {
            let known = end(&text[..cut], 0);
            assert_eq!(known, None);
            // The next search may begin a little before what was seen.
            assert_eq!(end(text, cut.saturating_sub(3)), Some(text.len()));
        }
    }
}
