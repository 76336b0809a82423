//! Crawler traps: places without end. Each host that has one has one kind.

use super::Model;
use super::hash::{Draw, Purpose};
use super::path::{WORDS, push_number};
use super::sheet::vary;

/// A request inside a trap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trap<'a> {
    pub host: u32,
    pub kind: u8,
    pub path: &'a [u8],
}

/// The kinds, by number, and where their paths begin.
pub const TRAPS: [(&str, &str); 6] = [
    ("calendar", "/calendar/"),
    ("growing_path", "/deep/"),
    ("session", "/shop?sid="),
    ("parameters", "/filter?"),
    ("soft_404", "/old/"),
    ("link_farm", "/partners/"),
];

const ENTRANCES: [&str; 6] = [
    "/calendar/2026/1/",
    "/deep/",
    "/shop?sid=0&p=1",
    "/filter?q=all",
    "/old/news/",
    "/partners/best-1.html",
];
/// The numbers of the kinds that differ in more than their links.
const SOFT_404: u8 = 4;
const LINK_FARM: u8 = 5;
/// A growing path stops growing before requests become too large for the server itself.
const LONGEST: usize = 6_000;

impl Model {
    /// The kind of trap that a host has, if any.
    #[must_use]
    pub fn trap_kind(&self, host: u32) -> Option<u8> {
        if self.options.traps == 0.0 {
            return None;
        }
        let content = self.hosts.content(host);
        let mut draw = self.draw(Purpose::Trap, content, u64::MAX);
        let kinds = TRAPS.len() as u64;
        draw.chance(self.options.traps)
            .then(|| draw.below(kinds) as u8)
    }

    pub(crate) fn write_trap_entrance(&self, _host: u32, kind: u8, out: &mut Vec<u8>) {
        out.extend_from_slice(ENTRANCES[kind as usize % ENTRANCES.len()].as_bytes());
    }

    pub(crate) fn parse_trap<'a>(&self, host: u32, path: &'a [u8]) -> Option<Trap<'a>> {
        let kind = self.trap_kind(host)?;
        path.starts_with(TRAPS[kind as usize].1.as_bytes())
            .then_some(Trap { host, kind, path })
    }

    /// A host with soft 404s has a page for every name, but for those that links call dead.
    pub(crate) fn parse_missing<'a>(&self, host: u32, path: &'a [u8]) -> Option<Trap<'a>> {
        let kind = self.trap_kind(host).filter(|kind| *kind == SOFT_404)?;
        (!path.starts_with(b"/gone/")).then_some(Trap { host, kind, path })
    }

    /// Appends the page of a trap; it differs for every path, if only by its name.
    pub fn write_trap(&self, trap: Trap<'_>, out: &mut Vec<u8>) {
        let mut links: Vec<Vec<u8>> = Vec::new();
        let key = trap
            .path
            .iter()
            .fold(0xcbf2_9ce4_8422_2325u64, |sum, &byte| {
                (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
            });
        let mut draw = self.draw(Purpose::Trap, trap.kind.into(), key);
        match trap.kind {
            0 => calendar(trap.path, &mut links),
            1 if trap.path.len() < LONGEST => {
                for _ in 0..5 {
                    let word = WORDS[draw.below(WORDS.len() as u64) as usize];
                    links.push([trap.path, word.as_bytes(), b"/"].concat());
                }
            }
            2 => {
                for page in 1..10 {
                    let sid = draw.bits();
                    links.push(format!("/shop?sid={sid:016x}&amp;p={page}").into_bytes());
                }
            }
            3 if trap.path.len() < LONGEST => {
                for _ in 0..6 {
                    let word = WORDS[draw.below(WORDS.len() as u64) as usize];
                    let mut link = String::from_utf8_lossy(trap.path).replace('&', "&amp;");
                    link.push_str(&format!("&amp;{word}={}", draw.below(100)));
                    links.push(link.into_bytes());
                }
            }
            SOFT_404 if trap.path.len() < LONGEST => soft_404(trap.path, &mut links),
            LINK_FARM => self.link_farm(&mut draw, &mut links),
            _ => {}
        }
        // The same words on every page of the host: only names differ.
        let is_same = matches!(trap.kind, SOFT_404 | LINK_FARM);
        if is_same {
            draw = self.draw(Purpose::Trap, trap.host, u64::MAX - 1);
        }
        out.extend_from_slice(b"<!DOCTYPE html>\n<html><head><title>Page ");
        push_number(out, key >> 16);
        out.extend_from_slice(b"</title></head><body>\n");
        let text = self.pools.english();
        for link in links {
            out.extend_from_slice(b"<p>");
            let before = out.len();
            text.write(&mut draw, 200, out);
            if !is_same {
                vary(&mut out[before..], &mut draw.bits());
            }
            out.extend_from_slice(b" <a href=\"");
            out.extend_from_slice(&escaped(&link));
            out.extend_from_slice(b"\">more</a></p>\n");
        }
        out.extend_from_slice(b"<p><a href=\"/\">home</a></p></body></html>\n");
    }
}

impl Model {
    /// Links of a page of a link farm: to others of it, on this host and on hosts that take part.
    fn link_farm(&self, draw: &mut Draw, links: &mut Vec<Vec<u8>>) {
        let mut hosts = vec![None; 8];
        for _ in 0..12 {
            let host = draw.below(u64::from(self.hosts.count())) as u32;
            hosts.extend((self.trap_kind(host) == Some(LINK_FARM)).then_some(Some(host)));
        }
        for host in hosts {
            let mut link = Vec::new();
            if let Some(host) = host {
                link.extend_from_slice(b"http://");
                self.hosts.write_authority(host, &mut link);
            }
            let word = WORDS[draw.below(WORDS.len() as u64) as usize];
            let number = draw.below(1 << 40);
            link.extend_from_slice(format!("/partners/{word}-{number}.html").as_bytes());
            links.push(link);
        }
    }
}

/// A page that says that there is none, with relative links as every page of the site has them.
fn soft_404(path: &[u8], links: &mut Vec<Vec<u8>>) {
    let folder = path.split(|&byte| byte == b'?').next().unwrap_or(b"/");
    let end = folder.iter().rposition(|&byte| byte == b'/');
    let folder = &folder[..end.map_or(0, |end| end + 1)];
    for word in ["news", "about", "team", "help"] {
        links.push([folder, word.as_bytes(), b"/"].concat());
    }
}

/// A path came from the client: nothing in it may end the attribute.
fn escaped(link: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(link.len());
    for &byte in link {
        match byte {
            b'"' => out.extend_from_slice(b"%22"),
            b'<' => out.extend_from_slice(b"%3C"),
            b'>' => out.extend_from_slice(b"%3E"),
            byte => out.push(byte),
        }
    }
    out
}

fn calendar(path: &[u8], links: &mut Vec<Vec<u8>>) {
    let text = String::from_utf8_lossy(path);
    let mut parts = text.trim_start_matches("/calendar/").split('/');
    let year: i64 = parts
        .next()
        .and_then(|part| part.parse().ok())
        .unwrap_or(2026);
    let month: i64 = parts.next().and_then(|part| part.parse().ok()).unwrap_or(1);
    let months = year.clamp(0, 1 << 40) * 12 + month.clamp(1, 12) - 1;
    for step in [-1, 1, 12] {
        let at = (months + step).max(0);
        links.push(format!("/calendar/{}/{}/", at / 12, at % 12 + 1).into_bytes());
    }
    for day in [1, 8, 15, 22] {
        let (year, month) = (months / 12, months % 12 + 1);
        links.push(format!("/calendar/{year}/{month}/{day}/").into_bytes());
    }
}
