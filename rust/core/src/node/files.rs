//! The WARC files and the fetch log of a node: opened where the state has them, after a crash cut to
//! what was committed.

use std::path::{Path, PathBuf};

use super::{LOG_POSITION, NodeError, NodeSettings, WARC_POSITION};
use crate::store::state::{Reads, Space, StateError};
use crate::store::warc::{FsyncPolicy, LogWriter, Position, WarcError, Writer};

/// Opens both where the state has them, or new ones.
pub(super) fn open(
    dir: &Path,
    settings: &NodeSettings,
    reads: &dyn Reads,
) -> Result<(Writer, LogWriter), NodeError> {
    let position = |key: &[u8]| -> Result<Option<Position>, NodeError> {
        let bytes = reads.get(Space::Meta, key)?;
        Ok(bytes
            .map(|bytes| Position::from_bytes(&bytes))
            .transpose()?)
    };
    let policy = if settings.store.durable {
        FsyncPolicy::Always
    } else {
        FsyncPolicy::Never
    };
    let warc_dir = made(dir, "warc")?;
    let log_dir = made(dir, "log")?;
    let warc_at = position(WARC_POSITION)?;
    let log_at = position(LOG_POSITION)?;
    // All files are judged before any is cut.
    check_length(&warc_dir, warc_at.as_ref())?;
    check_length(&log_dir, log_at.as_ref())?;
    let warc = Writer::resume(&warc_dir, settings.warc(policy), warc_at.as_ref())?;
    let size = settings.store.warc_size;
    let log = LogWriter::resume(&log_dir, &settings.node_name, size, policy, log_at.as_ref())?;
    Ok((warc, log))
}

/// Refuses files that have lost bytes which the state counts on.
fn check_length(dir: &Path, position: Option<&Position>) -> Result<(), WarcError> {
    let Some(position) = position else {
        return Ok(());
    };
    let finished = dir.join(&position.name);
    let open = dir.join(format!("{}.open", position.name));
    let found = [finished.clone(), open]
        .into_iter()
        .find_map(|path| Some((std::fs::metadata(&path).ok()?.len(), path)));
    match found {
        None => Err(WarcError::Missing { path: finished }),
        Some((length, path)) if length < position.offset => Err(WarcError::Short {
            path,
            length,
            committed: position.offset,
        }),
        Some(_) => Ok(()),
    }
}

/// Makes a directory in `parent` whose name survives a power cut.
fn made(parent: &Path, name: &str) -> Result<PathBuf, NodeError> {
    let dir = parent.join(name);
    let made = std::fs::create_dir_all(&dir).and_then(|()| std::fs::File::open(parent)?.sync_all());
    made.map_err(|error| {
        NodeError::State(StateError::Store(format!(
            "cannot make {}: {error}",
            dir.display()
        )))
    })?;
    Ok(dir)
}
