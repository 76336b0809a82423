//! The sink that makes a page of tokens.
//!
//! Takes: the calls of the tokenizer. Gives: a [`Page`]. Allocates for the page, not per link;
//! attributes of elements that carry nothing of interest are never looked at.

use super::ParseSettings;
use super::anchor::Collapsed;
use super::charref::{Place, decode_into, needs_decoding};
use super::directives::{Directives, names_agent};
use super::foreign::Foreign;
use super::link_header::HeaderLink;
use super::names::{self, Attribute, Tag};
use super::page::{Link, LinkKind, Page, Piece, Refresh, RelFlags};
use super::simhash::TextSignals;
use super::tokenizer::{Content, Sink};
use super::{refresh, srcset};
use std::borrow::Cow;
use std::ops::Range;

/// Longer addresses are dropped (and marked): canonical form would refuse them anyway.
pub const LONGEST_TARGET: usize = 8192;
/// A title is cut here.
pub const TITLE_BYTES: usize = 1024;
/// A page with less text may say no more than that it needs a browser.
const LITTLE_TEXT: u32 = 200;
const LANG_BYTES: usize = 64;
/// The arena's ranges are 32 bits wide; far below that, a page is nonsense.
const LARGEST_ARENA: usize = 1 << 30;

/// Builds a page.
#[derive(Debug)]
pub struct Extractor<'a> {
    text: &'a str,
    settings: &'a ParseSettings,
    page: Page,
    directives: Directives,
    signals: TextSignals,
    foreign: Foreign,
    /// The tag begun last, its name, and which attributes it has had so far.
    tag: Tag,
    name: Range<usize>,
    filled: u32,
    values: [(usize, usize); Attribute::COUNT],
    /// The link whose text is being read, and that text.
    anchor_of: Option<usize>,
    anchor: Collapsed,
    title: Option<Collapsed>,
    titled: bool,
    has_script: bool,
    scratch: String,
    /// The visible text, where it is asked for.
    visible: Option<Collapsed>,
}

/// Elements that stand inside a word; all others end one.
const INSIDE_WORDS: [&[u8]; 16] = [
    b"a", b"abbr", b"b", b"bdi", b"bdo", b"code", b"em", b"font", b"i", b"mark", b"s", b"small",
    b"span", b"strong", b"u", b"wbr",
];

/// What a URL parser strips from both ends.
fn strip(text: &str) -> &str {
    text.trim_matches(|c: char| c <= ' ')
}

impl<'a> Extractor<'a> {
    /// An extractor for the document `text`, going on with `page`.
    pub fn new(
        text: &'a str,
        settings: &'a ParseSettings,
        page: Page,
        directives: Directives,
    ) -> Self {
        Extractor {
            text,
            settings,
            page,
            directives,
            signals: TextSignals::new(settings.simhash),
            foreign: Foreign::default(),
            tag: Tag::Other,
            name: 0..0,
            filled: 0,
            values: [(0, 0); Attribute::COUNT],
            anchor_of: None,
            anchor: Collapsed::new(settings.anchor_bytes),
            title: None,
            titled: false,
            has_script: false,
            scratch: String::new(),
            visible: (settings.text_bytes > 0).then(|| Collapsed::new(settings.text_bytes)),
        }
    }

    /// Text without markup: signals only.
    pub fn plain(&mut self) {
        self.visible(0..self.text.len(), Content::Plaintext);
    }

    /// A link of the HTTP header.
    pub fn header_link(&mut self, link: &HeaderLink<'_>) {
        let rel = RelFlags::parse(link.rel).typed(link.media_type);
        if !self.settings.resources && rel.intersects(RelFlags::RESOURCE) {
            return;
        }
        let index = self.add(LinkKind::Header, link.target, rel);
        if let Some(index) = index {
            self.page.links[index].hreflang = self.keep_language(link.hreflang);
            self.page.links[index].anchor = self.label(link.title);
        }
    }

    /// The page, when all tokens have been taken.
    pub fn finish(mut self) -> Page {
        self.end_anchor();
        self.end_title();
        self.page.noindex = self.directives.noindex;
        self.page.nofollow = self.directives.nofollow;
        self.page.noarchive = self.directives.noarchive;
        self.page.unavailable_after = self.directives.unavailable_after;
        self.page.text_bytes = self.signals.text_bytes();
        self.page.scripted = self.is_scripted();
        self.page.samples = self.signals.samples();
        self.page.print = self.signals.print().titled(&self.page.title);
        self.page.simhash = self.signals.simhash();
        self.page.text = self.visible.map(Collapsed::into_text).unwrap_or_default();
        self.page
    }

    /// Whether a browser would have to make the page: it has scripts, little text, and nothing to follow.
    fn is_scripted(&self) -> bool {
        let leads = |link: &Link| {
            matches!(
                link.kind,
                LinkKind::A
                    | LinkKind::Area
                    | LinkKind::Frame
                    | LinkKind::Iframe
                    | LinkKind::Refresh
            )
        };
        self.has_script && self.page.text_bytes < LITTLE_TEXT && !self.page.links.iter().any(leads)
    }

    fn raw(&self, attribute: Attribute) -> Option<&'a str> {
        if self.filled >> attribute as u32 & 1 == 0 {
            return None;
        }
        let (from, to) = self.values[attribute as usize];
        self.text.get(from..to)
    }

    fn value(&self, attribute: Attribute) -> Option<Cow<'a, str>> {
        let raw = self.raw(attribute)?;
        Some(if needs_decoding(raw.as_bytes()) {
            let mut decoded = String::with_capacity(raw.len());
            decode_into(raw, Place::Attribute, &mut decoded);
            Cow::Owned(decoded)
        } else {
            Cow::Borrowed(raw)
        })
    }

    fn rel(&self) -> RelFlags {
        self.value(Attribute::Rel)
            .map_or(RelFlags::default(), |value| RelFlags::parse(&value))
    }

    /// Puts a text into the arena.
    fn keep(&mut self, text: &str) -> Piece {
        let from = self.page.arena.len() as u32;
        self.page.arena.push_str(text);
        Piece {
            from,
            to: self.page.arena.len() as u32,
        }
    }

    /// Adds a link to an address that is decoded already; gives its place in the list.
    fn add(&mut self, kind: LinkKind, target: &str, rel: RelFlags) -> Option<usize> {
        let target = strip(target);
        if target.is_empty() || (!self.settings.resources && !kind.is_navigation()) {
            return None;
        }
        if target.len() > LONGEST_TARGET {
            self.page.links_long = self.page.links_long.saturating_add(1);
            return None;
        }
        if self.taken() + target.len() > self.settings.links_bytes.min(LARGEST_ARENA) {
            self.page.links_cut = self.page.links_cut.saturating_add(1);
            return None;
        }
        let target = self.keep(target);
        self.page.links.push(Link {
            target,
            anchor: Piece::default(),
            hreflang: Piece::default(),
            rel,
            kind,
        });
        Some(self.page.links.len() - 1)
    }

    /// Memory that the links take so far.
    fn taken(&self) -> usize {
        self.page.arena.len() + self.page.links.len() * size_of::<Link>()
    }

    fn add_value(&mut self, kind: LinkKind, attribute: Attribute, rel: RelFlags) -> Option<usize> {
        let value = self.value(attribute)?;
        self.add(kind, &value, rel)
    }

    fn add_plain(&mut self, kind: LinkKind, attribute: Attribute) {
        self.add_value(kind, attribute, RelFlags::default());
    }

    /// Adds the candidates of `srcset`, all with the same anchor text. Scripts load an image that is
    /// not in view yet from `data-srcset`.
    fn add_srcset(&mut self, kind: LinkKind, label: Piece) {
        for attribute in [Attribute::Srcset, Attribute::DataSrcset] {
            if let Some(value) = self.value(attribute) {
                srcset::candidates(&value, |url| {
                    if let Some(link) = self.add(kind, url, RelFlags::default()) {
                        self.page.links[link].anchor = label;
                    }
                });
            }
        }
    }

    /// Keeps an attribute's text as an anchor text; made once per element, however many links
    /// share it.
    fn label(&mut self, text: &str) -> Piece {
        let mut label = Collapsed::new(self.settings.anchor_bytes);
        label.push(text);
        self.keep(label.text())
    }

    /// The anchor text of an element that stands for itself: its `alt`.
    fn alternative(&mut self) -> Piece {
        let alt = self.value(Attribute::Alt);
        alt.map_or(Piece::default(), |alt| self.label(&alt))
    }

    fn end_anchor(&mut self) {
        if let Some(link) = self.anchor_of.take() {
            let from = self.page.arena.len() as u32;
            self.page.arena.push_str(self.anchor.text());
            let to = self.page.arena.len() as u32;
            self.page.links[link].anchor = Piece { from, to };
            self.anchor.clear();
        }
    }

    fn end_title(&mut self) {
        if let Some(title) = self.title.take() {
            self.page.title = title.into_text();
            self.titled = true;
        }
    }

    /// At a tag, the visible text begins another word, unless the element stands inside words.
    #[inline(always)]
    fn end_word(&mut self, name: Range<usize>) {
        if let Some(text) = &mut self.visible {
            let name = &self.text.as_bytes()[name];
            if !INSIDE_WORDS
                .iter()
                .any(|tag| name.eq_ignore_ascii_case(tag))
            {
                text.end_word();
            }
        }
    }

    fn visible(&mut self, range: Range<usize>, content: Content) {
        let raw = &self.text[range.clone()];
        let references =
            matches!(content, Content::Data) && memchr::memchr(b'&', raw.as_bytes()).is_some();
        if references {
            self.scratch.clear();
            decode_into(raw, Place::Text(content), &mut self.scratch);
            self.signals
                .feed(self.scratch.as_bytes(), 0, self.scratch.len());
        } else {
            self.signals
                .feed(self.text.as_bytes(), range.start, range.end);
        }
        if let Some(text) = &mut self.visible {
            text.push(if references { &self.scratch } else { raw });
        }
        if self.anchor_of.is_some() {
            self.anchor
                .push(if references { &self.scratch } else { raw });
        }
    }

    fn anchor_link(&mut self, kind: LinkKind) {
        let rel = self.rel();
        let link = self.add_value(kind, Attribute::Href, rel);
        if let Some(link) = link
            && let Some(language) = self.value(Attribute::Hreflang)
        {
            self.page.links[link].hreflang = self.keep_language(&language);
        }
        if kind == LinkKind::A {
            self.anchor_of = link;
        } else if let Some(link) = link {
            self.page.links[link].anchor = self.alternative();
        }
    }

    fn keep_language(&mut self, language: &str) -> Piece {
        let language = strip(language);
        if language.len() > LANG_BYTES {
            return Piece::default();
        }
        self.keep(language)
    }

    fn image(&mut self) {
        if let (Some(_), Some(alt)) = (self.anchor_of, self.value(Attribute::Alt)) {
            // The text of a link made of an image is what stands for the image.
            self.anchor.push(" ");
            self.anchor.push(&alt);
        }
        for source in [Attribute::Src, Attribute::DataSrc] {
            if let Some(address) = self.raw(source) {
                self.signals.picture(address);
            }
        }
        if !self.settings.resources {
            return;
        }
        // SVG's `image` has `href` for `src`.
        let source = if self.foreign.inside() {
            Attribute::Href
        } else {
            Attribute::Src
        };
        let label = self.alternative();
        for source in [source, Attribute::DataSrc] {
            if let Some(link) = self.add_value(LinkKind::Img, source, RelFlags::default()) {
                self.page.links[link].anchor = label;
            }
        }
        self.add_srcset(LinkKind::Img, label);
    }

    fn link_element(&mut self) {
        let mut rel = self.rel();
        if let Some(media_type) = self.value(Attribute::Type) {
            rel = rel.typed(&media_type);
        }
        if !self.settings.resources && rel.intersects(RelFlags::RESOURCE) {
            return;
        }
        let link = self.add_value(LinkKind::Link, Attribute::Href, rel);
        if let Some(link) = link
            && let Some(language) = self.value(Attribute::Hreflang)
        {
            self.page.links[link].hreflang = self.keep_language(&language);
        }
        if self.settings.resources {
            self.add_srcset(LinkKind::Link, Piece::default());
        }
    }

    fn base(&mut self) {
        if self.page.base.is_none()
            && let Some(value) = self.value(Attribute::Href)
            && strip(&value).len() <= LONGEST_TARGET
        {
            self.page.base = Some(strip(&value).to_owned());
            self.add(LinkKind::Base, &value, RelFlags::default());
        }
    }

    fn meta(&mut self) {
        let Some(content) = self.value(Attribute::Content) else {
            return;
        };
        if let Some(name) = self.value(Attribute::Name) {
            let name = strip(&name);
            if name.eq_ignore_ascii_case("robots") || names_agent(name, &self.settings.agent) {
                self.directives.add(&content);
            }
        }
        let pragma = self.value(Attribute::HttpEquiv);
        if pragma.is_some_and(|value| value.eq_ignore_ascii_case("refresh"))
            && let Some((seconds, url)) = refresh::parse(&content)
        {
            let link = self.add(LinkKind::Refresh, url, RelFlags::default());
            let target = link.map_or(Piece::default(), |link| self.page.links[link].target);
            // The first refresh counts, as in a browser the first to fire.
            self.page.refresh.get_or_insert(Refresh { seconds, target });
        }
    }

    fn form(&mut self) {
        let by_get = self.value(Attribute::Method).is_none_or(|method| {
            !method.eq_ignore_ascii_case("post") && !method.eq_ignore_ascii_case("dialog")
        });
        if self.settings.forms && by_get {
            let rel = self.rel();
            self.add_value(LinkKind::Form, Attribute::Action, rel);
        }
    }

    fn applet(&mut self) {
        self.add_plain(LinkKind::Applet, Attribute::Code);
        if let Some(list) = self.value(Attribute::Archive) {
            for archive in list.split(',') {
                self.add(LinkKind::Applet, archive, RelFlags::default());
            }
        }
    }

    fn links_of_tag(&mut self) {
        match self.tag {
            Tag::A => {
                // A link inside a link ends the outer one.
                self.end_anchor();
                self.anchor_link(LinkKind::A);
            }
            Tag::Area => self.anchor_link(LinkKind::Area),
            Tag::Base => self.base(),
            Tag::Frame => self.add_plain(LinkKind::Frame, Attribute::Src),
            Tag::Iframe => self.add_plain(LinkKind::Iframe, Attribute::Src),
            Tag::Img => self.image(),
            Tag::Input => {
                let image = self.value(Attribute::Type);
                if image.is_some_and(|kind| kind.eq_ignore_ascii_case("image")) {
                    self.add_plain(LinkKind::Img, Attribute::Src);
                }
            }
            Tag::Link => self.link_element(),
            Tag::Body => self.add_plain(LinkKind::Background, Attribute::Background),
            Tag::Applet => self.applet(),
            Tag::Object => self.add_plain(LinkKind::Object, Attribute::Data),
            Tag::Embed => self.add_plain(LinkKind::Embed, Attribute::Src),
            Tag::Script => {
                self.has_script = true;
                self.add_plain(LinkKind::Script, Attribute::Src);
            }
            Tag::Source => {
                self.add_plain(LinkKind::Source, Attribute::Src);
                self.add_plain(LinkKind::Source, Attribute::DataSrc);
                self.add_srcset(LinkKind::Source, Piece::default());
            }
            Tag::Video => {
                self.add_plain(LinkKind::Video, Attribute::Src);
                self.add_plain(LinkKind::Video, Attribute::Poster);
            }
            Tag::Audio => self.add_plain(LinkKind::Audio, Attribute::Src),
            Tag::Track => self.add_plain(LinkKind::Track, Attribute::Src),
            Tag::Form => self.form(),
            Tag::Meta => self.meta(),
            Tag::Html => {
                if self.page.lang.is_empty()
                    && let Some(value) = self.value(Attribute::Lang)
                    && strip(&value).len() <= LANG_BYTES
                {
                    self.page.lang = strip(&value).to_owned();
                }
            }
            _ => {}
        }
    }
}

impl Sink for Extractor<'_> {
    fn text(&mut self, range: Range<usize>, content: Content) {
        match content {
            Content::Data | Content::Cdata | Content::Plaintext => self.visible(range, content),
            Content::Rcdata => {
                if self.tag == Tag::Title
                    && let Some(title) = &mut self.title
                {
                    self.scratch.clear();
                    let raw = cut(&self.text[range], TITLE_BYTES * 8);
                    decode_into(raw, Place::Text(content), &mut self.scratch);
                    title.push(&self.scratch);
                }
            }
            Content::Rawtext if self.tag == Tag::Xmp => self.visible(range, content),
            Content::Rawtext | Content::Script => {}
        }
    }

    #[inline(always)]
    fn open(&mut self, name: Range<usize>) -> bool {
        self.tag = names::tag(&self.text.as_bytes()[name.clone()]);
        self.end_word(name.clone());
        self.name = name;
        self.filled = 0;
        self.tag != Tag::Other
    }

    #[inline(always)]
    fn attribute(&mut self, name: Range<usize>, value: Range<usize>) {
        if let Some(attribute) = names::attribute(&self.text.as_bytes()[name]) {
            let bit = 1 << attribute as u32;
            if self.filled & bit == 0 {
                self.filled |= bit;
                self.values[attribute as usize] = (value.start, value.end);
            }
        }
    }

    #[inline(always)]
    fn opened(&mut self, self_closing: bool) -> Content {
        let name = &self.text.as_bytes()[self.name.clone()];
        let foreign = self.foreign.open(name, self.tag, self_closing);
        if self.tag == Tag::Other {
            return Content::Data;
        }
        self.links_of_tag();
        if self.page.xml && self_closing {
            if self.tag == Tag::A {
                self.end_anchor();
            }
            return Content::Data;
        }
        if foreign {
            return Content::Data;
        }
        match self.tag {
            Tag::Script => Content::Script,
            Tag::Style | Tag::Xmp | Tag::Iframe | Tag::Noembed | Tag::Noframes => Content::Rawtext,
            Tag::Textarea => Content::Rcdata,
            Tag::Title => {
                if !self.titled {
                    self.title = Some(Collapsed::new(TITLE_BYTES));
                }
                Content::Rcdata
            }
            Tag::Plaintext => Content::Plaintext,
            _ => Content::Data,
        }
    }

    #[inline(always)]
    fn close(&mut self, name: Range<usize>) {
        self.end_word(name.clone());
        let name = &self.text.as_bytes()[name];
        let tag = names::tag(name);
        self.foreign.close(name, tag);
        match tag {
            Tag::A => self.end_anchor(),
            Tag::Title => self.end_title(),
            _ => {}
        }
    }

    fn cdata_allowed(&self) -> bool {
        self.page.xml || self.foreign.inside()
    }
}

/// The beginning of `text`, at most `most` bytes, cut between characters.
pub fn cut(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
