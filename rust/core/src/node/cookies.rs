//! Pages that answer only who brings a cookie: they set it, and redirect to themselves.
//!
//! Such a page is visited once more with the cookie, at its host's next turn. Where cookies are not
//! kept (`fetch.cookies`), the cookie is for that one visit and is forgotten with it. Where they
//! are, a redirect that leads back to a page through others (A → B → A) counts too, if the page would
//! be asked with other cookies than the first time. A page that redirects the second time as well has
//! ended: its link, which says that it was found through itself, is the mark of the one repetition.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Node, NodeError};
use crate::canonical::Url;
use crate::links::Link;
use crate::node::pool::{Purpose, Visited};
use crate::outcome::Outcome;
use crate::parse::LinkKind;

/// URLs of each kind that are remembered. One beyond them redirects as any other page does.
const MOST: usize = 10_000;
/// Bytes of a cookie that is kept for one visit.
const COOKIE_BYTES: usize = 4_096;

type Key = [u8; 16];

/// In memory only: after a restart such a page ends as a redirect.
#[derive(Debug, Default)]
pub(super) struct CookieVisits {
    /// Filled by a page that sets a cookie, emptied by its next visit.
    once: HashMap<Key, String>,
    /// Pages that redirected elsewhere, and what cookies they were asked with; only where cookies are
    /// kept. Emptied when one is led back to, and as a whole when it is full.
    redirected: HashMap<Key, Option<String>>,
}

impl CookieVisits {
    /// The cookie for this visit of a URL.
    pub fn take(&mut self, url: &Url) -> Option<String> {
        if self.once.is_empty() {
            return None;
        }
        self.once.remove(&url.key())
    }

    fn keep(&mut self, url: &Url, cookie: &str) -> bool {
        let room = self.once.len() < MOST && cookie.len() <= COOKIE_BYTES;
        if room {
            self.once.insert(url.key(), cookie.to_owned());
        }
        room
    }

    fn remember(&mut self, url: &Url, cookie: Option<String>) {
        if self.redirected.len() >= MOST {
            self.redirected.clear();
        }
        self.redirected.insert(url.key(), cookie);
    }
}

/// Whether a link is the one repetition. The queue cuts where links come from.
fn is_repetition(link: &Link) -> bool {
    const KEPT: usize = 2_048;
    let (url, from) = (link.url.as_str(), &*link.from);
    from.len() >= url.len().min(KEPT) && url.starts_with(from)
}

impl Node {
    /// Queues what is to be visited once more after this redirect.
    pub(super) fn visit_with_cookie(
        &mut self,
        visited: &Visited,
        link: &Link,
        found: &[Link],
    ) -> Result<(), NodeError> {
        if visited.outcome != Outcome::Redirected || visited.task.purpose == Purpose::Robots {
            return Ok(());
        }
        let kept = self.settings.fetch.cookies;
        let first = !is_repetition(link);
        let mut again = None;
        if let Some(cookie) = visited.next_cookie.as_deref().filter(|_| first) {
            again = (kept || self.cookies.keep(&link.url, cookie)).then(|| link.clone());
        } else if kept {
            if first {
                self.cookies.remember(&link.url, visited.cookie.clone());
            }
            let target = found.iter().find(|link| link.kind == LinkKind::Redirect);
            again = target.and_then(|target| self.led_back_to(target));
        }
        let Some(again) = again else {
            return Ok(());
        };
        let from = Arc::from(again.url.as_str());
        let links = self.split_by_owner(vec![Link { from, ..again }]);
        self.queue(links)
    }

    /// The target of a redirect, if it has redirected before and has other cookies now.
    fn led_back_to(&mut self, target: &Link) -> Option<Link> {
        let key = target.url.key();
        let before = self.cookies.redirected.get(&key)?;
        if *before == self.pool.cookie(&target.url) {
            return None;
        }
        self.cookies.redirected.remove(&key);
        Some(target.clone())
    }
}
