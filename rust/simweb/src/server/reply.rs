//! A reply under construction: the body is written first, the head into the room before it, so
//! that both leave in one write.

use std::ops::Range;

/// Room for the head. What a page can say in its head is far less.
const ROOM: usize = 1024;

/// What becomes of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The reply is sent whole.
    Whole,
    /// The reply is sent slowly.
    Drip,
    /// The connection is reset before the first byte.
    ResetFirst,
    /// The connection is reset after half of the reply.
    ResetMidway,
}

/// Buffers of one worker, used again for every reply.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    pub status: u16,
    pub body: Vec<u8>,
    /// The part of the prose that follows the body.
    pub tail: Range<usize>,
    head: Vec<u8>,
    start: usize,
}

impl Reply {
    /// Begins a reply: an empty body behind the room for the head.
    pub fn begin(&mut self, status: u16) {
        self.status = status;
        self.head.clear();
        self.body.clear();
        self.tail = 0..0;
        self.body.resize(ROOM, 0);
        self.start = ROOM;
        self.head.extend_from_slice(b"HTTP/1.1 ");
        self.head
            .extend_from_slice(itoa::Buffer::new().format(status).as_bytes());
        self.head.push(b' ');
        self.head.extend_from_slice(reason(status).as_bytes());
        self.head
            .extend_from_slice(b"\r\nServer: gossamer-simweb\r\n");
    }

    pub fn header(&mut self, name: &str, value: &[u8]) {
        self.head.extend_from_slice(name.as_bytes());
        self.head.extend_from_slice(b": ");
        self.head.extend_from_slice(value);
        self.head.extend_from_slice(b"\r\n");
    }

    /// The body alone.
    pub fn content(&self) -> &[u8] {
        &self.body[ROOM..]
    }

    /// Puts another body in place of the present one.
    pub fn replace_content(&mut self, content: &[u8]) {
        self.body.truncate(ROOM);
        self.body.extend_from_slice(content);
    }

    /// Ends the head. Without a body (HEAD, 304) the length is that of the body not sent.
    pub fn finish(&mut self, with_body: bool, keep: bool) {
        let length = self.body.len() - ROOM + self.tail.len();
        if self.status != 304 {
            self.head.extend_from_slice(b"Content-Length: ");
            self.head
                .extend_from_slice(itoa::Buffer::new().format(length).as_bytes());
            self.head.extend_from_slice(b"\r\n");
        }
        self.head.extend_from_slice(if keep {
            b"Connection: keep-alive\r\n\r\n".as_slice()
        } else {
            b"Connection: close\r\n\r\n".as_slice()
        });
        if !with_body {
            self.body.truncate(ROOM);
            self.tail = 0..0;
        }
        if self.head.len() <= ROOM {
            self.start = ROOM - self.head.len();
            self.body[self.start..ROOM].copy_from_slice(&self.head);
        } else {
            self.start = 0;
            self.body.splice(0..ROOM, self.head.iter().copied());
        }
    }

    /// The bytes on the wire.
    pub fn bytes(&self) -> &[u8] {
        &self.body[self.start..]
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        421 => "Misdirected Request",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Unknown",
    }
}
