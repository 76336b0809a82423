//! Taking in what visits brought: outcome, page, links, log line, all into the open batch.

use std::sync::Arc;

use super::alias::Brief;
use super::batch::Placed;
use super::doors::Decision;
use super::{Leased, Node, NodeError};
use crate::canonical::{Base, Url, canonical};
use crate::frontier::robots::{Meaning, Robots, meaning};
use crate::frontier::{Admission, Purpose as Turn, Refusal, Report, Verdict};
use crate::links::Link;
use crate::links::scope::Scope;
use crate::links::trap;
use crate::node::pool::{Purpose, Visited, revisit_records};
use crate::outcome::Outcome;
use crate::parse::LinkKind;
use crate::seed::sitemap;
use crate::seen::Candidate;
use crate::store::Original;
use crate::store::rows::{self, IndexRow};
use crate::store::state::{Reads, Space};
use crate::store::warc::{Digest, LogLine, Meta};

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
            Some(row) if verdict == Verdict::Done => self.ask_refresh(&visited, &leased, &row),
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
        let mut task = super::task(visited.task.lease, target.clone(), Turn::Robots);
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

    /// Whether the content is stored under another URL already: then it is a duplicate, and its
    /// record refers to the first.
    fn find_duplicate(&mut self, visited: &mut Visited) -> Result<(), NodeError> {
        let (Some(content), Some(payload)) = (visited.content, visited.payload) else {
            return Ok(());
        };
        if visited.outcome != Outcome::Fetched {
            return Ok(());
        }
        let stored = self.stored_content(&content)?;
        let elsewhere = |original: &Original| original.url != visited.task.url.as_str();
        if let Some(original) = stored.filter(elsewhere) {
            if !self.settings.duplicates.follow_links {
                visited.links.followed.clear();
            }
            if original.payload == payload && visited.terms.stored().is_none() {
                let policies = self.pool.policies();
                visited.members = revisit_records(visited, &original, payload, &policies);
            }
            visited.original = Some(original);
            visited.outcome = Outcome::Duplicate;
            return Ok(());
        }
        // What is not in the files cannot be referred to.
        if visited.terms.stored().is_some() {
            return Ok(());
        }
        let original = Original {
            url: visited.task.url.as_str().to_owned(),
            date: visited.started,
            payload,
        };
        let row = rows::write_content(&original);
        self.open
            .writes
            .put(Space::Content, rows::content_key(&content), row);
        self.fresh_content
            .insert(content, (self.committer.next_number(), original));
        Ok(())
    }

    /// The page that has this content already, under another URL.
    pub(super) fn stored_elsewhere(
        &self,
        visited: &Visited,
    ) -> Result<Option<Original>, NodeError> {
        let Some(content) = visited
            .content
            .filter(|_| visited.outcome == Outcome::Fetched)
        else {
            return Ok(None);
        };
        let stored = self.stored_content(&content)?;
        Ok(stored.filter(|original| original.url != visited.task.url.as_str()))
    }

    /// The first page with this content, in a batch under way or in one that is applied.
    fn stored_content(&self, content: &Digest) -> Result<Option<Original>, NodeError> {
        if let Some((_, original)) = self.fresh_content.get(content) {
            return Ok(Some(original.clone()));
        }
        let row = self.state.get(Space::Content, rows::content_key(content))?;
        Ok(row.as_deref().and_then(rows::read_content))
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

    /// Writes what became of a page; gives the row where somebody may ask for the page's history.
    fn index(
        &mut self,
        visited: &Visited,
        leased: &Leased,
        member: Option<usize>,
        reason: Option<&str>,
    ) -> Option<IndexRow> {
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
        self.open.rows.push(Placed { key, row, member });
        history
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

    /// What a visit leads to: links of a page, sitemaps of a robots file, entries of a sitemap.
    fn find(&self, visited: &mut Visited, leased: &Leased) -> Vec<Link> {
        let scope = &self.pool.policies().scope;
        match visited.task.purpose {
            Purpose::Page => self.find_links(visited, &leased.visit.link, scope),
            Purpose::Robots if self.settings.frontier.sitemaps => {
                self.find_sitemaps(visited, scope)
            }
            Purpose::Robots => Vec::new(),
            Purpose::Sitemap => self.find_entries(visited, &leased.visit.link, scope),
        }
    }

    fn find_links(&self, visited: &mut Visited, page: &Link, scope: &Scope) -> Vec<Link> {
        // A redirect is the same step of the way, not a further one.
        let depth = if visited.outcome == Outcome::Redirected {
            page.depth
        } else {
            page.depth.saturating_add(1)
        };
        let mut links = std::mem::take(&mut visited.links.followed);
        for link in &mut links {
            link.depth = depth;
            link.parent_score = page.score;
        }
        if self.settings.frontier.ascend {
            self.with_folders(links, scope)
        } else {
            links
        }
    }

    /// Links with the folders above each, which stand before it.
    pub(super) fn with_folders(&self, links: Vec<Link>, scope: &Scope) -> Vec<Link> {
        let mut all = Vec::with_capacity(links.len());
        for link in links {
            let path = link.url.path_and_query();
            let path = path.split('?').next().unwrap_or("/");
            let mut end = path.trim_end_matches('/').len();
            while let Some(slash) = path[..end].rfind('/') {
                let text = format!("{}{}", link.url.origin(), &path[..=slash]);
                if let Ok(url) = Url::from_canonical(text, self.rules.grouping)
                    && url != link.url
                    && scope.check(&url).is_ok()
                {
                    all.push(Link {
                        seed: false,
                        kind: LinkKind::Folder,
                        anchor: None,
                        ..link.to(url)
                    });
                }
                end = slash;
            }
            all.push(link);
        }
        all
    }

    fn find_sitemaps(&self, visited: &Visited, scope: &Scope) -> Vec<Link> {
        let (Some(body), Outcome::Fetched | Outcome::Truncated) = (&visited.body, visited.outcome)
        else {
            return Vec::new();
        };
        let base = Base::from(&visited.task.url);
        let from: Arc<str> = Arc::from(visited.task.url.as_str());
        let robots = Robots::parse(body, &self.settings.fetch.agent);
        let urls = robots.sitemaps().iter();
        urls.filter_map(|text| canonical(text, Some(&base), &self.rules).ok())
            .map(|url| Link {
                sitemap: true,
                ..Link::new(url, Arc::clone(&from), LinkKind::Sitemap)
            })
            .filter(|link| scope.admits(link))
            .collect()
    }

    fn find_entries(&self, visited: &Visited, page: &Link, scope: &Scope) -> Vec<Link> {
        let (Some(body), Outcome::Fetched, true) =
            (&visited.body, visited.outcome, visited.terms.follow)
        else {
            return Vec::new();
        };
        let base = Base::from(&visited.task.url);
        let from: Arc<str> = Arc::from(visited.task.url.as_str());
        let map = sitemap::parse(body, &base, &self.rules, sitemap::Limits::default());
        let is_index = map.is_index();
        map.entries
            .into_iter()
            .map(|entry| Link {
                depth: page.depth.saturating_add(1),
                sitemap: is_index,
                parent_score: page.score,
                ..Link::new(entry.loc, Arc::clone(&from), LinkKind::Sitemap)
            })
            .filter(|link| scope.admits(link))
            .collect()
    }

    /// Through the door into `seen`, and what is fresh into the frontier.
    pub(super) fn admit(&mut self, links: Vec<Link>) -> Result<(), NodeError> {
        let links = self.split_by_owner(links);
        self.count_links(&links)?;
        let fresh = self.sift(links)?;
        let fresh = self.drop_patterns(fresh)?;
        self.queue_fresh(fresh)
    }

    /// What is fresh and to be queued; what stands in for an alias among it. Traps are detected here.
    fn sift(&mut self, links: Vec<Link>) -> Result<Vec<Link>, NodeError> {
        if links.is_empty() {
            return Ok(links);
        }
        let now = self.clock.now();
        self.open.begin(now);
        let year = trap::year_of(now);
        let mut queued = Vec::with_capacity(links.len());
        let mut twins = Vec::new();
        let mut seen = 0;
        let links = self.drop_by_rules(links, now)?;
        for link in self.fresh(links)? {
            seen += 1;
            let (shapes, reads) = (&self.settings.frontier.traps, &*self.state);
            if self.is_alias(&link.url) {
                twins.extend(self.leave_out(link, now));
            } else if !link.seed
                && self
                    .traps
                    .suspects(&link.url, &link.from, shapes, year, reads)?
            {
                let refusal = Refusal {
                    link,
                    tries: 0,
                    outcome: Outcome::TrapSuspected,
                };
                self.note_refusal(&refusal, now);
            } else {
                queued.push(link);
            }
        }
        self.tally.seen(seen);
        // What an alias stands for is no alias, so this ends after one round.
        let twins = self.split_by_owner(twins);
        queued.extend(self.sift(twins)?);
        Ok(queued)
    }

    /// Those that pass `seen`.
    fn fresh(&mut self, mut links: Vec<Link>) -> Result<Vec<Link>, NodeError> {
        let candidates: Vec<Candidate<'_>> = links
            .iter()
            .map(|link| Candidate::from(&link.url))
            .collect();
        let mut fresh = Vec::with_capacity(links.len());
        self.seen
            .admit(&candidates, &*self.state, &mut self.open.writes, &mut fresh)?;
        if self.queue_drops {
            self.let_back(&links, &mut fresh)?;
        }
        let mut fresh = fresh.into_iter();
        links.retain(|_| fresh.next().unwrap_or(false));
        Ok(links)
    }

    /// Into the frontier: by the score that a link has, or the one that the order gives it.
    pub(super) fn queue(&mut self, links: Vec<Link>) -> Result<(), NodeError> {
        if links.is_empty() {
            return Ok(());
        }
        let now = self.clock.now();
        self.open.begin(now);
        let mut admissions = Vec::with_capacity(links.len());
        let writes = &mut self.open.writes;
        self.frontier
            .add(now, &links, &*self.state, writes, &mut admissions)?;
        for (link, admission) in links.into_iter().zip(admissions) {
            if let Admission::Refused(outcome) = admission {
                let refusal = Refusal {
                    link,
                    tries: 0,
                    outcome,
                };
                self.note_refusal(&refusal, now);
            }
        }
        Ok(())
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
