//! What the node is told of each door.

use std::time::Duration;

use serde::Deserialize;

use super::Door;

/// A door that a policy stands at. Times are microseconds.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DoorSettings {
    /// The columns that are made.
    pub columns: Vec<String>,
    /// A batch of so many rows is full.
    pub rows: usize,
    /// A batch that is not full is given after this time; at `hosts`, the time between two batches.
    pub wait: u64,
    /// An answer that comes later does not count.
    pub patience: u64,
}

/// The doors with policies; a door that is absent has none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DoorsTable {
    #[serde(default)]
    pub pages: Option<DoorSettings>,
    #[serde(default)]
    pub order: Option<DoorSettings>,
    #[serde(default)]
    pub refresh: Option<DoorSettings>,
    #[serde(default)]
    pub hosts: Option<DoorSettings>,
}

impl DoorSettings {
    #[must_use]
    pub fn asks(&self, column: &str) -> bool {
        self.columns.iter().any(|asked| asked == column)
    }

    #[must_use]
    pub fn patience(&self) -> Duration {
        Duration::from_micros(self.patience)
    }
}

impl DoorsTable {
    #[must_use]
    pub fn get(&self, door: Door) -> Option<&DoorSettings> {
        match door {
            Door::Pages => self.pages.as_ref(),
            Door::Order => self.order.as_ref(),
            Door::Refresh => self.refresh.as_ref(),
            Door::Hosts => self.hosts.as_ref(),
        }
    }

    /// What is wrong with the table, if anything.
    pub fn check(&self) -> Result<(), String> {
        for door in Door::ALL {
            let Some(settings) = self.get(door) else {
                continue;
            };
            let name = door.as_str();
            let unknown = |column: &&String| !door.columns().contains(&column.as_str());
            if let Some(column) = settings.columns.iter().find(unknown) {
                return Err(format!("doors.{name}.columns: there is no column {column}"));
            }
            if settings.rows == 0 || settings.patience == 0 {
                return Err(format!("doors.{name}: rows and patience must not be 0"));
            }
        }
        Ok(())
    }
}
