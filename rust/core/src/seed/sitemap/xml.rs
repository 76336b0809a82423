//! XML sitemaps and feeds, read as a stream of tags; nesting hardly matters, spelling does.

use super::{Gather, Kind, Raw};
use quick_xml::Reader;
use quick_xml::escape::{resolve_xml_entity, unescape_with};
use quick_xml::events::{BytesRef, BytesStart, Event};

/// Longer text is no date, no number, no URL that we would take.
const MAX_TEXT: usize = 16 * 1024;

/// Which part of an entry the text at hand belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// `<loc>`, or a feed's `<link>`.
    Loc,
    /// `<guid>`: the address of an item without a link.
    Guid,
    /// `<lastmod>`, `<pubDate>`, `<updated>` …
    Lastmod,
    Changefreq,
    Priority,
    /// Text of the entry itself: some sites forget `<loc>`.
    Entry,
    Nothing,
}

struct Walk<'g, 'a> {
    gather: &'g mut Gather<'a>,
    /// The prefix of the root element: `image:loc` is not `loc`, `s:loc` is, under `s:urlset`.
    prefix: String,
    /// The name of the entry elements.
    entry_name: &'static str,
    in_entry: bool,
    part: Part,
    raw: Raw,
    guid: String,
    loose: String,
    /// An entity that only a declaration could explain: the entry is not usable.
    unknown_entity: bool,
}

/// Reads all entries of the document, up to the first fault that cannot be passed over.
pub(super) fn read(text: &str, gather: &mut Gather<'_>) {
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    let mut walk = Walk {
        gather,
        prefix: String::new(),
        entry_name: "",
        in_entry: false,
        part: Part::Nothing,
        raw: Raw::default(),
        guid: String::new(),
        loose: String::new(),
        unknown_entity: false,
    };
    loop {
        let go_on = match reader.read_event() {
            Ok(Event::Start(tag)) => walk.start(&tag),
            Ok(Event::Empty(tag)) => walk.start(&tag) && walk.end(tag.name().as_ref()),
            Ok(Event::End(tag)) => walk.end(tag.name().as_ref()),
            Ok(Event::Text(text)) => walk.text(&text.into_inner()),
            Ok(Event::CData(text)) => walk.text(&text.into_inner()),
            Ok(Event::GeneralRef(entity)) => walk.entity(&entity),
            Ok(Event::Eof) => break,
            Ok(_) => true,
            Err(_) => {
                walk.gather.out.truncated = true;
                break;
            }
        };
        if !go_on {
            return;
        }
    }
    // The file may end within an entry: what is known of it counts.
    if walk.in_entry && !(walk.raw.loc.is_empty() && walk.guid.is_empty()) {
        walk.gather.out.truncated = true;
        walk.finish_entry();
    }
}

impl Walk<'_, '_> {
    /// The local name, if the element belongs to the sitemap and not to an extension of it.
    fn own<'n>(&self, name: &'n str) -> Option<&'n str> {
        match name.split_once(':') {
            Some((prefix, local)) => (prefix == self.prefix).then_some(local),
            None => Some(name),
        }
    }

    fn start(&mut self, tag: &BytesStart<'_>) -> bool {
        let qualified = tag.name();
        let name: &str = qualified.as_ref();
        if self.entry_name.is_empty() {
            return self.root(name);
        }
        if name == "dc:date" && self.in_entry && self.raw.lastmod.is_empty() {
            self.part = Part::Lastmod;
            return true;
        }
        let Some(local) = self.own(name) else {
            self.part = Part::Nothing;
            return true;
        };
        // `<loc><url>…</url></loc>` occurs: within a location nothing else begins.
        if local == self.entry_name && self.part != Part::Loc {
            let go_on = !self.in_entry || self.finish_entry();
            self.in_entry = true;
            self.part = Part::Entry;
            return go_on;
        }
        if !self.in_entry || self.part == Part::Loc {
            return true;
        }
        self.part = match (self.gather.out.kind, local) {
            (Kind::UrlSet | Kind::Index, "loc") => {
                // A second location without a new entry: the end of the first was forgotten.
                if !self.raw.loc.is_empty() && !self.finish_entry() {
                    return false;
                }
                self.in_entry = true;
                Part::Loc
            }
            (Kind::UrlSet | Kind::Index, "lastmod") => Part::Lastmod,
            (Kind::UrlSet, "changefreq") => Part::Changefreq,
            (Kind::UrlSet, "priority") => Part::Priority,
            (Kind::Rss, "link") if self.raw.loc.is_empty() => Part::Loc,
            (Kind::Rss, "guid") => Part::Guid,
            (Kind::Rss, "pubDate" | "pubdate") => Part::Lastmod,
            (Kind::Atom, "updated" | "modified") => {
                self.raw.lastmod.clear();
                Part::Lastmod
            }
            (Kind::Atom, "published" | "issued") if self.raw.lastmod.is_empty() => Part::Lastmod,
            (Kind::Atom, "link") => {
                self.atom_link(tag);
                Part::Nothing
            }
            _ => Part::Nothing,
        };
        true
    }

    /// The first element says what the document is; another first element ends the reading.
    fn root(&mut self, name: &str) -> bool {
        let (prefix, local) = name.split_once(':').unwrap_or(("", name));
        let (kind, entry_name) = match local {
            "urlset" => (Kind::UrlSet, "url"),
            "sitemapindex" => (Kind::Index, "sitemap"),
            "rss" | "RDF" => (Kind::Rss, "item"),
            "feed" => (Kind::Atom, "entry"),
            _ => return false,
        };
        self.gather.out.kind = kind;
        self.entry_name = entry_name;
        // The items of RDF feeds have no prefix although their root has one.
        if kind != Kind::Rss {
            self.prefix = prefix.to_owned();
        }
        true
    }

    fn atom_link(&mut self, tag: &BytesStart<'_>) {
        let mut href = None;
        let mut page = true;
        for attribute in tag.html_attributes().flatten() {
            let key: &str = attribute.key.as_ref();
            let value: &str = attribute.value.as_ref();
            match key {
                "href" => {
                    href = Some(
                        unescape_with(value, resolve_xml_entity)
                            .map_or_else(|_| value.to_owned(), Into::into),
                    )
                }
                "rel" => page = value == "alternate",
                _ => {}
            }
        }
        if let Some(href) =
            href.filter(|href| page && self.raw.loc.is_empty() && href.len() <= MAX_TEXT)
        {
            self.raw.loc = href;
        }
    }

    fn end(&mut self, name: &str) -> bool {
        let Some(local) = self.own(name) else {
            return true;
        };
        if self.part == Part::Loc {
            // Only its own end closes a location; `</url>` within it does not.
            if matches!(local, "loc" | "link") {
                self.part = Part::Nothing;
            }
            return true;
        }
        if local == self.entry_name && self.in_entry {
            self.in_entry = false;
            self.part = Part::Nothing;
            return self.finish_entry();
        }
        self.part = if self.in_entry && self.part != Part::Entry {
            Part::Nothing
        } else {
            self.part
        };
        true
    }

    fn text(&mut self, text: &str) -> bool {
        let buffer = match self.part {
            Part::Loc => &mut self.raw.loc,
            Part::Guid => &mut self.guid,
            Part::Lastmod => &mut self.raw.lastmod,
            Part::Changefreq => &mut self.raw.changefreq,
            Part::Priority => &mut self.raw.priority,
            Part::Entry => &mut self.loose,
            Part::Nothing => return true,
        };
        // Text over the limit stays over it, so that the entry is refused and not cut.
        if buffer.len() <= MAX_TEXT {
            let room = MAX_TEXT + 1 - buffer.len();
            let mut end = text.len().min(room);
            while !text.is_char_boundary(end) {
                end += 1;
            }
            buffer.push_str(&text[..end]);
        }
        true
    }

    fn entity(&mut self, entity: &BytesRef<'_>) -> bool {
        if let Ok(Some(character)) = entity.resolve_char_ref() {
            return self.text(character.encode_utf8(&mut [0; 4]));
        }
        let name: &str = entity;
        match resolve_xml_entity(name) {
            Some(text) => self.text(text),
            // `?a=1&b=2;c` is no entity: it was meant as it stands.
            None if name.contains('=') => self.text("&") && self.text(name) && self.text(";"),
            None => {
                self.unknown_entity |= self.part == Part::Loc;
                true
            }
        }
    }

    fn finish_entry(&mut self) -> bool {
        let mut raw = std::mem::take(&mut self.raw);
        let guid = std::mem::take(&mut self.guid);
        let loose = std::mem::take(&mut self.loose);
        if std::mem::take(&mut self.unknown_entity) {
            raw.loc.clear();
        } else if raw.loc.trim().is_empty() {
            // An address that stands in another place counts only if it is a whole one.
            let spare = if guid.is_empty() { loose } else { guid };
            let whole = spare
                .trim()
                .get(..4)
                .is_some_and(|head| head.eq_ignore_ascii_case("http"));
            raw.loc = if whole { spare } else { String::new() };
        }
        self.gather.take(&raw)
    }
}
