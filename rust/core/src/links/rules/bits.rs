//! A set of rules, as bits: each condition gives one, and what is in all of them matches.

/// The most rules of a list. A set is as many bits, so the work for a URL has a bound.
pub const MOST_RULES: usize = 1024;

const WORDS: usize = MOST_RULES / 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bits([u64; WORDS]);

impl Bits {
    pub const NONE: Bits = Bits([0; WORDS]);

    /// The rules with the first `count` numbers.
    pub fn first(count: usize) -> Bits {
        let mut bits = Bits::NONE;
        for number in 0..count.min(MOST_RULES) {
            bits.add(number);
        }
        bits
    }

    pub fn add(&mut self, number: usize) {
        if let Some(word) = self.0.get_mut(number / 64) {
            *word |= 1 << (number % 64);
        }
    }

    pub fn any(&self) -> bool {
        self.0.iter().any(|word| *word != 0)
    }

    pub fn join(&mut self, other: &Bits) {
        for (mine, others) in self.0.iter_mut().zip(&other.0) {
            *mine |= others;
        }
    }

    pub fn keep(&mut self, other: &Bits) {
        for (mine, others) in self.0.iter_mut().zip(&other.0) {
            *mine &= others;
        }
    }

    pub fn without(mut self, other: &Bits) -> Bits {
        for (mine, others) in self.0.iter_mut().zip(&other.0) {
            *mine &= !others;
        }
        self
    }

    /// The numbers in the set, lowest first.
    pub fn numbers(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(at, mut word)| {
            std::iter::from_fn(move || {
                if word == 0 {
                    return None;
                }
                let bit = word.trailing_zeros() as usize;
                word &= word - 1;
                Some(at * 64 + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_in_order() {
        let mut bits = Bits::first(2);
        for number in [64, 1023, 70] {
            bits.add(number);
        }
        bits.add(MOST_RULES);
        let numbers: Vec<usize> = bits.numbers().collect();
        assert_eq!(numbers, [0, 1, 64, 70, 1023]);
        let mut some = bits;
        some.keep(&Bits::first(64));
        assert_eq!(some, Bits::first(2));
        assert!(!some.without(&bits).any());
    }
}
