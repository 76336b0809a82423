//! The `canonical` module.
