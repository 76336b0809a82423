//! One gzip member from one buffer, with a compressor per thread.

use libdeflater::{CompressionLvl, Compressor};
use std::cell::RefCell;

/// Scratch space larger than this is given back after use: one huge page must not stay in RAM
/// once per thread.
const KEEP: usize = 1 << 20;

struct Scratch {
    compressor: Compressor,
    level: i32,
    record: Vec<u8>,
    member: Vec<u8>,
}

thread_local! {
    static SCRATCH: RefCell<Option<Scratch>> = const { RefCell::new(None) };
}

fn compressor(level: i32) -> Compressor {
    // Levels outside 0..=12 are refused by the library; 1 is the default of this crate.
    Compressor::new(CompressionLvl::new(level).unwrap_or(CompressionLvl::fastest()))
}

/// Lets `fill` write a record into an empty buffer, and gives its gzip member and plain length.
pub(super) fn member(level: i32, fill: impl FnOnce(&mut Vec<u8>)) -> (Vec<u8>, usize) {
    SCRATCH.with_borrow_mut(|slot| {
        let scratch = match slot {
            Some(scratch) if scratch.level == level => scratch,
            _ => slot.insert(Scratch {
                compressor: compressor(level),
                level,
                record: Vec::new(),
                member: Vec::new(),
            }),
        };
        scratch.record.clear();
        fill(&mut scratch.record);
        let bound = scratch.compressor.gzip_compress_bound(scratch.record.len());
        if scratch.member.len() < bound {
            scratch.member.resize(bound, 0);
        }
        // The buffer is as large as the bound, so there is always room.
        let length = scratch
            .compressor
            .gzip_compress(&scratch.record, &mut scratch.member)
            .unwrap_or(0);
        let bytes = scratch.member[..length].to_vec();
        let plain = scratch.record.len();
        if scratch.record.capacity() > KEEP {
            scratch.record = Vec::new();
            scratch.member = Vec::new();
        }
        (bytes, plain)
    })
}
