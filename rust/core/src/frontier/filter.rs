//! A filter at the door to a visit: what was queued before a rule changed is judged by the new one.

use std::fmt;

use super::Frontier;
use super::queued::Queued;

type Judge = Box<dyn Fn(&str, bool) -> bool + Send + Sync>;

/// Asked with a URL and whether it is a sitemap; false: it leaves the queue as out of scope.
#[derive(Default)]
pub struct Filter(Option<Judge>);

impl Filter {
    /// A filter that asks `judge`.
    #[must_use]
    pub fn new(judge: Judge) -> Filter {
        Filter(Some(judge))
    }

    /// Whether there is a judge.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.is_some()
    }

    pub(super) fn refuses(&self, queued: &Queued<'_>, host: &str) -> bool {
        use super::Purpose;
        let judge = self.0.as_ref();
        judge.is_some_and(|judge| !judge(&queued.url(host), queued.purpose() == Purpose::Sitemap))
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
