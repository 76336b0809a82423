//! The door `pages`: finished visits are held, with their leases, until a policy has judged them.

use std::time::Instant;

use super::super::{Node, NodeError};
use crate::canonical::{Base, Url, canonical};
use crate::doors::{Answer, Collected, Column, Door, DoorSettings, Table, Value};
use crate::links::{Link, Score};
use crate::node::pool::{Purpose, Visited};
use crate::outcome::Outcome;
use crate::parse::LinkKind;

/// Bytes of held pages above which no further visits begin, and with which a batch is full.
const MOST_BYTES: usize = 64 << 20;

/// What a policy decided of a page; the default is what happens without a policy.
#[derive(Debug, Default)]
pub(in crate::node) struct Decision {
    pub dropped: bool,
    /// JSON text to store with the page.
    pub fields: Option<String>,
    /// Further links, as written.
    pub links: Vec<String>,
    pub score: Option<Score>,
    pub reason: Option<String>,
}

impl Decision {
    fn of(answer: &Answer, row: usize) -> Decision {
        Decision {
            dropped: answer.bool("keep", row) == Some(false),
            fields: answer.text("fields", row).map(str::to_owned),
            links: answer.texts("links", row).to_vec(),
            score: answer
                .number("score", row)
                .map(|score| Score::new(score as f32)),
            reason: answer.reason(row),
        }
    }
}

impl Node {
    /// Holds a visit for the policies of pages; gives it back where there is none to ask.
    pub(in crate::node) fn hold(
        &mut self,
        mut visited: Visited,
    ) -> Result<Option<Visited>, NodeError> {
        if self.settings.doors.pages.is_none() {
            return Ok(Some(visited));
        }
        let asked = visited.task.purpose == Purpose::Page && visited.outcome != Outcome::Deferred;
        if !asked || !self.leases.contains_key(&visited.task.lease) {
            return Ok(Some(visited));
        }
        if !self.is_asked(Door::Pages) {
            self.doors.count_defaults(Door::Pages, 1);
            return Ok(Some(visited));
        }
        // Judged again when it is stored: another copy may come first.
        visited.original = self.stored_elsewhere(&visited)?;
        let bytes = size(&visited);
        self.questions.pages.push(visited, bytes);
        Ok(None)
    }

    /// Room for further visits beside those that are held.
    pub(in crate::node) fn room_beside_held(&self, room: usize) -> usize {
        let Some(settings) = &self.settings.doors.pages else {
            return room;
        };
        let held = &self.questions.pages;
        if held.bytes() >= MOST_BYTES {
            return 0;
        }
        // Two batches may be with the policy and one may fill; a slow policy holds up the rest.
        room.min((3 * settings.rows).saturating_sub(held.len()))
    }

    /// Takes in the pages that were judged, or that nobody judged in time, and asks about others.
    pub(in crate::node) fn pages_round(&mut self, flush: bool) -> Result<(), NodeError> {
        if self.questions.pages.is_empty() {
            return Ok(());
        }
        for Collected { number, answer } in self.doors.collect(Door::Pages, Instant::now()) {
            let pages = self.questions.pages.end(number, size);
            for (row, visited) in pages.into_iter().enumerate() {
                let decision = match &answer {
                    Ok(answer) => Decision::of(answer, row),
                    Err((failure, what)) => Decision {
                        reason: Some(failure.words(what)),
                        ..Decision::default()
                    },
                };
                self.take_judged(visited, decision)?;
            }
        }
        let Some(settings) = self.settings.doors.pages.clone() else {
            return self.release(None);
        };
        if !self.is_asked(Door::Pages) {
            return self.release(Some(()));
        }
        // With nothing else to do, waiting for a full batch would only cost time.
        let idle = flush || self.pool.in_flight() == 0;
        let full = self.questions.pages.bytes() >= MOST_BYTES;
        while self.questions.pages.is_due(&settings, idle || full)
            && self.doors.is_open(Door::Pages, Instant::now())
        {
            let held = &mut self.questions.pages;
            let pages = held.take_bytes(settings.rows, MOST_BYTES, size);
            let posted = table(&settings, &pages, |lease| {
                self.leases.get(&lease).map(|leased| &leased.visit.link)
            })
            .ok()
            .and_then(|table| self.doors.post(Door::Pages, table, settings.patience()));
            match posted {
                Some(number) => self.questions.pages.post(number, pages),
                None => {
                    for visited in pages {
                        self.questions.pages.forget(size(&visited));
                        self.take_judged(visited, Decision::default())?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Takes in what waits to be asked about, as without a policy.
    fn release(&mut self, count: Option<()>) -> Result<(), NodeError> {
        let pages = self.questions.pages.take(usize::MAX);
        if count.is_some() {
            self.doors.count_defaults(Door::Pages, pages.len() as u64);
        }
        for visited in pages {
            self.questions.pages.forget(size(&visited));
            self.take_judged(visited, Decision::default())?;
        }
        Ok(())
    }

    /// The links that a policy added to a page: canonical and in scope, as the page's own are.
    pub(in crate::node) fn added_links(&self, visited: &Visited, texts: &[String]) -> Vec<Link> {
        if texts.is_empty() {
            return Vec::new();
        }
        let scope = &self.pool.policies().scope;
        let base = Base::from(&visited.task.url);
        let from: std::sync::Arc<str> = visited.task.url.as_str().into();
        let urls = texts
            .iter()
            .filter_map(|text| canonical(text, Some(&base), &self.rules).ok());
        urls.map(|url| Link::new(url, from.clone(), LinkKind::Policy))
            .filter(|link| scope.admits(link))
            .collect()
    }
}

/// Bytes that a held visit takes.
fn size(visited: &Visited) -> usize {
    let records: usize = visited
        .members
        .iter()
        .map(|member| member.bytes.len())
        .sum();
    let body = visited.body.as_ref().map_or(0, bytes::Bytes::len);
    let heads = visited.request_head.len() + visited.response_head.len();
    let facts = visited.facts.as_ref().map_or(0, |facts| {
        let canonical = facts.canonical.as_ref().map_or(0, |url| url.as_str().len());
        facts.text.len() + facts.title.len() + facts.lang.len() + canonical
    });
    // The page that they were found on is one text for all of them.
    let links: usize = (visited.links.followed.iter())
        .map(|link| {
            let anchor = link.anchor.as_deref().map_or(0, str::len);
            size_of::<Link>() + link.url.as_str().len() + anchor
        })
        .sum();
    let own = size_of::<Visited>() + visited.task.url.as_str().len() + visited.detail.len();
    records + body + heads + facts + links + own
}

fn table<'a>(
    settings: &DoorSettings,
    pages: &'a [Visited],
    link: impl Fn(u64) -> Option<&'a Link>,
) -> Result<Table, String> {
    let mut columns = Vec::with_capacity(settings.columns.len());
    for name in Door::Pages.columns() {
        if !settings.asks(name) {
            continue;
        }
        let mut column = column(name);
        for page in pages {
            fill(&mut column, name, page, link(page.task.lease));
        }
        columns.push((*name, column));
    }
    Table::new(pages.len(), columns)
}

fn column(name: &str) -> Column {
    match name {
        "depth" | "status" | "fetched_at" | "bytes" | "text_bytes" | "simhash" => Column::u64(),
        "ms" => Column::f64(),
        "noindex" | "nofollow" | "noarchive" => Column::bool(),
        "body" => Column::bytes(),
        "links" => Column::rows(&["url", "kind", "anchor"]),
        "headers" => Column::rows(&["name", "value"]),
        _ => Column::text(),
    }
}

fn fill(column: &mut Column, name: &str, page: &Visited, link: Option<&Link>) {
    let facts = page.facts.as_ref();
    let text = |text: &'_ str| (!text.is_empty()).then(|| text.to_owned());
    let value = match name {
        "links" => {
            for link in &page.links.followed {
                let anchor = link.anchor.as_deref();
                column.push_row(&[Some(link.url.as_str()), Some(link.kind.as_str()), anchor]);
            }
            Value::Rows
        }
        "headers" => {
            for (name, value) in headers(&page.response_head) {
                column.push_row(&[Some(&name), Some(&value)]);
            }
            Value::Rows
        }
        "url" => Value::Text(page.task.url.as_str()),
        "host" => Value::Text(page.task.url.host()),
        "depth" => link.map_or(Value::None, |link| Value::U64(link.depth.into())),
        "from" => Value::text(link.map(|link| &*link.from).filter(|from| !from.is_empty())),
        "outcome" if page.original.is_some() => Value::Text(Outcome::Duplicate.as_str()),
        "outcome" => Value::Text(page.outcome.as_str()),
        "status" if page.status == 0 => Value::None,
        "status" => Value::U64(page.status.into()),
        "content_type" => Value::text(page.content_type.as_deref()),
        "fetched_at" => Value::U64(page.started),
        "ms" => Value::F64(page.ended.saturating_sub(page.started) as f64 / 1e3),
        "bytes" => Value::U64(page.bytes),
        "title" => {
            let title = facts.and_then(|facts| text(&facts.title));
            column.push(Value::text(title.as_deref()));
            return;
        }
        "language" => {
            let lang = facts.and_then(|facts| text(&facts.lang));
            column.push(Value::text(lang.as_deref()));
            return;
        }
        "charset" => Value::text(facts.map(|facts| facts.charset)),
        "text_bytes" => facts.map_or(Value::None, |facts| Value::U64(facts.text_bytes.into())),
        "simhash" => facts.map_or(Value::None, |facts| Value::U64(facts.simhash)),
        "noindex" => facts.map_or(Value::None, |facts| Value::Bool(facts.noindex)),
        "nofollow" => facts.map_or(Value::None, |facts| Value::Bool(facts.nofollow)),
        "noarchive" => facts.map_or(Value::None, |facts| Value::Bool(facts.noarchive)),
        "canonical" => {
            let canonical = facts.and_then(|facts| facts.canonical.as_ref());
            Value::text(canonical.map(Url::as_str))
        }
        "text" => Value::text(facts.map(|facts| facts.text.as_str())),
        // A column holds less than 2 GiB.
        "body" => page
            .body
            .as_deref()
            .filter(|body| body.len() < 1 << 30)
            .map_or(Value::None, Value::Bytes),
        _ => Value::None,
    };
    column.push(value);
}

/// Names and values of a response head, the status line left out.
fn headers(head: &[u8]) -> Vec<(String, String)> {
    let lines = head.split(|byte| *byte == b'\n').skip(1);
    lines
        .filter_map(|line| {
            let line = String::from_utf8_lossy(line);
            let (name, value) = line.split_once(':')?;
            Some((name.trim().to_owned(), value.trim().to_owned()))
        })
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use super::{headers, size};
    use crate::canonical::{Grouping, Url};
    use crate::frontier::Purpose;
    use crate::links::Link;
    use crate::node::pool::Visited;
    use crate::outcome::Outcome;
    use crate::parse::LinkKind;

    #[test]
    fn what_a_page_takes_is_counted_as_long_as_it_is() {
        let url = |path: &str| {
            Url::from_canonical(format!("http://a.example/{path}"), Grouping::Host).unwrap()
        };
        let task = crate::node::hand_out::task(1, url(""), Purpose::Page);
        let mut page = Visited::without_answer(task, Outcome::Fetched, 1);
        let bare = size(&page);
        assert!(bare < 2_000, "{bare}");
        page.response_head = vec![b'x'; 5_000];
        page.request_head = vec![b'x'; 500];
        let heads = size(&page);
        assert_eq!(heads, bare + 5_500);
        let from: Arc<str> = Arc::from("http://a.example/");
        for n in 0..100 {
            let path = format!("{n:02}{}", "p".repeat(1_998));
            let mut link = Link::new(url(&path), Arc::clone(&from), LinkKind::Area);
            link.anchor = Some("w".repeat(500).into());
            page.links.followed.push(link);
        }
        assert!(size(&page) >= heads + 100 * 2_500, "{}", size(&page));
    }

    #[test]
    fn heads_are_read_line_by_line() {
        let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Odd:a:b\r\n\r\n";
        let pairs = headers(head);
        assert_eq!(
            pairs[0],
            ("Content-Type".to_owned(), "text/html".to_owned())
        );
        assert_eq!(pairs[1], ("X-Odd".to_owned(), "a:b".to_owned()));
        assert_eq!(pairs.len(), 2);
    }
}
