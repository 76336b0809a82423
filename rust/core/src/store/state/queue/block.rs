//! A block: the records of a chunk as they stand in a segment, packed.
//!
//! ```text
//! bytes after the checksum (4) ++ checksum (4) ++ cell (16) ++ packing (1) ++ body
//! body, maybe packed   number of records ++ places (1 each) ++ lengths of the records ++ records
//! ```
//!
//! A page's links share their referrer and most of their path, so they pack well together: that is
//! why records of one host that come together are kept together.

use xxhash_rust::xxh3::xxh3_64;

use super::chunk::Cell;
use crate::codec::{Reader, put_number};

/// Bytes before what the checksum is of.
const FRAME: usize = 8;
const PLAIN: u8 = 0;
const LZ4: u8 = 1;
/// Less than this does not pack.
const LEAST: usize = 96;

/// Bytes that must be read to know how long a block is and which cell it is of.
pub(super) const HEAD: usize = FRAME + size_of::<Cell>();

/// The records of a block, unpacked.
#[derive(Debug)]
pub(super) struct Block {
    body: Vec<u8>,
    /// Place, and where its record begins and ends.
    records: Vec<(u8, usize, usize)>,
}

/// Appends a block of these records, which are in the order of their places.
pub(super) fn append(out: &mut Vec<u8>, cell: &Cell, records: &[(u8, &[u8])]) {
    let texts: usize = records.iter().map(|(_, record)| record.len()).sum();
    let mut body = Vec::with_capacity(2 + 4 * records.len() + texts);
    put_number(&mut body, records.len() as u64);
    body.extend(records.iter().map(|(place, _)| place));
    for (_, record) in records {
        put_number(&mut body, record.len() as u64);
    }
    for (_, record) in records {
        body.extend_from_slice(record);
    }
    let start = out.len();
    out.extend_from_slice(&[0; FRAME]);
    out.extend_from_slice(cell);
    let packed = (body.len() >= LEAST).then(|| lz4_flex::block::compress_prepend_size(&body));
    match packed.filter(|packed| packed.len() < body.len()) {
        Some(packed) => {
            out.push(LZ4);
            out.extend_from_slice(&packed);
        }
        None => {
            out.push(PLAIN);
            out.extend_from_slice(&body);
        }
    }
    let length = (out.len() - start - FRAME) as u32;
    let sum = xxh3_64(&out[start + FRAME..]) as u32;
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    out[start + 4..start + FRAME].copy_from_slice(&sum.to_be_bytes());
}

/// How long a block is and which cell it is of, by its first [`HEAD`] bytes.
pub(super) fn head(bytes: &[u8]) -> Option<(u32, Cell)> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (_, rest) = rest.split_first_chunk::<4>()?;
    let (cell, _) = rest.split_first_chunk::<16>()?;
    let length = u32::from_be_bytes(*length).checked_add(FRAME as u32)?;
    Some((length, *cell))
}

impl Block {
    /// Unpacks a block; `None`: it is not the one that was written for this cell.
    pub fn read(bytes: &[u8], cell: &Cell) -> Option<Block> {
        let (length, of) = head(bytes)?;
        let sum = u32::from_be_bytes(bytes.get(4..FRAME)?.try_into().ok()?);
        let rest = &bytes[FRAME..];
        if length as usize != bytes.len() || of != *cell || sum != xxh3_64(rest) as u32 {
            return None;
        }
        let (&packing, body) = rest[size_of::<Cell>()..].split_first()?;
        let body = match packing {
            PLAIN => body.to_vec(),
            LZ4 => lz4_flex::block::decompress_size_prepended(body).ok()?,
            _ => return None,
        };
        let records = records(&body)?;
        Some(Block { body, records })
    }

    /// The record at a place.
    pub fn get(&self, place: u8) -> Option<&[u8]> {
        let at = self.records.binary_search_by_key(&place, |(at, ..)| *at);
        let &(_, from, to) = self.records.get(at.ok()?)?;
        self.body.get(from..to)
    }
}

fn records(body: &[u8]) -> Option<Vec<(u8, usize, usize)>> {
    let mut reader = Reader::new(body);
    let count: usize = reader.small()?;
    let places = reader.take(count)?;
    let lengths: Option<Vec<usize>> = (0..count).map(|_| reader.small()).collect();
    let mut from = body.len() - reader.rest().len();
    let mut records = Vec::with_capacity(count);
    for (place, length) in places.iter().zip(lengths?) {
        let to = from.checked_add(length).filter(|to| *to <= body.len())?;
        records.push((*place, from, to));
        from = to;
    }
    Some(records)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    const CELL: Cell = [3; 16];

    fn written(records: &BTreeMap<u8, Vec<u8>>) -> Vec<u8> {
        let list: Vec<(u8, &[u8])> = records.iter().map(|(at, r)| (*at, r.as_slice())).collect();
        let mut out = b"before".to_vec();
        append(&mut out, &CELL, &list);
        out.split_off(6)
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(
            records in proptest::collection::btree_map(
                any::<u8>(), proptest::collection::vec(any::<u8>(), 0..80), 1..40,
            ),
        ) {
            let bytes = written(&records);
            prop_assert_eq!(head(&bytes), Some((bytes.len() as u32, CELL)));
            let block = Block::read(&bytes, &CELL).unwrap();
            for place in 0..=255 {
                prop_assert_eq!(block.get(place), records.get(&place).map(Vec::as_slice));
            }
            prop_assert!(Block::read(&bytes, &[4; 16]).is_none());
        }

        #[test]
        fn a_changed_byte_is_noticed(at in 0..400_usize, by in 1..=255_u8) {
            let records = (0..20).map(|place| (place, vec![place; 30])).collect();
            let mut bytes = written(&records);
            let at = at % bytes.len();
            bytes[at] ^= by;
            prop_assert!(Block::read(&bytes, &CELL).is_none());
        }

        #[test]
        fn damaged_bytes_do_not_panic(bytes: Vec<u8>) {
            let _ = Block::read(&bytes, &CELL);
            let _ = records(&bytes);
        }
    }

    #[test]
    fn links_of_a_page_pack_well() {
        let from = "https://www.example.org/news/2026/an-article-of-some-length.html";
        let records = (0..50).map(|n| {
            (
                n,
                format!("{from}/news/story-{n}-{}", u32::from(n) * 37).into(),
            )
        });
        let bytes = written(&records.collect());
        assert!(bytes.len() < 50 * 20, "{}", bytes.len());
    }
}
