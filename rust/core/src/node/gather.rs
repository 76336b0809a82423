//! Taking in what visits brought: outcome, page, links, log line, all into the open batch.

use super::alias::Brief;
use super::batch::Placed;
use super::doors::Decision;
use super::{Leased, Node, NodeError};
use crate::canonical::Url;
use crate::frontier::robots::{Meaning, meaning};
use crate::frontier::{Purpose as Turn, Refusal, Report, Verdict};
use crate::links::Link;
use crate::node::pool::{Purpose, Visited};
use crate::outcome::Outcome;
use crate::store::rows::IndexRow;
use crate::store::state::{Reads, Space};
use crate::store::warc::{LogLine, Meta};

impl Node {
    /// Takes one visit's answer into the open batch, or holds it until a policy has judged it.
    pub(super) fn take_in(&mut self, visited: Visited) -> Result<(), NodeError> {
        match self.hold(visited)? {
            Some(visited) => self.take_judged(visited, Decision::default()),
            None => Ok(()),
        }
    }

    /// Takes one visit's answer into the open batch, as a policy decided.
    pub(super) fn take_judged(
        &mut self,
        mut visited: Visited,
        decision: Decision,
    ) -> Result<(), NodeError> {
        let now = self.clock.now();
        let Some(mut leased) = self.leases.remove(&visited.task.lease) else {
            return Ok(());
        };
        if visited.task.purpose == Purpose::Robots && self.follow_robots(&visited, &leased, now)? {
            self.append_records(&mut visited);
            self.write_log(&visited, &leased, None);
            self.leases.insert(
                visited.task.lease,
                Leased {
                    hops: leased.hops + 1,
                    ..leased
                },
            );
            return Ok(());
        }
        if robots_hop(&visited, &leased).is_some() && self.stopping {
            // Where it leads is asked after the restart: half an answer is none.
            visited.outcome = Outcome::Deferred;
        }
        self.open.begin(now);
        self.shares.touch_host(leased.visit.link.url.host_key());
        if decision.dropped && has_page(visited.outcome) {
            visited.outcome = Outcome::Dropped;
            visited.original = None;
            visited.members.clear();
        }
        self.find_duplicate(&mut visited)?;
        let report = report(&visited);
        let verdict = self
            .frontier
            .finish(now, visited.task.lease, &report, &mut self.open.writes);
        if visited.outcome == Outcome::Deferred {
            // Nothing came of it: no line, no count.
            return Ok(());
        }
        self.tally.visit(visited.bytes);
        if visited.task.purpose == Purpose::Page {
            self.tally.page(visited.outcome);
        }
        self.tally.count(visited.outcome);
        self.open.pages += 1;
        self.add_fields(&mut visited, &decision);
        let member = self.append_records(&mut visited);
        self.weigh(&visited, now)?;
        self.count_visit(&visited)?;
        let reason = decision.reason.as_deref();
        let mut row = None;
        if visited.task.purpose == Purpose::Page {
            row = self.index(&visited, &leased, member, reason);
        }
        self.write_log(&visited, &leased, reason);
        // The score that a policy gave the page is what its links have of it, not its own place.
        let own = leased.visit.link.score;
        leased.visit.link.score = decision.score.or(own);
        visited
            .links
            .followed
            .extend(self.added_links(&visited, &decision.links));
        let found = self.find(&mut visited, &leased);
        self.admit(found)?;
        leased.visit.link.score = own;
        match row {
            Some((place, row)) if verdict == Verdict::Done => {
                self.ask_refresh(&visited, &leased, row, place)
            }
            _ => Ok(()),
        }
    }

    /// A robots file that moved is fetched from its new place, under the same lease and after the
    /// gap; after that of the other host too, if it moved to one. True: it goes on there.
    fn follow_robots(
        &mut self,
        visited: &Visited,
        leased: &Leased,
        now: u64,
    ) -> Result<bool, NodeError> {
        let Some(target) = robots_hop(visited, leased).filter(|_| !self.stopping) else {
            return Ok(false);
        };
        let mut task = super::hand_out::task(visited.task.lease, target.clone(), Turn::Robots);
        let host = &leased.visit.link.url;
        let view = self.frontier.explain(host.host_key(), &*self.state)?;
        let known = view.map_or(0, |view| view.gap);
        // The host has not heard of this answer yet: what it took counts as for any other visit.
        let factor = self.frontier.settings().response_factor;
        let took = (visited.response_us as f64 * f64::from(factor)) as u64;
        task.not_before = now.saturating_add(known.max(took));
        let there = task.url.host_key();
        if there != host.host_key() {
            let free = self.frontier.visit_elsewhere(now, there);
            task.not_before = task.not_before.max(free);
        }
        self.pool.submit(vec![task]);
        Ok(true)
    }

    /// Moves the records to the batch; gives the number of the first.
    fn append_records(&mut self, visited: &mut Visited) -> Option<usize> {
        let first = self.open.members.len();
        self.open.members.append(&mut visited.members);
        (self.open.members.len() > first).then_some(first)
    }

    /// The fields that a policy gave a page go beside its record.
    fn add_fields(&self, visited: &mut Visited, decision: &Decision) {
        if let (Some(fields), Some(main)) = (&decision.fields, visited.members.first()) {
            let meta = Meta::new(visited.task.url.as_str(), visited.started);
            let meta = meta.concurrent_to(main.record_id);
            let builder = &self.pool.policies().builder;
            visited.members.push(builder.metadata_json(&meta, fields));
        }
    }

    /// Writes what became of a page; gives the row, and its place in the batch, where somebody may ask
    /// for the page's history.
    fn index(
        &mut self,
        visited: &Visited,
        leased: &Leased,
        member: Option<usize>,
        reason: Option<&str>,
    ) -> Option<(usize, IndexRow)> {
        let row = IndexRow {
            outcome: visited.outcome as u8,
            status: visited.status,
            depth: leased.visit.link.depth,
            time: visited.started,
            simhash: visited.facts.as_ref().map_or(0, |facts| facts.simhash),
            digest: visited.received.or(visited.payload),
            etag: visited.etag.clone().unwrap_or_default(),
            last_modified: visited.last_modified.clone().unwrap_or_default(),
            reason: reason.unwrap_or_default().to_owned(),
            order: leased
                .visit
                .link
                .reason
                .as_deref()
                .unwrap_or_default()
                .to_owned(),
            mime: self.mime_to_keep(visited),
            head_only: visited.terms.stored() == Some("head"),
            ..IndexRow::default()
        };
        let row = row.after(leased.earlier.as_ref());
        let key = visited.task.url.key();
        // The record of the stored version stays the page's.
        let member = member.filter(|_| visited.outcome != Outcome::NotModified);
        let history = self.refreshes().then(|| row.clone());
        if let Some(row) = &history {
            self.recent_rows
                .insert(key, (self.committer.next_number(), row.clone()));
        }
        if self.aliases.listens() || self.rule_set().is_some() {
            let brief = Brief {
                outcome: visited.outcome,
                simhash: row.simhash,
            };
            self.fresh_rows
                .insert(key, (self.committer.next_number(), brief));
        }
        let place = self.open.rows.len();
        self.open.rows.push(Placed { key, row, member });
        history.map(|row| (place, row))
    }

    /// The media type, where a later visit may have none and somebody asks for it.
    fn mime_to_keep(&self, visited: &Visited) -> String {
        let mime = visited.content_type.as_deref().filter(|_| self.refreshes());
        mime.unwrap_or_default().to_owned()
    }

    /// What the index has of a page that is visited again.
    pub(super) fn earlier_row(&self, url: &Url) -> Result<Option<IndexRow>, NodeError> {
        if let Some((_, row)) = self.recent_rows.get(&url.key()) {
            return Ok(Some(row.clone()));
        }
        let row = self.state.get(Space::Index, &url.key())?;
        Ok(row.as_deref().and_then(IndexRow::read))
    }

    fn write_log(&mut self, visited: &Visited, leased: &Leased, reason: Option<&str>) {
        LogLine {
            time: visited.started,
            url: visited.task.url.as_str(),
            host: visited.task.url.host(),
            ip: visited.ip,
            outcome: visited.outcome.as_str(),
            status: (visited.status != 0).then_some(visited.status),
            bytes: visited.bytes,
            ms: visited.ended.saturating_sub(visited.started) as f64 / 1e3,
            depth: u32::from(leased.visit.link.depth),
            from: source(&leased.visit.link),
            digest: visited.payload,
            stored: match visited.outcome {
                Outcome::Dropped => Some("no"),
                _ => visited.terms.stored(),
            },
            reason,
        }
        .write(&mut self.open.log);
    }

    /// A URL that left the queue without a visit: counted and logged like one.
    pub(super) fn note_refusal(&mut self, refusal: &Refusal, now: u64) {
        self.note_outcome(refusal, None, now);
    }

    /// The same, with the reason for people.
    pub(super) fn note_outcome(&mut self, refusal: &Refusal, reason: Option<&str>, now: u64) {
        self.open.begin(now);
        self.tally.count(refusal.outcome);
        let link = &refusal.link;
        // What a visit stored is not forgotten because there will be no further one.
        if !link.revisit {
            let row = IndexRow {
                outcome: refusal.outcome as u8,
                depth: link.depth,
                time: now,
                reason: reason.unwrap_or_default().to_owned(),
                ..IndexRow::default()
            };
            self.open.rows.push(Placed {
                key: link.url.key(),
                row,
                member: None,
            });
        }
        LogLine {
            time: now,
            url: link.url.as_str(),
            host: link.url.host(),
            ip: None,
            outcome: refusal.outcome.as_str(),
            status: None,
            bytes: 0,
            ms: 0.0,
            depth: u32::from(link.depth),
            from: source(link),
            digest: None,
            stored: None,
            reason,
        }
        .write(&mut self.open.log);
    }
}

/// Whether there is a page to keep or to drop. A page that is as it was is stored already.
fn has_page(outcome: Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Fetched | Outcome::Truncated | Outcome::Duplicate
    )
}

/// Who linked to it, for the log.
fn source(link: &Link) -> Option<&str> {
    Some(&*link.from).filter(|from| !from.is_empty())
}

/// Where a robots file has moved to, if that is to be followed.
fn robots_hop<'a>(visited: &'a Visited, leased: &Leased) -> Option<&'a Url> {
    let is_hop = visited.task.purpose == Purpose::Robots
        && meaning(visited.outcome, leased.hops) == Meaning::Follow;
    let target = visited.links.followed.first().filter(|_| is_hop)?;
    Some(&target.url)
}

fn report(visited: &Visited) -> Report {
    let mut report = Report::new(visited.outcome, visited.started, visited.ended);
    report.ip = visited.ip;
    report.response_us = (visited.status != 0).then_some(visited.response_us);
    report.bytes = visited.bytes;
    report.wait_us = match visited.outcome {
        Outcome::Deferred => visited
            .not_before
            .map(|at| at.saturating_sub(visited.ended)),
        _ => visited.retry_after_us,
    };
    report.sent = visited.sent;
    if visited.task.purpose == Purpose::Robots {
        report.robots = visited.body.as_ref().map_or_else(Vec::new, |b| b.to_vec());
    }
    report
}
