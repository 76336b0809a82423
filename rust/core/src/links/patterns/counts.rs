//! Counters of hosts and URL patterns, in memory as far as they are used, in the store for good.
//!
//! A row of the space `meta` is `counts/` ++ host key ++ hash of the pattern (0: the host itself). It
//! belongs to the host, so it goes with its partition. RAM is bounded by [`IN_RAM`] rows beside those
//! that the store does not have yet, the patterns of a host by [`PATTERNS`]: what comes beyond is counted
//! with the pattern `…`.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use xxhash_rust::xxh3::xxh3_64;

use super::evidence::{Brought, EvidenceSettings, Visit, value};
use super::hint;
use super::labels::Labels;
use super::learners::Learners;
use super::novelty::Whose;
use super::row::{Counts, Decided, Decision};
use super::take_up::{Mark, Taking};
use super::text::{Pattern, key_of};
use super::visited::{VisitedUrls, pages_of};
use super::words::{Words, Worth, words};
use crate::canonical::url_key;
use crate::links::{Link, Score};
use crate::outcome::Outcome;
use crate::store::state::{Reads, Space, StateError, Writes};

/// Where the rows are in the space `meta`.
pub(crate) const PREFIX: &[u8] = b"counts/";
/// A row for each pattern that is doubted or taken up ([`Mark`]), so that a process knows at its start which
/// hosts have any.
pub(crate) const DOUBT: &[u8] = b"doubt/";
const DOUBT_END: &[u8] = b"doubt0";
/// Rows kept in memory.
const IN_RAM: usize = 65_536;
/// Rows that may wait to be asked about; one beyond waits for its next activity.
const ACTIVE: usize = 1 << 20;
/// Patterns of one host that are told apart.
const PATTERNS: u32 = 1_000;
const OTHERS: &str = "…";

/// A host, and the hash of a pattern or 0.
pub type CountKey = (u64, u64);

/// The rows that policies of hosts ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Asked {
    #[default]
    Nothing,
    Hosts,
    HostsAndPatterns,
}

impl Asked {
    fn names(self, key: CountKey) -> bool {
        match self {
            Asked::Nothing => false,
            Asked::Hosts => key.1 == 0,
            Asked::HostsAndPatterns => true,
        }
    }
}

/// Where a URL belongs in its host's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placing {
    Usual,
    /// When the family that it belongs to is judged: others of it are tried first.
    Waits,
    /// With this score, behind what promises more.
    Low(Score),
    /// Not before somebody says so.
    Aside,
}

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

/// A verdict that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    pub key: CountKey,
    pub pattern: Box<str>,
    /// `None`: it is doubted no more.
    pub reason: Option<Box<str>>,
}

/// The page whose links are counted.
#[derive(Debug)]
pub struct PageAt {
    pub key: CountKey,
    /// Its pattern and those that it may be a view of.
    pub whose: Whose,
    /// The hash of its URL.
    url: u64,
    /// The pattern of the page that led to it.
    from: Option<CountKey>,
    /// The family of URLs with a hint that it belongs to, and what it led to of that.
    family: Option<CountKey>,
    fresh_family: u32,
    /// The other family that it led to last.
    fed_family: Option<CountKey>,
    fresh_own: u32,
    fresh_other: u32,
    fresh: u32,
}

/// The counters of all hosts.
#[derive(Debug, Default)]
pub struct HostCounts {
    pub(super) rows: HashMap<CountKey, Counts>,
    learners: Learners,
    /// Counted since they were asked about, those that wait longest first; and the same as a set.
    active: VecDeque<CountKey>,
    is_active: HashSet<CountKey>,
    /// Changed since the last batch.
    dirty: Vec<CountKey>,
    /// Rows of [`DOUBT`] to write with the next batch.
    pub(super) marks: Vec<(CountKey, Mark)>,
    /// The doubted patterns, families and words of hosts; and on how many hosts one is.
    pub(super) doubted: HashMap<u64, HashSet<u64>>,
    /// The patterns, families and words of hosts that somebody took up: nothing of theirs is doubted.
    pub(super) trusted: HashMap<u64, HashSet<u64>>,
    /// URLs that are set aside, of all hosts.
    pub(super) urls_aside: u64,
    /// Patterns whose URLs are taken up again.
    pub(super) taking: BTreeMap<CountKey, Taking>,
    hosts_of: HashMap<u64, u32>,
    words: Words,
    visited: VisitedUrls,
    labels: Labels,
    /// Patterns that others are made of, and that were not met yet.
    bases: HashSet<CountKey>,
    /// Hosts with a pattern or a word that promises less than others.
    uneven: HashSet<u64>,
    /// Somebody asks which rows were counted.
    asked: Asked,
    /// The store has all batches up to this one.
    pub(super) applied: u64,
}

impl HostCounts {
    /// With what the store has. `asked`: the rows that a policy asks for.
    pub fn open(asked: Asked, reads: &dyn Reads) -> Result<HostCounts, StateError> {
        let mut counts = HostCounts {
            asked,
            ..HostCounts::default()
        };
        counts.load_doubts(reads)?;
        Ok(counts)
    }

    fn load_doubts(&mut self, reads: &dyn Reads) -> Result<(), StateError> {
        let mut found = Vec::new();
        scan_doubts(reads, &mut |key, mark| found.push((key, mark)))?;
        self.doubted.clear();
        self.hosts_of.clear();
        self.taking.clear();
        self.trusted.clear();
        self.urls_aside = 0;
        for (key, mark) in found {
            if mark == Mark::Trusted {
                self.note_trust(key);
                continue;
            }
            let row = stored(key, reads)?.unwrap_or_default();
            self.urls_aside += row.set_aside;
            if mark == Mark::Doubted {
                self.note_doubt(key, true);
                continue;
            }
            if row.is_trusted {
                self.note_trust(key);
            }
            self.taking.insert(key, Taking::default());
        }
        Ok(())
    }

    pub(super) fn note_doubt(&mut self, (host, pattern): CountKey, is_doubted: bool) {
        let patterns = self.doubted.entry(host).or_default();
        let hosts = self.hosts_of.entry(pattern).or_default();
        if is_doubted {
            *hosts += u32::from(patterns.insert(pattern));
        } else {
            *hosts -= u32::from(patterns.remove(&pattern)).min(*hosts);
        }
        if *hosts == 0 {
            self.hosts_of.remove(&pattern);
        }
        if patterns.is_empty() {
            self.doubted.remove(&host);
        }
    }

    pub(super) fn is_doubted(&self, (host, pattern): CountKey) -> bool {
        let patterns = self.doubted.get(&host);
        patterns.is_some_and(|patterns| patterns.contains(&pattern))
    }

    /// The counters of a host or a pattern; those of the store where they are not in memory.
    pub(super) fn row(
        &mut self,
        key: CountKey,
        pattern: &str,
        reads: &dyn Reads,
    ) -> Result<&mut Counts, StateError> {
        match self.rows.entry(key) {
            Entry::Occupied(row) => Ok(row.into_mut()),
            Entry::Vacant(place) => {
                let counts = stored(key, reads)?;
                Ok(place.insert(counts.unwrap_or_else(|| Counts {
                    pattern: pattern.into(),
                    ..Counts::default()
                })))
            }
        }
    }

    /// The same without making one.
    pub(super) fn known(
        &self,
        key: CountKey,
        reads: &dyn Reads,
    ) -> Result<Option<Counts>, StateError> {
        match self.rows.get(&key) {
            Some(counts) => Ok(Some(counts.clone())),
            None => stored(key, reads),
        }
    }

    fn touch(&mut self, key: CountKey) {
        if self.asked.names(key) && self.active.len() < ACTIVE && self.is_active.insert(key) {
            self.active.push_back(key);
        }
        self.soil(key);
    }

    /// Notes that the store has another row.
    pub(super) fn soil(&mut self, key: CountKey) {
        if let Some(counts) = self.rows.get_mut(&key)
            && !std::mem::replace(&mut counts.is_dirty, true)
        {
            self.dirty.push(key);
        }
    }

    /// The pattern of a URL, by what is known of its host.
    fn pattern(
        &mut self,
        link: &Link,
        settings: &EvidenceSettings,
        reads: &dyn Reads,
    ) -> Result<Pattern, StateError> {
        let learner = self.learners.get(link.url.host_key(), reads)?;
        let (url, path) = (link.url.as_str(), link.url.path_and_query());
        let pattern = Pattern::of(url, path, &link.from, learner, &settings.hints);
        self.seen_pattern(link.url.host_key(), pattern, url, reads)
    }

    /// The pattern of a URL that may be a view of a visited page.
    fn seen_pattern(
        &self,
        host: u64,
        pattern: Pattern,
        url: &str,
        reads: &dyn Reads,
    ) -> Result<Pattern, StateError> {
        if pattern.bases().is_empty() {
            return Ok(pattern);
        }
        let pages = pages_of(url);
        let is_visited = pages.iter().any(|page| self.visited.contains(page));
        let view = pattern.clone().of_visited();
        // What was visited before this process began is looked up where it matters.
        let is_view = is_visited || {
            let is_doubted = self.doubted_key((host, view.key()), None, &view.text);
            is_doubted.is_some() && was_visited(host, &pages, reads)?
        };
        Ok(if is_view { view } else { pattern })
    }

    /// The row of a pattern, made if there is none; that of all others where the host has too many.
    fn pattern_row(
        &mut self,
        host: u64,
        pattern: &Pattern,
        reads: &dyn Reads,
    ) -> Result<CountKey, StateError> {
        let key = (host, pattern.key());
        let row = self.row(key, &pattern.text, reads)?;
        if row.is_counted {
            return Ok(key);
        }
        row.hint = pattern.hint;
        let is_base = self.bases.remove(&key);
        let of_host = self.row((host, 0), "", reads)?;
        if of_host.patterns < PATTERNS {
            of_host.patterns += 1;
            if let Some(row) = self.rows.get_mut(&key) {
                row.is_counted = true;
                row.is_base |= is_base;
            }
            for base in pattern.bases() {
                self.note_base((host, key_of(&base)), reads)?;
            }
            return Ok(key);
        }
        // What a word that reads like it was judged by stays.
        let applied = self.applied;
        let is_empty = |row: &Counts| !row.is_dirty && row.doubt.is_none() && row.batch <= applied;
        if self.rows.get(&key).is_some_and(is_empty) {
            self.rows.remove(&key);
        }
        self.row(others_of(host), OTHERS, reads)?.is_counted = true;
        Ok(others_of(host))
    }

    /// Others are made of this pattern.
    fn note_base(&mut self, key: CountKey, reads: &dyn Reads) -> Result<(), StateError> {
        if self.known(key, reads)?.is_none_or(|row| !row.is_counted) {
            if self.bases.len() < IN_RAM {
                self.bases.insert(key);
            }
            return Ok(());
        }
        let row = self.row(key, "", reads)?;
        if !std::mem::replace(&mut row.is_base, true) {
            self.soil(key);
        }
        Ok(())
    }

    /// The row of the family that a pattern belongs to.
    fn family_row(
        &mut self,
        host: u64,
        pattern: &Pattern,
        reads: &dyn Reads,
    ) -> Result<Option<CountKey>, StateError> {
        let Some(family) = &pattern.family else {
            return Ok(None);
        };
        let key = (host, key_of(family));
        let row = self.row(key, family, reads)?;
        row.is_family = true;
        row.hint = row.hint.or(pattern.hint);
        Ok(Some(key))
    }

    /// A page was visited: gives where its links are counted ([`HostCounts::fresh`]).
    pub fn page(
        &mut self,
        link: &Link,
        settings: &EvidenceSettings,
        reads: &dyn Reads,
    ) -> Result<PageAt, StateError> {
        let pattern = self.pattern(link, settings, reads)?;
        let host = link.url.host_key();
        let key = self.pattern_row(host, &pattern, reads)?;
        let family = self.family_row(host, &pattern, reads)?;
        if let Some(row) = family.and_then(|family| self.rows.get_mut(&family)) {
            row.evidence.reach(link.depth);
        }
        self.visited.add(link.url.as_str());
        pattern.teach(self.learners.get(host, reads)?);
        self.learners.touch(host);
        Ok(PageAt {
            key,
            whose: pattern.whose(),
            url: xxh3_64(link.url.as_str().as_bytes()),
            from: self.parent_key(link, settings, reads)?,
            family,
            fresh_family: 0,
            fed_family: None,
            fresh_own: 0,
            fresh_other: 0,
            fresh: 0,
        })
    }

    /// The pattern of the page that led to a URL, if it is of the same host.
    fn parent_key(
        &mut self,
        link: &Link,
        settings: &EvidenceSettings,
        reads: &dyn Reads,
    ) -> Result<Option<CountKey>, StateError> {
        let Some(path) = link.from.strip_prefix(link.url.origin()) else {
            return Ok(None);
        };
        let host = link.url.host_key();
        let learner = self.learners.get(host, reads)?;
        let pattern = Pattern::of(&link.from, path, "", learner, &settings.hints);
        let pattern = self.seen_pattern(host, pattern, &link.from, reads)?;
        Ok(Some((host, pattern.key())))
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
        let pattern = self.pattern(link, settings, reads)?;
        // A pattern has a row when it is visited: most of those that links name are never met again.
        let key = (host, pattern.key());
        self.labels.add(key, link.label);
        if key == page.key {
            page.fresh_own += 1;
        } else {
            let is_doubted = self.is_doubted(key);
            let is_useful = !is_doubted && self.doubted_word(host, &pattern.text).is_none();
            page.fresh_other += u32::from(is_useful);
        }
        if let Some(family) = self.family_row(host, &pattern, reads)?
            && let Some(row) = self.rows.get_mut(&family)
        {
            let year = hint::date(link.url.path_and_query()).unwrap_or(0);
            row.evidence.year = row.evidence.year.max(year);
            if page.family == Some(family) {
                page.fresh_family += 1;
            } else if page.fed_family.replace(family) != Some(family) {
                row.evidence.fed = row.evidence.fed.saturating_add(1);
            }
            self.soil(family);
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
        let usual = self.row(of_host, "", reads)?.evidence.hub(1.0);
        let pattern = self.row(page.key, "", reads)?.pattern.clone();
        let usual = usual.min(self.words.estimate(page.key.0, &pattern, settings));
        let hub = self.row(page.key, "", reads)?.evidence.hub(usual);
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
            let Some(row) = self.rows.get_mut(key) else {
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
            let row = self.row(of_host, "", reads)?;
            row.evidence.worthless = row.evidence.worthless.saturating_add(1);
        }
        let is_trusted = self.trusted.contains_key(&page.key.0) && {
            let pattern = self.row(page.key, "", reads)?.pattern.clone();
            self.is_trusted(page.key, page.family, &pattern)
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
            self.row(page.key, "", reads)?.leads(page.url);
        }
        // What is doubted is no reason to follow a page, and none against it.
        let led_by = page.from.into_iter().chain([of_host]);
        for from in led_by.filter(|_| doubted.is_none()) {
            if let Some(row) = self.rows.get_mut(&from) {
                // What is only good for what it leads to in turn counts half: a farm of links leads to itself.
                row.evidence.led(own.max(worth / 2.0));
            }
        }
        let row = self.row(page.key, "", reads)?;
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
        let judged = keys.into_iter().skip(1);
        let judged = judged.filter_map(|key| self.judge(key, now, settings));
        let judged: Vec<Doubt> = judged.collect();
        Ok(judged.into_iter().chain(word).collect())
    }

    /// The verdict about a pattern, if it changed.
    fn judge(&mut self, key: CountKey, now: u64, settings: &EvidenceSettings) -> Option<Doubt> {
        if key == others_of(key.0) {
            // All kinds of patterns: what is true of most says nothing of the next.
            return None;
        }
        let hosts = self.hosts_of.get(&key.1).copied().unwrap_or(0);
        let row = self.rows.get_mut(&key)?;
        let is_doubted = row.doubt.is_some();
        let is_known = hosts.saturating_sub(u32::from(is_doubted)) >= settings.known_hosts;
        // Somebody else has decided.
        let is_free = !row.is_trusted && row.change.is_none();
        let year = hint::year_of_time(now);
        let evidence = &row.evidence;
        let reason = if row.is_family {
            row.hint
                .and_then(|hint| evidence.endless(hint, year, is_known, settings))
        } else {
            evidence.doubt(row.hint.is_some(), is_known, is_doubted, settings)
        };
        let reason = reason.filter(|_| is_free);
        let is_judged = row.is_family && reason.is_none() && !evidence.is_open(settings);
        let is_cleared = is_judged && !row.is_cleared;
        row.is_cleared = is_judged;
        let pattern = row.pattern.clone();
        let is_changed = reason.is_some() != is_doubted;
        if is_changed {
            row.doubt = reason.map(Into::into);
        }
        let reason = row.doubt.clone();
        if is_cleared && !is_changed {
            return Some(Doubt {
                key,
                pattern,
                reason: None,
            });
        }
        if !is_changed {
            return None;
        }
        self.mark(key, !is_doubted);
        self.soil(key);
        Some(Doubt {
            key,
            pattern,
            reason,
        })
    }

    /// The first word of a pattern that is doubted.
    fn doubted_word(&self, host: u64, pattern: &str) -> Option<(CountKey, String)> {
        let mut known = words(pattern).map(|word| ((host, key_of(&word)), word));
        known.find(|(key, _)| self.is_doubted(*key))
    }

    /// The first word of a pattern of which nothing is hoped.
    fn hopeless_word(
        &mut self,
        host: u64,
        pattern: &str,
        settings: &EvidenceSettings,
        reads: &dyn Reads,
    ) -> Result<Option<CountKey>, StateError> {
        for word in words(pattern) {
            let key = (host, key_of(&word));
            if self.is_doubted(key) && self.is_hopeless(key, settings, reads)? {
                return Ok(Some(key));
            }
        }
        Ok(None)
    }

    /// Counts what a visit was worth for the words of its pattern; gives the verdict that changed.
    fn judge_words(
        &mut self,
        key: CountKey,
        worth: Worth,
        settings: &EvidenceSettings,
        reads: &dyn Reads,
    ) -> Result<Option<Doubt>, StateError> {
        let (host, pattern) = (key.0, self.row(key, "", reads)?.pattern.clone());
        if let Some((key, word)) = self.doubted_word(host, &pattern) {
            let others = self.hosts_of.get(&key.1).map_or(0, |hosts| hosts - 1);
            let is_known = others >= settings.known_hosts;
            let value = if is_known { worth.own } else { worth.value };
            let mean = self
                .words
                .visit_one(host, &word, value, worth.kind, settings);
            let evidence = &mut self.row(key, &word, reads)?.evidence;
            evidence.visits = evidence.visits.saturating_add(1);
            evidence.good += u32::from(value >= settings.low);
            let count = &mut evidence.brought[worth.kind as usize];
            *count = count.saturating_add(1);
            if mean >= settings.high {
                return self.set_doubt(key, &word, None, reads);
            }
            self.soil(key);
            // A word that explains little does not hide another that explains more.
            if self.is_hopeless(key, settings, reads)? {
                return Ok(None);
            }
        }
        // What is explained by its pattern or family says nothing of its words.
        if self.is_doubted(key) {
            return Ok(None);
        }
        let hosts_of = &self.hosts_of;
        let is_known = |word: &str| {
            let hosts = hosts_of.get(&key_of(word));
            hosts.is_some_and(|hosts| *hosts >= settings.known_hosts)
        };
        let doubted = self.doubted.get(&host);
        let is_doubted =
            |word: &str| doubted.is_some_and(|doubted| doubted.contains(&key_of(word)));
        let found = self
            .words
            .visit(host, &pattern, worth, is_known, is_doubted, settings);
        let Some(blamed) = found else {
            return Ok(None);
        };
        let key = (host, key_of(&blamed.word));
        let row = self.row(key, &blamed.word, reads)?;
        if row.is_trusted || row.change.is_some() {
            return Ok(None);
        }
        let evidence = &mut row.evidence;
        (evidence.visits, evidence.good) = (blamed.visits, blamed.good);
        evidence.brought = blamed.brought;
        let reason = format!(
            "of {} visits {} brought something new",
            blamed.visits, blamed.good
        );
        self.set_doubt(key, &blamed.word, Some(reason.into()), reads)
    }

    fn set_doubt(
        &mut self,
        key: CountKey,
        pattern: &str,
        reason: Option<Box<str>>,
        reads: &dyn Reads,
    ) -> Result<Option<Doubt>, StateError> {
        let row = self.row(key, pattern, reads)?;
        row.doubt = reason.clone();
        self.mark(key, reason.is_some());
        self.soil(key);
        Ok(Some(Doubt {
            key,
            pattern: pattern.into(),
            reason,
        }))
    }

    /// Where a URL belongs in its host's queue, and the pattern that says so. `is_found`: its page is just being counted.
    pub fn place(
        &mut self,
        link: &Link,
        is_found: bool,
        settings: &EvidenceSettings,
        reads: &dyn Reads,
    ) -> Result<(Placing, Option<CountKey>), StateError> {
        let host = link.url.host_key();
        let hint = hint::hint(
            link.url.path_and_query(),
            link.url.as_str(),
            &link.from,
            &settings.hints,
        );
        let is_even = !self.doubted.contains_key(&host) && !self.uneven.contains(&host);
        let is_plain = hint.is_none() && is_even;
        if link.seed || link.revisit || link.sitemap || is_plain {
            return Ok((Placing::Usual, None));
        }
        let pattern = self.pattern(link, settings, reads)?;
        let family = pattern
            .family
            .as_deref()
            .map(|family| (host, key_of(family)));
        let key = (host, pattern.key());
        if self.is_trusted(key, family, &pattern.text) {
            return Ok((Placing::Usual, None));
        }
        let (promises, is_view) = self.promises(key, &pattern, settings);
        let is_side = is_view
            || self
                .labels
                .is_same(key, settings.visits_hinted, settings.label_share);
        let low = Score::low(promises / settings.behind.max(f32::MIN_POSITIVE), is_side);
        if let Some(doubted) = self.doubted_key(key, family, &pattern.text) {
            let mut is_hopeless = self.is_hopeless(doubted, settings, reads)?;
            let mut doubted = doubted;
            // A word is judged by more visits than a pattern that has it.
            if !is_hopeless
                && !self.rows.get(&key).is_some_and(|row| row.is_base)
                && let Some(word) = self.hopeless_word(host, &pattern.text, settings, reads)?
            {
                (doubted, is_hopeless) = (word, true);
            }
            let is_left =
                promises >= settings.low || !self.is_exhausted(host, is_side, settings, reads)?;
            let is_over = !is_left || is_hopeless && self.is_over(doubted, settings, reads)?;
            // What goes on for ever leads only to itself.
            let is_list = Some(doubted) != family;
            let is_led =
                is_over && is_list && self.is_led_to(key, link, is_found, settings, reads)?;
            let placing = if is_over && !is_led {
                Placing::Aside
            } else if is_hopeless {
                Placing::Low(Score::LAST)
            } else {
                Placing::Low(low)
            };
            return Ok((placing, Some(doubted)));
        }
        if let Some(family) = family {
            let row = self.known(family, reads)?.unwrap_or_default();
            let is_free = !row.is_trusted && row.change.is_none();
            let is_open = is_free && row.evidence.is_open(settings);
            if is_open && !self.is_tried(family, link, settings, reads)? {
                return Ok((Placing::Waits, None));
            }
        }
        Ok(if promises < settings.behind {
            (Placing::Low(low), None)
        } else {
            (Placing::Usual, None)
        })
    }

    /// What a visit of a pattern is worth, by what is known of it, or of its words; and whether it is a view of others.
    fn promises(
        &mut self,
        key: CountKey,
        pattern: &Pattern,
        settings: &EvidenceSettings,
    ) -> (f32, bool) {
        let mut usual = self.words.estimate(key.0, &pattern.text, settings);
        let mut share = 1.0;
        for base in pattern.bases() {
            // The page first, and then the views of it, as long as they are not known to bring more.
            if let Some(row) = self.rows.get(&(key.0, key_of(&base)))
                && row.is_counted
            {
                usual = usual.min(row.evidence.estimate(1.0)).min(settings.behind);
                share = settings.view_value;
            }
        }
        let promises = match self.rows.get(&key) {
            // What others are views of comes before them.
            Some(row) if row.is_base && row.doubt.is_none() => {
                row.evidence.estimate(usual).max(settings.behind)
            }
            Some(row) => row.evidence.estimate(usual),
            None => usual,
        };
        (promises * share, share < 1.0)
    }

    /// Whether all that is doubted on a host together has had its visits.
    fn is_exhausted(
        &mut self,
        host: u64,
        is_side: bool,
        settings: &EvidenceSettings,
        reads: &dyn Reads,
    ) -> Result<bool, StateError> {
        let of_host = &self.row((host, 0), "", reads)?.evidence;
        Ok(of_host.is_exhausted(is_side, settings))
    }

    /// Whether what nothing is hoped of has had its share of the host's visits.
    fn is_over(
        &mut self,
        doubted: CountKey,
        settings: &EvidenceSettings,
        reads: &dyn Reads,
    ) -> Result<bool, StateError> {
        let of_host = &self.row((doubted.0, 0), "", reads)?.evidence;
        let useful = of_host.brought[Brought::New as usize] as f32;
        let most = settings.base as f32 + settings.share * useful;
        let is_over = of_host.doubted_visits as f32 >= most;
        let row = self.row(doubted, "", reads)?;
        Ok(is_over || row.evidence.visits as f32 >= settings.pattern_share * useful)
    }

    /// Whether a URL was found on a page of its own pattern that was worth something. `is_found`: what that page is worth
    /// is not known yet, so it may be.
    fn is_led_to(
        &mut self,
        key: CountKey,
        link: &Link,
        is_found: bool,
        settings: &EvidenceSettings,
        reads: &dyn Reads,
    ) -> Result<bool, StateError> {
        if is_found {
            return Ok(self.parent_key(link, settings, reads)? == Some(key));
        }
        let from = xxh3_64(link.from.as_bytes());
        let row = self.known(key, reads)?;
        Ok(row.is_some_and(|row| row.leading.contains(&from)))
    }

    /// The family, the pattern or the word of it that is doubted.
    fn doubted_key(
        &self,
        key: CountKey,
        family: Option<CountKey>,
        pattern: &str,
    ) -> Option<CountKey> {
        if !self.doubted.contains_key(&key.0) {
            return None;
        }
        let rows = family.into_iter().chain([key]);
        let mut doubted = rows.filter(|key| self.is_doubted(*key));
        doubted
            .next()
            .or_else(|| self.doubted_word(key.0, pattern).map(|(key, _)| key))
    }

    /// Whether nothing is hoped of what is doubted: then a share of the host's visits is all it has.
    fn is_hopeless(
        &mut self,
        key: CountKey,
        settings: &EvidenceSettings,
        reads: &dyn Reads,
    ) -> Result<bool, StateError> {
        let hosts = self.hosts_of.get(&key.1).copied().unwrap_or(0);
        let is_known = hosts > settings.known_hosts;
        let of_host = self.row((key.0, 0), "", reads)?;
        let useful = of_host.evidence.brought[Brought::New as usize];
        let row = self.row(key, "", reads)?;
        // A family that goes on for ever is not judged by what its pages are worth.
        Ok(row.is_family
            || row.evidence.is_hopeless(is_known, settings)
                && row.evidence.stands_out(useful, settings))
    }

    /// Whether something of a host promises less than the rest.
    #[must_use]
    pub fn is_uneven(&self, host: u64) -> bool {
        self.uneven.contains(&host)
    }

    /// What is set aside of a visited page's pattern, family or words comes back when it brings something again, though
    /// it is still doubted.
    fn take_back(
        &mut self,
        page: &PageAt,
        settings: &EvidenceSettings,
        reads: &dyn Reads,
    ) -> Result<(), StateError> {
        let host = page.key.0;
        let of_host = self.row((host, 0), "", reads)?;
        if of_host.set_aside == 0 || of_host.evidence.is_exhausted(false, settings) {
            return Ok(());
        }
        // It would be set aside again at once.
        let is_exhausted = of_host.evidence.is_exhausted(true, settings);
        let is_left = |row: &Counts| {
            !is_exhausted || row.evidence.value() * settings.view_value >= settings.low
        };
        let pattern = self.row(page.key, "", reads)?.pattern.clone();
        let words = words(&pattern).map(|word| (host, key_of(&word)));
        let keys = page.family.into_iter().chain([page.key]).chain(words);
        for key in keys.collect::<Vec<_>>() {
            let row = self.known(key, reads)?;
            let row = row.filter(|row| row.set_aside > 0 && !row.is_family && is_left(row));
            if row.is_some_and(|row| row.evidence.has_hope(settings)) {
                self.taking.entry(key).or_default();
            }
        }
        Ok(())
    }

    /// What is doubted about a page.
    fn doubted_page(
        &mut self,
        page: &PageAt,
        reads: &dyn Reads,
    ) -> Result<Option<CountKey>, StateError> {
        let pattern = self.row(page.key, "", reads)?.pattern.clone();
        Ok(self.doubted_key(page.key, page.family, &pattern))
    }

    /// Whether a URL of a family that is not judged yet is one to try: the first few, and the first that is further than
    /// all before. So few visits reach far into the family, and tell whether it ends.
    fn is_tried(
        &mut self,
        family: CountKey,
        link: &Link,
        settings: &EvidenceSettings,
        reads: &dyn Reads,
    ) -> Result<bool, StateError> {
        let row = self.row(family, "", reads)?;
        let is_further = row.tried_depth < link.depth;
        row.tried_depth = row.tried_depth.max(link.depth);
        row.tried = row.tried.saturating_add(1);
        Ok(is_further || row.tried <= settings.visits_known)
    }

    /// Visits of a host that told something of their patterns.
    pub fn visits_of(&mut self, host: u64, reads: &dyn Reads) -> Result<u32, StateError> {
        Ok(self.row((host, 0), "", reads)?.evidence.visits)
    }

    /// So many more URLs of a pattern are set aside, or fewer.
    pub fn set_aside(
        &mut self,
        key: CountKey,
        more: i64,
        reads: &dyn Reads,
    ) -> Result<(), StateError> {
        for key in [key, (key.0, 0)] {
            let row = self.row(key, "", reads)?;
            let before = row.set_aside;
            let after = before.saturating_add_signed(more);
            row.set_aside = after;
            if key.1 != 0 {
                self.urls_aside = (self.urls_aside + after).saturating_sub(before);
            }
            self.soil(key);
        }
        Ok(())
    }

    /// The text of a pattern that was counted just now.
    #[must_use]
    pub fn pattern_of(&self, key: CountKey) -> Option<&str> {
        self.rows.get(&key).map(|row| &*row.pattern)
    }

    /// URLs that are set aside, of all hosts.
    #[must_use]
    pub fn urls_aside(&self) -> u64 {
        self.urls_aside
    }

    /// A pattern is not doubted any more, whatever its visits bring. Gives how many of its URLs are set aside; `None`: it
    /// is not known.
    pub fn trust(&mut self, key: CountKey, reads: &dyn Reads) -> Result<Option<u64>, StateError> {
        if self.known(key, reads)?.is_none() {
            return Ok(None);
        }
        let row = self.row(key, "", reads)?;
        row.is_trusted = true;
        row.doubt = None;
        let aside = row.set_aside;
        self.note_trust(key);
        self.mark(key, false);
        self.soil(key);
        Ok(Some(aside))
    }

    /// Notes that a page of another registered domain links to a host.
    pub fn linked(&mut self, host: u64, domain: &str, reads: &dyn Reads) -> Result<(), StateError> {
        // Most links tell nothing new, and cost nothing more.
        if self.row((host, 0), "", reads)?.linked(domain) {
            self.touch((host, 0));
        }
        Ok(())
    }

    /// What is known of a URL's pattern, if anything was decided about it.
    pub fn change(
        &mut self,
        link: &Link,
        settings: &EvidenceSettings,
        reads: &dyn Reads,
    ) -> Result<Option<Counts>, StateError> {
        let host = link.url.host_key();
        let pattern = self.pattern(link, settings, reads)?;
        let mut counts = self.known((host, pattern.key()), reads)?;
        // A pattern that is not counted by itself is one of the rest, if the host has a rest.
        let may_have_rest = |host: &Counts| host.patterns >= PATTERNS;
        if counts.is_none() && self.rows.get(&(host, 0)).is_none_or(may_have_rest) {
            counts = self.known(others_of(host), reads)?;
        }
        Ok(counts.filter(|counts| counts.change.is_some()))
    }

    /// Takes a decision about a pattern. One that is not counted (any more) is of no interest. Gives
    /// the pattern, what held for it and what holds now, if that is something else.
    pub fn decide(
        &mut self,
        key: CountKey,
        decision: Decision,
        reads: &dyn Reads,
    ) -> Result<Option<Decided>, StateError> {
        let Some(mut counts) = self.known(key, reads)? else {
            return Ok(None);
        };
        let before = counts.change.take().unwrap_or_default();
        let after = before.clone().with(decision);
        if after == before {
            return Ok(None);
        }
        counts.change = Some(after.clone());
        let pattern = counts.pattern.clone();
        self.rows.insert(key, counts);
        self.soil(key);
        Ok(Some(Decided {
            pattern,
            before,
            after,
        }))
    }

    /// Up to `most` rows that were counted since they were taken last.
    pub fn take_active(
        &mut self,
        most: usize,
        reads: &dyn Reads,
    ) -> Result<Vec<(CountKey, Counts)>, StateError> {
        let mut rows = Vec::with_capacity(most.min(self.active.len()));
        while rows.len() < most
            && let Some(key) = self.active.pop_front()
        {
            self.is_active.remove(&key);
            rows.extend(self.known(key, reads)?.map(|counts| (key, counts)));
        }
        Ok(rows)
    }

    /// Adds the changed rows to the batch of that number.
    pub fn seal(&mut self, batch: u64, writes: &mut Writes) {
        for key in self.dirty.drain(..) {
            if let Some(counts) = self.rows.get_mut(&key) {
                counts.is_dirty = false;
                counts.batch = batch;
                writes.put(Space::Meta, row_key(key), counts.encode());
            }
        }
        for (key, mark) in self.marks.drain(..) {
            match mark.value() {
                Some(value) => writes.put(Space::Meta, doubt_key(key), value),
                None => writes.remove(Space::Meta, doubt_key(key)),
            }
        }
        self.learners.seal(batch, self.applied, writes);
        if self.rows.len() > IN_RAM {
            // What the store does not show yet would be read from it as it was before.
            let applied = self.applied;
            self.rows.retain(|_, counts| counts.batch > applied);
        }
    }

    /// The store has all batches up to this one.
    pub fn applied(&mut self, batch: u64) {
        self.applied = batch;
    }

    /// The store was changed by others, and has all that was counted here: rows are read anew.
    pub fn read_anew(&mut self, reads: &dyn Reads) -> Result<(), StateError> {
        self.rows.clear();
        self.dirty.clear();
        self.marks.clear();
        self.learners.clear();
        self.load_doubts(reads)
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

/// The pattern of a URL, and the row that says where the URL belongs: of its family, itself or one of its words if that
/// is doubted, else its own. As the store has them.
pub fn look_up(
    link: &Link,
    settings: &EvidenceSettings,
    reads: &dyn Reads,
) -> Result<(Pattern, CountKey, Counts), StateError> {
    let host = link.url.host_key();
    let mut learners = Learners::default();
    let learner = learners.get(host, reads)?;
    let (url, path) = (link.url.as_str(), link.url.path_and_query());
    let pattern = Pattern::of(url, path, &link.from, learner, &settings.hints);
    let own = (host, pattern.key());
    let family = pattern
        .family
        .as_deref()
        .map(|family| (host, key_of(family)));
    let view = pattern.clone().of_visited();
    let views = (!pattern.bases().is_empty()).then_some(view);
    let texts = || views.iter().chain([&pattern]);
    let patterns = texts().map(Pattern::key);
    let words = texts().flat_map(|text| words(&text.text));
    let words = words.map(|word| key_of(&word));
    let rows = patterns.chain(words).map(|key| (host, key));
    let keys: Vec<CountKey> = family.into_iter().chain(rows).collect();
    for key in keys {
        if let Some(row) = stored(key, reads)?.filter(|row| row.doubt.is_some()) {
            return Ok((pattern, key, row));
        }
    }
    let row = stored(own, reads)?.unwrap_or_default();
    Ok((pattern, own, row))
}

/// Whether the store knows what became of one of some pages.
fn was_visited(host: u64, pages: &[String], reads: &dyn Reads) -> Result<bool, StateError> {
    for page in pages {
        if reads.get(Space::Index, &url_key(host, page))?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn scan_doubts(reads: &dyn Reads, found: &mut dyn FnMut(CountKey, Mark)) -> Result<(), StateError> {
    reads.scan(Space::Meta, DOUBT, DOUBT_END, &mut |key, value| {
        let number = |at: usize| {
            let bytes = key.get(DOUBT.len() + at..DOUBT.len() + at + 8)?;
            bytes.try_into().ok().map(u64::from_be_bytes)
        };
        if let Some(key) = number(0).zip(number(8)) {
            found(key, Mark::of(value));
        }
        true
    })
}

/// The key of all patterns of a host that are not counted by themselves.
fn others_of(host: u64) -> CountKey {
    (host, xxh3_64(OTHERS.as_bytes()))
}

fn stored(key: CountKey, reads: &dyn Reads) -> Result<Option<Counts>, StateError> {
    let row = reads.get(Space::Meta, &row_key(key))?;
    Ok(row.as_deref().and_then(Counts::decode))
}

fn row_key((host, pattern): CountKey) -> Vec<u8> {
    [PREFIX, &host.to_be_bytes(), &pattern.to_be_bytes()].concat()
}

fn doubt_key((host, pattern): CountKey) -> Vec<u8> {
    [DOUBT, &host.to_be_bytes(), &pattern.to_be_bytes()].concat()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
#[path = "counts_tests.rs"]
mod tests;
