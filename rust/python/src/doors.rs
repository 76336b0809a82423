//! The doors as Python sees them: batches of questions out, columns of answers back.

use std::sync::Arc;
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, to_ffi};
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Schema};
use gossamer_core::doors::{self, Door, Doors, Kind, Values};
use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList};

/// The doors of a node. Calls wait without the interpreter lock, and never for the node.
#[derive(Debug)]
#[pyclass(name = "Doors", module = "gossamer._native", frozen)]
pub struct PyDoors {
    pub doors: Doors,
}

fn door(name: &str) -> PyResult<Door> {
    Door::from_name(name).ok_or_else(|| PyValueError::new_err(format!("no such door: {name}")))
}

#[pymethods]
impl PyDoors {
    /// The next batch of a door, or None if none came within `wait` seconds.
    fn next(&self, py: Python<'_>, door: &str, wait: f64) -> PyResult<Option<PyBatch>> {
        let door = self::door(door)?;
        let wait = Duration::from_secs_f64(wait.clamp(0.0, 3600.0));
        let batch = py.detach(|| self.doors.next(door, wait));
        let batch = batch.map_err(|_| PyRuntimeError::new_err("closed"))?;
        Ok(batch.map(|inner| PyBatch { inner }))
    }

    /// Answers a batch with columns of values; False: too late. ValueError: the answer is wrong, and
    /// the batch has the native default.
    fn answer(&self, py: Python<'_>, number: u64, columns: &Bound<'_, PyDict>) -> PyResult<bool> {
        let columns = match read_columns(Door::of_batch(number), columns) {
            Ok(columns) => columns,
            Err(what) => {
                self.doors.refuse(number, &what);
                return Err(PyValueError::new_err(what));
            }
        };
        py.detach(|| self.doors.answer(number, columns))
            .map_err(PyValueError::new_err)
    }

    /// The policy could not answer, or (`nonsense`) its answer could not be used: the native default
    /// goes on. False: too late.
    #[pyo3(signature = (number, reason, kind = "failed"))]
    fn fail(&self, number: u64, reason: &str, kind: &str) -> PyResult<bool> {
        match kind {
            "failed" => Ok(self.doors.fail(number, reason)),
            "nonsense" => Ok(self.doors.refuse(number, reason)),
            _ => Err(PyValueError::new_err(format!(
                "kind: {kind:?} is neither failed nor nonsense"
            ))),
        }
    }

    /// How the policies of the doors are doing, as JSON.
    fn report(&self) -> PyResult<String> {
        let now = std::time::Instant::now();
        let report: serde_json::Map<String, serde_json::Value> = Door::ALL
            .iter()
            .map(|&door| {
                let report = self.doors.report(door, now);
                (door.as_str().to_owned(), serde_json::json!(report))
            })
            .collect();
        Ok(serde_json::Value::from(report).to_string())
    }
}

fn read_columns(door: Door, columns: &Bound<'_, PyDict>) -> Result<Vec<(String, Values)>, String> {
    let mut read = Vec::with_capacity(columns.len());
    for (name, list) in columns.iter() {
        let name: String = name
            .extract()
            .map_err(|_| "a column's name is no text".to_owned())?;
        let Some(kind) = door.answer_kind(&name) else {
            return Err(format!("{}: there is no column {name}", door.as_str()));
        };
        let values = match kind {
            Kind::Bool => list.extract().map(Values::Bool),
            Kind::Number | Kind::Score => list.extract().map(Values::Number),
            Kind::Whole => list.extract().map(Values::Whole),
            Kind::Text | Kind::Json => list.extract().map(Values::Text),
            Kind::Texts => list.extract().map(Values::Texts),
        };
        let values = values.map_err(|error| format!("{name}: {error}"))?;
        read.push((name, values));
    }
    Ok(read)
}

/// A batch of questions: a table of typed columns.
#[derive(Debug)]
#[pyclass(name = "Batch", module = "gossamer._native", frozen)]
pub struct PyBatch {
    inner: Arc<doors::Batch>,
}

#[pymethods]
impl PyBatch {
    #[getter]
    fn door(&self) -> &'static str {
        self.inner.door.as_str()
    }

    #[getter]
    fn number(&self) -> u64 {
        self.inner.number
    }

    #[getter]
    fn columns(&self) -> Vec<String> {
        self.inner.table.names().collect()
    }

    fn __len__(&self) -> usize {
        self.inner.table.len()
    }

    /// The values of a column; KeyError: nobody asked for it.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let column = self.inner.table.column(name);
        let column = column.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        values(py, column)
    }

    /// The columns' names and types, for the Arrow PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let table = self.inner.table.as_struct();
        let schema = Schema::new(table.fields().clone());
        let schema = FFI_ArrowSchema::try_from(schema).map_err(failed)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The table as it lies in memory, for the Arrow PyCapsule interface. No copy is made.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // The interface lets a producer keep its own types.
        let _ = requested_schema;
        let table = self.inner.table.as_struct();
        let (array, schema): (FFI_ArrowArray, FFI_ArrowSchema) =
            to_ffi(&table.to_data()).map_err(failed)?;
        Ok((
            PyCapsule::new_with_value(py, schema, c"arrow_schema")?,
            PyCapsule::new_with_value(py, array, c"arrow_array")?,
        ))
    }
}

fn failed(error: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// A column as Python values: texts, bytes, numbers, lists of them, dicts, and None.
fn values<'py>(py: Python<'py>, column: &ArrayRef) -> PyResult<Bound<'py, PyList>> {
    match column.data_type() {
        DataType::Utf8 => PyList::new(py, column.as_string::<i32>().iter()),
        DataType::Binary => {
            let rows = column.as_binary::<i32>().iter();
            PyList::new(py, rows.map(|row| row.map(|bytes| PyBytes::new(py, bytes))))
        }
        DataType::UInt64 => PyList::new(py, column.as_primitive::<UInt64Type>().iter()),
        DataType::Float64 => PyList::new(py, column.as_primitive::<Float64Type>().iter()),
        DataType::Boolean => PyList::new(py, column.as_boolean().iter()),
        DataType::Struct(fields) => {
            let rows = column.as_struct();
            let mut lists = Vec::with_capacity(fields.len());
            for (at, field) in fields.iter().enumerate() {
                lists.push((field.name(), values(py, rows.column(at))?));
            }
            let list = PyList::empty(py);
            for row in 0..rows.len() {
                let dict = PyDict::new(py);
                for (name, values) in &lists {
                    dict.set_item(name, values.get_item(row)?)?;
                }
                list.append(dict)?;
            }
            Ok(list)
        }
        DataType::List(_) => {
            let list = PyList::empty(py);
            for row in column.as_list::<i32>().iter() {
                list.append(row.map(|row| values(py, &row)).transpose()?)?;
            }
            Ok(list)
        }
        other => Err(failed(format!("a column of the type {other}"))),
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyDoors>()?;
    module.add_class::<PyBatch>()
}
