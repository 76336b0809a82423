//! Files that nobody asks for any more, given back to the system on threads of their own.
//!
//! A large file that goes at once holds up whoever flushes another one: the file system frees all of its blocks in one step,
//! and where it tells the device of them (`discard`) each flush waits for that. Measured on ext4 with `discard`, a file of a GiB:
//! the longest flush beside it took 50 ms, and 5 ms where the file was cut in pieces of 16 MiB.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Bytes that go at a time.
const PIECE: u64 = 16 << 20;
/// Between two pieces, so that those who flush meanwhile do not wait for many.
const PAUSE: Duration = Duration::from_millis(10);

/// What is being given back. Dropped when that is done.
#[derive(Debug, Default)]
pub(crate) struct Removal {
    threads: Vec<JoinHandle<()>>,
    is_closing: Arc<AtomicBool>,
}

impl Removal {
    /// Begins with some files; `removed` is told of each as soon as its name is gone. Where there is no thread to be had
    /// they stay, and the next start removes them.
    pub fn begin(&mut self, files: Vec<PathBuf>, mut removed: impl FnMut(&Path) + Send + 'static) {
        self.threads.retain(|thread| !thread.is_finished());
        let is_closing = Arc::clone(&self.is_closing);
        let thread = std::thread::Builder::new().name("gossamer-remove".to_owned());
        self.threads.extend(thread.spawn(move || {
            for path in files {
                let file = File::options().write(true).open(&path);
                let _ = fs::remove_file(&path);
                removed(&path);
                if let Ok(file) = file {
                    shorten(&file, &is_closing);
                }
            }
        }));
    }

    /// Returns when all files have gone, the rest of them at once.
    pub fn wait(&mut self) {
        self.is_closing.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
        self.is_closing.store(false, Ordering::Relaxed);
    }
}

impl Drop for Removal {
    fn drop(&mut self) {
        self.wait();
    }
}

/// Cuts a file that has no name any more, piece by piece; what is left goes when it is closed.
fn shorten(file: &File, is_closing: &AtomicBool) {
    let mut length = file.metadata().map_or(0, |facts| facts.len());
    while length > PIECE && !is_closing.load(Ordering::Relaxed) {
        length -= PIECE;
        if file.set_len(length).is_err() {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn files_go_and_each_is_told_when_its_name_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = (0..3).map(|n| dir.path().join(n.to_string())).collect();
        for path in &paths {
            File::create(path).unwrap().set_len(3 * PIECE + 1).unwrap();
        }
        let beside = File::open(&paths[0]).unwrap();
        let told = Arc::new(Mutex::new(Vec::new()));
        let mut removal = Removal::default();
        // One that is not there is no reason to stop.
        let asked = [&[dir.path().join("none")][..], &paths].concat();
        let telling = Arc::clone(&told);
        removal.begin(asked.clone(), move |path| {
            telling
                .lock()
                .unwrap()
                .push((path.to_owned(), path.exists()));
        });
        while beside.metadata().unwrap().len() > 3 * PIECE {
            std::thread::yield_now();
        }
        removal.wait();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        let told = told.lock().unwrap();
        assert_eq!(
            *told,
            asked
                .into_iter()
                .map(|path| (path, false))
                .collect::<Vec<_>>()
        );
    }
}
