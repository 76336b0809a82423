//! The WHATWG tokenizer, over a whole document in memory.
//!
//! Takes: text. Gives: calls on a [`Sink`], in document order, with slices of the input.
//! Guarantees: every byte is looked at a bounded number of times; nothing is allocated; the end
//! of the input ends every state as the standard says.
//!
//! Two things are left to the sink because most tokens need neither: decoding of character
//! references (see [`super::charref`]) and lower-casing of names. Errors are not reported.

use memchr::{memchr, memchr2};
use std::ops::Range;

/// What the text that follows is, until the matching end tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Markup; character references count.
    Data,
    /// Text with character references, until the end tag (`title`, `textarea`).
    Rcdata,
    /// Text without character references, until the end tag (`style`, `iframe` …).
    Rawtext,
    /// As raw text, with the two escaped states of the standard.
    Script,
    /// Text until the end of the document.
    Plaintext,
    /// Text until `]]>`; only in foreign content.
    Cdata,
}

/// Receives the tokens. Ranges are byte ranges of the input and lie on character boundaries.
pub trait Sink {
    /// A run of text, not decoded; `content` says how to read it.
    fn text(&mut self, range: Range<usize>, content: Content);
    /// A start tag begins. Returns whether its attributes are wanted.
    fn open(&mut self, name: Range<usize>) -> bool;
    /// An attribute of the tag begun last; a name may come twice, the first one counts.
    fn attribute(&mut self, name: Range<usize>, value: Range<usize>);
    /// The start tag is complete (a tag cut by the end of the input never is).
    fn opened(&mut self, self_closing: bool) -> Content;
    /// A complete end tag.
    fn close(&mut self, name: Range<usize>);
    /// A comment, or what the standard reads as one.
    fn comment(&mut self, _data: Range<usize>) {}
    /// A document type: what stands between `<!DOCTYPE` and `>`, or the end of the input.
    fn doctype(&mut self, _inside: Range<usize>, _complete: bool) {}
    /// Whether `<![CDATA[` opens a section here.
    fn cdata_allowed(&self) -> bool {
        false
    }
}

/// White space as the tokenizer knows it; a carriage return was a line feed before tokenization.
#[inline(always)]
pub const fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\x0c' | b'\r' | b' ')
}

// Which bytes end a name or an unquoted value: one look-up per byte in the hottest loops.
const ENDS_TAG_NAME: u8 = 1;
const ENDS_ATTRIBUTE_NAME: u8 = 2;
const ENDS_UNQUOTED: u8 = 4;
static CLASS: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        if is_space(b) || b == b'>' {
            table[byte] = ENDS_TAG_NAME | ENDS_ATTRIBUTE_NAME | ENDS_UNQUOTED;
        } else if b == b'/' {
            table[byte] = ENDS_TAG_NAME | ENDS_ATTRIBUTE_NAME;
        } else if b == b'=' {
            table[byte] = ENDS_ATTRIBUTE_NAME;
        }
        byte += 1;
    }
    table
};

/// The tokenizer proper: an input, a position and a sink.
pub struct Tokenizer<'a, S> {
    input: &'a [u8],
    at: usize,
    sink: &'a mut S,
}

impl<S> std::fmt::Debug for Tokenizer<'_, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tokenizer at {} of {}", self.at, self.input.len())
    }
}

/// Tokenizes the whole of `input` into `sink`.
pub fn tokenize<S: Sink>(input: &str, sink: &mut S) {
    tokenize_from(input, sink, Content::Data, b"");
}

/// As [`tokenize`], beginning inside an element called `last` (lower case) with this content.
pub fn tokenize_from<S: Sink>(input: &str, sink: &mut S, content: Content, last: &[u8]) {
    let mut tokenizer = Tokenizer {
        input: input.as_bytes(),
        at: 0,
        sink,
    };
    match content {
        Content::Data => {}
        Content::Cdata => tokenizer.cdata(0),
        other => tokenizer.element_text(other, last),
    }
    tokenizer.data();
}

impl<S: Sink> Tokenizer<'_, S> {
    #[inline(always)]
    fn byte(&self, at: usize) -> Option<u8> {
        self.input.get(at).copied()
    }

    fn emit_text(&mut self, from: usize, to: usize, content: Content) {
        if from < to {
            self.sink.text(from..to, content);
        }
    }

    /// The data state, to the end of the input.
    fn data(&mut self) {
        let mut from = self.at;
        let mut look = from;
        while let Some(offset) = self.input.get(look..).and_then(|rest| memchr(b'<', rest)) {
            let open = look + offset;
            let next = self.byte(open + 1);
            match next {
                Some(b) if b.is_ascii_alphabetic() => {
                    self.emit_text(from, open, Content::Data);
                    self.start_tag(open + 1);
                }
                Some(b'/') => match self.byte(open + 2) {
                    Some(b) if b.is_ascii_alphabetic() => {
                        self.emit_text(from, open, Content::Data);
                        self.end_tag(open + 2);
                    }
                    Some(b'>') => {
                        // `</>` is nothing at all.
                        self.emit_text(from, open, Content::Data);
                        self.at = open + 3;
                    }
                    Some(_) => {
                        self.emit_text(from, open, Content::Data);
                        self.bogus_comment(open + 2);
                    }
                    None => break,
                },
                Some(b'!') => {
                    self.emit_text(from, open, Content::Data);
                    self.declaration(open + 2);
                }
                Some(b'?') => {
                    self.emit_text(from, open, Content::Data);
                    self.bogus_comment(open + 1);
                }
                _ => {
                    // Not markup: the sign is text and the run goes on.
                    look = open + 1;
                    continue;
                }
            }
            from = self.at;
            look = from;
        }
        self.emit_text(from, self.input.len(), Content::Data);
        self.at = self.input.len();
    }

    fn start_tag(&mut self, name_from: usize) {
        let name_to = self.name_end(name_from);
        let wanted = self.sink.open(name_from..name_to);
        let complete = if wanted {
            self.attributes::<true>(name_to)
        } else {
            self.attributes::<false>(name_to)
        };
        let Some(self_closing) = complete else { return };
        let content = self.sink.opened(self_closing);
        if content != Content::Data {
            // Elements with special content have short ASCII names; see `names`.
            let mut last = [0; 16];
            let raw = &self.input[name_from..name_to];
            let length = raw.len().min(last.len());
            last[..length].copy_from_slice(&raw[..length]);
            last.make_ascii_lowercase();
            self.element_text(content, &last[..length]);
        }
    }

    fn end_tag(&mut self, name_from: usize) {
        let name_to = self.name_end(name_from);
        if self.attributes::<false>(name_to).is_some() {
            self.sink.close(name_from..name_to);
        }
    }

    fn name_end(&self, from: usize) -> usize {
        self.skip_until::<ENDS_TAG_NAME>(from)
    }

    #[inline(always)]
    fn skip_until<const STOP: u8>(&self, mut at: usize) -> usize {
        while let Some(&byte) = self.input.get(at) {
            if CLASS[byte as usize] & STOP != 0 {
                break;
            }
            at += 1;
        }
        at
    }

    #[inline(always)]
    fn skip_space(&self, mut at: usize) -> usize {
        while self.byte(at).is_some_and(is_space) {
            at += 1;
        }
        at
    }

    /// The attributes of a tag, from the end of its name; leaves the position behind the tag.
    /// Gives the self-closing flag, or nothing where the input ends inside the tag.
    #[inline(always)]
    fn attributes<const WANTED: bool>(&mut self, mut at: usize) -> Option<bool> {
        loop {
            at = self.skip_space(at);
            match self.byte(at) {
                Some(b'>') => {
                    self.at = at + 1;
                    return Some(false);
                }
                Some(b'/') => {
                    at += 1;
                    if self.byte(at) == Some(b'>') {
                        self.at = at + 1;
                        return Some(true);
                    }
                    continue;
                }
                Some(_) => {}
                None => break,
            }
            let name_from = at;
            // A leading `=` belongs to the name.
            let name_to = self.skip_until::<ENDS_ATTRIBUTE_NAME>(at + 1);
            at = self.skip_space(name_to);
            let mut value = name_to..name_to;
            if self.byte(at) == Some(b'=') {
                at = self.skip_space(at + 1);
                match self.byte(at) {
                    Some(quote @ (b'"' | b'\'')) => {
                        let from = at + 1;
                        let Some(length) = self.input.get(from..).and_then(|r| memchr(quote, r))
                        else {
                            break;
                        };
                        value = from..from + length;
                        at = from + length + 1;
                    }
                    Some(b'>') => {}
                    Some(_) => {
                        let from = at;
                        at = self.skip_until::<ENDS_UNQUOTED>(at);
                        value = from..at;
                    }
                    None => break,
                }
            }
            if WANTED {
                self.sink.attribute(name_from..name_to, value);
            }
        }
        self.at = self.input.len();
        None
    }

    /// Behind `<!`.
    fn declaration(&mut self, at: usize) {
        let rest = &self.input[at..];
        if rest.starts_with(b"--") {
            self.comment(at + 2);
        } else if rest.len() >= 7 && rest[..7].eq_ignore_ascii_case(b"doctype") {
            // Every state of a document type ends at the first `>`, quoted or not.
            let from = at + 7;
            let end = memchr(b'>', &self.input[from..]).map(|length| from + length);
            let to = end.unwrap_or(self.input.len());
            self.sink.doctype(from..to, end.is_some());
            self.at = end.map_or(to, |end| end + 1);
        } else if rest.starts_with(b"[CDATA[") && self.sink.cdata_allowed() {
            self.cdata(at + 7);
        } else {
            self.bogus_comment(at);
        }
    }

    fn bogus_comment(&mut self, from: usize) {
        let end = memchr(b'>', &self.input[from..]).map(|length| from + length);
        let to = end.unwrap_or(self.input.len());
        self.sink.comment(from..to);
        self.at = end.map_or(to, |end| end + 1);
    }

    /// Behind `<!--`.
    fn comment(&mut self, from: usize) {
        let rest = &self.input[from..];
        for early in [&b">"[..], b"->"] {
            if rest.starts_with(early) {
                self.sink.comment(from..from);
                self.at = from + early.len();
                return;
            }
        }
        let length = self.input.len();
        let mut look = from;
        // Dashes that the end of the input finds in an ending that did not come are dropped.
        let mut pending = 0;
        while let Some(offset) = self.input.get(look..).and_then(|r| memchr(b'-', r)) {
            let dash = look + offset;
            let mut end = dash;
            while self.byte(end) == Some(b'-') {
                end += 1;
            }
            let dashes = end - dash;
            if end == length {
                pending = dashes.min(2);
                break;
            }
            if dashes >= 2 {
                let bang = usize::from(self.byte(end) == Some(b'!'));
                match self.byte(end + bang) {
                    Some(b'>') => {
                        self.sink.comment(from..end - 2);
                        self.at = end + bang + 1;
                        return;
                    }
                    None => {
                        pending = 3;
                        break;
                    }
                    Some(_) => {}
                }
                look = end + bang;
            } else {
                look = end;
            }
        }
        self.sink.comment(from..length - pending);
        self.at = length;
    }

    fn cdata(&mut self, from: usize) {
        let end = memchr::memmem::find(&self.input[from..], b"]]>").map(|length| from + length);
        let to = end.unwrap_or(self.input.len());
        self.emit_text(from, to, Content::Cdata);
        self.at = end.map_or(to, |end| end + 3);
    }

    /// The text of an element with special content, and its end tag.
    fn element_text(&mut self, content: Content, name: &[u8]) {
        let from = self.at;
        let end = match content {
            Content::Plaintext => None,
            Content::Script => self.script_end(name),
            _ => self.text_end(name),
        };
        let to = end.unwrap_or(self.input.len());
        self.emit_text(from, to, content);
        self.at = to;
        if end.is_some() {
            self.end_tag(to + 2);
        }
    }

    /// Whether `</name` and a byte that ends a name stand at `at`.
    fn ends_here(&self, at: usize, name: &[u8]) -> bool {
        self.byte(at + 1) == Some(b'/') && self.named(at + 2, name)
    }

    fn named(&self, at: usize, name: &[u8]) -> bool {
        !name.is_empty()
            && self
                .input
                .get(at..at + name.len())
                .is_some_and(|raw| raw.eq_ignore_ascii_case(name))
            && self
                .byte(at + name.len())
                .is_some_and(|b| CLASS[b as usize] & ENDS_TAG_NAME != 0)
    }

    fn text_end(&self, name: &[u8]) -> Option<usize> {
        memchr::memchr_iter(b'<', &self.input[self.at..])
            .map(|offset| self.at + offset)
            .find(|&at| self.ends_here(at, name))
    }

    /// The script data states: `<!--` escapes, `<script` inside escapes twice, `-->` ends both.
    fn script_end(&self, name: &[u8]) -> Option<usize> {
        let mut look = self.at;
        let mut escaped = false;
        let mut twice = false;
        loop {
            let rest = self.input.get(look..)?;
            let at = look
                + if escaped {
                    memchr2(b'<', b'-', rest)?
                } else {
                    memchr(b'<', rest)?
                };
            look = at + 1;
            if self.input[at] == b'-' {
                let mut end = at;
                while self.byte(end) == Some(b'-') {
                    end += 1;
                }
                if end - at >= 2 && self.byte(end) == Some(b'>') {
                    escaped = false;
                    twice = false;
                }
                look = end;
            } else if self.ends_here(at, name) && !twice {
                return Some(at);
            } else if twice {
                if self.ends_here(at, b"script") {
                    twice = false;
                    look = at + 8;
                }
            } else if escaped {
                if self.named(at + 1, b"script") {
                    twice = true;
                    look = at + 7;
                }
            } else if self.input[at..].starts_with(b"<!--") {
                escaped = true;
                // The dashes of the opening may be those of the ending: `<!-->`.
                look = at + 2;
            }
        }
    }
}
