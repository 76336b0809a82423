//! Bindings of the robots rules: for `gossamer why`, policies and tests.

use gossamer_core::fetch::by_status;
use gossamer_core::frontier::robots::{self, Field};
use gossamer_core::outcome::Outcome;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::borrow::Cow;

/// The rules of one site for one agent.
#[pyclass(frozen, module = "gossamer._native")]
struct Robots {
    rules: robots::Robots,
}

#[pymethods]
impl Robots {
    #[new]
    fn new(body: &[u8], agent: &str) -> Self {
        Robots {
            rules: robots::Robots::parse(body, agent),
        }
    }

    /// Whether the path and query of a canonical URL may be visited.
    fn allows(&self, path_and_query: &str) -> bool {
        self.rules.allows(path_and_query)
    }

    /// The rule that decides, as `(line, allow, pattern)`; `None` when none matches.
    fn which_rule(&self, path_and_query: &str) -> Option<(u32, bool, String)> {
        self.rules
            .which_rule(path_and_query)
            .map(|rule| (rule.line, rule.allow, rule.pattern))
    }

    /// Seconds that the site asks for between two visits.
    #[getter]
    fn crawl_delay(&self) -> Option<f64> {
        self.rules.crawl_delay().map(|delay| delay.as_secs_f64())
    }

    /// The sitemaps that the site names, as it spells them.
    #[getter]
    fn sitemaps(&self) -> Vec<String> {
        self.rules.sitemaps().map(str::to_owned).collect()
    }

    /// The number of rules kept.
    #[getter]
    fn rule_count(&self) -> usize {
        self.rules.len()
    }

    /// Bytes on the heap.
    #[getter]
    fn heap_size(&self) -> usize {
        self.rules.heap_size()
    }
}

/// The lines that have a key, as `(number, key, value)`.
#[pyfunction]
fn robots_lines<'py>(
    py: Python<'py>,
    body: Cow<'_, [u8]>,
) -> Vec<(u32, &'static str, Bound<'py, PyBytes>)> {
    let name = |field| match field {
        Field::UserAgent => "user-agent",
        Field::Allow => "allow",
        Field::Disallow => "disallow",
        Field::CrawlDelay => "crawl-delay",
        Field::Sitemap => "sitemap",
        Field::Unknown => "unknown",
    };
    robots::lines(&robots::readable(&body))
        .map(|line| (line.number, name(line.field), PyBytes::new(py, line.value)))
        .collect()
}

/// What follows from the answer to a visit of `robots.txt`, after so many redirects; `None` for no
/// answer at all. One of `rules`, `follow`, `allow_all`, `unreachable`, `nobody_answered`.
#[pyfunction]
#[pyo3(signature = (status, redirects=0))]
fn robots_meaning(status: Option<u16>, redirects: u8) -> &'static str {
    let outcome = status.map_or(Outcome::ConnectFailed, by_status);
    robots::meaning(outcome, redirects).as_str()
}

/// The product token at the head of a user agent.
#[pyfunction]
fn product_token(agent: &str) -> &str {
    robots::product_token(agent)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Robots>()?;
    module.add_function(wrap_pyfunction!(robots_lines, module)?)?;
    module.add_function(wrap_pyfunction!(robots_meaning, module)?)?;
    module.add_function(wrap_pyfunction!(product_token, module)?)
}
