//! What Python asks of the fetch stage: addresses that are not visited, bodies as they were sent.

use gossamer_core::fetch::{decoded, guard};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Why a crawler of the public internet does not visit this address; None when it does.
#[pyfunction]
fn forbidden_address(ip: &str) -> PyResult<Option<&'static str>> {
    let ip = ip
        .parse()
        .map_err(|_| PyValueError::new_err(format!("{ip:?} is no address")))?;
    Ok(guard::forbidden(ip))
}

/// The text of a stored body, given its Content-Encoding, and whether that is all of it.
#[pyfunction]
#[pyo3(signature = (body, content_encoding, limit=1<<28))]
fn decode_body<'py>(
    py: Python<'py>,
    body: &[u8],
    content_encoding: &str,
    limit: usize,
) -> (Bound<'py, PyBytes>, bool) {
    let (text, whole) = py.detach(|| decoded(body, content_encoding, limit));
    (PyBytes::new(py, &text), whole)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(forbidden_address, module)?)?;
    module.add_function(wrap_pyfunction!(decode_body, module)?)
}
