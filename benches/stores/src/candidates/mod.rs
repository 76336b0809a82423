//! The candidates: one file each, all behind [`Store`].

mod fjall;
mod fjall_buffers;
mod redb;
#[cfg(feature = "rocksdb")]
mod rocksdb;
mod segments;

use std::path::Path;

use anyhow::Result;

use crate::store::Store;

type Open = fn(&Path) -> Result<Box<dyn Store>>;

const ALL: &[(&str, Open)] = &[
    ("fjall", |dir| {
        Ok(Box::new(fjall::Fjall::open(dir, fjall::Layout::Plain)?))
    }),
    ("fjall-blobs", |dir| {
        Ok(Box::new(fjall::Fjall::open(dir, fjall::Layout::Blobs)?))
    }),
    #[cfg(feature = "rocksdb")]
    ("rocksdb", |dir| Ok(Box::new(rocksdb::Rocks::open(dir)?))),
    ("redb", |dir| Ok(Box::new(redb::Redb::open(dir)?))),
    ("segments", |dir| {
        Ok(Box::new(segments::Segments::open(dir)?))
    }),
];

/// The names of all candidates.
pub fn names() -> String {
    let names: Vec<&str> = ALL.iter().map(|(name, _)| *name).collect();
    names.join(", ")
}

/// How a candidate is opened, if there is one of that name.
pub fn find(name: &str) -> Option<Open> {
    ALL.iter()
        .find(|(known, _)| *known == name)
        .map(|(_, open)| *open)
}
