//! The named fields at the top of a record. No value can end its line: the web chooses some of them.

use super::digest::{self, Digest};
use super::ids::RecordId;
use super::{Micros, date};

const HEX: &[u8; 16] = b"0123456789ABCDEF";

fn escape(out: &mut Vec<u8>, byte: u8) {
    out.extend_from_slice(&[
        b'%',
        HEX[usize::from(byte >> 4)],
        HEX[usize::from(byte & 15)],
    ]);
}

/// Appends text; control characters become `%XX`.
pub(super) fn text(out: &mut Vec<u8>, value: &str) {
    for byte in value.bytes() {
        if byte < 0x20 || byte == 0x7f {
            escape(out, byte);
        } else {
            out.push(byte);
        }
    }
}

/// Appends a URI; whatever cannot stand in a URI becomes `%XX`.
pub(super) fn uri(out: &mut Vec<u8>, value: &str) {
    for byte in value.bytes() {
        if byte <= 0x20 || byte >= 0x7f || matches!(byte, b'<' | b'>' | b'"') {
            escape(out, byte);
        } else {
            out.push(byte);
        }
    }
}

/// A record's fields being written.
pub(super) struct Fields<'a>(pub &'a mut Vec<u8>);

impl Fields<'_> {
    pub fn begin(&mut self, kind: &str) {
        self.0.extend_from_slice(b"WARC/1.1\r\nWARC-Type: ");
        self.0.extend_from_slice(kind.as_bytes());
        self.0.extend_from_slice(b"\r\n");
    }

    fn line(&mut self, name: &str, write: impl FnOnce(&mut Vec<u8>)) {
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b": ");
        write(self.0);
        self.0.extend_from_slice(b"\r\n");
    }

    pub fn text(&mut self, name: &str, value: &str) {
        self.line(name, |out| text(out, value));
    }

    pub fn uri(&mut self, name: &str, value: &str) {
        self.line(name, |out| uri(out, value));
    }

    pub fn date(&mut self, name: &str, value: Micros) {
        self.line(name, |out| date::push(out, value));
    }

    pub fn id(&mut self, name: &str, value: RecordId) {
        self.line(name, |out| value.push(out));
    }

    pub fn digest(&mut self, name: &str, value: &Digest) {
        self.line(name, |out| digest::push(out, value));
    }

    /// The last field, and the empty line before the block.
    pub fn end(&mut self, block_length: usize) {
        self.text("Content-Length", &block_length.to_string());
        self.0.extend_from_slice(b"\r\n");
    }
}
