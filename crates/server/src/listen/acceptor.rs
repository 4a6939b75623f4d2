//! From a connection of TCP to one that requests may come from.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::ConnectInfo;
use axum::middleware::AddExtension;
use axum_server::accept::Accept;
use axum_server::tls_rustls::RustlsConfig;
use futures_util::future::BoxFuture;
use rustls::pki_types::CertificateDer;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tower::Layer as _;

use super::connection::{Bytes, Connection};
use super::connection_limit::ConnectionLimit;
use super::outgoing::Unsent;

/// Who is at the other end.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Where from.
    pub address: SocketAddr,
    /// The certificate that it showed, and that somebody vouches for whom we trust in that.
    pub certificate: Option<Arc<CertificateDer<'static>>>,
    /// The answers that it has not taken.
    pub unsent: Unsent,
}

/// Takes connections in.
#[derive(Clone, Debug)]
pub(super) struct Acceptor {
    pub(super) bound: ConnectionLimit,
    pub(super) tls: Option<RustlsConfig>,
    /// For the handshake, and again for the first bytes behind it.
    pub(super) begin_max: Duration,
    /// How long a client may take nothing of what it is sent.
    pub(super) stall_max: Duration,
}

type Known<S> = AddExtension<AddExtension<S, Peer>, ConnectInfo<SocketAddr>>;

impl<S: Send + 'static> Accept<TcpStream, S> for Acceptor {
    type Stream = Connection;
    type Service = Known<S>;
    type Future = BoxFuture<'static, io::Result<(Connection, Known<S>)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let this = self.clone();
        Box::pin(async move {
            let (connection, peer) = this.take(stream).await?;
            let address = ConnectInfo(peer.address);
            let service = Extension(peer).layer(service);
            Ok((connection, Extension(address).layer(service)))
        })
    }
}

impl Acceptor {
    async fn take(self, stream: TcpStream) -> io::Result<(Connection, Peer)> {
        let address = stream.peer_addr()?;
        // An address of IPv4 is the same one behind a socket of IPv6.
        let address = SocketAddr::new(address.ip().to_canonical(), address.port());
        let place = self.bound.take(address.ip()).map_err(|full| {
            tracing::debug!(%address, ?full, "connection refused: the limit of connections is reached");
            io::Error::from(io::ErrorKind::ConnectionRefused)
        })?;
        stream.set_nodelay(true)?;
        let (bytes, certificate): (Box<dyn Bytes>, _) = match &self.tls {
            None => (Box::new(stream), None),
            Some(tls) => {
                let handshake = TlsAcceptor::from(tls.get_inner()).accept(stream);
                let stream = timeout(self.begin_max, handshake).await??;
                let certificates = stream.get_ref().1.peer_certificates();
                let own = certificates
                    .and_then(<[_]>::first)
                    .map(|one| Arc::new(one.clone().into_owned()));
                (Box::new(stream), own)
            }
        };
        let unsent = Unsent::default();
        let times = (self.begin_max, self.stall_max);
        let connection = Connection::new(bytes, times, place, unsent.clone());
        Ok((connection, Peer { address, certificate, unsent }))
    }
}
