//! Taking in what visits brought: outcome, page, links, log line, all into the open batch.

use super::alias::Brief;
use super::batch::Placed;
use super::found::{Found, in_site, item};
use super::rows::{self, IndexRow};
use super::{Leased, Node, NodeError, trap};
use crate::canonical::{Base, Url, canonical};
use crate::frontier::{Admission, Fresh, Purpose as Turn, Refusal, Report, RobotsAnswer};
use crate::links::scope::Scope;
use crate::outcome::Outcome;
use crate::robots::Robots;
use crate::seen::{Candidate, UrlKey};
use crate::sitemap;
use crate::state::{Reads, Space};
use crate::visit::{Original, Purpose, Visited};
use crate::warc::{Digest, LogLine, Meta, RefersTo};

/// Redirects of a robots file that are followed (RFC 9309, 2.3.1.2).
const ROBOTS_HOPS: u8 = 5;

impl Node {
    /// Takes one visit's answer into the open batch.
    pub(super) fn take_in(&mut self, mut visited: Visited) -> Result<(), NodeError> {
        let now = self.clock.now();
        let Some(leased) = self.leases.remove(&visited.task.lease) else {
            return Ok(());
        };
        if visited.task.purpose == Purpose::Robots && self.follow_robots(&visited, &leased, now) {
            self.append_records(&mut visited);
            self.write_log(&visited, &leased);
            self.leases.insert(
                visited.task.lease,
                Leased {
                    hops: leased.hops + 1,
                    ..leased
                },
            );
            return Ok(());
        }
        if is_robots_hop(&visited) && self.stopping && leased.hops < ROBOTS_HOPS {
            // Where it leads is asked after the restart: half an answer is none.
            visited.outcome = Outcome::Deferred;
        }
        self.open.begin(now);
        self.shares.touch_host(leased.visit.host_key);
        self.judge_content(&mut visited)?;
        let report = report(&visited);
        let verdict = self
            .frontier
            .finish(now, visited.task.lease, &report, &mut self.open.writes);
        if visited.outcome == Outcome::Deferred {
            // It never began: no line, no count.
            return Ok(());
        }
        let is_page = visited.task.purpose == Purpose::Page
            && matches!(
                visited.outcome,
                Outcome::Fetched | Outcome::Truncated | Outcome::Duplicate
            );
        self.tally.visit(visited.bytes, is_page);
        self.tally.count(visited.outcome);
        self.open.pages += 1;
        let member = self.append_records(&mut visited);
        self.weigh(&visited, now)?;
        if visited.task.purpose == Purpose::Page {
            self.index(&visited, &leased, member);
        }
        self.write_log(&visited, &leased);
        let found = self.find(&visited, &leased);
        self.admit(found, visited.task.url.as_str())?;
        let _ = verdict;
        Ok(())
    }

    /// A robots file that moved is fetched from its new place, under the same lease and after the
    /// gap. True: it goes on there.
    fn follow_robots(&mut self, visited: &Visited, leased: &Leased, now: u64) -> bool {
        if visited.outcome != Outcome::Redirected || leased.hops >= ROBOTS_HOPS || self.stopping {
            return false;
        }
        let Some(target) = visited.links.urls.first() else {
            return false;
        };
        let mut task = super::task(visited.task.lease, target.clone(), Turn::Robots);
        let polite = self.frontier.settings();
        let gap = polite
            .gaps
            .get(&leased.visit.host_key)
            .copied()
            .unwrap_or(polite.gap);
        task.not_before = now + gap;
        self.engine.submit(vec![task]);
        true
    }

    /// Content that was stored under another URL since the worker looked.
    fn judge_content(&mut self, visited: &mut Visited) -> Result<(), NodeError> {
        let (Some(content), Some(payload)) = (visited.content, visited.payload) else {
            return Ok(());
        };
        if visited.outcome != Outcome::Fetched {
            return Ok(());
        }
        if visited.original.is_none()
            && let Some(original) = self.stored_since(&content)?
            && original.url != visited.task.url.as_str()
        {
            let same_payload = original.payload == payload;
            visited.original = Some(original);
            visited.links.urls.clear();
            if same_payload {
                self.make_revisit(visited, payload);
            }
        }
        if visited.original.is_some() {
            visited.outcome = Outcome::Duplicate;
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

    /// Content stored since the worker looked: in a batch under way, or in one applied meanwhile.
    fn stored_since(&self, content: &Digest) -> Result<Option<Original>, NodeError> {
        if let Some((_, original)) = self.fresh_content.get(content) {
            return Ok(Some(original.clone()));
        }
        let row = self.state.get(Space::Content, rows::content_key(content))?;
        Ok(row.as_deref().and_then(rows::read_content))
    }

    /// Replaces the response record by one that refers to the page stored first.
    fn make_revisit(&self, visited: &mut Visited, payload: [u8; 20]) {
        let Some(original) = &visited.original else {
            return;
        };
        let builder = &self.engine.policies().builder;
        let mut meta = Meta::new(visited.task.url.as_str(), visited.started);
        meta.ip = visited.ip;
        let earlier = RefersTo {
            uri: &original.url,
            date: original.date,
            record_id: None,
            payload_digest: Some(payload),
            not_modified: false,
        };
        let main = builder.revisit(&meta, &visited.response_head, &earlier);
        let request = builder.request(&meta.concurrent_to(main.record_id), &visited.request_head);
        visited.members = vec![main, request];
    }

    /// Moves the records to the batch; gives the number of the first.
    fn append_records(&mut self, visited: &mut Visited) -> Option<usize> {
        let first = self.open.members.len();
        self.open.members.append(&mut visited.members);
        (self.open.members.len() > first).then_some(first)
    }

    fn index(&mut self, visited: &Visited, leased: &Leased, member: Option<usize>) {
        let row = IndexRow {
            outcome: visited.outcome as u8,
            status: visited.status,
            depth: leased.visit.depth,
            time: visited.started,
            simhash: visited.facts.as_ref().map_or(0, |facts| facts.simhash),
            digest: visited.payload,
            etag: visited.etag.clone().unwrap_or_default(),
            last_modified: visited.last_modified.clone().unwrap_or_default(),
            ..IndexRow::default()
        };
        let key = visited.task.url.key();
        if self.aliases.listens() {
            let brief = Brief {
                outcome: visited.outcome,
                simhash: row.simhash,
            };
            self.fresh_rows
                .insert(key, (self.committer.next_number(), brief));
        }
        self.open.rows.push(Placed { key, row, member });
    }

    fn write_log(&mut self, visited: &Visited, leased: &Leased) {
        LogLine {
            time: visited.started,
            url: visited.task.url.as_str(),
            host: visited.task.url.host(),
            ip: visited.ip,
            outcome: visited.outcome.as_str(),
            status: (visited.status != 0).then_some(visited.status),
            bytes: visited.bytes,
            ms: visited.ended.saturating_sub(visited.started) as f64 / 1e3,
            depth: u32::from(leased.visit.depth),
            from: std::str::from_utf8(&leased.visit.from)
                .ok()
                .filter(|from| !from.is_empty()),
            digest: visited.payload,
        }
        .write(&mut self.open.log);
    }

    /// A URL that left the queue without a visit: counted and logged like one.
    pub(super) fn note_refusal(&mut self, refusal: &Refusal, now: u64) {
        self.open.begin(now);
        self.tally.count(refusal.outcome);
        let url = Url::from_canonical(refusal.url.clone(), self.rules.grouping).ok();
        if let Some(url) = &url {
            let row = IndexRow {
                outcome: refusal.outcome as u8,
                depth: refusal.depth,
                time: now,
                ..IndexRow::default()
            };
            self.open.rows.push(Placed {
                key: url.key(),
                row,
                member: None,
            });
        }
        LogLine {
            time: now,
            url: &refusal.url,
            host: url.as_ref().map_or("", |url| url.host()),
            ip: None,
            outcome: refusal.outcome.as_str(),
            status: None,
            bytes: 0,
            ms: 0.0,
            depth: u32::from(refusal.depth),
            from: std::str::from_utf8(&refusal.from)
                .ok()
                .filter(|from| !from.is_empty()),
            digest: None,
        }
        .write(&mut self.open.log);
    }

    /// What a visit leads to: links of a page, sitemaps of a robots file, entries of a sitemap.
    fn find(&self, visited: &Visited, leased: &Leased) -> Vec<Found> {
        let scope = &self.engine.policies().scope;
        match visited.task.purpose {
            Purpose::Page => self.find_links(visited, leased.visit.depth, scope),
            Purpose::Robots if self.settings.frontier.sitemaps => {
                self.find_sitemaps(visited, scope)
            }
            Purpose::Robots => Vec::new(),
            Purpose::Sitemap => self.find_entries(visited, leased.visit.depth, scope),
        }
    }

    fn find_links(&self, visited: &Visited, depth: u16, scope: &Scope) -> Vec<Found> {
        // A redirect is the same step of the way, not a further one.
        let next = if visited.outcome == Outcome::Redirected {
            depth
        } else {
            depth + 1
        };
        let mut found = Vec::with_capacity(visited.links.urls.len());
        for url in &visited.links.urls {
            if self.settings.frontier.ascend {
                self.ascend(url, next, scope, &mut found);
            }
            found.push(Found {
                url: url.clone(),
                depth: next,
                sitemap: false,
                seed: false,
            });
        }
        found
    }

    /// The folders above a URL.
    pub(super) fn ascend(&self, url: &Url, depth: u16, scope: &Scope, found: &mut Vec<Found>) {
        let path = url.path_and_query().split('?').next().unwrap_or("/");
        let mut end = path.trim_end_matches('/').len();
        while let Some(slash) = path[..end].rfind('/') {
            let text = format!("{}{}", url.origin(), &path[..=slash]);
            if let Ok(folder) = Url::from_canonical(text, self.rules.grouping)
                && folder != *url
                && scope.check(&folder).is_ok()
            {
                found.push(Found {
                    url: folder,
                    depth,
                    sitemap: false,
                    seed: false,
                });
            }
            end = slash;
        }
    }

    fn find_sitemaps(&self, visited: &Visited, scope: &Scope) -> Vec<Found> {
        let (Some(body), Outcome::Fetched | Outcome::Truncated) = (&visited.body, visited.outcome)
        else {
            return Vec::new();
        };
        let base = Base::from(&visited.task.url);
        let robots = Robots::parse(body, &self.settings.fetch.agent);
        let urls = robots.sitemaps().iter().filter_map(|text| {
            canonical(text, Some(&base), &self.rules)
                .ok()
                .filter(|url| in_site(scope, url))
        });
        urls.map(|url| Found {
            url,
            depth: 0,
            sitemap: true,
            seed: false,
        })
        .collect()
    }

    fn find_entries(&self, visited: &Visited, depth: u16, scope: &Scope) -> Vec<Found> {
        let (Some(body), Outcome::Fetched) = (&visited.body, visited.outcome) else {
            return Vec::new();
        };
        let base = Base::from(&visited.task.url);
        let map = sitemap::parse(body, &base, &self.rules, sitemap::Limits::default());
        let is_index = map.is_index();
        map.entries
            .into_iter()
            .map(|entry| entry.loc)
            .filter(|url| {
                if is_index {
                    in_site(scope, url)
                } else {
                    scope.check(url).is_ok()
                }
            })
            .map(|url| Found {
                url,
                depth: depth + 1,
                sitemap: is_index,
                seed: false,
            })
            .collect()
    }

    /// Through the door into `seen`, and what is fresh into the frontier.
    pub(super) fn admit(&mut self, found: Vec<Found>, from: &str) -> Result<(), NodeError> {
        let found = self.keep_own(found, from);
        if found.is_empty() {
            return Ok(());
        }
        let candidates: Vec<Candidate<'_>> = found
            .iter()
            .map(|found| Candidate {
                key: UrlKey(found.url.key()),
                url: found.url.as_str(),
            })
            .collect();
        let mut fresh = Vec::with_capacity(found.len());
        self.seen
            .admit(&candidates, &*self.state, &mut self.open.writes, &mut fresh)?;
        let now = self.clock.now();
        let year = trap::year_of(now);
        let mut queued = Vec::new();
        let mut trapped = Vec::new();
        let mut aliased = Vec::new();
        for (found, _) in found.iter().zip(&fresh).filter(|(_, fresh)| **fresh) {
            let (budget, reads) = (self.settings.frontier.trap_budget, &*self.state);
            if self.is_alias(&found.url) {
                aliased.push(found);
            } else if !found.seed && self.traps.suspects(&found.url, from, budget, year, reads)? {
                trapped.push(found);
            } else {
                queued.push(found);
            }
        }
        self.tally
            .seen((queued.len() + trapped.len() + aliased.len()) as u64);
        let order = self.frontier.settings().order;
        let items: Vec<Fresh<'_>> = queued
            .iter()
            .map(|found| item(found, from.as_bytes(), order))
            .collect();
        let mut admissions = Vec::with_capacity(items.len());
        self.frontier.add(
            now,
            &items,
            &*self.state,
            &mut self.open.writes,
            &mut admissions,
        )?;
        let refused =
            queued
                .iter()
                .zip(&admissions)
                .filter_map(|(found, admission)| match admission {
                    Admission::Added => None,
                    Admission::Refused(outcome) => Some((*found, *outcome)),
                });
        let trapped = trapped
            .into_iter()
            .map(|found| (found, Outcome::TrapSuspected));
        let all: Vec<_> = refused.chain(trapped).collect();
        for (found, outcome) in all {
            let refusal = Refusal {
                url: found.url.as_str().to_owned(),
                host_key: found.url.host_key(),
                depth: found.depth,
                tries: 0,
                from: from.as_bytes().into(),
                sitemap: found.sitemap,
                outcome,
            };
            self.note_refusal(&refusal, now);
        }
        self.open.begin(now);
        let mut twins = Vec::with_capacity(aliased.len());
        for found in aliased {
            twins.extend(self.leave_out(found, from.as_bytes(), now));
        }
        // What an alias stands for is no alias, so this ends after one round.
        self.admit(twins, from)
    }
}

fn is_robots_hop(visited: &Visited) -> bool {
    visited.task.purpose == Purpose::Robots
        && visited.outcome == Outcome::Redirected
        && !visited.links.urls.is_empty()
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
    if visited.task.purpose == Purpose::Robots {
        report.robots = robots_answer(visited);
    }
    report
}

/// What a robots visit means (RFC 9309, 2.3.1).
fn robots_answer(visited: &Visited) -> Option<RobotsAnswer> {
    match visited.outcome {
        Outcome::Deferred => None,
        Outcome::Fetched | Outcome::Truncated => Some(RobotsAnswer::Rules(
            visited.body.as_ref().map_or_else(Vec::new, |b| b.to_vec()),
        )),
        // Too many redirects, or one that leads nowhere: as if there were no file.
        Outcome::Redirected | Outcome::Gone | Outcome::Refused => Some(RobotsAnswer::AllowAll),
        _ => Some(RobotsAnswer::Unreachable),
    }
}
