//! Cases from outside about attribute values and links: meta refresh, srcset, trees.

use super::super::page::{LinkKind, Page};
use super::super::{Input, ParseSettings, parse, refresh, srcset};
use super::suite;
use serde_json::Value;
use std::fs;

fn rows(name: &str) -> Option<Vec<Value>> {
    let text = fs::read_to_string(suite(name)?).unwrap();
    Some(serde_json::from_str(&text).unwrap())
}

/// What a URL parser drops from anywhere inside an address.
fn without_breaks(url: &str) -> String {
    url.replace(['\t', '\n', '\r'], "")
}

#[test]
fn wpt_meta_refresh() {
    let Some(rows) = rows("html-wpt/meta_refresh.json") else {
        return;
    };
    for row in &rows {
        let input = row["input"].as_str().unwrap();
        let expected = row["time"].as_u64().map(|time| {
            let url = row["url"].as_str().unwrap();
            let own = url == "refresh.sub.html";
            (
                time as u32,
                if own { String::new() } else { url.to_owned() },
            )
        });
        let found = refresh::parse(input).map(|(time, url)| (time, without_breaks(url)));
        assert_eq!(found, expected, "{input:?}");
    }
    assert_eq!(rows.len(), 69);
}

#[test]
fn wpt_srcset() {
    let Some(rows) = rows("html-wpt/srcset.json") else {
        return;
    };
    let (mut named, mut refused) = (0, 0);
    for row in &rows {
        let value = row["srcset"].as_str().unwrap();
        let expected = row["current_src"].as_str().unwrap();
        let mut found = Vec::new();
        srcset::candidates(value, |url| found.push(url.to_owned()));
        if expected.is_empty() {
            // A browser shows nothing: no candidate, or one with a descriptor that it refuses.
            refused += usize::from(!found.is_empty());
            assert!(
                found.iter().all(|url| url.starts_with("data:,")),
                "{value:?}"
            );
        } else {
            assert!(
                found.iter().any(|url| url == expected),
                "{value:?}: {found:?}"
            );
            named += 1;
        }
        // No address may come of a wrong split: each candidate is a whole address of the case.
        for url in &found {
            let whole =
                url == expected || ["data:,a", "data:,b", "data:,c"].contains(&url.as_str());
            // These stand alone between commas, so the standard itself takes them for addresses.
            let whole = whole || ["]", "}", "\"", "*/"].contains(&url.as_str());
            assert!(whole, "{value:?}: {url:?}");
        }
    }
    assert_eq!((rows.len(), named, refused), (105, 85, 17));
}

fn page(html: &str) -> Page {
    let input = Input {
        content_type: Some("text/html"),
        body: html.as_bytes(),
        ..Input::default()
    };
    parse(&input, &ParseSettings::default())
}

#[test]
fn links_of_the_tree_cases() {
    let Some(rows) = rows("html-html5lib-tests/derived_links.json") else {
        return;
    };
    let (mut same, mut other) = (0, 0);
    for row in &rows {
        let html = row["html"].as_str().unwrap().replace("\\n", "\n");
        // The tree repeats an element that formatting was rebuilt with; the document has it once.
        let mut expected: Vec<String> = Vec::new();
        for attribute in row["attrs"].as_array().unwrap() {
            let element = attribute[0].as_str().unwrap();
            let value = attribute[2].as_str().unwrap().replace("\\n", "\n");
            if element != "a" {
                other += 1;
            } else if !expected.contains(&value) {
                expected.push(value);
            }
        }
        let page = page(&html);
        let found: Vec<_> = page
            .links
            .iter()
            .map(|link| page.text(link.target))
            .collect();
        let expected: Vec<_> = expected.iter().map(|value| value.trim()).collect();
        assert_eq!(found, expected, "{html}");
        assert!(page.links.iter().all(|link| link.kind == LinkKind::A));
        same += 1;
    }
    assert_eq!((rows.len(), same, other), (15, 15, 9));
}
