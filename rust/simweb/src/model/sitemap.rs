//! Sitemaps: plain, gzip, or an index of parts. They list the first pages of a host and those
//! orphans that nothing else leads to.

use std::io::Write;

use super::hash::Purpose;
use super::{Model, Place, change};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SitemapKind {
    Plain,
    Gzip,
    Index,
}

/// Linked pages that a sitemap lists, at most.
const LISTED: u64 = 500;
/// The protocol's limit for a file, and for an index.
const MOST: u64 = 50_000;
const PER_PART: u64 = 1_000;

/// A file as served.
#[derive(Debug)]
pub struct SitemapFile {
    pub content_type: &'static str,
    pub body: Vec<u8>,
}

impl Model {
    /// The kind of sitemap that a host has, if any.
    #[must_use]
    pub fn sitemap_kind(&self, host: u32) -> Option<SitemapKind> {
        if self.options.sitemaps == 0.0 {
            return None;
        }
        let content = self.hosts.content(host);
        let mut draw = self.draw(Purpose::Sitemap, content, 0);
        if !draw.chance(self.options.sitemaps) {
            return None;
        }
        if self.listed(host) > MOST {
            return Some(SitemapKind::Index);
        }
        // Where robots.txt does not say, only /sitemap.xml can be guessed.
        Some(match draw.below(3) {
            _ if !self.robots_announces(host) => SitemapKind::Plain,
            0 => SitemapKind::Plain,
            1 => SitemapKind::Gzip,
            _ => SitemapKind::Index,
        })
    }

    /// The path where the host's sitemap begins.
    #[must_use]
    pub fn sitemap_entry(&self, host: u32) -> &'static str {
        match self.sitemap_kind(host) {
            Some(SitemapKind::Gzip) => "/sitemap.xml.gz",
            Some(SitemapKind::Index) if self.robots_announces(host) => "/sitemap_index.xml",
            _ => "/sitemap.xml",
        }
    }

    fn listed(&self, host: u32) -> u64 {
        let linked = self.linked_pages(host);
        linked.min(LISTED) + (self.hosts.pages(host) - linked).div_ceil(2)
    }

    fn part_size(&self, host: u32) -> u64 {
        self.listed(host).div_ceil(MOST).clamp(PER_PART, MOST)
    }

    fn listed_page(&self, host: u32, index: u64) -> u64 {
        let linked = self.linked_pages(host);
        let first = linked.min(LISTED);
        if index < first {
            index
        } else {
            linked + 2 * (index - first)
        }
    }

    /// The file at a path, at a simulated time in seconds.
    #[must_use]
    pub fn sitemap_file(&self, host: u32, path: &[u8], now: f64) -> Option<SitemapFile> {
        let kind = self.sitemap_kind(host)?;
        let path = std::str::from_utf8(path).ok()?;
        if path == self.sitemap_entry(host) {
            return Some(match kind {
                SitemapKind::Index => xml(self.index(host)),
                SitemapKind::Plain => xml(self.part(host, 0, MOST, now)),
                SitemapKind::Gzip => zipped(&self.part(host, 0, MOST, now)),
            });
        }
        let name = path.strip_prefix("/sitemap-")?;
        let (number, gzip) = match name.strip_suffix(".xml.gz") {
            Some(number) => (number, true),
            None => (name.strip_suffix(".xml")?, false),
        };
        let number: u64 = number.parse().ok()?;
        let size = self.part_size(host);
        let parts = self.listed(host).div_ceil(size);
        if kind != SitemapKind::Index || number >= parts || gzip != (number % 2 == 1) {
            return None;
        }
        let body = self.part(host, number * size, size, now);
        Some(if gzip { zipped(&body) } else { xml(body) })
    }

    fn index(&self, host: u32) -> Vec<u8> {
        let authority = self.hosts.authority(host);
        let parts = self.listed(host).div_ceil(self.part_size(host)).min(MOST);
        let mut out = b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
            <sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n"
            .to_vec();
        for part in 0..parts {
            let end = if part % 2 == 1 { ".gz" } else { "" };
            let line = format!(
                "<sitemap><loc>http://{authority}/sitemap-{part}.xml{end}</loc></sitemap>\n"
            );
            out.extend_from_slice(line.as_bytes());
        }
        out.extend_from_slice(b"</sitemapindex>\n");
        out
    }

    fn part(&self, host: u32, start: u64, count: u64, now: f64) -> Vec<u8> {
        let mut out = b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
            <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n"
            .to_vec();
        let authority = self.hosts.authority(host);
        let mut path = Vec::new();
        for index in start..start.saturating_add(count).min(self.listed(host)) {
            let place = Place {
                host,
                page: self.listed_page(host, index),
            };
            path.clear();
            self.write_path(place, &mut path);
            out.extend_from_slice(b"<url><loc>http://");
            out.extend_from_slice(authority.as_bytes());
            for &byte in &path {
                match byte {
                    b'&' => out.extend_from_slice(b"&amp;"),
                    byte => out.push(byte),
                }
            }
            let state = self.state(self.original(place), now);
            out.extend_from_slice(b"</loc><lastmod>");
            out.extend_from_slice(change::iso_date(state.changed).as_bytes());
            out.extend_from_slice(b"</lastmod></url>\n");
        }
        out.extend_from_slice(b"</urlset>\n");
        out
    }
}

fn xml(body: Vec<u8>) -> SitemapFile {
    SitemapFile {
        content_type: "application/xml",
        body,
    }
}

fn zipped(body: &[u8]) -> SitemapFile {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    // Writing into memory does not fail.
    let _ = encoder.write_all(body);
    SitemapFile {
        content_type: "application/gzip",
        body: encoder.finish().unwrap_or_default(),
    }
}
