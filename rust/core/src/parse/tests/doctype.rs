//! The inside of a document type, read as the standard reads it. The product needs no part of it
//! but its end; the tokenizer cases ask for all of it.

use super::super::tokenizer::is_space;

/// Name, public and system identifier, and whether the document is *not* forced into quirks mode.
pub type Doctype = (Option<String>, Option<String>, Option<String>, bool);

fn clean(text: &str) -> String {
    text.replace("\r\n", "\n")
        .replace('\r', "\n")
        .replace('\0', "\u{fffd}")
}

fn skip(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_ascii() && is_space(c as u8))
}

/// Reads what stands between `<!DOCTYPE` and its end.
pub fn read(inside: &str, complete: bool) -> Doctype {
    let rest = skip(inside);
    if rest.is_empty() {
        return (None, None, None, false);
    }
    let end = rest
        .find(|c: char| c.is_ascii() && is_space(c as u8))
        .unwrap_or(rest.len());
    let name = Some(clean(&rest[..end]).to_ascii_lowercase());
    let mut rest = skip(&rest[end..]);
    let mut ids = [None, None];
    if rest.is_empty() {
        return (name, None, None, complete);
    }
    let word = rest.get(..6).unwrap_or_default().to_ascii_lowercase();
    let first = match word.as_str() {
        "public" => 0,
        "system" => 1,
        _ => return (name, None, None, false),
    };
    rest = skip(&rest[6..]);
    for (index, slot) in ids.iter_mut().enumerate().skip(first) {
        let quote = match rest.chars().next() {
            Some(quote @ ('"' | '\'')) => quote,
            // A public identifier may stand alone.
            None if index == 1 && first == 0 => break,
            _ => return (name, ids[0].clone(), ids[1].clone(), false),
        };
        match rest[1..].split_once(quote) {
            Some((id, after)) => {
                *slot = Some(clean(id));
                rest = skip(after);
            }
            None => {
                *slot = Some(clean(&rest[1..]));
                return (name, ids[0].clone(), ids[1].clone(), false);
            }
        }
    }
    let [public, system] = ids;
    // Anything behind the system identifier is ignored up to the end, which then is a right one.
    let correct = complete || system.is_some() && !rest.is_empty();
    (name, public, system, correct)
}
