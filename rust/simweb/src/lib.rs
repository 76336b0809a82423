//! The simulated web: a deterministic web from a seed, served fast, with known truth.
//!
//! `model` is pure: everything about a page follows from the options and its number, nothing is
//! stored per page. `server` speaks HTTP and DNS and writes the request log.

pub mod model;
pub mod options;
pub mod server;

pub use model::Model;
pub use options::{BadOption, Options};
pub use server::{Server, ServerConfig};
