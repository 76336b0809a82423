//! What is kept of content that is stored.

use super::warc::Digest;

/// The stored page that has the same content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Original {
    pub url: String,
    pub date: u64,
    pub payload: Digest,
}
