//! Room on the device: asked before each batch, so that a full disk stops the crawl at a batch
//! border instead of in the middle of the store's own background work.

use std::path::{Path, PathBuf};

use super::StateError;

/// Watches the free space of the device that holds `path`.
#[derive(Clone, Debug)]
pub struct Room {
    path: PathBuf,
    reserve: u64,
}

impl Room {
    /// Keeps `reserve` bytes free, but never more than a twentieth of the device.
    pub fn new(path: &Path, reserve: u64) -> Room {
        Room {
            path: path.to_path_buf(),
            reserve,
        }
    }

    /// Refuses when less than the reserve would be left after writing `bytes`. Where the file
    /// system does not tell, the write itself will.
    pub fn check(&self, bytes: u64) -> Result<(), StateError> {
        let Ok(stat) = rustix::fs::statvfs(&self.path) else {
            return Ok(());
        };
        let free = stat.f_bavail.saturating_mul(stat.f_frsize);
        let reserve = self
            .reserve
            .min(stat.f_blocks.saturating_mul(stat.f_frsize) / 20);
        if free < reserve.saturating_add(bytes) {
            return Err(StateError::DiskFull(format!(
                "{} has {free} bytes free, {reserve} are kept for the store's own work",
                self.path.display()
            )));
        }
        Ok(())
    }
}
