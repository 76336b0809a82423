//! Bindings of the canonical stage: for seeds, settings and questions, in batches where it counts.

use gossamer_core::canonical::{self, Base, Grouping, Names, Refusal, Rules, Url};
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

create_exception!(
    _native,
    UrlRefused,
    PyValueError,
    "A text that is no URL we could fetch: `args` is the reason in one word and in a sentence."
);

pub fn refused(refusal: Refusal) -> PyErr {
    UrlRefused::new_err((refusal.as_str(), refusal.to_string()))
}

/// What the canonical form removes and refuses. `None` stands for the default lists.
#[pyclass(frozen, module = "gossamer._native")]
#[derive(Debug)]
pub struct UrlRules {
    rules: Rules,
}

#[pymethods]
impl UrlRules {
    #[new]
    #[pyo3(signature = (strip_params=None, strip_session=None, max_length=2048, grouping="host", session_token=16))]
    fn new(
        strip_params: Option<Vec<String>>,
        strip_session: Option<Vec<String>>,
        max_length: usize,
        grouping: &str,
        session_token: usize,
    ) -> PyResult<Self> {
        let mut rules = Rules {
            max_length,
            session_token,
            ..Rules::default()
        };
        if let Some(names) = strip_params {
            rules.strip_params = Names::new(names);
        }
        if let Some(names) = strip_session {
            rules.strip_session = Names::new(names);
        }
        rules.grouping = match grouping {
            "host" => Grouping::Host,
            "first_label" => Grouping::FirstLabel,
            other => {
                let message = format!("grouping is 'host' or 'first_label', not {other:?}");
                return Err(PyValueError::new_err(message));
            }
        };
        Ok(UrlRules { rules })
    }
}

impl UrlRules {
    pub fn rules(&self) -> &Rules {
        &self.rules
    }
}

/// The given rules, or the default ones.
pub fn rules_or_default(given: Option<&UrlRules>) -> Rules {
    given.map_or_else(Rules::default, |given| given.rules().clone())
}

fn base_of(base: Option<&str>) -> PyResult<Option<Base>> {
    base.map(|text| Base::parse(text, None).map_err(refused))
        .transpose()
}

/// The canonical form of a link; raises `UrlRefused`.
#[pyfunction]
#[pyo3(signature = (raw, base=None, rules=None))]
fn canonical_url(raw: &str, base: Option<&str>, rules: Option<&UrlRules>) -> PyResult<String> {
    let base = base_of(base)?;
    let made = canonical::canonical(raw, base.as_ref(), &rules_or_default(rules));
    made.map(Url::into_string).map_err(refused)
}

/// Each link as `(url, None)` or `(None, reason)`, in order.
#[pyfunction]
#[pyo3(signature = (raws, base=None, rules=None, charset=None))]
fn canonical_urls(
    py: Python<'_>,
    raws: Vec<String>,
    base: Option<&str>,
    rules: Option<&UrlRules>,
    charset: Option<&str>,
) -> PyResult<Vec<(Option<String>, Option<&'static str>)>> {
    let base = base_of(base)?.map(|base| match charset {
        Some(name) => base.in_charset(name),
        None => base,
    });
    let rules = rules_or_default(rules);
    Ok(py.detach(|| {
        let one = |raw: &String| match canonical::canonical(raw, base.as_ref(), &rules) {
            Ok(url) => (Some(url.into_string()), None),
            Err(refusal) => (None, Some(refusal.as_str())),
        };
        raws.iter().map(one).collect()
    }))
}

fn read(url: String, rules: Option<&UrlRules>) -> PyResult<Url> {
    let grouping = rules.map_or(Grouping::Host, |given| given.rules().grouping);
    Url::from_canonical(url, grouping).map_err(refused)
}

/// The 64-bit fingerprint of a canonical URL: its host's group in the high half.
#[pyfunction]
#[pyo3(signature = (url, rules=None))]
fn fingerprint(url: String, rules: Option<&UrlRules>) -> PyResult<u64> {
    read(url, rules).map(|url| url.fingerprint())
}

/// The 64-bit key of a canonical URL's host: its group in the high half.
#[pyfunction]
#[pyo3(signature = (url, rules=None))]
fn host_key(url: String, rules: Option<&UrlRules>) -> PyResult<u64> {
    read(url, rules).map(|url| url.host_key())
}

/// The 16 bytes by which the store knows a canonical URL.
#[pyfunction]
#[pyo3(signature = (url, rules=None))]
fn url_key(url: String, rules: Option<&UrlRules>) -> PyResult<[u8; 16]> {
    read(url, rules).map(|url| url.key())
}

/// The authority of a canonical URL, without a default port.
#[pyfunction]
fn host(url: String) -> PyResult<String> {
    read(url, None).map(|url| url.host().to_owned())
}

/// The partition of a host key.
#[pyfunction]
fn partition(host_key: u64, partitions: u32) -> PyResult<u32> {
    if partitions == 0 {
        return Err(PyValueError::new_err("a crawl has at least one partition"));
    }
    Ok(canonical::partition(host_key, partitions))
}

/// The registered domain of a canonical URL; `None` for an address or a bare public suffix.
#[pyfunction]
fn registered_domain(url: String) -> PyResult<Option<String>> {
    read(url, None).map(|url| url.registered_domain().map(str::to_owned))
}

/// The address that a canonical URL's host spells; `None` if it is a name.
#[pyfunction]
fn literal_address(url: String) -> PyResult<Option<String>> {
    read(url, None).map(|url| canonical::literal_address(&url).map(|address| address.to_string()))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("UrlRefused", module.py().get_type::<UrlRefused>())?;
    module.add("TRACKING_PARAMS", canonical::TRACKING_PARAMS)?;
    module.add("SESSION_PARAMS", canonical::SESSION_PARAMS)?;
    module.add("SESSION_TOKEN", canonical::SESSION_TOKEN)?;
    module.add_class::<UrlRules>()?;
    module.add_function(wrap_pyfunction!(canonical_url, module)?)?;
    module.add_function(wrap_pyfunction!(canonical_urls, module)?)?;
    module.add_function(wrap_pyfunction!(fingerprint, module)?)?;
    module.add_function(wrap_pyfunction!(host_key, module)?)?;
    module.add_function(wrap_pyfunction!(url_key, module)?)?;
    module.add_function(wrap_pyfunction!(host, module)?)?;
    module.add_function(wrap_pyfunction!(partition, module)?)?;
    module.add_function(wrap_pyfunction!(registered_domain, module)?)?;
    module.add_function(wrap_pyfunction!(literal_address, module)?)
}
