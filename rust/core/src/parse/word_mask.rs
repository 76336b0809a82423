//! Which bytes of a block belong to words, as bits: the innermost loop of the text signals.
//!
//! A byte belongs to a word if it is an ASCII letter or digit or part of a character beyond ASCII.
//! On x86-64 sixteen bytes are judged at once with instructions every such processor has;
//! elsewhere eight, by arithmetic on a word. A test holds the two equal.

/// A bit for each of the `span` (up to 64) bytes from `base`.
#[inline(always)]
pub fn word_mask(buffer: &[u8], base: usize, span: usize) -> u64 {
    if let Some(block) = buffer.get(base..base + 64) {
        return bits(block) & low_bits(span);
    }
    let mut padded = [0; 64];
    let rest = buffer.get(base..).unwrap_or_default();
    let length = rest.len().min(64);
    padded[..length].copy_from_slice(&rest[..length]);
    bits(&padded) & low_bits(span)
}

/// The lowest `count` bits set, all from 64 on.
#[inline(always)]
const fn low_bits(count: usize) -> u64 {
    if count >= 64 {
        u64::MAX
    } else {
        (1 << count) - 1
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn bits(block: &[u8]) -> u64 {
    let (chunks, _) = block.as_chunks::<16>();
    chunks.iter().enumerate().fold(0, |mask, (index, chunk)| {
        mask | sixteen(*chunk) << (index * 16)
    })
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn sixteen(chunk: [u8; 16]) -> u64 {
    use std::arch::x86_64::{
        _mm_add_epi8, _mm_cmplt_epi8, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x,
        _mm_set1_epi8,
    };
    let whole = i128::from_le_bytes(chunk);
    // SAFETY: SSE2 is part of the x86-64 baseline, and no memory is touched.
    #[allow(unused_unsafe, reason = "safe since Rust 1.87 where the feature is on")]
    let mask = unsafe {
        let bytes = _mm_set_epi64x((whole >> 64) as i64, whole as i64);
        let lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
        // `first..first + count`, moved to the lowest signed values, is one comparison.
        let within = |value, first: u8, count: i8| {
            let moved = _mm_add_epi8(value, _mm_set1_epi8(0x80_u8.wrapping_sub(first) as i8));
            _mm_cmplt_epi8(moved, _mm_set1_epi8(i8::MIN + count))
        };
        let ascii = _mm_or_si128(within(lower, b'a', 26), within(bytes, b'0', 10));
        // The highest bit of a byte beyond ASCII is set already.
        _mm_movemask_epi8(_mm_or_si128(ascii, bytes))
    };
    u64::from(mask as u16)
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn bits(block: &[u8]) -> u64 {
    portable(block)
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn portable(block: &[u8]) -> u64 {
    let (chunks, _) = block.as_chunks::<8>();
    chunks.iter().enumerate().fold(0, |mask, (index, chunk)| {
        mask | eight(u64::from_le_bytes(*chunk)) << (index * 8)
    })
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn eight(chunk: u64) -> u64 {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    const ONES: u64 = 0x0101_0101_0101_0101;
    let low = chunk & !HIGH;
    let lower = low | (0x20 * ONES);
    let from = |value: u64, first: u8| value + u64::from(0x80 - first) * ONES;
    let letters = from(lower, b'a') & !from(lower, b'z' + 1);
    let digits = from(low, b'0') & !from(low, b'9' + 1);
    let marks = (letters | digits | chunk) & HIGH;
    (marks >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

#[cfg(test)]
mod tests {
    use super::{bits, portable, word_mask};

    #[test]
    fn both_ways_know_the_same_words() {
        let every: Vec<u8> = (0..=255).cycle().take(512).collect();
        for from in 0..256 {
            let block = &every[from..from + 64];
            let plain = (0..64).fold(0_u64, |mask, at| {
                let word = block[at].is_ascii_alphanumeric() || block[at] >= 0x80;
                mask | u64::from(word) << at
            });
            assert_eq!(bits(block), plain);
            assert_eq!(portable(block), plain);
        }
    }

    #[test]
    fn a_block_is_cut_at_its_span_and_at_the_end_of_the_buffer() {
        assert_eq!(word_mask(b"abc def", 2, 64), 0b11101);
        assert_eq!(word_mask(b"abc def", 0, 2), 0b11);
        assert_eq!(word_mask(&[b'x'; 80], 3, 64), u64::MAX);
        assert_eq!(word_mask(b"", 9, 64), 0);
    }
}
