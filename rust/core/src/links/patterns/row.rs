//! The row of a host or of a URL pattern: its counters, and what was decided about it.

use std::collections::VecDeque;

use xxhash_rust::xxh3::xxh3_64;

use super::evidence::Evidence;
use super::hint::Hint;
use crate::codec::{Reader, put_bytes, put_number};
use crate::links::cut;
use crate::outcome::Outcome;

const VERSION: u8 = 4;

/// Words of the sketch of in-linking domains: 256 bits tell some hundreds apart.
const SKETCH: usize = 4;

/// Bytes kept of a reason.
const REASON: usize = 300;

/// Pages of a pattern that are remembered for what they led to.
const LEADING: usize = 64;

/// The counters of a host or of a pattern.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Empty for the host itself.
    pub pattern: Box<str>,
    pub fetched: u64,
    /// Pages with content that was new, and with content that was known.
    pub new: u64,
    pub duplicate: u64,
    pub errors: u64,
    pub bytes: u64,
    /// When the first was counted.
    pub since: u64,
    /// Of a pattern: it is one of those that are told apart.
    pub(super) is_counted: bool,
    /// Of a host: its patterns.
    pub(super) patterns: u32,
    pub(super) domains: [u64; SKETCH],
    /// What its visits brought; of a host: of all its patterns.
    pub evidence: Evidence,
    /// Of a pattern: the hint that its URLs have.
    pub hint: Option<Hint>,
    /// It is a family of URLs with a hint, whatever their patterns: only whether it ends is judged.
    pub is_family: bool,
    /// Of a pattern: why it is doubted.
    pub doubt: Option<Box<str>>,
    /// Of a pattern: somebody said that it is not to be doubted.
    pub is_trusted: bool,
    /// Of a family: URLs that were placed before it was judged, and the greatest depth of one; only in memory.
    pub(super) tried: u32,
    pub(super) tried_depth: u16,
    /// Of a family: that it is judged, and not doubted, was told; only in memory.
    pub(super) is_cleared: bool,
    /// Of a pattern: others are made of it by one more folder or a query (`/ID/` of `/ID/raw`): they are views of it, and it is none.
    pub(super) is_base: bool,
    /// URLs that are set aside now.
    pub set_aside: u64,
    /// Of a pattern: the last pages that were worth something and led to more of it, by the hash of their URL. What they led to is
    /// not set aside, so that a list is followed from page to page whatever the rest of its pattern brings.
    pub(super) leading: VecDeque<u64>,
    /// Of a pattern: what a policy decided.
    pub change: Option<Change>,
    pub(super) is_dirty: bool,
    /// The batch that wrote it last; not to be forgotten before that is applied.
    pub(super) batch: u64,
}

/// What a policy says about a pattern; `None` changes nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    pub budget: Option<u64>,
    pub weight: Option<f32>,
    pub give_up: Option<bool>,
    pub reason: Option<Box<str>>,
}

/// What holds for a pattern, of all decisions so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Pages after which its URLs have the least weight.
    pub budget: Option<u64>,
    /// The scores of its URLs are multiplied by this.
    pub weight: f32,
    /// Its URLs are refused.
    pub given_up: bool,
    pub reason: Box<str>,
}

/// A decision about a pattern that changed something.
#[derive(Clone, Debug)]
pub struct Decided {
    pub pattern: Box<str>,
    pub before: Change,
    pub after: Change,
}

impl Decided {
    /// What it changed, in words.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let (before, after) = (&self.before, &self.after);
        let mut what = Vec::new();
        if before.budget != after.budget {
            let pages = after.budget.map_or("none".to_owned(), |n| n.to_string());
            what.push(format!("budget {pages}"));
        }
        if before.weight.total_cmp(&after.weight).is_ne() {
            what.push(format!("weight {}", after.weight));
        }
        match (before.given_up, after.given_up) {
            (false, true) => what.push("given up".to_owned()),
            (true, false) => what.push("taken up again".to_owned()),
            _ => {}
        }
        what
    }
}

impl Default for Change {
    fn default() -> Change {
        Change {
            budget: None,
            weight: 1.0,
            given_up: false,
            reason: Box::default(),
        }
    }
}

impl Change {
    /// This, and what is decided now.
    pub(super) fn with(mut self, decision: Decision) -> Change {
        self.budget = decision.budget.or(self.budget);
        self.weight = decision.weight.unwrap_or(self.weight);
        self.given_up = decision.give_up.unwrap_or(self.given_up);
        self.reason = decision.reason.unwrap_or(self.reason);
        self
    }
}

impl Counts {
    /// About how many registered domains link here, the host's own left out.
    #[must_use]
    pub fn in_domains(&self) -> u64 {
        let bits = (SKETCH * 64) as f64;
        let zeros: u32 = self.domains.iter().map(|word| word.count_zeros()).sum();
        // Linear counting; a full sketch says only "many".
        (bits * (bits / f64::from(zeros.max(1))).ln()).round() as u64
    }

    /// Why it is doubted, by what is known now.
    #[must_use]
    pub fn why(&self) -> Option<String> {
        let doubt = self.doubt.as_deref()?;
        Some(if self.is_family {
            doubt.to_owned()
        } else {
            self.evidence.words()
        })
    }

    /// By what the score of a URL of this pattern is multiplied.
    #[must_use]
    pub fn weight(&self) -> f32 {
        let Some(change) = &self.change else {
            return 1.0;
        };
        if change.budget.is_some_and(|budget| self.fetched >= budget) {
            return 0.0;
        }
        change.weight.max(0.0)
    }

    /// A page was worth something, and led to more of its pattern.
    pub(super) fn leads(&mut self, page: u64) {
        if self.leading.len() >= LEADING {
            self.leading.pop_front();
        }
        self.leading.push_back(page);
    }

    /// Notes that a page of another registered domain links here; false: that was known.
    pub(super) fn linked(&mut self, domain: &str) -> bool {
        let bit = xxh3_64(domain.as_bytes()) as usize % (SKETCH * 64);
        let word = 1 << (bit % 64);
        let is_new = self.domains[bit / 64] & word == 0;
        self.domains[bit / 64] |= word;
        is_new
    }

    pub(super) fn count(&mut self, outcome: Outcome, bytes: u64, now: u64) {
        if self.since == 0 {
            self.since = now.max(1);
        }
        self.bytes = self.bytes.saturating_add(bytes);
        match outcome {
            Outcome::Fetched | Outcome::Truncated | Outcome::Dropped => {
                self.fetched += 1;
                self.new += 1;
            }
            Outcome::Duplicate | Outcome::NotModified => {
                self.fetched += 1;
                self.duplicate += 1;
            }
            Outcome::Redirected | Outcome::Deferred => {}
            _ => self.errors += 1,
        }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        put_bytes(&mut out, self.pattern.as_bytes());
        for number in [
            self.fetched,
            self.new,
            self.duplicate,
            self.errors,
            self.bytes,
            self.since,
            u64::from(self.patterns),
            self.set_aside,
        ] {
            put_number(&mut out, number);
        }
        self.evidence.write(&mut out);
        out.push(self.hint.map_or(0, |hint| hint as u8 + 1));
        let flags = [
            self.is_trusted,
            self.is_counted,
            self.is_family,
            self.is_base,
        ];
        out.push((0..4).fold(0, |bits, at| bits | u8::from(flags[at]) << at));
        let doubt = self.doubt.as_deref().unwrap_or_default();
        put_bytes(&mut out, cut(doubt, REASON).as_bytes());
        for word in self.domains {
            out.extend_from_slice(&word.to_be_bytes());
        }
        out.push(self.leading.len() as u8);
        for page in &self.leading {
            out.extend_from_slice(&page.to_be_bytes());
        }
        if let Some(change) = &self.change {
            out.push(1 | u8::from(change.given_up) << 1 | u8::from(change.budget.is_some()) << 2);
            put_number(&mut out, change.budget.unwrap_or(0));
            out.extend_from_slice(&change.weight.to_bits().to_be_bytes());
            put_bytes(&mut out, change.reason.as_bytes());
        }
        out
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Counts> {
        let mut reader = Reader::new(bytes);
        if reader.byte()? != VERSION {
            return None;
        }
        let mut counts = Counts {
            pattern: std::str::from_utf8(reader.bytes()?).ok()?.into(),
            fetched: reader.number()?,
            new: reader.number()?,
            duplicate: reader.number()?,
            errors: reader.number()?,
            bytes: reader.number()?,
            since: reader.number()?,
            patterns: reader.small()?,
            set_aside: reader.number()?,
            ..Counts::default()
        };
        counts.evidence = Evidence::read(&mut reader)?;
        let hint = usize::from(reader.byte()?);
        counts.hint = hint
            .checked_sub(1)
            .and_then(|at| Hint::ALL.get(at).copied());
        let flags = reader.byte()?;
        (counts.is_trusted, counts.is_counted) = (flags & 1 != 0, flags & 2 != 0);
        (counts.is_family, counts.is_base) = (flags & 4 != 0, flags & 8 != 0);
        let doubt = std::str::from_utf8(reader.bytes()?).ok()?;
        counts.doubt = (!doubt.is_empty()).then(|| doubt.into());
        for word in &mut counts.domains {
            *word = u64::from_be_bytes(reader.take(8)?.try_into().ok()?);
        }
        for _ in 0..reader.byte()? {
            let page = u64::from_be_bytes(reader.take(8)?.try_into().ok()?);
            counts.leading.push_back(page);
        }
        if let Some(flags) = reader.byte() {
            let budget = reader.number()?;
            let weight = u32::from_be_bytes(reader.take(4)?.try_into().ok()?);
            counts.change = Some(Change {
                budget: (flags & 4 != 0).then_some(budget),
                weight: f32::from_bits(weight),
                given_up: flags & 2 != 0,
                reason: std::str::from_utf8(reader.bytes()?).ok()?.into(),
            });
        }
        Some(counts)
    }
}
