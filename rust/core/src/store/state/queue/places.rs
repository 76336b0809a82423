//! A set of places in a cell.

/// Runs of places that take less room than the bits of all.
const MOST_RUNS: usize = 15;
/// Says that all bits follow.
const BITS: u8 = 0xff;

/// Which of 256 places are in a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Places([u64; 4]);

impl Places {
    pub fn add(&mut self, place: u8) {
        self.0[usize::from(place >> 6)] |= 1 << (place & 63);
    }

    pub fn has(&self, place: u8) -> bool {
        self.0[usize::from(place >> 6)] & (1 << (place & 63)) != 0
    }

    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    pub fn meets(&self, other: &Places) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    pub fn with(mut self, other: &Places) -> Places {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
        self
    }

    pub fn without(mut self, other: &Places) -> Places {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a &= !b);
        self
    }

    /// The first place of the set from `from` on.
    pub fn next(&self, from: u8) -> Option<u8> {
        let mut word = usize::from(from >> 6);
        let mut bits = self.0[word] & (u64::MAX << (from & 63));
        loop {
            if bits != 0 {
                return Some((word as u8) << 6 | bits.trailing_zeros() as u8);
            }
            word += 1;
            bits = *self.0.get(word)?;
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = u8> + '_ {
        let mut from = Some(0);
        std::iter::from_fn(move || {
            let place = self.next(from?)?;
            from = place.checked_add(1);
            Some(place)
        })
    }

    /// As runs (number of runs, then first place and length less one of each), or as bits.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut runs: Vec<(u8, u8)> = Vec::new();
        for place in self.iter() {
            match runs.last_mut() {
                Some((first, more))
                    if u16::from(*first) + u16::from(*more) + 1 == u16::from(place) =>
                {
                    *more += 1;
                }
                _ => runs.push((place, 0)),
            }
        }
        if runs.len() > MOST_RUNS {
            out.push(BITS);
            out.extend(self.0.iter().flat_map(|word| word.to_be_bytes()));
        } else {
            out.push(runs.len() as u8);
            out.extend(runs.iter().flat_map(|&(first, more)| [first, more]));
        }
    }

    pub fn decode(bytes: &[u8]) -> Option<Places> {
        let (&kind, rest) = bytes.split_first()?;
        let mut places = Places::default();
        if kind == BITS {
            let (words, []) = rest.as_chunks::<8>() else {
                return None;
            };
            places.0 = <[[u8; 8]; 4]>::try_from(words)
                .ok()?
                .map(u64::from_be_bytes);
            return Some(places);
        }
        let (runs, []) = rest.as_chunks::<2>() else {
            return None;
        };
        if runs.len() != usize::from(kind) {
            return None;
        }
        for &[first, more] in runs {
            (first..=first.checked_add(more)?).for_each(|place| places.add(place));
        }
        Some(places)
    }
}

impl FromIterator<u8> for Places {
    fn from_iter<T: IntoIterator<Item = u8>>(items: T) -> Places {
        let mut places = Places::default();
        items.into_iter().for_each(|place| places.add(place));
        places
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn agrees_with_a_set(
            items in proptest::collection::btree_set(any::<u8>(), 0..256),
            others in proptest::collection::btree_set(any::<u8>(), 0..256),
            from: u8,
        ) {
            let places: Places = items.iter().copied().collect();
            let other: Places = others.iter().copied().collect();
            prop_assert_eq!(places.iter().collect::<BTreeSet<u8>>(), items.clone());
            prop_assert_eq!(places.len() as usize, items.len());
            prop_assert_eq!(places.is_empty(), items.is_empty());
            prop_assert_eq!(places.next(from), items.range(from..).next().copied());
            prop_assert_eq!(places.meets(&other), !items.is_disjoint(&others));
            let both: Places = items.union(&others).copied().collect();
            prop_assert_eq!(places.with(&other), both);
            let less: Places = items.difference(&others).copied().collect();
            prop_assert_eq!(places.without(&other), less);
            let mut bytes = Vec::new();
            places.encode(&mut bytes);
            prop_assert!(bytes.len() <= 33);
            prop_assert_eq!(Places::decode(&bytes), Some(places));
        }

        #[test]
        fn damaged_bytes_do_not_panic(bytes: Vec<u8>) {
            let _ = Places::decode(&bytes);
        }
    }

    #[test]
    fn neighbours_take_three_bytes() {
        let mut bytes = Vec::new();
        (10..60).collect::<Places>().encode(&mut bytes);
        assert_eq!(bytes, [1, 10, 49]);
        (0..=255).collect::<Places>().encode(&mut bytes);
        assert_eq!(bytes[3..], [1, 0, 255]);
    }
}
