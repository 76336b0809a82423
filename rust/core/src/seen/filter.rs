//! A Bloom filter in blocks of 64 bytes: a test touches one line of the processor's cache.

use super::UrlKey;

const WORDS: usize = 8;
const BLOCK_BITS: u64 = (WORDS * 64) as u64;

/// The bits of one block.
pub type Block = [u64; WORDS];

/// Says "never given" for sure, or "maybe given".
#[derive(Debug)]
pub struct Filter {
    blocks: Box<[Block]>,
    /// Bits set per key.
    probes: u32,
}

/// How many blocks a filter of `bytes` has.
pub fn blocks_for(bytes: usize) -> usize {
    (bytes / size_of::<Block>()).max(1)
}

impl Filter {
    /// An empty filter of at most `bytes`.
    pub fn new(bytes: usize, probes: u32) -> Filter {
        Filter {
            blocks: vec![[0; WORDS]; blocks_for(bytes)].into_boxed_slice(),
            probes,
        }
    }

    /// Twice as large, without a look at the keys: a block's keys may be in either of the two that follow from it, so
    /// both have its bits. What comes from now on is spread over both.
    fn double(&mut self) {
        let mut twice = Vec::with_capacity(2 * self.blocks.len());
        for block in &self.blocks {
            twice.extend_from_slice(&[*block, *block]);
        }
        self.blocks = twice.into_boxed_slice();
    }

    /// The block of a key and its bits there.
    fn place(&self, key: UrlKey) -> (usize, Block) {
        let index = (u128::from(key.spread()) * self.blocks.len() as u128) >> 64;
        // The bits come from both halves: the second alone has chosen the block.
        let mut half = [0; 8];
        half.copy_from_slice(&key.0[..8]);
        let mut bits = mix(u64::from_be_bytes(half) ^ key.spread().rotate_left(32));
        let mut block = [0; WORDS];
        for probe in 0..self.probes {
            if probe % 4 == 0 {
                bits = mix(bits.wrapping_add(1));
            }
            let bit = bits % BLOCK_BITS;
            bits >>= 9;
            block[(bit / 64) as usize] |= 1 << (bit % 64);
        }
        (index as usize, block)
    }

    /// Whether the key may have been given.
    pub fn contains(&self, key: UrlKey) -> bool {
        let (index, bits) = self.place(key);
        let block = &self.blocks[index];
        bits.iter().zip(block).all(|(bits, word)| bits & !word == 0)
    }

    /// Adds a key; gives its block and the bits that were new, none if it may have been given.
    pub fn insert(&mut self, key: UrlKey) -> Option<(usize, Block)> {
        let (index, mut bits) = self.place(key);
        for (bits, word) in bits.iter_mut().zip(&mut self.blocks[index]) {
            let new = *bits & !*word;
            *word |= *bits;
            *bits = new;
        }
        bits.iter().any(|word| *word != 0).then_some((index, bits))
    }

    /// Takes back bits that [`Filter::insert`] said were new; latest first.
    pub fn take_back(&mut self, index: usize, bits: &Block) {
        for (word, bits) in self.blocks[index].iter_mut().zip(bits) {
            *word &= !bits;
        }
    }

    /// A block, for the store.
    pub fn encoded(&self, index: usize) -> Vec<u8> {
        let words = self.blocks[index].iter();
        words.flat_map(|word| word.to_be_bytes()).collect()
    }

    /// Sets a block from the store; false if it is none.
    pub fn decode(&mut self, index: u64, bytes: &[u8]) -> bool {
        let Some(block) = usize::try_from(index)
            .ok()
            .and_then(|index| self.blocks.get_mut(index))
            .filter(|_| bytes.len() == size_of::<Block>())
        else {
            return false;
        };
        for (word, part) in block.iter_mut().zip(bytes.chunks_exact(8)) {
            let mut whole = [0; 8];
            whole.copy_from_slice(part);
            *word = u64::from_be_bytes(whole);
        }
        true
    }

    /// The share of keys never given that it would take for given. Counted block by block,
    /// because blocks are not equally full: some 20 ms for 64 MiB.
    pub fn error_rate(&self) -> f64 {
        // The chance that two of a key's bits fall on one place, so that it has one bit less.
        let pairs = f64::from(self.probes * (self.probes - 1) / 2);
        let meet = pairs / BLOCK_BITS as f64;
        let held = |block: &Block| {
            let ones: u32 = block.iter().map(|word| word.count_ones()).sum();
            let fill = f64::from(ones) / BLOCK_BITS as f64;
            fill.powi(self.probes as i32 - 1) * (meet + (1.0 - meet) * fill)
        };
        self.blocks.iter().map(held).sum::<f64>() / self.blocks.len() as f64
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.blocks)
    }
}

/// A filter that is small while there are few keys. In parts that grow one after the other: memory that is new
/// takes the system time, and a batch waits for it.
#[derive(Debug)]
pub struct GrowingFilter {
    parts: Vec<Part>,
}

#[derive(Debug)]
struct Part {
    filter: Filter,
    keys: usize,
    /// Bits for each key below which it grows.
    roomy: usize,
    most: usize,
}

/// Parts, of which each has the keys with the same last bits.
const PARTS: usize = 64;
/// Bits for each key that a part has at least when it grows: so many that bits copied to two blocks do no harm.
const ROOMY: usize = 200;
/// Times that a part doubles.
const DOUBLINGS: u32 = 6;

impl GrowingFilter {
    /// An empty filter that will have `most` bytes.
    pub fn new(most: usize, probes: u32) -> GrowingFilter {
        let most = most / PARTS;
        let part = |number| Part {
            filter: Filter::new(most >> DOUBLINGS, probes),
            keys: 0,
            roomy: ROOMY + ROOMY * number / PARTS,
            most,
        };
        GrowingFilter {
            parts: (0..PARTS).map(part).collect(),
        }
    }

    /// The last bits choose the part, the first ones the block in it.
    fn part_of(key: UrlKey) -> usize {
        key.spread() as usize % PARTS
    }

    /// Adds a key.
    pub fn insert(&mut self, key: UrlKey) {
        let part = &mut self.parts[Self::part_of(key)];
        part.keys += 1;
        let bytes = part.filter.bytes();
        if part.keys.saturating_mul(part.roomy) / 8 > bytes && 2 * bytes <= part.most {
            part.filter.double();
        }
        part.filter.insert(key);
    }

    /// Whether the key may have been given.
    pub fn contains(&self, key: UrlKey) -> bool {
        self.parts[Self::part_of(key)].filter.contains(key)
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        self.parts.iter().map(|part| part.filter.bytes()).sum()
    }
}

fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: u64) -> UrlKey {
        let mut key = [0; 16];
        key[..8].copy_from_slice(&mix(n + 1).to_be_bytes());
        key[8..].copy_from_slice(&mix(!n).to_be_bytes());
        UrlKey(key)
    }

    #[test]
    fn a_filter_that_grows_forgets_nothing_and_is_hardly_worse() {
        const MOST: usize = 1 << 20;
        const KEYS: u64 = 1 << 20;
        let mut growing = GrowingFilter::new(MOST, 4);
        let mut whole = Filter::new(MOST, 4);
        assert!(growing.bytes() <= MOST / 32);
        for n in 0..KEYS {
            growing.insert(key(n));
            whole.insert(key(n));
        }
        assert_eq!(growing.bytes(), MOST);
        assert!((0..KEYS).all(|n| growing.contains(key(n))));
        let taken =
            |found: &dyn Fn(UrlKey) -> bool| (KEYS..2 * KEYS).filter(|n| found(key(*n))).count();
        let (grown, fixed) = (
            taken(&|key| growing.contains(key)),
            taken(&|key| whole.contains(key)),
        );
        assert!(grown < fixed + fixed / 2, "{grown} instead of {fixed}");
        assert!(fixed < KEYS as usize / 20, "{fixed}");
    }
}
