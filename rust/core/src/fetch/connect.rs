//! From a target to a connection: resolve, judge each address, ask the gate, connect, TLS.
//!
//! The connection goes to exactly the address that was judged; no name is resolved twice.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use rustls_pki_types::ServerName;
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;

use super::AddressGate;
use super::clock::{Clock, Phase};
use super::dns::{Dns, DnsError};
use super::guard;
use super::http2;
use super::message::Timings;
use super::pool::{Carrier, Connection};
use super::proxy::{Proxy, ProxyKind};
use super::settings::FetchSettings;
use super::stream::Stream;
use super::target::Target;
use super::wire::Wire;
use crate::outcome::Outcome;

/// Addresses of one name that are tried.
const TRIES: usize = 4;

/// Why there is no connection.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) outcome: Outcome,
    pub(super) detail: String,
    pub(super) ip: Option<IpAddr>,
    pub(super) not_before: Option<u64>,
}

impl Failure {
    pub(super) fn new(outcome: Outcome, detail: impl Into<String>) -> Self {
        Failure {
            outcome,
            detail: detail.into(),
            ip: None,
            not_before: None,
        }
    }

    pub(super) fn at(self, ip: IpAddr) -> Self {
        Failure {
            ip: Some(ip),
            ..self
        }
    }
}

#[derive(Debug)]
pub(super) struct Connector {
    pub(super) dns: Dns,
    pub(super) tls: Arc<ClientConfig>,
    pub(super) proxy: Option<Proxy>,
}

/// What a connection is made under.
pub(super) struct Making<'a> {
    pub(super) settings: &'a FetchSettings,
    pub(super) gate: Option<&'a dyn AddressGate>,
    /// The address whose gate this visit has already passed.
    pub(super) entered: Option<IpAddr>,
    pub(super) clock: &'a mut Clock,
    pub(super) timings: &'a mut Timings,
}

impl Connector {
    /// Makes a connection to the target.
    pub(super) async fn open(
        &self,
        target: &Target<'_>,
        making: &mut Making<'_>,
    ) -> Result<Connection, Failure> {
        let begun = making.clock.elapsed();
        let addresses = self.addresses(target, making).await?;
        let looked_up = making.clock.elapsed();
        making.timings.dns = looked_up - begun;
        let limit = making.settings.limits.connect;
        making.clock.phase(Phase::Connect, limit);
        let (stream, ip) = self.reach(target, &addresses, making).await?;
        let connected = making.clock.elapsed();
        making.timings.connect = connected - looked_up;
        if !target.origin.secure {
            let carrier = Carrier::Http1(Wire::new(Stream::Tcp(stream)));
            return Ok(Connection { carrier, ip });
        }
        let opened = self.secure(target, stream, making).await;
        making.timings.tls = making.clock.elapsed() - connected;
        match opened {
            Ok(carrier) => Ok(Connection { carrier, ip }),
            Err(failure) => Err(Failure { ip, ..failure }),
        }
    }

    /// The addresses that may be visited, in the order to try; empty when the proxy resolves.
    async fn addresses(
        &self,
        target: &Target<'_>,
        making: &mut Making<'_>,
    ) -> Result<Vec<IpAddr>, Failure> {
        let mut addresses: Vec<IpAddr> = match target.literal {
            Some(ip) => vec![ip],
            None if self.proxy.as_ref().is_some_and(Proxy::resolves) => return Ok(Vec::new()),
            None => {
                let limit = making.settings.limits.total;
                making.clock.phase(Phase::Dns, limit);
                match making
                    .clock
                    .run(self.dns.resolve(&target.origin.host))
                    .await
                {
                    Ok(Ok(found)) => found.to_vec(),
                    Ok(Err(DnsError::NotFound)) => {
                        return Err(Failure::new(
                            Outcome::DnsNotFound,
                            "no address of this name",
                        ));
                    }
                    Ok(Err(DnsError::Failed)) => {
                        return Err(Failure::new(Outcome::DnsFailed, "the name server failed"));
                    }
                    Err(phase) => return Err(Failure::new(Outcome::TimedOut, phase.as_str())),
                }
            }
        };
        if !making.settings.allow_private {
            let mut refused = None;
            addresses.retain(|&ip| match guard::forbidden(ip) {
                Some(why) => {
                    refused.get_or_insert((ip, why));
                    false
                }
                None => true,
            });
            if let (true, Some((ip, why))) = (addresses.is_empty(), refused) {
                return Err(Failure::new(Outcome::ForbiddenAddress, why).at(ip));
            }
        }
        // IPv4 first, then both in turn: a broken IPv6 line is the likelier of the two.
        let (v4, v6): (Vec<_>, Vec<_>) = addresses.iter().copied().partition(IpAddr::is_ipv4);
        let mut ordered = Vec::with_capacity(addresses.len());
        let (mut v4, mut v6) = (v4.into_iter(), v6.into_iter());
        loop {
            let pair = [v4.next(), v6.next()];
            if pair.iter().all(Option::is_none) {
                ordered.truncate(TRIES);
                return Ok(ordered);
            }
            ordered.extend(pair.into_iter().flatten());
        }
    }

    async fn reach(
        &self,
        target: &Target<'_>,
        addresses: &[IpAddr],
        making: &mut Making<'_>,
    ) -> Result<(TcpStream, Option<IpAddr>), Failure> {
        if let Some(proxy) = &self.proxy {
            return self
                .through(proxy, target, addresses.first().copied(), making)
                .await;
        }
        let mut last = Failure::new(Outcome::ConnectFailed, "no address");
        for (tried, &ip) in addresses.iter().enumerate() {
            enter(target, ip, making)?;
            // Each address gets its share of what is left, so that a silent one leaves time.
            let left = making.clock.left();
            let share = left / u32::try_from(addresses.len() - tried).unwrap_or(1).max(1);
            let attempt = dial(
                SocketAddr::new(ip, target.origin.port),
                making.settings.local_address,
            );
            match making.clock.run(tokio::time::timeout(share, attempt)).await {
                Ok(Ok(Ok(stream))) => return Ok((stream, Some(ip))),
                Ok(Ok(Err(error))) => {
                    last = Failure::new(Outcome::ConnectFailed, error.to_string()).at(ip);
                }
                Ok(Err(_)) => {
                    last = Failure::new(Outcome::TimedOut, Phase::Connect.as_str()).at(ip);
                }
                Err(phase) => {
                    return Err(Failure::new(Outcome::TimedOut, phase.as_str()).at(ip));
                }
            }
        }
        Err(last)
    }

    async fn through(
        &self,
        proxy: &Proxy,
        target: &Target<'_>,
        ip: Option<IpAddr>,
        making: &mut Making<'_>,
    ) -> Result<(TcpStream, Option<IpAddr>), Failure> {
        if let Some(ip) = ip {
            enter(target, ip, making)?;
        }
        let settings = making.settings;
        let work = async {
            let proxy_ip = match proxy.host.parse::<IpAddr>() {
                Ok(ip) => ip,
                Err(_) => match self.dns.resolve(&proxy.host).await {
                    Ok(found) => found.first().copied().ok_or("proxy: no address")?,
                    Err(_) => return Err("proxy: its name has no address".to_owned()),
                },
            };
            let mut stream = dial(
                SocketAddr::new(proxy_ip, proxy.port),
                settings.local_address,
            )
            .await
            .map_err(|error| format!("proxy: {error}"))?;
            let (host, port) = (target.origin.host.as_str(), target.origin.port);
            match proxy.kind {
                ProxyKind::Http if target.origin.secure => {
                    proxy
                        .connect(&mut stream, host, port, &settings.user_agent)
                        .await?;
                }
                ProxyKind::Http => {}
                ProxyKind::Socks5 | ProxyKind::Socks5Remote => {
                    proxy.socks(&mut stream, host, ip, port).await?
                }
            }
            Ok(stream)
        };
        match making.clock.run(work).await {
            Ok(Ok(stream)) => Ok((stream, ip)),
            Ok(Err(reason)) => Err(Failure::new(Outcome::ConnectFailed, reason)),
            Err(phase) => Err(Failure::new(Outcome::TimedOut, phase.as_str())),
        }
    }

    async fn secure(
        &self,
        target: &Target<'_>,
        stream: TcpStream,
        making: &mut Making<'_>,
    ) -> Result<Carrier, Failure> {
        let name = match target.literal {
            Some(ip) => ServerName::IpAddress(ip.into()),
            None => ServerName::try_from(target.origin.host.clone()).map_err(|_| {
                Failure::new(Outcome::TlsFailed, "a name that no certificate can have")
            })?,
        };
        let tls = TlsConnector::from(Arc::clone(&self.tls));
        let limits = &making.settings.limits;
        making.clock.phase(Phase::Tls, limits.tls);
        let stream = match making.clock.run(tls.connect(name, stream)).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return Err(Failure::new(Outcome::TlsFailed, error.to_string())),
            Err(phase) => return Err(Failure::new(Outcome::TimedOut, phase.as_str())),
        };
        if stream.get_ref().1.alpn_protocol() != Some(b"h2") {
            return Ok(Carrier::Http1(Wire::new(Stream::Tls(Box::new(stream)))));
        }
        match making.clock.run(http2::handshake(stream, limits)).await {
            Ok(Ok(sender)) => Ok(Carrier::Http2(sender)),
            Ok(Err(error)) => Err(Failure::new(Outcome::ProtocolBroken, error.to_string())),
            Err(phase) => Err(Failure::new(Outcome::TimedOut, phase.as_str())),
        }
    }
}

/// Asks the gate for this address, unless this visit has passed it already.
pub(super) fn enter(
    target: &Target<'_>,
    ip: IpAddr,
    making: &mut Making<'_>,
) -> Result<(), Failure> {
    let Some(gate) = making.gate.filter(|_| making.entered != Some(ip)) else {
        return Ok(());
    };
    match gate.enter(target.authority(), ip) {
        Ok(()) => {
            making.entered = Some(ip);
            Ok(())
        }
        Err(not_before) => {
            let failure = Failure::new(Outcome::Deferred, "the address has no turn now").at(ip);
            Err(Failure {
                not_before: Some(not_before),
                ..failure
            })
        }
    }
}

async fn dial(address: SocketAddr, local: Option<IpAddr>) -> std::io::Result<TcpStream> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    if let Some(local) = local.filter(|local| local.is_ipv4() == address.is_ipv4()) {
        socket.bind(SocketAddr::new(local, 0))?;
    }
    let stream = socket.connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}
