//! TLS: one client configuration for all connections, by rustls with ring.

use std::sync::Arc;

use rustls_pki_types::CertificateDer;
use tokio_rustls::rustls::client::Resumption;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::settings::{SettingsError, TlsSettings};

/// Sessions remembered for a quicker second handshake.
const SESSIONS: usize = 4096;

pub(super) fn config(
    settings: &TlsSettings,
    http2: bool,
) -> Result<Arc<ClientConfig>, SettingsError> {
    let wrong = |reason: String| SettingsError::new("tls", reason);
    let mut roots = RootCertStore::empty();
    if settings.web_roots {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    if settings.native_roots {
        let found = rustls_native_certs::load_native_certs();
        let (added, _) = roots.add_parsable_certificates(found.certs);
        if added == 0 {
            return Err(wrong(
                "no root certificate found on this machine".to_owned(),
            ));
        }
    }
    for der in &settings.extra_roots {
        roots
            .add(CertificateDer::from(der.clone()))
            .map_err(|error| wrong(format!("extra root: {error}")))?;
    }
    let provider = Arc::new(ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.resumption = Resumption::in_memory_sessions(SESSIONS);
    config.alpn_protocols = match http2 {
        true => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
        false => vec![b"http/1.1".to_vec()],
    };
    Ok(Arc::new(config))
}
