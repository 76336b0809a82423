//! When a buffer of fjall is handed to the disk: the sums by which the core bounded its buffers and
//! journals.

/// Bytes of RAM for changes that are in the journal but not yet in sorted files.
pub const BUFFER_BYTES: u64 = 64 << 20;
/// Bytes of disk for the journals.
pub const JOURNAL_BYTES: u64 = 256 << 20;

/// The spaces: queue and hosts.
pub const SPACES: usize = 2;

/// What was written since each space's buffer was last handed to the disk.
#[derive(Debug, Default)]
pub struct Buffered {
    /// Bytes of the space itself.
    own: [u64; SPACES],
    /// Bytes of all spaces, where the space itself had some: a journal is kept as long as the
    /// buffer of any space has something of it.
    all: [u64; SPACES],
}

impl Buffered {
    /// Counts a batch, given its bytes by space.
    pub fn wrote(&mut self, sizes: [u64; SPACES]) {
        let batch: u64 = sizes.iter().sum();
        for ((own, all), size) in self.own.iter_mut().zip(&mut self.all).zip(sizes) {
            *own += size;
            *all += if *own > 0 { batch } else { 0 };
        }
    }

    /// Whether a space's buffer is full, or holds on to old journals.
    pub fn is_due(&self, space: usize) -> bool {
        self.own[space] >= BUFFER_BYTES / 4 || self.all[space] >= JOURNAL_BYTES / 2
    }

    /// The space with the most in its buffer, if any has something.
    pub fn largest(&self) -> Option<usize> {
        (0..SPACES)
            .max_by_key(|&space| self.own[space])
            .filter(|&space| self.own[space] > 0)
    }

    /// Forgets what a space's buffer held.
    pub fn handed_over(&mut self, space: usize) {
        (self.own[space], self.all[space]) = (0, 0);
    }
}
