//! The rules of a crawl, for who reads its files.

use std::sync::Arc;

use gossamer_core::links::rules::RuleSet;
use gossamer_core::node::NodeSettings;
use pyo3::prelude::*;

use crate::node::raised;

/// Rules, compiled from a node's settings.
#[pyclass(name = "Rules", module = "gossamer._native", frozen)]
struct PyRules {
    rules: Option<Arc<RuleSet>>,
}

#[pymethods]
impl PyRules {
    #[new]
    fn new(settings: &str) -> PyResult<PyRules> {
        let settings = NodeSettings::read(settings).map_err(raised)?;
        let policies = settings.policies(&[]).map_err(raised)?;
        Ok(PyRules {
            rules: policies.rules,
        })
    }

    /// Gap in seconds, connections and pages that rules say for a host, by its name with its port.
    fn host(&self, name: &str) -> (Option<f64>, Option<u8>, Option<u32>) {
        let terms = self.rules.as_ref().map(|rules| rules.host(name));
        let terms = terms.unwrap_or_default();
        let gap = terms.delay.map(|micros| micros as f64 / 1e6);
        (gap, terms.per_host, terms.quota)
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyRules>()
}
