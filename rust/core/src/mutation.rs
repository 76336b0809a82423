//! A small deterministic fuzzer for tests: the same inputs on every machine, no tool needed.

/// Calls `target` on `rounds` inputs made from `seeds` by cutting, joining, repeating and
/// changing bytes. Which ones follows from the round alone.
pub(crate) fn mutate(seeds: &[&[u8]], rounds: u64, target: impl Fn(&[u8])) {
    for round in 0..rounds {
        let mut state = round.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut below = |limit: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state >> 16).unwrap_or(0) % limit.max(1)
        };
        let mut data = seeds[below(seeds.len())].to_vec();
        for _ in 0..=below(6) {
            let at = below(data.len() + 1);
            match below(6) {
                0 => data.truncate(at),
                1 => data.insert(at, u8::try_from(below(256)).unwrap_or(0)),
                2 if at < data.len() => data[at] ^= 1 << below(8),
                3 => {
                    let other = seeds[below(seeds.len())];
                    data.splice(at..at, other[below(other.len())..].iter().copied());
                }
                4 => {
                    let part = data[at..(at + below(12)).min(data.len())].repeat(1 + below(4));
                    data.splice(at..at, part);
                }
                _ => data
                    .drain(at..(at + below(4)).min(data.len()))
                    .for_each(drop),
            }
        }
        target(&data);
    }
}
