//! Crawler traps: places without end. Each host that has one has one kind.

use super::Model;
use super::hash::Purpose;
use super::path::{WORDS, push_number};

/// A request inside a trap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trap<'a> {
    pub kind: u8,
    pub path: &'a [u8],
}

/// The kinds, by number, and where their paths begin.
pub const TRAPS: [(&str, &str); 4] = [
    ("calendar", "/calendar/"),
    ("growing_path", "/deep/"),
    ("session", "/shop?sid="),
    ("parameters", "/filter?"),
];

const ENTRANCES: [&str; 4] = [
    "/calendar/2026/1/",
    "/deep/",
    "/shop?sid=0&p=1",
    "/filter?q=all",
];
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
        draw.chance(self.options.traps).then(|| draw.below(4) as u8)
    }

    pub(crate) fn write_trap_entrance(&self, _host: u32, kind: u8, out: &mut Vec<u8>) {
        out.extend_from_slice(ENTRANCES[kind as usize % 4].as_bytes());
    }

    pub(crate) fn parse_trap<'a>(&self, host: u32, path: &'a [u8]) -> Option<Trap<'a>> {
        let kind = self.trap_kind(host)?;
        path.starts_with(TRAPS[kind as usize].1.as_bytes())
            .then_some(Trap { kind, path })
    }

    /// Appends the page of a trap; it differs for every path.
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
            _ => {}
        }
        out.extend_from_slice(b"<!DOCTYPE html>\n<html><head><title>Page ");
        push_number(out, key >> 16);
        out.extend_from_slice(b"</title></head><body>\n");
        let text = self.pools.english();
        for link in links {
            out.extend_from_slice(b"<p>");
            text.write(&mut draw, 200, out);
            out.extend_from_slice(b" <a href=\"");
            out.extend_from_slice(&escaped(&link));
            out.extend_from_slice(b"\">more</a></p>\n");
        }
        out.extend_from_slice(b"<p><a href=\"/\">home</a></p></body></html>\n");
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
