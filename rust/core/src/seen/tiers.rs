//! Which runs are merged: runs of like size are a tier, each tier many times as large as the one below.

use std::collections::BTreeSet;

/// Runs of like size that are merged into one: a key is written anew once for each time that the
/// number of keys has grown by this factor. Fewer: more bytes written; more: more runs to look into.
pub const FAN_IN: usize = 8;

/// Which runs may be merged, the best first: from where on in a list of counts, the largest first. Those of the highest
/// tier that has enough with all that are smaller, which costs little more; where there is no room for them those of a
/// lower full tier, and at last as few as make sense. Sizes of one tier differ by less than the fan-in.
pub fn choices(counts: &[u64]) -> Vec<usize> {
    let first_of = |of: u32| counts.partition_point(|count| tier(*count) > of);
    let like = |of: u32| counts.iter().filter(|count| tier(**count) == of).count();
    let tiers: BTreeSet<u32> = counts.iter().map(|count| tier(*count)).collect();
    let full = tiers.into_iter().rev().filter(|of| like(*of) >= FAN_IN);
    let mut choices: Vec<usize> = full.map(first_of).collect();
    if !choices.is_empty() {
        choices.push(counts.len() - FAN_IN);
    }
    choices
}

fn tier(count: u64) -> u32 {
    count.max(1).ilog(FAN_IN as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a key costs on the way to 2 × 10⁸: how often it is written, how many runs are looked into.
    #[test]
    fn keys_are_written_a_few_times_and_runs_stay_few() {
        const LOAD: u64 = 1 << 19;
        let (mut counts, mut written, mut most) = (Vec::new(), 0, 0);
        for _ in 0..400 {
            counts.push(LOAD);
            written += LOAD;
            while let Some(&from) = choices(&counts).first() {
                let sum = counts.drain(from..).sum();
                written += sum;
                counts.push(sum);
                counts.sort_by_key(|count| std::cmp::Reverse(*count));
            }
            most = most.max(counts.len());
        }
        assert_eq!(counts.iter().sum::<u64>(), 400 * LOAD);
        assert!(written < 400 * LOAD * 3, "{written}");
        // Seven of each of three tiers.
        assert!(most <= 21, "{most}");
    }

    #[test]
    fn without_room_for_the_largest_smaller_runs_are_merged() {
        let sizes = |counts: &[u64]| -> Vec<usize> {
            let lens = choices(counts).into_iter();
            lens.map(|from| counts.len() - from).collect()
        };
        assert!(sizes(&[100; 7]).is_empty());
        assert_eq!(sizes(&[100; 8]), [8, 8]);
        // All, those of the lower tier with what is smaller, the eight smallest.
        let mut counts = vec![1_000; 8];
        counts.extend([100; 9]);
        counts.extend([1; 2]);
        assert_eq!(sizes(&counts), [19, 11, 8]);
        // A tier that is full, with one below that is not.
        assert_eq!(sizes(&counts[..10]), [10, 8]);
    }
}
