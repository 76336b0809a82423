//! Questions to a frontier's store, without a frontier: for looking at a crawl that is not running.

use super::clock::Clock;
use super::host::{Host, HostRecord};
use super::queued::{Place, Queued};
use super::{HostView, Micros, Settings, damaged, recorded_time};
use crate::canonical::Url;
use crate::links::Link;
use crate::store::state::{Reads, Space, StateError};

/// What the store holds of a host; due times are of the caller's clock, which shows `now`.
pub fn stored_host(
    key: u64,
    reads: &dyn Reads,
    settings: &Settings,
    now: Micros,
) -> Result<Option<HostView>, StateError> {
    let mut clock = Clock::from(recorded_time(reads)?.unwrap_or(0));
    clock.tick(now);
    host_of(key, reads, settings, clock)
}

pub(super) fn host_of(
    key: u64,
    reads: &dyn Reads,
    settings: &Settings,
    clock: Clock,
) -> Result<Option<HostView>, StateError> {
    let Some(value) = reads.get(Space::Hosts, &key.to_be_bytes())? else {
        return Ok(None);
    };
    let record = HostRecord::decode(&value).ok_or_else(|| damaged("host"))?;
    let (gap, gap_source) = record.gap_and_source(key, settings);
    let host = Host::new(key, record);
    Ok(Some(HostView {
        host_key: key,
        standing: host.standing(),
        due: clock.outside(host.next_visit(settings)),
        gap,
        gap_source,
        leases: 0,
        in_line: None,
        record: host.record,
    }))
}

/// Where a URL stands in its host's queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InQueue {
    /// URLs of the host with an earlier place.
    pub ahead: u64,
    /// What is known of it.
    pub link: Link,
    pub tries: u8,
    /// It waits for this frontier time.
    pub not_before: Option<Micros>,
}

/// The first places of a host's queue. Changes of batches that are not applied yet are not seen.
pub fn first_queued(
    host: &str,
    key: u64,
    most: usize,
    reads: &dyn Reads,
) -> Result<Vec<InQueue>, StateError> {
    let (from, to) = queue_range(key);
    let mut found = Vec::new();
    reads.scan(Space::Queue, &from, &to, &mut |at, value| {
        if found.len() == most {
            return false;
        }
        if let (Some(place), Some(queued)) = (Place::of_key(at), Queued::decode(value))
            && let Some(link) = queued.link(host, key)
        {
            found.push(InQueue {
                ahead: found.len() as u64,
                link,
                tries: queued.tries,
                not_before: place.is_waiting().then(|| place.not_before()),
            });
        }
        true
    })?;
    Ok(found)
}

/// The keys of a host's queue: from the first on, up to the second.
fn queue_range(key: u64) -> (Vec<u8>, Vec<u8>) {
    let to = key
        .checked_add(1)
        .map_or_else(Vec::new, |next| next.to_be_bytes().to_vec());
    (key.to_be_bytes().to_vec(), to)
}

/// What a look through a queue found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueLook {
    Queued(InQueue),
    NotQueued,
    /// The queue is longer than was looked at.
    TooLong,
}

/// Looks for a URL in its host's queue, at most at the first `most` places. Changes of batches that
/// are not applied yet are not seen.
pub fn find_queued(url: &Url, most: u64, reads: &dyn Reads) -> Result<QueueLook, StateError> {
    let key = url.host_key();
    let (from, to) = queue_range(key);
    let mut found = QueueLook::NotQueued;
    let mut ahead = 0;
    reads.scan(Space::Queue, &from, &to, &mut |at, value| {
        if ahead == most {
            found = QueueLook::TooLong;
            return false;
        }
        let place = Place::of_key(at);
        if let (Some(place), Some(queued)) = (place, Queued::decode(value))
            && queued.https() == url.scheme_is_https()
            && queued.path() == url.path_and_query()
            && let Some(link) = queued.link(url.host(), key)
        {
            found = QueueLook::Queued(InQueue {
                ahead,
                link,
                tries: queued.tries,
                not_before: place.is_waiting().then(|| place.not_before()),
            });
            return false;
        }
        ahead += 1;
        true
    })?;
    Ok(found)
}
