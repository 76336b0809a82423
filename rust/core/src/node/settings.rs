//! The settings as Python hands them over: one JSON text, checked there, typed here.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use super::NodeError;
use crate::canonical::{Grouping, Names, Rules, canonical};
use crate::fetch::{DnsSettings, FetchSettings, Limits};
use crate::frontier::{self, Blame, Policy};
use crate::links::FollowSettings;
use crate::links::scope::{Scope, ScopeKind, ScopeSettings};
use crate::outcome::Outcome;
use crate::parse::ParseSettings;
use crate::seen::{Kind, SeenSettings};
use crate::state::disk::DiskSettings;
use crate::visit::{Policies, VisitSettings};
use crate::warc::{self, Builder, FsyncPolicy};

/// All settings of a node. Times are microseconds, sizes are bytes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeSettings {
    pub partitions: u32,
    pub grouping: String,
    pub threads: usize,
    #[serde(default = "standalone")]
    pub node_name: String,
    /// Keep a list of all hosts in memory, for people to look at.
    #[serde(default)]
    pub host_list: bool,
    /// For tests: how far the clock is ahead of the machine's.
    #[serde(default)]
    pub clock_offset: i64,
    pub canonical: Canonical,
    pub scope: ScopeTable,
    pub seen: SeenTable,
    pub fetch: Fetch,
    pub dns: Dns,
    pub parse: Parse,
    pub store: Store,
    pub frontier: Politeness,
    #[serde(default)]
    pub alias: crate::alias::Settings,
    /// Absent in a standalone crawl.
    #[serde(default)]
    pub cluster: Option<Cluster>,
}

/// How links to other nodes are handled.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    pub mode: String,
    pub batch_links: usize,
    pub batch_wait: u64,
    pub cache: usize,
    pub keep: u64,
    pub backlog: u64,
}

fn standalone() -> String {
    "standalone".to_owned()
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Canonical {
    pub strip_parameters: Vec<String>,
    pub strip_sessions: Vec<String>,
    pub max_length: usize,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScopeTable {
    pub kind: String,
    pub schemes: Vec<String>,
    pub skip_suffixes: Vec<String>,
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    pub block: Vec<String>,
    pub site_depth: Option<u16>,
    pub resources: bool,
    pub forms: bool,
    pub nofollow: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeenTable {
    pub kind: String,
    pub ram: usize,
    pub expected: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fetch {
    pub agent: String,
    pub user_agent: String,
    pub contact: String,
    pub headers: Vec<(String, String)>,
    pub concurrency: usize,
    pub connect_timeout: u64,
    pub tls_timeout: u64,
    pub first_byte_timeout: u64,
    pub stall_timeout: u64,
    pub total_timeout: u64,
    pub max_body: usize,
    pub max_ratio: usize,
    pub types: Vec<String>,
    pub http2: bool,
    pub proxy: Option<String>,
    pub allow_private: bool,
    pub cookies: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dns {
    pub servers: Vec<String>,
    pub answers: HashMap<String, Vec<String>>,
    pub floor: u64,
    pub ceiling: u64,
    pub negative: u64,
    pub entries: u64,
    pub concurrency: usize,
    pub timeout: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parse {
    pub max_links: usize,
    pub anchor_bytes: usize,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Store {
    pub warc_size: u64,
    pub outlinks: bool,
    pub durable: bool,
    pub cache: u64,
    pub batch_pages: usize,
    pub batch_wait: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Politeness {
    pub delay: u64,
    pub address_delay: u64,
    pub response_factor: f32,
    pub max_crawl_delay: u64,
    pub per_host: u8,
    pub overrides: BTreeMap<String, u64>,
    pub robots_refresh: u64,
    pub robots_patience: u64,
    pub set_aside_after: u16,
    pub set_aside_for: u64,
    pub set_aside_times: u8,
    pub sitemaps: bool,
    pub ascend: bool,
    pub order: String,
    pub depth: Option<u16>,
    pub dynamic_depth: Option<u16>,
    pub pages_per_host: Option<u32>,
    pub pages: Option<u64>,
    pub bytes: Option<u64>,
    pub trap_budget: u32,
    pub policies: BTreeMap<String, PolicyRow>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyRow {
    pub blame: String,
    pub tries: u8,
    pub wait: u64,
    pub growth: f32,
}

/// No wait between tries is longer.
const LONGEST_WAIT: u64 = 24 * 3600 * 1_000_000;

impl NodeSettings {
    /// Reads the JSON text; what is wrong is named.
    pub fn read(text: &str) -> Result<NodeSettings, NodeError> {
        serde_json::from_str(text).map_err(|error| wrong("settings", &error))
    }

    /// The rules of the canonical form.
    #[must_use]
    pub fn rules(&self) -> Rules {
        Rules {
            strip_params: Names::new(&self.canonical.strip_parameters),
            strip_session: Names::new(&self.canonical.strip_sessions),
            max_length: self.canonical.max_length,
            grouping: if self.grouping == "site" {
                Grouping::FirstLabel
            } else {
                Grouping::Host
            },
        }
    }

    pub(super) fn disk(&self) -> DiskSettings {
        DiskSettings {
            cache_bytes: self.store.cache,
            ..DiskSettings::default()
        }
    }

    pub(super) fn seen_kind(&self) -> Result<Kind, NodeError> {
        Kind::parse(&self.seen.kind).ok_or_else(|| wrong("seen.kind", &self.seen.kind))
    }

    pub(super) fn seen(&self, dir: &Path) -> SeenSettings {
        SeenSettings {
            cache_bytes: self.seen.ram / 2,
            filter_bytes: self.seen.ram / 2,
            bloom_bytes: self.seen.ram,
            directory: Some(dir.join("state").join("seen")),
            ..SeenSettings::default()
        }
    }

    /// What the WARC writer is told.
    #[must_use]
    pub fn warc(&self, fsync: FsyncPolicy) -> warc::Settings {
        let info = [
            ("software", concat!("gossamer/", env!("CARGO_PKG_VERSION"))),
            ("format", "WARC File Format 1.1"),
            (
                "conformsTo",
                "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
            ),
            ("robots", "obey"),
            ("http-header-user-agent", &self.fetch.user_agent),
        ];
        let info = info.map(|(name, value)| (name.to_owned(), value.to_owned()));
        warc::Settings {
            node: self.node_name.clone(),
            max_size: self.store.warc_size,
            fsync,
            builder: Builder::default(),
            info: info.to_vec(),
        }
    }

    /// What may change while the engine runs.
    pub fn policies(&self, roots: &[String]) -> Result<Policies, NodeError> {
        let table = &self.scope;
        let kind = match table.kind.as_str() {
            "host" => ScopeKind::Host,
            "domain" => ScopeKind::Domain,
            "prefix" => ScopeKind::Prefix,
            "any" => ScopeKind::Any,
            other => return Err(wrong("scope.kind", &other)),
        };
        let mut scope = Scope::new(&ScopeSettings {
            kind,
            schemes: table.schemes.clone(),
            skip_suffixes: table.skip_suffixes.clone(),
            include: table.include.clone(),
            exclude: table.exclude.clone(),
            block: table.block.clone(),
            site_depth: table.site_depth,
        })
        .map_err(NodeError::Settings)?;
        for root in roots {
            scope.add_root(root);
        }
        Ok(Policies {
            scope,
            follow: FollowSettings {
                resources: table.resources,
                forms: table.forms,
                obey_nofollow: table.nofollow,
            },
            parse: ParseSettings {
                agent: self.fetch.agent.clone(),
                max_links: self.parse.max_links,
                anchor_bytes: self.parse.anchor_bytes,
                forms: table.forms,
                resources: table.resources,
                ..ParseSettings::default()
            },
            builder: Builder::default(),
            outlinks_record: self.store.outlinks,
        })
    }

    /// What the engine is told at its start.
    pub fn visit(&self) -> Result<VisitSettings, NodeError> {
        let fetch = &self.fetch;
        let limits = Limits {
            connect: Duration::from_micros(fetch.connect_timeout),
            tls: Duration::from_micros(fetch.tls_timeout),
            first_byte: Duration::from_micros(fetch.first_byte_timeout),
            stall: Duration::from_micros(fetch.stall_timeout),
            total: Duration::from_micros(fetch.total_timeout),
            body_bytes: fetch.max_body,
            decoded_bytes: fetch.max_body.saturating_mul(4),
            ratio: fetch.max_ratio,
            ..Limits::default()
        };
        Ok(VisitSettings {
            fetch: FetchSettings {
                user_agent: fetch.user_agent.clone(),
                contact: fetch.contact.clone(),
                extra_headers: fetch.headers.clone(),
                limits,
                accept_types: fetch.types.clone(),
                http2: fetch.http2,
                proxy: fetch.proxy.clone(),
                allow_private: fetch.allow_private,
                cookies: fetch.cookies,
                dns: self.dns()?,
                ..FetchSettings::default()
            },
            rules: self.rules(),
            threads: self.threads,
            concurrency: fetch.concurrency,
            warc: true,
        })
    }

    fn dns(&self) -> Result<DnsSettings, NodeError> {
        let dns = &self.dns;
        let mut servers = Vec::new();
        for text in &dns.servers {
            let address = text
                .parse::<SocketAddr>()
                .or_else(|_| text.parse::<IpAddr>().map(|ip| SocketAddr::new(ip, 53)));
            servers.push(address.map_err(|_| wrong("dns.servers", text))?);
        }
        let mut fixed = HashMap::new();
        for (name, texts) in &dns.answers {
            let list: Result<Vec<IpAddr>, _> = texts.iter().map(|text| text.parse()).collect();
            fixed.insert(
                name.clone(),
                list.map_err(|error| wrong("dns.answers", &error))?,
            );
        }
        Ok(DnsSettings {
            servers,
            fixed,
            ttl_floor: Duration::from_micros(dns.floor),
            ttl_ceiling: Duration::from_micros(dns.ceiling),
            negative_ttl: Duration::from_micros(dns.negative),
            capacity: dns.entries,
            concurrency: dns.concurrency,
            timeout: Duration::from_micros(dns.timeout),
            ..DnsSettings::default()
        })
    }

    pub(super) fn frontier(&self) -> Result<frontier::Settings, NodeError> {
        let polite = &self.frontier;
        let rules = self.rules();
        let order = frontier::Order::from_name(&polite.order)
            .ok_or_else(|| wrong("frontier.order", &polite.order))?;
        let mut settings = frontier::Settings {
            order,
            gap: polite.delay,
            response_factor: polite.response_factor,
            longest_crawl_delay: polite.max_crawl_delay,
            list: self.host_list,
            ip_gap: polite.address_delay,
            per_host: polite.per_host,
            per_ip: polite.per_host,
            set_aside_after: polite.set_aside_after,
            set_aside: polite.set_aside_for,
            set_asides: polite.set_aside_times,
            robots_fresh: polite.robots_refresh,
            robots_give_up: polite.robots_patience,
            limits: frontier::Limits {
                depth: polite.depth,
                depth_dynamic: polite.dynamic_depth,
                pages: polite.pages,
                pages_per_host: polite.pages_per_host,
                ..frontier::Limits::default()
            },
            ..frontier::Settings::default()
        };
        for (host, gap) in &polite.overrides {
            let url = canonical(&format!("http://{host}/"), None, &rules)
                .map_err(|_| wrong("politeness.overrides", host))?;
            settings.gaps.insert(url.host_key(), *gap);
        }
        for (name, row) in &polite.policies {
            let outcome = Outcome::from_name(name).ok_or_else(|| wrong("policies", name))?;
            settings.set_policy(outcome, row.policy(outcome)?);
        }
        settings.robots_wait = settings.policy(Outcome::ServerFailed).wait.max(1);
        Ok(settings)
    }
}

impl PolicyRow {
    fn policy(&self, outcome: Outcome) -> Result<Policy, NodeError> {
        let blame = match self.blame.as_str() {
            "url" => Blame::Url,
            "host" => Blame::Host,
            "node" => Blame::Node,
            "nobody" => Blame::Nobody,
            other => return Err(wrong("policies", &other)),
        };
        Ok(Policy {
            blame,
            wait: self.wait,
            growth: self.growth,
            longest: LONGEST_WAIT,
            tries: self.tries,
            free: outcome == Outcome::Throttled,
        })
    }
}

fn wrong(name: &str, what: &dyn std::fmt::Display) -> NodeError {
    NodeError::Settings(format!("{name}: cannot use {what}"))
}
