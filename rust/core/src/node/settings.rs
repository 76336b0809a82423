//! The settings as Python hands them over: one JSON text, checked there, typed here.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;

use super::NodeError;
use crate::canonical::{Grouping, Names, Rules, canonical};
use crate::doors::{Door, DoorsTable};
use crate::fetch::{DnsSettings, FetchLimits, FetchSettings};
use crate::frontier::{self, Blame, Patience, Policy};
use crate::links::rules::{RuleSet, RuleTable};
use crate::links::scope::{Scope, ScopeKind, ScopeSettings};
use crate::links::{FollowSettings, LABEL_BYTES};
use crate::node::pool::{Noarchive, PageColumns, Policies, VisitSettings};
use crate::outcome::Outcome;
use crate::parse::{LinkKind, ParseSettings, RelFlags};
use crate::seen::{SeenKind, SeenSettings};
use crate::store::state::disk::DiskSettings;
use crate::store::warc::{self, Builder, FsyncPolicy};

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
    /// The node is opened on a view of its directory, to be looked at.
    #[serde(default)]
    pub look: bool,
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
    pub alias: crate::seen::alias::Settings,
    /// The doors with policies.
    #[serde(default)]
    pub doors: DoorsTable,
    #[serde(default)]
    pub rules: RuleTable,
    pub duplicates: Duplicates,
    pub noarchive: NoarchiveTable,
    /// Absent in a standalone crawl.
    #[serde(default)]
    pub cluster: Option<Cluster>,
}

/// What happens to copies; see `policy/pages/duplicates.py`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Duplicates {
    pub follow_links: bool,
}

/// What is stored of pages that say `noarchive`; see `policy/pages/noarchive.py`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoarchiveTable {
    pub store: Noarchive,
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
    pub session_token: usize,
    pub max_length: usize,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScopeTable {
    pub kind: String,
    pub schemes: Vec<String>,
    pub skip_suffixes: Vec<String>,
    pub page_marks: Vec<String>,
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    pub block: Vec<String>,
    pub site_depth: Option<u16>,
    pub resources: bool,
    pub forms: bool,
    pub relations: Vec<String>,
    pub nofollow: bool,
    pub seed_redirects: u8,
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
    pub follow_types: Vec<String>,
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
    pub first_negative: u64,
    pub entries: u64,
    pub concurrency: usize,
    pub timeout: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parse {
    pub links_bytes: usize,
    pub anchor_bytes: usize,
    /// Links go with their anchor text; a policy asks for it.
    #[serde(default)]
    pub anchors: bool,
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
    pub rest_side_by_side: bool,
    pub max_crawl_delay: u64,
    pub per_host: u8,
    pub overrides: BTreeMap<String, u64>,
    pub robots_refresh: u64,
    pub robots_patience: u64,
    pub robots_growth: f32,
    pub unanswered: BTreeMap<String, PatienceRow>,
    pub failures_before_wait: u16,
    pub set_aside_after: u16,
    pub set_aside_for: u64,
    pub set_aside_times: u8,
    pub sitemaps: bool,
    pub ascend: bool,
    pub order: frontier::Formula,
    pub band_wait: u64,
    /// Keep what is known of a link in the queue; a policy asks for it.
    #[serde(default)]
    pub known: bool,
    pub depth: Option<u16>,
    pub dynamic_depth: Option<u16>,
    pub pages_per_host: Option<u32>,
    pub pages: Option<u64>,
    pub bytes: Option<u64>,
    pub evidence: crate::links::patterns::EvidenceSettings,
    pub soft_404: crate::links::soft404::Soft404Settings,
    pub set_aside_growth: f32,
    pub given_up_for: u64,
    pub free_tries: u8,
    pub longest_retry_after: u64,
    pub throttling: frontier::Throttling,
    pub policies: BTreeMap<String, PolicyRow>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyRow {
    pub blame: String,
    pub tries: u8,
    pub wait: u64,
    pub growth: f32,
    pub longest: u64,
    pub free: bool,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PatienceRow {
    pub tries: u8,
    pub wait: u64,
    pub growth: f32,
}

/// Bytes of visible text that a policy is given of a page.
const MOST_TEXT: usize = 1 << 20;

impl NodeSettings {
    /// Reads the JSON text; what is wrong is named.
    pub fn read(text: &str) -> Result<NodeSettings, NodeError> {
        let settings: NodeSettings =
            serde_json::from_str(text).map_err(|error| wrong("settings", &error))?;
        settings.doors.check().map_err(NodeError::Settings)?;
        Ok(settings)
    }

    /// Whether some policy of a door asks for a column.
    fn asks(&self, door: Door, column: &str) -> bool {
        let settings = self.doors.get(door);
        settings.is_some_and(|settings| settings.asks(column))
    }

    /// The rules of the canonical form.
    #[must_use]
    pub fn rules(&self) -> Rules {
        Rules {
            strip_params: Names::new(&self.canonical.strip_parameters),
            strip_session: Names::new(&self.canonical.strip_sessions),
            session_token: self.canonical.session_token,
            max_length: self.canonical.max_length,
            grouping: if self.grouping == "site" {
                Grouping::FirstLabel
            } else {
                Grouping::Host
            },
        }
    }

    pub(super) fn disk(&self) -> DiskSettings {
        let usual = DiskSettings::default();
        DiskSettings {
            cache_bytes: self.store.cache,
            flushed: self.store.durable,
            at_rest: self.look,
            // A view is small, and may be where there is little room.
            reserve_bytes: if self.look { 0 } else { usual.reserve_bytes },
            ..usual
        }
    }

    pub(super) fn seen_kind(&self) -> Result<SeenKind, NodeError> {
        SeenKind::parse(&self.seen.kind).ok_or_else(|| wrong("seen.kind", &self.seen.kind))
    }

    pub(super) fn seen(&self, dir: &Path) -> SeenSettings {
        SeenSettings {
            // What a fresh URL costs in a large crawl depends on the filter.
            cache_bytes: self.seen.ram / 5,
            filter_bytes: self.seen.ram - self.seen.ram / 5,
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

    /// What may change while the pool runs.
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
            page_marks: table.page_marks.clone(),
            include: table.include.clone(),
            exclude: table.exclude.clone(),
            block: table.block.clone(),
            site_depth: table.site_depth,
        })
        .map_err(NodeError::Settings)?;
        for root in roots {
            scope.add_root(root);
        }
        let rules = RuleSet::compile(&self.rules).map_err(NodeError::Settings)?;
        Ok(Policies {
            scope,
            rules,
            follow: FollowSettings {
                resources: table.resources,
                forms: table.forms,
                relations: relations(&table.relations)?,
                obey_nofollow: table.nofollow,
                anchors: self.parse.anchors,
            },
            parse: ParseSettings {
                agent: self.fetch.agent.clone(),
                links_bytes: self.parse.links_bytes,
                // Where nobody asks for them they are only told apart.
                anchor_bytes: if self.parse.anchors {
                    self.parse.anchor_bytes
                } else {
                    LABEL_BYTES
                },
                forms: table.forms,
                resources: table.resources,
                text_bytes: if self.asks(Door::Pages, "text") {
                    MOST_TEXT
                } else {
                    0
                },
                ..ParseSettings::default()
            },
            keep_types: self.fetch.types.clone(),
            follow_types: self.fetch.follow_types.clone(),
            seed_redirects: table.seed_redirects,
            builder: Builder::default(),
            outlinks_record: self.store.outlinks,
            noarchive: self.noarchive.store,
            page: PageColumns {
                body: self.asks(Door::Pages, "body"),
            },
        })
    }

    /// What the fetcher pool is told at its start.
    pub fn visit(&self) -> Result<VisitSettings, NodeError> {
        let fetch = &self.fetch;
        let limits = FetchLimits {
            connect: Duration::from_micros(fetch.connect_timeout),
            tls: Duration::from_micros(fetch.tls_timeout),
            first_byte: Duration::from_micros(fetch.first_byte_timeout),
            stall: Duration::from_micros(fetch.stall_timeout),
            total: Duration::from_micros(fetch.total_timeout),
            body_bytes: fetch.max_body,
            decoded_bytes: fetch.max_body.saturating_mul(4),
            ratio: fetch.max_ratio,
            ..FetchLimits::default()
        };
        Ok(VisitSettings {
            fetch: FetchSettings {
                user_agent: fetch.user_agent.clone(),
                contact: fetch.contact.clone(),
                extra_headers: fetch.headers.clone(),
                limits,
                accept_types: wanted_types(fetch),
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
            first_negative_ttl: Some(Duration::from_micros(dns.first_negative)),
            capacity: dns.entries,
            concurrency: dns.concurrency,
            timeout: Duration::from_micros(dns.timeout),
            ..DnsSettings::default()
        })
    }

    /// What the frontier is told; the rules are those of the policies.
    pub(super) fn frontier(
        &self,
        declared: Option<&Arc<RuleSet>>,
    ) -> Result<frontier::Settings, NodeError> {
        let polite = &self.frontier;
        let rules = self.rules();
        let is_kind = |name: &str| LinkKind::ALL.iter().any(|kind| kind.as_str() == name);
        if let Some(name) = polite.order.kinds.keys().find(|name| !is_kind(name)) {
            return Err(wrong("order.kinds", name));
        }
        let for_hosts = declared.filter(|rules| rules.has_host_terms()).cloned();
        let mut settings = frontier::Settings {
            rules: for_hosts.map(|rules| rules as Arc<dyn frontier::HostRules>),
            order: polite.order.clone(),
            known: polite.known || declared.is_some_and(|rules| rules.asks_for_kind()),
            band_wait: polite.band_wait,
            gap: polite.delay,
            response_factor: polite.response_factor,
            rest_side_by_side: polite.rest_side_by_side,
            longest_crawl_delay: polite.max_crawl_delay,
            list: self.host_list,
            ip_gap: polite.address_delay,
            per_host: polite.per_host,
            per_ip: polite.per_host,
            failures_before_wait: polite.failures_before_wait,
            set_aside_after: polite.set_aside_after,
            set_aside: polite.set_aside_for,
            set_asides: polite.set_aside_times,
            set_aside_growth: polite.set_aside_growth,
            given_up_for: polite.given_up_for,
            free_tries: polite.free_tries,
            longest_retry_after: polite.longest_retry_after,
            throttling: polite.throttling,
            robots_fresh: polite.robots_refresh,
            robots_give_up: polite.robots_patience,
            robots_growth: polite.robots_growth,
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
            settings.set_policy(outcome, row.policy()?);
        }
        for (name, row) in &polite.unanswered {
            let outcome = Outcome::from_name(name).ok_or_else(|| wrong("unanswered", name))?;
            settings.unanswered[outcome as usize] = Patience {
                tries: row.tries.max(1),
                wait: row.wait,
                growth: row.growth,
            };
        }
        settings.robots_wait = settings.policy(Outcome::ServerFailed).wait.max(1);
        Ok(settings)
    }
}

impl PolicyRow {
    fn policy(&self) -> Result<Policy, NodeError> {
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
            longest: self.longest,
            tries: self.tries,
            free: self.free,
        })
    }
}

/// The relations of `<link>` that are followed; `None`: all.
fn relations(names: &[String]) -> Result<Option<RelFlags>, NodeError> {
    let mut set = RelFlags::default();
    for name in names {
        if name == "*" {
            return Ok(None);
        }
        let found = RelFlags::of(name).ok_or_else(|| wrong("scope.relations", name))?;
        set = RelFlags(set.0 | found.0);
    }
    Ok(Some(set))
}

/// What is asked for: types that are kept, and those that are read for their links; empty: all.
fn wanted_types(fetch: &Fetch) -> Vec<String> {
    if fetch.types.is_empty() {
        return Vec::new();
    }
    [fetch.types.clone(), fetch.follow_types.clone()].concat()
}

fn wrong(name: &str, what: &dyn std::fmt::Display) -> NodeError {
    NodeError::Settings(format!("{name}: cannot use {what}"))
}
