//! The `warc` module.
