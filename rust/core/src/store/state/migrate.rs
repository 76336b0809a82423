//! From format 5, which kept every queued URL as a row of the store, to segments.
//!
//! A note in the store comes first, then the mark of the new format, then the rows move in slices, each
//! in one atomic step; the note goes with the last. So a migration that was cut off goes on at the next
//! opening, and no older version opens what is half moved.

use fjall::PersistMode;

use super::disk::DiskState;
use super::live::{Live, map_error};
use super::queue::is_in_segments;
use super::{Space, StateError, Writes};

const KEY: &[u8] = b"queue.migration";
/// Rows of a step.
const SLICE: usize = 20_000;

impl Live {
    pub(super) fn begin_migration(&self) -> Result<(), StateError> {
        let mut batch = self.db.batch().durability(Some(PersistMode::SyncData));
        batch.insert(&self.spaces[Space::Meta as usize], KEY, [1]);
        batch.commit().map_err(|error| map_error(&error))
    }

    /// Whether a migration has begun and not ended.
    pub(super) fn is_migrating(&self) -> Result<bool, StateError> {
        let note = self.spaces[Space::Meta as usize].contains_key(KEY);
        note.map_err(|error| map_error(&error))
    }

    /// The first rows from a key on that belong in segments, as changes of the queue.
    fn rows_to_move(&self, from: &[u8]) -> Result<Writes, StateError> {
        let mut writes = Writes::default();
        for pair in self.spaces[Space::Queue as usize].range(from..) {
            let (key, value) = pair.into_inner().map_err(|error| map_error(&error))?;
            if is_in_segments(&key) {
                writes.put(Space::Queue, key.to_vec(), value.to_vec());
                if writes.len() == SLICE {
                    break;
                }
            }
        }
        Ok(writes)
    }
}

impl DiskState {
    /// Moves what is left to move, if a migration has begun.
    pub(super) fn finish_migration(&self) -> Result<(), StateError> {
        if !self.with(Live::is_migrating)? {
            return Ok(());
        }
        let mut from = Vec::new();
        loop {
            let writes = self.with(|live| live.rows_to_move(&from))?;
            let Some(last) = writes.list.last() else {
                break;
            };
            self.check_room(writes.bytes())?;
            self.apply_once(&writes, true, true)?;
            from = [last.key(), &[0]].concat();
        }
        self.with(|live| {
            let mut batch = live.db.batch().durability(Some(PersistMode::SyncData));
            batch.remove(&live.spaces[Space::Meta as usize], KEY);
            batch.commit().map_err(|error| map_error(&error))
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::path::Path;

    use super::super::{DiskSettings, Reads, State, View};
    use super::*;

    fn open(dir: &Path) -> DiskState {
        DiskState::open(dir, DiskSettings::default()).unwrap()
    }

    fn key(host: u64, band: u8, at: u64) -> Vec<u8> {
        [&host.to_be_bytes()[..], &[band], &at.to_be_bytes()].concat()
    }

    fn queued(state: &DiskState) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut found = Vec::new();
        state
            .scan(Space::Queue, &[], &[], &mut |key, value| {
                found.push((key.to_vec(), value.to_vec()));
                true
            })
            .unwrap();
        found
    }

    /// Puts rows as format 5 did.
    fn put_rows(state: &DiskState, rows: &[(Vec<u8>, Vec<u8>)]) {
        state
            .with(|live| {
                let mut batch = live.db.batch();
                for (key, value) in rows {
                    batch.insert(
                        &live.spaces[Space::Queue as usize],
                        key.as_slice(),
                        value.as_slice(),
                    );
                }
                batch.commit().map_err(|error| map_error(&error))
            })
            .unwrap();
    }

    fn rows() -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut rows = Vec::new();
        for host in 0..100_u64 {
            for at in 0..500_u64 {
                let band = (at % 3) as u8;
                rows.push((key(host, band, at), format!("{host}/{at}").into()));
            }
            let mut waiting = key(host, 0xff, 77);
            waiting.extend_from_slice(&9_u64.to_be_bytes());
            rows.push((waiting, b"later".to_vec()));
        }
        rows.sort();
        rows
    }

    #[test]
    fn a_state_of_the_format_before_is_brought_to_this_one() {
        let dir = tempfile::tempdir().unwrap();
        let rows = rows();
        put_rows(&open(dir.path()), &rows);
        fs::write(dir.path().join("store/FORMAT"), b"gossamer-state 5\n").unwrap();
        let state = open(dir.path());
        assert_eq!(queued(&state), rows);
        let left = state.with(|live| live.rows_to_move(&[])).unwrap();
        assert!(left.is_empty());
        assert!(!state.with(Live::is_migrating).unwrap());
        drop(state);
        let mark = fs::read(dir.path().join("store/FORMAT")).unwrap();
        assert_eq!(mark, b"gossamer-state 6\n");
        assert_eq!(queued(&open(dir.path())), rows);
    }

    /// A look at a crawl of the format before sees its queue and leaves it as it is.
    #[test]
    fn a_view_of_the_format_before_shows_its_queue() {
        let (dir, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let rows = rows();
        put_rows(&open(dir.path()), &rows);
        let mark = dir.path().join("store/FORMAT");
        fs::write(&mark, b"gossamer-state 5\n").unwrap();
        let view = place.path().join("view");
        let _kept = View::make(dir.path(), &view).unwrap();
        let settings = DiskSettings {
            at_rest: true,
            ..DiskSettings::default()
        };
        assert_eq!(queued(&DiskState::open(&view, settings).unwrap()), rows);
        assert_eq!(fs::read(&mark).unwrap(), b"gossamer-state 5\n");
    }

    #[test]
    fn a_migration_that_was_cut_off_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let rows = rows();
        let state = open(dir.path());
        // Half has moved, and the process was killed.
        let mut writes = Writes::default();
        for (key, value) in &rows[..20_000] {
            writes.put(Space::Queue, key.clone(), value.clone());
        }
        state.apply(writes, true).unwrap();
        put_rows(&state, &rows[20_000..]);
        state.with(Live::begin_migration).unwrap();
        drop(state);
        let state = open(dir.path());
        assert_eq!(queued(&state), rows);
        assert!(
            state
                .with(|live| live.rows_to_move(&[]))
                .unwrap()
                .is_empty()
        );
    }
}
