//! Content codings: gzip, deflate (zlib and raw), br and zstd, also stacked, under hard limits.
//!
//! Takes a whole wire body and its codings; gives what could be decoded and says whether that is
//! all. Memory is bounded by the size limit for each of at most three layers.

use std::io::{self, Read};

use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

/// A coding that we can remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// Layers of coding that are removed; more is hostile.
const MAX_LAYERS: usize = 3;
/// The ratio is judged from this decoded size on: small pages may compress as well as they like.
const RATIO_FROM: usize = 1 << 20;
/// The largest window that a zstd frame may ask for, as a power of two (RFC 9659: 8 MiB).
const ZSTD_WINDOW_LOG: u32 = 23;

/// How decoding ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decoded {
    /// All of it.
    Whole,
    /// The compressed data ended early or broke; what came before is given.
    Broken,
    /// The size limit was reached; what came before is given.
    Limit,
    /// More decoded text per wire byte than the limit: a bomb.
    Bomb,
}

/// Reads the codings of a response, in the order in which they were applied.
pub(super) fn codings(tokens: &[String]) -> Result<Vec<Coding>, &'static str> {
    let mut codings = Vec::new();
    for token in tokens {
        match token.as_str() {
            "gzip" | "x-gzip" => codings.push(Coding::Gzip),
            "deflate" => codings.push(Coding::Deflate),
            "br" => codings.push(Coding::Brotli),
            "zstd" => codings.push(Coding::Zstd),
            "compress" | "x-compress" | "dcb" | "dcz" | "aws-chunked" => {
                return Err("a content coding that was not asked for");
            }
            // `identity`, `none`, `utf-8` …: names that are no coding change nothing.
            _ => {}
        }
        if codings.len() > MAX_LAYERS {
            return Err("too many layers of content coding");
        }
    }
    Ok(codings)
}

/// The text of a stored wire body, given its `Content-Encoding`, and whether that is all of it.
#[must_use]
pub fn decoded(wire: &[u8], content_encoding: &str, max_bytes: usize) -> (Vec<u8>, bool) {
    let tokens: Vec<String> = content_encoding
        .split(',')
        .map(|token| token.trim().to_ascii_lowercase())
        .collect();
    let Ok(codings) = codings(&tokens) else {
        return (Vec::new(), false);
    };
    if codings.is_empty() {
        return (
            wire[..wire.len().min(max_bytes)].to_vec(),
            wire.len() <= max_bytes,
        );
    }
    let (body, end) = decode(wire, &codings, max_bytes, usize::MAX);
    (body, end == Decoded::Whole)
}

/// Removes the codings, the last applied first.
pub(super) fn decode(
    wire: &[u8],
    codings: &[Coding],
    max_bytes: usize,
    max_ratio: usize,
) -> (Vec<u8>, Decoded) {
    let mut data = Vec::new();
    let mut verdict = Decoded::Whole;
    for (layer, &coding) in codings.iter().rev().enumerate() {
        let input: &[u8] = if layer == 0 { wire } else { &data };
        let most = max_bytes.min(RATIO_FROM.max(wire.len().saturating_mul(max_ratio)));
        let (output, mut end) = layer_decode(input, coding, most);
        if end == Decoded::Limit && most < max_bytes {
            end = Decoded::Bomb;
        }
        data = output;
        // The first layer that is not whole says why the rest is not.
        if verdict == Decoded::Whole {
            verdict = end;
        }
        if end == Decoded::Bomb {
            return (Vec::new(), Decoded::Bomb);
        }
    }
    (data, verdict)
}

fn layer_decode(input: &[u8], coding: Coding, most: usize) -> (Vec<u8>, Decoded) {
    if input.is_empty() {
        // No body at all is what many servers send with a coding on an empty page.
        return (Vec::new(), Decoded::Whole);
    }
    match coding {
        Coding::Gzip => {
            let (output, end) = drain(MultiGzDecoder::new(input), input.len(), most);
            if end == Decoded::Broken && !output.is_empty() {
                return retry_first_member(input, output, most);
            }
            (output, end)
        }
        Coding::Deflate => {
            let zlib = drain(ZlibDecoder::new(input), input.len(), most);
            if zlib.1 == Decoded::Broken && zlib.0.is_empty() {
                // Half the web reads "deflate" as the raw format.
                return drain(DeflateDecoder::new(input), input.len(), most);
            }
            zlib
        }
        Coding::Brotli => drain(
            brotli_decompressor::Decompressor::new(input, 4096),
            input.len(),
            most,
        ),
        Coding::Zstd => {
            let Ok(mut decoder) = zstd::stream::read::Decoder::with_buffer(input) else {
                return (Vec::new(), Decoded::Broken);
            };
            if decoder.window_log_max(ZSTD_WINDOW_LOG).is_err() {
                return (Vec::new(), Decoded::Broken);
            }
            drain(decoder, input.len(), most)
        }
    }
}

/// Bytes after a complete gzip member that are no further member are padding, not damage.
fn retry_first_member(input: &[u8], output: Vec<u8>, most: usize) -> (Vec<u8>, Decoded) {
    let mut rest = input;
    let (first, end) = drain(
        flate2::bufread::GzDecoder::new(&mut rest),
        input.len(),
        most,
    );
    if end == Decoded::Whole && first.len() == output.len() && !rest.starts_with(&[0x1f, 0x8b]) {
        (first, Decoded::Whole)
    } else {
        (output, Decoded::Broken)
    }
}

/// Reads to the end, to the limit, or to the first fault; what came before a fault is kept.
fn drain(mut reader: impl Read, input: usize, most: usize) -> (Vec<u8>, Decoded) {
    let mut output: Vec<u8> = Vec::new();
    let mut filled = 0;
    let mut step = input
        .saturating_mul(4)
        .clamp(4096, 1 << 20)
        .min(most.max(1));
    loop {
        if filled == output.len() {
            if filled >= most {
                // Whether it ends exactly here is one byte away.
                let mut probe = [0u8; 1];
                let end = match read(&mut reader, &mut probe) {
                    Ok(0) => Decoded::Whole,
                    Ok(_) => Decoded::Limit,
                    Err(_) => Decoded::Broken,
                };
                return (output, end);
            }
            output.resize(most.min(filled + step), 0);
            step = step.saturating_mul(2).min(4 << 20);
        }
        match read(&mut reader, &mut output[filled..]) {
            Ok(0) => {
                output.truncate(filled);
                return (output, Decoded::Whole);
            }
            Ok(count) => filled += count,
            Err(_) => {
                output.truncate(filled);
                return (output, Decoded::Broken);
            }
        }
    }
}

fn read(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use flate2::Compression;
    use flate2::read::{DeflateEncoder, GzEncoder, ZlibEncoder};

    fn all(mut reader: impl Read) -> Vec<u8> {
        let mut out = Vec::new();
        reader.read_to_end(&mut out).unwrap();
        out
    }

    fn gzip(data: &[u8]) -> Vec<u8> {
        all(GzEncoder::new(data, Compression::best()))
    }

    fn page() -> Vec<u8> {
        (0..5000u32)
            .flat_map(|n| format!("{} ", n * 7919 % 10007).into_bytes())
            .collect()
    }

    #[test]
    fn each_coding_and_a_stack() {
        let page = page();
        let gz = gzip(&page);
        let both = gzip(&all(ZlibEncoder::new(&page[..], Compression::fast())));
        for (wire, names) in [
            (gz.clone(), vec!["x-gzip"]),
            (
                all(ZlibEncoder::new(&page[..], Compression::fast())),
                vec!["deflate"],
            ),
            (
                all(DeflateEncoder::new(&page[..], Compression::fast())),
                vec!["deflate"],
            ),
            (zstd::encode_all(&page[..], 3).unwrap(), vec!["zstd"]),
            (both, vec!["deflate", "identity", "gzip"]),
            (
                [gz.clone(), b"\0\0\0padding".to_vec()].concat(),
                vec!["gzip"],
            ),
        ] {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            let (body, end) = decode(&wire, &codings(&names).unwrap(), 1 << 20, 200);
            assert_eq!(end, Decoded::Whole, "{names:?}");
            assert_eq!(body, page, "{names:?}");
        }
    }

    #[test]
    fn two_members_are_one_body() {
        let wire = [gzip(b"one "), gzip(b"two")].concat();
        assert_eq!(
            decode(&wire, &[Coding::Gzip], 100, 200),
            (b"one two".to_vec(), Decoded::Whole)
        );
    }

    #[test]
    fn early_end_gives_what_came() {
        let page = page();
        let wire = gzip(&page);
        let (body, end) = decode(&wire[..wire.len() / 2], &[Coding::Gzip], 1 << 20, 200);
        assert_eq!(end, Decoded::Broken);
        assert!(!body.is_empty() && page.starts_with(&body));
        assert_eq!(
            decode(b"<html>", &[Coding::Gzip], 100, 200).1,
            Decoded::Broken
        );
        assert_eq!(decode(b"", &[Coding::Gzip], 100, 200).1, Decoded::Whole);
    }

    #[test]
    fn limits_hold() {
        let bomb = gzip(&vec![0u8; 20 << 20]);
        let (body, end) = decode(&bomb, &[Coding::Gzip], 64 << 20, 100);
        assert_eq!((body.len(), end), (0, Decoded::Bomb));
        let (body, end) = decode(&bomb, &[Coding::Gzip], 4 << 20, 10_000);
        assert_eq!((body.len(), end), (4 << 20, Decoded::Limit));
        let nested = gzip(&bomb);
        let (body, end) = decode(&nested, &[Coding::Gzip; 2], 64 << 20, 100);
        assert_eq!((body.len(), end), (0, Decoded::Bomb));
        let exact = gzip(&[7u8; 1000]);
        assert_eq!(decode(&exact, &[Coding::Gzip], 1000, 200).1, Decoded::Whole);
        assert_eq!(decode(&exact, &[Coding::Gzip], 999, 200).1, Decoded::Limit);
        let four = vec!["gzip".to_owned(); 4];
        assert!(codings(&four).is_err());
    }
}
