//! Text: a pool of made-up prose per language, already in the charset of its pages, so that
//! writing a page is copying.

use std::ops::Range;

use encoding_rs::{Encoding, GBK, SHIFT_JIS, UTF_8, WINDOWS_1252};

use super::hash::{Draw, Purpose};
use super::sheet::Piece;

/// Small enough to stay in a core's second cache, large enough that pages hardly overlap.
const POOL_BYTES: usize = 1 << 18;
const FOREIGN_POOL_BYTES: usize = 1 << 17;
const GRAIN: usize = 64;
/// Words for titles and links in each pool.
pub const TITLE_WORDS: usize = 64;
/// Short pieces come from the beginning of a pool, which stays in the first caches.
const SHORT_GRAINS: usize = 512;

/// Prose in one charset; begins and ends of copies are sentence boundaries.
#[derive(Debug)]
pub struct Pool {
    text: Vec<u8>,
    /// For each grain of the text the first sentence that begins at or after it.
    boundaries: Vec<u32>,
    /// Words for titles.
    pub words: Vec<Vec<u8>>,
    /// The same words, for links.
    pub(crate) link_words: [Piece<32>; TITLE_WORDS],
}

impl Pool {
    fn new(seed: u64, language: u64, encoding: &'static Encoding, size: usize) -> Pool {
        let mut draw = Draw::new(seed, Purpose::Pool, language, 0);
        let lexicon: Vec<String> = (0..2_000)
            .map(|rank| word(language, rank, &mut draw))
            .collect();
        let (mut text, mut starts) = (Vec::with_capacity(size + 1024), Vec::new());
        let gap = if matches!(language, 1 | 2) { "" } else { " " };
        let stop = if matches!(language, 1 | 2) {
            "。"
        } else {
            ". "
        };
        let mut sentence = String::new();
        while text.len() < size {
            starts.push(text.len());
            sentence.clear();
            for index in 0..5 + draw.below(12) {
                // Frequent words are frequent: ranks by a power law, as in real prose.
                let rank = draw.power_law(2_000, super::hash::reach(2_000, 20), 20) as usize;
                if index > 0 {
                    sentence.push_str(gap);
                }
                sentence.push_str(&lexicon[rank]);
            }
            sentence.push_str(stop);
            text.extend_from_slice(&encoding.encode(&sentence).0);
        }
        let mut boundaries = Vec::with_capacity(text.len() / GRAIN + 1);
        let mut next = 0;
        for grain in 0..text.len() / GRAIN {
            while next < starts.len() && starts[next] < grain * GRAIN {
                next += 1;
            }
            boundaries.push(starts.get(next).copied().unwrap_or(text.len()) as u32);
        }
        let words: Vec<Vec<u8>> = lexicon[200..200 + TITLE_WORDS]
            .iter()
            .map(|word| encoding.encode(word).0.into_owned())
            .collect();
        let mut link_words = [Piece::EMPTY; TITLE_WORDS];
        for (piece, word) in link_words.iter_mut().zip(&words) {
            // Three syllables at most: always fits.
            *piece = Piece::of(word).unwrap_or(Piece::EMPTY);
        }
        Pool {
            text,
            boundaries,
            words,
            link_words,
        }
    }

    /// The most bytes that one part can have.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.text.len() / 2
    }

    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// A part of about that many bytes, at most `longest`: whole sentences.
    #[inline]
    pub fn part(&self, draw: &mut Draw, length: usize) -> Range<usize> {
        if length < GRAIN / 2 {
            return 0..0;
        }
        let first = draw.below((self.boundaries.len() - length / GRAIN - 1) as u64) as usize;
        let start = self.boundaries[first] as usize;
        let last = ((start + length) / GRAIN).min(self.boundaries.len() - 1);
        start..(self.boundaries[last] as usize).max(start)
    }

    /// A short part of about that many bytes, from the beginning of the pool: where it begins and
    /// ends, nothing if the end is before the beginning. None for a length that is not short.
    #[inline(always)]
    pub(crate) fn short_part(&self, draw: &mut Draw, length: usize) -> Option<(usize, usize)> {
        let grains = length / GRAIN;
        if grains + 1 >= SHORT_GRAINS {
            return None;
        }
        let first = draw.below((SHORT_GRAINS - grains - 1) as u64) as usize;
        let start = self.boundaries[first] as usize;
        Some((start, self.boundaries[(start + length) / GRAIN] as usize))
    }

    /// Appends about that many bytes, whole sentences.
    #[inline]
    pub fn write(&self, draw: &mut Draw, length: usize, out: &mut Vec<u8>) {
        let mut left = length;
        while left >= GRAIN / 2 {
            let take = left.min(self.longest());
            out.extend_from_slice(&self.text[self.part(draw, take)]);
            left -= take;
        }
    }
}

/// The pools of a web; those of other languages only where charsets are on.
#[derive(Debug)]
pub struct Pools {
    pools: Vec<Pool>,
}

impl Pools {
    #[must_use]
    pub fn new(seed: u64, charsets: bool) -> Pools {
        let mut pools = vec![Pool::new(seed, 0, UTF_8, POOL_BYTES)];
        if charsets {
            pools.push(Pool::new(seed, 1, GBK, FOREIGN_POOL_BYTES));
            pools.push(Pool::new(seed, 2, SHIFT_JIS, FOREIGN_POOL_BYTES));
            pools.push(Pool::new(seed, 3, WINDOWS_1252, FOREIGN_POOL_BYTES));
            pools.push(Pool::new(seed, 3, UTF_8, FOREIGN_POOL_BYTES));
        }
        Pools { pools }
    }

    pub fn english(&self) -> &Pool {
        &self.pools[0]
    }

    /// The pool of a charset.
    pub fn of(&self, charset: &Charset) -> &Pool {
        self.pools.get(charset.pool).unwrap_or(&self.pools[0])
    }
}

/// In which charset a page is, and what it says about that.
#[derive(Debug, PartialEq, Eq)]
pub struct Charset {
    /// The charset that the bytes are in.
    pub actual: &'static str,
    /// What the header says.
    pub header: Option<&'static str>,
    /// What the document says.
    pub meta: Option<&'static str>,
    pool: usize,
}

const fn charset(
    actual: &'static str,
    header: Option<&'static str>,
    meta: Option<&'static str>,
    pool: usize,
) -> Charset {
    Charset {
        actual,
        header,
        meta,
        pool,
    }
}

/// The first is that of ordinary pages; the last two are declared wrongly.
pub const CHARSETS: [Charset; 8] = [
    charset("utf-8", Some("utf-8"), Some("utf-8"), 0),
    charset("gbk", Some("GBK"), Some("gbk"), 1),
    charset("gbk", None, Some("gb2312"), 1),
    charset("shift_jis", None, Some("Shift_JIS"), 2),
    charset("iso-8859-1", Some("ISO-8859-1"), None, 3),
    charset("utf-8", None, Some("UTF-8"), 4),
    charset("gbk", Some("utf-8"), Some("utf-8"), 1),
    charset("utf-8", Some("iso-8859-1"), None, 4),
];

fn word(language: u64, rank: usize, draw: &mut Draw) -> String {
    const COMMON: [&str; 16] = [
        "the", "of", "and", "to", "in", "a", "is", "that", "for", "it", "was", "on", "as", "with",
        "by", "at",
    ];
    const START: [&str; 16] = [
        "b", "br", "d", "f", "gl", "h", "k", "l", "m", "n", "p", "r", "s", "st", "t", "v",
    ];
    const MIDDLE: [&str; 8] = ["a", "e", "i", "o", "u", "ai", "ea", "ou"];
    const ACCENTED: [&str; 8] = ["é", "è", "ü", "ö", "à", "ç", "ñ", "o"];
    const END: [&str; 8] = ["", "n", "r", "s", "t", "l", "nd", "m"];
    let pick =
        |list: &[&'static str], draw: &mut Draw| list[draw.below(list.len() as u64) as usize];
    let mut out = String::new();
    match language {
        1 | 2 => {
            for _ in 0..1 + draw.below(3) {
                // The first ideographs of the block are in GBK; kana and some ideographs in Shift_JIS.
                let point = if language == 1 {
                    0x4e00 + draw.below(0x1000) as u32
                } else {
                    0x3042 + draw.below(0x50) as u32
                };
                let point = if (0x3097..0x30a1).contains(&point) {
                    0x3042
                } else {
                    point
                };
                out.push(char::from_u32(point).unwrap_or('の'));
            }
        }
        _ => {
            if language == 0 && rank < COMMON.len() {
                return COMMON[rank].to_owned();
            }
            for _ in 0..1 + draw.below(3) {
                out.push_str(pick(&START, draw));
                let accent = language == 3 && draw.below(4) == 0;
                out.push_str(pick(if accent { &ACCENTED } else { &MIDDLE }, draw));
                out.push_str(pick(&END, draw));
            }
        }
    }
    out
}
