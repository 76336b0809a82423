//! The middle of a page: blocks of text with one link each, in all quoting styles and all forms of
//! links. Most of a page's time goes here, so everything that a draw can choose is a piece from a
//! table, and only what is unusual is written byte by byte.

use super::hash::Draw;
use super::sheet::{Pen, Piece, Sheet};
use super::text::{Pool, TITLE_WORDS};
use super::{Model, Node};

/// The most that a block takes beside its text and its path: the longest piece of each table.
const MOST_PIECES: usize = 512;
/// Below this a block has no text.
const LEAST_TEXT: usize = 32;

/// What stands around a block.
const FRAMES: [(&str, &str); 16] = {
    let mut all = [("<p>", "</p>\n"); 16];
    all[0] = ("<ul><li><b>", "</b></ul>\n");
    all[1] = ("<table><tr><td>", "</td></tr></table>\n");
    all[2] = ("<div class=\"box\"><div><span>", "</span></div></div>\n");
    all[3] = ("<p>", "\n");
    all[4] = ("<P ALIGN=left>", "</P>\n");
    all[5] = ("<blockquote><p>", "</p></blockquote>\n");
    all[6] = ("<h2 class='t'>", "</h2>\n");
    all[7] = ("<!-- <a href=\"/decoy/comment\">x</a> --><p>", "</p>\n");
    all
};

static OPEN: [Piece<48>; 16] = {
    let mut all = [Piece::EMPTY; 16];
    let mut at = 0;
    while at < all.len() {
        all[at] = Piece::join(&[FRAMES[at].0]);
        at += 1;
    }
    all
};

/// The end of the link and of its block: plain, and with an exclamation mark.
static CLOSE: [[Piece<48>; 16]; 2] = {
    let mut all = [[Piece::EMPTY; 16]; 2];
    let mut at = 0;
    while at < 16 {
        all[0][at] = Piece::join(&["</a>", FRAMES[at].1]);
        all[1][at] = Piece::join(&["<em>!</em></a>", FRAMES[at].1]);
        at += 1;
    }
    all
};

static BEFORE: [Piece<48>; 8] = [
    Piece::join(&["<a href=\""]),
    Piece::join(&["<a href='"]),
    Piece::join(&["<a href="]),
    Piece::join(&["<A HREF=\""]),
    Piece::join(&["<a class=\"l\" title=\"a > b\" href=\""]),
    Piece::join(&["<a rel=next href = \""]),
    Piece::join(&["<a href=\" "]),
    Piece::join(&["<a\n  id=x data-n='1'\n  href='"]),
];

/// What ends the attribute: plain, and after a fragment.
static AFTER: [[Piece<16>; 8]; 2] = {
    let after = ["\">", "'>", ">", "\">", "\">", "\" >", " \">", "'>"];
    let mut all = [[Piece::EMPTY; 8]; 2];
    let mut at = 0;
    while at < 8 {
        all[0][at] = Piece::join(&[after[at]]);
        all[1][at] = Piece::join(&["#part", after[at]]);
        at += 1;
    }
    all
};

/// The first slash of a path: plain, left out, and as a reference in two forms.
static SLASH: [Piece<16>; 4] = [
    Piece::join(&["/"]),
    Piece::EMPTY,
    Piece::join(&["&#x2F;"]),
    Piece::join(&["&#47;"]),
];

/// How links to the page's own host begin, by the form of the link.
#[derive(Debug)]
pub(super) struct Own {
    host: u32,
    linked: u64,
    begin: [Piece<64>; 8],
    relative: [bool; 8],
}

impl Own {
    /// `climb` says how many directories a relative link must go up; none where only absolute paths
    /// may be used.
    pub fn new(model: &Model, host: u32, climb: Option<usize>, spare: &mut Vec<u8>) -> Own {
        let mut own = Own {
            host,
            linked: model.linked_pages(host),
            begin: [Piece::EMPTY; 8],
            relative: [false; 8],
        };
        if let Some(climb) = climb {
            spare.clear();
            (0..climb).for_each(|_| spare.extend_from_slice(b"../"));
            let up = Piece::of(spare);
            let here = if climb == 0 {
                Some(Piece::join(&["./"]))
            } else {
                up
            };
            spare.clear();
            spare.extend_from_slice(b"http://");
            model.hosts.write_authority(host, spare);
            let whole = Piece::of(spare);
            // Paths are at most four directories deep and authorities at most 24 bytes long: where
            // one did not fit, an absolute path would mean the same.
            for (form, begin) in [(4, here), (5, up), (6, up), (7, whole)] {
                own.relative[form] = form < 7 && begin.is_some();
                own.begin[form] = begin.unwrap_or(Piece::EMPTY);
            }
        }
        own
    }
}

/// Writes the blocks of one page.
pub(super) struct Blocks<'a> {
    pub model: &'a Model,
    pub pool: &'a Pool,
    /// About how much text a block has.
    pub share: usize,
    pub own: Own,
    /// The page is one of `/list.php?page=N` and has no base.
    pub lists: bool,
    /// The text is in ASCII, so that a letter can be changed.
    pub is_ascii: bool,
    /// For what is unusual.
    pub spare: &'a mut Vec<u8>,
}

impl Blocks<'_> {
    #[inline(always)]
    pub fn write(&mut self, node: Node, style: &mut Draw, text: &mut Draw, sheet: &mut Sheet) {
        let bits = style.bits();
        let (frame, quoting) = ((bits & 15) as usize, (bits >> 4 & 7) as usize);
        let (mut pool, mut start, mut end) = (self.pool.text(), 0, 0);
        let mut long;
        if self.share >= LEAST_TEXT {
            if let Some(part) = self.pool.short_part(text, self.share) {
                (start, end) = part;
            } else {
                long = Vec::new();
                self.pool.write(text, self.share, &mut long);
                (pool, end) = (&long, long.len());
            }
        }
        let mut pen = sheet.pen(MOST_PIECES + end.saturating_sub(start));
        pen.put(&OPEN[frame]);
        pen.put_part(pool, start, end);
        if self.is_ascii {
            pen.vary(end.saturating_sub(start), text.bits());
        }
        pen.put(&BEFORE[quoting]);
        self.href(node, bits >> 8, &mut pen);
        pen.put(&AFTER[usize::from(bits >> 60 == 0)][quoting]);
        pen.put(&self.pool.link_words[(bits >> 32) as usize % TITLE_WORDS]);
        pen.put(&CLOSE[usize::from(bits >> 40 & 7 == 0)][frame]);
        let written = pen.written();
        sheet.keep(written);
    }

    #[inline(always)]
    fn href(&mut self, node: Node, bits: u64, pen: &mut Pen<'_>) {
        let host = self.model.node_host(node);
        let mut form = (bits & 7) as usize;
        let mut relative = false;
        let mut linked = self.own.linked;
        let is_start = matches!(node, Node::Page(place) if place.page == 0);
        if host == self.own.host {
            // A relative link to the start page would be empty where there is nothing to climb.
            form = if is_start && form > 4 && form < 7 {
                4
            } else {
                form
            };
            relative = self.own.relative[form];
        } else {
            linked = self.model.linked_pages(host);
        }
        let shape = match node {
            Node::Page(place) if self.model.options.orphans == 0.0 => {
                Some(self.model.shape(place, linked))
            }
            _ => None,
        };
        let Some(shape) = shape else {
            return self.unusual(node, bits, form, relative, pen);
        };
        if host != self.own.host {
            self.other_host(host, form, pen);
        } else if self.lists && (3..7).contains(&form) && shape.is_list() {
            return shape.write_query(pen);
        } else {
            pen.put(&self.own.begin[form]);
        }
        pen.put(&SLASH[slash(relative, bits)]);
        shape.write(relative || bits >> 13 & 1 == 0, pen);
    }

    fn other_host(&mut self, host: u32, form: usize, pen: &mut Pen<'_>) {
        self.spare.clear();
        if form > 0 {
            self.spare.extend_from_slice(b"http:");
        }
        self.spare.extend_from_slice(b"//");
        self.model.hosts.write_authority(host, self.spare);
        pen.put_all(self.spare);
    }

    /// A link to what is no page, or to one that may be an orphan.
    #[inline(never)]
    fn unusual(&mut self, node: Node, bits: u64, form: usize, relative: bool, pen: &mut Pen<'_>) {
        let host = self.model.node_host(node);
        if host != self.own.host {
            self.other_host(host, form, pen);
        }
        self.spare.clear();
        self.model.write_node_path(node, self.spare);
        let mut rest = self.spare.get(1..).unwrap_or_default();
        if host == self.own.host {
            let list = b"list.php".as_slice();
            if self.lists && (3..7).contains(&form) && rest.starts_with(b"list.php?") {
                return pen.put_all(&rest[list.len()..]);
            }
            pen.put(&self.own.begin[form]);
        }
        pen.put(&SLASH[slash(relative, bits)]);
        while let Some(at) = memchr::memchr(b'&', rest) {
            pen.put_all(&rest[..at]);
            let escaped = relative || bits >> 13 & 1 == 0;
            pen.put_all(if escaped { b"&amp;" } else { b"&" });
            rest = &rest[at + 1..];
        }
        pen.put_all(rest);
    }
}

/// Which of the slashes a path begins with.
#[inline(always)]
fn slash(relative: bool, bits: u64) -> usize {
    let reference = (bits >> 8 & 15 == 0) as usize * (2 + (bits >> 12 & 1) as usize);
    if relative { 1 } else { reference }
}
