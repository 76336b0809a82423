//! The fetcher: a request in, a response out, always, within the total limit.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use super::AddressGate;
use super::clock::Clock;
use super::connect::{self, Connector, Failure, Making};
use super::cookies::{self, Jar};
use super::dns::{Dns, DnsCounters};
use super::finish;
use super::http1::{self, Exchange, Wanted};
use super::http2;
use super::message::{Purpose, Request, Response, Timings, bounded};
use super::nameserver::NameServers;
use super::pool::{Carrier, Connection, Pool};
use super::proxy::{Proxy, ProxyKind};
use super::settings::{FetchLimits, FetchSettings, SettingsError};
use super::target::{Fields, Target, recorded};
use super::tls;
use crate::canonical::Url;
use crate::outcome::Outcome;

/// Fetches URLs. Cheap to clone; clones share connections, names and cookies.
#[derive(Clone, Debug)]
pub struct Fetcher {
    inner: Arc<Inner>,
    gate: Option<SharedGate>,
}

#[derive(Clone)]
struct SharedGate(Arc<dyn AddressGate>);

impl std::fmt::Debug for SharedGate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SharedGate")
    }
}

#[derive(Debug)]
struct Inner {
    /// Swapped as a whole; a fetch sees one version.
    settings: RwLock<Arc<FetchSettings>>,
    fields: Fields,
    connector: Connector,
    pool: Pool,
    jar: Option<Jar>,
    sweeping: AtomicBool,
}

impl Inner {
    fn settings(&self) -> Arc<FetchSettings> {
        Arc::clone(&self.settings.read().unwrap_or_else(PoisonError::into_inner))
    }
}

fn check(limits: &FetchLimits) -> Result<(), SettingsError> {
    if limits.head_bytes > 16 << 20 || limits.head_bytes < 256 {
        return Err(SettingsError::new(
            "limits.head_bytes",
            "not in 256 B to 16 MiB",
        ));
    }
    if limits.total.is_zero() || limits.total > Duration::from_secs(24 * 3600) {
        return Err(SettingsError::new("limits.total", "not in 1 µs to 24 h"));
    }
    Ok(())
}

impl Fetcher {
    /// Checks the settings; makes no connection and needs no runtime.
    pub fn new(settings: FetchSettings) -> Result<Self, SettingsError> {
        check(&settings.limits)?;
        let servers = NameServers::new(&settings.dns)?;
        let connector = Connector {
            dns: Dns::new(settings.dns.clone(), Box::new(servers)),
            tls: tls::config(&settings.tls, settings.http2)?,
            proxy: settings.proxy.as_deref().map(Proxy::parse).transpose()?,
        };
        let pool = Pool::new(
            settings.idle_connections,
            settings.idle_per_host,
            settings.idle_timeout,
        );
        Ok(Fetcher {
            inner: Arc::new(Inner {
                fields: Fields::new(&settings)?,
                connector,
                pool,
                jar: settings.cookies.then(Jar::default),
                settings: RwLock::new(Arc::new(settings)),
                sweeping: AtomicBool::new(false),
            }),
            gate: None,
        })
    }

    /// The same fetcher, asking `gate` before it visits an address.
    #[must_use]
    pub fn with_gate(&self, gate: Arc<dyn AddressGate>) -> Self {
        Fetcher {
            inner: Arc::clone(&self.inner),
            gate: Some(SharedGate(gate)),
        }
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> Arc<FetchSettings> {
        self.inner.settings()
    }

    /// What the cache of names did so far.
    #[must_use]
    pub fn dns(&self) -> DnsCounters {
        self.inner.connector.dns.counters()
    }

    /// Swaps what may change while it runs: limits, wanted types, look-ups under way. Fetches under
    /// way keep what they began with.
    pub fn set_live(
        &self,
        limits: FetchLimits,
        accept_types: Vec<String>,
        lookups: usize,
    ) -> Result<(), SettingsError> {
        check(&limits)?;
        self.inner.connector.dns.set_concurrency(lookups);
        let mut settings = self
            .inner
            .settings
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let mut fresh = FetchSettings::clone(&settings);
        fresh.limits = limits;
        fresh.accept_types = accept_types;
        *settings = Arc::new(fresh);
        Ok(())
    }

    /// The `Cookie` field that a URL would be asked with now, where cookies are kept.
    #[must_use]
    pub fn cookie(&self, url: &Url) -> Option<String> {
        let jar = self.inner.jar.as_ref()?;
        jar.header(&Target::new(url).ok()?, SystemTime::now())
    }

    /// Closes the connections that are kept open.
    pub fn close_idle(&self) {
        self.inner.pool.clear();
    }

    /// Fetches. Every request is answered, within the total limit.
    pub async fn fetch(&self, request: Request) -> Response {
        let settings = self.inner.settings();
        let mut clock = Clock::new(settings.limits.total);
        let mut response = match Target::new(&request.url) {
            Ok(target) => self.visit(&target, &request, &settings, &mut clock).await,
            Err(reason) => Response::refused(reason),
        };
        response.timings.total = clock.elapsed();
        response
    }

    async fn visit(
        &self,
        target: &Target<'_>,
        request: &Request,
        settings: &FetchSettings,
        clock: &mut Clock,
    ) -> Response {
        let inner = &*self.inner;
        let proxy = inner.connector.proxy.as_ref();
        let plain_proxy =
            proxy.filter(|proxy| proxy.kind == ProxyKind::Http && !target.origin.secure);
        let cookies = match &inner.jar {
            Some(jar) => jar.header(target, SystemTime::now()),
            None => request.cookie.clone(),
        };
        let head = inner.fields.head(
            target,
            request,
            plain_proxy.is_some(),
            plain_proxy.and_then(Proxy::authorization).as_deref(),
            cookies.as_deref(),
        );
        let wanted = Wanted {
            limits: &settings.limits,
            max_body: request.max_body.unwrap_or(settings.limits.body_bytes),
            // RFC 9309, 2.5: the beginning of a robots file counts, however long it is. So does
            // that of a sitemap.
            cut: request.purpose != Purpose::Page,
            types: match request.purpose {
                Purpose::Page => &settings.accept_types,
                Purpose::Robots | Purpose::Sitemap | Purpose::Probe => &[],
            },
        };
        let mut timings = Timings::default();
        let mut making = Making {
            settings,
            gate: self.gate.as_ref().map(|gate| &*gate.0),
            entered: None,
            clock,
            timings: &mut timings,
        };
        let mut reused = !request.new_connection;
        let (exchange, ip) = loop {
            // 1 A kept connection, or a new one; the gate is passed before a byte is sent.
            let kept = reused.then(|| inner.pool.take(&target.origin)).flatten();
            reused = kept.is_some();
            let opened = match kept {
                Some(kept) => match kept.ip.map(|ip| connect::enter(target, ip, &mut making)) {
                    Some(Err(failure)) => {
                        inner.pool.put(&target.origin, kept);
                        Err(failure)
                    }
                    _ => Ok(kept),
                },
                None => inner.connector.open(target, &mut making).await,
            };
            let mut connection = match opened {
                Ok(connection) => connection,
                Err(failure) => return failed(failure, recorded(head, request), timings),
            };
            if let (Some(gate), Some(ip)) = (making.gate, connection.ip)
                && !gate.still_open(ip)
            {
                let ended = Failure::new(Outcome::Deferred, "the right to visit has ended");
                return failed(ended.at(ip), recorded(head, request), timings);
            }
            // 2 The exchange.
            let exchange = converse(&mut connection, target, &head, wanted, making.clock).await;
            let ip = connection.ip;
            // 3 A kept connection may have died unseen: then, once, a new one. Not under a gate:
            // the server may have seen the request, and a second one at once would break the gap,
            // so it waits for the host's next turn.
            if reused && self.gate.is_none() && !exchange.answered && !timed_out(&exchange) {
                reused = false;
                continue;
            }
            if exchange.reusable {
                self.keep(target, connection);
            }
            break (exchange, ip);
        };
        timings.first_byte = exchange.first_byte;
        let now = SystemTime::now();
        let mut next_cookie = None;
        if let Some(head) = &exchange.head {
            if let Some(jar) = &inner.jar {
                jar.store(target, head, now);
            }
            if matches!(head.status, 300..=399) && head.all("set-cookie").next().is_some() {
                let next = match &inner.jar {
                    Some(jar) => jar.header(target, now),
                    None => cookies::of_one(target, head, now),
                };
                next_cookie = next.filter(|next| Some(next) != cookies.as_ref());
            }
        }
        let mut response = finish::respond(exchange, &settings.limits);
        response.cookie = cookies;
        response.next_cookie = next_cookie;
        response.request_head = recorded(head, request);
        response.ip = ip;
        response.reused = reused;
        response.timings = timings;
        response
    }

    fn keep(&self, target: &Target<'_>, connection: Connection) {
        let inner = &self.inner;
        inner.pool.put(&target.origin, connection);
        if inner.sweeping.swap(true, Ordering::Relaxed) {
            return;
        }
        // Ends when nothing is kept, or when the fetcher is gone.
        let weak = Arc::downgrade(inner);
        let pause = inner
            .settings()
            .idle_timeout
            .clamp(Duration::from_millis(100), Duration::from_secs(5));
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(pause).await;
                let Some(inner) = weak.upgrade() else { return };
                if inner.pool.sweep() == 0 {
                    inner.sweeping.store(false, Ordering::Relaxed);
                    return;
                }
            }
        });
    }
}

async fn converse(
    connection: &mut Connection,
    target: &Target<'_>,
    head: &[u8],
    wanted: Wanted<'_>,
    clock: &mut Clock,
) -> Exchange {
    match &mut connection.carrier {
        Carrier::Http1(wire) => http1::exchange(wire, head, wanted, clock).await,
        Carrier::Http2(sender) => {
            http2::exchange(sender, target.origin.secure, head, wanted, clock).await
        }
    }
}

fn timed_out(exchange: &Exchange) -> bool {
    matches!(exchange.fault, Some(super::wire::Fault::Time(_)))
}

fn failed(failure: Failure, head: Vec<u8>, timings: Timings) -> Response {
    let ip: Option<IpAddr> = failure.ip;
    Response {
        request_head: head,
        ip,
        timings,
        not_before: failure.not_before,
        detail: bounded(&failure.detail),
        ..Response::empty(failure.outcome, "")
    }
}
