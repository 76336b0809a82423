//! Classes for the contract tests and the benchmarks: single stages on a store of their own. They are in
//! builds for tests only (cargo feature `testing`, which `scripts/setup native` sets), never in a wheel.

mod fetch;
mod fetch_settings;
mod frontier;
mod parse;
mod rows;
mod seen;

use pyo3::prelude::*;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    fetch::register(module)?;
    parse::register(module)?;
    rows::register(module)?;
    seen::register(module)?;
    frontier::register(module)
}
