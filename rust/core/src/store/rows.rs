//! The rows of the spaces `index` and `content`, and how they are spelt as bytes.

use crate::links::cut;
use crate::outcome::Outcome;
use crate::store::Original;
use crate::store::warc::Digest;

/// Of a page that was visited once; such a row says all there is to say.
const VERSION: u8 = 1;
/// With the history of its visits and what policies said.
const WITH_HISTORY: u8 = 2;

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
    /// Visits that told of the content, and those of them that found another content than before.
    pub visits: u32,
    pub changes: u32,
    /// The first of them, and the last that found another content; 0: there was none.
    pub first_visit: u64,
    pub last_change: u64,
    /// Status and media type of the last visit with an answer that told of the content: an answer
    /// that nothing has changed has neither. The type is kept where pages may be visited again.
    pub content_status: u16,
    pub mime: String,
    /// The record of the page has its head only.
    pub head_only: bool,
    /// Why it has this outcome; of each reason at most [`REASON_LIMIT`] bytes are kept.
    pub reason: String,
    /// Why a policy gave it its place in the queue …
    pub order: String,
    /// … and its next visit, or none.
    pub refresh: String,
}

/// Longest reason that is kept, in bytes.
const REASON_LIMIT: usize = 200;
/// Longest media type that is kept, in bytes.
const MIME_LIMIT: usize = 100;

impl IndexRow {
    /// The outcome, if this build knows its number.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        Outcome::ALL.get(usize::from(self.outcome)).copied()
    }

    /// Whether the visit told of the page's content.
    fn has_content(&self) -> bool {
        matches!(
            self.outcome(),
            Some(
                Outcome::Fetched
                    | Outcome::Truncated
                    | Outcome::Duplicate
                    | Outcome::NotModified
                    | Outcome::Dropped
            )
        )
    }

    /// Visits after the first that found the content as it was.
    #[must_use]
    pub fn unchanged(&self) -> u32 {
        self.visits.saturating_sub(1).saturating_sub(self.changes)
    }

    /// The row of a first visit, with its history.
    #[must_use]
    fn first(self) -> IndexRow {
        let (visits, time) = if self.has_content() {
            (1, self.time)
        } else {
            (0, 0)
        };
        IndexRow {
            visits,
            changes: 0,
            first_visit: time,
            last_change: time,
            content_status: self.status,
            ..self
        }
    }

    /// The row of a visit that came after those of another row.
    #[must_use]
    pub fn after(self, earlier: Option<&IndexRow>) -> IndexRow {
        let Some(earlier) = earlier else {
            return self.first();
        };
        let unchanged = self.outcome() == Some(Outcome::NotModified);
        // Without an answer, or without news, what is stored is still the page.
        let mut row = if unchanged || self.status == 0 {
            IndexRow {
                outcome: self.outcome,
                status: self.status,
                depth: self.depth,
                time: self.time,
                reason: self.reason.clone(),
                order: self.order.clone(),
                refresh: String::new(),
                ..earlier.clone()
            }
        } else {
            IndexRow {
                visits: earlier.visits,
                changes: earlier.changes,
                first_visit: earlier.first_visit,
                last_change: earlier.last_change,
                content_status: self.status,
                ..self.clone()
            }
        };
        if unchanged && !self.etag.is_empty() {
            row.etag.clone_from(&self.etag);
        }
        if unchanged && !self.last_modified.is_empty() {
            row.last_modified.clone_from(&self.last_modified);
        }
        if row.has_content() {
            row.visits = row.visits.saturating_add(1);
            let same = unchanged || (self.digest.is_some() && self.digest == earlier.digest);
            if earlier.visits == 0 {
                row.first_visit = self.time;
                row.last_change = self.time;
            } else if !same {
                row.changes = row.changes.saturating_add(1);
                row.last_change = self.time;
            }
        }
        row
    }

    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64);
        let texts = [&self.mime, &self.reason, &self.order, &self.refresh];
        let silent = texts.iter().all(|text| text.is_empty());
        let plain = silent && !self.head_only && self.visits <= 1 && self.changes == 0 && {
            let first = if self.has_content() { self.time } else { 0 };
            [self.first_visit, self.last_change]
                .iter()
                .all(|time| *time == first || self.visits == 0)
        };
        out.push(if plain { VERSION } else { WITH_HISTORY });
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
        if !plain {
            out.extend_from_slice(&self.visits.to_be_bytes());
            out.extend_from_slice(&self.changes.to_be_bytes());
            out.extend_from_slice(&self.first_visit.to_be_bytes());
            out.extend_from_slice(&self.last_change.to_be_bytes());
            out.extend_from_slice(&self.content_status.to_be_bytes());
            out.push(u8::from(self.head_only));
            text(&mut out, cut(&self.mime, MIME_LIMIT).as_bytes());
            for reason in [&self.reason, &self.order, &self.refresh] {
                text(&mut out, cut(reason, REASON_LIMIT).as_bytes());
            }
        }
        out
    }

    /// `None`: damaged, or of another version.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<IndexRow> {
        let (version, mut rest) = bytes.split_first()?;
        if ![VERSION, WITH_HISTORY].contains(version) {
            return None;
        }
        let mut row = IndexRow {
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
            ..IndexRow::default()
        };
        if *version == VERSION {
            return Some(row.first());
        }
        row.visits = u32::from_be_bytes(take(&mut rest)?);
        row.changes = u32::from_be_bytes(take(&mut rest)?);
        row.first_visit = u64::from_be_bytes(take(&mut rest)?);
        row.last_change = u64::from_be_bytes(take(&mut rest)?);
        row.content_status = u16::from_be_bytes(take(&mut rest)?);
        row.head_only = take::<1>(&mut rest)?[0] != 0;
        for place in [
            &mut row.mime,
            &mut row.reason,
            &mut row.order,
            &mut row.refresh,
        ] {
            *place = String::from_utf8_lossy(take_text(&mut rest)?).into_owned();
        }
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
pub(crate) fn content_key(content: &Digest) -> &[u8] {
    &content[..16]
}

pub(crate) fn write_content(original: &Original) -> Vec<u8> {
    let mut out = Vec::with_capacity(32 + original.url.len());
    out.push(VERSION);
    out.extend_from_slice(&original.date.to_be_bytes());
    out.extend_from_slice(&original.payload);
    out.extend_from_slice(original.url.as_bytes());
    out
}

pub(crate) fn read_content(bytes: &[u8]) -> Option<Original> {
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
            content_status: 404,
            ..IndexRow::default()
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

    fn visit(outcome: Outcome, time: u64, content: u8) -> IndexRow {
        IndexRow {
            outcome: outcome as u8,
            status: 200,
            time,
            digest: Some([content; 20]),
            length: 10,
            offset: time,
            ..IndexRow::default()
        }
    }

    #[test]
    fn the_history_of_visits_is_counted_and_kept() {
        let first = visit(Outcome::Fetched, 100, 1).after(None);
        assert_eq!(
            (first.visits, first.first_visit, first.last_change),
            (1, 100, 100)
        );
        // A first visit has the short form, which older programs wrote.
        assert_eq!(first.to_bytes()[0], VERSION);
        assert_eq!(IndexRow::read(&first.to_bytes()), Some(first.clone()));
        let same = visit(Outcome::NotModified, 200, 1).after(Some(&first));
        assert_eq!((same.visits, same.changes, same.unchanged()), (2, 0, 1));
        assert_eq!((same.time, same.offset, same.last_change), (200, 100, 100));
        let other = visit(Outcome::Fetched, 300, 2).after(Some(&same));
        assert_eq!((other.visits, other.changes, other.unchanged()), (3, 1, 1));
        assert_eq!(
            (other.first_visit, other.last_change, other.offset),
            (100, 300, 300)
        );
        let failed = IndexRow {
            status: 0,
            digest: None,
            ..visit(Outcome::TimedOut, 400, 0)
        };
        let failed = failed.after(Some(&other));
        assert_eq!(
            (failed.visits, failed.digest, failed.offset),
            (3, Some([2; 20]), 300)
        );
        assert_eq!(failed.outcome(), Some(Outcome::TimedOut));
        for row in [same, other, failed] {
            assert_eq!(row.to_bytes()[0], WITH_HISTORY);
            assert_eq!(IndexRow::read(&row.to_bytes()), Some(row.clone()));
            assert_eq!(
                IndexRow::read(&row.to_bytes()[..row.to_bytes().len() - 1]),
                None
            );
        }
        let said = IndexRow {
            mime: "text/html".into(),
            head_only: true,
            order: "near the seed".into(),
            refresh: "changes daily".into(),
            ..visit(Outcome::Fetched, 1, 1)
        };
        let said = said.after(None);
        assert_eq!(IndexRow::read(&said.to_bytes()), Some(said.clone()));
        // An answer that nothing has changed says nothing of status and type.
        let silent = IndexRow {
            status: 304,
            ..visit(Outcome::NotModified, 2, 1)
        };
        let later = silent.after(Some(&said));
        assert_eq!((later.status, later.content_status), (304, 200));
        assert_eq!((&*later.mime, &*later.refresh), ("text/html", ""));
        assert!(later.head_only);
        let long = IndexRow {
            reason: "é".repeat(500),
            ..visit(Outcome::Dropped, 1, 1)
        };
        let read = IndexRow::read(&long.to_bytes()).map(|row| row.reason.len());
        assert_eq!(read, Some(REASON_LIMIT));
    }
}
