//! Giving disk back: what is still queued of a segment is written anew, a piece with each batch.

use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use super::block::{HEAD, head};
use super::draft::Draft;
use super::files::Files;
use super::index::{Index, chunks_of};
use super::segments::{Meter, Segments};
use crate::store::state::StateError;
use crate::store::state::format::io_error;

/// Bytes of a segment that are looked through for each batch, beside those that follow from the batch.
const LEAST: u64 = 64 << 10;
/// Bytes looked through for each byte that a batch adds or frees. At least half of what is looked
/// through is given back, so two would be enough to keep up.
const PACE: u64 = 4;
/// Bytes looked through with one batch at most.
const MOST: u64 = 1 << 20;
/// And for how long: blocks of one URL each are many in so many bytes, and a batch waits for all.
const LONGEST: Duration = Duration::from_millis(40);

/// How far a segment is looked through.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk {
    pub segment: u32,
    offset: u64,
}

impl Segments {
    /// Goes on with the segment under way, or begins with the one that is least of use. What it
    /// moves is part of the batch; when the batch is not applied the segment is looked through again later.
    pub fn collect(
        &mut self,
        files: &Files,
        index: &dyn Index,
        draft: &mut Draft<'_>,
    ) -> Result<(), StateError> {
        if self.at_rest {
            return Ok(());
        }
        let Some(walk) = self.walk.or_else(|| self.least_of_use()) else {
            self.debt = 0;
            return Ok(());
        };
        self.debt += LEAST + PACE * (draft.blocks.len() as u64 + draft.freed());
        self.debt = self.debt.min(64 * MOST);
        let budget = self.debt.min(MOST);
        let (walk, looked) = step(files, index, draft, walk, budget)?;
        self.debt = self.debt.saturating_sub(looked.max(1));
        let bytes = self.meters.get(&walk.segment);
        let bytes = bytes.map_or(0, |meter| meter.bytes);
        // Looked through: what was left of it is moved by this batch, or was by earlier ones.
        self.walk = (walk.offset < bytes).then_some(walk);
        Ok(())
    }

    /// The segment whose end is worth the most: less than half of it is live.
    fn least_of_use(&self) -> Option<Walk> {
        let sparse = self.meters.iter().filter(|(segment, meter)| {
            !self.is_current(**segment) && meter.live > 0 && 2 * meter.live < meter.bytes
        });
        let share = |meter: &Meter| (u128::from(meter.live) << 32) / u128::from(meter.bytes.max(1));
        let (segment, _) = sparse.min_by_key(|(_, meter)| share(meter))?;
        Some(Walk {
            segment: *segment,
            offset: 0,
        })
    }
}

/// Looks at the next blocks, of so many bytes, for [`LONGEST`]; gives how far it came and the bytes it looked at. A cell
/// that this batch has changed is not known as it will be: the walk stops before it.
fn step(
    files: &Files,
    index: &dyn Index,
    draft: &mut Draft<'_>,
    mut walk: Walk,
    budget: u64,
) -> Result<(Walk, u64), StateError> {
    let path = files.path(walk.segment);
    let file = files
        .get(walk.segment)
        .map_err(|error| io_error(&path, &error))?;
    let length = file.metadata().map_or(0, |facts| facts.len());
    let (start, mut bytes) = (walk.offset, [0; HEAD]);
    let begun = Instant::now();
    while walk.offset - start < budget && walk.offset < length && begun.elapsed() < LONGEST {
        // What a crash has left behind the last batch is no block.
        let found = file.read_exact_at(&mut bytes, walk.offset).ok();
        let Some((block, cell)) = found.and_then(|()| head(&bytes)) else {
            walk.offset = length;
            break;
        };
        if draft.has_changed(&cell) {
            break;
        }
        if !draft.has_moved(&cell) {
            let mut chunks = chunks_of(index, &cell)?;
            // Only those: what the cell has in other segments may be most of it.
            chunks.retain(|chunk| chunk.segment == walk.segment);
            if chunks
                .iter()
                .any(|chunk| u64::from(chunk.offset) == walk.offset)
            {
                draft.rewrite(&cell, chunks)?;
            }
        }
        walk.offset += u64::from(block);
    }
    Ok((walk, walk.offset - start))
}
