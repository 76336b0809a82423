//! Binding of the sitemap reader.

use crate::canonical::{UrlRules, refused, rules_or_default};
use gossamer_core::canonical::Base;
use gossamer_core::seed::sitemap::{self, Limits};
use pyo3::prelude::*;
use std::borrow::Cow;

type Entry = (String, Option<u64>, Option<&'static str>, Option<f32>);

/// A sitemap that was read.
#[pyclass(frozen, module = "gossamer._native")]
struct Sitemap {
    map: sitemap::Sitemap,
}

#[pymethods]
impl Sitemap {
    /// `urlset`, `index`, `text`, `rss`, `atom` or `unknown`.
    #[getter]
    fn kind(&self) -> &'static str {
        self.map.kind.as_str()
    }

    /// Whether the entries are sitemaps rather than pages.
    #[getter]
    fn is_index(&self) -> bool {
        self.map.is_index()
    }

    /// Whether a limit or broken syntax ended the reading early.
    #[getter]
    fn truncated(&self) -> bool {
        self.map.truncated
    }

    /// Entries without a URL that could be fetched.
    #[getter]
    fn refused(&self) -> u32 {
        self.map.refused
    }

    /// `(url, lastmod in microseconds, changefreq, priority)` in the order of the document.
    #[getter]
    fn entries(&self) -> Vec<Entry> {
        let one = |entry: &sitemap::Entry| {
            let frequency = entry.changefreq.map(|frequency| frequency.as_str());
            (
                entry.loc.as_str().to_owned(),
                entry.lastmod,
                frequency,
                entry.priority,
            )
        };
        self.map.entries.iter().map(one).collect()
    }
}

/// Reads a sitemap that was found at `url`; gzip is unpacked under the limit.
#[pyfunction]
#[pyo3(signature = (body, url, rules=None, max_bytes=52_428_800, max_entries=50_000))]
fn parse_sitemap(
    py: Python<'_>,
    body: Cow<'_, [u8]>,
    url: &str,
    rules: Option<&UrlRules>,
    max_bytes: usize,
    max_entries: usize,
) -> PyResult<Sitemap> {
    let base = Base::parse(url, None).map_err(refused)?;
    let rules = rules_or_default(rules);
    let limits = Limits {
        max_bytes,
        max_entries,
    };
    let map = py.detach(|| sitemap::parse(&body, &base, &rules, limits));
    Ok(Sitemap { map })
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Sitemap>()?;
    module.add_function(wrap_pyfunction!(parse_sitemap, module)?)
}
