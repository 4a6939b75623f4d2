//! Certificates and keys from files, again and again.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use headroom_config::process::Tls;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};

/// Why connections cannot be encrypted.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("{} has no {expected} in PEM format", path.display())]
    Content {
        /// Which.
        path: PathBuf,
        /// What should be in it.
        expected: &'static str,
    },
    /// The parts do not go together.
    #[error("certificate {} and its key cannot be used together", path.display())]
    Unusable {
        /// The certificate.
        path: PathBuf,
        /// Why.
        #[source]
        source: rustls::Error,
    },
    /// Nobody can be vouched for.
    #[error("{} cannot be used to verify client certificates", path.display())]
    Roots {
        /// The certificates.
        path: PathBuf,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// What a server shows and asks for: TLS 1.2 or later, HTTP/2 or HTTP/1.1. A client need not show
/// a certificate, so that a token may say who it is; one that is shown must be good.
///
/// # Errors
/// When a file cannot be read, or is not what it should be.
pub(super) fn configure(files: &Tls) -> Result<Arc<ServerConfig>, TlsError> {
    let chain = certificates(&files.cert)?;
    let key = PrivateKeyDer::from_pem_slice(&read(&files.key)?);
    let key = key.map_err(|_| content(&files.key, "private key"))?;
    let versions = ServerConfig::builder();
    let clients = match &files.client_ca {
        None => versions.with_no_client_auth(),
        Some(path) => {
            let vouched = |source| TlsError::Roots { path: path.clone(), source };
            let mut roots = RootCertStore::empty();
            for certificate in certificates(path)? {
                roots.add(certificate).map_err(|source| vouched(source.into()))?;
            }
            let verifier = WebPkiClientVerifier::builder(Arc::new(roots)).allow_unauthenticated();
            let verifier = verifier.build().map_err(|source| vouched(source.into()))?;
            versions.with_client_cert_verifier(verifier)
        }
    };
    let config = clients.with_single_cert(chain, key);
    let mut config =
        config.map_err(|source| TlsError::Unusable { path: files.cert.clone(), source })?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// The files, in an order of their own.
pub(super) fn paths(files: &Tls) -> Vec<PathBuf> {
    let Tls { cert, key, client_ca } = files;
    [Some(cert), Some(key), client_ca.as_ref()].into_iter().flatten().cloned().collect()
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let bytes = read(path)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    let found = found.ok().filter(|found| !found.is_empty());
    found.ok_or_else(|| content(path, "certificate"))
}

fn content(path: &Path, expected: &'static str) -> TlsError {
    TlsError::Content { path: path.to_owned(), expected }
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    fs::read(path).map_err(|source| TlsError::Read { path: path.to_owned(), source })
}
