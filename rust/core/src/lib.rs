//! The native half of Gossamer. A module per stage of the ring, named as the stage is named in
//! `docs/path/`; nothing in this crate knows of Python.
//!
//! ```text
//! seed → canonical → seen → frontier → fetch → parse → store → links → exchange
//! ```
//!
//! `node` is the loop that joins them, `doors` where it asks policies, `codec` how records spell numbers and texts.

pub mod canonical;
pub mod clock;
mod codec;
mod date;
pub mod doors;
pub mod exchange;
pub mod fetch;
pub mod frontier;
pub mod links;
#[cfg(any(test, feature = "testing"))]
mod measure;
#[cfg(test)]
mod mutation;
pub mod node;
pub mod outcome;
pub mod parse;
pub mod seed;
pub mod seen;
pub mod store;
