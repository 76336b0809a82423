//! Errors of the state, as Python exceptions that every binding shares.

use gossamer_core::state::StateError;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(gossamer._native, StoreError, PyException);
create_exception!(gossamer._native, DiskFullError, StoreError);
create_exception!(gossamer._native, StateFormatError, StoreError);
create_exception!(gossamer._native, StateInUseError, StoreError);

/// The exception for an error of the state.
pub fn state_error(error: StateError) -> PyErr {
    let text = error.to_string();
    match error {
        StateError::Store(_) => StoreError::new_err(text),
        StateError::DiskFull(_) => DiskFullError::new_err(text),
        StateError::Format(_) => StateFormatError::new_err(text),
        StateError::InUse(_) => StateInUseError::new_err(text),
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("StoreError", py.get_type::<StoreError>())?;
    module.add("DiskFullError", py.get_type::<DiskFullError>())?;
    module.add("StateFormatError", py.get_type::<StateFormatError>())?;
    module.add("StateInUseError", py.get_type::<StateInUseError>())
}
