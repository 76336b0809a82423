//! The request log: `time_us connection host path status`, a line per request.
//! Filled by the workers, emptied by one thread every 50 ms, bound 64 MiB; when it is full the
//! worker that finds it so writes it out itself.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const BOUND: usize = 64 << 20;
const PAUSE: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(crate) struct Log {
    lines: Mutex<Vec<u8>>,
    file: Mutex<File>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Log {
    pub fn create(path: &Path) -> io::Result<Log> {
        Ok(Log {
            lines: Mutex::new(Vec::new()),
            file: Mutex::new(File::create(path)?),
        })
    }

    /// Adds a line. Blanks and control characters of the path are escaped.
    pub fn add(&self, time_us: u64, connection: u64, host: &[u8], path: &[u8], status: u16) {
        let full = {
            let mut lines = locked(&self.lines);
            let mut digits = itoa::Buffer::new();
            lines.extend_from_slice(digits.format(time_us).as_bytes());
            lines.push(b' ');
            lines.extend_from_slice(digits.format(connection).as_bytes());
            lines.push(b' ');
            lines.extend_from_slice(host);
            lines.push(b' ');
            for &byte in path {
                if byte > b' ' && byte < 0x7f {
                    lines.push(byte);
                } else {
                    let hex = b"0123456789ABCDEF";
                    lines.push(b'%');
                    lines.push(hex[usize::from(byte >> 4)]);
                    lines.push(hex[usize::from(byte & 15)]);
                }
            }
            lines.push(b' ');
            lines.extend_from_slice(digits.format(status).as_bytes());
            lines.push(b'\n');
            lines.len() > BOUND
        };
        if full {
            self.write(&mut Vec::new());
        }
    }

    /// Moves what is there to the file. `spare` takes turns with the buffer of lines.
    fn write(&self, spare: &mut Vec<u8>) {
        let mut file = locked(&self.file);
        spare.clear();
        std::mem::swap(&mut *locked(&self.lines), spare);
        if !spare.is_empty()
            && let Err(error) = file.write_all(spare)
        {
            eprintln!("simweb: the request log cannot be written: {error}");
        }
    }

    /// Writes until told to stop, and then once more.
    pub fn write_until(&self, stopped: &AtomicBool) {
        let mut spare = Vec::new();
        while !stopped.load(Ordering::Acquire) {
            std::thread::sleep(PAUSE);
            self.write(&mut spare);
        }
        self.write(&mut spare);
    }
}
