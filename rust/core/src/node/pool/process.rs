//! From a response to what the batch needs: digest, parse, links.

use std::sync::Arc;

use super::{Facts, Noarchive, Policies, Purpose, Task, Visited, records};
use crate::canonical::{Base, Rules, Url, canonical};
use crate::fetch::{Response, Truncated, declared_type, is_named};
use crate::links::patterns::Print;
use crate::links::rules::{self, PageTerms};
use crate::links::scope::OutOfScope;
use crate::links::{Link, Outlinks, Reason, canonical_of, none_followed, outlinks};
use crate::outcome::Outcome;
use crate::parse::{DocumentKind, Input, LinkKind, Page, parse};
use crate::store::warc;

impl Visited {
    /// A visit of which there is nothing to tell but its outcome.
    #[must_use]
    pub fn without_answer(task: Task, outcome: Outcome, now: u64) -> Visited {
        Visited {
            task,
            outcome,
            sent: outcome != Outcome::Deferred,
            died_unseen: false,
            started: now,
            ended: now,
            status: 0,
            ip: None,
            bytes: 0,
            response_us: 0,
            retry_after_us: None,
            not_before: None,
            etag: None,
            last_modified: None,
            content_type: None,
            content: None,
            payload: None,
            received: None,
            original: None,
            facts: None,
            only_read: false,
            links: Outlinks::default(),
            cookie: None,
            next_cookie: None,
            terms: PageTerms::default(),
            request_head: Vec::new(),
            response_head: Vec::new(),
            members: Vec::new(),
            body: None,
            detail: String::new(),
        }
    }
}

/// Everything that follows the fetch and needs no lock.
pub(super) fn process(
    task: &Task,
    response: Response,
    (started, ended): (u64, u64),
    rules: &Rules,
    policies: &Policies,
    make_records: bool,
) -> Visited {
    if response.reused && response.status == 0 && response.outcome == Outcome::Disconnected {
        let mut visited = Visited::without_answer(task.clone(), response.outcome, ended);
        visited.died_unseen = true;
        visited.started = started;
        visited.ip = response.ip;
        visited.detail = response.detail;
        return visited;
    }
    let broken = (!task.last_try).then(|| broken_off(&response)).flatten();
    if let Some(outcome) = broken {
        let mut visited = Visited::without_answer(task.clone(), outcome, ended);
        visited.started = started;
        visited.ip = response.ip;
        visited.detail = response.detail;
        return visited;
    }
    let mut visited = Visited::without_answer(task.clone(), response.outcome, ended);
    visited.started = started;
    visited.status = response.status;
    visited.ip = response.ip;
    visited.bytes = response.wire_body.len() as u64;
    visited.response_us = response.timings.first_byte;
    visited.retry_after_us = response
        .retry_after
        .map(|wait| u64::try_from(wait.as_micros()).unwrap_or(u64::MAX));
    visited.not_before = response.not_before;
    visited.content_type = response.content_type();
    visited.detail.clone_from(&response.detail);
    visited.cookie.clone_from(&response.cookie);

    if let Some(rules) = &policies.rules
        && task.purpose != Purpose::Robots
    {
        let facts = rules::Facts::of(&task.url).at_depth(task.depth);
        let mime = visited.content_type.as_deref();
        visited.terms = rules.page(&facts.answered(mime, visited.status));
    }

    let has_content = matches!(response.outcome, Outcome::Fetched | Outcome::Truncated)
        && !response.body.is_empty();
    if response.outcome == Outcome::Redirected && visited.terms.follow {
        take_redirect(&mut visited, &response, rules, policies);
    } else if task.purpose == Purpose::Page && has_content {
        let content = warc::sha1(&response.body);
        visited.content = Some(content);
        visited.etag = response.etag();
        visited.last_modified = response.last_modified();
        take_page(&mut visited, &response, rules, policies);
    } else if task.purpose == Purpose::Probe && has_content {
        take_page(&mut visited, &response, rules, policies);
        // Where it leads is where every page leads.
        (visited.links, visited.only_read) = (Outlinks::default(), false);
    }
    if task.purpose == Purpose::Probe {
        visited.terms.store = false;
    } else if make_records && response.status != 0 && !visited.only_read {
        records::take_records(&mut visited, &response, policies);
    }
    if task.keep_body || policies.page.body || task.purpose != Purpose::Page {
        visited.body = Some(response.body);
    }
    visited.request_head = response.request_head;
    visited.response_head = response.response_head.as_bytes().to_vec();
    visited
}

/// The outcome of a page whose transfer broke off, which another try may bring whole. A server that
/// closes in good order had no more to send, whatever length it declared.
fn broken_off(response: &Response) -> Option<Outcome> {
    match response.truncated {
        Some(Truncated::Disconnect) => Some(Outcome::Disconnected),
        Some(Truncated::Time) => Some(Outcome::TimedOut),
        _ => None,
    }
}

fn take_page(visited: &mut Visited, response: &Response, rules: &Rules, policies: &Policies) {
    let values = |name| -> Vec<&str> {
        response
            .response_head
            .all(name)
            .filter_map(|value| std::str::from_utf8(value).ok())
            .collect()
    };
    let page = parse(
        &Input {
            url: visited.task.url.as_str(),
            content_type: visited.content_type.as_deref(),
            link: &values("link"),
            robots: &values("x-robots-tag"),
            now: visited.started,
            body: &response.body,
        },
        &policies.parse,
    );
    let types = MediaTypes::of(visited.content_type.as_deref(), page.kind);
    let follow = &policies.follow;
    // Also of content that is stored already: where relative links lead depends on the page's URL.
    visited.links = if !visited.terms.follow {
        none_followed(&page, Reason::Rule, follow)
    } else if !types.named(&policies.follow_types) {
        none_followed(&page, Reason::PageType, follow)
    } else {
        outlinks(&page, &visited.task.url, rules, &policies.scope, follow)
    };
    let keep = &policies.keep_types;
    visited.only_read = !(keep.is_empty() || types.unknown() || types.named(keep));
    if page.noarchive {
        match policies.noarchive {
            Noarchive::Page => {}
            Noarchive::Head => visited.terms.keep_body = false,
            Noarchive::Nothing => visited.terms.store = false,
        }
    }
    let print = Print::of(&page, visited.content.as_ref());
    let canonical = canonical_of(&page, &visited.task.url, rules);
    // A page that the crawl may not visit is none that this one could be had by.
    let elsewhere = canonical
        .as_ref()
        .is_some_and(|url| *url != visited.task.url && policies.scope.check(url).is_ok());
    visited.facts = Some(Facts {
        elsewhere,
        print,
        ..facts(page, canonical)
    });
}

/// The media type that a page declares, and that of what was found in it.
struct MediaTypes<'a> {
    declared: Option<&'a str>,
    found: Option<&'static str>,
}

impl<'a> MediaTypes<'a> {
    fn of(declared: Option<&'a str>, found: DocumentKind) -> MediaTypes<'a> {
        MediaTypes {
            declared: declared.and_then(declared_type),
            found: match found {
                DocumentKind::Html => Some("text/html"),
                DocumentKind::Text => Some("text/plain"),
                DocumentKind::Xml => Some("application/xml"),
                DocumentKind::Other => None,
            },
        }
    }

    fn unknown(&self) -> bool {
        self.declared.is_none() && self.found.is_none()
    }

    fn named(&self, patterns: &[String]) -> bool {
        let types = [self.declared, self.found];
        types
            .into_iter()
            .flatten()
            .any(|one| is_named(one, patterns))
    }
}

fn facts(page: Page, canonical: Option<Url>) -> Facts {
    Facts {
        canonical,
        text: page.text,
        kind: page.kind.as_str(),
        charset: page.charset,
        title: page.title,
        lang: page.lang,
        text_bytes: page.text_bytes,
        simhash: page.simhash,
        samples: page.samples,
        noindex: page.noindex,
        nofollow: page.nofollow,
        noarchive: page.noarchive,
        scripted: page.scripted,
        elsewhere: false,
        print: Print::default(),
    }
}

/// The target of a redirect goes round the ring like any link.
fn take_redirect(visited: &mut Visited, response: &Response, rules: &Rules, policies: &Policies) {
    let Some(location) = &response.location else {
        return;
    };
    let base = Base::from(&visited.task.url);
    let links = &mut visited.links;
    let target = match canonical(location, Some(&base), rules) {
        Ok(target) if target == visited.task.url => {
            links.repeated += 1;
            visited.next_cookie.clone_from(&response.next_cookie);
            return;
        }
        Ok(target) => target,
        Err(refusal) => {
            links.left_out.add(refusal, 1);
            return;
        }
    };
    // The target of a seed's redirect is a seed: it need not share anything with other seeds.
    let hops = visited.task.seed_hops.map(|hops| hops.saturating_add(1));
    let seed = hops.filter(|hops| *hops <= policies.seed_redirects);
    // A robots file may stand anywhere (RFC 9309, 2.3.1.2).
    if visited.task.purpose == Purpose::Page {
        let verdict = match seed {
            Some(_) => policies.scope.check_seed(&target),
            None => policies.scope.check(&target),
        };
        if let Err(rule) = verdict {
            let reason = match (rule, hops) {
                (OutOfScope::Seeds, Some(_)) => Reason::Redirects,
                (rule, _) => rule.into(),
            };
            links.left_out.add(reason, 1);
            return;
        }
    }
    let from = Arc::from(visited.task.url.as_str());
    links.followed.push(Link {
        seed: seed.is_some(),
        hops: seed.unwrap_or(0),
        ..Link::new(target, from, LinkKind::Redirect)
    });
}
