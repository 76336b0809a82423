//! The parse stage by itself, without Python between the pages.

use gossamer_core::canonical::{Base, Rules, canonical};
use gossamer_core::parse::{self, Input, ParseSettings};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Parses each body `rounds` times as HTML, without the interpreter lock and without handing
/// anything to Python; with `resolve` every link is made absolute. Gives the number of links.
#[pyfunction]
#[pyo3(signature = (bodies, url, rounds, *, resolve=false, simhash=true))]
fn parse_rounds(
    py: Python<'_>,
    bodies: Vec<Bound<'_, PyBytes>>,
    url: &str,
    rounds: usize,
    resolve: bool,
    simhash: bool,
) -> usize {
    let bodies: Vec<&[u8]> = bodies.iter().map(|body| body.as_bytes()).collect();
    let base = Base::parse(url, None).ok();
    let rules = Rules::default();
    let settings = ParseSettings {
        simhash,
        ..ParseSettings::default()
    };
    py.detach(|| {
        let mut links = 0;
        for body in bodies.iter().cycle().take(bodies.len() * rounds) {
            let input = Input {
                url,
                content_type: Some("text/html"),
                body,
                ..Input::default()
            };
            let page = parse::parse(&input, &settings);
            links += match &base {
                Some(base) if resolve => page
                    .links
                    .iter()
                    .filter(|link| canonical(page.text(link.target), Some(base), &rules).is_ok())
                    .count(),
                _ => page.links.len(),
            };
        }
        links
    })
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(parse_rounds, module)?)
}
