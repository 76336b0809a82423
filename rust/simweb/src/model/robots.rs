//! Robots files of many kinds. Closing a whole host is kept to hosts that no other hangs below.

use super::Model;
use super::hash::Purpose;
use super::path::{LEAF_WORDS, WORDS};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RobotsKind {
    /// Some directories are closed.
    Disallow,
    /// A directory is closed, one below it is open.
    Allow,
    Wildcards,
    CrawlDelay,
    /// 404: all is open.
    Missing,
    /// 503: nothing may be fetched.
    Failing,
    /// More than 500 KiB; the rules come first.
    Huge,
    /// An HTML page instead of rules: all is open.
    Html,
    /// Everything is closed.
    Closed,
    /// One group for `gossamer`, another for everybody else.
    Groups,
}

const KINDS: [RobotsKind; 10] = [
    RobotsKind::Disallow,
    RobotsKind::Allow,
    RobotsKind::Wildcards,
    RobotsKind::CrawlDelay,
    RobotsKind::Missing,
    RobotsKind::Failing,
    RobotsKind::Huge,
    RobotsKind::Html,
    RobotsKind::Closed,
    RobotsKind::Groups,
];

/// What is served as /robots.txt.
#[derive(Debug)]
pub struct RobotsFile {
    pub status: u16,
    pub content_type: &'static str,
    pub body: Vec<u8>,
}

impl Model {
    /// The kind of robots file of a host; mirrors have that of their original.
    #[must_use]
    pub fn robots_kind(&self, host: u32) -> RobotsKind {
        let content = self.hosts.content(host);
        let mut draw = self.draw(Purpose::Robots, content, 0);
        if !draw.chance(self.options.robots) {
            return RobotsKind::Missing;
        }
        let kind = KINDS[draw.below(KINDS.len() as u64) as usize];
        let last = self.is_last_host(content)
            && self
                .hosts
                .twin(content)
                .is_none_or(|twin| self.is_last_host(twin));
        match kind {
            RobotsKind::Failing | RobotsKind::Closed if !last => RobotsKind::Disallow,
            kind => kind,
        }
    }

    /// The robots file names the host's sitemap.
    #[must_use]
    pub fn robots_announces(&self, host: u32) -> bool {
        match self.robots_kind(host) {
            // A host that has a sitemap but no rules has a file that says only where it is.
            RobotsKind::Missing => self.options.robots == 0.0,
            RobotsKind::Failing | RobotsKind::Html => false,
            _ => true,
        }
    }

    #[must_use]
    pub fn robots_file(&self, host: u32) -> RobotsFile {
        let kind = self.robots_kind(host);
        let content = self.hosts.content(host);
        let mut draw = self.draw(Purpose::RobotsDetail, content, 0);
        let word = LEAF_WORDS[draw.below(12) as usize];
        let other = LEAF_WORDS[draw.below(12) as usize];
        let third = LEAF_WORDS[draw.below(12) as usize];
        let deeper = WORDS[draw.below(WORDS.len() as u64) as usize];
        let delay = self.options.crawl_delay;
        let rules = match kind {
            RobotsKind::Disallow => {
                format!("User-agent: *\nDisallow: /{word}/\nDisallow: /{other}/\n")
            }
            RobotsKind::Allow => format!(
                "# longer rules win\nUser-agent: *\nDisallow: /{word}/\nAllow: /{word}/{deeper}\n\
                 Disallow: /{other}\nAllow: /{other}/p\n"
            ),
            RobotsKind::Wildcards => format!(
                "user-agent: *\r\ndisallow: /*.htm$\r\ndisallow: /*/view?*cat=\r\ndisallow: /{word}/*/\r\n"
            ),
            RobotsKind::CrawlDelay => {
                format!("User-agent: *\nCrawl-delay: {delay}\nDisallow: /{word}/\n")
            }
            RobotsKind::Huge => format!("User-agent: *\nDisallow: /{word}/\nDisallow: /{other}/\n"),
            RobotsKind::Closed => "User-agent: *\nDisallow: /\n".to_owned(),
            RobotsKind::Groups => format!(
                "User-agent: otherbot\nDisallow: /\n\nUser-agent: Gossamer\nUser-agent: thirdbot\n\
                 Disallow: /{word}/\nCrawl-delay: {delay}\n\nUser-agent: *\nDisallow: /{other}/\n\n\
                 User-agent: gossamer\nDisallow: /{third}/\n"
            ),
            RobotsKind::Missing | RobotsKind::Failing | RobotsKind::Html => String::new(),
        };
        let (mut status, mut content_type) = (200, "text/plain; charset=utf-8");
        let mut body = rules.into_bytes();
        match kind {
            RobotsKind::Missing => status = 404,
            RobotsKind::Failing => status = 503,
            RobotsKind::Html => {
                content_type = "text/html; charset=utf-8";
                body.extend_from_slice(
                    b"<!DOCTYPE html><html><head><title>Welcome</title></head>\
                      <body><h1>Welcome</h1><p>This site has no rules.</p></body></html>\n",
                );
            }
            RobotsKind::Huge => {
                while body.len() < 600 * 1024 {
                    body.extend_from_slice(
                        b"# this line says nothing, and there are many like it\n",
                    );
                }
            }
            _ => {}
        }
        if self.sitemap_kind(host).is_some() && self.robots_announces(host) {
            status = 200;
            let line = format!(
                "\nSitemap: http://{}{}\n",
                self.hosts.authority(host),
                self.sitemap_entry(host)
            );
            // Ahead of the filling of a huge file, so that it is within everybody's limit.
            body.splice(0..0, line.into_bytes());
        }
        RobotsFile {
            status,
            content_type,
            body,
        }
    }
}
