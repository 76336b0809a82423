//! Stage 9, `exchange`: a URL to the owner of its host.
//!
//! Takes the links of stored pages whose partition belongs to another node; gives each to that node.
//! Guarantees: a link is in this node's store with its page, and leaves the list of what is to be
//! sent only when the engine has acknowledged it; what was sent is kept for a while and can be sent
//! again; memory is bounded whatever the receiver does. Receiving twice is harmless.
//!
//! Whether a link leaves is decided in `node/exchange.rs`. Nothing here knows the engine: messages are
//! bytes, and who carries them (`src/gossamer/cluster/exchange.py`) asks [`Carrier`] for them. [`Fence`] and [`Grants`] keep two nodes from visiting the same host or
//! address at the same time.

mod carrier;
mod fence;
mod grants;
mod message;
mod outbox;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod outbox_tests;
mod recent;

pub use carrier::{Carrier, Incoming, Outgoing};
pub use fence::Fence;
pub use grants::Grants;
pub use message::{Unreadable, decode, encode};
pub use outbox::{Outbox, OutboxSettings, OutboxView};
