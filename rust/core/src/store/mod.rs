//! Stage 7, store: a page that was returned as stored is durable.
//!
//! Takes a processed page; gives a stored page: its WARC records, its line of the fetch log and its
//! index row, in one atomic batch. [`state`] is the embedded store behind every stage, [`warc`] the
//! WARC and log files, [`rows`] the index and content rows.

mod original;
#[cfg(any(test, feature = "testing"))]
pub mod rehearsal;
pub mod rows;
pub mod state;
pub mod warc;

pub use original::Original;
