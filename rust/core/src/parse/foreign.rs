//! Whether the tokenizer stands in SVG or MathML.
//!
//! There `<title/>` and `<style/>` end at once and `<![CDATA[` opens a section; read as HTML, the
//! first would swallow the rest of the page. The tree of the standard is not built: a short stack
//! of the elements that change the namespace is enough. Its depth is bounded.

use super::names::Tag;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Svg,
    Math,
    /// An element inside one of them whose children are HTML again.
    Html,
}

const DEEPEST: usize = 64;

/// HTML elements that end foreign content (WHATWG, "in foreign content").
const BREAK_OUT: &[&[u8]] = &[
    b"b",
    b"big",
    b"blockquote",
    b"body",
    b"br",
    b"center",
    b"code",
    b"dd",
    b"div",
    b"dl",
    b"dt",
    b"em",
    b"embed",
    b"h1",
    b"h2",
    b"h3",
    b"h4",
    b"h5",
    b"h6",
    b"head",
    b"hr",
    b"i",
    b"img",
    b"li",
    b"listing",
    b"menu",
    b"meta",
    b"nobr",
    b"ol",
    b"p",
    b"pre",
    b"ruby",
    b"s",
    b"small",
    b"span",
    b"strike",
    b"strong",
    b"sub",
    b"sup",
    b"table",
    b"tt",
    b"u",
    b"ul",
    b"var",
];

/// Elements of SVG and MathML whose children are HTML.
const SVG_POINTS: &[&[u8]] = &[b"foreignobject", b"desc", b"title"];
const MATH_POINTS: &[&[u8]] = &[b"mi", b"mo", b"mn", b"ms", b"mtext", b"annotation-xml"];

fn one_of(name: &[u8], list: &[&[u8]]) -> bool {
    list.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// The stack.
#[derive(Debug, Default)]
pub struct Foreign {
    levels: Vec<Level>,
}

impl Foreign {
    /// Whether the next child would be a foreign element.
    #[inline(always)]
    pub fn inside(&self) -> bool {
        matches!(self.levels.last(), Some(Level::Svg | Level::Math))
    }

    /// A start tag; gives whether it made a foreign element.
    #[inline(always)]
    pub fn open(&mut self, name: &[u8], tag: Tag, self_closing: bool) -> bool {
        if self.levels.is_empty() && !matches!(tag, Tag::Svg | Tag::Math) {
            return false;
        }
        self.open_near(name, tag, self_closing)
    }

    #[cold]
    fn open_near(&mut self, name: &[u8], tag: Tag, self_closing: bool) -> bool {
        if self.inside() && one_of(name, BREAK_OUT) {
            while self.inside() {
                self.levels.pop();
            }
        }
        let inside = self.inside();
        let level = match (self.levels.last(), tag) {
            (_, Tag::Svg) => Some(Level::Svg),
            (_, Tag::Math) => Some(Level::Math),
            (Some(Level::Svg), _) if one_of(name, SVG_POINTS) => Some(Level::Html),
            (Some(Level::Math), _) if one_of(name, MATH_POINTS) => Some(Level::Html),
            _ => None,
        };
        if let Some(level) = level
            && !self_closing
            && self.levels.len() < DEEPEST
        {
            self.levels.push(level);
        }
        inside || matches!(tag, Tag::Svg | Tag::Math)
    }

    /// An end tag.
    #[inline(always)]
    pub fn close(&mut self, name: &[u8], tag: Tag) {
        if !self.levels.is_empty() {
            self.close_near(name, tag);
        }
    }

    #[cold]
    fn close_near(&mut self, name: &[u8], tag: Tag) {
        let closed = match tag {
            Tag::Svg => Level::Svg,
            Tag::Math => Level::Math,
            _ if one_of(name, SVG_POINTS) || one_of(name, MATH_POINTS) => Level::Html,
            _ => return,
        };
        if let Some(at) = self.levels.iter().rposition(|level| *level == closed) {
            self.levels.truncate(at);
        }
    }
}
