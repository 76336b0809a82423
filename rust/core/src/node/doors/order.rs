//! The door `order`: fresh links are scored by a policy before they are queued.
//!
//! Asked inside the open batch: the keys that `seen` has taken in are not written before the links
//! are queued, so that a crash in between asks again and loses nothing.

use std::time::Instant;

use super::super::{Node, NodeError};
use crate::doors::{Answer, Collected, Column, Door, DoorSettings, Table, Value};
use crate::frontier::{Frontier, RerankSlice};
use crate::links::{Link, Score};

impl Node {
    /// Queues fresh links: by the policy's score where there is one, else by the formula.
    pub(in crate::node) fn queue_fresh(&mut self, links: Vec<Link>) -> Result<(), NodeError> {
        if self.settings.doors.order.is_none() || links.is_empty() {
            return self.queue(links);
        }
        if !self.is_asked(Door::Order) {
            self.doors.count_defaults(Door::Order, links.len() as u64);
            return self.queue(links);
        }
        self.open.begin(self.clock.now());
        for link in links {
            self.questions.order.push(link, 0);
        }
        self.order_round(false)
    }

    pub(in crate::node) fn order_round(&mut self, flush: bool) -> Result<(), NodeError> {
        if self.questions.order.is_empty() && self.questions.rerank.is_none() {
            return Ok(());
        }
        for Collected { number, answer } in self.doors.collect(Door::Order, Instant::now()) {
            if let Some((_, slice)) = self.questions.rerank.take_if(|(of, _)| *of == number) {
                self.rerank_scored(slice, answer.ok().as_ref())?;
                continue;
            }
            let mut links = self.questions.order.end(number, |_| 0);
            for (row, link) in links.iter_mut().enumerate() {
                match &answer {
                    Ok(answer) => {
                        let score = answer.number("score", row);
                        link.score = score.map(|score| Score::new(score as f32)).or(link.score);
                        if let Some(reason) = answer.reason(row) {
                            self.decisions.note(link.url.key(), Door::Order, reason);
                        }
                    }
                    Err((failure, what)) => {
                        let text = format!("{}: {what}", failure.as_str());
                        self.decisions.note(link.url.key(), Door::Order, text);
                    }
                }
            }
            self.queue(links)?;
        }
        let settings = self.settings.doors.order.clone();
        let Some(settings) = settings.filter(|_| self.is_asked(Door::Order)) else {
            let links = self.questions.order.take(usize::MAX);
            self.doors.count_defaults(Door::Order, links.len() as u64);
            return self.queue(links);
        };
        while self.questions.order.is_due(&settings, flush)
            && self.doors.is_open(Door::Order, Instant::now())
        {
            let links = self.questions.order.take(settings.rows);
            let posted = table(&settings, &links, &self.frontier)
                .ok()
                .and_then(|table| self.doors.post(Door::Order, table, settings.patience()));
            match posted {
                Some(number) => self.questions.order.post(number, links),
                None => self.queue(links)?,
            }
        }
        Ok(())
    }
}

impl Node {
    /// Asks for the scores of a slice of the queue. False: there is nobody to ask.
    pub(in crate::node) fn ask_rerank(&mut self, most: usize) -> Result<bool, NodeError> {
        let settings = self.settings.doors.order.clone();
        let Some(settings) = settings.filter(|_| self.is_asked(Door::Order)) else {
            return Ok(false);
        };
        if self.questions.rerank.is_some() || !self.doors.is_open(Door::Order, Instant::now()) {
            return Ok(true);
        }
        let rows = settings.rows.min(most);
        let writes = &mut self.open.writes;
        let Some(slice) = self.frontier.rerank_take(rows, &*self.state, writes)? else {
            return Ok(true);
        };
        let posted = table(&settings, &slice.links, &self.frontier)
            .ok()
            .and_then(|table| self.doors.post(Door::Order, table, settings.patience()));
        match posted {
            Some(number) => self.questions.rerank = Some((number, slice)),
            None => self.rerank_scored(slice, None)?,
        }
        Ok(true)
    }

    /// Puts a slice of the queue in the order of the answer; without one, of the formula.
    fn rerank_scored(
        &mut self,
        slice: RerankSlice,
        answer: Option<&Answer>,
    ) -> Result<(), NodeError> {
        let score = |row| {
            let score = answer?.number("score", row)?;
            Some(Score::new(score as f32))
        };
        let scores: Vec<Option<Score>> = (0..slice.links.len()).map(score).collect();
        self.open.begin(self.clock.now());
        let writes = &mut self.open.writes;
        let changed = self
            .frontier
            .rerank_give(slice, &scores, &*self.state, writes)?;
        for key in changed {
            self.shares.touch_host(key);
        }
        Ok(())
    }
}

fn table(settings: &DoorSettings, links: &[Link], frontier: &Frontier) -> Result<Table, String> {
    let mut columns = Vec::with_capacity(settings.columns.len());
    for name in Door::Order.columns() {
        if !settings.asks(name) {
            continue;
        }
        let mut column = match *name {
            "depth" => Column::u64(),
            "parent_score" | "native_score" => Column::f64(),
            "dynamic" | "seed" | "sitemap" => Column::bool(),
            _ => Column::text(),
        };
        for link in links {
            column.push(value(name, link, frontier));
        }
        columns.push((*name, column));
    }
    Table::new(links.len(), columns)
}

fn value<'a>(name: &str, link: &'a Link, frontier: &Frontier) -> Value<'a> {
    let score = |score: Score| Value::F64(f64::from(score.value()));
    match name {
        "url" => Value::Text(link.url.as_str()),
        "host" => Value::Text(link.url.host()),
        "depth" => Value::U64(link.depth.into()),
        "from" => Value::text(Some(&*link.from).filter(|from| !from.is_empty())),
        "kind" => Value::Text(link.kind.as_str()),
        "anchor" => Value::text(link.anchor.as_deref()),
        "parent_score" => link.parent_score.map_or(Value::None, score),
        "dynamic" => Value::Bool(link.url.is_dynamic()),
        "seed" => Value::Bool(link.seed),
        "sitemap" => Value::Bool(link.kind == crate::parse::LinkKind::Sitemap),
        "native_score" => score(frontier.score(link)),
        _ => Value::None,
    }
}
