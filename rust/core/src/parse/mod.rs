//! The `parse` module.
