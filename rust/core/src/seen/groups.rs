//! Which groups of hosts a run has keys of: a Bloom filter of what the keys of a group begin with.
//!
//! A quarter of a bit for each key, as much RAM as the fences of the run. With 20 keys of each group in a run it says "none" of nine in ten
//! groups that are not there, with 50 of 99 in 100. Where groups have few keys it is full, and says "maybe" of all.

use super::UrlKey;

/// Keys for each bit.
const KEYS_PER_BIT: u64 = 4;
const PROBES: u32 = 3;

#[derive(Debug)]
pub struct Groups {
    words: Box<[u64]>,
    last: Option<u32>,
}

/// Asks for keys in their order: those of a group follow each other.
#[derive(Debug)]
pub struct Asked<'a> {
    groups: &'a Groups,
    last: Option<(u32, bool)>,
}

fn words_for(keys: u64) -> usize {
    keys.div_ceil(KEYS_PER_BIT * 64).max(1) as usize
}

fn group_of(key: UrlKey) -> u32 {
    let [a, b, c, d, ..] = key.0;
    u32::from_be_bytes([a, b, c, d])
}

impl Groups {
    /// No groups yet; for a run of at most so many keys.
    pub fn for_keys(keys: u64) -> Groups {
        Groups {
            words: vec![0; words_for(keys)].into_boxed_slice(),
            last: None,
        }
    }

    /// The word and the bit of each probe.
    fn places(&self, group: u32) -> impl Iterator<Item = (usize, u64)> + use<> {
        let bits = self.words.len() as u64 * 64;
        // The group is a hash already, but its first bits say where in the run it is.
        let mut hash = u64::from(group).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (0..PROBES).map(move |_| {
            hash = (hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let bit = ((u128::from(hash) * u128::from(bits)) >> 64) as u64;
            ((bit / 64) as usize, 1 << (bit % 64))
        })
    }

    /// Adds the group of a key; keys come in order.
    pub fn add(&mut self, key: UrlKey) {
        let group = group_of(key);
        if self.last == Some(group) {
            return;
        }
        self.last = Some(group);
        for (word, bit) in self.places(group) {
            self.words[word] |= bit;
        }
    }

    /// For a look-up of keys that come in order.
    pub fn ask(&self) -> Asked<'_> {
        Asked {
            groups: self,
            last: None,
        }
    }

    /// Bytes for so many keys.
    pub fn bytes_for(keys: u64) -> usize {
        words_for(keys) * size_of::<u64>()
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.words)
    }
}

impl Asked<'_> {
    /// False: no key of this one's group was added.
    pub fn may_have(&mut self, key: UrlKey) -> bool {
        let group = group_of(key);
        match self.last {
            Some((last, has)) if last == group => has,
            _ => {
                let groups = self.groups;
                let mut places = groups.places(group);
                let has = places.all(|(word, bit)| groups.words[word] & bit != 0);
                self.last = Some((group, has));
                has
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(group: u32, own: u8) -> UrlKey {
        let mut key = [own; 16];
        key[..4].copy_from_slice(&group.wrapping_mul(0x9e37_79b1).to_be_bytes());
        UrlKey(key)
    }

    #[test]
    fn groups_that_were_added_are_there_and_most_others_are_not() {
        for per_group in [1, 20, 50] {
            let mut groups = Groups::for_keys(10_000 * per_group);
            for group in 0..10_000 {
                for own in 0..per_group as u8 {
                    groups.add(key(group, own));
                }
            }
            assert_eq!(groups.bytes() as u64, 10_000 * per_group / 32 / 8 * 8 + 8);
            let mut asked = groups.ask();
            assert!((0..10_000).all(|group| asked.may_have(key(group, 7))));
            let taken = (10_000..20_000)
                .filter(|group| asked.may_have(key(*group, 7)))
                .count();
            match per_group {
                1 => assert!(taken > 9_000, "{taken}"),
                20 => assert!(taken < 1_500, "{taken}"),
                _ => assert!(taken < 200, "{taken}"),
            }
        }
    }
}
