//! What the door `hosts` tells of: counters of hosts and of URL patterns. And [`trap`]: shapes of URLs
//! that are judged natively, by numbers that Python declares (`policy/hosts/traps.py`); nobody is asked.

mod counts;
mod pattern;
pub mod trap;

pub use counts::{CountKey, Counts, Decision, HostCounts};
pub use pattern::pattern;
