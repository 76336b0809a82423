//! A chunk: some queued URLs of one cell that were written together, and its row in the index.
//!
//! A cell is 256 places that follow each other in one band of one host's queue: the keys that differ
//! in their last byte only. A place is live in one chunk at most, so the rows of a cell say where
//! each of its URLs is without a look at the segments.
//!
//! ```text
//! row key     cell (16) ++ segment (4) ++ offset (4)
//! row value   length of the block ++ URLs in it ++ places that are still queued
//! ```

use super::places::Places;
use crate::codec::{Reader, put_number};

/// Bytes of a queue key whose URL is kept in segments: host, band and sequence number.
const KEY: usize = 17;
/// The band byte of URLs that wait for a time; those are rows of the store.
const WAITING: u8 = 0xff;

/// 256 places of a queue: a key without its last byte.
pub(super) type Cell = [u8; KEY - 1];

/// The cell and the place in it that a key names; none: such a key is a row of the store.
pub(super) fn place_of(key: &[u8]) -> Option<(Cell, u8)> {
    let key: &[u8; KEY] = key.try_into().ok()?;
    let (place, cell) = key.split_last()?;
    (key[8] != WAITING).then_some((cell.try_into().ok()?, *place))
}

/// The key of a place.
pub(super) fn key_of(cell: &Cell, place: u8) -> [u8; KEY] {
    let mut key = [place; KEY];
    key[..KEY - 1].copy_from_slice(cell);
    key
}

/// Where a chunk's block is, and what of it is still queued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    pub cell: Cell,
    pub segment: u32,
    pub offset: u32,
    /// Bytes of the block.
    pub length: u32,
    /// URLs in the block, those that are no longer queued too.
    pub count: u16,
    pub live: Places,
}

pub(super) type RowKey = [u8; KEY - 1 + 8];

impl Chunk {
    pub fn row_key(&self) -> RowKey {
        row_key(&self.cell, self.segment, self.offset)
    }

    pub fn row_value(&self) -> Vec<u8> {
        let mut value = Vec::with_capacity(12);
        put_number(&mut value, u64::from(self.length));
        put_number(&mut value, u64::from(self.count));
        self.live.encode(&mut value);
        value
    }

    /// The chunk of a row; `None`: the row is damaged.
    pub fn of_row(key: &[u8], value: &[u8]) -> Option<Chunk> {
        let mut reader = Reader::new(key);
        let cell = reader.take(KEY - 1)?.try_into().ok()?;
        let segment = u32::from_be_bytes(reader.take(4)?.try_into().ok()?);
        let offset = u32::from_be_bytes(reader.take(4)?.try_into().ok()?);
        let mut value = Reader::new(value);
        Some(Chunk {
            cell,
            segment,
            offset,
            length: value.small()?,
            count: value.small().filter(|count| *count > 0)?,
            live: Places::decode(value.rest())?,
        })
    }

    /// The share of the block that is still of use: what its segment counts as live.
    pub fn live_bytes(&self) -> u64 {
        let count = u64::from(self.count.max(1));
        (u64::from(self.length) * u64::from(self.live.len())).div_ceil(count)
    }
}

pub(super) fn row_key(cell: &Cell, segment: u32, offset: u32) -> RowKey {
    let mut key = [0; KEY - 1 + 8];
    key[..16].copy_from_slice(cell);
    key[16..20].copy_from_slice(&segment.to_be_bytes());
    key[20..].copy_from_slice(&offset.to_be_bytes());
    key
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_ready_places_are_in_cells() {
        let ready = key_of(&[7; 16], 9);
        assert_eq!(place_of(&ready), Some(([7; 16], 9)));
        let mut waiting = ready;
        waiting[8] = WAITING;
        assert_eq!(place_of(&waiting), None);
        assert_eq!(place_of(&ready[..16]), None);
        assert_eq!(place_of(&[1; 25]), None);
    }

    proptest! {
        #[test]
        fn a_row_reads_back(
            cell: [u8; 16], segment: u32, offset: u32, length: u32, count in 1..=256_u16,
            places in proptest::collection::btree_set(any::<u8>(), 1..256),
        ) {
            let live: Places = places.into_iter().collect();
            let chunk = Chunk { cell, segment, offset, length, count, live };
            prop_assert_eq!(Chunk::of_row(&chunk.row_key(), &chunk.row_value()), Some(chunk));
        }

        #[test]
        fn damaged_rows_do_not_panic(key: Vec<u8>, value: Vec<u8>) {
            let _ = Chunk::of_row(&key, &value).map(|chunk| chunk.live_bytes());
        }
    }
}
