//! Traps: URLs of endless families, told by their shape and bounded by a budget.
//!
//! A path that repeats itself (`/a/b/a/b/a/b/a/b`) is the mark of a relative link that grows, and
//! is refused at once. Other shapes of endless families are also shapes of good pages: a long path,
//! many parameters, a calendar far in the past or future, a path that grows from page to page. Each host may have a budget of URLs of
//! each such shape; beyond it they are refused. Session ids are removed by `canonical`.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::canonical::Url;
use crate::state::{Reads, Space, StateError, Writes};

/// Segments from which a path counts as long.
const LONG_PATH: usize = 7;

/// Segments from which a path that its own folder led to counts as growing.
const GROWN_PATH: usize = 4;

/// More than any path that people write.
const LONGEST_PATH: usize = 32;

/// A segment, or a run of two or three, that stands so often in a row.
const MOST_REPEATS: usize = 3;

/// Parameters from which a query counts as crowded.
const CROWDED_QUERY: usize = 4;

/// Years that ordinary pages are about, besides those up to the next one.
const FIRST_YEAR: u32 = 1990;

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
pub(super) struct Traps {
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
        budget: u32,
        year: u32,
        reads: &dyn Reads,
    ) -> Result<bool, StateError> {
        let place = match shape(url.path_and_query(), grows(url.as_str(), from), year) {
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
        if used[place] >= budget {
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

fn shape(path_and_query: &str, grows: bool, year: u32) -> Shape {
    let (path, query) = path_and_query
        .split_once('?')
        .unwrap_or((path_and_query, ""));
    let mut segments = [""; LONGEST_PATH];
    let mut count = 0;
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        if count == LONGEST_PATH {
            return Shape::Endless;
        }
        segments[count] = segment;
        count += 1;
    }
    let segments = &segments[..count];
    if (1..=3).any(|run| repeats(segments, run)) {
        return Shape::Endless;
    }
    if count >= LONG_PATH {
        return Shape::Suspect(0);
    }
    if !query.is_empty() && query.split('&').count() >= CROWDED_QUERY {
        return Shape::Suspect(1);
    }
    if grows && count >= GROWN_PATH {
        return Shape::Suspect(3);
    }
    let far = |text: &str| is_far_year(text, year);
    let values = query
        .split('&')
        .filter_map(|pair| Some(pair.split_once('=')?.1));
    if segments.iter().copied().any(far) || values.into_iter().any(far) {
        return Shape::Suspect(2);
    }
    Shape::Ordinary
}

/// Whether a run of that length stands more than [`MOST_REPEATS`] times in a row.
fn repeats(segments: &[&str], run: usize) -> bool {
    let mut same = 0;
    for at in run..segments.len() {
        same = if segments[at] == segments[at - run] {
            same + 1
        } else {
            0
        };
        if same >= run * MOST_REPEATS {
            return true;
        }
    }
    false
}

/// Four digits that read as a year, or begin a date, which ordinary pages are not about.
fn is_far_year(text: &str, year: u32) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let is_date = digits == 4 && matches!(text.as_bytes().get(4), None | Some(b'-'));
    let Some(found) = text.get(..4).and_then(|digits| digits.parse::<u32>().ok()) else {
        return false;
    };
    is_date && (1000..3000).contains(&found) && !(FIRST_YEAR..=year + 1).contains(&found)
}

/// The year of a moment, near enough.
pub(super) fn year_of(micros: u64) -> u32 {
    1970 + u32::try_from(micros / (31_556_952 * 1_000_000)).unwrap_or(0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::canonical::Grouping;
    use crate::state::State;
    use crate::state::memory::MemoryState;

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
            assert_eq!(shape(path, false, 2026), expected, "{path}");
        }
        assert_eq!(shape("/deep/a/b/c/", true, 2026), Shape::Suspect(3));
        assert_eq!(shape("/deep/a/b/", true, 2026), Shape::Ordinary);
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
            assert!(!traps.suspects(&url(n), "", 5, 2026, &state).unwrap());
        }
        assert!(traps.suspects(&url(5), "", 5, 2026, &state).unwrap());
        let mut writes = Writes::default();
        traps.seal(&mut writes);
        state.apply(writes, true).unwrap();
        assert!(
            Traps::default()
                .suspects(&url(6), "", 5, 2026, &state)
                .unwrap()
        );
        assert!(
            !Traps::default()
                .suspects(&url(6), "", 6, 2026, &state)
                .unwrap()
        );
    }

    #[test]
    fn years_follow_the_clock() {
        assert_eq!(year_of(1_794_773_089_000_000), 2026);
    }
}
