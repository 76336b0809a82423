//! Parse: a page in, what it says out. Bodies are parsed without the interpreter lock.

use gossamer_core::parse::{self, Input, Page, ParseSettings};
use pyo3::prelude::*;
use std::time::{SystemTime, UNIX_EPOCH};

/// Kind, target, relations (separated by blanks), anchor text, language.
type LinkRow<'a> = (&'static str, &'a str, String, &'a str, &'a str);

/// What a page says. Texts of links are as written, not resolved.
#[pyclass(frozen, module = "gossamer._native", name = "ParsedPage")]
struct ParsedPage(Page);

#[pymethods]
impl ParsedPage {
    #[getter]
    fn kind(&self) -> &'static str {
        self.0.kind.as_str()
    }

    #[getter]
    fn charset(&self) -> &'static str {
        self.0.charset
    }

    #[getter]
    fn title(&self) -> &str {
        &self.0.title
    }

    #[getter]
    fn lang(&self) -> &str {
        &self.0.lang
    }

    #[getter]
    fn text_bytes(&self) -> u32 {
        self.0.text_bytes
    }

    #[getter]
    fn simhash(&self) -> u64 {
        self.0.simhash
    }

    #[getter]
    fn base(&self) -> Option<&str> {
        self.0.base.as_deref()
    }

    #[getter]
    fn canonical(&self) -> Option<&str> {
        self.0.canonical()
    }

    #[getter]
    fn noindex(&self) -> bool {
        self.0.noindex
    }

    #[getter]
    fn nofollow(&self) -> bool {
        self.0.nofollow
    }

    #[getter]
    fn noarchive(&self) -> bool {
        self.0.noarchive
    }

    /// Seconds since the epoch.
    #[getter]
    fn unavailable_after(&self) -> Option<f64> {
        self.0.unavailable_after.map(|time| time as f64 / 1e6)
    }

    #[getter]
    fn refresh(&self) -> Option<(u32, &str)> {
        self.0
            .refresh
            .map(|refresh| (refresh.seconds, self.0.text(refresh.target)))
    }

    #[getter]
    fn links_cut(&self) -> u32 {
        self.0.links_cut
    }

    #[getter]
    fn links(&self) -> Vec<LinkRow<'_>> {
        let page = &self.0;
        page.links
            .iter()
            .map(|link| {
                let rel: Vec<_> = link.rel.names().collect();
                (
                    link.kind.as_str(),
                    page.text(link.target),
                    rel.join(" "),
                    page.text(link.anchor),
                    page.text(link.hreflang),
                )
            })
            .collect()
    }
}

fn micros(seconds: Option<f64>) -> u64 {
    let seconds = seconds.unwrap_or_else(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.map_or(0.0, |since| since.as_secs_f64())
    });
    (seconds * 1e6) as u64
}

/// Parses a response body (content encodings undone). Of `headers`, `Link` and `X-Robots-Tag` count.
/// `now`, in seconds since the epoch, is when it was received; absent: now.
#[pyfunction]
#[pyo3(signature = (
    body, url, content_type=None, headers=Vec::new(), *, agent="gossamer", links_bytes=64 << 20,
    anchor_bytes=256, forms=false, resources=true, simhash=true, now=None
))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments in Python")]
fn parse_page(
    py: Python<'_>,
    body: &[u8],
    url: &str,
    content_type: Option<&str>,
    headers: Vec<(String, String)>,
    agent: &str,
    links_bytes: usize,
    anchor_bytes: usize,
    forms: bool,
    resources: bool,
    simhash: bool,
    now: Option<f64>,
) -> ParsedPage {
    let settings = ParseSettings {
        agent: agent.to_owned(),
        links_bytes,
        anchor_bytes,
        forms,
        resources,
        simhash,
        text_bytes: 0,
    };
    let named = |wanted: &str| -> Vec<&str> {
        headers
            .iter()
            .filter(|(name, _)| name.eq_ignore_ascii_case(wanted))
            .map(|(_, value)| value.as_str())
            .collect()
    };
    let input = Input {
        url,
        content_type,
        link: &named("link"),
        robots: &named("x-robots-tag"),
        now: micros(now),
        body,
    };
    ParsedPage(py.detach(|| parse::parse(&input, &settings)))
}

/// In how many bits two SimHashes differ.
#[pyfunction]
fn simhash_distance(a: u64, b: u64) -> u32 {
    parse::simhash_distance(a, b)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ParsedPage>()?;
    module.add_function(wrap_pyfunction!(parse_page, module)?)?;
    module.add_function(wrap_pyfunction!(simhash_distance, module)?)
}
