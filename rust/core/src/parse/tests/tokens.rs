//! The tokenizer against the html5lib cases: every case, every initial state.

use super::super::charref::{Place, decode_into};
use super::super::tokenizer::{Content, Sink, tokenize_from};
use super::{doctype, suite};
use serde_json::{Map, Value, json};
use std::fs;
use std::ops::Range;

/// Keeps every token in the form of the cases.
struct Tokens<'a> {
    input: &'a str,
    list: Vec<Value>,
    name: String,
    attributes: Map<String, Value>,
    cdata: bool,
}

impl Tokens<'_> {
    fn name(&self, range: Range<usize>) -> String {
        self.input[range]
            .replace('\0', "\u{fffd}")
            .to_ascii_lowercase()
    }

    fn decoded(&self, range: Range<usize>, place: Place) -> String {
        let mut out = String::new();
        decode_into(&self.input[range], place, &mut out);
        out
    }
}

impl Sink for Tokens<'_> {
    fn text(&mut self, range: Range<usize>, content: Content) {
        let text = self.decoded(range, Place::Text(content));
        if let Some(Value::Array(last)) = self.list.last_mut()
            && last[0] == "Character"
        {
            last[1] = Value::from(format!("{}{text}", last[1].as_str().unwrap()));
            return;
        }
        self.list.push(json!(["Character", text]));
    }

    fn open(&mut self, name: Range<usize>) -> bool {
        self.name = self.name(name);
        self.attributes = Map::new();
        true
    }

    fn attribute(&mut self, name: Range<usize>, value: Range<usize>) {
        let name = self.name(name);
        let value = self.decoded(value, Place::Attribute);
        self.attributes.entry(name).or_insert(Value::from(value));
    }

    fn opened(&mut self, self_closing: bool) -> Content {
        let mut token = vec![
            json!("StartTag"),
            json!(self.name),
            Value::Object(self.attributes.clone()),
        ];
        if self_closing {
            token.push(json!(true));
        }
        self.list.push(Value::Array(token));
        Content::Data
    }

    fn close(&mut self, name: Range<usize>) {
        let name = self.name(name);
        self.list.push(json!(["EndTag", name]));
    }

    fn comment(&mut self, data: Range<usize>) {
        let data = self.decoded(data, Place::Text(Content::Rawtext));
        self.list.push(json!(["Comment", data]));
    }

    fn doctype(&mut self, inside: Range<usize>, complete: bool) {
        let (name, public, system, correct) = doctype::read(&self.input[inside], complete);
        self.list
            .push(json!(["DOCTYPE", name, public, system, correct]));
    }

    fn cdata_allowed(&self) -> bool {
        self.cdata
    }
}

/// Undoes `\uXXXX` in a string; nothing where it is half of a surrogate pair, which no decoded
/// document holds.
fn unescape(text: &str) -> Option<String> {
    let mut units = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\\u") {
        units.extend(before.encode_utf16());
        units.push(u16::from_str_radix(&after[..4], 16).unwrap());
        rest = &after[4..];
    }
    units.extend(rest.encode_utf16());
    String::from_utf16(&units).ok()
}

fn unescape_value(value: &Value) -> Option<Value> {
    Some(match value {
        Value::String(text) => Value::from(unescape(text)?),
        Value::Array(list) => Value::Array(list.iter().map(unescape_value).collect::<Option<_>>()?),
        Value::Object(map) => Value::Object(
            map.iter()
                .map(|(key, value)| Some((unescape(key)?, unescape_value(value)?)))
                .collect::<Option<_>>()?,
        ),
        other => other.clone(),
    })
}

fn content(state: &str) -> Content {
    match state {
        "Data state" => Content::Data,
        "PLAINTEXT state" => Content::Plaintext,
        "RCDATA state" => Content::Rcdata,
        "RAWTEXT state" => Content::Rawtext,
        "Script data state" => Content::Script,
        "CDATA section state" => Content::Cdata,
        other => panic!("unknown state {other}"),
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Score {
    passed: usize,
    failed: usize,
    /// Inputs that are no text in any encoding: halves of surrogate pairs.
    impossible: usize,
}

#[test]
fn html5lib_tokenizer_cases() {
    let Some(folder) = suite("html-html5lib-tests/tokenizer") else {
        return;
    };
    let mut score = Score::default();
    let mut failures = Vec::new();
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    files.sort();
    for file in files
        .iter()
        .filter(|f| f.extension().is_some_and(|e| e == "test"))
    {
        // These cases describe what a later, optional step does for XML tools.
        if file.ends_with("xmlViolation.test") {
            continue;
        }
        let data: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        for case in data["tests"].as_array().unwrap() {
            let (mut input, mut output) = (
                Some(case["input"].as_str().unwrap().to_owned()),
                Some(case["output"].clone()),
            );
            if case["doubleEscaped"] == true {
                input = input.and_then(|text| unescape(&text));
                output = output.and_then(|value| unescape_value(&value));
            }
            let data = vec![Value::from("Data state")];
            for state in case["initialStates"].as_array().unwrap_or(&data) {
                let (Some(input), Some(output)) = (&input, &output) else {
                    score.impossible += 1;
                    continue;
                };
                let mut sink = Tokens {
                    input,
                    list: Vec::new(),
                    name: String::new(),
                    attributes: Map::new(),
                    cdata: state == "CDATA section state",
                };
                let last = case["lastStartTag"].as_str().unwrap_or_default();
                let state = state.as_str().unwrap();
                tokenize_from(input, &mut sink, content(state), last.as_bytes());
                if Value::Array(sink.list.clone()) == *output {
                    score.passed += 1;
                } else {
                    score.failed += 1;
                    failures.push(format!(
                        "{} [{state}] {input:?}\n   want {output}\n   got  {}",
                        file.file_name().unwrap().to_string_lossy(),
                        Value::Array(sink.list)
                    ));
                }
            }
        }
    }
    for failure in failures.iter().take(40) {
        eprintln!("{failure}");
    }
    let expected = Score {
        passed: 7028,
        failed: 0,
        impossible: 4,
    };
    assert_eq!(score, expected);
}
