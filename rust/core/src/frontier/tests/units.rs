//! One behaviour at a time.
