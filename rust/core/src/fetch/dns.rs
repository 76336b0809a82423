//! Names to addresses: a cache in front of the name servers.
//!
//! Takes a host name; gives its addresses or why there are none. Guarantees: one look-up per name
//! at a time however many ask; a bounded number of look-ups under way and of names remembered;
//! answers live as their TTL says within a floor and a ceiling; refusals are remembered too; an
//! answer past its life is given for a while as a new one is fetched behind it.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use super::limiter::{Limiter, LimiterSettings};
use super::settings::DnsSettings;

/// Why a name has no address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DnsError {
    /// The name does not exist or has no address.
    NotFound,
    /// The name server failed, refused or did not answer.
    Failed,
}

/// Addresses of a name, shared by all who ask.
pub type Addresses = Arc<[IpAddr]>;

/// What a look-up over the wire gives: addresses and their TTL, or an error and its TTL if known.
pub(super) type LookupAnswer = (Result<Addresses, DnsError>, Option<Duration>);

/// Who asks the name servers; replaced in tests.
pub(super) trait Lookup: Send + Sync + 'static {
    fn lookup(&self, name: String) -> Pin<Box<dyn Future<Output = LookupAnswer> + Send>>;
}

#[derive(Clone)]
struct Entry {
    answer: Result<Addresses, DnsError>,
    fresh_until: Instant,
    stale_until: Instant,
}

/// What the cache did since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DnsCounters {
    /// Names remembered now.
    pub names: u64,
    /// Questions, and those answered without a look-up.
    pub asked: u64,
    pub hits: u64,
    /// Look-ups that have ended, and the time they took together.
    pub lookups: u64,
    pub lookup_time: Duration,
}

type Waiting = watch::Receiver<Option<Result<Addresses, DnsError>>>;

/// The cache. Cheap to clone.
#[derive(Clone)]
pub(super) struct Dns {
    inner: Arc<Inner>,
}

struct Inner {
    settings: DnsSettings,
    lookup: Box<dyn Lookup>,
    // Keeps entries by frequency and recency of use (TinyLFU).
    cache: moka::sync::Cache<String, Entry>,
    /// Filled by a first asker, emptied when the answer is there; bound: who may ask at once.
    under_way: Mutex<HashMap<String, Waiting>>,
    turns: Limiter,
    asked: AtomicU64,
    hits: AtomicU64,
    lookups: AtomicU64,
    lookup_us: AtomicU64,
}

impl fmt::Debug for Dns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dns")
            .field("names", &self.inner.cache.entry_count())
            .finish_non_exhaustive()
    }
}

impl Dns {
    pub(super) fn new(settings: DnsSettings, lookup: Box<dyn Lookup>) -> Self {
        Dns {
            inner: Arc::new(Inner {
                cache: moka::sync::Cache::new(settings.capacity),
                under_way: Mutex::new(HashMap::new()),
                turns: Limiter::new(LimiterSettings {
                    fixed: Some(settings.concurrency.max(1)),
                    ..LimiterSettings::default()
                }),
                settings,
                lookup,
                asked: AtomicU64::new(0),
                hits: AtomicU64::new(0),
                lookups: AtomicU64::new(0),
                lookup_us: AtomicU64::new(0),
            }),
        }
    }

    pub(super) fn counters(&self) -> DnsCounters {
        let inner = &self.inner;
        DnsCounters {
            names: inner.cache.entry_count(),
            asked: inner.asked.load(Ordering::Relaxed),
            hits: inner.hits.load(Ordering::Relaxed),
            lookups: inner.lookups.load(Ordering::Relaxed),
            lookup_time: Duration::from_micros(inner.lookup_us.load(Ordering::Relaxed)),
        }
    }

    /// How many look-ups may be under way from now on.
    pub(super) fn set_concurrency(&self, most: usize) {
        self.inner.turns.set_fixed(Some(most.max(1)));
    }

    /// The addresses of a lower-case name without its final dot.
    pub(super) async fn resolve(&self, name: &str) -> Result<Addresses, DnsError> {
        if let Some(fixed) = self.inner.settings.fixed.get(name) {
            return match fixed.is_empty() {
                true => Err(DnsError::NotFound),
                false => Ok(Addresses::from(fixed.as_slice())),
            };
        }
        // RFC 6761: these names never leave the machine.
        if name == "localhost" || name.ends_with(".localhost") {
            let loopback = [
                IpAddr::from([127, 0, 0, 1]),
                IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]),
            ];
            return Ok(Addresses::from(loopback));
        }
        self.inner.asked.fetch_add(1, Ordering::Relaxed);
        if let Some(entry) = self.inner.cache.get(name) {
            let now = Instant::now();
            if now < entry.stale_until {
                self.inner.hits.fetch_add(1, Ordering::Relaxed);
            }
            if now < entry.fresh_until {
                return entry.answer;
            }
            if now < entry.stale_until {
                drop(self.begin(name));
                return entry.answer;
            }
        }
        let mut waiting = self.begin(name);
        match waiting.wait_for(Option::is_some).await {
            Ok(answer) => answer.clone().unwrap_or(Err(DnsError::Failed)),
            Err(_) => Err(DnsError::Failed),
        }
    }

    /// Joins the look-up of this name, starting it if nobody has.
    fn begin(&self, name: &str) -> Waiting {
        let mut under_way = self.inner.lock();
        if let Some(waiting) = under_way.get(name) {
            return waiting.clone();
        }
        let (tell, waiting) = watch::channel(None);
        under_way.insert(name.to_owned(), waiting.clone());
        drop(under_way);
        let inner = Arc::clone(&self.inner);
        let name = name.to_owned();
        // A task of its own: an asker that gives up must not take the others' answer with it.
        // It ends by itself, as every try of a name server has a time limit.
        tokio::spawn(async move {
            let end = Ended {
                inner: &inner,
                name: &name,
            };
            let turn = inner.turns.acquire().await;
            let begun = Instant::now();
            let (answer, ttl) = inner.lookup.lookup(name.clone()).await;
            inner.looked_up(begun.elapsed());
            drop(turn);
            let answer = inner.remember(&name, answer, ttl);
            drop(end);
            let _ = tell.send(Some(answer));
        });
        waiting
    }
}

/// Takes a name off the list of those under way, also when its look-up panics.
struct Ended<'a> {
    inner: &'a Inner,
    name: &'a str,
}

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.inner.lock().remove(self.name);
    }
}

impl Inner {
    fn looked_up(&self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.lookups.fetch_add(1, Ordering::Relaxed);
        self.lookup_us.fetch_add(micros, Ordering::Relaxed);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Waiting>> {
        self.under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(
        &self,
        name: &str,
        answer: Result<Addresses, DnsError>,
        ttl: Option<Duration>,
    ) -> Result<Addresses, DnsError> {
        let settings = &self.settings;
        let now = Instant::now();
        if answer == Err(DnsError::Failed) {
            // A name server that fails takes nothing away from an answer that still may serve.
            if let Some(known) = self.cache.get(name)
                && known.answer.is_ok()
                && now < known.stale_until
            {
                let fresh_until = (now + settings.negative_ttl).min(known.stale_until);
                let answer = known.answer.clone();
                self.cache.insert(
                    name.to_owned(),
                    Entry {
                        fresh_until,
                        ..known
                    },
                );
                return answer;
            }
        }
        let (life, stale) = match answer {
            Ok(_) => {
                let ttl = ttl.unwrap_or(settings.ttl_floor);
                let floor = settings.ttl_floor.min(settings.ttl_ceiling);
                (ttl.clamp(floor, settings.ttl_ceiling), settings.stale)
            }
            Err(error) => {
                let known = self.cache.get(name).map(|entry| entry.answer);
                let first = error == DnsError::NotFound && known != Some(Err(error));
                let brief = settings.first_negative_ttl.filter(|_| first);
                let most = settings.negative_ttl;
                let life = ttl.unwrap_or(most).min(most);
                (life.min(brief.unwrap_or(most)), Duration::ZERO)
            }
        };
        let entry = Entry {
            answer: answer.clone(),
            fresh_until: now + life,
            stale_until: now + life + stale,
        };
        self.cache.insert(name.to_owned(), entry);
        answer
    }
}
