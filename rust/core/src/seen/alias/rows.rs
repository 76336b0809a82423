//! Keys and values of the space `meta` that begin with `alias/`.
//!
//! ```text
//! alias/found/  host key (8)                 a finding
//! alias/undone/ host key (8)                 a finding that was undone
//! alias/pair/   lower key (8) ++ higher (8)  the evidence on two hosts
//! alias/seed/   host key (8)                 a host of a seed, which is nobody's alias
//! alias/skip/   host key (8) ++ URL          a URL of an alias that was left out
//! ```

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::store::state::{Reads, Space, StateError};

pub(super) const FOUND_PREFIX: &[u8] = b"alias/found/";
pub(super) const UNDONE_PREFIX: &[u8] = b"alias/undone/";
pub(super) const PAIR_PREFIX: &[u8] = b"alias/pair/";
const SEED_PREFIX: &[u8] = b"alias/seed/";
const SKIP_PREFIX: &[u8] = b"alias/skip/";

pub(super) fn host_row(prefix: &[u8], key: u64) -> Vec<u8> {
    [prefix, &key.to_be_bytes()].concat()
}

pub(super) fn host_key(tail: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(tail.try_into().ok()?))
}

pub(super) fn pair_row((low, high): (u64, u64)) -> Vec<u8> {
    [PAIR_PREFIX, &low.to_be_bytes(), &high.to_be_bytes()].concat()
}

pub(super) fn pair_key(tail: &[u8]) -> Option<(u64, u64)> {
    let (low, high) = tail.split_at_checked(8)?;
    Some((host_key(low)?, host_key(high)?))
}

/// Where it is kept that a host is one of the seeds'.
pub(crate) fn seed_row(key: u64) -> Vec<u8> {
    host_row(SEED_PREFIX, key)
}

/// Where a URL of an alias is kept that was left out; with an empty URL the beginning of them all.
pub(crate) fn skip_key(host_key: u64, url: &str) -> Vec<u8> {
    [SKIP_PREFIX, &host_key.to_be_bytes(), url.as_bytes()].concat()
}

/// `None`: damaged.
pub(super) fn read_json<T: DeserializeOwned>(value: &[u8]) -> Option<T> {
    serde_json::from_slice(value).ok()
}

pub(super) fn to_json<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

/// Called with key and value; `None`: the row is damaged, `false`: enough.
type Visit<'a> = &'a mut dyn FnMut(&[u8], &[u8]) -> Option<bool>;

/// Calls `visit` with what follows the prefix until it gives `Some(false)`; `None`: damaged.
pub(super) fn scan(reads: &dyn Reads, prefix: &[u8], visit: Visit<'_>) -> Result<(), StateError> {
    // All prefixes end with a slash, and '0' is the byte after it.
    let mut end = prefix.to_vec();
    if let Some(last) = end.last_mut() {
        *last += 1;
    }
    let mut damaged = false;
    reads.scan(Space::Meta, prefix, &end, &mut |key, value| {
        let tail = key.get(prefix.len()..).unwrap_or_default();
        visit(tail, value).unwrap_or_else(|| {
            damaged = true;
            false
        })
    })?;
    if damaged {
        let text = "a record of the host aliases is damaged".to_owned();
        return Err(StateError::Format(text));
    }
    Ok(())
}
