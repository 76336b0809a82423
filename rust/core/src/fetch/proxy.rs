//! Proxies: HTTP (absolute form, and CONNECT for TLS) and SOCKS5.
//!
//! Takes a connection to the proxy; gives a connection through it. Answers of the proxy are
//! bounded like any other. The proxy's own address is the operator's choice and is not judged.

use std::net::IpAddr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use url::Url;

use super::head;
use super::settings::SettingsError;

/// The longest answer to CONNECT.
const ANSWER_MOST: usize = 16 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProxyKind {
    Http,
    /// Names are resolved, and their addresses judged, here.
    Socks5,
    /// Names are resolved by the proxy.
    Socks5Remote,
}

#[derive(Clone)]
pub(super) struct Proxy {
    pub(super) kind: ProxyKind,
    pub(super) host: String,
    pub(super) port: u16,
    user: String,
    password: String,
}

impl std::fmt::Debug for Proxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Proxy({:?} {}:{})", self.kind, self.host, self.port)
    }
}

impl Proxy {
    pub(super) fn parse(text: &str) -> Result<Proxy, SettingsError> {
        // The text may hold a password, so the message does not repeat it.
        let wrong = |reason: &str| SettingsError::new("proxy", reason);
        let url = Url::parse(text).map_err(|_| wrong("not a URL"))?;
        let (kind, port) = match url.scheme() {
            "http" => (ProxyKind::Http, 80),
            "socks5" => (ProxyKind::Socks5, 1080),
            "socks5h" => (ProxyKind::Socks5Remote, 1080),
            _ => return Err(wrong("must begin with http://, socks5:// or socks5h://")),
        };
        let host = url
            .host_str()
            .filter(|host| !host.is_empty())
            .ok_or_else(|| wrong("no host"))?;
        let decode = |text: &str| {
            let text = text
                .replace('+', "%2B")
                .replace('&', "%26")
                .replace('=', "%3D");
            url::form_urlencoded::parse(text.as_bytes())
                .map(|(name, _)| name.into_owned())
                .next()
                .unwrap_or_default()
        };
        let proxy = Proxy {
            kind,
            host: host.trim_matches(['[', ']']).to_owned(),
            port: url.port().unwrap_or(port),
            user: decode(url.username()),
            password: decode(url.password().unwrap_or_default()),
        };
        if proxy.user.len() > 255 || proxy.password.len() > 255 {
            return Err(wrong("user or password longer than 255 bytes"));
        }
        Ok(proxy)
    }

    /// The proxy answers for the name, so we never learn the address.
    pub(super) fn resolves(&self) -> bool {
        self.kind != ProxyKind::Socks5
    }

    /// The value of `Proxy-Authorization`.
    pub(super) fn authorization(&self) -> Option<String> {
        (!self.user.is_empty()).then(|| {
            format!(
                "Basic {}",
                STANDARD.encode(format!("{}:{}", self.user, self.password))
            )
        })
    }

    /// Asks an HTTP proxy for a tunnel.
    pub(super) async fn connect(
        &self,
        stream: &mut TcpStream,
        host: &str,
        port: u16,
        user_agent: &str,
    ) -> Result<(), String> {
        let mut request = format!(
            "CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\nUser-Agent: {user_agent}\r\n"
        );
        if let Some(value) = self.authorization() {
            request.push_str(&format!("Proxy-Authorization: {value}\r\n"));
        }
        request.push_str("\r\n");
        let failed = |error: std::io::Error| format!("proxy: {error}");
        stream.write_all(request.as_bytes()).await.map_err(failed)?;
        let mut answer = Vec::with_capacity(512);
        // Byte by byte: what follows the head belongs to the tunnel.
        let end = loop {
            answer.push(stream.read_u8().await.map_err(failed)?);
            if let Some(end) = head::end(&answer, answer.len().saturating_sub(4)) {
                break end;
            }
            if answer.len() > ANSWER_MOST || !head::plausible(&answer) {
                return Err("proxy: its answer is no HTTP".to_owned());
            }
        };
        answer.truncate(end);
        match head::Head::parse(answer, 256) {
            Ok(head) if (200..300).contains(&head.status) => Ok(()),
            Ok(head) => Err(format!("proxy: it answers {} to CONNECT", head.status)),
            Err(error) => Err(format!("proxy: {}", error.as_str())),
        }
    }

    /// Asks a SOCKS5 proxy (RFC 1928, 1929) for a connection.
    pub(super) async fn socks(
        &self,
        stream: &mut TcpStream,
        host: &str,
        ip: Option<IpAddr>,
        port: u16,
    ) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("proxy: {error}");
        let methods: &[u8] = if self.user.is_empty() {
            &[5, 1, 0]
        } else {
            &[5, 2, 0, 2]
        };
        stream.write_all(methods).await.map_err(failed)?;
        let mut chosen = [0u8; 2];
        stream.read_exact(&mut chosen).await.map_err(failed)?;
        match chosen {
            [5, 0] => {}
            [5, 2] if !self.user.is_empty() => {
                let mut login = vec![1, self.user.len() as u8];
                login.extend(self.user.as_bytes());
                login.push(self.password.len() as u8);
                login.extend(self.password.as_bytes());
                stream.write_all(&login).await.map_err(failed)?;
                stream.read_exact(&mut chosen).await.map_err(failed)?;
                if chosen[1] != 0 {
                    return Err("proxy: it refuses user and password".to_owned());
                }
            }
            _ => return Err("proxy: no way to log in that both know".to_owned()),
        }
        let mut request = vec![5, 1, 0];
        match ip {
            Some(IpAddr::V4(ip)) => {
                request.push(1);
                request.extend(ip.octets());
            }
            Some(IpAddr::V6(ip)) => {
                request.push(4);
                request.extend(ip.octets());
            }
            None => {
                let length = u8::try_from(host.len()).map_err(|_| "proxy: name too long")?;
                request.extend([3, length]);
                request.extend(host.as_bytes());
            }
        }
        request.extend(port.to_be_bytes());
        stream.write_all(&request).await.map_err(failed)?;
        let mut reply = [0u8; 4];
        stream.read_exact(&mut reply).await.map_err(failed)?;
        if reply[0] != 5 || reply[1] != 0 {
            return Err(format!(
                "proxy: it answers {} to a connection request",
                reply[1]
            ));
        }
        let rest = match reply[3] {
            1 => 4,
            4 => 16,
            3 => usize::from(stream.read_u8().await.map_err(failed)?),
            _ => return Err("proxy: an answer of unknown form".to_owned()),
        };
        let mut bound = [0u8; 257];
        stream
            .read_exact(&mut bound[..rest + 2])
            .await
            .map_err(failed)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_proxy_is_a_url() {
        let proxy = Proxy::parse("socks5h://me:p%40ss+@[::1]").unwrap();
        assert_eq!(
            (proxy.kind, proxy.host.as_str(), proxy.port),
            (ProxyKind::Socks5Remote, "::1", 1080)
        );
        assert_eq!(
            (proxy.user.as_str(), proxy.password.as_str()),
            ("me", "p@ss+")
        );
        assert!(!format!("{proxy:?}").contains("p@ss"));
        assert!(Proxy::parse("ftp://host").is_err());
        assert!(Proxy::parse("host:80").is_err());
    }
}
