//! The door `refresh`: when a page is visited again.
//!
//! Asked inside the open batch that has the page, and answered by a link that waits in the queue,
//! written by the same batch. Without a policy, a rule's interval says; without a rule, never.

use std::sync::Arc;
use std::time::Instant;

use super::super::{Leased, Node, NodeError};
use crate::doors::{Collected, Column, Door, DoorSettings, Table, Value};
use crate::links::Link;
use crate::node::pool::Visited;
use crate::outcome::Outcome;
use crate::store::rows::IndexRow;

/// Of a page whose question was open when the crawl stopped.
const UNJUDGED: &str = "not judged: the crawl stopped first";

/// A page that was visited, with its history.
#[derive(Debug)]
pub(in crate::node) struct Judged {
    link: Link,
    row: IndexRow,
    /// When a rule would visit it again; 0: never.
    native: u64,
    /// Where its row is in the open batch, which has it until the question is settled.
    place: usize,
}

impl Node {
    /// Whether some pages may be visited again.
    pub(in crate::node) fn refreshes(&self) -> bool {
        self.settings.doors.refresh.is_some()
            || self.rule_set().is_some_and(|rules| rules.refreshes())
    }

    /// Asks when a page is visited again; the row is what the index has of it from now on, and `place`
    /// where the open batch has it.
    pub(in crate::node) fn ask_refresh(
        &mut self,
        visited: &Visited,
        leased: &Leased,
        row: IndexRow,
        place: usize,
    ) -> Result<(), NodeError> {
        let native = self.native_next(visited, &row);
        if self.settings.doors.refresh.is_none() && native == 0 {
            return Ok(());
        }
        let link = Link {
            from: Arc::clone(&leased.visit.link.from),
            // A page that was never had is no further visit: quotas bind it as the first time.
            revisit: row.visits > 0,
            seed: leased.visit.link.seed,
            ..leased.visit.link.clone()
        };
        let judged = Judged {
            link,
            row,
            native,
            place,
        };
        if self.questions.closing && self.settings.doors.refresh.is_some() {
            self.questions.refresh.push(judged, 0);
            return Ok(());
        }
        if !self.is_asked(Door::Refresh) {
            if self.settings.doors.refresh.is_some() {
                self.doors.count_defaults(Door::Refresh, 1);
            }
            return self.visit_again(judged.link, native);
        }
        self.questions.refresh.push(judged, 0);
        self.refresh_round(false)
    }

    /// When a rule wants the page again; 0: never. An answer without content (not modified, or none
    /// at all) is judged by status and type of the last one with content.
    fn native_next(&self, visited: &Visited, row: &IndexRow) -> u64 {
        let Some(rules) = self.rule_set() else {
            return 0;
        };
        let mime = Some(&*row.mime).filter(|mime| !mime.is_empty());
        let url = &visited.task.url;
        let interval = rules.refresh_interval(url, row.depth, mime, row.content_status);
        interval.map_or(0, |interval| {
            let micros = u64::try_from(interval.as_micros()).unwrap_or(u64::MAX);
            visited.ended.saturating_add(micros)
        })
    }

    /// Queues a page for another visit at a time; 0: never.
    fn visit_again(&mut self, link: Link, at: u64) -> Result<(), NodeError> {
        if at == 0 {
            return Ok(());
        }
        self.queue(vec![Link {
            not_before: at.max(1),
            ..link
        }])
    }

    /// Keeps why a page is visited again, or not, with the page.
    fn note_refresh(&mut self, judged: &Judged, reason: Option<String>) {
        let placed = self.open.rows.get_mut(judged.place);
        if let (Some(reason), Some(placed)) = (reason, placed)
            && placed.key == judged.link.url.key()
        {
            placed.row.refresh = reason;
        }
    }

    /// Before the node closes: pages that nobody has judged yet are visited again after the start,
    /// and judged then.
    pub(in crate::node) fn defer_refresh(&mut self) -> Result<(), NodeError> {
        let now = self.clock.now();
        for judged in self.questions.refresh.take_all() {
            let at = if judged.native == 0 {
                now
            } else {
                judged.native
            };
            self.note_refresh(&judged, Some(UNJUDGED.to_owned()));
            self.visit_again(judged.link, at)?;
        }
        Ok(())
    }

    pub(in crate::node) fn refresh_round(&mut self, flush: bool) -> Result<(), NodeError> {
        if self.questions.refresh.is_empty() {
            return Ok(());
        }
        for Collected { number, answer } in self.doors.collect(Door::Refresh, Instant::now()) {
            let pages = self.questions.refresh.end(number, |_| 0);
            for (row, judged) in pages.into_iter().enumerate() {
                let (at, reason) = match &answer {
                    Ok(answer) => {
                        let at = answer.whole("next_visit", row);
                        (at.unwrap_or(judged.native), answer.reason(row))
                    }
                    Err((failure, what)) => (judged.native, Some(failure.words(what))),
                };
                self.note_refresh(&judged, reason);
                self.visit_again(judged.link, at)?;
            }
        }
        let settings = self.settings.doors.refresh.clone();
        let Some(settings) = settings.filter(|_| self.is_asked(Door::Refresh)) else {
            let pages = self.questions.refresh.take(usize::MAX);
            self.doors.count_defaults(Door::Refresh, pages.len() as u64);
            for judged in pages {
                self.visit_again(judged.link, judged.native)?;
            }
            return Ok(());
        };
        while self.questions.refresh.is_due(&settings, flush)
            && self.doors.is_open(Door::Refresh, Instant::now())
        {
            let pages = self.questions.refresh.take(settings.rows);
            let posted = table(&settings, &pages)
                .ok()
                .and_then(|table| self.doors.post(Door::Refresh, table, settings.patience()));
            match posted {
                Some(number) => self.questions.refresh.post(number, pages),
                None => {
                    for judged in pages {
                        self.visit_again(judged.link, judged.native)?;
                    }
                }
            }
        }
        Ok(())
    }
}

fn table(settings: &DoorSettings, pages: &[Judged]) -> Result<Table, String> {
    let mut columns = Vec::with_capacity(settings.columns.len());
    for name in Door::Refresh.columns() {
        if !settings.asks(name) {
            continue;
        }
        let mut column = match *name {
            "url" | "host" | "outcome" | "etag" | "last_modified" => Column::text(),
            _ => Column::u64(),
        };
        for page in pages {
            column.push(value(name, page));
        }
        columns.push((*name, column));
    }
    Table::new(pages.len(), columns)
}

fn value<'a>(name: &str, page: &'a Judged) -> Value<'a> {
    let row = &page.row;
    let text = |text: &'a str| Value::text(Some(text).filter(|text| !text.is_empty()));
    match name {
        "url" => Value::Text(page.link.url.as_str()),
        "host" => Value::Text(page.link.url.host()),
        "depth" => Value::U64(row.depth.into()),
        "outcome" => Value::text(row.outcome().map(Outcome::as_str)),
        "fetched_at" => Value::U64(row.time),
        "first_visit" => Value::U64(row.first_visit),
        "visits" => Value::U64(row.visits.into()),
        "changes" => Value::U64(row.changes.into()),
        "unchanged" => Value::U64(row.unchanged().into()),
        "last_change" => Value::U64(row.last_change),
        "etag" => text(&row.etag),
        "last_modified" => text(&row.last_modified),
        "native_next" => Value::U64(page.native),
        _ => Value::None,
    }
}
