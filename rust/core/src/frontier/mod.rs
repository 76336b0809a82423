//! The `frontier` module.
