//! Due visits leave for the fetcher pool, each with what is known of the page from before.

use super::{Leased, Node, NodeError};
use crate::canonical::Url;
use crate::frontier::{Next, Purpose as Turn, Report, Visit};
use crate::node::pool::{Earlier, Purpose, Task};
use crate::outcome::Outcome;
use crate::store::rows::IndexRow;

/// How long a page waits that is due again before its record is stored; a batch takes about as long.
const RECORD_WAIT: u64 = 20_000;

impl Node {
    /// Hands out visits that are due, as many as the fetcher pool has room for.
    pub(super) fn hand_out(&mut self) -> Result<(), NodeError> {
        if !self.may_begin() {
            return Ok(());
        }
        let wanted = self.pool.concurrency() + self.pool.concurrency() / 2 + 8;
        let room = wanted.saturating_sub(self.pool.in_flight());
        let room = self.room_beside_held(room);
        if room == 0 {
            // An arrival or an answer is waited for, not a time that has passed.
            self.next = Next::Busy;
            return Ok(());
        }
        let (mut visits, mut refusals) = (Vec::with_capacity(room), Vec::new());
        let now = self.clock.now();
        self.next = self.frontier.take(
            now,
            room,
            &*self.state,
            &mut self.open.writes,
            &mut visits,
            &mut refusals,
        )?;
        for refusal in refusals {
            self.take_refusal(refusal, now)?;
        }
        let mut tasks = Vec::with_capacity(visits.len());
        for visit in visits {
            if self.comes_too_soon(&visit, now) {
                continue;
            }
            let mut task = task(visit.lease, visit.link.url.clone(), visit.purpose);
            if visit.purpose == Turn::Sitemap && self.is_probe(&visit.link)? {
                task.purpose = Purpose::Probe;
            }
            task.depth = visit.link.depth;
            task.seed_hops = visit.link.seed.then_some(visit.link.hops);
            let policy = self.frontier.settings().policy(Outcome::Disconnected);
            task.last_try = visit.tries.saturating_add(1) >= policy.tries;
            task.cookie = self.cookies.take(&visit.link.url);
            task.new_connection = self.dead_connections.has(&visit.link.url);
            let earlier = self.earlier_visit(&visit, &mut task)?;
            tasks.push(task);
            let leased = Leased {
                visit,
                hops: 0,
                earlier,
            };
            self.leases.insert(leased.visit.lease, leased);
        }
        self.pool.submit(tasks);
        Ok(())
    }

    /// Whether the record of the visit before is not stored yet, so that nothing could refer to it: then
    /// the visit is given back, and comes again when it is. Its host waits with it, for one batch at most.
    fn comes_too_soon(&mut self, visit: &Visit, now: u64) -> bool {
        let is_soon = visit.link.revisit && self.recent_rows.contains_key(&visit.link.url.key());
        if is_soon {
            let mut report = Report::new(Outcome::Deferred, now, now);
            report.wait_us = Some(RECORD_WAIT);
            self.frontier
                .finish(now, visit.lease, &report, &mut self.open.writes);
        }
        is_soon
    }

    /// What is known of an earlier visit to a page; a page that is stored is asked for only if it
    /// has changed.
    fn earlier_visit(&self, visit: &Visit, task: &mut Task) -> Result<Option<IndexRow>, NodeError> {
        let again = visit.link.revisit || (visit.tries > 0 && self.refreshes());
        if !again || visit.purpose != Turn::Page {
            return Ok(None);
        }
        let earlier = self.earlier_row(&visit.link.url)?;
        if let Some(row) = earlier
            .as_ref()
            .filter(|row| row.length > 0 && row.visits > 0)
        {
            // Where only the head is stored, an answer without a body would leave it so.
            let text = |text: &String| {
                Some(text.clone()).filter(|text| !text.is_empty() && !row.head_only)
            };
            task.etag = text(&row.etag);
            task.last_modified = text(&row.last_modified);
            task.earlier = row.digest.map(|payload| Earlier {
                date: row.last_change,
                payload,
                whole: !row.head_only,
            });
        }
        Ok(earlier)
    }
}

pub(super) fn task(lease: u64, url: Url, turn: Turn) -> Task {
    let purpose = match turn {
        Turn::Page => Purpose::Page,
        Turn::Robots => Purpose::Robots,
        Turn::Sitemap => Purpose::Sitemap,
    };
    Task {
        lease,
        url,
        purpose,
        depth: 0,
        seed_hops: None,
        etag: None,
        last_modified: None,
        earlier: None,
        keep_body: false,
        not_before: 0,
        last_try: false,
        cookie: None,
        new_connection: false,
    }
}
