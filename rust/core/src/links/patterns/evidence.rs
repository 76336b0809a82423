//! Evidence: what the visits of a pattern brought, and what is made of that.
//!
//! Takes what is known of each visit ([`Visit`]) and of what it led to; gives a verdict. What is evidence for
//! what is said by `policy/hosts/patterns.py`, whose numbers are [`EvidenceSettings`].

use std::fmt::Write as _;

use serde::Deserialize;

use super::finding::ParameterSettings;
use super::hint::{Hint, HintSettings};
use crate::codec::{Reader, put_number};

/// The numbers of `policy/hosts/patterns.py`, explained there.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvidenceSettings {
    pub hints: HintSettings,
    pub parameters: ParameterSettings,
    pub visits: u32,
    pub visits_hinted: u32,
    pub visits_known: u32,
    pub known_hosts: u32,
    pub memory: f32,
    pub novel: f32,
    pub novel_file: f32,
    pub view_value: f32,
    pub list_links: u32,
    pub label_share: f32,
    pub side_visits: u32,
    pub side_share: f32,
    pub hub_value: f32,
    pub part_value: f32,
    pub marked_value: f32,
    pub hopeless_visits: u32,
    pub hopeless: f32,
    pub plain_weight: f32,
    pub pattern_share: f32,
    pub contrast: f32,
    pub overwhelming: u32,
    pub worthless_visits: u32,
    pub worthless_share: f32,
    pub word_visits: u32,
    pub word_good: f32,
    pub low: f32,
    pub high: f32,
    pub behind: f32,
    pub base: u32,
    pub share: f32,
    pub self_fed: f32,
    pub ends: f32,
    pub span: u32,
    pub known_links: f32,
}

/// Visited URLs that a pattern led to before they count.
const LED: u32 = 4;

/// What a visit brought.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Visit {
    pub kind: Brought,
    /// How much of its text is new, from 0 to 1; enough of it is 1.
    pub novelty: f32,
    /// The share of its text that is new.
    pub fresh_text: f32,
    /// What is not new is part of one larger page.
    pub is_part: bool,
    /// Fresh links of the page to its own pattern, and to others that are not doubted.
    pub fresh_own: u32,
    pub fresh_other: u32,
    /// What the URLs that pages of its pattern led to were worth: 0 to 1.
    pub hub: f32,
    /// Links of the page to its host, and how many of them were known.
    pub links: u32,
    pub known: u32,
}

/// What a visit brought, by the first of these that holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Brought {
    #[default]
    New,
    /// A page with hardly any text that is new on its host.
    Near,
    /// The content of another URL.
    Copy,
    /// The site says that it is not for an index, or names another URL as the page's own.
    Noindex,
    Canonical,
    Redirect,
    /// Not there, not allowed, of a type that is not wanted, or the page of a name that does not exist.
    Error,
    Soft404,
}

/// Kinds of [`Brought`].
pub(super) const KINDS: usize = 8;

impl Brought {
    pub const ALL: [(Brought, &'static str); KINDS] = [
        (Brought::New, "new"),
        (Brought::Near, "with hardly any new text"),
        (Brought::Copy, "copies"),
        (Brought::Noindex, "noindex"),
        (Brought::Canonical, "with another canonical URL"),
        (Brought::Redirect, "redirects"),
        (Brought::Error, "errors"),
        (Brought::Soft404, "soft 404s"),
    ];
}

/// What is known of a pattern, of all visits so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    pub visits: u32,
    /// By what they brought, in the order of [`Brought::ALL`].
    pub brought: [u32; KINDS],
    pub fresh_own: u32,
    pub fresh_other: u32,
    /// Of a family: other pages that led to some of it.
    pub fed: u32,
    /// Visited URLs that pages of the pattern led to.
    led: u32,
    /// Visits that led to no further URL of the pattern.
    pub ends: u32,
    pub links: u32,
    pub known: u32,
    /// The latest year in its URLs.
    pub year: u32,
    /// Of a family: the least and the greatest depth of its visits, and one more.
    nearest: u32,
    farthest: u32,
    /// Sums of the values of visits and of their weights; older ones weigh less.
    useful: f32,
    weight: f32,
    /// The sum of the values of the URLs that it led to.
    led_value: f32,
    /// Visits that were worth something.
    pub good: u32,
    /// Visits since nothing is hoped of it.
    pub doubted_visits: u32,
    /// Of a host: visits to URLs that were doubted, and were worth nothing.
    pub worthless: u32,
    /// The same of those that look like views of something else.
    pub side_worthless: u32,
}

impl Evidence {
    pub fn add(&mut self, visit: &Visit, settings: &EvidenceSettings) {
        self.visits = self.visits.saturating_add(1);
        let place = visit.kind as usize;
        self.brought[place] = self.brought[place].saturating_add(1);
        self.fresh_own = self.fresh_own.saturating_add(visit.fresh_own);
        self.fresh_other = self.fresh_other.saturating_add(visit.fresh_other);
        self.ends += u32::from(visit.fresh_own == 0);
        self.links = self.links.saturating_add(visit.links);
        self.known = self.known.saturating_add(visit.known);
        let keep = 1.0 - 1.0 / settings.memory.max(1.0);
        let value = value(visit, settings);
        // Before something is known of what it leads to, only the page itself counts.
        let alone = Visit {
            fresh_other: 0,
            ..*visit
        };
        let sure = if self.led < LED {
            self::value(&alone, settings)
        } else {
            value
        };
        self.good += u32::from(sure >= settings.low);
        self.useful = self.useful * keep + value;
        self.weight = self.weight * keep + 1.0;
    }

    /// A page that one of the pattern led to was visited, and was worth so much.
    pub(super) fn led(&mut self, value: f32) {
        // The last ones count most.
        if self.led >= 64 {
            (self.led, self.led_value) = (32, self.led_value / 2.0);
        }
        self.led += 1;
        self.led_value += value;
    }

    /// What those were worth. `prior`: what is thought of it as long as little is known.
    pub(super) fn hub(&self, prior: f32) -> f32 {
        (self.led_value + 2.0 * prior) / (self.led + 2) as f32
    }

    /// A visit at this depth.
    pub(super) fn reach(&mut self, depth: u16) {
        let depth = u32::from(depth) + 1;
        self.farthest = self.farthest.max(depth);
        if self.nearest == 0 || depth < self.nearest {
            self.nearest = depth;
        }
    }

    /// The mean value of a visit, the last ones above all.
    #[must_use]
    pub fn value(&self) -> f32 {
        if self.weight > 0.0 {
            self.useful / self.weight
        } else if self.visits > 0 {
            // Of a word only the visits that were worth something are counted.
            part(self.good, self.visits)
        } else {
            1.0
        }
    }

    /// Why a pattern is doubted, by what its visits were worth; `None`: it is not. `doubted`: it is so far.
    #[must_use]
    pub fn doubt(
        &self,
        is_hinted: bool,
        is_known: bool,
        doubted: bool,
        settings: &EvidenceSettings,
    ) -> Option<String> {
        if self.visits < enough(is_hinted, is_known, settings) {
            return None;
        }
        let bar = if doubted { settings.high } else { settings.low };
        (self.value() < bar).then(|| self.words())
    }

    /// What its visits are worth, where little is known by what `prior` says.
    pub(super) fn estimate(&self, prior: f32) -> f32 {
        (self.useful + 4.0 * prior) / (self.weight + 4.0)
    }

    /// Whether hardly any of all its visits was worth something: what is left of it can be set aside.
    #[must_use]
    pub fn is_hopeless(&self, is_known: bool, settings: &EvidenceSettings) -> bool {
        let enough = if is_known {
            settings.word_visits
        } else {
            settings.hopeless_visits
        };
        let plain = self.count(&[
            Brought::Copy,
            Brought::Noindex,
            Brought::Canonical,
            Brought::Redirect,
            Brought::Soft404,
        ]);
        let more = (settings.plain_weight - 1.0).max(0.0) * plain as f32;
        self.visits as f32 + more >= enough as f32
            && self.good as f32 <= settings.hopeless * self.visits as f32
    }

    /// Whether a host that brought so many new pages shows what these visits lack. Where most of a host is like them it is
    /// the measure that does not fit; only copies are nothing new for certain.
    pub(super) fn stands_out(&self, useful: u32, settings: &EvidenceSettings) -> bool {
        let certain = self.count(&[Brought::Copy, Brought::Soft404]);
        let visits = self.visits.saturating_sub(certain);
        let wanted = visits.min(settings.hopeless_visits) as f32 * settings.contrast;
        useful as f32 >= wanted || visits >= settings.overwhelming
    }

    /// Of a host: whether all that is doubted on it together has had its visits. `is_side`: as far as it looks like a
    /// view of something else.
    pub(super) fn is_exhausted(&self, is_side: bool, settings: &EvidenceSettings) -> bool {
        let useful = self.brought[Brought::New as usize] as f32;
        let (worthless, visits, share) = if is_side {
            let side = self.side_worthless;
            (side, settings.side_visits, settings.side_share)
        } else {
            let visits = settings.worthless_visits;
            (self.worthless, visits, settings.worthless_share)
        };
        worthless as f32 >= f32::max(visits as f32, share * useful)
    }

    /// Of a host: whether it has become so much larger that what had its visits may have some more.
    pub(super) fn has_room(&self, settings: &EvidenceSettings) -> bool {
        let more = Evidence {
            worthless: self.worthless.saturating_mul(5) / 4,
            side_worthless: self.side_worthless.saturating_mul(5) / 4,
            ..self.clone()
        };
        !more.is_exhausted(false, settings) && !more.is_exhausted(true, settings)
    }

    fn count(&self, kinds: &[Brought]) -> u32 {
        kinds.iter().map(|kind| self.brought[*kind as usize]).sum()
    }

    /// Whether clearly more of its visits were worth something than of a hopeless pattern.
    pub(super) fn has_hope(&self, settings: &EvidenceSettings) -> bool {
        self.good as f32 > 2.0 * settings.hopeless * self.visits as f32
    }

    /// Why a family of URLs is doubted: it goes on for ever. The rest as above.
    #[must_use]
    pub fn endless(
        &self,
        hint: Hint,
        year: u32,
        is_known: bool,
        settings: &EvidenceSettings,
    ) -> Option<String> {
        if self.visits < enough(true, is_known, settings) {
            return None;
        }
        if !self.is_endless(hint, year, is_known, settings) {
            return None;
        }
        let mut words = format!("{} visits led only to more of the same", self.visits);
        let _ = if self.year > year {
            write!(words, ", up to the year {}", self.year)
        } else {
            write!(words, ": {} URLs, {} ends", self.fresh_own, self.ends)
        };
        Some(words)
    }

    /// Whether a family of URLs goes on for ever: it feeds itself, leads nowhere else, and grows or brings nothing.
    fn is_endless(
        &self,
        hint: Hint,
        year: u32,
        is_known: bool,
        settings: &EvidenceSettings,
    ) -> bool {
        if !self.is_closed(settings) {
            return false;
        }
        // Folders that only lead to others have hardly any text, and an end.
        let certain = self.count(&[Brought::Copy, Brought::Soft404]);
        let is_followed = certain * 2 >= self.visits || self.span() >= settings.span;
        if is_followed && self.value() < settings.low && self.is_hopeless(is_known, settings) {
            return true;
        }
        match hint {
            // A site that gives every visitor a token gives one to every page: it is learnt as a parameter that changes nothing.
            Hint::Token => false,
            // Nobody writes pages for the far future: they are made as they are asked for.
            Hint::Date => self.year > year + settings.hints.years_ahead,
            _ => (is_known || self.span() >= settings.span) && self.only_grows(settings),
        }
    }

    /// Whether a family is not judged yet: it had too few visits, or it may be endless and was not followed far enough.
    pub(super) fn is_open(&self, settings: &EvidenceSettings) -> bool {
        self.visits < settings.visits_hinted
            || self.span() < settings.span && self.is_closed(settings) && self.only_grows(settings)
    }

    /// Whether a family feeds itself and leads nowhere else.
    fn is_closed(&self, settings: &EvidenceSettings) -> bool {
        let found = self.fresh_own.saturating_add(self.fed);
        found >= self.visits.saturating_mul(2)
            && part(self.fresh_own, found) >= settings.self_fed
            && part(self.fresh_other, self.visits) <= settings.ends
    }

    /// Whether it has neither ends nor links to what is known.
    fn only_grows(&self, settings: &EvidenceSettings) -> bool {
        part(self.ends, self.visits) <= settings.ends
            && part(self.known, self.links) <= settings.known_links
    }

    fn span(&self) -> u32 {
        self.farthest.saturating_sub(self.nearest)
    }

    /// The evidence in words.
    #[must_use]
    pub fn words(&self) -> String {
        let mut words = format!("of {} visits", self.visits);
        let mut separator = ' ';
        for (count, (_, name)) in self.brought.iter().zip(Brought::ALL) {
            if *count > 0 {
                let _ = write!(words, "{separator} {count} {name}");
                separator = ',';
            }
        }
        words.replace("  ", " ")
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        for number in self.numbers() {
            put_number(out, number.into());
        }
        for number in [self.useful, self.weight, self.led_value] {
            out.extend_from_slice(&number.to_bits().to_be_bytes());
        }
    }

    fn numbers(&self) -> [u32; 23] {
        let mut numbers = [0; 23];
        numbers[..8].copy_from_slice(&self.brought);
        numbers[8..].copy_from_slice(&[
            self.visits,
            self.fresh_own,
            self.fresh_other,
            self.fed,
            self.ends,
            self.links,
            self.known,
            self.year,
            self.doubted_visits,
            self.nearest,
            self.farthest,
            self.led,
            self.good,
            self.worthless,
            self.side_worthless,
        ]);
        numbers
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Option<Evidence> {
        let mut evidence = Evidence::default();
        for count in &mut evidence.brought {
            *count = reader.small()?;
        }
        evidence.visits = reader.small()?;
        evidence.fresh_own = reader.small()?;
        evidence.fresh_other = reader.small()?;
        evidence.fed = reader.small()?;
        evidence.ends = reader.small()?;
        evidence.links = reader.small()?;
        evidence.known = reader.small()?;
        evidence.year = reader.small()?;
        evidence.doubted_visits = reader.small()?;
        evidence.nearest = reader.small()?;
        evidence.farthest = reader.small()?;
        evidence.led = reader.small()?;
        evidence.good = reader.small()?;
        evidence.worthless = reader.small()?;
        evidence.side_worthless = reader.small()?;
        let mut float = || {
            Some(f32::from_bits(u32::from_be_bytes(
                reader.take(4)?.try_into().ok()?,
            )))
        };
        evidence.useful = float()?;
        evidence.weight = float()?;
        evidence.led_value = float()?;
        Some(evidence)
    }
}

fn part(some: u32, of: u32) -> f32 {
    some as f32 / of.max(1) as f32
}

/// Visits that are enough for a verdict. `is_known`: the same is doubted on other hosts.
pub(super) fn enough(is_hinted: bool, is_known: bool, settings: &EvidenceSettings) -> u32 {
    match (is_known, is_hinted) {
        (true, _) => settings.visits_known,
        (false, true) => settings.visits_hinted,
        (false, false) => settings.visits,
    }
}

/// What a visit was worth: 1 where it brought a page that was not known.
pub(super) fn value(visit: &Visit, settings: &EvidenceSettings) -> f32 {
    let own = match visit.kind {
        Brought::New | Brought::Near if visit.is_part => {
            f32::max(visit.novelty, settings.part_value)
        }
        Brought::New | Brought::Near => visit.novelty,
        // What the site says is one sign, and the text is another: a site may say so of all its pages.
        Brought::Noindex | Brought::Canonical => settings.marked_value * visit.fresh_text,
        _ => 0.0,
    };
    // A page that is nothing by itself may be the only way to others.
    if visit.fresh_other > 0 {
        f32::max(own, settings.hub_value * visit.hub)
    } else {
        own
    }
}

#[cfg(test)]
#[path = "evidence_tests.rs"]
pub(crate) mod tests;
