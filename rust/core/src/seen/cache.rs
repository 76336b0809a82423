//! A table of popular keys in front of the store: fixed size, four keys to a cache line.

use super::UrlKey;

const WAYS: usize = 4;
const EMPTY: UrlKey = UrlKey([0; 16]);

/// A line of the processor's cache; the key used last comes first.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line([UrlKey; WAYS]);

/// Remembers some keys and forgets the least popular; never says yes to a key it was not given.
#[derive(Debug)]
pub struct Cache {
    lines: Box<[Line]>,
}

impl Cache {
    /// A table of at most `bytes`.
    pub fn new(bytes: usize) -> Cache {
        let count = (bytes / size_of::<Line>()).max(1);
        Cache {
            lines: vec![Line([EMPTY; WAYS]); count].into_boxed_slice(),
        }
    }

    fn line(&mut self, key: UrlKey) -> &mut [UrlKey; WAYS] {
        // The high half of the product spreads evenly over any number of lines.
        let index = (u128::from(key.spread()) * self.lines.len() as u128) >> 64;
        &mut self.lines[index as usize].0
    }

    /// Whether the key is here; if so it becomes the youngest of its line.
    pub fn touch(&mut self, key: UrlKey) -> bool {
        let line = self.line(key);
        match line.iter().position(|found| *found == key) {
            // The empty key marks a free place and is never held.
            Some(at) if key != EMPTY => {
                line[..=at].rotate_right(1);
                true
            }
            _ => false,
        }
    }

    /// Adds a key that is not here, in place of the oldest of its line.
    pub fn add(&mut self, key: UrlKey) {
        let line = self.line(key);
        line.rotate_right(1);
        line[0] = key;
    }

    /// Bytes in use, always all of them.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: u64) -> UrlKey {
        let mut bytes = [1; 16];
        bytes[8..].copy_from_slice(&n.to_be_bytes());
        UrlKey(bytes)
    }

    #[test]
    fn keeps_what_is_used_and_forgets_the_rest() {
        let mut cache = Cache::new(64);
        for n in 0..4 {
            assert!(!cache.touch(key(n)));
            cache.add(key(n));
        }
        assert!(cache.touch(key(0)));
        cache.add(key(9));
        assert!(cache.touch(key(0)));
        assert!(!cache.touch(key(1)), "the oldest went");
        assert!(cache.touch(key(2)) && cache.touch(key(9)));
    }

    #[test]
    fn the_empty_key_is_never_held() {
        let mut cache = Cache::new(1 << 12);
        assert!(!cache.touch(EMPTY));
        cache.add(EMPTY);
        assert!(!cache.touch(EMPTY));
        assert_eq!(cache.bytes(), 1 << 12);
    }
}
