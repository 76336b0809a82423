//! The media type that a `Content-Type` field declares, as servers write it.

/// The top-level types that there are.
const CLASSES: [&str; 10] = [
    "application",
    "audio",
    "font",
    "haptics",
    "image",
    "message",
    "model",
    "multipart",
    "text",
    "video",
];

/// The type without its parameters. `None`: the field tells nothing (`html`, `*/*`, `unknown/unknown`,
/// `text/htm`), and the body has to. A type behind such a word counts (`Content-Type: text/html`).
#[must_use]
pub fn declared_type(value: &str) -> Option<&str> {
    let words = value.split(|c: char| matches!(c, ';' | ',') || c.is_whitespace());
    words
        .map(|word| word.trim_matches(['"', '\'']))
        .find(|word| tells(word))
}

fn tells(essence: &str) -> bool {
    let Some((class, name)) = essence.split_once('/') else {
        return false;
    };
    let is = |word: &str, other: &str| word.eq_ignore_ascii_case(other);
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte);
    // Near misses of the two names of HTML mean HTML more often than not.
    let right = is(essence, "text/html") || is(essence, "application/xhtml+xml");
    let near = !right && name.to_ascii_lowercase().contains("htm");
    CLASSES.iter().any(|known| is(class, known))
        && !name.is_empty()
        && name.bytes().all(token)
        && !is(name, "unknown")
        && !near
}

#[cfg(test)]
mod tests {
    use super::declared_type;

    #[test]
    fn types_as_servers_write_them() {
        for (value, expected) in [
            ("text/html", Some("text/html")),
            ("Text/HTML;charset=utf-8", Some("Text/HTML")),
            ("text/html charset=utf-8", Some("text/html")),
            ("\"text/html\"", Some("text/html")),
            ("Content-Type: text/html", Some("text/html")),
            ("html, text/html", Some("text/html")),
            ("application/xhtml+xml", Some("application/xhtml+xml")),
            ("image/svg+xml", Some("image/svg+xml")),
            ("application/vnd.ms-excel", Some("application/vnd.ms-excel")),
            ("html", None),
            ("text", None),
            ("", None),
            (";charset=utf-8", None),
            ("/", None),
            ("text/", None),
            ("text/*", None),
            ("*/*", None),
            ("unknown/unknown", None),
            ("application/unknown", None),
            ("www/source", None),
            ("httpd/unix-directory", None),
            ("text/htm", None),
            ("application/html", None),
            ("application/x-httpd-phtml", None),
            ("multipart; boundary=a/b", None),
            ("é/ü", None),
        ] {
            assert_eq!(declared_type(value), expected, "{value:?}");
        }
    }
}
