//! Certificates and keys from files, which can be replaced while the server runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use headroom_config::process::Tls;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};

/// Reason why connections cannot be encrypted.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// I/O error of the file system.
        #[source]
        source: io::Error,
    },
    /// A file has the wrong content.
    #[error("{} has no {expected} in PEM format", path.display())]
    Content {
        /// Path of the file.
        path: PathBuf,
        /// Expected content of the file.
        expected: &'static str,
    },
    /// The certificate and the key do not match.
    #[error("certificate {} and its key cannot be used together", path.display())]
    Unusable {
        /// Path of the certificate.
        path: PathBuf,
        /// Cause of the error.
        #[source]
        source: rustls::Error,
    },
    /// The CA certificates for clients cannot be used.
    #[error("{} cannot be used to verify client certificates", path.display())]
    Roots {
        /// Path of the CA certificates.
        path: PathBuf,
        /// Cause of the error.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Returns the TLS configuration of a server: TLS 1.2 or later, HTTP/2 or HTTP/1.1. A client certificate is optional,
/// because a token can also identify the caller. A given certificate must be valid.
///
/// # Errors
/// If a file cannot be read, or has the wrong content.
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

/// Returns the paths of the files in a fixed order.
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
