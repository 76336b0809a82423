//! The `fetch` module.
