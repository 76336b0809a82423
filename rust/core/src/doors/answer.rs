//! The answer to a batch: columns of values, one for each row, checked before anybody uses them.

use std::collections::HashMap;

use arrow_array::cast::AsArray;
use serde::de::IgnoredAny;

use super::health::short;
use super::{Door, Kind, Table};

/// Most bytes of the fields of a page.
const FIELDS: usize = 1 << 20;
/// Most links that are added to a page, and the longest.
const LINKS: usize = 10_000;
const LINK: usize = 64 << 10;

/// A column of an answer; `None`: the native default for that row.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    Bool(Vec<Option<bool>>),
    /// Numbers and scores.
    Number(Vec<Option<f64>>),
    Whole(Vec<Option<u64>>),
    /// Text and JSON.
    Text(Vec<Option<String>>),
    Texts(Vec<Option<Vec<String>>>),
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Values::Bool(list) => list.len(),
            Values::Number(list) => list.len(),
            Values::Whole(list) => list.len(),
            Values::Text(list) => list.len(),
            Values::Texts(list) => list.len(),
        }
    }
}

/// A checked answer: each column that it has is as long as the batch.
#[derive(Debug, Default)]
pub struct Answer {
    columns: HashMap<&'static str, Values>,
}

impl Answer {
    /// Checks the columns; the error names what is wrong.
    pub(super) fn new(
        door: Door,
        asked: &Table,
        columns: Vec<(String, Values)>,
    ) -> Result<Answer, String> {
        let mut answer = Answer::default();
        let rows = asked.len();
        for (name, values) in columns {
            let known = door.answers().iter().find(|(column, _)| *column == name);
            let Some((name, kind)) = known else {
                return Err(format!("{}: there is no column {name}", door.as_str()));
            };
            if values.len() != rows {
                let found = values.len();
                return Err(format!("{name}: {found} values for {rows} rows"));
            }
            check(*kind, &values).map_err(|(row, what)| format!("{name}, row {row}: {what}"))?;
            answer.columns.insert(name, values);
        }
        if door == Door::Hosts {
            answer.check_patterns(asked)?;
        }
        Ok(answer)
    }

    /// Visits are spaced by host: what delays them cannot be decided for a pattern.
    fn check_patterns(&self, asked: &Table) -> Result<(), String> {
        let Some(patterns) = asked
            .column("pattern")
            .and_then(|column| column.as_string_opt::<i32>())
        else {
            return Ok(());
        };
        for (row, pattern) in patterns.iter().enumerate() {
            let Some(pattern) = pattern else {
                continue;
            };
            for name in ["delay", "set_aside"] {
                if self.number(name, row).is_some() {
                    let text = format!("it is decided for a host, not for the pattern {pattern}");
                    return Err(format!("{name}, row {row}: {text}"));
                }
            }
        }
        Ok(())
    }

    #[must_use]
    pub fn bool(&self, name: &str, row: usize) -> Option<bool> {
        match self.columns.get(name)? {
            Values::Bool(list) => *list.get(row)?,
            _ => None,
        }
    }

    #[must_use]
    pub fn number(&self, name: &str, row: usize) -> Option<f64> {
        match self.columns.get(name)? {
            Values::Number(list) => *list.get(row)?,
            _ => None,
        }
    }

    #[must_use]
    pub fn whole(&self, name: &str, row: usize) -> Option<u64> {
        match self.columns.get(name)? {
            Values::Whole(list) => *list.get(row)?,
            _ => None,
        }
    }

    #[must_use]
    pub fn text(&self, name: &str, row: usize) -> Option<&str> {
        match self.columns.get(name)? {
            Values::Text(list) => list.get(row)?.as_deref(),
            _ => None,
        }
    }

    #[must_use]
    pub fn texts(&self, name: &str, row: usize) -> &[String] {
        match self.columns.get(name) {
            Some(Values::Texts(list)) => list.get(row).and_then(Option::as_deref),
            _ => None,
        }
        .unwrap_or_default()
    }

    /// The reason that a row was given, short and without control characters.
    #[must_use]
    pub fn reason(&self, row: usize) -> Option<String> {
        self.text("reason", row)
            .map(short)
            .filter(|reason| !reason.is_empty())
    }
}

/// The first row that cannot be used, and why.
fn check(kind: Kind, values: &Values) -> Result<(), (usize, String)> {
    match (kind, values) {
        (Kind::Bool, Values::Bool(_)) | (Kind::Whole, Values::Whole(_)) => Ok(()),
        (Kind::Number, Values::Number(list)) => each(list, |number| {
            (!number.is_finite() || *number < 0.0).then(|| format!("{number} is no usable number"))
        }),
        (Kind::Score, Values::Number(list)) => each(list, |score| {
            (!(0.0..=1.0).contains(score)).then(|| format!("{score} is not between 0 and 1"))
        }),
        (Kind::Text, Values::Text(_)) => Ok(()),
        (Kind::Json, Values::Text(list)) => each(list, |text| {
            if text.len() > FIELDS {
                return Some(format!("longer than {FIELDS} bytes"));
            }
            let read = serde_json::from_str::<IgnoredAny>(text);
            read.err().map(|error| format!("no JSON: {error}"))
        }),
        (Kind::Texts, Values::Texts(list)) => each(list, |texts| {
            if texts.len() > LINKS {
                return Some(format!("more than {LINKS} texts"));
            }
            let long = texts.iter().any(|text| text.len() > LINK);
            long.then(|| format!("a text is longer than {LINK} bytes"))
        }),
        _ => Err((0, "of another type".to_owned())),
    }
}

fn each<T>(
    list: &[Option<T>],
    wrong: impl Fn(&T) -> Option<String>,
) -> Result<(), (usize, String)> {
    for (row, value) in list.iter().enumerate() {
        if let Some(what) = value.as_ref().and_then(&wrong) {
            return Err((row, what));
        }
    }
    Ok(())
}
