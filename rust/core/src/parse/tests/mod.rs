#![allow(clippy::unwrap_used, clippy::panic)]

mod doctype;
mod encoding;
mod hostile;
mod pages;
mod rows;
mod signals;
mod tokens;

use std::path::PathBuf;

/// The conformance data beside the project, or nothing (the caller says that it skips).
fn suite(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/suites")
        .join(name);
    if path.exists() {
        Some(path)
    } else {
        eprintln!("skipped: no conformance data at ../shared/suites/{name}");
        None
    }
}
