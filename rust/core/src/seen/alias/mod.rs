//! Aliases: one site under many names, told from other sites by evidence gathered over time.
//!
//! Takes sightings (two hosts have the same page under the same path, or not); gives findings (this
//! host is that one under another name). Guarantees:
//!
//! * Nothing is found by names or addresses alone: only pages with the same content under the same
//!   path speak for it, and a shared address only lowers their number ([`Pair::judge`]).
//! * Bounded memory: evidence of [`CANDIDATES`] pairs, [`FOUND`] findings.
//! * The evidence is of more than one corner of the sites ([`Settings::folders`]), and start pages that
//!   differ refute it.
//! * The host of a seed is nobody's alias.
//! * A finding is looked at again: some URLs of an alias are visited all the same ([`Aliases::is_sample`]), and too
//!   many other pages under them undo it.
//! * A host whose finding was undone takes no part in any finding again.
//! * Findings form no circle, so following them ends.
//!
//! Names with many addresses need nothing here: a host is its name, whatever it resolves to.

mod pair;
mod rows;
#[cfg(test)]
mod tests;

use std::num::NonZeroUsize;

use ahash::{AHashMap, AHashSet};
use lru::LruCache;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::canonical::{Grouping, Url};
use crate::store::state::{Reads, Space, StateError, Writes};
pub use pair::{Judgement, Pair, Starts};
use rows::{FOUND_PREFIX, PAIR_PREFIX, UNDONE_PREFIX, host_row, pair_row, read_json, to_json};
pub(crate) use rows::{seed_row, skip_key};

/// Pairs whose evidence is in memory; that of the others is in the store.
pub const CANDIDATES: usize = 4_096;

/// Findings that are kept; further ones are not made.
pub const FOUND: usize = 200_000;

/// The first samples of an alias are taken so many times as often.
const OFTEN: u64 = 4;

/// Hosts that one host is compared with at the same time.
const PARTNERS: usize = 8;

/// What it takes to call a host an alias.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Off: nothing new is found; what was found stays until it is undone.
    pub enabled: bool,
    /// Paths that must agree.
    pub after: usize,
    /// The same for two hosts that were met at one address.
    pub after_shared: usize,
    /// Share of the compared paths that may differ.
    pub differences: f64,
    /// Pages with fewer bytes say nothing.
    pub least_bytes: u64,
    /// Pages whose simhash differs in so few bits are neither for nor against.
    pub near_bits: u32,
    /// First folders, and depths, that the agreeing paths must have, unless the start pages agree too.
    pub folders: usize,
    pub depths: usize,
    /// One in so many URLs of an alias is visited all the same, and the first few more often; 0: none.
    pub sample_every: u64,
    pub first_samples: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            enabled: true,
            after: 16,
            after_shared: 8,
            differences: 0.05,
            least_bytes: 256,
            near_bits: 3,
            folders: 3,
            depths: 2,
            first_samples: 4,
            sample_every: 20,
        }
    }
}

/// A host that is another one under a further name, and why we think so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The alias: its URLs are not visited any more.
    pub host: String,
    /// The origin (scheme and host) that is visited instead.
    pub of: String,
    /// When it was found.
    pub time: u64,
    /// Paths under which both had the same page.
    pub agreements: usize,
    /// Paths under which they differed.
    pub differences: u32,
    /// Both were met at one address.
    pub shared_address: bool,
    /// Some of the paths that agreed.
    pub examples: Vec<String>,
    /// URLs of the alias that were visited to see whether it still is one.
    #[serde(default)]
    pub samples: u32,
}

/// A host that is called an alias.
#[derive(Debug)]
struct Known {
    host: Box<str>,
    of: Box<str>,
    of_key: u64,
    agreements: usize,
    differences: u32,
    /// URLs that were taken for samples, in this process or before.
    samples: u32,
}

/// Two pages with the same content under the same path.
#[derive(Clone, Copy, Debug)]
pub struct Agreement<'a> {
    pub page: &'a Url,
    /// The page that was stored first.
    pub original: &'a Url,
    pub shared_address: bool,
    pub now: u64,
}

/// All that is known of aliases. One thread owns it.
#[derive(Debug)]
pub struct Aliases {
    settings: Settings,
    found: AHashMap<u64, Known>,
    undone: AHashSet<u64>,
    pairs: LruCache<(u64, u64), Pair>,
    /// The other hosts of a host's open pairs in memory.
    partners: AHashMap<u64, Vec<u64>>,
    /// The aliases of the hosts that are visited instead.
    aliases_of: AHashMap<u64, Vec<u64>>,
}

impl Aliases {
    /// Takes up what the store has.
    pub fn open(
        settings: Settings,
        grouping: Grouping,
        reads: &dyn Reads,
    ) -> Result<Aliases, StateError> {
        let candidates = NonZeroUsize::new(CANDIDATES).unwrap_or(NonZeroUsize::MIN);
        let mut aliases = Aliases {
            settings,
            found: AHashMap::new(),
            undone: AHashSet::new(),
            pairs: LruCache::new(candidates),
            partners: AHashMap::new(),
            aliases_of: AHashMap::new(),
        };
        rows::scan(reads, FOUND_PREFIX, &mut |key, value| {
            let finding: Finding = read_json(value)?;
            let of = Url::from_canonical(format!("{}/", finding.of), grouping).ok()?;
            aliases.insert(rows::host_key(key)?, of.host_key(), &finding);
            Some(true)
        })?;
        rows::scan(reads, UNDONE_PREFIX, &mut |key, _| {
            aliases.undone.insert(rows::host_key(key)?);
            Some(true)
        })?;
        rows::scan(reads, PAIR_PREFIX, &mut |key, value| {
            aliases.hold(rows::pair_key(key)?, read_json(value)?);
            Some(aliases.pairs.len() < CANDIDATES)
        })?;
        Ok(aliases)
    }

    pub fn set_settings(&mut self, settings: Settings) {
        self.settings = settings;
    }

    /// Whether evidence is gathered.
    #[must_use]
    pub fn listens(&self) -> bool {
        self.settings.enabled
    }

    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    #[must_use]
    pub fn is_alias(&self, key: u64) -> bool {
        self.found.contains_key(&key)
    }

    /// How many hosts are aliases.
    #[must_use]
    pub fn len(&self) -> usize {
        self.found.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The origin that is visited instead of this host, if it is an alias.
    #[must_use]
    pub fn of(&self, key: u64, host: &str) -> Option<&str> {
        if self.found.is_empty() {
            return None;
        }
        let mut known = self.found.get(&key).filter(|known| *known.host == *host)?;
        // What an alias stands for may have become one itself.
        while let Some(next) = self.found.get(&known.of_key)
            && known.of.ends_with(&*next.host)
        {
            known = next;
        }
        Some(&known.of)
    }

    /// Hosts that may turn out to be the same site as this one: key and origin.
    #[must_use]
    pub fn partners(&self, key: u64) -> Vec<(u64, String)> {
        let Some(partners) = self.partners.get(&key) else {
            return Vec::new();
        };
        let origin = |other: &u64| {
            let pair = self.pairs.peek(&ordered(key, *other))?;
            Some((*other, pair.origin(usize::from(key < *other)).to_owned()))
        };
        partners.iter().filter_map(origin).collect()
    }

    /// The same page under the same path of two hosts. Gives a finding when that was enough.
    /// `starts`: how the start pages of two origins compare; asked when nothing else is missing.
    pub fn agree(
        &mut self,
        seen: &Agreement<'_>,
        reads: &dyn Reads,
        writes: &mut Writes,
        starts: impl FnOnce([&str; 2]) -> Result<Starts, StateError>,
    ) -> Result<Option<Finding>, StateError> {
        let (page, original) = (seen.page, seen.original);
        let (one, other) = (page.host_key(), original.host_key());
        let path = page.path_and_query();
        if !self.settings.enabled
            || one == other
            || path != original.path_and_query()
            || [one, other]
                .iter()
                .any(|key| self.undone.contains(key) || self.found.contains_key(key))
        {
            return Ok(None);
        }
        let key = ordered(one, other);
        if !self.pairs.contains(&key) {
            let stored = reads.get(Space::Meta, &pair_row(key))?;
            let stored = stored.as_deref().and_then(read_json::<Pair>);
            // The start page alone begins nothing: it is where servers have their default page.
            if stored.is_none() && path == "/" {
                return Ok(None);
            }
            let origins = if one < other {
                [page.origin(), original.origin()]
            } else {
                [original.origin(), page.origin()]
            };
            self.hold(key, stored.unwrap_or_else(|| Pair::new(origins, seen.now)));
        }
        let Some(pair) = self.pairs.get_mut(&key) else {
            return Ok(None);
        };
        let first = usize::from(other == key.1);
        if !pair.agree(path, first, seen.shared_address, seen.now) {
            return Ok(None);
        }
        pair.set_origin(first, original.origin());
        pair.set_origin(1 - first, page.origin());
        if pair.is_ripe(&self.settings) {
            let found = starts([pair.origin(0), pair.origin(1)])?;
            pair.compare_starts(found);
        }
        let mut judgement = pair.judge(&self.settings);
        if let Judgement::Alias { kept } = judgement {
            let seeds = [is_seed(key.0, reads)?, is_seed(key.1, reads)?];
            judgement = match seeds {
                [false, false] => Judgement::Alias { kept },
                [true, false] => Judgement::Alias { kept: 0 },
                [false, true] => Judgement::Alias { kept: 1 },
                [true, true] => Judgement::Refuted,
            };
        }
        match judgement {
            Judgement::Alias { kept } if self.found.len() < FOUND => {
                return Ok(self.conclude(key, kept, seen.now, writes));
            }
            Judgement::Refuted => {
                pair.close();
                writes.put(Space::Meta, pair_row(key), to_json(pair));
                self.part(key);
            }
            _ => writes.put(Space::Meta, pair_row(key), to_json(pair)),
        }
        Ok(None)
    }

    /// Different pages under the same path of two hosts that are compared.
    pub fn differ(&mut self, one: u64, other: u64, path: &str, now: u64, writes: &mut Writes) {
        let key = ordered(one, other);
        let Some(pair) = self.pairs.get_mut(&key) else {
            return;
        };
        pair.differ(path, now);
        let refuted = pair.judge(&self.settings) == Judgement::Refuted;
        if refuted {
            pair.close();
        }
        writes.put(Space::Meta, pair_row(key), to_json(pair));
        if refuted {
            self.part(key);
        }
    }

    /// Forgets a finding for good: the host takes no part in another. `None`: it is no alias.
    pub fn undo(
        &mut self,
        key: u64,
        host: &str,
        reads: &dyn Reads,
        writes: &mut Writes,
    ) -> Result<Option<Finding>, StateError> {
        if self
            .found
            .get(&key)
            .is_none_or(|known| *known.host != *host)
        {
            return Ok(None);
        }
        let row = host_row(FOUND_PREFIX, key);
        let value = reads.get(Space::Meta, &row)?;
        let Some(finding) = value.as_deref().and_then(read_json::<Finding>) else {
            return Ok(None);
        };
        writes.remove(Space::Meta, row);
        writes.put(Space::Meta, host_row(UNDONE_PREFIX, key), to_json(&finding));
        if let Some(known) = self.found.remove(&key)
            && let Some(aliases) = self.aliases_of.get_mut(&known.of_key)
        {
            aliases.retain(|alias| *alias != key);
        }
        self.undone.insert(key);
        Ok(Some(finding))
    }

    /// The hosts that are aliases of this one, with their origins.
    #[must_use]
    pub fn aliases_of(&self, key: u64) -> Vec<(u64, Box<str>)> {
        let Some(aliases) = self.aliases_of.get(&key) else {
            return Vec::new();
        };
        let name = |alias: &u64| Some((*alias, self.found.get(alias)?.host.clone()));
        aliases.iter().filter_map(name).collect()
    }

    /// Whether a URL of an alias is to be visited all the same.
    #[must_use]
    pub fn is_sample(&self, key: u64, path: &str) -> bool {
        let settings = &self.settings;
        let Some(known) = self.found.get(&key) else {
            return false;
        };
        if !settings.enabled || settings.sample_every == 0 {
            return false;
        }
        let every = if known.samples < settings.first_samples {
            settings.sample_every.div_ceil(OFTEN)
        } else {
            settings.sample_every
        };
        xxh3_64(path.as_bytes()).is_multiple_of(every)
    }

    /// A URL of an alias is queued to be visited all the same.
    pub fn count_sample(&mut self, key: u64) {
        if let Some(known) = self.found.get_mut(&key) {
            known.samples += 1;
        }
    }

    /// What a sample told: the same page as under the other name, or another. True: the finding does not hold.
    pub fn sampled(
        &mut self,
        key: u64,
        same: bool,
        reads: &dyn Reads,
        writes: &mut Writes,
    ) -> Result<bool, StateError> {
        let Some(known) = self.found.get_mut(&key) else {
            return Ok(false);
        };
        if same {
            known.agreements += 1;
        } else {
            known.differences += 1;
        }
        let compared = known.agreements as f64 + f64::from(known.differences);
        let refuted = f64::from(known.differences) > self.settings.differences * compared;
        let row = host_row(FOUND_PREFIX, key);
        let value = reads.get(Space::Meta, &row)?;
        // One that was found in a batch under way is counted in memory meanwhile.
        if let Some(finding) = value.as_deref().and_then(read_json::<Finding>) {
            let counted = Finding {
                agreements: known.agreements,
                differences: known.differences,
                samples: known.samples,
                ..finding
            };
            writes.put(Space::Meta, row, to_json(&counted));
        }
        Ok(refuted && !same)
    }

    /// The findings of batches that are applied, and those that were undone.
    pub fn list(reads: &dyn Reads) -> Result<(Vec<Finding>, Vec<Finding>), StateError> {
        let read = |prefix: &[u8]| -> Result<Vec<Finding>, StateError> {
            let mut list = Vec::new();
            rows::scan(reads, prefix, &mut |_, value| {
                list.push(read_json(value)?);
                Some(true)
            })?;
            list.sort_by(|a: &Finding, b: &Finding| a.host.cmp(&b.host));
            Ok(list)
        };
        Ok((read(FOUND_PREFIX)?, read(UNDONE_PREFIX)?))
    }

    /// Why a host is called an alias.
    pub fn explain(key: u64, reads: &dyn Reads) -> Result<Option<Finding>, StateError> {
        let value = reads.get(Space::Meta, &host_row(FOUND_PREFIX, key))?;
        Ok(value.as_deref().and_then(read_json))
    }

    fn conclude(
        &mut self,
        key: (u64, u64),
        kept: usize,
        now: u64,
        writes: &mut Writes,
    ) -> Option<Finding> {
        let pair = self.pairs.pop(&key)?;
        self.part(key);
        let alias = if kept == 0 { key.1 } else { key.0 };
        for other in self.partners.remove(&alias).unwrap_or_default() {
            self.pairs.pop(&ordered(alias, other));
            self.part(ordered(alias, other));
        }
        let finding = pair.into_finding(kept, now);
        writes.remove(Space::Meta, pair_row(key));
        writes.put(
            Space::Meta,
            host_row(FOUND_PREFIX, alias),
            to_json(&finding),
        );
        let of_key = if kept == 0 { key.0 } else { key.1 };
        self.insert(alias, of_key, &finding);
        Some(finding)
    }

    fn insert(&mut self, key: u64, of_key: u64, finding: &Finding) {
        let known = Known {
            host: finding.host.as_str().into(),
            of: finding.of.as_str().into(),
            of_key,
            agreements: finding.agreements,
            differences: finding.differences,
            samples: finding.samples,
        };
        self.found.insert(key, known);
        let aliases = self.aliases_of.entry(of_key).or_default();
        if !aliases.contains(&key) {
            aliases.push(key);
        }
    }

    /// Takes a pair into memory; the one not used for longest goes.
    fn hold(&mut self, key: (u64, u64), pair: Pair) {
        let open = !pair.is_closed();
        if let Some((gone, _)) = self.pairs.push(key, pair)
            && gone != key
        {
            self.part(gone);
        }
        if open {
            for (one, other) in [(key.0, key.1), (key.1, key.0)] {
                let partners = self.partners.entry(one).or_default();
                if !partners.contains(&other) {
                    if partners.len() == PARTNERS {
                        partners.remove(0);
                    }
                    partners.push(other);
                }
            }
        }
    }

    /// The two are compared no longer.
    fn part(&mut self, (one, other): (u64, u64)) {
        for (one, other) in [(one, other), (other, one)] {
            if let Some(partners) = self.partners.get_mut(&one) {
                partners.retain(|partner| *partner != other);
                if partners.is_empty() {
                    self.partners.remove(&one);
                }
            }
        }
    }
}

fn is_seed(key: u64, reads: &dyn Reads) -> Result<bool, StateError> {
    Ok(reads.get(Space::Meta, &seed_row(key))?.is_some())
}

fn ordered(one: u64, other: u64) -> (u64, u64) {
    (one.min(other), one.max(other))
}
