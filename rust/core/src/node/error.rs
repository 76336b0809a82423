//! What can go wrong with a node.

use crate::store::state::StateError;
use crate::store::warc::WarcError;

/// What we do wrong, or what our own machine does to us.
#[derive(Debug)]
pub enum NodeError {
    /// A setting cannot be used; the text names it.
    Settings(String),
    /// The store failed.
    State(StateError),
    /// A WARC or log file failed.
    Files(WarcError),
    /// A node of another version takes part in the crawl.
    Version(String),
}

impl std::fmt::Display for NodeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NodeError::Settings(text) | NodeError::Version(text) => f.write_str(text),
            NodeError::State(error) => error.fmt(f),
            NodeError::Files(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for NodeError {}

impl From<StateError> for NodeError {
    fn from(error: StateError) -> Self {
        NodeError::State(error)
    }
}

impl From<WarcError> for NodeError {
    fn from(error: WarcError) -> Self {
        NodeError::Files(error)
    }
}
