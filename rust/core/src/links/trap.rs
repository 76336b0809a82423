//! Traps: the shapes of URLs are looked at here, per link, and counted per host.
//!
//! What counts as a trap is said by `policy/hosts/traps.py`, whose numbers are [`Settings`]. Some shapes
//! are refused at once; of the others each host may have a budget. Session ids are removed by `canonical`.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use serde::Deserialize;

use crate::canonical::Url;
use crate::store::state::{Reads, Space, StateError, Writes};

/// Segments that are looked at; no setting is larger.
const MOST_SEGMENTS: usize = 64;

/// The numbers of `policy/hosts/traps.py`, explained there.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub long_path: usize,
    pub grown_path: usize,
    pub longest_path: usize,
    pub repeats: usize,
    pub longest_run: usize,
    pub crowded_query: usize,
    pub first_year: u32,
    pub oldest_year: u32,
    pub latest_year: u32,
    /// URLs of each suspect shape that one host may have.
    pub budget: u32,
}

/// Hosts whose counts are kept in memory; the others are in the store.
const HOSTS_IN_RAM: usize = 65_536;

/// Where the counts of a host are in the space `meta`.
const PREFIX: &[u8] = b"trap/";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Ordinary,
    /// Told by itself.
    Endless,
    /// The number of the budget it is taken from.
    Suspect(usize),
}

/// How much of its budgets each host has used.
#[derive(Debug, Default)]
pub struct Traps {
    used: HashMap<u64, [u32; 4]>,
    /// Hosts whose counts changed since the last batch.
    changed: Vec<u64>,
}

impl Traps {
    /// Whether a fresh URL is refused as one of an endless family; counts it otherwise.
    pub fn suspects(
        &mut self,
        url: &Url,
        from: &str,
        settings: &Settings,
        year: u32,
        reads: &dyn Reads,
    ) -> Result<bool, StateError> {
        let place = match shape(
            url.path_and_query(),
            grows(url.as_str(), from),
            year,
            settings,
        ) {
            Shape::Ordinary => return Ok(false),
            Shape::Endless => return Ok(true),
            Shape::Suspect(place) => place,
        };
        let host = url.host_key();
        let used = match self.used.entry(host) {
            Entry::Occupied(used) => used.into_mut(),
            Entry::Vacant(place) => {
                let stored = reads.get(Space::Meta, &key(host))?;
                place.insert(read(stored.as_deref()))
            }
        };
        if used[place] >= settings.budget {
            return Ok(true);
        }
        used[place] += 1;
        if self.changed.last() != Some(&host) {
            self.changed.push(host);
        }
        Ok(false)
    }

    /// Adds the changed counts to the batch.
    pub fn seal(&mut self, writes: &mut Writes) {
        for host in self.changed.drain(..) {
            if let Some(used) = self.used.get(&host) {
                let value: Vec<u8> = used.iter().flat_map(|count| count.to_be_bytes()).collect();
                writes.put(Space::Meta, key(host), value);
            }
        }
        // What is dropped here may be in a batch not applied yet; a host that comes back at once
        // would then count a little less, which only makes us more patient.
        if self.used.len() > HOSTS_IN_RAM {
            self.used.clear();
        }
    }
}

fn key(host: u64) -> Vec<u8> {
    [PREFIX, &host.to_be_bytes()].concat()
}

fn read(stored: Option<&[u8]>) -> [u32; 4] {
    let mut used = [0; 4];
    for (count, bytes) in used
        .iter_mut()
        .zip(stored.unwrap_or_default().chunks_exact(4))
    {
        *count = bytes.try_into().map_or(0, u32::from_be_bytes);
    }
    used
}

/// Whether the URL is that of the page that led to it, and one more folder.
fn grows(url: &str, from: &str) -> bool {
    let Some(folder) = url
        .strip_prefix(from)
        .and_then(|rest| rest.strip_suffix('/'))
    else {
        return false;
    };
    from.ends_with('/') && !folder.is_empty() && !folder.contains(['/', '?'])
}

fn shape(path_and_query: &str, grows: bool, year: u32, settings: &Settings) -> Shape {
    let (path, query) = path_and_query
        .split_once('?')
        .unwrap_or((path_and_query, ""));
    let longest = settings.longest_path.min(MOST_SEGMENTS);
    let mut segments = [""; MOST_SEGMENTS];
    let mut count = 0;
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        if count == longest {
            return Shape::Endless;
        }
        segments[count] = segment;
        count += 1;
    }
    let segments = &segments[..count];
    if (1..=settings.longest_run).any(|run| repeats(segments, run, settings.repeats)) {
        return Shape::Endless;
    }
    if count >= settings.long_path {
        return Shape::Suspect(0);
    }
    if !query.is_empty() && query.split('&').count() >= settings.crowded_query {
        return Shape::Suspect(1);
    }
    if grows && count >= settings.grown_path {
        return Shape::Suspect(3);
    }
    let far = |text: &str| is_far_year(text, settings, year);
    let values = query
        .split('&')
        .filter_map(|pair| Some(pair.split_once('=')?.1));
    if segments.iter().copied().any(far) || values.into_iter().any(far) {
        return Shape::Suspect(2);
    }
    Shape::Ordinary
}

/// Whether a run of `run` segments is repeated at least `most` times in a row.
fn repeats(segments: &[&str], run: usize, most: usize) -> bool {
    let mut same = 0;
    for at in run..segments.len() {
        same = if segments[at] == segments[at - run] {
            same + 1
        } else {
            0
        };
        if same >= run * most {
            return true;
        }
    }
    false
}

/// Four digits that read as a year, or begin a date, which ordinary pages are not about.
fn is_far_year(text: &str, settings: &Settings, year: u32) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let is_date = digits == 4 && matches!(text.as_bytes().get(4), None | Some(b'-'));
    let Some(found) = text.get(..4).and_then(|digits| digits.parse::<u32>().ok()) else {
        return false;
    };
    let is_year = (settings.oldest_year..=settings.latest_year).contains(&found);
    is_date && is_year && !(settings.first_year..=year + 1).contains(&found)
}

/// The year of a moment, near enough.
pub fn year_of(micros: u64) -> u32 {
    1970 + u32::try_from(micros / (31_556_952 * 1_000_000)).unwrap_or(0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::canonical::Grouping;
    use crate::store::state::State;
    use crate::store::state::memory::MemoryState;

    fn settings(budget: u32) -> Settings {
        Settings {
            long_path: 7,
            grown_path: 4,
            longest_path: 32,
            repeats: 3,
            longest_run: 3,
            crowded_query: 4,
            first_year: 1990,
            oldest_year: 1000,
            latest_year: 2999,
            budget,
        }
    }

    #[test]
    fn shapes_are_told_apart() {
        let long = "/s".repeat(40);
        for (path, expected) in [
            ("/a/a/a/a/", Shape::Endless),
            ("/x/a/b/a/b/a/b/a/b", Shape::Endless),
            (&*long, Shape::Endless),
            ("/a/b/c/d/e/f/g/", Shape::Suspect(0)),
            ("/x?a=1&b=2&c=3&d=4", Shape::Suspect(1)),
            ("/calendar/2061/12/8/", Shape::Suspect(2)),
            ("/calendar?day=1889-01-02", Shape::Suspect(2)),
            ("/2026/11/15/11/title.html", Shape::Ordinary),
            ("/calendar/2027/1/", Shape::Ordinary),
            ("/product/1234567", Shape::Ordinary),
            ("/1/1/2", Shape::Ordinary),
            ("/", Shape::Ordinary),
        ] {
            assert_eq!(shape(path, false, 2026, &settings(5)), expected, "{path}");
        }
        assert_eq!(
            shape("/deep/a/b/c/", true, 2026, &settings(5)),
            Shape::Suspect(3)
        );
        assert_eq!(
            shape("/deep/a/b/", true, 2026, &settings(5)),
            Shape::Ordinary
        );
        // What counts is said by the settings.
        let other = Settings {
            long_path: 64,
            longest_run: 1,
            oldest_year: 1900,
            latest_year: 2050,
            ..settings(5)
        };
        for path in [
            "/x/a/b/a/b/a/b/a/b",
            "/calendar/2061/12/8/",
            "/day/1889-01-02",
        ] {
            assert_eq!(shape(path, false, 2026, &other), Shape::Ordinary, "{path}");
        }
        assert!(grows("http://a/x/y/z/", "http://a/x/y/"));
        assert!(
            !grows("http://a/x/y/", "http://a/x/y/") && !grows("http://a/x/yz", "http://a/x/y")
        );
    }

    #[test]
    fn a_budget_ends_and_is_remembered() {
        let state = MemoryState::default();
        let url = |n: u32| {
            let text = format!("http://a.example/calendar/{}/1/", 2100 + n);
            Url::from_canonical(text, Grouping::Host).unwrap()
        };
        let mut traps = Traps::default();
        for n in 0..5 {
            assert!(
                !traps
                    .suspects(&url(n), "", &settings(5), 2026, &state)
                    .unwrap()
            );
        }
        assert!(
            traps
                .suspects(&url(5), "", &settings(5), 2026, &state)
                .unwrap()
        );
        let mut writes = Writes::default();
        traps.seal(&mut writes);
        state.apply(writes, true).unwrap();
        assert!(
            Traps::default()
                .suspects(&url(6), "", &settings(5), 2026, &state)
                .unwrap()
        );
        assert!(
            !Traps::default()
                .suspects(&url(6), "", &settings(6), 2026, &state)
                .unwrap()
        );
    }

    #[test]
    fn years_follow_the_clock() {
        assert_eq!(year_of(1_794_773_089_000_000), 2026);
    }
}
