//! Visits: what a page brought and led to, counted for its host, its pattern, its family and its words.
//!
//! Takes a page ([`HostCounts::page`]), its fresh links one by one ([`HostCounts::fresh`]), then what the visit was
//! ([`HostCounts::visit`]); gives the verdicts that changed by it. A redirect to a URL like its own is counted, and says
//! nothing of its pattern.

use xxhash_rust::xxh3::xxh3_64;

use super::counts::HostCounts;
use super::evidence::{Brought, EvidenceSettings, Visit, value};
use super::hint;
use super::judge::Doubt;
use super::novelty::Whose;
use super::rows::CountKey;
use super::words::Worth;
use crate::links::Link;
use crate::outcome::Outcome;
use crate::store::state::{Reads, StateError};

/// What a visit was, for its pattern; what it led to is found out later.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    pub outcome: Option<Outcome>,
    /// What it brought, as far as it is known from the page alone; `None`: it says nothing of the pattern.
    pub brought: Option<Brought>,
    /// The share of its text that is new on its host.
    pub novelty: f32,
    /// It is a page by its own right: no raw text, no feed.
    pub is_page: bool,
    /// The rest of it is part of one larger page.
    pub is_part: bool,
    pub bytes: u64,
    /// Links of the page to its host.
    pub links: u32,
}

/// The page whose links are counted.
#[derive(Debug)]
pub struct PageAt {
    pub key: CountKey,
    /// Its pattern and those that it may be a view of.
    pub whose: Whose,
    /// It looks like a view of something else.
    is_side: bool,
    /// The hash of its URL.
    url: u64,
    /// The pattern of the page that led to it.
    from: Option<CountKey>,
    /// The family of URLs with a hint that it belongs to, and what it led to of that.
    pub(super) family: Option<CountKey>,
    fresh_family: u32,
    /// The other family that it led to last.
    fed_family: Option<CountKey>,
    fresh_own: u32,
    fresh_other: u32,
    fresh: u32,
}

impl HostCounts {
    /// A page was visited: gives where its links are counted ([`HostCounts::fresh`]). `is_there`: there was one.
    pub fn page(
        &mut self,
        link: &Link,
        is_there: bool,
        settings: &EvidenceSettings,
        reads: &dyn Reads,
    ) -> Result<PageAt, StateError> {
        let pattern = self.naming.pattern(link, &self.doubts, settings, reads)?;
        let host = link.url.host_key();
        let key = self.rows.of_pattern(host, &pattern, reads)?;
        let family = self.rows.of_family(host, &pattern, reads)?;
        if let Some(row) = family.and_then(|family| self.rows.get_mut(family)) {
            row.evidence.reach(link.depth);
        }
        let is_side = self.is_side(key, &pattern.text, settings);
        self.naming.learn(link, is_there, &pattern, reads)?;
        let doubts = &self.doubts;
        let from = self.naming.parent_key(link, doubts, settings, reads)?;
        Ok(PageAt {
            key,
            whose: pattern.whose(),
            is_side,
            url: xxh3_64(link.url.as_str().as_bytes()),
            from,
            family,
            fresh_family: 0,
            fed_family: None,
            fresh_own: 0,
            fresh_other: 0,
            fresh: 0,
        })
    }

    /// A fresh link of a page. Only those to its own host tell of patterns.
    pub fn fresh(
        &mut self,
        page: &mut PageAt,
        link: &Link,
        settings: &EvidenceSettings,
        reads: &dyn Reads,
    ) -> Result<(), StateError> {
        let host = link.url.host_key();
        if host != page.key.0 {
            page.fresh_other += 1;
            return Ok(());
        }
        page.fresh += 1;
        let pattern = self.naming.pattern(link, &self.doubts, settings, reads)?;
        // A pattern has a row when it is visited: most of those that links name are never met again.
        let key = (host, pattern.key());
        self.labels.add(key, link.label);
        if key == page.key {
            page.fresh_own += 1;
        } else {
            let is_doubted = self.doubts.is_doubted(key);
            // What leads only to views of pages leads to nothing new.
            let is_useful = !is_doubted
                && self.doubts.doubted_word(host, &pattern.text).is_none()
                && !self.is_view(host, &pattern.text);
            page.fresh_other += u32::from(is_useful);
        }
        if let Some(family) = self.rows.of_family(host, &pattern, reads)?
            && let Some(row) = self.rows.get_mut(family)
        {
            let year = hint::date(link.url.path_and_query()).unwrap_or(0);
            row.evidence.year = row.evidence.year.max(year);
            if page.family == Some(family) {
                page.fresh_family += 1;
            } else if page.fed_family.replace(family) != Some(family) {
                row.evidence.fed = row.evidence.fed.saturating_add(1);
            }
            self.rows.soil(family);
        }
        Ok(())
    }

    /// Counts a visit, for its host and its pattern, when its links were counted. Gives the verdicts that changed.
    pub fn visit(
        &mut self,
        page: &PageAt,
        seen: &Seen,
        now: u64,
        settings: &EvidenceSettings,
        reads: &dyn Reads,
    ) -> Result<Vec<Doubt>, StateError> {
        let of_host = (page.key.0, 0);
        let keys = [Some(of_host), Some(page.key), page.family];
        let keys: Vec<CountKey> = keys.into_iter().flatten().collect();
        let doubted = self.doubted_page(page, reads)?;
        let is_hopeless = match doubted {
            Some(key) => self.is_hopeless(key, settings, reads)?,
            None => false,
        };
        let novelty = novelty(seen, settings);
        // Of a pattern that is new: what links of the host are worth in general.
        let usual = self.rows.row(of_host, "", reads)?.evidence.hub(1.0);
        let pattern = self.rows.row(page.key, "", reads)?.pattern.clone();
        let usual = usual.min(self.words.estimate(page.key.0, &pattern, settings));
        let hub = self.rows.row(page.key, "", reads)?.evidence.hub(usual);
        // Of a redirect to a URL like its own only what comes of that one says something.
        let is_moved = seen.brought == Some(Brought::Redirect) && page.fresh_own > 0;
        let brought = seen.brought.filter(|_| !is_moved);
        let visit = brought.map(|brought| Visit {
            hub,
            kind: match brought {
                Brought::New if novelty < 0.5 && !seen.is_part => Brought::Near,
                // Of a page of another host: here it is new.
                Brought::Copy if novelty >= 0.5 => Brought::New,
                other => other,
            },
            novelty,
            fresh_text: seen.novelty.min(1.0),
            is_part: seen.is_part,
            fresh_own: page.fresh_own,
            fresh_other: page.fresh_other,
            links: seen.links,
            known: seen.links.saturating_sub(page.fresh),
        });
        for key in &keys {
            let Some(row) = self.rows.get_mut(*key) else {
                continue;
            };
            if let Some(outcome) = seen.outcome {
                row.count(outcome, seen.bytes, now);
            }
            if let Some(visit) = visit {
                let visit = if row.is_family {
                    Visit {
                        fresh_own: page.fresh_family,
                        // What it leads to of other patterns is all the same if it is of the family.
                        fresh_other: (page.fresh_own + page.fresh_other)
                            .saturating_sub(page.fresh_family),
                        ..visit
                    }
                } else {
                    visit
                };
                row.evidence.add(&visit, settings);
            }
            row.evidence.doubted_visits += u32::from(is_hopeless);
            self.touch(*key);
        }
        let worth = visit.map_or(0.0, |visit| value(&visit, settings));
        if doubted.is_some() && visit.is_some() && worth < settings.low {
            let row = self.rows.row(of_host, "", reads)?;
            let count = if page.is_side {
                &mut row.evidence.side_worthless
            } else {
                &mut row.evidence.worthless
            };
            *count = count.saturating_add(1);
        }
        let is_trusted = self.doubts.has_trusted(page.key.0) && {
            let pattern = self.rows.row(page.key, "", reads)?.pattern.clone();
            self.doubts.is_trusted(page.key, page.family, &pattern)
        };
        let Some(visit) = visit.filter(|_| !is_trusted) else {
            return Ok(Vec::new());
        };
        let alone = Visit {
            fresh_other: 0,
            ..visit
        };
        let own = value(&alone, settings);
        if own >= settings.high && (1..=settings.list_links).contains(&page.fresh_own) {
            self.rows.row(page.key, "", reads)?.leads(page.url);
        }
        // What is doubted is no reason to follow a page, and none against it.
        let led_by = page.from.into_iter().chain([of_host]);
        for from in led_by.filter(|_| doubted.is_none()) {
            if let Some(row) = self.rows.get_mut(from) {
                // What is only good for what it leads to in turn counts half: a farm of links leads to itself.
                row.evidence.led(own.max(worth / 2.0));
            }
        }
        let row = self.rows.row(page.key, "", reads)?;
        if row.evidence.visits >= settings.visits_hinted && row.evidence.value() < settings.behind {
            self.uneven.insert(page.key.0);
        }
        // That a page is not there says nothing of its words.
        let is_there = !matches!(seen.brought, Some(Brought::Error));
        let word = if is_there {
            let worth = Worth {
                kind: visit.kind,
                value: worth,
                own,
            };
            self.judge_words(page.key, worth, settings, reads)?
        } else {
            None
        };
        self.take_back(page, settings, reads)?;
        self.take_back_all(page.key.0, settings, reads)?;
        let judged = keys.into_iter().skip(1);
        let judged = judged.filter_map(|key| self.judge(key, now, settings));
        let judged: Vec<Doubt> = judged.collect();
        Ok(judged.into_iter().chain(word).collect())
    }
}

/// How much of a visit's text is new, from 0 to 1; enough of it is 1. Of a page the frame is known; of a file most should be
/// new, or it is a page once more.
fn novelty(seen: &Seen, settings: &EvidenceSettings) -> f32 {
    let (least, enough) = if seen.is_page {
        (0.0, settings.novel)
    } else {
        (settings.novel_file / 3.0, settings.novel_file)
    };
    let span = (enough - least).max(f32::MIN_POSITIVE);
    ((seen.novelty - least) / span).clamp(0.0, 1.0)
}
