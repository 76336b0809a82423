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

/// Bytes by space.
pub(super) type Sizes = [u64; SPACES];

/// What was written since each space's buffer was last handed to the disk.
#[derive(Debug)]
pub(super) struct Buffered {
    /// Bytes of the space itself.
    pub(super) own: Sizes,
    /// Bytes of all spaces, where the space itself had some: a journal is kept as long as the
    /// buffer of any space has something of it.
    all: Sizes,
}

impl Default for Buffered {
    fn default() -> Self {
        Self {
            // A buffer read back from the journals may hold something.
            own: [1; SPACES],
            all: [0; SPACES],
        }
    }
}

impl Buffered {
    pub(super) fn wrote(&mut self, sizes: &Sizes) {
        let batch: u64 = sizes.iter().sum();
        for ((own, all), size) in self.own.iter_mut().zip(&mut self.all).zip(sizes) {
            *own += size;
            *all += if *own > 0 { batch } else { 0 };
        }
    }

    /// Whether a space's buffer is to be handed over: it is full, or it holds on to old journals.
    /// The engine sees to these itself, but only while its merging keeps up.
    pub(super) fn is_due(&self, space: usize, settings: &DiskSettings) -> bool {
        self.own[space] >= settings.buffer_bytes / 4
            || self.all[space] >= settings.journal_bytes / 2
    }

    pub(super) fn handed_over(&mut self, space: usize) {
        (self.own[space], self.all[space]) = (0, 0);
    }
}

/// The bytes of a batch by space, with what the buffer adds to each change. What goes to segments is
/// in no buffer, but with `moved` the removal of its row is.
pub(super) fn sizes(writes: &Writes, chunks: &Rows, moved: bool) -> Sizes {
    const OVERHEAD: usize = 64;
    let mut sizes = [0; SPACES];
    for write in &writes.list {
        if write.is_in_segments() {
            let removal = write.key().len() + OVERHEAD;
            sizes[Space::Queue as usize] += if moved { removal as u64 } else { 0 };
            continue;
        }
        let space = match write {
            Write::Put { space, .. } | Write::Remove { space, .. } => *space as usize,
        };
        sizes[space] += (write.bytes() + OVERHEAD) as u64;
    }
    for (key, value) in chunks {
        sizes[CHUNKS] += (key.len() + value.as_ref().map_or(0, Vec::len) + OVERHEAD) as u64;
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_space_hardly_written_to_does_not_hold_on_to_journals() {
        let settings = DiskSettings::default();
        let mut buffered = Buffered::default();
        let (meta, queue) = (Space::Meta as usize, Space::Queue as usize);
        let mut sizes = [0; SPACES];
        (sizes[meta], sizes[queue]) = (20, 1 << 20);
        let mut handed_over = [0; SPACES];
        for _ in 0..1024 {
            buffered.wrote(&sizes);
            for (space, times) in handed_over.iter_mut().enumerate() {
                if buffered.is_due(space, &settings) {
                    buffered.handed_over(space);
                    *times += 1;
                }
            }
        }
        // 1 GiB of journals: one buffer of 16 MiB after the other, and the small one with each 128.
        assert_eq!((handed_over[queue], handed_over[meta]), (64, 8));
        // What a space may have had before opening is handed over once.
        assert_eq!(handed_over[Space::Robots as usize], 1);
    }
}
