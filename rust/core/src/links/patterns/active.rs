//! Active rows: those that were counted since a policy was asked about them.
//!
//! Takes the key of each row that is counted; gives those that a policy asks for ([`Asked`]), each once, those that wait
//! longest first. Bounded by [`ACTIVE`].

use std::collections::{HashSet, VecDeque};

use super::rows::CountKey;

/// Rows that may wait to be asked about; one beyond waits for its next activity.
const ACTIVE: usize = 1 << 20;

/// The rows that policies of hosts ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Asked {
    #[default]
    Nothing,
    Hosts,
    HostsAndPatterns,
}

impl Asked {
    fn names(self, key: CountKey) -> bool {
        match self {
            Asked::Nothing => false,
            Asked::Hosts => key.1 == 0,
            Asked::HostsAndPatterns => true,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Active {
    asked: Asked,
    /// Those that wait longest first; and the same as a set.
    waiting: VecDeque<CountKey>,
    is_waiting: HashSet<CountKey>,
}

impl Active {
    pub fn new(asked: Asked) -> Active {
        Active {
            asked,
            ..Active::default()
        }
    }

    /// A row was counted.
    pub fn add(&mut self, key: CountKey) {
        if self.asked.names(key) && self.waiting.len() < ACTIVE && self.is_waiting.insert(key) {
            self.waiting.push_back(key);
        }
    }

    /// The one that waits longest; it waits no more.
    pub fn take(&mut self) -> Option<CountKey> {
        let key = self.waiting.pop_front()?;
        self.is_waiting.remove(&key);
        Some(key)
    }

    pub fn len(&self) -> usize {
        self.waiting.len()
    }
}
