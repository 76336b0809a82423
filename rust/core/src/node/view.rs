//! A view of a node's directory: [`super::Node::open`] on it changes nothing of the node's own files.
//!
//! In place of each WARC file and log stands an empty one of the same length, which takes no room. Opening cuts
//! them to what was committed; so their lengths say what a start would keep of the real files.

use std::fs::{self, File};
use std::path::Path;

use super::NodeError;
use crate::store::state::{self, StateError};

/// Keeps the node's state as it is.
#[derive(Debug)]
pub struct View {
    _state: state::View,
}

impl View {
    /// Shows the node of `from` in `to`. Refused while it runs.
    pub fn make(from: &Path, to: &Path) -> Result<View, NodeError> {
        let state = state::View::make(&from.join("state"), &to.join("state"))?;
        for name in ["warc", "log"] {
            let (from, to) = (from.join(name), to.join(name));
            stand_in(&from, &to).map_err(|error| {
                StateError::Store(format!("{} cannot be shown: {error}", from.display()))
            })?;
        }
        Ok(View { _state: state })
    }
}

fn stand_in(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    if !from.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let facts = fs::metadata(entry.path())?;
        if facts.is_file() {
            File::create_new(to.join(entry.file_name()))?.set_len(facts.len())?;
        }
    }
    Ok(())
}
