//! From a response to what the batch needs: digest, parse, links.

use std::sync::Arc;

use super::{Facts, Policies, Purpose, Task, Visited, records};
use crate::canonical::{Base, Rules, canonical};
use crate::fetch::{Response, Truncated};
use crate::links::rules::{self, PageTerms};
use crate::links::{Link, Outlinks, outlinks};
use crate::outcome::Outcome;
use crate::parse::{Input, LinkKind, Page, parse};
use crate::store::warc;

impl Visited {
    /// A visit of which there is nothing to tell but its outcome.
    #[must_use]
    pub fn without_answer(task: Task, outcome: Outcome, now: u64) -> Visited {
        Visited {
            task,
            outcome,
            sent: outcome != Outcome::Deferred,
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
            links: Outlinks::default(),
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
    }
    if make_records && response.status != 0 {
        records::take_records(&mut visited, &response, policies);
    }
    if task.keep_body || policies.page.body || task.purpose != Purpose::Page {
        visited.body = Some(response.body);
    }
    visited.request_head = response.request_head;
    visited.response_head = response.response_head.as_bytes().to_vec();
    visited
}

/// The outcome of a page whose transfer broke off, which another try may bring whole.
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
            body: &response.body,
        },
        &policies.parse,
    );
    // Also of content that is stored already: where relative links lead depends on the page's URL.
    if visited.terms.follow {
        visited.links = outlinks(
            &page,
            &visited.task.url,
            rules,
            &policies.scope,
            &policies.follow,
        );
    }
    let canonical = policies.page.canonical.then(|| page.canonical());
    let canonical = canonical.flatten().map(str::to_owned);
    visited.facts = Some(facts(page, canonical));
}

fn facts(page: Page, canonical: Option<String>) -> Facts {
    Facts {
        canonical,
        text: page.text,
        kind: page.kind.as_str(),
        charset: page.charset,
        title: page.title,
        lang: page.lang,
        text_bytes: page.text_bytes,
        simhash: page.simhash,
        noindex: page.noindex,
        nofollow: page.nofollow,
    }
}

/// The target of a redirect goes round the ring like any link.
fn take_redirect(visited: &mut Visited, response: &Response, rules: &Rules, policies: &Policies) {
    let Some(location) = &response.location else {
        return;
    };
    let base = Base::from(&visited.task.url);
    let target = canonical(location, Some(&base), rules).ok();
    match target {
        None => visited.links.refused += 1,
        // A robots file may stand anywhere (RFC 9309, 2.3.1.2).
        Some(target)
            if visited.task.purpose == Purpose::Page && policies.scope.check(&target).is_err() =>
        {
            visited.links.out_of_scope += 1;
        }
        Some(target) if target == visited.task.url => visited.links.repeated += 1,
        Some(target) => {
            let from = Arc::from(visited.task.url.as_str());
            let link = Link::new(target, from, LinkKind::Redirect);
            visited.links.followed.push(link);
        }
    }
}
