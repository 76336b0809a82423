//! Rows of the store that hold the fresh keys of a batch until they are in a run.
//!
//! ```text
//! row key     GROUPED + number of the batch
//! row value   groups: what the keys of a host begin with (4) ++ how many ++ the rest of each (12)
//! ```
//!
//! The links of a page lead to few hosts and come in the order of their keys, so a group is long, and the journal a
//! quarter shorter than with whole keys. Earlier versions wrote those, in rows with numbers without [`GROUPED`].

use super::UrlKey;
use crate::codec::{Reader, put_number};

/// Added to the numbers of rows whose keys are in groups.
pub const GROUPED: u64 = 1 << 63;

/// Bytes that the keys of a group share.
const SHARED: usize = 4;

/// The value of a row.
pub fn encode(keys: &[UrlKey]) -> Vec<u8> {
    let mut value = Vec::with_capacity(size_of_val(keys));
    for group in keys.chunk_by(|a, b| a.0[..SHARED] == b.0[..SHARED]) {
        value.extend(group.first().iter().flat_map(|key| &key.0[..SHARED]));
        put_number(&mut value, group.len() as u64);
        value.extend(group.iter().flat_map(|key| &key.0[SHARED..]));
    }
    value
}

/// The number of a row and its keys; none: it is damaged.
pub fn decode(row: &[u8], value: &[u8]) -> Option<(u64, Vec<UrlKey>)> {
    let number = u64::from_be_bytes(row.try_into().ok()?);
    if number < GROUPED {
        let (keys, rest) = value.as_chunks();
        return rest
            .is_empty()
            .then(|| (number, keys.iter().copied().map(UrlKey).collect()));
    }
    let mut keys = Vec::with_capacity(value.len() / (size_of::<UrlKey>() - SHARED));
    let mut rest = value;
    while !rest.is_empty() {
        let mut reader = Reader::new(rest);
        let shared = reader.take(SHARED)?;
        let count: usize = reader.small()?;
        let bytes = reader.take(count.checked_mul(size_of::<UrlKey>() - SHARED)?)?;
        for own in bytes.chunks_exact(size_of::<UrlKey>() - SHARED) {
            let mut key = UrlKey([0; size_of::<UrlKey>()]);
            key.0[..SHARED].copy_from_slice(shared);
            key.0[SHARED..].copy_from_slice(own);
            keys.push(key);
        }
        rest = reader.rest();
    }
    Some((number, keys))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn keys_read_back(keys in proptest::collection::vec((0..3_u8, any::<[u8; 12]>()), 0..200)) {
            let keys: Vec<UrlKey> = keys.into_iter().map(|(host, own)| {
                let mut key = [host; 16];
                key[4..].copy_from_slice(&own);
                UrlKey(key)
            }).collect();
            let row = GROUPED + 7;
            let found = decode(&row.to_be_bytes(), &encode(&keys));
            prop_assert_eq!(found, Some((row, keys.clone())));
            let whole: Vec<u8> = keys.iter().flat_map(|key| key.0).collect();
            prop_assert_eq!(decode(&7_u64.to_be_bytes(), &whole), Some((7, keys)));
        }

        #[test]
        fn damaged_rows_do_not_panic(row: u64, value: Vec<u8>) {
            let _ = decode(&row.to_be_bytes(), &value);
            let _ = decode(&(row | GROUPED).to_be_bytes(), &value);
        }
    }

    #[test]
    fn links_of_a_page_take_twelve_bytes_each() {
        let keys: Vec<UrlKey> = (0..50).map(|n| UrlKey([n / 50; 16])).collect();
        assert_eq!(encode(&keys).len(), 4 + 1 + 50 * 12);
    }
}
