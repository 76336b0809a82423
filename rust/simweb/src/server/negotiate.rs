//! What the request's headers ask for: content codings and conditions.

use std::io::Write;
use std::time::UNIX_EPOCH;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    Identity,
    Gzip,
    Brotli,
    Zstd,
}

impl Coding {
    pub fn name(self) -> &'static str {
        match self {
            Coding::Identity => "identity",
            Coding::Gzip => "gzip",
            Coding::Brotli => "br",
            Coding::Zstd => "zstd",
        }
    }

    /// The body in this coding; identity where the encoder fails.
    pub fn encode(self, body: &[u8]) -> Option<Vec<u8>> {
        match self {
            Coding::Identity => None,
            Coding::Gzip => {
                let level = flate2::Compression::fast();
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
                encoder.write_all(body).ok()?;
                encoder.finish().ok()
            }
            Coding::Brotli => {
                let mut out = Vec::new();
                let mut encoder = brotli::CompressorWriter::new(&mut out, 4096, 1, 18);
                encoder.write_all(body).ok()?;
                drop(encoder);
                Some(out)
            }
            Coding::Zstd => zstd::bulk::compress(body, 1).ok(),
        }
    }
}

/// The first of `preferred` that the client accepts.
pub(crate) fn choose(accepted: &[u8], preferred: [Coding; 3]) -> Coding {
    let accepted = String::from_utf8_lossy(accepted).to_ascii_lowercase();
    let takes = |coding: Coding| {
        let mut wildcard = false;
        for entry in accepted.split(',') {
            let mut parts = entry.split(';').map(str::trim);
            let name = parts.next().unwrap_or("");
            let refused = parts.any(|part| {
                part.strip_prefix("q=")
                    .is_some_and(|q| q.parse::<f32>().is_ok_and(|q| q == 0.0))
            });
            if name == coding.name() {
                return !refused;
            }
            wildcard |= name == "*" && !refused;
        }
        wildcard
    };
    preferred
        .into_iter()
        .find(|&coding| takes(coding))
        .unwrap_or(Coding::Identity)
}

/// The conditions of a request.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Conditions<'a> {
    pub none_match: Option<&'a [u8]>,
    pub modified_since: Option<&'a [u8]>,
}

impl Conditions<'_> {
    /// The client's copy is good. An entity tag, where given, decides alone (RFC 9110, 13.2.2).
    pub fn unchanged(&self, tag: Option<&str>, modified: Option<f64>) -> bool {
        if let Some(list) = self.none_match {
            let Some(tag) = tag else { return false };
            let weak = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
            let list = String::from_utf8_lossy(list);
            return list.trim() == "*" || list.split(',').any(|entry| weak(entry) == weak(tag));
        }
        let (Some(since), Some(modified)) = (self.modified_since, modified) else {
            return false;
        };
        std::str::from_utf8(since)
            .ok()
            .and_then(|text| httpdate::parse_http_date(text).ok())
            .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
            .is_some_and(|since| modified.floor() <= since.as_secs_f64())
    }
}
