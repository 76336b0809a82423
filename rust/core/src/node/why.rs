//! `gossamer why`: what is known of a URL and its host, whose turn, which rule.

use serde_json::{Value, json};

use super::rows::IndexRow;
use super::{Node, NodeError};
use crate::canonical::{canonical, partition};
use crate::frontier::stored_robots;
use crate::robots::Robots;
use crate::state::{Reads, Space};

impl Node {
    /// Everything known of a URL, as JSON for people and programs.
    pub fn why(&self, raw: &str) -> Result<Value, NodeError> {
        let url = match canonical(raw, None, &self.rules) {
            Ok(url) => url,
            Err(refusal) => return Ok(json!({"given": raw, "refused": refusal.to_string()})),
        };
        let scope = match self.engine.policies().scope.check(&url) {
            Ok(()) => Value::Null,
            Err(rule) => json!(rule.as_str()),
        };
        let row = self.state.get(Space::Index, &url.key())?;
        let row = row.as_deref().and_then(IndexRow::read);
        let host = self.frontier.explain(url.host_key(), &*self.state)?;
        Ok(json!({
            "given": raw,
            "url": url.as_str(),
            "host": url.host(),
            "registered_domain": url.registered_domain(),
            "partition": partition(url.host_key(), self.settings.partitions),
            "fingerprint": format!("{:016x}", url.fingerprint()),
            "seen": self.state.contains(Space::Seen, &url.key())?,
            "out_of_scope": scope,
            "robots": self.robots_verdict(&url)?,
            "last_visit": row.map(|row| json!({
                "outcome": row.outcome().map(crate::outcome::Outcome::as_str),
                "status": row.status,
                "time": row.time as f64 / 1e6,
                "depth": row.depth,
                "warc_file": row.serial,
                "warc_offset": row.offset,
                "warc_length": row.length,
            })),
            "alias": self.alias_view(&url)?,
            "host_state": host.map(|view| format!("{view:?}")),
        }))
    }

    fn robots_verdict(&self, url: &crate::canonical::Url) -> Result<Value, NodeError> {
        let mut key = url.host_key().to_be_bytes().to_vec();
        key.push(u8::from(url.scheme_is_https()));
        let Some(value) = self.state.get(Space::Robots, &key)? else {
            return Ok(json!("no rules known"));
        };
        let Some((_, body)) = stored_robots(&value) else {
            return Ok(json!("no rules known"));
        };
        let robots = Robots::parse(body, &self.settings.fetch.agent);
        let rule = robots.which_rule(url.path_and_query());
        Ok(json!({
            "allowed": robots.allows(url.path_and_query()),
            "rule": rule.map(|rule| format!("{rule:?}")),
            "crawl_delay": robots.crawl_delay().map(|delay| delay.as_secs_f64()),
        }))
    }
}
