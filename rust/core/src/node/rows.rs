//! The rows of the spaces `index` and `content`, and how they are spelt as bytes.

use crate::outcome::Outcome;
use crate::visit::Original;
use crate::warc::Digest;

const VERSION: u8 = 1;

/// What became of a URL, and where its record is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexRow {
    /// The outcome's number.
    pub outcome: u8,
    pub status: u16,
    pub depth: u16,
    /// When the visit began.
    pub time: u64,
    /// The WARC file's number, and the record's place in it; 0, 0, 0 where there is none.
    pub serial: u32,
    pub offset: u64,
    pub length: u32,
    pub simhash: u64,
    pub digest: Option<Digest>,
    pub etag: String,
    pub last_modified: String,
}

impl IndexRow {
    /// The outcome, if this build knows its number.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        Outcome::ALL.get(usize::from(self.outcome)).copied()
    }

    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64);
        out.push(VERSION);
        out.push(self.outcome);
        out.extend_from_slice(&self.status.to_be_bytes());
        out.extend_from_slice(&self.depth.to_be_bytes());
        out.extend_from_slice(&self.time.to_be_bytes());
        out.extend_from_slice(&self.serial.to_be_bytes());
        out.extend_from_slice(&self.offset.to_be_bytes());
        out.extend_from_slice(&self.length.to_be_bytes());
        out.extend_from_slice(&self.simhash.to_be_bytes());
        text(
            &mut out,
            self.digest.as_ref().map_or(&[], |digest| &digest[..]),
        );
        text(&mut out, bounded(&self.etag));
        text(&mut out, bounded(&self.last_modified));
        out
    }

    /// `None`: damaged, or of another version.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<IndexRow> {
        let mut rest = bytes.strip_prefix(&[VERSION])?;
        let row = IndexRow {
            outcome: take::<1>(&mut rest)?[0],
            status: u16::from_be_bytes(take(&mut rest)?),
            depth: u16::from_be_bytes(take(&mut rest)?),
            time: u64::from_be_bytes(take(&mut rest)?),
            serial: u32::from_be_bytes(take(&mut rest)?),
            offset: u64::from_be_bytes(take(&mut rest)?),
            length: u32::from_be_bytes(take(&mut rest)?),
            simhash: u64::from_be_bytes(take(&mut rest)?),
            digest: take_text(&mut rest)?.try_into().ok(),
            etag: String::from_utf8_lossy(take_text(&mut rest)?).into_owned(),
            last_modified: String::from_utf8_lossy(take_text(&mut rest)?).into_owned(),
        };
        Some(row)
    }
}

/// Longest validator that is kept; a longer one is dropped, and the page fetched whole next time.
const VALIDATOR_LIMIT: usize = 256;

fn bounded(validator: &str) -> &[u8] {
    if validator.len() <= VALIDATOR_LIMIT {
        validator.as_bytes()
    } else {
        &[]
    }
}

fn text(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&(bytes.len() as u16).to_be_bytes());
    out.extend_from_slice(bytes);
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, after) = rest.split_first_chunk::<N>()?;
    *rest = after;
    Some(*first)
}

fn take_text<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::from(u16::from_be_bytes(take(rest)?));
    let (text, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(text)
}

/// Content is looked up by 128 bits of its digest.
pub(super) fn content_key(content: &Digest) -> &[u8] {
    &content[..16]
}

pub(super) fn write_content(original: &Original) -> Vec<u8> {
    let mut out = Vec::with_capacity(32 + original.url.len());
    out.push(VERSION);
    out.extend_from_slice(&original.date.to_be_bytes());
    out.extend_from_slice(&original.payload);
    out.extend_from_slice(original.url.as_bytes());
    out
}

pub(super) fn read_content(bytes: &[u8]) -> Option<Original> {
    let mut rest = bytes.strip_prefix(&[VERSION])?;
    let date = u64::from_be_bytes(take(&mut rest)?);
    let payload = take(&mut rest)?;
    Some(Original {
        date,
        payload,
        url: String::from_utf8(rest.to_vec()).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_read_back() {
        let row = IndexRow {
            outcome: 3,
            status: 404,
            depth: 7,
            time: 1_700_000_000_000_000,
            serial: 9,
            offset: 1 << 40,
            length: 12_345,
            simhash: u64::MAX,
            digest: Some([7; 20]),
            etag: "\"x\"".into(),
            last_modified: String::new(),
        };
        assert_eq!(IndexRow::read(&row.to_bytes()), Some(row.clone()));
        assert_eq!(IndexRow::read(&row.to_bytes()[..20]), None);
        let original = Original {
            url: "http://a/".into(),
            date: 5,
            payload: [1; 20],
        };
        assert_eq!(read_content(&write_content(&original)), Some(original));
    }
}
