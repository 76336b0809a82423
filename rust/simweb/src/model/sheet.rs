//! Writing many short texts fast. A piece is a text in a field of fixed size: the whole field is
//! copied and the pen moves on by the text's length, so that neither the choice of a text nor its
//! length makes a branch that the processor would guess wrongly.

use super::path::push_number;

/// Room that every pen has beyond what was asked for: the end of a field may be left over.
const SPARE: usize = 256;
/// Texts up to this length are copied as one field.
const SHORT: usize = 128;

/// A text of fewer than `N` bytes; the last byte of the field is its length.
#[derive(Debug, Clone, Copy)]
#[repr(align(16))]
pub(crate) struct Piece<const N: usize>([u8; N]);

impl<const N: usize> Piece<N> {
    /// The parts one after the other. What does not fit stops the build: only for constants.
    pub const fn join(parts: &[&str]) -> Piece<N> {
        let (mut field, mut length, mut part) = ([0; N], 0, 0);
        while part < parts.len() {
            let text = parts[part].as_bytes();
            let mut at = 0;
            while at < text.len() {
                assert!(length < N - 1, "a piece is too long for its field");
                field[length] = text[at];
                length += 1;
                at += 1;
            }
            part += 1;
        }
        field[N - 1] = length as u8;
        Piece(field)
    }

    /// A text made at run time; none if it does not fit.
    pub fn of(text: &[u8]) -> Option<Piece<N>> {
        let mut field = [0; N];
        field[..N - 1].get_mut(..text.len())?.copy_from_slice(text);
        field[N - 1] = u8::try_from(text.len()).ok()?;
        Some(Piece(field))
    }

    pub const EMPTY: Piece<N> = Piece([0; N]);

    pub fn text(&self) -> &[u8] {
        &self.0[..usize::from(self.0[N - 1])]
    }
}

/// A buffer that is used again and again, whose bytes past the end may be anything.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    bytes: Vec<u8>,
    end: usize,
}

impl Sheet {
    pub fn clear(&mut self) {
        self.end = 0;
    }

    pub fn text(&self) -> &[u8] {
        &self.bytes[..self.end]
    }

    /// A pen behind the text so far, good for that many bytes and each field's left-over.
    #[inline]
    pub fn pen(&mut self, room: usize) -> Pen<'_> {
        let needed = self.end + room + SPARE;
        if self.bytes.len() < needed {
            self.bytes.resize(needed.next_power_of_two(), 0);
        }
        Pen {
            room: &mut self.bytes[self.end..],
            at: 0,
        }
    }

    /// Takes over what a pen has written.
    #[inline]
    pub fn keep(&mut self, written: usize) {
        self.end += written;
    }
}

/// Writes into the room of a sheet.
#[derive(Debug)]
pub(crate) struct Pen<'a> {
    room: &'a mut [u8],
    at: usize,
}

impl Pen<'_> {
    pub fn written(&self) -> usize {
        self.at
    }

    #[inline(always)]
    pub fn put<const N: usize>(&mut self, piece: &Piece<N>) {
        self.room[self.at..self.at + N].copy_from_slice(&piece.0);
        self.at += usize::from(piece.0[N - 1]);
    }

    #[inline]
    pub fn put_all(&mut self, text: &[u8]) {
        self.room[self.at..self.at + text.len()].copy_from_slice(text);
        self.at += text.len();
    }

    /// Writes `pool[start..end]`; nothing where the end is before the start.
    #[inline(always)]
    pub fn put_part(&mut self, pool: &[u8], start: usize, end: usize) {
        let length = end.saturating_sub(start);
        if let Some(field) = pool.get(start..start + SHORT)
            && length <= SHORT
        {
            self.room[self.at..self.at + SHORT].copy_from_slice(field);
            self.at += length;
        } else if let Some(text) = pool.get(start..end) {
            self.put_all(text);
        }
    }

    /// Changes a letter every few words of what was written last, so that pages hardly share a run of words.
    #[inline(always)]
    pub fn vary(&mut self, length: usize, mut seed: u64) {
        vary(&mut self.room[self.at - length..self.at], &mut seed);
    }

    /// Writes a number; nothing for 0.
    #[inline(always)]
    pub fn put_number(&mut self, number: u64) {
        if number >= 100_000_000 {
            let mut digits = Vec::with_capacity(20);
            push_number(&mut digits, number);
            return self.put_all(&digits);
        }
        let (field, length) = eight_digits(number);
        self.room[self.at..self.at + 8].copy_from_slice(&field.to_le_bytes());
        self.at += length;
    }
}

/// Bytes from one changed letter to the next: a run of three words has two of them.
const STEP: usize = 8;

/// Changes letters of a text by a seed.
#[inline(always)]
pub fn vary(text: &mut [u8], seed: &mut u64) {
    for letter in text.iter_mut().step_by(STEP) {
        *seed = seed
            .wrapping_mul(0x5851_F42D_4C95_7F2D)
            .wrapping_add(0x1405_7B7E_F767_814F);
        if letter.is_ascii_lowercase() {
            *letter = b'a' + (*seed >> 59) as u8 % 26;
        }
    }
}

/// The decimal digits of a number below 10^8, the first in the lowest byte, and how many they are
/// without leading zeros. All digits are made at once, in the lanes of one word.
#[inline(always)]
fn eight_digits(number: u64) -> (u64, usize) {
    // 1 two lanes of four digits, then four of two, then eight of one
    let fours = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = hundreds | ((fours - hundreds * 100) << 16);
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    let ones = tens | ((twos - tens * 10) << 8);
    // 2 digits to characters, leading zeros out
    let zeros = ones.trailing_zeros() / 8;
    let text = (ones | 0x3030_3030_3030_3030).wrapping_shr(zeros * 8);
    (text, 8 - zeros as usize)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;

    #[test]
    fn numbers_are_those_of_the_standard_library() {
        let mut numbers: Vec<u64> = (0..200_000).collect();
        for power in (1..20).map(|power| 10u64.pow(power)) {
            numbers.extend([power - 1, power, power + 1, power / 7, power / 3 * 2]);
        }
        let mut sheet = Sheet::default();
        for number in numbers {
            sheet.clear();
            let mut pen = sheet.pen(20);
            pen.put_number(number);
            let written = pen.written();
            sheet.keep(written);
            let expected = if number == 0 {
                String::new()
            } else {
                number.to_string()
            };
            assert_eq!(sheet.text(), expected.as_bytes());
        }
    }

    #[test]
    fn parts_of_every_length_and_pieces_come_out_whole() {
        let pool: Vec<u8> = (0..1000u32).map(|byte| byte as u8).collect();
        for (start, end) in [
            (0, 0),
            (5, 4),
            (3, 131),
            (3, 132),
            (0, 1000),
            (990, 1000),
            (0, 127),
        ] {
            let mut sheet = Sheet::default();
            let mut pen = sheet.pen(1000);
            pen.put(&Piece::<16>::join(&["a", "bc"]));
            pen.put_part(&pool, start, end);
            pen.put(&Piece::<16>::of(b"fifteen letters").unwrap());
            let written = pen.written();
            sheet.keep(written);
            let middle = pool.get(start..end).unwrap_or_default();
            assert_eq!(
                sheet.text(),
                [b"abc".as_slice(), middle, b"fifteen letters"].concat()
            );
        }
        assert!(Piece::<16>::of(b"sixteen letters!").is_none());
    }
}
