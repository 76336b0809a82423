//! The element and attribute names that matter here, told apart without hashing or copying.

/// An element whose tags are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    A,
    Applet,
    Area,
    Audio,
    Base,
    Body,
    Embed,
    Form,
    Frame,
    Html,
    Iframe,
    Img,
    Input,
    Link,
    Math,
    Meta,
    Noembed,
    Noframes,
    Object,
    Plaintext,
    Script,
    Source,
    Style,
    Svg,
    Textarea,
    Title,
    Track,
    Video,
    Xmp,
    /// Any other; its attributes are skipped.
    Other,
}

/// A name of up to eight bytes as a number, ASCII letters in lower case. Only letters map to
/// letters, so names made of letters alone cannot be met by accident.
const fn pack(name: &[u8]) -> u64 {
    let mut packed = 0;
    let mut index = 0;
    while index < name.len() {
        packed = packed << 8 | (name[index] | 0x20) as u64;
        index += 1;
    }
    packed
}

macro_rules! packed {
    ($name:expr, $( $packed:ident $text:literal => $value:expr, )* ; $other:expr) => {{
        $( const $packed: u64 = pack($text); )*
        match pack($name) {
            $( $packed => $value, )*
            _ => $other,
        }
    }};
}

/// Which element a tag name (any case) names.
#[inline]
pub fn tag(name: &[u8]) -> Tag {
    if name.len() > 8 {
        return if name.eq_ignore_ascii_case(b"plaintext") {
            Tag::Plaintext
        } else {
            Tag::Other
        };
    }
    packed!(name,
        A b"a" => Tag::A,
        APPLET b"applet" => Tag::Applet,
        AREA b"area" => Tag::Area,
        AUDIO b"audio" => Tag::Audio,
        BASE b"base" => Tag::Base,
        BODY b"body" => Tag::Body,
        EMBED b"embed" => Tag::Embed,
        FORM b"form" => Tag::Form,
        FRAME b"frame" => Tag::Frame,
        HTML b"html" => Tag::Html,
        IFRAME b"iframe" => Tag::Iframe,
        IMAGE b"image" => Tag::Img,
        IMG b"img" => Tag::Img,
        INPUT b"input" => Tag::Input,
        LINK b"link" => Tag::Link,
        MATH b"math" => Tag::Math,
        META b"meta" => Tag::Meta,
        NOEMBED b"noembed" => Tag::Noembed,
        NOFRAMES b"noframes" => Tag::Noframes,
        OBJECT b"object" => Tag::Object,
        SCRIPT b"script" => Tag::Script,
        SOURCE b"source" => Tag::Source,
        STYLE b"style" => Tag::Style,
        SVG b"svg" => Tag::Svg,
        TEXTAREA b"textarea" => Tag::Textarea,
        TITLE b"title" => Tag::Title,
        TRACK b"track" => Tag::Track,
        VIDEO b"video" => Tag::Video,
        XMP b"xmp" => Tag::Xmp,
        ; Tag::Other)
}

/// An attribute whose value is looked at. The numbers are places in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Attribute {
    Href,
    Src,
    Srcset,
    DataSrc,
    DataSrcset,
    Rel,
    Hreflang,
    Alt,
    Content,
    Name,
    HttpEquiv,
    Lang,
    Action,
    Method,
    Background,
    Data,
    Poster,
    Archive,
    Code,
    Type,
}

impl Attribute {
    /// How many there are.
    pub const COUNT: usize = Attribute::Type as usize + 1;
}

/// Which attribute a name (any case) names.
#[inline]
pub fn attribute(name: &[u8]) -> Option<Attribute> {
    if name.len() > 8 {
        for (long, attribute) in [
            (&b"http-equiv"[..], Attribute::HttpEquiv),
            (b"background", Attribute::Background),
            (b"xlink:href", Attribute::Href),
            (b"imagesrcset", Attribute::Srcset),
            (b"data-srcset", Attribute::DataSrcset),
        ] {
            if name.eq_ignore_ascii_case(long) {
                return Some(attribute);
            }
        }
        return None;
    }
    Some(packed!(name,
        HREF b"href" => Attribute::Href,
        SRC b"src" => Attribute::Src,
        SRCSET b"srcset" => Attribute::Srcset,
        DATA_SRC b"data-src" => Attribute::DataSrc,
        REL b"rel" => Attribute::Rel,
        HREFLANG b"hreflang" => Attribute::Hreflang,
        ALT b"alt" => Attribute::Alt,
        CONTENT b"content" => Attribute::Content,
        NAME b"name" => Attribute::Name,
        LANG b"lang" => Attribute::Lang,
        ACTION b"action" => Attribute::Action,
        METHOD b"method" => Attribute::Method,
        DATA b"data" => Attribute::Data,
        POSTER b"poster" => Attribute::Poster,
        ARCHIVE b"archive" => Attribute::Archive,
        CODE b"code" => Attribute::Code,
        TYPE b"type" => Attribute::Type,
        ; return None))
}
