//! Taking in what visits brought: outcome, page, links, log line, all into the open batch.

use super::alias::Brief;
use super::batch::Placed;
use super::doors::Decision;
use super::{Leased, Node, NodeError};
use crate::canonical::Url;
use crate::frontier::robots::{Meaning, meaning};
use crate::frontier::{Purpose as Turn, Refusal, Report, Verdict};
use crate::links::patterns::Brought;
use crate::links::{Link, cut};
use crate::node::pool::{Purpose, Visited};
use crate::outcome::Outcome;
use crate::store::rows::IndexRow;
use crate::store::state::{Reads, Space};
use crate::store::warc::{LogLine, Meta};

/// So many links fill a batch like a page.
const LINKS_LIKE_A_PAGE: usize = 1_000;

/// Bytes of a media type that a reason names.
const MIME_BYTES: usize = 60;

/// Why a page that was fetched is worth nothing.
const SOFT_404: &str = "soft 404: what the host answers to a name that does not exist";

impl Node {
    /// Takes one visit's answer into the open batch, or holds it until a policy has judged it.
    pub(super) fn take_in(&mut self, mut visited: Visited) -> Result<(), NodeError> {
        if visited.died_unseen
            && let Some(leased) = self.leases.get(&visited.task.lease)
            && self.dead_connections.note(&leased.visit.link.url)
        {
            // Of page and host it says nothing: once more, at the next turn, on a new one.
            visited.outcome = Outcome::Deferred;
        }
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
            self.tally
                .visit(Purpose::Robots, visited.outcome, visited.bytes);
            self.append_records(&mut visited);
            self.write_log(&visited, &leased, None, None);
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
        let mut decision = decision;
        if visited.only_read && has_page(visited.outcome) && !decision.dropped {
            decision.dropped = true;
            let mime = visited.content_type.as_deref().unwrap_or("its media type");
            let mime = cut(mime, MIME_BYTES);
            decision.reason = Some(format!(
                "read for its links only: fetch.types does not name {mime}"
            ));
        }
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
        if visited.outcome != Outcome::Disconnected || verdict == Verdict::Done {
            self.dead_connections.forget(&leased.visit.link.url);
        }
        self.tally
            .visit(visited.task.purpose, visited.outcome, visited.bytes);
        if visited.task.purpose == Purpose::Page {
            self.tally.page(visited.outcome);
            if let Some(facts) = &visited.facts {
                self.tally.robots(facts.noindex, facts.nofollow);
                self.tally
                    .script_page(facts.scripted && has_page(visited.outcome));
            }
            self.seed_failures.page(&leased.visit.link, visited.outcome);
        }
        if visited.task.purpose == Purpose::Robots {
            self.seed_failures
                .robots(&leased.visit.link, visited.outcome, &verdict);
        }
        self.open.pages += 1;
        if visited.task.purpose == Purpose::Probe {
            return self.take_probe(&visited, &leased, &verdict);
        }
        let is_soft_404 = self.is_soft_404(&visited, &leased.visit.link)?;
        self.tally.soft_404(is_soft_404);
        self.add_fields(&mut visited, &decision);
        let member = self.append_records(&mut visited);
        self.weigh(&visited, now)?;
        let mut page = self.page_at(&visited, &leased)?;
        let reason = decision.reason.as_deref();
        let reason = reason.or(is_soft_404.then_some(SOFT_404));
        let mut row = None;
        if visited.task.purpose == Purpose::Page {
            row = self.index(&visited, &leased, member, reason);
        }
        // The score that a policy gave the page is what its links have of it, not its own place.
        let own = leased.visit.link.score;
        leased.visit.link.score = decision.score.or(own);
        visited
            .links
            .followed
            .extend(self.added_links(&visited, &decision.links));
        let whose = page.as_ref().map(|page| page.whose).unwrap_or_default();
        let mut seen = self.seen_at(&visited, &leased, whose);
        if is_soft_404 && seen.brought.is_some() {
            seen.brought = Some(Brought::Soft404);
        }
        let mut found = self.find(&mut visited, &leased);
        self.visit_with_cookie(&visited, &leased.visit.link, &found)?;
        leased.visit.link.score = own;
        if visited.outcome == Outcome::Redirected {
            found = self.with_roots(visited.task.url.host_key(), found);
        }
        self.tally.left_out(&visited.links.left_out);
        self.write_log(&visited, &leased, reason, is_soft_404.then_some("yes"));
        // A batch is bounded by what it holds, also where pages have very many links.
        self.open.pages += found.len() / LINKS_LIKE_A_PAGE;
        self.admit_of(found, page.as_mut())?;
        if let Some(page) = &page {
            self.count_evidence(page, &seen)?;
            self.suspect_soft_404(&visited, &leased.visit.link, &seen)?;
        }
        self.learn_parameters(&mut visited, &leased.visit.link, now)?;
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
        task.cookie.clone_from(&visited.next_cookie);
        task.new_connection = visited.task.new_connection;
        let host = &leased.visit.link.url;
        let view = self.frontier.explain(host.host_key(), &*self.state)?;
        // The host has not heard of this answer yet: what it took counts as for any other visit.
        let gap = view.map_or(0, |view| {
            let settings = self.frontier.settings();
            let took = visited.response_us;
            view.gap
                .max(view.record.rest(view.host_key, took, settings))
        });
        task.not_before = now.saturating_add(gap);
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
        let brief = Brief {
            outcome: visited.outcome,
            simhash: row.simhash,
        };
        self.fresh_rows
            .insert(key, (self.committer.next_number(), brief));
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

    pub(super) fn write_log(
        &mut self,
        visited: &Visited,
        leased: &Leased,
        reason: Option<&str>,
        soft_404: Option<&str>,
    ) {
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
            robots: robots_words(visited),
            soft_404,
            purpose: match visited.task.purpose {
                Purpose::Robots => Some("robots"),
                Purpose::Sitemap => Some("sitemap"),
                // Of a probe the field before tells.
                Purpose::Page | Purpose::Probe => None,
            },
            visited: true,
            left_out: Some(&visited.links.left_out),
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
        self.tally.unvisited(refusal.outcome);
        self.seed_failures.page(&refusal.link, refusal.outcome);
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
            robots: None,
            soft_404: None,
            purpose: link.sitemap.then_some("sitemap"),
            visited: false,
            left_out: None,
        }
        .write(&mut self.open.log);
    }
}

/// What the page says to robots, for the log.
fn robots_words(visited: &Visited) -> Option<&'static str> {
    let facts = visited.facts.as_ref()?;
    match (facts.noindex, facts.nofollow) {
        (true, true) => Some("noindex nofollow"),
        (true, false) => Some("noindex"),
        (false, true) => Some("nofollow"),
        (false, false) => None,
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
    if !is_hop {
        return None;
    }
    let target = visited.links.followed.first();
    // With the cookie that it has just set, once.
    let again = visited.next_cookie.is_some() && visited.task.cookie.is_none();
    let itself = again.then_some(&visited.task.url);
    target.map(|target| &target.url).or(itself)
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
