//! Compact numbers and texts for records. Reading never panics: damaged bytes give `None`.

/// Appends a number, seven bits a byte.
pub(crate) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends a length and the bytes.
pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Reads what the functions above wrote.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(rest: &'a [u8]) -> Reader<'a> {
        Reader { rest }
    }

    pub fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    pub fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// A number that must fit a smaller type.
    pub fn small<T: TryFrom<u64>>(&mut self) -> Option<T> {
        T::try_from(self.number()?).ok()
    }

    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let count = self.small()?;
        self.take(count)
    }

    pub fn rest(self) -> &'a [u8] {
        self.rest
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_was_written_is_read(number: u64, text: Vec<u8>) {
            let mut out = Vec::new();
            put_number(&mut out, number);
            put_bytes(&mut out, &text);
            let mut reader = Reader::new(&out);
            prop_assert_eq!(reader.number(), Some(number));
            prop_assert_eq!(reader.bytes(), Some(text.as_slice()));
            prop_assert!(reader.rest().is_empty());
        }

        #[test]
        fn damaged_bytes_do_not_panic(bytes: Vec<u8>) {
            let mut reader = Reader::new(&bytes);
            let _ = reader.number();
            let _ = reader.bytes();
            let _ = reader.small::<u8>();
        }
    }
}
