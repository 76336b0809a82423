//! The doors by name, what can be asked at each and what can be answered.

/// A door between mechanism and policy. The door of rules is not here: rules are declared, never asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Door {
    /// Finished visits, before they are stored.
    Pages,
    /// Fresh URLs, before they are queued.
    Order,
    /// Stored pages: when to visit them again.
    Refresh,
    /// Hosts and URL patterns with their counters.
    Hosts,
}

/// The type of a column of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Bool,
    /// A finite number, not negative.
    Number,
    /// A number from 0 to 1.
    Score,
    /// A whole number, not negative.
    Whole,
    Text,
    /// Text that is JSON.
    Json,
    Texts,
}

impl Door {
    pub const ALL: [Door; 4] = [Door::Pages, Door::Order, Door::Refresh, Door::Hosts];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Door::Pages => "pages",
            Door::Order => "order",
            Door::Refresh => "refresh",
            Door::Hosts => "hosts",
        }
    }

    #[must_use]
    pub fn from_name(name: &str) -> Option<Door> {
        Door::ALL.into_iter().find(|door| door.as_str() == name)
    }

    /// The number of a door's n-th batch; no two batches of a node have the same.
    pub(super) fn batch_number(self, count: u64) -> u64 {
        count * Door::ALL.len() as u64 + self as u64
    }

    /// The door that a batch belongs to.
    #[must_use]
    pub fn of_batch(number: u64) -> Door {
        Door::ALL[(number % Door::ALL.len() as u64) as usize]
    }

    /// The columns that a policy can ask for.
    #[must_use]
    pub const fn columns(self) -> &'static [&'static str] {
        match self {
            Door::Pages => &[
                "url",
                "host",
                "depth",
                "from",
                "outcome",
                "status",
                "content_type",
                "fetched_at",
                "ms",
                "bytes",
                "title",
                "language",
                "charset",
                "text_bytes",
                "simhash",
                "noindex",
                "nofollow",
                "noarchive",
                "canonical",
                "headers",
                "links",
                "text",
                "body",
            ],
            Door::Order => &[
                "url",
                "host",
                "depth",
                "from",
                "kind",
                "anchor",
                "parent_score",
                "dynamic",
                "seed",
                "sitemap",
                "native_score",
            ],
            Door::Refresh => &[
                "url",
                "host",
                "depth",
                "outcome",
                "fetched_at",
                "first_visit",
                "visits",
                "changes",
                "unchanged",
                "last_change",
                "etag",
                "last_modified",
                "native_next",
            ],
            Door::Hosts => &[
                "host",
                "pattern",
                "queued",
                "fetched",
                "new",
                "duplicate",
                "errors",
                "bytes",
                "in_domains",
                "since",
                "weight",
                "delay",
                "budget",
                "standing",
            ],
        }
    }

    /// The columns that an answer can have.
    #[must_use]
    pub const fn answers(self) -> &'static [(&'static str, Kind)] {
        match self {
            Door::Pages => &[
                ("keep", Kind::Bool),
                ("fields", Kind::Json),
                ("links", Kind::Texts),
                ("score", Kind::Score),
                ("reason", Kind::Text),
            ],
            Door::Order => &[("score", Kind::Score), ("reason", Kind::Text)],
            Door::Refresh => &[("next_visit", Kind::Whole), ("reason", Kind::Text)],
            Door::Hosts => &[
                ("budget", Kind::Whole),
                ("weight", Kind::Number),
                ("delay", Kind::Number),
                ("set_aside", Kind::Number),
                ("give_up", Kind::Bool),
                ("reason", Kind::Text),
            ],
        }
    }

    /// The type of a column of the answer, if there is one of that name.
    #[must_use]
    pub fn answer_kind(self, name: &str) -> Option<Kind> {
        let mut answers = self.answers().iter();
        answers.find_map(|(column, kind)| (*column == name).then_some(*kind))
    }
}
