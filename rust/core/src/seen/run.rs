//! A run: keys in order in a file that never changes, 256 to a block of 4 KiB. In RAM it costs
//! sixteen bytes a block; a look-up reads one block, and neighbours share it. Most often it reads none: a run
//! knows which groups of hosts it has keys of, and most runs have few.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use super::UrlKey;
use super::groups::Groups;
use crate::store::state::StateError;

const KEY: usize = size_of::<UrlKey>();
const BLOCK_KEYS: usize = 256;
const BLOCK: usize = BLOCK_KEYS * KEY;
/// Bytes read at a time when a whole run is read.
const STRIDE: usize = 64 * BLOCK;

/// Keys after which a run is flushed while it is written: a batch that is flushed meanwhile waits for what the
/// system has not written yet of other files too.
const SYNC_KEYS: u64 = 1 << 19;
/// Keys after which a merge asks whether it may go on.
const ASK_KEYS: u64 = 1 << 16;

/// What the store remembers of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    pub id: u64,
    pub count: u64,
    pub checksum: u64,
}

/// An open run.
#[derive(Debug)]
pub struct Run {
    pub label: Label,
    path: PathBuf,
    file: File,
    /// The first half of the first key of each block.
    fences: Vec<u64>,
    groups: Groups,
}

/// The file of a run.
pub fn path_of(dir: &Path, id: u64) -> PathBuf {
    dir.join(format!("{id:016x}.run"))
}

fn failed(path: &Path, error: &std::io::Error) -> StateError {
    use std::io::ErrorKind;
    let text = format!("{}: {error}", path.display());
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StateError::DiskFull(text),
        ErrorKind::NotFound | ErrorKind::UnexpectedEof => {
            StateError::Format(format!("{text}; a file of known URLs is missing or cut"))
        }
        _ => StateError::Store(text),
    }
}

fn fence(key: &[u8]) -> u64 {
    let mut half = [0; 8];
    half.copy_from_slice(&key[..8]);
    u64::from_be_bytes(half)
}

impl Run {
    /// Writes sorted keys, `most` at most; returns when they survive a power cut. What cannot be written whole is
    /// removed: it may be what the disk is full of.
    pub fn write(
        dir: &Path,
        id: u64,
        most: u64,
        keys: impl Iterator<Item = Result<UrlKey, StateError>>,
    ) -> Result<Run, StateError> {
        let run = Run::try_write(dir, id, most, keys);
        if run.is_err() {
            let _ = fs::remove_file(path_of(dir, id));
        }
        run
    }

    fn try_write(
        dir: &Path,
        id: u64,
        most: u64,
        keys: impl Iterator<Item = Result<UrlKey, StateError>>,
    ) -> Result<Run, StateError> {
        let path = path_of(dir, id);
        let io = |error: std::io::Error| failed(&path, &error);
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)
            .map_err(io)?;
        let mut out = BufWriter::with_capacity(STRIDE, &file);
        // Not grown by doubling: half of it would be room that nobody needs.
        let mut fences = Vec::with_capacity(most.div_ceil(BLOCK_KEYS as u64) as usize);
        let (mut hash, mut count, mut groups) = (Xxh3::new(), 0u64, Groups::for_keys(most));
        for key in keys {
            let key = key?;
            if count.is_multiple_of(BLOCK_KEYS as u64) {
                fences.push(fence(&key.0));
            }
            groups.add(key);
            hash.update(&key.0);
            out.write_all(&key.0).map_err(io)?;
            count += 1;
            if count.is_multiple_of(SYNC_KEYS) {
                out.flush().and_then(|()| file.sync_data()).map_err(io)?;
            }
        }
        out.flush().map_err(io)?;
        drop(out);
        file.sync_all()
            .and_then(|()| File::open(dir)?.sync_all())
            .map_err(io)?;
        let checksum = hash.digest();
        Ok(Run {
            label: Label {
                id,
                count,
                checksum,
            },
            path,
            file,
            fences,
            groups,
        })
    }

    /// Opens a run, reads all of it and gives each key to `visit`; refuses a damaged one.
    pub fn open(
        dir: &Path,
        label: Label,
        mut visit: impl FnMut(UrlKey),
    ) -> Result<Run, StateError> {
        let path = path_of(dir, label.id);
        let file = File::open(&path).map_err(|error| failed(&path, &error))?;
        let length = file.metadata().map_err(|e| failed(&path, &e))?.len();
        let mut run = Run {
            label,
            path,
            file,
            fences: Vec::new(),
            groups: Groups::for_keys(0),
        };
        if label.count.checked_mul(KEY as u64) != Some(length) {
            return Err(run.damaged());
        }
        let mut groups = Groups::for_keys(label.count);
        let mut fences = Vec::with_capacity((length as usize).div_ceil(BLOCK));
        for (count, key) in Keys::all(&run).enumerate() {
            let key = key?;
            if count.is_multiple_of(BLOCK_KEYS) {
                fences.push(fence(&key.0));
            }
            groups.add(key);
            visit(key);
        }
        (run.fences, run.groups) = (fences, groups);
        Ok(run)
    }

    /// Merges runs into a new one. Ends with the error of `go_on`, which it asks now and then, and refuses damaged
    /// runs: what it writes counts as whole ever after.
    pub fn merge(
        dir: &Path,
        id: u64,
        runs: &[Arc<Run>],
        go_on: &dyn Fn() -> Result<(), StateError>,
    ) -> Result<Run, StateError> {
        // The next key of each run that has one, as a number: in the same order, and quicker compared.
        let mut heads: Vec<(u128, Keys<'_>)> = Vec::with_capacity(runs.len());
        for run in runs {
            let mut keys = Keys::all(run);
            if let Some(key) = keys.next() {
                heads.push((u128::from_be_bytes(key?.0), keys));
            }
        }
        let mut count = 0u64;
        let merged = std::iter::from_fn(|| {
            let (at, (least, _)) = heads.iter().enumerate().min_by_key(|(_, (key, _))| *key)?;
            let least = UrlKey(least.to_be_bytes());
            match heads[at].1.next() {
                Some(Ok(key)) => heads[at].0 = u128::from_be_bytes(key.0),
                Some(Err(error)) => return Some(Err(error)),
                None => drop(heads.swap_remove(at)),
            }
            if count.is_multiple_of(ASK_KEYS)
                && let Err(error) = go_on()
            {
                return Some(Err(error));
            }
            count += 1;
            Some(Ok(least))
        });
        let most = runs.iter().map(|run| run.label.count).sum();
        Run::write(dir, id, most, merged)
    }

    /// Sets `known[i]` where the run has `keys[i]`; keys come in order.
    pub fn find(&self, keys: &[UrlKey], known: &mut [bool]) -> Result<(), StateError> {
        let mut block = [0; BLOCK];
        let mut loaded = (usize::MAX, 0);
        let mut upper = None;
        let mut asked = self.groups.ask();
        for (key, known) in keys.iter().zip(known).filter(|(_, known)| !**known) {
            if !asked.may_have(*key) {
                continue;
            }
            let head = fence(&key.0);
            let mut at = match upper {
                None => self.fences.partition_point(|fence| *fence <= head),
                // Most often the block of the key before: the links of a page are neighbours.
                Some(upper) => upper + count_at_most(&self.fences[upper..], head),
            };
            upper = Some(at);
            while at > 0 {
                at -= 1;
                if loaded.0 != at {
                    loaded = (at, self.read(at, &mut block)?);
                }
                if has(&block[..loaded.1], key) {
                    *known = true;
                    break;
                }
                // Equal halves may reach back over the border of a block.
                if self.fences[at] != head {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Gives the keys from `first` to `last` to `visit`.
    pub fn keys(
        &self,
        first: UrlKey,
        last: UrlKey,
        visit: &mut dyn FnMut(UrlKey),
    ) -> Result<(), StateError> {
        let head = fence(&first.0);
        // Equal halves may reach back over the border of a block.
        let block = self.fences.partition_point(|fence| *fence < head);
        for key in Keys::from(self, block.saturating_sub(1)) {
            let key = key?;
            if key > last {
                break;
            }
            if key >= first {
                visit(key);
            }
        }
        Ok(())
    }

    fn damaged(&self) -> StateError {
        StateError::Format(format!(
            "{} is damaged: other bytes than those written for {} known URLs",
            self.path.display(),
            self.label.count
        ))
    }

    fn read(&self, block: usize, into: &mut [u8]) -> Result<usize, StateError> {
        let start = (block * BLOCK) as u64;
        let end = self.label.count * KEY as u64;
        let len = (end - start).min(into.len() as u64) as usize;
        self.file
            .read_exact_at(&mut into[..len], start)
            .map_err(|error| failed(&self.path, &error))?;
        Ok(len)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of RAM of a run of so many keys.
    pub fn ram_for(keys: u64) -> usize {
        keys.div_ceil(BLOCK_KEYS as u64) as usize * size_of::<u64>() + Groups::bytes_for(keys)
    }

    /// Bytes of RAM.
    pub fn ram_bytes(&self) -> usize {
        self.fences.capacity() * size_of::<u64>() + self.groups.bytes()
    }
}

/// How many fences are at most `head`, looked for from the first on in steps that double.
fn count_at_most(fences: &[u64], head: u64) -> usize {
    let (mut low, mut step) = (0, 1);
    while fences
        .get(low + step - 1)
        .is_some_and(|fence| *fence <= head)
    {
        low += step;
        step *= 2;
    }
    let high = fences.len().min(low + step);
    low + fences[low..high].partition_point(|fence| *fence <= head)
}

/// Whether a block of keys in order has `key`.
fn has(block: &[u8], key: &UrlKey) -> bool {
    let (keys, _) = block.as_chunks::<KEY>();
    let wanted = u128::from_be_bytes(key.0);
    // As numbers: in the same order, and quicker compared.
    keys.binary_search_by_key(&wanted, |key| u128::from_be_bytes(*key))
        .is_ok()
}

/// Keys of a run, in order.
struct Keys<'a> {
    run: &'a Run,
    buffer: Vec<u8>,
    at: usize,
    offset: u64,
    /// Of what was read, where all of it is: checked at the end.
    hash: Option<Box<Xxh3>>,
}

impl<'a> Keys<'a> {
    /// All of them. The last item is an error when they are not those that were written.
    fn all(run: &'a Run) -> Keys<'a> {
        Keys {
            hash: Some(Box::default()),
            ..Keys::from(run, 0)
        }
    }

    /// Those from a block on.
    fn from(run: &'a Run, block: usize) -> Keys<'a> {
        Keys {
            run,
            buffer: Vec::new(),
            at: 0,
            offset: (block * BLOCK) as u64,
            hash: None,
        }
    }

    /// Reads on; false: that was all.
    fn read_on(&mut self) -> Result<bool, StateError> {
        let left = self.run.label.count * KEY as u64 - self.offset;
        if left == 0 {
            let digest = self.hash.take().map(|hash| hash.digest());
            return match digest {
                Some(digest) if digest != self.run.label.checksum => Err(self.run.damaged()),
                _ => Ok(false),
            };
        }
        self.buffer.resize(left.min(STRIDE as u64) as usize, 0);
        self.run
            .file
            .read_exact_at(&mut self.buffer, self.offset)
            .map_err(|error| failed(&self.run.path, &error))?;
        if let Some(hash) = &mut self.hash {
            hash.update(&self.buffer);
        }
        self.offset += self.buffer.len() as u64;
        self.at = 0;
        Ok(true)
    }
}

impl Iterator for Keys<'_> {
    type Item = Result<UrlKey, StateError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at == self.buffer.len() {
            match self.read_on() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
        let mut key = UrlKey([0; KEY]);
        key.0.copy_from_slice(&self.buffer[self.at..][..KEY]);
        self.at += KEY;
        Some(Ok(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_are_counted_as_by_a_plain_search() {
        for count in 0..70u64 {
            let fences: Vec<u64> = (0..count).map(|n| n / 3 * 10).collect();
            for head in 0..250 {
                let plain = fences.partition_point(|fence| *fence <= head);
                assert_eq!(
                    count_at_most(&fences, head),
                    plain,
                    "{count} fences, {head}"
                );
            }
        }
    }
}
