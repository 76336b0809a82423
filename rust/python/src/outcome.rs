use gossamer_core::links::Reason;
use gossamer_core::outcome::Outcome;
use pyo3::prelude::*;

/// The spellings of all outcomes, in the order of their numbers.
#[pyfunction]
fn outcome_names() -> Vec<&'static str> {
    Outcome::ALL
        .iter()
        .map(|outcome| outcome.as_str())
        .collect()
}

/// The spellings of all reasons why a link is not followed, in the order of their numbers.
#[pyfunction]
fn left_out_names() -> Vec<&'static str> {
    Reason::ALL.iter().map(|reason| reason.as_str()).collect()
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(outcome_names, module)?)?;
    module.add_function(wrap_pyfunction!(left_out_names, module)?)
}
