//! The fetcher against servers in the same process.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;
use crate::canonical::{Rules, Url, canonical};
use crate::outcome::Outcome;

pub(super) fn url(text: &str) -> Url {
    canonical(text, None, &Rules::plain()).unwrap()
}

pub(super) fn page(text: &str) -> Request {
    Request::page(url(text))
}

pub(super) fn local_settings() -> FetchSettings {
    let mut settings = FetchSettings {
        allow_private: true,
        ..FetchSettings::default()
    };
    settings.dns.servers = vec!["127.0.0.1:9".parse().unwrap()];
    settings.limits.first_byte = Duration::from_secs(5);
    settings.limits.tls = Duration::from_millis(500);
    settings
}

async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut text = Vec::new();
    while !text.ends_with(b"\r\n\r\n") {
        text.push(stream.read_u8().await.ok()?);
    }
    String::from_utf8(text).ok()
}

/// Serves the same bytes to every request, `per_connection` times on each connection.
async fn serve(answer: &'static [u8], per_connection: usize) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let connections = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connections);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            count.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                for _ in 0..per_connection {
                    if read_request(&mut stream).await.is_none() {
                        return;
                    }
                    stream.write_all(answer).await.unwrap();
                }
            });
        }
    });
    (port, connections)
}

async fn fetch_once(answer: &'static [u8]) -> Response {
    let (port, _) = serve(answer, 1).await;
    let fetcher = Fetcher::new(local_settings()).unwrap();
    fetcher
        .fetch(page(&format!("http://127.0.0.1:{port}/a?b=c")))
        .await
}

#[tokio::test]
async fn a_page() {
    let answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\nETag: \"e\"\r\n\r\nhello";
    let response = fetch_once(answer).await;
    assert_eq!(response.outcome, Outcome::Fetched, "{response:?}");
    assert_eq!((response.status, &response.body[..]), (200, &b"hello"[..]));
    assert_eq!(
        response.response_head.as_bytes(),
        &answer[..answer.len() - 5]
    );
    assert_eq!(response.content_type().as_deref(), Some("text/html"));
    assert_eq!(response.etag().as_deref(), Some("\"e\""));
    assert_eq!(response.ip, Some(IpAddr::V4(Ipv4Addr::LOCALHOST)));
    let sent = String::from_utf8(response.request_head).unwrap();
    assert!(
        sent.starts_with("GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:"),
        "{sent}"
    );
    assert!(
        sent.contains("\r\nUser-Agent: gossamer/") && sent.ends_with("\r\n\r\n"),
        "{sent}"
    );
    // Identity: one buffer, not two.
    assert_eq!(response.body.as_ptr(), response.wire_body.as_ptr());
}

/// What is canonical is what is asked for: the fetcher has no second opinion on what a URL is.
#[tokio::test]
async fn a_host_that_only_claims_to_be_punycode_is_visited() {
    let (port, _) = serve(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 1).await;
    let mut settings = local_settings();
    let here = vec![IpAddr::V4(Ipv4Addr::LOCALHOST)];
    settings.dns.fixed.insert("xn--a".to_owned(), here);
    let fetcher = Fetcher::new(settings).unwrap();
    let response = fetcher
        .fetch(page(&format!("http://xn--a:{port}/{{}}?b")))
        .await;
    assert_eq!(response.outcome, Outcome::Fetched, "{response:?}");
    let sent = String::from_utf8(response.request_head).unwrap();
    let expected = format!("GET /%7B%7D?b HTTP/1.1\r\nHost: xn--a:{port}\r\n");
    assert!(sent.starts_with(&expected), "{sent}");
}

#[tokio::test]
async fn ports_of_other_services_are_not_visited() {
    let fetcher = Fetcher::new(local_settings()).unwrap();
    for port in ["25", "6667", "0"] {
        let response = fetcher
            .fetch(page(&format!("http://127.0.0.1:{port}/")))
            .await;
        assert_eq!(response.outcome, Outcome::UrlRefused, "{response:?}");
    }
}

#[tokio::test]
async fn connections_are_kept_and_replaced() {
    let (port, connections) = serve(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 3).await;
    let fetcher = Fetcher::new(local_settings()).unwrap();
    for number in 0..6 {
        let response = fetcher
            .fetch(page(&format!("http://127.0.0.1:{port}/")))
            .await;
        assert_eq!(response.outcome, Outcome::Fetched, "{number}: {response:?}");
        assert_eq!(response.reused, number % 3 != 0, "{number}");
    }
    assert_eq!(connections.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn connections_side_by_side_are_all_kept() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let connections = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connections);
    // Nobody is answered before both have asked, so two connections are needed.
    let both = Arc::new(tokio::sync::Barrier::new(2));
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            count.fetch_add(1, Ordering::SeqCst);
            let both = Arc::clone(&both);
            tokio::spawn(async move {
                while read_request(&mut stream).await.is_some() {
                    both.wait().await;
                    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
                    stream.write_all(answer).await.unwrap();
                }
            });
        }
    });
    let fetcher = Fetcher::new(local_settings()).unwrap();
    let url = format!("http://127.0.0.1:{port}/");
    for _ in 0..3 {
        let (one, two) = tokio::join!(fetcher.fetch(page(&url)), fetcher.fetch(page(&url)));
        assert_eq!(
            (one.outcome, two.outcome),
            (Outcome::Fetched, Outcome::Fetched)
        );
    }
    assert_eq!(connections.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_robots_file_is_cut_where_an_archive_is_refused() {
    let answer =
        b"HTTP/1.1 200 OK\r\nContent-Type: application/zip\r\nContent-Length: 9\r\n\r\n123456789";
    let (port, _) = serve(answer, 1).await;
    let fetcher = Fetcher::new(local_settings()).unwrap();
    for (purpose, outcome, body) in [
        (Purpose::Page, Outcome::TooLarge, &b""[..]),
        (Purpose::Robots, Outcome::Truncated, &b"12345"[..]),
        (Purpose::Sitemap, Outcome::Truncated, &b"12345"[..]),
    ] {
        let request = Request {
            purpose,
            max_body: Some(5),
            ..page(&format!("http://127.0.0.1:{port}/"))
        };
        let response = fetcher.fetch(request).await;
        assert_eq!((response.outcome, &response.body[..]), (outcome, body));
    }
}

#[tokio::test]
async fn under_a_gate_a_connection_that_dies_is_not_replaced_at_once() {
    // The server closes upon the second request, having sent nothing: invisible before it.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await.unwrap();
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            .await
            .unwrap();
        let _ = read_request(&mut stream).await;
    });
    let fetcher = Fetcher::new(local_settings())
        .unwrap()
        .with_gate(Arc::new(Open));
    for expected in [(Outcome::Fetched, false), (Outcome::Disconnected, true)] {
        let response = fetcher
            .fetch(page(&format!("http://127.0.0.1:{port}/")))
            .await;
        assert_eq!((response.outcome, response.reused), expected);
    }
    fetcher.close_idle();
    server.await.unwrap();
}

struct Open;

impl AddressGate for Open {
    fn enter(&self, _host: &str, _ip: IpAddr) -> Result<(), u64> {
        Ok(())
    }
}

#[tokio::test]
async fn without_a_gate_a_connection_that_dies_is_replaced_once() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = tokio::spawn(async move {
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().await.unwrap();
            read_request(&mut stream).await.unwrap();
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
            stream.write_all(answer).await.unwrap();
            let _ = read_request(&mut stream).await;
        }
    });
    let fetcher = Fetcher::new(local_settings()).unwrap();
    for _ in 0..2 {
        let response = fetcher
            .fetch(page(&format!("http://127.0.0.1:{port}/")))
            .await;
        assert_eq!(
            (response.outcome, response.reused),
            (Outcome::Fetched, false)
        );
    }
    fetcher.close_idle();
    server.await.unwrap();
}

struct Turnstile(AtomicUsize);

impl AddressGate for Turnstile {
    fn enter(&self, host: &str, ip: IpAddr) -> Result<(), u64> {
        assert!(host.starts_with("127.0.0.1:") && ip.is_loopback());
        match self.0.fetch_add(1, Ordering::SeqCst) {
            0 => Ok(()),
            _ => Err(77),
        }
    }
}

#[tokio::test]
async fn the_gate_is_asked_for_new_and_for_kept_connections() {
    let (port, connections) = serve(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 9).await;
    let gate = Arc::new(Turnstile(AtomicUsize::new(0)));
    let fetcher = Fetcher::new(local_settings())
        .unwrap()
        .with_gate(gate.clone());
    let url = format!("http://127.0.0.1:{port}/");
    assert_eq!(fetcher.fetch(page(&url)).await.outcome, Outcome::Fetched);
    let response = fetcher.fetch(page(&url)).await;
    assert_eq!(
        (response.outcome, response.not_before),
        (Outcome::Deferred, Some(77))
    );
    // The connection was not spent by the refusal.
    gate.0.store(0, Ordering::SeqCst);
    assert!(fetcher.fetch(page(&url)).await.reused);
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn private_addresses_are_refused_by_every_spelling() {
    let mut settings = FetchSettings::default();
    settings.dns.servers = vec!["127.0.0.1:9".parse().unwrap()];
    let ip = |text: &str| -> IpAddr { text.parse().unwrap() };
    settings
        .dns
        .fixed
        .insert("inside.example".to_owned(), vec![ip("10.0.0.1"), ip("::1")]);
    let fetcher = Fetcher::new(settings).unwrap();
    for host in [
        "127.0.0.1",
        "0x7f.1",
        "2130706433",
        "localhost",
        "a.localhost",
        "inside.example",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "169.254.169.254",
        "0177.0.0.1",
    ] {
        let response = fetcher.fetch(page(&format!("http://{host}:81/"))).await;
        assert_eq!(
            response.outcome,
            Outcome::ForbiddenAddress,
            "{host}: {response:?}"
        );
    }
}

#[tokio::test]
async fn credentials_go_with_their_request_and_are_not_recorded() {
    let (port, _) = serve(b"HTTP/1.1 204 No\r\n\r\n", 9).await;
    let fetcher = Fetcher::new(local_settings()).unwrap();
    let head = async |request: Request| {
        String::from_utf8(fetcher.fetch(request).await.request_head).unwrap()
    };
    let bare = page(&format!("http://127.0.0.1:{port}/"));
    let list = [("Authorization".to_owned(), "Basic secret".to_owned())];
    let with = Request {
        credentials: Some(Arc::from(list)),
        ..bare.clone()
    };
    let sent = head(with).await;
    assert!(sent.contains("Authorization: (not recorded)\r\n"), "{sent}");
    assert!(!sent.contains("secret"));
    assert!(!head(bare).await.contains("Authorization"));
}

#[test]
fn wrong_settings_are_named() {
    let named = |change: fn(&mut FetchSettings)| {
        let mut settings = local_settings();
        change(&mut settings);
        Fetcher::new(settings).unwrap_err().setting
    };
    assert_eq!(
        named(|s| s.user_agent = "a\r\nX: y".to_owned()),
        "user_agent"
    );
    assert_eq!(named(|s| s.user_agent.clear()), "user_agent");
    assert_eq!(named(|s| s.proxy = Some("gopher://x".to_owned())), "proxy");
    assert_eq!(
        named(|s| s.extra_headers = vec![("Host".into(), "x".into())]),
        "extra_headers"
    );
    assert_eq!(
        named(|s| s.extra_headers = vec![("a b".into(), "x".into())]),
        "extra_headers"
    );
    assert_eq!(named(|s| s.tls.extra_roots = vec![vec![1, 2]]), "tls");
    assert_eq!(named(|s| s.limits.total = Duration::ZERO), "limits.total");
}
