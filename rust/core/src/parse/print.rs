//! The print of a text: equal where two pages say the same, whatever the time of day, and the tokens that a server
//! puts into each answer.

use super::simhash::{MIX_2, fold, hash_bytes};
use crate::canonical::is_token;

/// A word of so many letters and digits, both, or of so many digits, is a token: a session, a stamp.
const TOKEN: usize = 8;
const STAMP: usize = 10;
/// A parameter of a picture's address with such a value is none of the picture's.
const LONG_TOKEN: usize = 16;
/// Tokens of a page that are remembered.
const TOKENS: usize = 4;

/// Order counts, case does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextPrint {
    /// All words but times of day, and pictures.
    pub all: u64,
    /// The same without tokens.
    pub plain: u64,
    /// The first tokens; 0: none.
    tokens: [u32; TOKENS],
    pictures: u64,
}

impl TextPrint {
    #[inline(always)]
    pub(super) fn word(&mut self, buffer: &[u8], from: usize, to: usize, hash: u64) {
        let length = to - from;
        if length <= 2 && is_time(buffer, from, to) {
            return;
        }
        self.all = fold(self.all ^ hash, MIX_2);
        if length >= TOKEN && has_digits(&buffer[from..to]) {
            self.remember(hash);
            return;
        }
        self.plain = fold(self.plain ^ hash, MIX_2);
    }

    #[cold]
    fn remember(&mut self, hash: u64) {
        if let Some(place) = self.tokens.iter_mut().find(|token| **token == 0) {
            *place = short(hash);
        }
    }

    /// Gives the hash of the picture.
    pub(super) fn picture(&mut self, address: &str) -> u32 {
        let (path, query) = address.split_once('?').unwrap_or((address, ""));
        let mut sum = hash_of(path);
        for pair in query.split('&') {
            let value = pair.split_once('=').map_or("", |(_, value)| value);
            if !is_token(value, LONG_TOKEN) {
                sum = sum.wrapping_add(hash_of(pair));
            }
        }
        let hash = fold(sum, MIX_2);
        self.pictures = self.pictures.wrapping_add(hash);
        short(hash)
    }

    /// With the title of the page.
    #[must_use]
    pub(super) fn titled(mut self, title: &str) -> TextPrint {
        for word in title.split(|c: char| !c.is_alphanumeric()) {
            if !word.is_empty() {
                self.word(word.as_bytes(), 0, word.len(), hash_of(word));
            }
        }
        self.all = self.all.wrapping_add(self.pictures);
        self.plain = self.plain.wrapping_add(self.pictures);
        self
    }

    /// Whether a value stands in the text, as one of its first tokens.
    #[must_use]
    pub fn echoes(&self, value: &str) -> bool {
        let mut words = value.split(|c: char| !c.is_ascii_alphanumeric());
        words.any(|word| word.len() >= TOKEN && self.tokens.contains(&short(hash_of(word))))
    }
}

fn hash_of(text: &str) -> u64 {
    hash_bytes(text.as_bytes(), 0, text.len()).0
}

fn short(hash: u64) -> u32 {
    ((hash >> 32) as u32).max(1)
}

#[inline(always)]
fn has_digits(word: &[u8]) -> bool {
    let digits = word.iter().filter(|byte| byte.is_ascii_digit()).count();
    digits > 0 && (digits < word.len() || digits >= STAMP)
}

/// `12:34`, `12:34:56`: digits with a colon and further digits beside them.
#[inline(always)]
fn is_time(buffer: &[u8], from: usize, to: usize) -> bool {
    let is_digit = |at: usize| buffer.get(at).is_some_and(u8::is_ascii_digit);
    let is_colon = |at: usize| buffer.get(at) == Some(&b':');
    let after = is_colon(to) && is_digit(to + 1);
    let before = from >= 2 && is_colon(from - 1) && is_digit(from - 2);
    (after || before) && (from..to).all(is_digit)
}
