//! `gossamer._native`: the one private extension module. Each file registers itself.

use pyo3::prelude::*;

/// Pages are made of many short-lived pieces on several threads: what this allocator is made for.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod canonical;
mod doors;
mod fetch;
mod node;
mod outcome;
mod parse;
mod pool;
mod robots;
mod rules;
mod simweb;
mod sitemap;
mod state;
#[cfg(feature = "testing")]
mod testing;
mod warc;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    outcome::register(module)?;
    canonical::register(module)?;
    robots::register(module)?;
    parse::register(module)?;
    fetch::register(module)?;
    warc::register(module)?;
    state::register(module)?;
    pool::register(module)?;
    doors::register(module)?;
    node::register(module)?;
    sitemap::register(module)?;
    rules::register(module)?;
    simweb::register(module)?;
    #[cfg(feature = "testing")]
    testing::register(module)?;
    Ok(())
}
