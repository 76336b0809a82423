//! What policies said of URLs lately, for `why`: in memory, bounded; the newest stay.

use std::collections::{HashMap, VecDeque};

use serde_json::{Value, json};

use crate::doors::Door;

/// URLs that are remembered.
const MOST: usize = 16_384;

type Key = [u8; 16];

#[derive(Debug, Default)]
pub(in crate::node) struct Decisions {
    by_url: HashMap<Key, Vec<(Door, String)>>,
    order: VecDeque<Key>,
}

impl Decisions {
    /// Remembers what was said of a URL at a door; the last word counts.
    pub fn note(&mut self, key: Key, door: Door, text: String) {
        let list = self.by_url.entry(key).or_insert_with(|| {
            self.order.push_back(key);
            Vec::with_capacity(1)
        });
        list.retain(|(other, _)| *other != door);
        list.push((door, text));
        if self.order.len() > MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_url.remove(&oldest);
        }
    }

    /// What was said of a URL, by door.
    pub fn of(&self, key: &Key) -> Value {
        let list = self.by_url.get(key).map_or(&[][..], Vec::as_slice);
        let rows = list.iter().map(|(door, text)| (door.as_str(), text));
        rows.map(|(door, text)| (door.to_owned(), json!(text)))
            .collect::<serde_json::Map<String, Value>>()
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_stay() {
        let mut decisions = Decisions::default();
        let key = |n: usize| (n as u128).to_be_bytes();
        for n in 0..=MOST {
            decisions.note(key(n), Door::Order, format!("{n}"));
        }
        decisions.note(key(5), Door::Order, "again".to_owned());
        decisions.note(key(5), Door::Refresh, "never".to_owned());
        assert_eq!(decisions.of(&key(0)), json!({}));
        assert_eq!(
            decisions.of(&key(5)),
            json!({"order": "again", "refresh": "never"})
        );
        assert_eq!(decisions.by_url.len(), MOST);
    }
}
