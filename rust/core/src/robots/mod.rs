//! The `robots` module.
