//! Files that nobody asks for any more, given back on threads of their own: to free one of a quarter of a gigabyte takes
//! the system 60 ms and more, and a batch would wait for it.

use std::thread::JoinHandle;

/// What is being given back. Dropped when that is done.
#[derive(Debug, Default)]
pub(crate) struct Removal {
    threads: Vec<JoinHandle<()>>,
}

impl Removal {
    /// Begins with some files. Where there is no thread to be had they stay, and the next start removes them.
    pub fn begin(&mut self, remove: impl FnOnce() + Send + 'static) {
        self.threads.retain(|thread| !thread.is_finished());
        let thread = std::thread::Builder::new().name("gossamer-remove".to_owned());
        self.threads.extend(thread.spawn(remove));
    }

    /// Returns when all files have gone.
    pub fn wait(&mut self) {
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Drop for Removal {
    fn drop(&mut self) {
        self.wait();
    }
}
