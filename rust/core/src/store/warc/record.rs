//! Records as gzip members, made on any thread without a lock.

use super::digest::{Digest, sha1};
use super::fields::Fields;
use super::ids::RecordId;
use super::{Micros, compress, fields, head};
use std::net::IpAddr;

/// The types of records we write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Warcinfo,
    Request,
    Response,
    Revisit,
    Metadata,
}

impl Kind {
    /// The spelling in `WARC-Type`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::Warcinfo => "warcinfo",
            Kind::Request => "request",
            Kind::Response => "response",
            Kind::Revisit => "revisit",
            Kind::Metadata => "metadata",
        }
    }
}

/// Why a stored body is not whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Truncated {
    /// The size limit was reached.
    Length,
    /// A time limit was reached.
    Time,
    /// The connection ended early.
    Disconnect,
    /// It was not wanted.
    Unspecified,
}

impl Truncated {
    /// The spelling in `WARC-Truncated`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Truncated::Length => "length",
            Truncated::Time => "time",
            Truncated::Disconnect => "disconnect",
            Truncated::Unspecified => "unspecified",
        }
    }

    /// The reason of that spelling.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [
            Truncated::Length,
            Truncated::Time,
            Truncated::Disconnect,
            Truncated::Unspecified,
        ]
        .into_iter()
        .find(|reason| reason.as_str() == name)
    }
}

/// The facts of a visit that its records share.
#[derive(Clone, Copy, Debug)]
pub struct Meta<'a> {
    /// The canonical URL.
    pub uri: &'a str,
    /// When the visit began; the same for request and response.
    pub date: Micros,
    /// The address that answered; absent behind a proxy.
    pub ip: Option<IpAddr>,
    /// Why the body is not whole, if so.
    pub truncated: Option<Truncated>,
    /// Such as `h2` or `tls/1.3`; a status line of HTTP/2 says `h2` by itself.
    pub protocols: &'a [&'a str],
    /// The record of the same visit that this one belongs to.
    pub concurrent_to: Option<RecordId>,
}

impl<'a> Meta<'a> {
    /// Only what every record has.
    #[must_use]
    pub const fn new(uri: &'a str, date: Micros) -> Self {
        Meta {
            uri,
            date,
            ip: None,
            truncated: None,
            protocols: &[],
            concurrent_to: None,
        }
    }

    /// The same visit, another record of it.
    #[must_use]
    pub const fn concurrent_to(self, id: RecordId) -> Self {
        Meta {
            concurrent_to: Some(id),
            truncated: None,
            ..self
        }
    }
}

/// The stored response that a revisit stands for.
#[derive(Clone, Copy, Debug)]
pub struct RefersTo<'a> {
    pub uri: &'a str,
    pub date: Micros,
    pub record_id: Option<RecordId>,
    /// The digest of its payload; for a 304 it may be unknown.
    pub payload_digest: Option<Digest>,
    /// The server said 304; otherwise the payload was fetched and found identical.
    pub not_modified: bool,
}

/// A whole record, compressed.
#[derive(Clone, Debug)]
pub struct Member {
    pub bytes: Vec<u8>,
    pub record_id: RecordId,
    pub payload_digest: Option<Digest>,
    pub kind: Kind,
    pub uncompressed_len: usize,
}

/// How records are made. Cheap to copy.
#[derive(Clone, Copy, Debug)]
pub struct Builder {
    /// libdeflate level, 0 to 12.
    pub level: i32,
    /// Whether a response carries `WARC-Block-Digest` too. Off by default: it costs a second pass
    /// over the body, which the payload digest and the member's CRC already cover.
    pub block_digest: bool,
}

impl Default for Builder {
    fn default() -> Self {
        Builder {
            level: 1,
            block_digest: false,
        }
    }
}

const IDENTICAL: &str = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
const NOT_MODIFIED: &str = "http://netpreserve.org/warc/1.1/revisit/server-not-modified";

impl Builder {
    /// The first record of a file: who wrote it, and how. Pairs are written as `name: value`.
    #[must_use]
    pub fn warcinfo(&self, date: Micros, filename: &str, info: &[(String, String)]) -> Member {
        let mut block = Vec::new();
        pairs(
            &mut block,
            info.iter().map(|(k, v)| (k.as_str(), v.as_str())),
        );
        let draft = Draft::new(Kind::Warcinfo, "application/warc-fields", date);
        self.finish(&draft, &[&block], |fields| {
            fields.text("WARC-Filename", filename);
        })
    }

    /// What we sent.
    #[must_use]
    pub fn request(&self, meta: &Meta<'_>, head: &[u8]) -> Member {
        let draft = Draft::new(Kind::Request, "application/http;msgtype=request", meta.date);
        let head = head::archived(head);
        self.finish(&draft, &[&head], |fields| visit(fields, meta, None))
    }

    /// What came back: the head as on the wire, and the entity body after removal of the transfer
    /// coding, its content coding kept.
    #[must_use]
    pub fn response(&self, meta: &Meta<'_>, head: &[u8], body: &[u8]) -> Member {
        self.response_of(meta, head, body, sha1(body))
    }

    /// The same for a body whose digest is known, so that it is hashed once.
    #[must_use]
    pub fn response_of(
        &self,
        meta: &Meta<'_>,
        head: &[u8],
        body: &[u8],
        payload: Digest,
    ) -> Member {
        let mut draft = Draft::new(
            Kind::Response,
            "application/http;msgtype=response",
            meta.date,
        );
        draft.payload_digest = Some(payload);
        draft.block_digest = self.block_digest;
        let protocol = head::protocol(head);
        let head = head::archived(head);
        self.finish(&draft, &[&head, body], |fields| {
            visit(fields, meta, protocol);
        })
    }

    /// A response whose payload is stored already: only its head is kept.
    #[must_use]
    pub fn revisit(&self, meta: &Meta<'_>, head: &[u8], earlier: &RefersTo<'_>) -> Member {
        let mut draft = Draft::new(
            Kind::Revisit,
            "application/http;msgtype=response",
            meta.date,
        );
        draft.payload_digest = earlier.payload_digest;
        let protocol = head::protocol(head);
        let head = head::archived(head);
        let meta = &Meta {
            truncated: None,
            ..*meta
        };
        self.finish(&draft, &[&head], |fields| {
            visit(fields, meta, protocol);
            let profile = if earlier.not_modified {
                NOT_MODIFIED
            } else {
                IDENTICAL
            };
            fields.text("WARC-Profile", profile);
            fields.uri("WARC-Refers-To-Target-URI", earlier.uri);
            fields.date("WARC-Refers-To-Date", earlier.date);
            if let Some(id) = earlier.record_id {
                fields.id("WARC-Refers-To", id);
            }
            // The standard's word for a payload left out because it is identical.
            if !earlier.not_modified {
                fields.text("WARC-Truncated", Truncated::Length.as_str());
            }
        })
    }

    /// What we found in a page: a line `outlink: URL kind` per link.
    #[must_use]
    pub fn metadata<'l>(
        &self,
        meta: &Meta<'_>,
        outlinks: impl IntoIterator<Item = (&'l str, &'l str)>,
    ) -> Member {
        let mut block = Vec::new();
        for (url, kind) in outlinks {
            block.extend_from_slice(b"outlink: ");
            fields::uri(&mut block, url);
            block.push(b' ');
            fields::text(&mut block, kind);
            block.extend_from_slice(b"\r\n");
        }
        let draft = Draft::new(Kind::Metadata, "application/warc-fields", meta.date);
        self.finish(&draft, &[&block], |fields| visit(fields, meta, None))
    }

    /// What a policy found in a page: one JSON text.
    #[must_use]
    pub fn metadata_json(&self, meta: &Meta<'_>, json: &str) -> Member {
        let draft = Draft::new(Kind::Metadata, "application/json", meta.date);
        let block = [json.as_bytes()];
        self.finish(&draft, &block, |fields| visit(fields, meta, None))
    }

    fn finish(
        &self,
        draft: &Draft,
        block: &[&[u8]],
        special: impl FnOnce(&mut Fields<'_>),
    ) -> Member {
        let length = block.iter().map(|part| part.len()).sum();
        let (bytes, uncompressed_len) = compress::member(self.level, |out| {
            out.reserve(length + 1024);
            let mut fields = Fields(out);
            fields.begin(draft.kind.as_str());
            fields.id("WARC-Record-ID", draft.record_id);
            fields.date("WARC-Date", draft.date);
            special(&mut fields);
            if let Some(digest) = &draft.payload_digest {
                fields.digest("WARC-Payload-Digest", digest);
            }
            if draft.block_digest {
                fields.digest("WARC-Block-Digest", &block_digest(block));
            }
            fields.text("Content-Type", draft.content_type);
            fields.end(length);
            for part in block {
                out.extend_from_slice(part);
            }
            out.extend_from_slice(b"\r\n\r\n");
        });
        Member {
            bytes,
            record_id: draft.record_id,
            payload_digest: draft.payload_digest,
            kind: draft.kind,
            uncompressed_len,
        }
    }
}

/// What a record needs besides its own fields and its block.
struct Draft {
    kind: Kind,
    content_type: &'static str,
    date: Micros,
    record_id: RecordId,
    payload_digest: Option<Digest>,
    block_digest: bool,
}

impl Draft {
    /// Small blocks carry their digest: it costs little, and nothing else covers them.
    fn new(kind: Kind, content_type: &'static str, date: Micros) -> Self {
        Draft {
            kind,
            content_type,
            date,
            record_id: RecordId::new(date),
            payload_digest: None,
            block_digest: true,
        }
    }
}

fn block_digest(block: &[&[u8]]) -> Digest {
    use sha1::{Digest as _, Sha1};
    let mut hasher = Sha1::new();
    for part in block {
        hasher.update(part);
    }
    hasher.finalize().into()
}

fn pairs<'p>(block: &mut Vec<u8>, list: impl Iterator<Item = (&'p str, &'p str)>) {
    for (name, value) in list {
        fields::text(block, name);
        block.extend_from_slice(b": ");
        fields::text(block, value);
        block.extend_from_slice(b"\r\n");
    }
}

/// The fields that all records of a visit share.
fn visit(fields: &mut Fields<'_>, meta: &Meta<'_>, protocol: Option<&str>) {
    fields.uri("WARC-Target-URI", meta.uri);
    if let Some(ip) = meta.ip {
        fields.text("WARC-IP-Address", &ip.to_string());
    }
    if let Some(protocol) = protocol.filter(|name| !meta.protocols.contains(name)) {
        fields.text("WARC-Protocol", protocol);
    }
    for protocol in meta.protocols {
        fields.text("WARC-Protocol", protocol);
    }
    if let Some(id) = meta.concurrent_to {
        fields.id("WARC-Concurrent-To", id);
    }
    if let Some(reason) = meta.truncated {
        fields.text("WARC-Truncated", reason.as_str());
    }
}
