//! The door into `seen`, and from there into the frontier: rules, aliases, patterns, scores.

use super::{Node, NodeError};
use crate::frontier::{Admission, Refusal};
use crate::links::Link;
use crate::links::patterns::PageAt;
use crate::seen::Candidate;

impl Node {
    /// Through the door into `seen`, and what is fresh into the frontier.
    pub(super) fn admit(&mut self, links: Vec<Link>) -> Result<(), NodeError> {
        self.admit_of(links, None)
    }

    /// The same for the links of a page, which are counted for its pattern.
    pub(super) fn admit_of(
        &mut self,
        links: Vec<Link>,
        page: Option<&mut PageAt>,
    ) -> Result<(), NodeError> {
        let links = self.split_by_owner(links);
        let links = self.strip_links(links);
        self.count_links(&links)?;
        self.keep_seed_hosts(&links);
        let fresh = self.sift(links)?;
        self.count_fresh(page, &fresh)?;
        let fresh = self.drop_patterns(fresh)?;
        let fresh = self.place_fresh(fresh)?;
        self.queue_fresh(fresh)
    }

    /// What is fresh and to be queued; what stands in for an alias among it.
    fn sift(&mut self, links: Vec<Link>) -> Result<Vec<Link>, NodeError> {
        if links.is_empty() {
            return Ok(links);
        }
        let now = self.clock.now();
        self.open.begin(now);
        let mut queued = Vec::with_capacity(links.len());
        let mut twins = Vec::new();
        let links = self.drop_by_rules(links, now)?;
        for link in self.fresh(links)? {
            if self.is_alias(&link.url) {
                if let Some(link) = self.sample_link(link, now)? {
                    twins.extend(self.leave_out(link, now));
                }
            } else {
                queued.push(link);
            }
        }
        // What an alias stands for is no alias, so this ends after one round.
        let twins = self.split_by_owner(twins);
        queued.extend(self.sift(twins)?);
        Ok(queued)
    }

    /// Those that pass `seen`, and those that are let in once more.
    fn fresh(&mut self, mut links: Vec<Link>) -> Result<Vec<Link>, NodeError> {
        let candidates: Vec<Candidate<'_>> = links
            .iter()
            .map(|link| Candidate::from(&link.url))
            .collect();
        let mut fresh = Vec::with_capacity(links.len());
        self.seen
            .admit(&candidates, &*self.state, &mut self.open.writes, &mut fresh)?;
        let passed = fresh.iter().filter(|fresh| **fresh).count();
        self.tally.seen(passed as u64);
        if !self.queue_drops.is_empty() {
            self.let_back(&links, &mut fresh)?;
        }
        self.let_seeds_back(&links, &mut fresh)?;
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
