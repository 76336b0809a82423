//! The key of a URL in an index of captures, as replay tools make it when they look a URL up: SURT form, host
//! labels reversed, everything in lower case, escapes undone, query parameters sorted, session ids left out.
//!
//! It is a key to find by, not the URL: many URLs share one. What it must be is fixed by those tools (the rules
//! of the Internet Archive's `archive-commons`, which pywb follows); `tests/native/cdxj_keys.txt` has their answers.

/// The key of a canonical URL, such as `org,example)/path?a=1&b=2`.
#[must_use]
pub fn surt(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let rest = rest.split('#').next().unwrap_or(rest);
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    let (path, query) = tail.split_once('?').unwrap_or((tail, ""));
    let mut out = String::with_capacity(url.len() + 4);
    push_host(&mut out, authority, scheme);
    out.push(')');
    push_path(&mut out, path);
    let query = sorted(without_sessions(minimal(query.as_bytes())));
    if !query.is_empty() {
        out.push('?');
        out.push_str(&query);
    }
    out
}

fn push_host(out: &mut String, authority: &str, scheme: &str) {
    let lower = authority.to_ascii_lowercase();
    let host_and_port = lower.rsplit('@').next().unwrap_or(&lower);
    let (host, port) = split_port(host_and_port);
    // An IPv6 address loses its brackets; an IPv4 address is reversed like a name.
    if let Some(address) = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        out.push_str(address);
    } else {
        for (at, label) in without_www(host).rsplit('.').enumerate() {
            if at > 0 {
                out.push(',');
            }
            out.push_str(label);
        }
    }
    let default = if scheme == "https" { 443 } else { 80 };
    if let Some(port) = port.filter(|port| *port != 0 && *port != default) {
        out.push_str(&format!(":{port}"));
    }
}

fn split_port(host: &str) -> (&str, Option<u32>) {
    match host.rsplit_once(':') {
        Some((name, digits)) if digits.bytes().all(|b| b.is_ascii_digit()) => {
            (name, digits.parse().ok())
        }
        _ => (host, None),
    }
}

/// Without `www.`, `www2.` and the like.
fn without_www(host: &str) -> &str {
    host.strip_prefix("www")
        .map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()))
        .and_then(|rest| rest.strip_prefix('.'))
        .filter(|rest| !rest.is_empty())
        .unwrap_or(host)
}

/// Dots and empty segments are looked for when the escapes are undone, not before.
fn push_path(out: &mut String, path: &str) {
    let plain = unescaped(path.as_bytes());
    let mut kept: Vec<&[u8]> = Vec::new();
    for segment in plain.split(|b| *b == b'/').skip(1) {
        match segment {
            b"." => {}
            b".." if !kept.is_empty() => {
                kept.pop();
            }
            _ => kept.push(segment),
        }
    }
    let mut path = vec![b'/'];
    if let Some((last, before)) = kept.split_last() {
        for segment in before.iter().filter(|segment| !segment.is_empty()) {
            path.extend_from_slice(segment);
            path.push(b'/');
        }
        path.extend_from_slice(last);
    }
    let path = without_path_session(escaped(&path).to_ascii_lowercase());
    out.push_str(match path.strip_suffix('/') {
        Some(stem) if !stem.is_empty() => stem,
        _ => &path,
    });
}

/// Escapes undone again and again, until there are none. Each undone escape is two bytes less, so the time is
/// linear, also where escapes of escapes are nested.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let mut out: Vec<u8> = Vec::with_capacity(text.len());
    for &byte in text {
        out.push(byte);
        while let [.., b'%', high, low] = out[..]
            && let (Some(high), Some(low)) = (digit(high), digit(low))
        {
            out.truncate(out.len() - 3);
            out.push((high * 16 + low) as u8);
        }
    }
    out
}

/// What is not printable ASCII, and `#` and `%`, escaped.
fn escaped(text: &[u8]) -> String {
    let mut out = String::with_capacity(text.len());
    for &byte in text {
        if byte.is_ascii_graphic() && byte != b'#' && byte != b'%' {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02x}"));
        }
    }
    out
}

fn minimal(text: &[u8]) -> String {
    escaped(&unescaped(text)).to_ascii_lowercase()
}

/// Parameters by name, then by value; one without a value before the same with one.
fn sorted(query: String) -> String {
    let mut parts: Vec<(&str, Option<&str>)> = query
        .split('&')
        .map(|part| match part.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (part, None),
        })
        .collect();
    if parts.len() < 2 {
        return query;
    }
    parts.sort_unstable();
    let mut out = String::with_capacity(query.len());
    for (at, (name, value)) in parts.iter().enumerate() {
        if at > 0 {
            out.push('&');
        }
        out.push_str(name);
        if let Some(value) = value {
            out.push('=');
            out.push_str(value);
        }
    }
    out
}

/// The length of the session id that a text begins with, if it does.
type Session = fn(&str) -> Option<usize>;

/// The session ids that replay tools know, in the order in which they look for them.
const SESSIONS: [Session; 5] = [
    |text| named(text, "jsessionid="),
    |text| named(text, "phpsessid="),
    |text| named(text, "sid="),
    aspsessionid,
    cfid_and_token,
];

/// Without session ids: of each kind the last.
fn without_sessions(mut query: String) -> String {
    for session in SESSIONS {
        let found = (0..query.len()).rev().find_map(|at| {
            let end = at + session(query.get(at..)?)?;
            let ends = end == query.len() || query.as_bytes()[end] == b'&';
            ends.then_some((at, (end + 1).min(query.len())))
        });
        if let Some((at, end)) = found {
            query.replace_range(at..end, "");
        }
    }
    query
}

fn named(text: &str, name: &str) -> Option<usize> {
    let value = text.strip_prefix(name)?.as_bytes().get(..32)?;
    let is_id = value.iter().all(u8::is_ascii_alphanumeric);
    is_id.then_some(name.len() + 32)
}

/// `aspsessionidXXXXXXXX=` and 24 letters.
fn aspsessionid(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("aspsessionid")?.as_bytes().get(..33)?;
    let letters = |part: &[u8]| part.iter().all(u8::is_ascii_alphabetic);
    (letters(&rest[..8]) && rest[8] == b'=' && letters(&rest[9..])).then_some(12 + 33)
}

/// Two parameters that go together.
fn cfid_and_token(text: &str) -> Option<usize> {
    let value = |text: &str| Some(text.find('&').unwrap_or(text.len())).filter(|&n| n > 0);
    let id = text.strip_prefix("cfid=")?;
    let token = id[value(id)?..].strip_prefix("&cftoken=")?;
    Some(text.len() - token.len() + value(token)?)
}

/// Without the session id that ASP.NET keeps in a segment of the path of a page: `/(S(…))/` or `/(…)/`.
fn without_path_session(mut path: String) -> String {
    for is_session in [are_session_ids, is_session_id] {
        let slashes: Vec<usize> = path.match_indices('/').map(|(at, _)| at).collect();
        let found = slashes.windows(2).rev().find(|pair| {
            let segment = &path[pair[0] + 1..pair[1]];
            let inside = segment
                .strip_prefix('(')
                .and_then(|rest| rest.strip_suffix(')'));
            let page = &path[pair[1] + 1..];
            let page = page.split('?').next().unwrap_or(page);
            inside.is_some_and(is_session)
                && page.get(1..).is_some_and(|name| name.contains(".aspx"))
        });
        if let Some(pair) = found {
            path.replace_range(pair[0] + 1..pair[1] + 1, "");
        }
    }
    path
}

fn is_session_id(text: &str) -> bool {
    text.len() == 24 && text.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// One or more, each behind a letter and in brackets: `s(…)f(…)`.
fn are_session_ids(text: &str) -> bool {
    let (each, rest) = text.as_bytes().as_chunks::<27>();
    let is_one = |part: &[u8; 27]| {
        part[0].is_ascii_alphabetic()
            && part[1] == b'('
            && part[2..26].iter().all(u8::is_ascii_alphanumeric)
            && part[26] == b')'
    };
    !each.is_empty() && rest.is_empty() && each.iter().all(is_one)
}

#[cfg(test)]
mod tests {
    use super::surt;

    #[test]
    fn keys() {
        for (url, key) in [
            ("http://www.Example.org/", "org,example)/"),
            (
                "https://example.org:8080/A/b/?z=1&a=2",
                "org,example:8080)/a/b?a=2&z=1",
            ),
            ("http://127.1.2.3:8000/x", "3,2,1,127:8000)/x"),
            ("http://[::1]:81/", "::1:81)/"),
            ("http://[::1]/", "::1)/"),
            ("http://example.org", "org,example)/"),
            ("http://www2.a.b.example.org/p", "org,example,b,a)/p"),
            ("http://www.com/", "com)/"),
            ("http://example.org/a//b//", "org,example)/a/b"),
            ("http://example.org?q", "org,example)/?q"),
        ] {
            assert_eq!(surt(url), key, "{url}");
        }
    }

    /// Their own answers; where they are from stands in the file.
    #[test]
    fn keys_are_those_that_replay_tools_ask_for() {
        let answers = include_str!("../../../../../tests/native/cdxj_keys.txt");
        let mut count = 0;
        for line in answers.lines().filter(|line| !line.starts_with('#')) {
            let (url, key) = line.split_once('\t').unwrap_or_default();
            assert_eq!(surt(url), key, "{url}");
            count += 1;
        }
        assert!(count > 200);
    }

    #[test]
    fn escapes_of_escapes_cost_linear_time() {
        let url = format!(
            "http://a/%{}41?{}",
            "25".repeat(500_000),
            "%25".repeat(300_000)
        );
        let begin = crate::clock::thread_cpu();
        assert!(surt(&url).starts_with("a)/a?%25%25"));
        let took = crate::clock::thread_cpu() - begin;
        assert!(took < std::time::Duration::from_secs(2), "took {took:?}");
    }
}
