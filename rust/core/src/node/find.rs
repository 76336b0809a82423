//! What a visit leads to: links of a page, sitemaps of a robots file, entries of a sitemap.

use std::sync::Arc;

use super::{Leased, Node};
use crate::canonical::{Base, Url, canonical};
use crate::frontier::robots::Robots;
use crate::links::scope::Scope;
use crate::links::{LeftOut, Link, Reason};
use crate::node::pool::{Purpose, Visited};
use crate::outcome::Outcome;
use crate::parse::LinkKind;
use crate::seed::sitemap;

impl Node {
    /// What a visit leads to: links of a page, sitemaps of a robots file, entries of a sitemap.
    pub(super) fn find(&self, visited: &mut Visited, leased: &Leased) -> Vec<Link> {
        let scope = &self.pool.policies().scope;
        match visited.task.purpose {
            Purpose::Page => self.find_links(visited, &leased.visit.link, scope),
            Purpose::Robots if self.settings.frontier.sitemaps => {
                self.find_sitemaps(visited, scope)
            }
            Purpose::Robots | Purpose::Probe => Vec::new(),
            Purpose::Sitemap => self.find_entries(visited, &leased.visit.link, scope),
        }
    }

    fn find_links(&self, visited: &mut Visited, page: &Link, scope: &Scope) -> Vec<Link> {
        // A redirect is the same step of the way, not a further one.
        let depth = if visited.outcome == Outcome::Redirected {
            page.depth
        } else {
            page.depth.saturating_add(1)
        };
        let mut links = std::mem::take(&mut visited.links.followed);
        for link in &mut links {
            link.depth = depth;
            link.parent_score = page.score;
        }
        if self.settings.frontier.ascend {
            self.with_folders(links, scope)
        } else {
            links
        }
    }

    /// Links with the folders above each, which stand before it.
    pub(super) fn with_folders(&self, links: Vec<Link>, scope: &Scope) -> Vec<Link> {
        let mut all = Vec::with_capacity(links.len());
        for link in links {
            let path = link.url.path_and_query();
            let path = path.split('?').next().unwrap_or("/");
            let mut end = path.trim_end_matches('/').len();
            while let Some(slash) = path[..end].rfind('/') {
                let text = format!("{}{}", link.url.origin(), &path[..=slash]);
                if let Ok(url) = Url::from_canonical(text, self.rules.grouping)
                    && url != link.url
                    && scope.check(&url).is_ok()
                {
                    all.push(Link {
                        seed: false,
                        hops: 0,
                        kind: LinkKind::Folder,
                        anchor: None,
                        ..link.to(url)
                    });
                }
                end = slash;
            }
            all.push(link);
        }
        all
    }

    fn find_sitemaps(&self, visited: &mut Visited, scope: &Scope) -> Vec<Link> {
        let (Some(body), Outcome::Fetched | Outcome::Truncated) = (&visited.body, visited.outcome)
        else {
            return Vec::new();
        };
        let base = Base::from(&visited.task.url);
        let from: Arc<str> = Arc::from(visited.task.url.as_str());
        let robots = Robots::parse(body, &self.settings.fetch.agent);
        let left_out = &mut visited.links.left_out;
        let urls = robots.sitemaps();
        urls.filter_map(|text| {
            let url = canonical(text, Some(&base), &self.rules);
            url.map_err(|refusal| left_out.add(refusal, 1)).ok()
        })
        .map(|url| Link {
            sitemap: true,
            ..Link::new(url, Arc::clone(&from), LinkKind::Sitemap)
        })
        .collect::<Vec<Link>>()
        .into_iter()
        .filter(|link| in_scope(link, scope, left_out))
        .collect()
    }

    fn find_entries(&self, visited: &mut Visited, page: &Link, scope: &Scope) -> Vec<Link> {
        let (Some(body), Outcome::Fetched | Outcome::Truncated, true) =
            (&visited.body, visited.outcome, visited.terms.follow)
        else {
            return Vec::new();
        };
        let base = Base::from(&visited.task.url);
        let from: Arc<str> = Arc::from(visited.task.url.as_str());
        let map = sitemap::parse(body, &base, &self.rules, sitemap::Limits::default());
        let is_index = map.is_index();
        let left_out = &mut visited.links.left_out;
        left_out.add(Reason::UrlRefused, map.refused);
        // How many more there were is not known.
        left_out.add(Reason::Cut, u32::from(map.truncated));
        map.entries
            .into_iter()
            .map(|entry| Link {
                depth: page.depth.saturating_add(1),
                sitemap: is_index,
                parent_score: page.score,
                ..Link::new(entry.loc, Arc::clone(&from), LinkKind::Sitemap)
            })
            .filter(|link| in_scope(link, scope, left_out))
            .collect()
    }
}

/// Whether a link may be visited; one that may not is counted.
fn in_scope(link: &Link, scope: &Scope, left_out: &mut LeftOut) -> bool {
    let verdict = scope.judge(link);
    verdict.map_err(|rule| left_out.add(rule, 1)).is_ok()
}
