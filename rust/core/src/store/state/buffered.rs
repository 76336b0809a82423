//! What waits in the store's buffers, by space: when a buffer is to be handed to the disk.
//!
//! The engine lets buffers and the journals behind them grow while its merging is behind; these sums
//! bound both.

use super::disk::DiskSettings;
use super::queue::Rows;
use super::{Space, Write, Writes};

/// The number of the queue's index among the spaces: behind those that everybody knows.
pub(super) const CHUNKS: usize = Space::ALL.len();
const SPACES: usize = CHUNKS + 1;

/// Numbers by space.
type Sizes = [u64; SPACES];

/// What a batch brings to the buffers.
#[derive(Debug, Default)]
pub(super) struct Change {
    bytes: Sizes,
    puts: Sizes,
    removals: Sizes,
}

/// What was written since each space's buffer was last handed to the disk.
#[derive(Debug)]
pub(super) struct Buffered {
    /// Bytes of the space itself.
    pub(super) own: Sizes,
    /// Bytes of all spaces, where the space itself had some: a journal is kept as long as the
    /// buffer of any space has something of it.
    all: Sizes,
    puts: Sizes,
    /// One batch removed most of what had been put: the buffer has little that must be written.
    emptied: [bool; SPACES],
}

impl Default for Buffered {
    fn default() -> Self {
        Self {
            // A buffer read back from the journals may hold something.
            own: [1; SPACES],
            all: [0; SPACES],
            puts: [0; SPACES],
            emptied: [false; SPACES],
        }
    }
}

impl Buffered {
    pub(super) fn wrote(&mut self, change: &Change) {
        let batch: u64 = change.bytes.iter().sum();
        for space in 0..SPACES {
            self.own[space] += change.bytes[space];
            self.all[space] += if self.own[space] > 0 { batch } else { 0 };
            self.puts[space] += change.puts[space];
            self.emptied[space] =
                self.puts[space] > 0 && change.removals[space] * 2 > self.puts[space];
        }
    }

    /// Whether a space's buffer is to be handed over: it is full, most of it has just been removed again, so that
    /// it is cheap now, or it holds on to old journals. The engine sees to these itself, but only while its
    /// merging keeps up.
    pub(super) fn is_due(&self, space: usize, settings: &DiskSettings) -> bool {
        let sixteenths = match space {
            _ if self.emptied[space] => 1,
            // What is handed over is merged with the whole index: the more at once, the more rarely.
            CHUNKS => 6,
            _ => 4,
        };
        self.own[space] >= settings.buffer_bytes / 16 * sixteenths
            || self.all[space] >= settings.journal_bytes / 4 * 3
    }

    pub(super) fn handed_over(&mut self, space: usize) {
        (self.own[space], self.all[space], self.puts[space]) = (0, 0, 0);
        self.emptied[space] = false;
    }
}

/// What a batch brings, in bytes with what the buffer adds to each change. What goes to segments is
/// in no buffer, but with `moved` the removal of its row is.
pub(super) fn change(writes: &Writes, chunks: &Rows, moved: bool) -> Change {
    const OVERHEAD: usize = 64;
    let mut change = Change::default();
    for write in &writes.list {
        let in_segments = write.is_in_segments();
        if in_segments && !moved {
            continue;
        }
        let (space, bytes) = match write {
            Write::Put { space, key, .. } if in_segments => (*space, key.len()),
            Write::Put { space, .. } | Write::Remove { space, .. } => (*space, write.bytes()),
        };
        change.bytes[space as usize] += (bytes + OVERHEAD) as u64;
        if in_segments || matches!(write, Write::Remove { .. }) {
            change.removals[space as usize] += 1;
        } else {
            change.puts[space as usize] += 1;
        }
    }
    for (key, value) in chunks {
        change.bytes[CHUNKS] += (key.len() + value.as_ref().map_or(0, Vec::len) + OVERHEAD) as u64;
        change.puts[CHUNKS] += 1;
    }
    change
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_space_hardly_written_to_does_not_hold_on_to_journals() {
        let settings = DiskSettings::default();
        let mut buffered = Buffered::default();
        let (meta, queue) = (Space::Meta as usize, Space::Queue as usize);
        let mut change = Change::default();
        (change.bytes[meta], change.bytes[queue]) = (20, 1 << 20);
        let mut handed_over = [0; SPACES];
        for _ in 0..1024 {
            buffered.wrote(&change);
            for (space, times) in handed_over.iter_mut().enumerate() {
                if buffered.is_due(space, &settings) {
                    buffered.handed_over(space);
                    *times += 1;
                }
            }
        }
        // 1 GiB of journals: one buffer of 16 MiB after the other, and the small one with each 192.
        assert_eq!((handed_over[queue], handed_over[meta]), (64, 5));
        // What a space may have had before opening is handed over once.
        assert_eq!(handed_over[Space::Robots as usize], 1);
    }

    #[test]
    fn a_space_whose_rows_were_removed_at_once_is_handed_over_then() {
        let settings = DiskSettings::default();
        let mut buffered = Buffered::default();
        let seen = Space::Seen as usize;
        let mut row = Change::default();
        (row.bytes[seen], row.puts[seen]) = (1 << 20, 1);
        (0..8).for_each(|_| buffered.wrote(&row));
        assert!(!buffered.is_due(seen, &settings));
        // Six rows go in one batch: little of 8 MiB is left.
        (row.bytes[seen], row.removals[seen]) = (600, 6);
        buffered.wrote(&row);
        assert!(buffered.is_due(seen, &settings));
        buffered.handed_over(seen);
        // As many rows, which go one by one: nothing is won by writing them out sooner.
        (row.bytes[seen], row.removals[seen]) = (1 << 20, 1);
        (0..8).for_each(|_| buffered.wrote(&row));
        assert!(!buffered.is_due(seen, &settings));
    }
}
