//! A queued URL: its place in the store and its record.
//!
//! Place, as a key of `Space::Queue`:
//!
//! ```text
//! host key (8) ++ band (1) ++ seq (8)                      ready: lower band first, then in order of coming
//! host key (8) ++ 0xff (1) ++ not before (8) ++ seq (8)    waiting for a time, by time
//! ```
//!
//! Record: version, flags, band, tries, free tries, depth, referrer, then the URL: where the URL
//! begins with its scheme and host (always, for canonical URLs), only what follows is kept.

use super::bytes::{Reader, put_bytes, put_number};
use super::{Fresh, Purpose};

const VERSION: u8 = 1;

const HTTPS: u8 = 1;
const SEED: u8 = 2;
const SITEMAP: u8 = 4;
const DYNAMIC: u8 = 8;
/// The record holds the whole URL, not only what follows scheme and host.
const WHOLE: u8 = 16;

/// Bytes kept of who linked to a URL: as long as the longest URL by default.
const FROM_BYTES: usize = 2048;

/// The number of bands; 0 is the best.
pub const BANDS: u8 = 8;

/// The band byte of URLs that wait for a time.
const WAITING: u8 = 0xff;

/// Where a URL stands in its host's queue; sorts as the keys of the store do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place {
    band: u8,
    at: u64,
    seq: u64,
}

impl Place {
    pub const FIRST: Place = Place {
        band: 0,
        at: 0,
        seq: 0,
    };

    pub const FIRST_WAITING: Place = Place {
        band: WAITING,
        at: 0,
        seq: 0,
    };

    /// A ready place from its packed form, band in the high byte and sequence below.
    pub fn ready(packed: u64) -> Place {
        Place {
            band: (packed >> 56) as u8,
            at: packed & ((1 << 56) - 1),
            seq: 0,
        }
    }

    /// The packed form of a ready place.
    pub fn packed(self) -> u64 {
        (u64::from(self.band) << 56) | self.at
    }

    pub fn waiting(not_before: u64, seq: u64) -> Place {
        Place {
            band: WAITING,
            at: not_before,
            seq,
        }
    }

    /// The first place after this one.
    pub fn next(self) -> Place {
        if self.is_waiting() {
            Place {
                seq: self.seq.saturating_add(1),
                ..self
            }
        } else {
            Place {
                at: self.at.saturating_add(1),
                ..self
            }
        }
    }

    /// The same place in another band: still in the order of coming.
    pub fn in_band(self, band: u8) -> Place {
        Place { band, ..self }
    }

    pub fn is_waiting(self) -> bool {
        self.band == WAITING
    }

    /// The time before which a waiting URL has no turn.
    pub fn not_before(self) -> u64 {
        self.at
    }

    /// The key in the store.
    pub fn key(self, host: u64) -> Vec<u8> {
        let mut key = Vec::with_capacity(25);
        key.extend_from_slice(&host.to_be_bytes());
        key.push(self.band);
        key.extend_from_slice(&self.at.to_be_bytes());
        if self.is_waiting() {
            key.extend_from_slice(&self.seq.to_be_bytes());
        }
        key
    }

    /// The place that a key of the store names.
    pub fn of_key(key: &[u8]) -> Option<Place> {
        let mut reader = Reader::new(key.get(8..)?);
        let band = reader.byte()?;
        let at = u64::from_be_bytes(reader.take(8)?.try_into().ok()?);
        let seq = match (band, reader.rest()) {
            (WAITING, rest) => u64::from_be_bytes(rest.try_into().ok()?),
            (_, []) => 0,
            _ => return None,
        };
        Some(Place { band, at, seq })
    }
}

/// What is kept of a queued URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Queued<'a> {
    flags: u8,
    pub band: u8,
    pub tries: u8,
    /// Visits given back that cost no try.
    pub free: u8,
    pub depth: u16,
    pub from: &'a [u8],
    text: &'a str,
}

impl<'a> Queued<'a> {
    pub fn of(fresh: &Fresh<'a>) -> Queued<'a> {
        let mut flags = 0;
        for (bit, set) in [
            (HTTPS, fresh.https),
            (SEED, fresh.seed),
            (SITEMAP, fresh.sitemap),
            (DYNAMIC, fresh.dynamic),
        ] {
            flags |= if set { bit } else { 0 };
        }
        let rest = fresh
            .url
            .strip_prefix(scheme(fresh.https))
            .and_then(|rest| rest.strip_prefix(fresh.host))
            .filter(|rest| rest.starts_with(['/', '?']) || rest.is_empty());
        Queued {
            flags: if rest.is_none() { flags | WHOLE } else { flags },
            band: fresh.band.min(BANDS - 1),
            tries: 0,
            free: 0,
            depth: fresh.depth,
            from: &fresh.from[..fresh.from.len().min(FROM_BYTES)],
            text: rest.unwrap_or(fresh.url),
        }
    }

    pub fn https(&self) -> bool {
        self.flags & HTTPS != 0
    }

    pub fn seed(&self) -> bool {
        self.flags & SEED != 0
    }

    pub fn dynamic(&self) -> bool {
        self.flags & DYNAMIC != 0
    }

    pub fn purpose(&self) -> Purpose {
        if self.flags & SITEMAP == 0 {
            Purpose::Page
        } else {
            Purpose::Sitemap
        }
    }

    pub fn url(&self, host: &str) -> String {
        if self.flags & WHOLE == 0 {
            [scheme(self.https()), host, self.text].concat()
        } else {
            self.text.to_owned()
        }
    }

    /// What robots rules are matched against.
    pub fn path(&self) -> &'a str {
        let rest = if self.flags & WHOLE == 0 {
            self.text
        } else {
            let after = self.text.find("://").map_or(0, |at| at + 3);
            let rest = &self.text[after..];
            &rest[rest.find(['/', '?']).unwrap_or(rest.len())..]
        };
        if rest.is_empty() { "/" } else { rest }
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(10 + self.from.len() + self.text.len());
        out.extend_from_slice(&[VERSION, self.flags, self.band, self.tries, self.free]);
        put_number(&mut out, u64::from(self.depth));
        put_bytes(&mut out, self.from);
        out.extend_from_slice(self.text.as_bytes());
        out
    }

    pub fn decode(bytes: &'a [u8]) -> Option<Queued<'a>> {
        let mut reader = Reader::new(bytes);
        if reader.byte()? != VERSION {
            return None;
        }
        Some(Queued {
            flags: reader.byte()?,
            band: reader.byte()?.min(BANDS - 1),
            tries: reader.byte()?,
            free: reader.byte()?,
            depth: reader.small()?,
            from: reader.bytes()?,
            text: std::str::from_utf8(reader.rest()).ok()?,
        })
    }
}

/// How URLs of the scheme begin.
pub(super) fn scheme(https: bool) -> &'static str {
    if https { "https://" } else { "http://" }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn places_sort_as_their_keys() {
        let places = [
            Place::FIRST,
            Place::ready(7),
            Place::ready((3 << 56) | 1),
            Place::FIRST_WAITING,
            Place::waiting(5, 1),
            Place::waiting(5, 2),
            Place::waiting(6, 0),
        ];
        assert!(places.is_sorted());
        assert!(places.map(|place| place.key(9)).is_sorted());
        for place in places {
            assert_eq!(Place::of_key(&place.key(9)), Some(place));
        }
        assert_eq!(Place::of_key(b"short"), None);
    }

    proptest! {
        #[test]
        fn a_record_reads_back(path in "(/[a-z?&=]{0,20})?", https: bool, depth: u16, from: [u8; 16], band in 0_u8..8, odd: bool) {
            let url = if odd { format!("gopher:x{path}") } else { format!("{}a.test:81{path}", scheme(https)) };
            let fresh = Fresh { https, depth, band, from: &from, ..Fresh::new(&url, "a.test:81", 1) };
            let bytes = Queued::of(&fresh).encode();
            let read = Queued::decode(&bytes).unwrap();
            prop_assert_eq!(read.url("a.test:81"), url);
            prop_assert_eq!((read.depth, read.band, read.https(), read.from), (depth, band, https, from.as_slice()));
            prop_assert!(read.path().starts_with(['/', '?']));
        }

        #[test]
        fn damaged_records_do_not_panic(bytes: Vec<u8>) {
            if let Some(read) = Queued::decode(&bytes) {
                let _ = (read.url("h"), read.path());
            }
        }
    }
}
