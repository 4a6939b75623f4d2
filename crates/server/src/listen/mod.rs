//! Sockets, TLS, limits, and the gate before all routes.
//!
//! [`Listening::bind`] binds the addresses. [`Listening::start`] answers that the server is starting. [`Serving::open`]
//! accepts requests, and [`Serving::stop`] shuts down after the current requests.

mod acceptor;
mod body;
mod byte_budget;
mod connection;
mod connection_limit;
mod cors;
mod gate;
mod headers;
mod host;
mod message;
mod outgoing;
mod rate;
mod starting;
mod tls;
mod traced;
mod web;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use axum_server::Handle;
use axum_server::tls_rustls::RustlsConfig;
use headroom_config::process::{Limits, Process, Tls};
use hyper_util::rt::TokioTimer;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use acceptor::Acceptor;
use connection_limit::ConnectionLimit;

pub use acceptor::Peer;
pub use gate::{Gate, RequestId};
pub(crate) use outgoing::Endless;
pub use outgoing::Unsent;
pub use tls::TlsError;
pub use traced::Parents;

use crate::page;
use crate::watch_file::WatchedFiles;

/// Interval of pings on an HTTP/2 connection.
const PING_EVERY: Duration = Duration::from_secs(20);
/// Longest time for the answer to a ping.
const PING_ANSWER_MAX: Duration = Duration::from_secs(10);

/// Reason why the server cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// An address cannot be bound.
    #[error("cannot listen on {address}. Check whether another server uses this address")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// I/O error of the operating system.
        #[source]
        source: io::Error,
    },
    /// Connections cannot be encrypted.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// Bound addresses, on which no request is answered yet.
#[derive(Debug)]
pub struct Listening {
    listeners: Vec<TcpListener>,
    addresses: Vec<SocketAddr>,
    tls: Option<Renewed>,
    limits: Limits,
}

/// A server that answers requests.
#[derive(Debug)]
pub struct Serving {
    addresses: Vec<SocketAddr>,
    handle: Handle<SocketAddr>,
    main: Arc<OnceLock<Router>>,
    /// Servers of the addresses, and the tasks that watch files for them.
    tasks: JoinSet<()>,
}

/// The routers of a server.
#[derive(Debug, Default)]
pub struct Routers {
    /// Router of `/ws/v1`, `/headroom/v1`, and related paths.
    pub rest: Router,
    /// Router of the scheduler interface.
    pub rpc: Router,
}

/// Merges the routers into one router behind the gate.
pub fn assemble(process: &Process, gate: &Arc<Gate>, routers: Routers) -> Router {
    let Routers { rest, rpc } = routers;
    // REST answers unknown paths.
    let rpc = gate.guard_rpc(rpc.reset_fallback());
    let router = gate.guard(rest).merge(rpc.reset_fallback());
    match &process.web_dir {
        None => {
            // As a fallback, the page has no path in the table, and so needs no right.
            let page = Router::new().fallback_service(page::router());
            web::before(router, gate.guard(page), web::is_page)
        }
        Some(folder) => web::before(router, gate.guard(web::pages(folder)), web::is_foreign),
    }
}

impl Listening {
    /// Binds the addresses, and reads certificates.
    ///
    /// # Errors
    /// If an address cannot be bound, or a certificate cannot be used.
    pub fn bind(process: &Process) -> Result<Self, ListenError> {
        // Another provider that was installed before also works.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let tls = process.tls.as_ref().map(|files| {
            // Created before the files are read, so that no change in between is lost.
            let watched = WatchedFiles::new(tls::paths(files));
            let config = RustlsConfig::from_config(tls::configure(files)?);
            Ok::<_, TlsError>(Renewed { files: files.clone(), watched, config })
        });
        let tls = tls.transpose()?;
        let mut listeners = Vec::with_capacity(process.listen.len());
        let mut addresses = Vec::with_capacity(process.listen.len());
        for address in process.listen.iter().copied() {
            let failed = |source| ListenError::Bind { address, source };
            let listener = TcpListener::bind(address).map_err(failed)?;
            listener.set_nonblocking(true).map_err(failed)?;
            addresses.push(listener.local_addr().map_err(failed)?);
            listeners.push(listener);
        }
        Ok(Self { listeners, addresses, tls, limits: process.limits })
    }

    /// Returns the addresses, with the ports that the system chose.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Starts to answer that the server is starting.
    ///
    /// # Errors
    /// If a socket cannot be used.
    pub fn start(self) -> io::Result<Serving> {
        let Self { listeners, addresses, tls, limits } = self;
        let (handle, main) = (Handle::new(), Arc::default());
        let acceptor = Acceptor {
            bound: ConnectionLimit::new(limits.connections, limits.connections_per_address),
            tls: tls.as_ref().map(|tls| tls.config.clone()),
            begin_max: limits.header_time,
            stall_max: limits.request_time,
        };
        let mut tasks = JoinSet::new();
        for listener in listeners {
            let mut server =
                axum_server::from_tcp(listener)?.handle(handle.clone()).acceptor(acceptor.clone());
            let http = server.http_builder();
            http.http1()
                .timer(TokioTimer::new())
                // The first head has its own deadline. Clients keep idle connections for a while.
                .header_read_timeout(limits.idle_time.max(limits.header_time))
                .max_buf_size(limits.header_size);
            http.http2()
                .timer(TokioTimer::new())
                .keep_alive_interval(PING_EVERY)
                .keep_alive_timeout(PING_ANSWER_MAX)
                .max_header_list_size(u32::try_from(limits.header_size).unwrap_or(u32::MAX));
            let router = starting::until(Arc::clone(&main));
            tasks.spawn(async move {
                if let Err(error) = server.serve(router.into_make_service()).await {
                    tracing::error!(error = crate::chain(&error), "a listener has ended");
                }
            });
        }
        if let Some(tls) = tls {
            tasks.spawn(renew(tls));
        }
        Ok(Serving { addresses, handle, main, tasks })
    }
}

/// Active certificates, and their files.
#[derive(Debug)]
struct Renewed {
    files: Tls,
    watched: WatchedFiles,
    config: RustlsConfig,
}

/// Uses renewed certificates. Logs invalid certificates, and then continues to use the previous certificates.
async fn renew(tls: Renewed) {
    let Renewed { files, mut watched, config } = tls;
    let nobody = Notify::new();
    loop {
        watched.change(&nobody).await;
        match tls::configure(&files) {
            Ok(new) => {
                config.reload_from_config(new);
                tracing::info!("certificates reloaded");
            }
            // The key and the certificate are usually not replaced at the same moment.
            Err(error) => tracing::warn!(
                error = crate::chain(&error),
                "the certificates cannot be used; the current certificates stay in use"
            ),
        }
    }
}

impl Serving {
    /// Returns the addresses, with the ports that the system chose.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Accepts requests. Only the first router counts.
    pub fn open(&self, router: Router) {
        let _ = self.main.set(router);
    }

    /// Returns the number of connections.
    pub fn connections(&self) -> usize {
        self.handle.connection_count()
    }

    /// Accepts no more connections. Current requests on open connections can finish.
    pub fn stop(&self) {
        self.handle.graceful_shutdown(None);
    }

    /// Waits until all connections have ended, at most for `most`.
    pub async fn ended(&self, most: Duration) {
        let all = async {
            while self.handle.connection_count() > 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let _ = tokio::time::timeout(most, all).await;
    }

    /// Closes all remaining connections.
    pub async fn close(mut self) {
        self.handle.shutdown();
        self.tasks.shutdown().await;
    }
}
