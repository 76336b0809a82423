//! The native half of Gossamer. A module per stage of the ring, named as the stage is named in
//! `docs/path/`; nothing in this crate knows of Python.
//!
//! ```text
//! seed → canonical → seen → frontier → fetch → parse → store → links → exchange
//! ```

pub mod alias;
pub mod canonical;
pub mod clock;
pub mod exchange;
pub mod fetch;
pub mod frontier;
pub mod links;
#[cfg(test)]
mod mutation;
pub mod node;
pub mod outcome;
pub mod parse;
pub mod robots;
pub mod seen;
pub mod sitemap;
pub mod state;
pub mod visit;
pub mod warc;
