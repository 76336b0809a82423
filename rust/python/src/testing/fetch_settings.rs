//! Settings of the fetch stage from a Python dictionary. A key that is not known is refused.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use gossamer_core::fetch::{DnsSettings, FetchLimits, FetchSettings, TlsSettings};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

fn wrong(key: &str, reason: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("{key}: {reason}"))
}

fn seconds(key: &str, value: &Bound<'_, PyAny>) -> PyResult<Duration> {
    Duration::try_from_secs_f64(value.extract()?).map_err(|error| wrong(key, error))
}

fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(key: &str, text: &str) -> PyResult<T> {
    text.parse().map_err(|error| wrong(key, error))
}

fn inner<'a, 'py>(value: &'a Bound<'py, PyAny>) -> PyResult<&'a Bound<'py, PyDict>> {
    value.cast::<PyDict>().map_err(PyErr::from)
}

fn limits(dict: &Bound<'_, PyDict>) -> PyResult<FetchLimits> {
    let mut limits = FetchLimits::default();
    for (key, value) in dict {
        let key: String = key.extract()?;
        match key.as_str() {
            "connect" => limits.connect = seconds(&key, &value)?,
            "tls" => limits.tls = seconds(&key, &value)?,
            "first_byte" => limits.first_byte = seconds(&key, &value)?,
            "stall" => limits.stall = seconds(&key, &value)?,
            "total" => limits.total = seconds(&key, &value)?,
            "head_bytes" => limits.head_bytes = value.extract()?,
            "head_lines" => limits.head_lines = value.extract()?,
            "body_bytes" => limits.body_bytes = value.extract()?,
            "decoded_bytes" => limits.decoded_bytes = value.extract()?,
            "ratio" => limits.ratio = value.extract()?,
            _ => return Err(wrong("limits", format!("no setting {key:?}"))),
        }
    }
    Ok(limits)
}

fn dns(dict: &Bound<'_, PyDict>) -> PyResult<DnsSettings> {
    let mut dns = DnsSettings::default();
    for (key, value) in dict {
        let key: String = key.extract()?;
        match key.as_str() {
            "servers" => {
                let servers: Vec<String> = value.extract()?;
                let servers = servers.iter().map(|text| parsed::<SocketAddr>(&key, text));
                dns.servers = servers.collect::<PyResult<_>>()?;
            }
            "fixed" => {
                let fixed: HashMap<String, Vec<String>> = value.extract()?;
                for (name, addresses) in fixed {
                    let addresses = addresses.iter().map(|text| parsed::<IpAddr>(&key, text));
                    dns.fixed.insert(name, addresses.collect::<PyResult<_>>()?);
                }
            }
            "ttl_floor" => dns.ttl_floor = seconds(&key, &value)?,
            "ttl_ceiling" => dns.ttl_ceiling = seconds(&key, &value)?,
            "negative_ttl" => dns.negative_ttl = seconds(&key, &value)?,
            "stale" => dns.stale = seconds(&key, &value)?,
            "capacity" => dns.capacity = value.extract()?,
            "concurrency" => dns.concurrency = value.extract()?,
            "timeout" => dns.timeout = seconds(&key, &value)?,
            "attempts" => dns.attempts = value.extract()?,
            _ => return Err(wrong("dns", format!("no setting {key:?}"))),
        }
    }
    Ok(dns)
}

fn tls(dict: &Bound<'_, PyDict>) -> PyResult<TlsSettings> {
    let mut tls = TlsSettings::default();
    for (key, value) in dict {
        let key: String = key.extract()?;
        match key.as_str() {
            "web_roots" => tls.web_roots = value.extract()?,
            "native_roots" => tls.native_roots = value.extract()?,
            "extra_roots" => tls.extra_roots = value.extract()?,
            _ => return Err(wrong("tls", format!("no setting {key:?}"))),
        }
    }
    Ok(tls)
}

/// Reads the settings; durations are seconds, sizes are bytes.
pub fn from_dict(dict: &Bound<'_, PyDict>) -> PyResult<FetchSettings> {
    let mut settings = FetchSettings::default();
    for (key, value) in dict {
        let key: String = key.extract()?;
        match key.as_str() {
            "user_agent" => settings.user_agent = value.extract()?,
            "contact" => settings.contact = value.extract()?,
            "accept" => settings.accept = value.extract()?,
            "accept_encoding" => settings.accept_encoding = value.extract()?,
            "extra_headers" => settings.extra_headers = value.extract()?,
            "limits" => settings.limits = limits(inner(&value)?)?,
            "accept_types" => settings.accept_types = value.extract()?,
            "http2" => settings.http2 = value.extract()?,
            "proxy" => settings.proxy = value.extract()?,
            "allow_private" => settings.allow_private = value.extract()?,
            "cookies" => settings.cookies = value.extract()?,
            "dns" => settings.dns = dns(inner(&value)?)?,
            "tls" => settings.tls = tls(inner(&value)?)?,
            "idle_connections" => settings.idle_connections = value.extract()?,
            "idle_per_host" => settings.idle_per_host = value.extract()?,
            "idle_timeout" => settings.idle_timeout = seconds(&key, &value)?,
            "local_address" => {
                let text: Option<String> = value.extract()?;
                settings.local_address = text.map(|text| parsed(&key, &text)).transpose()?;
            }
            _ => return Err(wrong("fetch", format!("no setting {key:?}"))),
        }
    }
    Ok(settings)
}
