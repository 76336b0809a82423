//! Errors of the state, as Python exceptions that every binding shares.

use gossamer_core::store::state::StateError as Error;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(gossamer._native, StateError, PyException);
create_exception!(gossamer._native, StateFullError, StateError);
create_exception!(gossamer._native, StateFormatError, StateError);
create_exception!(gossamer._native, StateInUseError, StateError);
create_exception!(gossamer._native, VersionError, PyException);

/// The exception for an error of the state.
pub fn state_error(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::Store(_) => StateError::new_err(text),
        Error::DiskFull(_) => StateFullError::new_err(text),
        Error::Format(_) => StateFormatError::new_err(text),
        Error::InUse(_) => StateInUseError::new_err(text),
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("StateError", py.get_type::<StateError>())?;
    module.add("StateFullError", py.get_type::<StateFullError>())?;
    module.add("StateFormatError", py.get_type::<StateFormatError>())?;
    module.add("StateInUseError", py.get_type::<StateInUseError>())?;
    module.add("VersionError", py.get_type::<VersionError>())
}
