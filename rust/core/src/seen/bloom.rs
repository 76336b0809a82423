//! `bloom`: a filter of fixed size. Never lets a URL pass twice; holds back some fresh ones, and
//! the more the fuller it is. Each URL sets its bits within one block of 64 bytes, so that a test
//! touches one line of the processor's cache and a new URL changes one small row of the store.

use super::pending::Batches;
use super::{Candidate, Kind, Mark, Seen, UrlKey};
use crate::state::{Reads, Space, StateError, Writes};

const WORDS: usize = 8;
const BLOCK_BITS: u64 = (WORDS * 64) as u64;
/// Bits set per URL.
const PROBES: u32 = 8;

type Block = [u64; WORDS];

/// How many blocks a filter of `bytes` has.
pub fn blocks_for(bytes: usize) -> usize {
    (bytes / size_of::<Block>()).max(1)
}

/// A blocked Bloom filter, kept in RAM and block by block in the store.
#[derive(Debug)]
pub struct Bloom {
    mark: Mark,
    blocks: Box<[Block]>,
    /// For each URL admitted: the block it changed and the bits that were new.
    batches: Batches<(usize, Block)>,
}

impl Bloom {
    pub(super) fn open(mark: Mark, bytes: usize, reads: &dyn Reads) -> Result<Bloom, StateError> {
        let mut blocks = vec![[0; WORDS]; blocks_for(bytes)].into_boxed_slice();
        let mut odd = 0usize;
        reads.scan(Space::Seen, &[], &[], &mut |key, value| {
            let index = key.try_into().map(u64::from_be_bytes);
            let place = index.ok().and_then(|i| blocks.get_mut(i as usize));
            match (place, decode(value)) {
                (Some(place), Some(block)) => {
                    *place = block;
                }
                _ => odd += 1,
            }
            true
        })?;
        if odd > 0 {
            return Err(StateError::Format(format!(
                "{odd} rows are not blocks of the filter"
            )));
        }
        Ok(Bloom {
            mark,
            blocks,
            batches: Batches::default(),
        })
    }

    /// The block of a key and its bits there.
    fn place(&self, key: UrlKey) -> (usize, Block) {
        let index = (u128::from(key.spread()) * self.blocks.len() as u128) >> 64;
        // The bits come from both halves: the second alone has chosen the block.
        let mut half = [0; 8];
        half.copy_from_slice(&key.0[..8]);
        let mut bits = mix(u64::from_be_bytes(half) ^ key.spread().rotate_left(32));
        let mut block = [0; WORDS];
        for probe in 0..PROBES {
            if probe == PROBES / 2 {
                bits = mix(bits);
            }
            let bit = bits % BLOCK_BITS;
            bits >>= 9;
            block[(bit / 64) as usize] |= 1 << (bit % 64);
        }
        (index as usize, block)
    }
}

fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

fn ones(block: &Block) -> u64 {
    block.iter().map(|word| u64::from(word.count_ones())).sum()
}

fn encode(block: &Block) -> Vec<u8> {
    block.iter().flat_map(|word| word.to_be_bytes()).collect()
}

fn decode(bytes: &[u8]) -> Option<Block> {
    if bytes.len() != size_of::<Block>() {
        return None;
    }
    let mut block = [0; WORDS];
    for (word, part) in block.iter_mut().zip(bytes.chunks_exact(8)) {
        *word = u64::from_be_bytes(part.try_into().ok()?);
    }
    Some(block)
}

impl Seen for Bloom {
    fn kind(&self) -> Kind {
        Kind::Bloom
    }

    fn admit(
        &mut self,
        urls: &[Candidate<'_>],
        _reads: &dyn Reads,
        writes: &mut Writes,
        fresh: &mut Vec<bool>,
    ) -> Result<(), StateError> {
        fresh.clear();
        for candidate in urls {
            let (index, bits) = self.place(candidate.key);
            let block = &mut self.blocks[index];
            let mut new = [0; WORDS];
            for ((new, bits), word) in new.iter_mut().zip(bits).zip(block.iter_mut()) {
                *new = bits & !*word;
                *word |= bits;
            }
            let added = new.iter().any(|word| *word != 0);
            fresh.push(added);
            if added {
                self.mark.write(writes);
                writes.put(Space::Seen, (index as u64).to_be_bytes(), encode(block));
                self.batches.add((index, new));
            }
        }
        Ok(())
    }

    fn seal(&mut self) -> u64 {
        self.mark.next_batch();
        self.batches.seal()
    }

    fn applied(&mut self, batch: u64) {
        self.batches.take_applied(batch);
    }

    fn forget_pending(&mut self) {
        self.mark.next_batch();
        for (index, bits) in self.batches.take_all_back() {
            for (word, bits) in self.blocks[index].iter_mut().zip(bits) {
                *word &= !bits;
            }
        }
    }

    fn ram_bytes(&self) -> u64 {
        (size_of_val(&*self.blocks) + self.batches.bytes()) as u64
    }

    /// Counted block by block, because blocks are not equally full: some 20 ms for 64 MiB.
    fn error_rate(&self) -> f64 {
        // The chance that two of a URL's bits fall on one place, so that it has one bit less.
        const MEET: f64 = (PROBES * (PROBES - 1) / 2) as f64 / BLOCK_BITS as f64;
        let held = |block: &Block| {
            let fill = ones(block) as f64 / BLOCK_BITS as f64;
            let but_one = fill.powi(PROBES as i32 - 1);
            but_one * (MEET + (1.0 - MEET) * fill)
        };
        self.blocks.iter().map(held).sum::<f64>() / self.blocks.len() as f64
    }
}
