//! Store: WARC 1.1 files, their CDXJ index, and the fetch log.
//!
//! Takes: the exact bytes of a visit (request head, response head, entity body) and its facts.
//! Gives: gzip members, and for each the file, offset and length it was appended at.
//! Guarantees:
//! * a member is a whole record: it inflates to one valid WARC record, whatever the server sent;
//! * an append is seen whole or not at all, also when the disk is full;
//! * after a crash, [`Writer::resume`] with the committed [`Position`] leaves every committed
//!   record once and nothing else.
//!
//! Two halves: [`Builder`] makes members on any thread without a lock, [`Writer`] and
//! [`LogWriter`] have one owner and append them.

mod append;
pub mod cdxj;
mod compress;
pub mod date;
mod digest;
mod error;
mod fields;
pub mod head;
mod ids;
pub mod log;
mod merge;
pub mod read;
mod record;
mod sequence;
pub mod surt;
#[cfg(test)]
mod tests;
mod writer;

pub use digest::{Digest, sha1};
pub use error::WarcError;
pub use ids::RecordId;
pub use log::{LogLine, LogWriter};
pub use record::{Builder, Kind, Member, Meta, RefersTo, Truncated};
pub use sequence::{FsyncPolicy, Position};
pub use writer::{Location, Settings, Writer};

/// Microseconds since the epoch, always passed in.
pub type Micros = u64;
