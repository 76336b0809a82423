//! Signals of the visible text: its length and its SimHash.
//!
//! Takes: runs of text. Gives: a 64-bit SimHash over shingles of three words, and the length.
//! Guarantees: linear time, constant memory; the same words give the same value however the
//! markup cuts the runs between words, whatever the ASCII case, the white space and punctuation.
//!
//! A word is a run of ASCII letters and digits and of alphanumeric characters beyond ASCII; from
//! U+3000 on, where scripts put no spaces, each character is a word.

use super::print::TextPrint;
use super::word_mask::word_mask;

const HIGH: u64 = 0x8080_8080_8080_8080;
const CASE: u64 = 0x2020_2020_2020_2020;
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
pub(super) const MIX_2: u64 = 0xD6E8_FEB8_6659_FD93;

/// Multiplies and folds: every bit of the input reaches every bit of the result.
#[inline(always)]
pub(super) fn fold(a: u64, b: u64) -> u64 {
    let wide = u128::from(a) * u128::from(b);
    (wide as u64) ^ ((wide >> 64) as u64)
}

/// Eight bytes from `at`, zeros behind the end of the buffer.
#[inline(always)]
fn load(buffer: &[u8], at: usize) -> u64 {
    if let Some(chunk) = buffer.get(at..at + 8).and_then(|c| c.first_chunk::<8>()) {
        return u64::from_le_bytes(*chunk);
    }
    let mut padded = [0; 8];
    let rest = buffer.get(at..).unwrap_or_default();
    for (to, from) in padded.iter_mut().zip(rest) {
        *to = *from;
    }
    u64::from_le_bytes(padded)
}

/// The lowest `count` bytes set, all from 8 on.
#[inline(always)]
fn low_bytes(count: usize) -> u64 {
    const MASKS: [u64; 9] = [
        0,
        0xff,
        0xffff,
        0xff_ffff,
        0xffff_ffff,
        0xff_ffff_ffff,
        0xffff_ffff_ffff,
        0xff_ffff_ffff_ffff,
        u64::MAX,
    ];
    MASKS[count.min(8)]
}

/// The hash of the word `from..to`, ASCII case ignored, and whether it is ASCII.
#[inline(always)]
pub(super) fn hash_bytes(buffer: &[u8], from: usize, to: usize) -> (u64, bool) {
    let length = to - from;
    let first = load(buffer, from) & low_bytes(length);
    let second = load(buffer, from + 8) & low_bytes(length.saturating_sub(8));
    let mut seen = first | second;
    let mut hash = fold(
        first | CASE,
        (second | CASE).wrapping_mul(MIX) ^ length as u64,
    );
    if length > 16 {
        for at in (from + 16..to).step_by(8) {
            let chunk = load(buffer, at) & low_bytes(to - at);
            seen |= chunk;
            hash = fold(hash ^ (chunk | CASE), MIX_2);
        }
    }
    (hash, seen & HIGH == 0)
}

/// Counts, for each of 64 bit positions, how often it was set: the counters lie across words (a
/// plane per binary digit), and eight additions share one carry chain (Harley and Seal).
#[derive(Debug, Default)]
struct BitCounts {
    planes: [u64; 32],
    waiting: [u64; 8],
    total: usize,
}

#[inline(always)]
fn add3(a: u64, b: u64, c: u64) -> (u64, u64) {
    let half = a ^ b;
    ((a & b) | (half & c), half ^ c)
}

impl BitCounts {
    #[inline(always)]
    fn add(&mut self, value: u64) {
        self.waiting[self.total % 8] = value;
        self.total += 1;
        if self.total.is_multiple_of(8) {
            self.add_eight();
        }
    }

    fn add_eight(&mut self) {
        let w = &self.waiting;
        let [ones, twos, fours, ..] = self.planes;
        let (two_a, ones) = add3(ones, w[0], w[1]);
        let (two_b, ones) = add3(ones, w[2], w[3]);
        let (four_a, twos) = add3(twos, two_a, two_b);
        let (two_a, ones) = add3(ones, w[4], w[5]);
        let (two_b, ones) = add3(ones, w[6], w[7]);
        let (four_b, twos) = add3(twos, two_a, two_b);
        let (eights, fours) = add3(fours, four_a, four_b);
        self.planes[0] = ones;
        self.planes[1] = twos;
        self.planes[2] = fours;
        self.carry(3, eights);
    }

    fn carry(&mut self, from: usize, mut carry: u64) {
        for plane in &mut self.planes[from..] {
            if carry == 0 {
                break;
            }
            (carry, *plane) = (*plane & carry, *plane ^ carry);
        }
    }

    /// The bits that were set in more than half of the values.
    fn majority(mut self) -> u64 {
        for index in 0..self.total % 8 {
            self.carry(0, self.waiting[index]);
        }
        (0..64)
            .filter(|bit| {
                let count: u64 = (0..32).map(|p| (self.planes[p] >> bit & 1) << p).sum();
                count * 2 > self.total as u64
            })
            .fold(0, |hash, bit| hash | 1 << bit)
    }
}

/// Of the shingles one in 8 is a sample, by its value: the same ones wherever they stand …
const SAMPLED: u64 = 7;
/// … and of a page at most so many: those of some 4,000 words.
const SAMPLES: usize = 512;
/// Pictures of a page that count, each like so many samples: a page that only shows a picture is one.
const PICTURES: usize = 16;
const LIKE_SAMPLES: u32 = 4;
/// With fewer samples of shingles, the first words stand for the text.
const FEW: usize = 6;
const FIRST_WORDS: usize = 24;
/// With fewer samples without numbers, those with numbers count too, so many at most.
const SHORT: usize = 12;
const NUMBERED: usize = 32;

/// Collects the signals of one page.
#[derive(Debug)]
pub struct TextSignals {
    counts: BitCounts,
    samples: [u32; SAMPLES],
    sampled: usize,
    /// Samples with numbers in them: of a short page they count too.
    numbered: [u32; NUMBERED],
    numbered_count: usize,
    first_words: [u32; FIRST_WORDS],
    pictures: [u32; PICTURES],
    picture_count: usize,
    before: [u64; 2],
    /// Which of the last words are numbers, a bit each.
    numbers: u8,
    words: usize,
    bytes: usize,
    hashing: bool,
    print: TextPrint,
}

impl TextSignals {
    /// Signals of nothing yet; without `hashing` only the length is taken.
    #[must_use]
    pub fn new(hashing: bool) -> Self {
        TextSignals {
            counts: BitCounts::default(),
            samples: [0; SAMPLES],
            sampled: 0,
            numbered: [0; NUMBERED],
            numbered_count: 0,
            first_words: [0; FIRST_WORDS],
            pictures: [0; PICTURES],
            picture_count: 0,
            before: [0; 2],
            numbers: 0,
            words: 0,
            bytes: 0,
            hashing,
            print: TextPrint::default(),
        }
    }

    /// What two pages are compared by.
    #[must_use]
    pub fn print(&self) -> TextPrint {
        self.print
    }

    /// A picture of the page, as its address is written.
    pub fn picture(&mut self, address: &str) {
        let hash = self.print.picture(address);
        let known = &self.pictures[..self.picture_count];
        if self.hashing && known.len() < PICTURES && !known.contains(&hash) {
            self.pictures[self.picture_count] = hash;
            self.picture_count += 1;
        }
    }

    /// Bytes of all words, and one more for each word.
    #[must_use]
    pub fn text_bytes(&self) -> u32 {
        u32::try_from(self.bytes).unwrap_or(u32::MAX)
    }

    /// Samples of the shingles, and of the pictures: pages that share text share samples.
    #[must_use]
    pub fn samples(&self) -> Vec<u32> {
        let mut samples = self.samples_of_text();
        for picture in &self.pictures[..self.picture_count] {
            samples.extend((0..LIKE_SAMPLES).map(|n| picture.wrapping_add(n)));
        }
        samples
    }

    fn samples_of_text(&self) -> Vec<u32> {
        if self.sampled + self.numbered_count < FEW {
            self.first_words[..self.words.min(FIRST_WORDS)].to_vec()
        } else if self.sampled < SHORT {
            let numbered = &self.numbered[..self.numbered_count];
            [&self.samples[..self.sampled], numbered].concat()
        } else {
            self.samples[..self.sampled].to_vec()
        }
    }

    /// The SimHash; 0 where there was no word.
    #[must_use]
    pub fn simhash(mut self) -> u64 {
        // One or two words make no shingle: they stand for themselves.
        if self.words < 3 && self.words > 0 {
            let [older, last] = self.before;
            self.counts.add(fold(older ^ MIX, last | 1));
        }
        self.counts.majority()
    }

    /// Takes the text `from..to` of `buffer`; reading past `to` is what makes short runs cheap.
    pub fn feed(&mut self, buffer: &[u8], from: usize, to: usize) {
        let mut base = from;
        // Where the word began that reached the end of the block before, and whether there is one.
        let mut open = 0;
        let mut carried = 0;
        while base < to {
            let span = (to - base).min(64);
            let mask = word_mask(buffer, base, span);
            let before = mask << 1 | carried;
            let mut starts = mask & !before;
            let mut ends = !mask & before;
            if self.hashing {
                while ends != 0 {
                    // The first end belongs to the word carried over, if there is one.
                    let first = if carried != 0 {
                        open
                    } else {
                        let first = base + starts.trailing_zeros() as usize;
                        starts &= starts.wrapping_sub(1);
                        first
                    };
                    carried = 0;
                    self.word(buffer, first, base + ends.trailing_zeros() as usize);
                    ends &= ends - 1;
                }
                if starts != 0 {
                    open = base + starts.trailing_zeros() as usize;
                }
            } else {
                self.bytes += (mask.count_ones() + ends.count_ones()) as usize;
            }
            carried = mask >> 63;
            base += 64;
        }
        if carried != 0 && self.hashing {
            self.word(buffer, open, to);
        } else {
            self.bytes += carried as usize;
        }
    }

    #[inline(always)]
    fn word(&mut self, buffer: &[u8], from: usize, to: usize) {
        let (hash, ascii) = hash_bytes(buffer, from, to);
        if ascii {
            self.bytes += to - from + 1;
            // Numbers, dates and hashes are new on every page and say nothing: such shingles are no samples.
            let is_number = buffer[from].is_ascii_digit() || buffer[to - 1].is_ascii_digit();
            self.numbers = self.numbers << 1 | u8::from(is_number);
            self.print.word(buffer, from, to, hash);
            self.shingle(hash);
        } else {
            self.beyond_ascii(&buffer[from..to]);
        }
    }

    #[inline(always)]
    fn shingle(&mut self, word: u64) {
        let [older, last] = self.before;
        self.before = [last, word];
        if self.words < FIRST_WORDS {
            self.first_words[self.words] = (word >> 32) as u32;
        }
        self.words += 1;
        if self.words >= 3 {
            let three = older.rotate_left(43) ^ last.rotate_left(21) ^ word;
            let hash = fold(three, MIX | 1);
            self.counts.add(hash);
            if hash & SAMPLED == 0 {
                if self.numbers & 7 != 0 {
                    if self.numbered_count < NUMBERED {
                        self.numbered[self.numbered_count] = (hash >> 32) as u32;
                        self.numbered_count += 1;
                    }
                } else if self.sampled < SAMPLES {
                    self.samples[self.sampled] = (hash >> 32) as u32;
                    self.sampled += 1;
                }
            }
        }
    }

    /// A run that has characters beyond ASCII: cut again, by character.
    #[cold]
    fn beyond_ascii(&mut self, run: &[u8]) {
        let Ok(text) = std::str::from_utf8(run) else {
            return;
        };
        let mut from = 0;
        for (at, char) in text.char_indices() {
            let end = at + char.len_utf8();
            if !char.is_alphanumeric() {
                self.piece(&text[from..at]);
                from = end;
            } else if char >= '\u{3000}' {
                self.piece(&text[from..at]);
                self.piece(&text[at..end]);
                from = end;
            }
        }
        self.piece(&text[from..]);
    }

    /// A word that stood in a run with characters beyond ASCII; it may itself be ASCII, and then
    /// must give the value it gives elsewhere.
    fn piece(&mut self, word: &str) {
        if word.is_empty() {
            return;
        }
        let (hash, ascii) = hash_bytes(word.as_bytes(), 0, word.len());
        self.bytes += word.len() + 1;
        self.numbers <<= 1;
        let hash = if ascii {
            hash
        } else {
            word.chars().fold(MIX, |hash, char| {
                let lower = char.to_lowercase().next().unwrap_or(char);
                fold(hash ^ u64::from(lower), MIX_2)
            })
        };
        self.print.word(word.as_bytes(), 0, word.len(), hash);
        self.shingle(hash);
    }
}

/// In how many bits two SimHashes differ; pages within 3 are near duplicates.
#[must_use]
pub const fn simhash_distance(a: u64, b: u64) -> u32 {
    (a ^ b).count_ones()
}
