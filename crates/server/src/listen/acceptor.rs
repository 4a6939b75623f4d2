//! Turns accepted TCP connections into connections that can send requests.

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

/// The client of a connection.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Address of the client.
    pub address: SocketAddr,
    /// Client certificate that a trusted CA has signed.
    pub certificate: Option<Arc<CertificateDer<'static>>>,
    /// Answers that the client has not read.
    pub unsent: Unsent,
}

/// Accepts connections.
#[derive(Clone, Debug)]
pub(super) struct Acceptor {
    pub(super) bound: ConnectionLimit,
    pub(super) tls: Option<RustlsConfig>,
    /// Time limit of the handshake. The same limit applies to the first bytes after the handshake.
    pub(super) begin_max: Duration,
    /// Longest time during which a client can read nothing.
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
        // An IPv4 address on an IPv6 socket is the same address.
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
