//! Asking name servers over the wire, with hickory-resolver; its own cache is off.

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolveHosts, ResolverConfig,
};
use hickory_resolver::net::{DnsError as WireError, NetError, runtime::TokioRuntimeProvider};
use hickory_resolver::proto::rr::Name;

use super::dns::{DnsError, Lookup, LookupAnswer};
use super::settings::{DnsSettings, SettingsError};

/// Addresses of one name that are used; a longer list is cut.
const ADDRESSES_MOST: usize = 16;

#[derive(Debug)]
pub(super) struct NameServers {
    resolver: TokioResolver,
    /// All tries of one look-up together.
    limit: Duration,
}

impl NameServers {
    pub(super) fn new(settings: &DnsSettings) -> Result<Self, SettingsError> {
        let failed = |error: NetError| SettingsError::new("dns.servers", error.to_string());
        let provider = TokioRuntimeProvider::default();
        let mut builder = if settings.servers.is_empty() {
            TokioResolver::builder(provider).map_err(failed)?
        } else {
            let servers = settings.servers.iter().map(|server| {
                let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()]
                    .map(|mut connection| {
                        connection.port = server.port();
                        connection
                    })
                    .to_vec();
                NameServerConfig::new(server.ip(), true, connections)
            });
            let config = ResolverConfig::from_name_servers(servers.collect());
            let mut builder = TokioResolver::builder_with_config(config, provider);
            builder.options_mut().use_hosts_file = ResolveHosts::Never;
            builder
        };
        let options = builder.options_mut();
        options.cache_size = 0;
        options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
        options.timeout = settings.timeout;
        options.attempts = settings.attempts.max(1);
        let resolver = builder.build().map_err(failed)?;
        let tries = u32::try_from(settings.attempts.max(1) + 1).unwrap_or(u32::MAX);
        Ok(NameServers {
            resolver,
            limit: settings.timeout.saturating_mul(tries.min(1000)),
        })
    }
}

impl Lookup for NameServers {
    fn lookup(&self, name: String) -> Pin<Box<dyn Future<Output = LookupAnswer> + Send>> {
        let resolver = self.resolver.clone();
        let limit = self.limit;
        Box::pin(async move {
            let Ok(mut fqdn) = Name::from_ascii(&name) else {
                return (Err(DnsError::NotFound), None);
            };
            // Fully qualified, so that no search list of this machine is appended.
            fqdn.set_fqdn(true);
            match tokio::time::timeout(limit, resolver.lookup_ip(fqdn)).await {
                Err(_) => (Err(DnsError::Failed), None),
                Ok(Err(NetError::Dns(WireError::NoRecordsFound(none)))) => {
                    let ttl = none.negative_ttl.map(|ttl| Duration::from_secs(ttl.into()));
                    (Err(DnsError::NotFound), ttl)
                }
                Ok(Err(_)) => (Err(DnsError::Failed), None),
                Ok(Ok(found)) => {
                    let addresses: Vec<IpAddr> = found.iter().take(ADDRESSES_MOST).collect();
                    let ttl = found
                        .as_lookup()
                        .answers()
                        .iter()
                        .map(|record| record.ttl)
                        .min();
                    match addresses.is_empty() {
                        true => (Err(DnsError::NotFound), None),
                        false => (
                            Ok(addresses.into()),
                            ttl.map(|ttl| Duration::from_secs(ttl.into())),
                        ),
                    }
                }
            }
        })
    }
}
