//! The door `order`: fresh links are scored by a policy before they are queued.
//!
//! Asked inside the open batch: the keys that `seen` has taken in are not written before the links
//! are queued, so that a crash in between asks again and loses nothing.

use std::time::Instant;

use super::super::{Node, NodeError};
use crate::doors::{Answer, Collected, Column, Door, DoorSettings, Table, Value};
use crate::frontier::{Frontier, RerankSlice, Scored};
use crate::links::{Link, Score};

impl Node {
    /// Queues fresh links: by the policy's score where there is one, else by the formula.
    pub(in crate::node) fn queue_fresh(&mut self, links: Vec<Link>) -> Result<(), NodeError> {
        if self.settings.doors.order.is_none() || links.is_empty() {
            return self.queue_scored(links);
        }
        if !self.is_asked(Door::Order) {
            self.doors.count_defaults(Door::Order, links.len() as u64);
            return self.queue_scored(links);
        }
        self.open.begin(self.clock.now());
        for link in links {
            self.questions.order.push(link, 0);
        }
        self.order_round(false)
    }

    /// Queues links that have the score of a policy, or will have the formula's.
    fn queue_scored(&mut self, mut links: Vec<Link>) -> Result<(), NodeError> {
        self.weigh_patterns(&mut links)?;
        self.queue(links)
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
                        link.reason = answer.reason(row).map(String::into_boxed_str);
                    }
                    Err((failure, what)) => {
                        link.reason = Some(failure.words(what).into());
                    }
                }
            }
            self.queue_scored(links)?;
        }
        let settings = self.settings.doors.order.clone();
        let Some(settings) = settings.filter(|_| self.is_asked(Door::Order)) else {
            let links = self.questions.order.take(usize::MAX);
            self.doors.count_defaults(Door::Order, links.len() as u64);
            return self.queue_scored(links);
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
                None => self.queue_scored(links)?,
            }
        }
        Ok(())
    }
}

impl Node {
    /// Asks for the scores of a slice of the queue. False: the formula alone gives them.
    pub(in crate::node) fn ask_rerank(&mut self, most: usize) -> Result<bool, NodeError> {
        let settings = self.settings.doors.order.clone();
        let Some(settings) = settings else {
            if !self.asks_patterns() {
                return Ok(false);
            }
            self.rerank_by_patterns(most)?;
            return Ok(true);
        };
        if !self.is_asked(Door::Order) {
            // The door rests: what is queued keeps the scores that it has.
            let writes = &mut self.open.writes;
            if let Some(slice) = self.frontier.rerank_take(most, &*self.state, writes)? {
                self.rerank_scored(slice, None)?;
            }
            return Ok(true);
        }
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

    /// Puts a slice of the queue in the order of the answer. Where there is none it stays as it is:
    /// what it has now the policy gave it earlier, which is better than the formula's.
    fn rerank_scored(
        &mut self,
        slice: RerankSlice,
        answer: Option<&Answer>,
    ) -> Result<(), NodeError> {
        let mut scores = Vec::with_capacity(slice.links.len());
        for (row, link) in slice.links.iter().enumerate() {
            let Some(answer) = answer else {
                scores.push(None);
                continue;
            };
            let given = answer.number("score", row);
            let given = given.map(|score| Score::new(score as f32));
            let score = given.unwrap_or_else(|| self.frontier.native_score(link));
            scores.push(Some((self.weighed(link, score)?, answer.reason(row))));
        }
        self.give_reranked(slice, scores)
    }

    /// Puts a slice of the queue in the order of the formula and of the weights of patterns, which
    /// the frontier does not know.
    fn rerank_by_patterns(&mut self, most: usize) -> Result<(), NodeError> {
        let writes = &mut self.open.writes;
        let Some(slice) = self.frontier.rerank_take(most, &*self.state, writes)? else {
            return Ok(());
        };
        let mut scores = Vec::with_capacity(slice.links.len());
        for link in &slice.links {
            let score = self.weighed(link, self.frontier.native_score(link))?;
            scores.push(Some((score, None)));
        }
        self.give_reranked(slice, scores)
    }

    fn give_reranked(
        &mut self,
        slice: RerankSlice,
        scores: Vec<Option<Scored>>,
    ) -> Result<(), NodeError> {
        self.open.begin(self.clock.now());
        let writes = &mut self.open.writes;
        let changed = self
            .frontier
            .rerank_give(slice, scores, &*self.state, writes)?;
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
        "native_score" => score(frontier.native_score(link)),
        _ => Value::None,
    }
}
