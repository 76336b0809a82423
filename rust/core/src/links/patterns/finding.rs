//! What was found out about a parameter in one place of a host, and the rule that judges it.

use serde::{Deserialize, Serialize};

use super::print::Likeness;

/// Hashes of each kind that are told apart; no setting is larger.
const MOST: usize = 16;
/// Of so many agreements one value may have been met before.
const REPEATED: u32 = 4;

/// The numbers of `policy/hosts/parameters.py`, explained there.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParameterSettings {
    pub enabled: bool,
    pub agreements: u32,
    pub agreements_session: u32,
    pub pages: usize,
    pub values: usize,
    pub values_token: usize,
    pub without: u32,
    pub paths: usize,
    pub differences: f32,
    pub near_bits: u32,
    pub sample: u64,
    pub samples: u32,
    /// Microseconds.
    pub stale: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    #[default]
    Open,
    /// It changes nothing: links lose it.
    Learnt,
    /// It was learnt, and changed something after all.
    Undone,
    /// Somebody said that it stays.
    Kept,
}

/// A parameter in one place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub name: String,
    /// A path with its numbers left out, a folder with `*`, or `**`: the whole host.
    pub place: String,
    pub state: State,
    /// URLs that had the same page as another one with another value, or without the parameter; and those that
    /// had another page.
    pub agreements: u32,
    pub differences: u32,
    /// Neither.
    pub unclear: u32,
    /// Agreements with the URL without the parameter.
    pub without: u32,
    /// URLs that kept it after it was learnt, to see whether that still holds.
    pub samples: u32,
    /// Its values are made up for each link, as those of sessions and trackers are: what was found in some paths holds for
    /// others. The number of a page is none: it says nothing in an article, and everything in a list.
    #[serde(default)]
    pub is_made_up: bool,
    /// Links that lost it, in this process.
    #[serde(skip)]
    pub stripped: u64,
    /// Values that had been met with another page before.
    #[serde(skip)]
    pub(super) repeated: u32,
    /// Its name or its values are those of sessions.
    #[serde(skip)]
    pub(super) is_session: bool,
    /// Some of its values are no tokens.
    #[serde(skip)]
    pub(super) has_words: bool,
    #[serde(skip)]
    pub(super) probes: u32,
    #[serde(skip)]
    pub(super) pages: Vec<u64>,
    /// With the page that each was met with first.
    #[serde(skip)]
    pub(super) values: Vec<(u64, u64)>,
    #[serde(skip)]
    pub(super) paths: Vec<u64>,
}

/// One comparison of two URLs that differ in the parameter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sighting {
    pub likeness: Likeness,
    /// One of the two is without the parameter.
    pub without: bool,
    /// The name or the value is that of a session; the value is a token.
    pub is_session: bool,
    pub is_token: bool,
    /// Hashes: the URL without the parameter, its values, the path.
    pub page: u64,
    pub values: [Option<u64>; 2],
    pub path: u64,
}

/// What a sighting changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    Nothing,
    /// Only a look at a URL without the parameter is missing.
    AsksForOne,
    Learnt,
    Undone,
}

impl Finding {
    pub fn new(name: &str, place: &str) -> Finding {
        Finding {
            name: name.to_owned(),
            place: place.to_owned(),
            ..Finding::default()
        }
    }

    pub(super) fn add(&mut self, seen: &Sighting) {
        self.is_session |= seen.is_session;
        self.has_words |= !seen.is_token;
        match seen.likeness {
            Likeness::Same => {
                self.agreements = self.agreements.saturating_add(1);
                self.without += u32::from(seen.without);
                note(&mut self.pages, seen.page);
                for value in seen.values.into_iter().flatten() {
                    let met = self.values.iter().find(|(known, _)| *known == value);
                    self.repeated += u32::from(met.is_some_and(|(_, page)| *page != seen.page));
                    if met.is_none() && self.values.len() < MOST {
                        self.values.push((value, seen.page));
                    }
                }
                note(&mut self.paths, seen.path);
            }
            Likeness::Different => self.differences = self.differences.saturating_add(1),
            Likeness::Near => self.unclear = self.unclear.saturating_add(1),
        }
        self.samples += u32::from(self.state == State::Learnt);
    }

    /// The rule.
    pub(super) fn judge(&self, is_wide: bool, settings: &ParameterSettings) -> Judgement {
        let compared = self.agreements.saturating_add(self.differences);
        let refuted = self.differences as f32 > settings.differences * compared as f32;
        if self.state == State::Learnt {
            return if refuted {
                Judgement::Undone
            } else {
                Judgement::Nothing
            };
        }
        let needed = if self.is_session {
            settings.agreements_session
        } else {
            settings.agreements
        };
        let values = if self.has_words {
            settings.values
        } else {
            settings.values_token
        };
        let ripe = self.state == State::Open
            && !refuted
            && self.agreements >= needed
            && self.unclear <= self.agreements
            && self.pages.len() >= settings.pages.min(MOST)
            && self.values.len() >= values.min(MOST)
            && (!is_wide || self.paths.len() >= settings.paths.min(MOST));
        match (ripe, self.without >= settings.without) {
            (false, _) => Judgement::Nothing,
            (true, false) => Judgement::AsksForOne,
            (true, true) => Judgement::Learnt,
        }
    }

    /// As it is kept when it holds.
    pub(super) fn learnt(&self) -> Finding {
        Finding {
            state: State::Learnt,
            is_made_up: self.is_session || self.repeated * REPEATED <= self.agreements,
            ..self.clone()
        }
    }

    /// Whether it speaks for leaving the parameter out in its own place.
    pub(super) fn agrees(&self) -> bool {
        self.agreements > 0 && self.differences == 0 && self.state != State::Undone
    }

    /// For people.
    #[must_use]
    pub fn words(&self) -> String {
        format!(
            "{} URLs had the same page with another value of it ({} without it), {} had another page",
            self.agreements, self.without, self.differences
        )
    }

    /// As people name it: `?ref`, and where it is not the whole host, `/forum/*?ref`.
    #[must_use]
    pub fn pattern(&self) -> String {
        format!("{}?{}", self.place, self.name)
    }
}

fn note(known: &mut Vec<u64>, hash: u64) {
    if known.len() < MOST && !known.contains(&hash) {
        known.push(hash);
    }
}
