//! What the door `hosts` tells of: counters of hosts and of URL patterns.

mod counts;
mod pattern;

pub use counts::{CountKey, Counts, Decision, HostCounts};
pub use pattern::pattern;
