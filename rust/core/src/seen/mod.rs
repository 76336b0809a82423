//! The `seen` module.
