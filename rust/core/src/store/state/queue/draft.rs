//! What a batch does to the queue: blocks to append, and changes of the index that go with the batch.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use super::block::{self, Block};
use super::chunk::{Cell, Chunk, RowKey, row_key};
use super::files::Files;
use super::index::{Index, chunks_of};
use super::places::Places;
use crate::store::state::StateError;

/// Chunks of a cell from which on the small ones are written together: links that come one by one
/// would otherwise cost a row and a block each.
const MOST_CHUNKS: usize = 8;
/// For how long a batch does so: many such cells may have their chunks in segments that are not in RAM.
const LONGEST: Duration = Duration::from_millis(40);

/// The changes of one batch; nothing of it holds before the batch is applied.
pub(super) struct Draft<'a> {
    index: &'a dyn Index,
    files: &'a Files,
    segment: u32,
    /// Where the blocks begin in the segment.
    start: u32,
    pub blocks: Vec<u8>,
    /// Rows to set, or to remove.
    pub rows: Vec<(RowKey, Option<Vec<u8>>)>,
    /// Live bytes that segments gain or lose.
    pub live: HashMap<u32, i64>,
    /// Whether what is in segments may be written anew.
    may_move: bool,
    begun: Instant,
    changed: HashSet<Cell>,
    moved: HashSet<Cell>,
}

impl<'a> Draft<'a> {
    pub fn new(
        index: &'a dyn Index,
        files: &'a Files,
        segment: u32,
        start: u32,
        may_move: bool,
    ) -> Draft<'a> {
        Draft {
            index,
            files,
            segment,
            start,
            blocks: Vec::new(),
            rows: Vec::new(),
            live: HashMap::new(),
            may_move,
            begun: Instant::now(),
            changed: HashSet::new(),
            moved: HashSet::new(),
        }
    }

    /// Bytes that are of no use any more.
    pub fn freed(&self) -> u64 {
        let lost = self.live.values().filter(|change| **change < 0);
        lost.map(|change| change.unsigned_abs()).sum()
    }

    /// Whether URLs of a cell come or go with this batch, so that the index does not show it as it will be.
    pub fn has_changed(&self, cell: &Cell) -> bool {
        self.changed.contains(cell)
    }

    /// Whether chunks of a cell are written anew with this batch.
    pub fn has_moved(&self, cell: &Cell) -> bool {
        self.moved.contains(cell)
    }

    /// Sets and removes places of a cell. `puts` are in the order of their places.
    pub fn change(
        &mut self,
        cell: Cell,
        puts: &[(u8, &[u8])],
        removed: &Places,
    ) -> Result<(), StateError> {
        self.changed.insert(cell);
        let gone: Places = puts.iter().map(|(place, _)| *place).collect();
        let gone = gone.with(removed);
        let mut rest = Vec::new();
        for mut chunk in chunks_of(self.index, &cell)? {
            if chunk.live.meets(&gone) {
                let live = chunk.live.without(&gone);
                self.shrink(&mut chunk, live);
            }
            if !chunk.live.is_empty() {
                rest.push(chunk);
            }
        }
        if puts.is_empty() {
            return Ok(());
        }
        if rest.len() < MOST_CHUNKS || !self.may_move || self.begun.elapsed() >= LONGEST {
            return self.write(&cell, puts);
        }
        self.merge(&cell, smallest(rest, puts.len() as u32), puts)
    }

    /// Writes what is live in some chunks of a cell anew, as one chunk.
    pub fn rewrite(&mut self, cell: &Cell, chunks: Vec<Chunk>) -> Result<(), StateError> {
        self.moved.insert(*cell);
        self.merge(cell, chunks, &[])
    }

    fn merge(
        &mut self,
        cell: &Cell,
        chunks: Vec<Chunk>,
        more: &[(u8, &[u8])],
    ) -> Result<(), StateError> {
        let blocks: Result<Vec<(Places, Block)>, StateError> = chunks
            .iter()
            .map(|chunk| Ok((chunk.live, self.files.read_still(chunk)?)))
            .collect();
        let blocks = blocks?;
        let mut records = more.to_vec();
        for (live, block) in &blocks {
            for place in live.iter() {
                let record = block.get(place).ok_or_else(|| {
                    StateError::Format("a chunk of the queue lacks a record".to_owned())
                })?;
                records.push((place, record));
            }
        }
        records.sort_unstable_by_key(|(place, _)| *place);
        for mut chunk in chunks {
            self.shrink(&mut chunk, Places::default());
        }
        self.write(cell, &records)
    }

    fn write(&mut self, cell: &Cell, records: &[(u8, &[u8])]) -> Result<(), StateError> {
        if records.is_empty() {
            return Ok(());
        }
        let begin = self.blocks.len();
        block::append(&mut self.blocks, cell, records);
        let full = || StateError::Store("a batch is too large for a segment".to_owned());
        let chunk = Chunk {
            cell: *cell,
            segment: self.segment,
            offset: u32::try_from(u64::from(self.start) + begin as u64).map_err(|_| full())?,
            length: u32::try_from(self.blocks.len() - begin).map_err(|_| full())?,
            count: records.len() as u16,
            live: records.iter().map(|(place, _)| *place).collect(),
        };
        self.rows.push((chunk.row_key(), Some(chunk.row_value())));
        *self.live.entry(self.segment).or_default() += chunk.live_bytes() as i64;
        Ok(())
    }

    /// Leaves only `live` of a chunk.
    fn shrink(&mut self, chunk: &mut Chunk, live: Places) {
        let before = chunk.live_bytes();
        chunk.live = live;
        let row = (!live.is_empty()).then(|| chunk.row_value());
        let key = row_key(&chunk.cell, chunk.segment, chunk.offset);
        self.rows.push((key, row));
        *self.live.entry(chunk.segment).or_default() -= before as i64 - chunk.live_bytes() as i64;
    }
}

/// Those that are worth writing together with `new` more: each at most twice as large as all smaller
/// ones together, or else the smallest. So a record is copied a few times at most before its cell is full.
fn smallest(mut chunks: Vec<Chunk>, new: u32) -> Vec<Chunk> {
    chunks.sort_unstable_by_key(|chunk| chunk.live.len());
    let mut sum = new;
    let mut count = 0;
    for chunk in &chunks {
        if chunk.live.len() > 2 * sum {
            break;
        }
        sum += chunk.live.len();
        count += 1;
    }
    chunks.truncate(count.max(1));
    chunks
}
