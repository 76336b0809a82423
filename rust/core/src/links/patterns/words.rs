//! Words: which word of a path, or which parameter, is what makes pages of a host worthless.
//!
//! Patterns of one kind can be many (`/library/plain/os.py`, `/library/plain/re.py?h=old`, …); what they share is a word
//! at its place, `/*/plain/*`. Counted in memory only, as what was learnt of a host is soon learnt again; a verdict becomes
//! a row like that of a pattern. A word is condemned if nearly all its visits were worth nothing while others of the host
//! were worth something, and what one condemned word explains is not held against the others.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

use super::evidence::{Brought, EvidenceSettings, KINDS};
use super::text::VIEW;

/// Words of all hosts that are counted; more are not until the process begins anew.
const WORDS: usize = 1 << 18;

#[derive(Clone, Copy, Debug, Default)]
struct Stat {
    visits: u32,
    good: u32,
    /// Visits that were good by the page itself, whatever it led to.
    own_good: u32,
    /// By what they brought.
    brought: [u32; KINDS],
    /// Sums of values and of weights; older ones weigh less.
    value: f32,
    weight: f32,
}

impl Stat {
    fn add(&mut self, value: f32, kind: Brought, settings: &EvidenceSettings) {
        let keep = 1.0 - 1.0 / settings.memory.max(1.0);
        let count = &mut self.brought[kind as usize];
        *count = count.saturating_add(1);
        self.visits = self.visits.saturating_add(1);
        self.good = self.good.saturating_add(u32::from(value >= 0.5));
        self.value = self.value * keep + value;
        self.weight = self.weight * keep + 1.0;
    }

    /// Whether there is enough to say that it is here what it is on other hosts: what its pages lead to is known from there.
    fn is_as_elsewhere(&self, settings: &EvidenceSettings) -> bool {
        self.visits >= settings.visits_hinted
            && self.own_good as f32 <= settings.word_good * self.visits as f32
    }

    fn mean(&self) -> f32 {
        if self.weight > 0.0 {
            self.value / self.weight
        } else {
            1.0
        }
    }
}

/// A word that is to blame.
#[derive(Debug)]
pub(super) struct Blamed {
    pub word: String,
    pub visits: u32,
    pub good: u32,
    pub brought: [u32; KINDS],
}

/// What a visit was worth to its words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Worth {
    pub kind: Brought,
    pub value: f32,
    /// By the page itself, whatever it led to.
    pub own: f32,
}

#[derive(Debug, Default)]
pub(super) struct Words {
    stats: HashMap<u64, Stat>,
}

impl Words {
    /// Counts what a visit was worth for the words of its pattern; gives the one that is to
    /// blame, if that is plain by now. `is_known`: the word is doubted on other hosts; `is_doubted`: it is here, and was
    /// counted.
    pub fn visit(
        &mut self,
        host: u64,
        pattern: &str,
        worth: Worth,
        is_known: impl Fn(&str) -> bool,
        is_doubted: impl Fn(&str) -> bool,
        settings: &EvidenceSettings,
    ) -> Option<Blamed> {
        let of_host = self.stat(host, "")?;
        let Worth { kind, value, own } = worth;
        of_host.add(value, kind, settings);
        let host_good = of_host.good;
        let mut worst: Option<(String, Stat)> = None;
        let mut known = None;
        for word in words(pattern).filter(|word| !is_doubted(word)) {
            let Some(stat) = self.stat(host, &word) else {
                continue;
            };
            stat.add(value, kind, settings);
            stat.own_good = stat.own_good.saturating_add(u32::from(own >= 0.5));
            if stat.is_as_elsewhere(settings) && is_known(&word) {
                known = Some((word.clone(), *stat));
            }
            if worst
                .as_ref()
                .is_none_or(|(_, other)| stat.mean() < other.mean())
            {
                worst = Some((word, *stat));
            }
        }
        if let Some((word, stat)) = known
            && host_good - stat.good.min(host_good) >= settings.visits_hinted
        {
            return Some(Blamed {
                word,
                visits: stat.visits,
                good: stat.own_good,
                brought: stat.brought,
            });
        }
        let (word, stat) = worst?;
        let is_plain = stat.visits >= settings.word_visits
            && stat.mean() < settings.low
            && stat.good as f32 <= settings.word_good * stat.visits as f32
            && host_good.saturating_sub(stat.good) >= settings.visits_hinted;
        is_plain.then_some(Blamed {
            word,
            visits: stat.visits,
            good: stat.good,
            brought: stat.brought,
        })
    }

    /// Counts a visit for one word alone; gives the mean value of its visits.
    pub fn visit_one(
        &mut self,
        host: u64,
        word: &str,
        value: f32,
        kind: Brought,
        settings: &EvidenceSettings,
    ) -> f32 {
        self.stat(host, word).map_or(0.0, |stat| {
            stat.add(value, kind, settings);
            stat.mean()
        })
    }

    /// What a visit of a pattern is worth by its worst word of which enough is known.
    pub fn estimate(&self, host: u64, pattern: &str, settings: &EvidenceSettings) -> f32 {
        let known = words(pattern).filter_map(|word| self.stats.get(&key(host, &word)));
        known
            .filter(|stat| stat.visits >= settings.visits_hinted)
            .map(Stat::mean)
            .fold(1.0, f32::min)
    }

    fn stat(&mut self, host: u64, word: &str) -> Option<&mut Stat> {
        let key = key(host, word);
        if self.stats.len() >= WORDS && !self.stats.contains_key(&key) {
            return None;
        }
        Some(self.stats.entry(key).or_default())
    }
}

fn key(host: u64, word: &str) -> u64 {
    host ^ xxh3_64(word.as_bytes())
}

/// The words of a pattern as patterns themselves: each word of the path at its place with the names of the parameters,
/// `/*/commit/*?id`, and each parameter wherever it stands, `**?id`, `**?do=edit`.
pub(super) fn words(pattern: &str) -> impl Iterator<Item = String> {
    let (pattern, view) = match pattern.strip_suffix(VIEW) {
        Some(pattern) => (pattern, VIEW),
        None => (pattern, ""),
    };
    let (path, query) = pattern.split_once('?').unwrap_or((pattern, ""));
    let is_word = |word: &str| !word.is_empty() && !word.contains(['*', '{', '…']);
    let pairs: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty()).collect();
    let mut names = String::new();
    for pair in &pairs {
        names.push(if names.is_empty() { '?' } else { '&' });
        names.push_str(pair.split('=').next().unwrap_or_default());
    }
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    let mut found = Vec::with_capacity(segments.len() + pairs.len());
    for (at, _) in segments
        .iter()
        .enumerate()
        .filter(|(_, word)| is_word(word))
    {
        let mut word = String::with_capacity(path.len() + names.len());
        for (place, segment) in segments.iter().enumerate() {
            word.push('/');
            word.push_str(match *segment {
                segment if place == at => segment,
                "" => "",
                "**" => "**",
                _ => "*",
            });
        }
        word.push_str(&names);
        // A pattern that is nothing else is judged by itself.
        if word != pattern {
            found.push(word);
        }
    }
    for pair in pairs.iter().filter(|pair| !pair.contains('{')) {
        found.push(match pair.split_once('=') {
            // `id=wiki:*` is the parameter `id`, `do=edit` is itself.
            Some((name, value)) if value.contains('*') => format!("**?{name}"),
            _ => format!("**?{pair}"),
        });
    }
    found.into_iter().map(move |word| word + view)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pattern: &str) -> Vec<String> {
        words(pattern).collect()
    }

    #[test]
    fn a_word_stands_at_its_place() {
        assert_eq!(
            of("/library/commit/wsgiref?id"),
            [
                "/library/*/*?id",
                "/*/commit/*?id",
                "/*/*/wsgiref?id",
                "**?id"
            ]
        );
        assert_eq!(
            of("/library/commit/?id"),
            ["/library/*/?id", "/*/commit/?id", "**?id"]
        );
        assert_eq!(of("/{n}/boost/*/**"), ["/*/boost/*/**"]);
        assert_eq!(
            of("/doku.php?do=edit&id=wiki:*"),
            ["/doku.php?do&id", "**?do=edit", "**?id"]
        );
        assert_eq!(
            of("/*/raw?id (view)"),
            ["/*/raw?id (view)", "**?id (view)"][1..]
        );
        assert!(of("/").is_empty() && of("").is_empty() && of("/wiki/**").is_empty());
    }
}
