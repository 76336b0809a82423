//! Parameters that change nothing: learnt from visits, host by host, and taken out of links.
//!
//! Takes the print of each visited page; where two visited URLs differ in one parameter alone, their pages speak for
//! or against it, in three places: the path, its folder, the host. Gives URLs without the parameters that were found to
//! change nothing. Guarantees:
//!
//! * Bounded memory: [`PAGES`] pages to compare with, [`OPEN`] open questions, [`LEARNT`] findings.
//! * Nothing is found by names alone, nor without a look at URLs without the parameter.
//! * What was found in some paths holds for one that was not looked at only if the values are made up for each link; a
//!   path whose own pages speak against it keeps the parameter.
//! * A finding is looked at again: some URLs keep the parameter, and too many other pages undo it for good.
//! * What holds is a row of the space `meta`, `parameter/` ++ host key ++ hash of place and name, which goes with the
//!   host's partition. Evidence that led to nothing yet is in memory only, and is soon gathered again.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use lru::LruCache;
use xxhash_rust::xxh3::xxh3_64;

use super::finding::{Finding, Judgement, ParameterSettings, Sighting, State};
use super::print::{Comparison, Likeness, Print};
use crate::canonical::{Names, Url, is_token};
use crate::store::state::{Reads, Space, StateError, Writes};

/// Where the rows are in the space `meta`.
pub(crate) const PREFIX: &[u8] = b"parameter/";
const PREFIX_END: &[u8] = b"parameter0";

/// Pages that later ones are compared with.
const PAGES: usize = 32_768;
/// URLs of one page that are kept.
const VARIANTS: usize = 8;
/// Questions without an answer yet.
const OPEN: usize = 16_384;
/// Findings of all hosts, and of one.
const LEARNT: usize = 200_000;
const OF_HOST: usize = 256;
/// Parameters of a URL that are looked at, and the longest name.
const PARAMETERS: usize = 8;
const NAME: usize = 64;
/// URLs without the parameter that are asked for.
const PROBES: u32 = 8;
/// Links that lose a parameter for each further sample.
const PER_SAMPLE: u64 = 4_096;

/// A visited URL, as one that differs from others in one parameter.
#[derive(Debug)]
struct Variant {
    /// Empty: the URL has no further parameter.
    name: Box<str>,
    value: u64,
    echoes: bool,
    is_session: bool,
    is_token: bool,
    print: Arc<Print>,
    time: u64,
}

/// What a visit told.
#[derive(Debug, Default)]
pub struct Told {
    /// Findings that are new, or do not hold any more.
    pub changed: Vec<Finding>,
    /// A URL that should be visited, to see what is there without a parameter.
    pub probe: Option<String>,
}

/// How sessions are known.
#[derive(Clone, Copy, Debug)]
pub struct Sessions<'a> {
    pub names: &'a Names,
    /// The shortest token.
    pub token: usize,
}

/// A URL without what changes nothing.
#[derive(Debug, PartialEq, Eq)]
pub struct Bare {
    pub url: String,
    /// The names that it lost.
    pub names: Vec<String>,
    pub evidence: String,
    /// The values of all of them are made up for each link.
    pub is_made_up: bool,
}

#[derive(Debug)]
pub struct Parameters {
    pages: LruCache<u64, Vec<Variant>>,
    open: LruCache<(u64, u64), Finding>,
    /// What is not open, by host.
    settled: HashMap<u64, HashMap<u64, Finding>>,
    findings: usize,
}

impl Parameters {
    /// With what the store has.
    pub fn open(reads: &dyn Reads) -> Result<Parameters, StateError> {
        let room = |count| NonZeroUsize::new(count).unwrap_or(NonZeroUsize::MIN);
        let mut parameters = Parameters {
            pages: LruCache::new(room(PAGES)),
            open: LruCache::new(room(OPEN)),
            settled: HashMap::new(),
            findings: 0,
        };
        parameters.read_anew(reads)?;
        Ok(parameters)
    }

    /// The store was changed by others: findings are read anew.
    pub fn read_anew(&mut self, reads: &dyn Reads) -> Result<(), StateError> {
        self.settled.clear();
        self.findings = 0;
        reads.scan(Space::Meta, PREFIX, PREFIX_END, &mut |key, value| {
            if let Some((host, place)) = read_key(key)
                && let Ok(finding) = serde_json::from_slice(value)
            {
                self.settle(host, place, finding);
            }
            true
        })
    }

    fn settle(&mut self, host: u64, place: u64, finding: Finding) {
        let of_host = self.settled.entry(host).or_default();
        self.findings += usize::from(of_host.insert(place, finding).is_none());
    }

    /// Whether anything was found about a host.
    #[must_use]
    pub fn knows(&self, host: u64) -> bool {
        !self.settled.is_empty() && self.settled.contains_key(&host)
    }

    /// The findings about a host.
    pub fn of(&self, host: u64) -> impl Iterator<Item = &Finding> {
        self.settled
            .get(&host)
            .into_iter()
            .flat_map(HashMap::values)
    }

    /// All findings, with their hosts.
    pub fn all(&self) -> impl Iterator<Item = (u64, &Finding)> {
        let hosts = self.settled.iter();
        hosts.flat_map(|(host, findings)| findings.values().map(|found| (*host, found)))
    }

    /// Hosts and names with a finding that does not hold any more.
    #[must_use]
    pub fn undone(&self) -> Vec<(u64, String)> {
        let gone = self.all().filter(|(_, found)| found.state != State::Learnt);
        let mut gone: Vec<_> = gone
            .map(|(host, found)| (host, found.name.clone()))
            .collect();
        gone.sort_unstable();
        gone.dedup();
        gone
    }

    /// A page was visited; a print without a page says that there is none under this URL.
    pub fn visit(
        &mut self,
        url: &Url,
        print: Print,
        now: u64,
        sessions: Sessions<'_>,
        settings: &ParameterSettings,
        writes: &mut Writes,
    ) -> Told {
        let print = Arc::new(print);
        let mut told = Told::default();
        let text = url.as_str();
        let mut names: Vec<&str> = Vec::new();
        for (name, value) in parameters(text) {
            if names.len() == PARAMETERS || names.contains(&name) || name.len() > NAME {
                continue;
            }
            names.push(name);
            let base = without(text, &[name]);
            let is_token = is_token(value, sessions.token);
            let own = Variant {
                name: name.into(),
                value: xxh3_64(value.as_bytes()),
                echoes: print.echoes(value),
                is_session: is_token || sessions.names.contains(name.as_bytes()),
                is_token,
                print: Arc::clone(&print),
                time: now,
            };
            self.compare(url, &base, own, settings, writes, &mut told);
        }
        let own = Variant {
            name: Box::default(),
            value: 0,
            echoes: false,
            is_session: false,
            is_token: false,
            print: Arc::clone(&print),
            time: now,
        };
        self.compare(url, text, own, settings, writes, &mut told);
        if print.is_page()
            && let Some(bare) = self.strip(url)
        {
            // It stands for all that differ from it in more than one parameter.
            let key = xxh3_64(bare.url.as_bytes());
            self.pages.get_or_insert_mut(key, Vec::new);
        }
        told
    }

    /// Compares a visited URL with those that differ from it in one parameter, and remembers it.
    fn compare(
        &mut self,
        url: &Url,
        base: &str,
        own: Variant,
        settings: &ParameterSettings,
        writes: &mut Writes,
        told: &mut Told,
    ) {
        let page = xxh3_64(base.as_bytes());
        let variants = self.pages.get_or_insert_mut(page, Vec::new);
        let is_bare = own.name.is_empty();
        let mut sightings = Vec::new();
        let mut has_bare = is_bare;
        let mut old = None;
        for (at, known) in variants.iter().enumerate() {
            has_bare |= known.name.is_empty();
            // One parameter of the two URLs differs, and no other.
            let is_pair = if is_bare {
                !known.name.is_empty()
            } else {
                known.name.is_empty() || (known.name == own.name && known.value != own.value)
            };
            if !is_pair {
                continue;
            }
            let (name, with) = if is_bare {
                (&known.name, known)
            } else {
                (&own.name, &own)
            };
            let by = Comparison {
                name,
                tokens_differ: with.is_session && !own.echoes && !known.echoes,
                near_bits: settings.near_bits,
            };
            let Some(likeness) = own.print.compare(&known.print, by) else {
                continue;
            };
            let is_old = own.time.saturating_sub(known.time) > settings.stale;
            if likeness != Likeness::Same && is_old {
                // The page may have changed meanwhile.
                old = Some(at);
                continue;
            }
            let sighting = Sighting {
                likeness,
                without: is_bare || known.name.is_empty(),
                is_session: with.is_session,
                is_token: with.is_token,
                page,
                values: [&own, known].map(|one| (!one.name.is_empty()).then_some(one.value)),
                path: xxh3_64(path_of(url).as_bytes()),
            };
            sightings.push((name.clone(), sighting));
            if !is_bare {
                break;
            }
        }
        if let Some(at) = old {
            variants.remove(at);
        }
        let is_known = variants.iter().any(|known| known.name == own.name);
        if !is_known && variants.len() < VARIANTS {
            // The URL without the parameter is what others are compared with first.
            let at = if is_bare { 0 } else { variants.len() };
            variants.insert(at, own);
        }
        for (name, sighting) in sightings {
            let asks = self.sight(url, &name, &sighting, settings, writes, told);
            if asks && !has_bare {
                told.probe = Some(base.to_owned());
            }
        }
    }

    /// Takes a sighting in, for each place of the URL. True: a look at a URL without the parameter is missing.
    fn sight(
        &mut self,
        url: &Url,
        name: &str,
        sighting: &Sighting,
        settings: &ParameterSettings,
        writes: &mut Writes,
        told: &mut Told,
    ) -> bool {
        let host = url.host_key();
        let mut asks = false;
        for (level, place) in places(path_of(url)).into_iter().enumerate() {
            let key = place_key(&place, name);
            let settled = self.settled.get_mut(&host);
            if let Some(finding) = settled.and_then(|found| found.get_mut(&key)) {
                let was_learnt = finding.state == State::Learnt;
                finding.add(sighting);
                if finding.judge(level > 0, settings) == Judgement::Undone {
                    finding.state = State::Undone;
                    told.changed.push(finding.clone());
                }
                if was_learnt {
                    writes.put(Space::Meta, row_key(host, key), to_json(finding));
                }
                continue;
            }
            let stays = self.stays(host, name);
            let open = || Finding::new(name, &place);
            let finding = self.open.get_or_insert_mut((host, key), open);
            finding.add(sighting);
            match finding.judge(level > 0, settings) {
                Judgement::AsksForOne if finding.probes < PROBES => {
                    finding.probes += 1;
                    asks = true;
                }
                Judgement::Learnt if !stays && self.findings < LEARNT => {
                    let finding = finding.learnt();
                    self.open.pop(&(host, key));
                    if self
                        .settled
                        .get(&host)
                        .is_some_and(|of| of.len() >= OF_HOST)
                    {
                        continue;
                    }
                    writes.put(Space::Meta, row_key(host, key), to_json(&finding));
                    told.changed.push(finding.clone());
                    self.settle(host, key, finding);
                }
                _ => {}
            }
        }
        asks
    }

    /// Whether a parameter was found to matter somewhere on the host after all, or is kept by command.
    fn stays(&self, host: u64, name: &str) -> bool {
        self.of(host)
            .any(|found| found.name == name && matches!(found.state, State::Undone | State::Kept))
    }

    /// The URL without the parameters that change nothing; `None`: it has none of them.
    #[must_use]
    pub fn strip(&self, url: &Url) -> Option<Bare> {
        if !self.knows(url.host_key()) || !url.is_dynamic() {
            return None;
        }
        let of_host = self.settled.get(&url.host_key())?;
        let places = places(path_of(url));
        let mut lost: Vec<(&str, &Finding)> = Vec::new();
        for (name, _) in parameters(url.as_str()).take(PARAMETERS) {
            if let Some(finding) = self.found(url.host_key(), of_host, &places, name)
                && lost.iter().all(|(known, _)| *known != name)
            {
                lost.push((name, finding));
            }
        }
        if lost.is_empty() {
            return None;
        }
        let names: Vec<&str> = lost.iter().map(|(name, _)| *name).collect();
        let evidence: Vec<String> = lost.iter().map(|(_, found)| found.words()).collect();
        Some(Bare {
            url: without(url.as_str(), &names),
            names: names.into_iter().map(str::to_owned).collect(),
            evidence: evidence.join("; "),
            is_made_up: lost.iter().all(|(_, found)| found.is_made_up),
        })
    }

    /// What says that a parameter is left out of a URL of these places.
    fn found<'a>(
        &'a self,
        host: u64,
        of_host: &'a HashMap<u64, Finding>,
        places: &[String; 3],
        name: &str,
    ) -> Option<&'a Finding> {
        if self.is_kept(of_host, name) {
            return None;
        }
        let keys = places.each_ref().map(|place| place_key(place, name));
        let mut learnt = None;
        for finding in keys.iter().filter_map(|key| of_host.get(key)) {
            if finding.state != State::Learnt {
                return None;
            }
            learnt = learnt.or(Some(finding));
        }
        let learnt = learnt?;
        let [own, ..] = keys;
        if of_host.contains_key(&own) {
            return Some(learnt);
        }
        // Of this path itself nothing is settled.
        match self.open.peek(&(host, own)) {
            Some(open) if open.differences > 0 => None,
            Some(open) if open.agrees() => Some(learnt),
            _ => learnt.is_made_up.then_some(learnt),
        }
    }

    fn is_kept(&self, of_host: &HashMap<u64, Finding>, name: &str) -> bool {
        let kept = of_host.get(&place_key(WHOLE, name));
        kept.is_some_and(|finding| finding.state == State::Kept)
    }

    /// Whether the page of a URL was visited, under this or another value of what it lost. That it was with some other
    /// parameter says nothing.
    #[must_use]
    pub fn is_visited(&self, bare: &Bare) -> bool {
        let variants = self.pages.peek(&xxh3_64(bare.url.as_bytes()));
        variants.is_some_and(|known| {
            let is_same =
                |name: &str| name.is_empty() || bare.names.iter().any(|lost| lost == name);
            let mut same = known.iter().filter(|variant| is_same(&variant.name));
            known.is_empty() || same.any(|variant| variant.print.is_page())
        })
    }

    /// Whether a URL keeps its parameter, to see whether that still changes nothing.
    #[must_use]
    pub fn is_sample(&self, url: &Url, bare: &Bare, settings: &ParameterSettings) -> bool {
        let lot = xxh3_64(url.as_str().as_bytes());
        let [name] = bare.names.as_slice() else {
            return false;
        };
        if settings.sample == 0 || !lot.is_multiple_of(settings.sample) {
            return false;
        }
        let found = self.of(url.host_key());
        let found = found.filter(|finding| finding.name == *name);
        let (samples, stripped) = found.fold((0, 0), |(samples, stripped), finding| {
            (finding.samples.max(samples), finding.stripped.max(stripped))
        });
        u64::from(samples) < u64::from(settings.samples) + stripped / PER_SAMPLE
            && self.is_visited(bare)
    }

    /// A link lost a parameter.
    pub fn count(&mut self, host: u64, bare: &Bare) {
        if let Some(of_host) = self.settled.get_mut(&host) {
            let lost = of_host
                .values_mut()
                .filter(|found| found.state == State::Learnt && bare.names.contains(&found.name));
            lost.for_each(|found| found.stripped += 1);
        }
    }

    /// A parameter stays on a host, whatever its values bring. False: nothing was found about it.
    pub fn keep(&mut self, host: u64, name: &str, writes: &mut Writes) -> bool {
        if !self.of(host).any(|found| found.name == name) {
            return false;
        }
        let places: Vec<u64> = self.settled.get(&host).map_or(Vec::new(), |of| {
            let named = of.iter().filter(|(_, found)| found.name == name);
            named.map(|(place, _)| *place).collect()
        });
        for place in places {
            if let Some(of) = self.settled.get_mut(&host) {
                self.findings -= usize::from(of.remove(&place).is_some());
            }
            writes.remove(Space::Meta, row_key(host, place));
        }
        let kept = Finding {
            state: State::Kept,
            ..Finding::new(name, WHOLE)
        };
        let key = place_key(WHOLE, name);
        writes.put(Space::Meta, row_key(host, key), to_json(&kept));
        self.settle(host, key, kept);
        true
    }
}

/// The findings about a host, as the store has them.
pub fn stored(host: u64, reads: &dyn Reads) -> Result<Parameters, StateError> {
    // Only this host's: `why` must not read a whole crawl.
    let mut parameters = Parameters {
        pages: LruCache::new(NonZeroUsize::MIN),
        open: LruCache::new(NonZeroUsize::MIN),
        settled: HashMap::new(),
        findings: 0,
    };
    let from = row_key(host, 0);
    let to = row_key(host, u64::MAX);
    reads.scan(Space::Meta, &from, &to, &mut |key, value| {
        if let Some((host, place)) = read_key(key)
            && let Ok(finding) = serde_json::from_slice(value)
        {
            parameters.settle(host, place, finding);
        }
        true
    })?;
    Ok(parameters)
}

/// The whole host.
const WHOLE: &str = "**";

/// The places that a URL belongs to: its path without its numbers, its folder, the host.
fn places(path: &str) -> [String; 3] {
    let mut own = String::with_capacity(path.len());
    let mut in_number = false;
    for c in path.chars() {
        let is_digit = c.is_ascii_digit();
        if !is_digit {
            own.push(c);
        } else if !in_number {
            own.push_str("{n}");
        }
        in_number = is_digit;
    }
    let folder = own.rfind('/').map_or("/", |slash| &own[..=slash]);
    let folder = format!("{folder}*");
    [own, folder, WHOLE.to_owned()]
}

fn path_of(url: &Url) -> &str {
    let path = url.path_and_query();
    path.split('?').next().unwrap_or(path)
}

/// Whether a URL has a parameter of that name.
#[must_use]
pub fn has_parameter(url: &str, name: &str) -> bool {
    parameters(url).any(|(known, _)| known == name)
}

/// The parameters of a URL; only `&` stands between them, which is what all servers agree on.
fn parameters(url: &str) -> impl Iterator<Item = (&str, &str)> {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .filter(|(name, _)| !name.is_empty())
}

/// A URL without these parameters. What stays keeps its order.
fn without(url: &str, names: &[&str]) -> String {
    let Some((path, query)) = url.split_once('?') else {
        return url.to_owned();
    };
    let is_lost = |pair: &&str| {
        pair.split_once('=')
            .is_some_and(|(name, _)| names.contains(&name))
    };
    let kept: Vec<&str> = query.split('&').filter(|pair| !is_lost(pair)).collect();
    if kept.is_empty() {
        path.to_owned()
    } else {
        format!("{path}?{}", kept.join("&"))
    }
}

fn place_key(place: &str, name: &str) -> u64 {
    xxh3_64(format!("{place}?{name}").as_bytes())
}

fn row_key(host: u64, place: u64) -> Vec<u8> {
    [PREFIX, &host.to_be_bytes(), &place.to_be_bytes()].concat()
}

fn read_key(key: &[u8]) -> Option<(u64, u64)> {
    let number = |at: usize| {
        let bytes = key.get(PREFIX.len() + at..PREFIX.len() + at + 8)?;
        bytes.try_into().ok().map(u64::from_be_bytes)
    };
    number(0).zip(number(8))
}

fn to_json(finding: &Finding) -> Vec<u8> {
    serde_json::to_vec(finding).unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
#[path = "parameters_tests.rs"]
pub(super) mod tests;
