//! Kept connections that died unseen: such a visit says nothing of its page, and is made once more.
//!
//! Not at once, which would break the gap: the URL goes back to its place, without a word in the log.
//! From then on it is asked for on new connections only, so that what follows is the server's
//! answer, and is logged and counted. Else a page on which the server hangs up would be asked for once
//! for each connection that is kept.

use std::collections::HashSet;

use crate::canonical::Url;

/// URLs that are remembered. When they are more all are forgotten: each may then have one more visit
/// without a word, as after a restart.
const MOST: usize = 10_000;

/// Filled by a visit whose kept connection died, emptied when the URL ends in another way.
#[derive(Debug, Default)]
pub(super) struct DeadConnections {
    urls: HashSet<[u8; 16]>,
}

impl DeadConnections {
    /// The connection of a visit to this URL died. False: that happened before.
    pub fn note(&mut self, url: &Url) -> bool {
        if self.urls.len() >= MOST {
            self.urls.clear();
        }
        self.urls.insert(url.key())
    }

    /// Whether a URL is to be asked for on a new connection.
    pub fn has(&self, url: &Url) -> bool {
        !self.urls.is_empty() && self.urls.contains(&url.key())
    }

    pub fn forget(&mut self, url: &Url) {
        if !self.urls.is_empty() {
            self.urls.remove(&url.key());
        }
    }
}
