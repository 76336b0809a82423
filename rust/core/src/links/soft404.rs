//! Soft 404s: pages that say "not found" under status 200, or by a redirect, as far as one host tells.
//!
//! Takes what a host answered to a name that cannot exist ([`Answer`]); gives whether a page is that answer under
//! another URL. The numbers are those of `policy/hosts/soft404.py`, explained there.

use serde::Deserialize;

use super::cut;
use crate::codec::{Reader, put_bytes, put_number};

const VERSION: u8 = 1;
/// Samples of a page that are kept, and bytes of a URL or a reason.
const SAMPLES: usize = 512;
const TEXT_BYTES: usize = 2048;

/// Letters of a name that cannot exist.
const NAME: usize = 20;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Soft404Settings {
    pub probe: bool,
    pub pages: u32,
    pub suspects: u32,
    pub same: f32,
    pub other_samples: u32,
}

/// What is known of a host.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// It was asked for this name, and has not answered yet.
    Asked(Box<str>),
    /// It says that the name does not exist.
    Honest,
    /// It has a page for it: samples of the text.
    Page(Vec<u32>),
    /// It redirects there, without a query.
    Redirect(Box<str>),
    /// It told nothing: the reason.
    Unknown(Box<str>),
}

impl Answer {
    /// Whether a page with these samples of its text is the page of a name that does not exist.
    #[must_use]
    pub fn is_page(&self, samples: &[u32], settings: &Soft404Settings) -> bool {
        let Answer::Page(known) = self else {
            return false;
        };
        let mut page: Vec<u32> = samples.to_vec();
        page.sort_unstable();
        page.dedup();
        let common = page
            .iter()
            .filter(|sample| known.binary_search(sample).is_ok());
        let (common, most) = (common.count(), page.len().max(known.len()));
        // The name that was asked for may be in it, and not much more that is different.
        common > 0
            && common as f32 >= settings.same * most as f32
            && page.len() - common <= settings.other_samples as usize
    }

    /// Whether a redirect to this URL is that of a name that does not exist.
    #[must_use]
    pub fn is_redirect(&self, target: &str) -> bool {
        matches!(self, Answer::Redirect(known) if **known == *without_query(target))
    }

    /// The answer that is a page.
    #[must_use]
    pub fn page(samples: &[u32]) -> Answer {
        if samples.is_empty() {
            return Answer::Unknown("its page for a missing name has no text".into());
        }
        let mut samples = samples[..samples.len().min(SAMPLES)].to_vec();
        samples.sort_unstable();
        samples.dedup();
        Answer::Page(samples)
    }

    /// The answer that is a redirect. A site that only moves the name tells nothing of it.
    #[must_use]
    pub fn redirect(target: &str, name: &str) -> Answer {
        let target = without_query(target);
        if target.contains(name) {
            Answer::Unknown("it redirects a missing name to itself elsewhere".into())
        } else {
            Answer::Redirect(cut(target, TEXT_BYTES).into())
        }
    }

    /// For people.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Answer::Asked(_) => "was asked for a name that cannot exist; no answer yet".to_owned(),
            Answer::Honest => "says that a missing name does not exist".to_owned(),
            Answer::Page(_) => "has a page for a missing name: others like it are soft 404s".into(),
            Answer::Redirect(target) => {
                format!("redirects a missing name to {target}: so do soft 404s")
            }
            Answer::Unknown(reason) => format!("not known: {reason}"),
        }
    }

    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        let mut text = |kind: u8, text: &str| {
            out.push(kind);
            put_bytes(&mut out, cut(text, TEXT_BYTES).as_bytes());
        };
        match self {
            Answer::Asked(name) => text(0, name),
            Answer::Honest => out.push(1),
            Answer::Page(samples) => {
                out.push(2);
                put_number(&mut out, samples.len() as u64);
                for sample in samples {
                    out.extend_from_slice(&sample.to_be_bytes());
                }
            }
            Answer::Redirect(target) => text(3, target),
            Answer::Unknown(reason) => text(4, reason),
        }
        out
    }

    /// Damaged bytes give `None`.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Answer> {
        let mut reader = Reader::new(bytes);
        if reader.byte()? != VERSION {
            return None;
        }
        let kind = reader.byte()?;
        let mut text = || -> Option<Box<str>> {
            let text = std::str::from_utf8(reader.bytes()?).ok()?;
            Some(text.into())
        };
        Some(match kind {
            0 => Answer::Asked(text()?),
            1 => Answer::Honest,
            2 => {
                let mut samples = Vec::new();
                for _ in 0..reader.small::<usize>()?.min(SAMPLES) {
                    samples.push(u32::from_be_bytes(reader.take(4)?.try_into().ok()?));
                }
                Answer::Page(samples)
            }
            3 => Answer::Redirect(text()?),
            4 => Answer::Unknown(text()?),
            _ => return None,
        })
    }
}

/// A name that cannot exist, by two random numbers.
#[must_use]
pub fn missing_name(random: [u64; 2]) -> String {
    let [mut first, mut second] = random;
    let mut name = String::with_capacity(NAME);
    for at in 0..NAME {
        let bits = if at % 2 == 0 { &mut first } else { &mut second };
        name.push(char::from(b'a' + (*bits % 26) as u8));
        *bits /= 26;
    }
    name
}

fn without_query(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or(url)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const NUMBERS: Soft404Settings = Soft404Settings {
        probe: true,
        pages: 20,
        suspects: 3,
        same: 0.8,
        other_samples: 4,
    };

    #[test]
    fn the_same_text_but_for_a_name_is_a_soft_404_and_other_text_is_not() {
        let missing: Vec<u32> = (100..140).collect();
        let answer = Answer::page(&missing);
        assert!(answer.is_page(&missing, &NUMBERS));
        let named = [&missing[..38], &[7, 8]].concat();
        assert!(answer.is_page(&named, &NUMBERS));
        // A large frame with little in it, and a part of the page.
        let framed = [&missing[..], &[1, 2, 3, 4, 5, 6]].concat();
        assert!(!answer.is_page(&framed, &NUMBERS));
        assert!(!answer.is_page(&missing[..20], &NUMBERS));
        assert!(!answer.is_page(&[], &NUMBERS));
        assert!(!Answer::Honest.is_page(&missing, &NUMBERS));
        assert!(matches!(Answer::page(&[]), Answer::Unknown(_)));
    }

    #[test]
    fn redirects_to_one_place_are_soft_404s() {
        let answer = Answer::redirect("http://a.test/login?next=/abc", "abc");
        assert!(answer.is_redirect("http://a.test/login?next=/other"));
        assert!(!answer.is_redirect("http://a.test/new-place"));
        let moved = Answer::redirect("https://a.test/abc", "abc");
        assert!(matches!(moved, Answer::Unknown(_)) && !moved.is_redirect("https://a.test/abc"));
    }

    #[test]
    fn answers_read_back_and_damaged_ones_do_not_panic() {
        for answer in [
            Answer::Asked("abc".into()),
            Answer::Honest,
            Answer::page(&[3, 1, 2]),
            Answer::Redirect("http://a.test/".into()),
            Answer::Unknown("robots_refused".into()),
        ] {
            let bytes = answer.encode();
            assert_eq!(Answer::decode(&bytes), Some(answer));
            for end in 0..bytes.len() {
                let _ = Answer::decode(&bytes[..end]);
            }
        }
    }

    #[test]
    fn names_are_letters() {
        let name = missing_name([u64::MAX, 12_345_678_901_234]);
        assert_eq!(name.len(), NAME);
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase()));
    }
}
