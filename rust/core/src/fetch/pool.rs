//! Connections kept open for the next request to the same origin.
//!
//! Filled by finished exchanges; emptied by the next fetch of the origin, by age, and when full by
//! dropping the oldest. Bound: so many in all, so many per origin (one by default).

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ahash::AHashMap;
use bytes::Bytes;
use tokio::time::Instant;

use super::stream::Stream;
use super::target::Origin;
use super::wire::Wire;

/// An open connection.
#[derive(Debug)]
pub(super) enum Carrier {
    Http1(Wire<Stream>),
    Http2(h2::client::SendRequest<Bytes>),
}

/// A connection and the address that was judged when it was made.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) carrier: Carrier,
    pub(super) ip: Option<IpAddr>,
}

#[derive(Debug)]
struct Idle {
    connection: Connection,
    since: Instant,
    serial: u64,
}

#[derive(Debug, Default)]
struct Shelf {
    idle: AHashMap<Origin, Vec<Idle>>,
    /// Every connection ever put, oldest first; those taken since are passed over.
    order: VecDeque<(Instant, u64, Origin)>,
    count: usize,
    serial: u64,
}

#[derive(Debug)]
pub(super) struct Pool {
    shelf: Mutex<Shelf>,
    most: usize,
    per_origin: usize,
    age: Duration,
}

impl Pool {
    pub(super) fn new(most: usize, per_origin: usize, age: Duration) -> Self {
        Pool {
            shelf: Mutex::new(Shelf::default()),
            most,
            per_origin,
            age,
        }
    }

    /// The connection to this origin that was used last, if one is still good.
    pub(super) fn take(&self, origin: &Origin) -> Option<Connection> {
        loop {
            let idle = self.lock().pop(origin)?;
            if idle.since.elapsed() > self.age {
                continue;
            }
            let mut connection = idle.connection;
            let good = match &mut connection.carrier {
                Carrier::Http1(wire) => wire.buffer.is_empty() && wire.stream.is_quiet(),
                // A dead one shows when the request is sent, and is then replaced.
                Carrier::Http2(_) => true,
            };
            if good {
                return Some(connection);
            }
        }
    }

    /// Keeps a connection for the next request.
    pub(super) fn put(&self, origin: &Origin, connection: Connection) {
        if self.most == 0 || self.per_origin == 0 {
            return;
        }
        let now = Instant::now();
        let mut shelf = self.lock();
        let serial = shelf.serial;
        shelf.serial += 1;
        let idle = Idle {
            connection,
            since: now,
            serial,
        };
        let known = shelf.idle.entry(origin.clone()).or_default();
        let surplus = (known.len() >= self.per_origin).then(|| known.remove(0));
        known.push(idle);
        shelf.count += usize::from(surplus.is_none());
        shelf.order.push_back((now, serial, origin.clone()));
        let mut dropped: Vec<Option<Idle>> = vec![surplus];
        shelf.expire(now, self.age, self.most, &mut dropped);
        // Sockets are closed after the lock is free.
        drop(shelf);
        drop(dropped);
    }

    /// Closes what is too old. Called now and then, so that idle hosts do not hold connections.
    pub(super) fn sweep(&self) -> usize {
        let mut dropped = Vec::new();
        let mut shelf = self.lock();
        shelf.expire(Instant::now(), self.age, self.most, &mut dropped);
        let count = shelf.count;
        drop(shelf);
        drop(dropped);
        count
    }

    /// Closes everything.
    pub(super) fn clear(&self) {
        drop(std::mem::take(&mut *self.lock()));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf {
    fn pop(&mut self, origin: &Origin) -> Option<Idle> {
        let known = self.idle.get_mut(origin)?;
        let idle = known.pop();
        if known.is_empty() {
            self.idle.remove(origin);
        }
        self.count -= usize::from(idle.is_some());
        idle
    }

    fn expire(
        &mut self,
        now: Instant,
        age: Duration,
        most: usize,
        dropped: &mut Vec<Option<Idle>>,
    ) {
        while let Some((since, serial, _)) = self.order.front() {
            let old = now.saturating_duration_since(*since) > age;
            // The queue also names connections that were taken; it stays within a few times
            // what is kept.
            if !old && self.count <= most && self.order.len() <= 2 * most.max(self.count) + 64 {
                return;
            }
            let serial = *serial;
            let Some((_, _, origin)) = self.order.pop_front() else {
                return;
            };
            let Some(known) = self.idle.get_mut(&origin) else {
                continue;
            };
            if let Some(at) = known.iter().position(|idle| idle.serial == serial) {
                dropped.push(Some(known.remove(at)));
                self.count -= 1;
                if known.is_empty() {
                    self.idle.remove(&origin);
                }
            }
        }
    }
}
