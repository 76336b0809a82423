//! Pages as HTML: nested tags, all quoting styles, all forms of links, and text that looks like a
//! link but is none. Takes: a place and its state. Gives: bytes, the same for the same input.

use std::ops::Range;

use super::blocks::{Blocks, Own};
use super::change::State;
use super::hash::{Draw, Purpose};
use super::kind::{Agent, Kind};
use super::path::{WORDS, push_number};
use super::sheet::Sheet;
use super::text::{CHARSETS, Charset};
use super::{Model, Node, Place};

/// Sizes are log-normal with this median and spread: a mean of 20 KB and a long tail.
const MEDIAN_BYTES: f64 = 15_650.0;
const SIZE_SIGMA: f64 = 0.7;
const MOST_BYTES: f64 = 2_000_000.0;
/// One part in so many of a page's text stands between its links, and is the page's own; the rest, after them, is prose
/// that other pages have too.
const SPREAD_OUT: usize = 3;
/// What a link takes with its tags, on average.
const LINK_BYTES: usize = 88;

/// Buffers that are used again for every page.
#[derive(Debug, Default)]
pub struct Scratch {
    pub links: Vec<Node>,
    path: Vec<u8>,
    sheet: Sheet,
}

struct Writer<'a> {
    model: &'a Model,
    out: &'a mut Vec<u8>,
    host: u32,
}

impl Model {
    /// The charset of a page, by the page whose bytes it shows.
    #[must_use]
    pub fn charset(&self, original: Place) -> &'static Charset {
        if self.options.charsets == 0.0 {
            return &CHARSETS[0];
        }
        let host = self.hosts.content(original.host);
        let mut draw = self.draw(Purpose::Charset, host, original.page);
        if !draw.chance(self.options.charsets) {
            return &CHARSETS[0];
        }
        &CHARSETS[1 + draw.below(CHARSETS.len() as u64 - 1) as usize]
    }

    /// The page's bytes also appear elsewhere, so its links must mean the same there.
    fn is_portable(&self, original: Place) -> bool {
        let copies = self.options.duplicates > 0.0 || self.options.near_duplicates > 0.0;
        (copies && self.is_structural(original)) || self.hosts.twin(original.host).is_some()
    }

    /// Appends the page that is served at a place, all but its end: that is a part of the prose,
    /// given by its range, so that a server can send it without copying.
    pub fn write_page(
        &self,
        place: Place,
        state: State,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Range<usize> {
        let original = self.original(place);
        let content = self.hosts.content(place.host);
        let start = out.len();
        let mut size = self.draw(Purpose::Size, content, original.page);
        let target = (MEDIAN_BYTES * (SIZE_SIGMA * size.normal()).exp()).min(MOST_BYTES) as usize;
        let mut style = self.draw(Purpose::Style, content, original.page);
        let mut text = self.draw(Purpose::Text, content, original.page ^ state.version << 20);
        let mut links = std::mem::take(&mut scratch.links);
        self.links(original, &mut links);

        let charset = self.charset(original);
        let path = &mut scratch.path;
        path.clear();
        self.write_path(original, path);
        let portable = self.is_portable(original);
        let based = !portable && style.below(10) == 0;
        let slashes = path.iter().take_while(|&&byte| byte != b'?');
        let depth = slashes.filter(|&&byte| byte == b'/').count() - 1;
        let mut writer = Writer {
            model: self,
            out,
            host: place.host,
        };
        writer.head(original, charset, based, &mut style);
        let plain = links.len() * LINK_BYTES + writer.out.len() - start;
        let share = target.saturating_sub(plain) / (links.len().max(1) * SPREAD_OUT);
        let climb = (!portable).then_some(if based { 2 } else { depth });
        let lists = !based && !portable && path.starts_with(b"/list.php");
        let mut blocks = Blocks {
            model: self,
            pool: self.pools.of(charset),
            share,
            own: Own::new(self, place.host, climb, path),
            lists,
            is_ascii: std::ptr::eq(self.pools.of(charset), self.pools.english()),
            spare: path,
        };
        scratch.sheet.clear();
        for &node in &links {
            blocks.write(node, &mut style, &mut text, &mut scratch.sheet);
        }
        writer.out.extend_from_slice(scratch.sheet.text());
        let before = writer.out.len();
        // Not counted below: a copy differs from its original only in this line.
        if let Kind::NearDuplicate { .. } = self.kind(place) {
            writer.put("<p>Print view ");
            push_number(writer.out, place.page);
            writer.put("</p>\n");
        }
        if state.version > 0 {
            writer.put("<p class=revision>Revision ");
            push_number(writer.out, state.version);
            writer.put("</p>\n");
        }
        let extra = writer.out.len() - before;
        writer.tail(&mut style);
        scratch.links = links;
        // The last paragraph; the end tags of it, of the body and of the document may be left out.
        let rest = target.saturating_sub(out.len() - start - extra);
        let pool = self.pools.of(charset);
        if !std::ptr::eq(pool, self.pools.english()) {
            pool.write(&mut text, rest, out);
            return 0..0;
        }
        let last = rest.min(pool.longest());
        pool.write(&mut text, rest - last, out);
        pool.part(&mut text, last)
    }

    /// A part of the prose that pages end with.
    #[must_use]
    pub fn prose(&self, range: Range<usize>) -> &[u8] {
        self.pools.english().text().get(range).unwrap_or_default()
    }

    /// All of it.
    #[must_use]
    pub fn all_prose(&self) -> &[u8] {
        self.pools.english().text()
    }

    /// The title of the page whose bytes are those of `original`, in its own charset.
    pub fn write_title(&self, original: Place, out: &mut Vec<u8>) {
        let content = self.hosts.content(original.host);
        let mut draw = self.draw(Purpose::Words, content, original.page);
        let words = &self.pools.of(self.charset(original)).words;
        for _ in 0..2 + draw.below(3) {
            out.extend_from_slice(&words[draw.below(words.len() as u64) as usize]);
            out.push(b' ');
        }
        push_number(out, original.page);
    }
}

impl Writer<'_> {
    #[inline]
    fn put(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn head(&mut self, original: Place, charset: &Charset, based: bool, style: &mut Draw) {
        let bits = style.bits();
        self.put(match bits & 3 {
            0 => "<!doctype html>\n<HTML LANG=en>\n<HEAD>\n",
            1 => "<!DOCTYPE html>\n<html>\n<!-- <a href=\"/decoy/comment\">not a link</a> -->\n<head>\n",
            _ => "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n",
        });
        if let Some(name) = charset.meta {
            if bits & 4 == 0 {
                self.put("<meta charset=\"");
            } else {
                self.put("<meta http-equiv='Content-Type' content='text/html; charset=");
            }
            self.put(name);
            self.put(if bits & 4 == 0 { "\">\n" } else { "'>\n" });
        }
        self.put("<title>");
        self.model.write_title(original, self.out);
        if bits & 0x30 == 0 {
            self.put(" <a href=\"/decoy/title\">");
        }
        self.put("</title>\n");
        if based {
            self.put("<base href=\"");
            if bits & 0x40 == 0 {
                self.put("http://");
                self.model.hosts.write_authority(self.host, self.out);
            }
            for shift in [8, 16] {
                self.put("/");
                self.put(WORDS[(bits >> shift) as usize % WORDS.len()]);
            }
            self.put("/\">\n");
        }
        if let Some(hint) = self.model.hint(original).filter(|hint| !hint.in_header) {
            self.put("<meta name=\"");
            self.put(match hint.agent {
                Agent::Any => "robots",
                Agent::Gossamer => "gossamer",
                Agent::Other => "otherbot",
            });
            self.put("\" content=\"");
            self.put(hint.words);
            self.put("\">\n");
        }
        self.put(
            "<style>.l{color:#024} /* <a href=\"/decoy/style\">x</a> */</style>\n\
             <script>var t = \"<a href='/decoy/script'>x</a>\"; if (1 < 2) { go(\"/decoy/call\"); }</script>\n\
             </head>\n<body class=page data-template=\"<a href='/decoy/attribute'>x</a>\">\n\
             <div id='top'><a name=top></a><h1>",
        );
        self.model.write_title(original, self.out);
        self.put("</h1></div>\n<div class=\"main\"><div>\n");
    }

    fn tail(&mut self, style: &mut Draw) {
        let bits = style.bits();
        self.put("</div></div>\n<div class=foot>");
        if bits & 3 == 0 {
            self.put("<textarea rows=2><a href=\"/decoy/textarea\">x</a></textarea>");
        }
        self.put(
            "<span href=\"/decoy/span\">about</span> <a href=\"mailto:decoy@sim.test\">mail</a> \
             <a href='javascript:void(\"/decoy/javascript\")'>menu</a>\n\
             <!-- <p><a href='/decoy/comment'>old</a> > -- > -->\n\
             <script type=\"text/javascript\">document.write('<a href=\"/decoy/write\">x<\\/a>');\n\
             </script></div>\n",
        );
        self.put(if bits & 4 == 0 {
            "<P>"
        } else {
            "<p class='text'>"
        });
    }
}
