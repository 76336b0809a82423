//! HTTP/2 and TLS against a server in the same process.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Response as Answer, StatusCode};
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;

use super::tests::{local_settings, page};
use super::*;
use crate::outcome::Outcome;

/// A server that speaks HTTP/2 for `localhost`; gives its port, its root and its connections.
async fn serve() -> (u16, Vec<u8>, Arc<AtomicUsize>) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let root = made.cert.der().to_vec();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let connections = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connections);
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            count.fetch_add(1, Ordering::SeqCst);
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else {
                    return;
                };
                let Ok(mut connection) = h2::server::handshake(stream).await else {
                    return;
                };
                while let Some(Ok((request, respond))) = connection.accept().await {
                    tokio::spawn(answer(request.uri().path().to_owned(), respond));
                }
            });
        }
    });
    (port, root, connections)
}

async fn answer(path: String, mut respond: h2::server::SendResponse<Bytes>) {
    let kind = match path.as_str() {
        "/large" => "application/zip",
        _ => "text/html",
    };
    let mut head = Answer::builder()
        .status(StatusCode::OK)
        .header("content-type", kind);
    match path.as_str() {
        "/large" | "/wide" => head = head.header("content-length", "999999999"),
        "/moved" => head = head.status(StatusCode::FOUND).header("location", "/page"),
        "/silent" => return std::future::pending().await,
        "/reset" => return respond.send_reset(h2::Reason::INTERNAL_ERROR),
        "/heavy" => head = head.header("x", "y".repeat(100_000)),
        _ => {}
    }
    let Ok(mut body) = respond.send_response(head.body(()).unwrap(), false) else {
        return;
    };
    match path.as_str() {
        "/endless" | "/wide" => loop {
            body.reserve_capacity(16_384);
            match std::future::poll_fn(|context| body.poll_capacity(context)).await {
                Some(Ok(room)) => {
                    if body
                        .send_data(Bytes::from(vec![b'x'; room]), false)
                        .is_err()
                    {
                        return;
                    }
                }
                _ => return,
            }
        },
        "/stall" => {
            let _ = body.send_data(Bytes::from_static(b"half"), false);
            std::future::pending::<()>().await;
        }
        "/cut" => {
            let _ = body.send_data(Bytes::from_static(b"half"), false);
            tokio::time::sleep(Duration::from_millis(50)).await;
            body.send_reset(h2::Reason::CANCEL);
        }
        _ => {
            let _ = body.send_data(Bytes::from_static(b"hello"), true);
        }
    }
}

#[tokio::test]
async fn pages_and_misbehaviour_over_one_connection() {
    let (port, root, connections) = serve().await;
    let mut settings = local_settings();
    settings.tls.extra_roots = vec![root];
    settings.limits.first_byte = Duration::from_secs(3);
    settings.limits.stall = Duration::from_secs(3);
    settings.limits.tls = Duration::from_secs(5);
    settings.limits.body_bytes = 2 << 20;
    let fetcher = Fetcher::new(settings).unwrap();
    let fetch = |path: &str| {
        let fetcher = fetcher.clone();
        let url = format!("https://localhost:{port}{path}");
        async move { fetcher.fetch(page(&url)).await }
    };
    let page = fetch("/page?x=1").await;
    assert_eq!(
        (page.outcome, &page.body[..]),
        (Outcome::Fetched, &b"hello"[..]),
        "{page:?}"
    );
    assert_eq!(
        (page.http_version, page.reused),
        (HttpVersion::Http2, false)
    );
    assert!(
        page.response_head
            .as_bytes()
            .starts_with(b"HTTP/1.1 200 OK\r\ncontent-type: ")
    );
    let again = fetch("/page").await;
    assert!(again.reused);
    assert_eq!(connections.load(Ordering::SeqCst), 1);
    for (path, outcome, truncated) in [
        ("/moved", Outcome::Redirected, None),
        ("/large", Outcome::TooLarge, None),
        ("/wide", Outcome::Truncated, Some(Truncated::Length)),
        ("/endless", Outcome::Truncated, Some(Truncated::Length)),
        ("/stall", Outcome::Truncated, Some(Truncated::Time)),
        ("/silent", Outcome::TimedOut, None),
        ("/reset", Outcome::ProtocolBroken, None),
        ("/heavy", Outcome::ProtocolBroken, None),
    ] {
        let response = fetch(path).await;
        assert_eq!(response.outcome, outcome, "{path}: {}", response.detail);
        assert_eq!(response.truncated, truncated, "{path}");
        assert!(response.body.len() <= 2 << 20);
    }
    assert_eq!(fetch("/page").await.outcome, Outcome::Fetched);
}

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for() {
    let (port, root, _) = serve().await;
    let unknown = Fetcher::new(local_settings()).unwrap();
    let response = unknown
        .fetch(page(&format!("https://localhost:{port}/")))
        .await;
    assert_eq!(response.outcome, Outcome::TlsFailed, "{response:?}");
    assert!(
        response.detail.contains("certificate"),
        "{}",
        response.detail
    );
    let mut settings = local_settings();
    settings.tls.extra_roots = vec![root];
    let known = Fetcher::new(settings).unwrap();
    let wrong_host = known
        .fetch(page(&format!("https://127.0.0.1:{port}/")))
        .await;
    assert_eq!(wrong_host.outcome, Outcome::TlsFailed, "{wrong_host:?}");
}
