//! A filter at the door to a visit: what was queued before a rule changed is judged by the new one.

use std::fmt;

use super::Frontier;
use crate::links::patterns::Placing;
use crate::links::{Link, Score};
use crate::outcome::Outcome;
use crate::parse::LinkKind;
use crate::store::state::StateError;

/// Judges what is queued, by rules that may change while it is. `kind` is `None` where the queue
/// does not know it.
pub trait Judge: Send + Sync {
    /// The outcome with which it leaves the queue; `None`: it stays.
    fn refuses(&self, link: &Link, kind: Option<LinkKind>) -> Option<Outcome>;

    /// Where it belongs in the queue of its host.
    fn placing(&self, link: &Link) -> Result<Placing, StateError>;

    /// The score that it is queued with, where the order gives it `score`.
    fn score(&self, link: &Link, kind: Option<LinkKind>, score: Score) -> Score;
}

/// Asked with what is queued.
#[derive(Default)]
pub struct Filter(Option<Box<dyn Judge>>);

impl Filter {
    /// A filter that asks `judge`.
    #[must_use]
    pub fn new(judge: Box<dyn Judge>) -> Filter {
        Filter(Some(judge))
    }

    /// Whether there is a judge.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.is_some()
    }

    pub(super) fn refuses(&self, link: &Link, kind: Option<LinkKind>) -> Option<Outcome> {
        self.0.as_ref()?.refuses(link, kind)
    }

    pub(super) fn placing(&self, link: &Link) -> Result<Placing, StateError> {
        match &self.0 {
            Some(judge) => judge.placing(link),
            None => Ok(Placing::Usual),
        }
    }

    pub(super) fn score(&self, link: &Link, kind: Option<LinkKind>, score: Score) -> Score {
        match &self.0 {
            Some(judge) => judge.score(link, kind, score),
            None => score,
        }
    }
}

impl fmt::Debug for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Filter").field(&self.0.is_some()).finish()
    }
}

impl Frontier {
    #[must_use]
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// Judges queued URLs from now on; one without a judge lets all pass.
    pub fn set_filter(&mut self, filter: Filter) {
        self.filter = filter;
    }
}
