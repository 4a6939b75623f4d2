//! Connections to the API server.
//!
//! Single requests share one HTTP/2 connection, which costs fewer system calls, if the API server speaks HTTP/2. Each
//! stream has a connection of its own: a stream that nobody reads would use up the window of a shared connection, and
//! then no write would get its answer.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Incoming;
use hyper_rustls::{FixedServerNameResolver, HttpsConnectorBuilder};
use hyper_timeout::TimeoutConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use kube::client::{Body, ConfigExt as _};
use kube::config::Config;
use tower::util::BoxCloneSyncService;
use tower::{BoxError, ServiceBuilder};

use super::ConnectFault;

/// Time without any frame after which a shared connection is probed.
const PROBE_AFTER: Duration = Duration::from_secs(10);
/// Time within which the API server must answer a probe. Then, the connection counts as broken, long before a request on
/// it is given up.
const PROBE_TIME: Duration = Duration::from_secs(5);

/// Sends single requests. Clones share their connection.
pub(super) type Requests = BoxCloneSyncService<Request<Body>, Response<AnswerBody>, BoxError>;

/// Body of an answer to a single request.
pub(super) type AnswerBody = UnsyncBoxBody<Bytes, BoxError>;

/// Returns a client for single requests, and one for streams.
///
/// # Errors
///
/// Returns what is wrong in the configuration.
pub(super) fn clients(config: Config) -> Result<(Requests, kube::Client), ConnectFault> {
    // A proxy is the business of `kube`, whose client speaks HTTP/1.1.
    let requests = if config.proxy_url.is_none() { Some(shared(&config)?) } else { None };
    let streams = kube::Client::try_from(config)?;
    Ok((requests.unwrap_or_else(|| through(&streams)), streams))
}

/// Sends single requests through a client for streams.
pub(super) fn through(client: &kube::Client) -> Requests {
    let client = client.clone();
    BoxCloneSyncService::new(tower::service_fn(move |request| {
        let client = client.clone();
        async move {
            let response = client.send(request).await?;
            Ok::<_, BoxError>(response.map(boxed))
        }
    }))
}

/// Returns a client whose requests share a connection. A `kube::Client` would hand each request to another task.
fn shared(config: &Config) -> Result<Requests, ConnectFault> {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    // A request is complete, so waiting for more data only delays it.
    tcp.set_nodelay(true);
    let tls = config.rustls_client_config()?;
    let mut builder = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
    if let Some(name) = &config.tls_server_name {
        let name = name.clone().try_into();
        let name = name.map_err(|_| ConnectFault("tls-server-name is no name of a host".into()))?;
        builder = builder.with_server_name_resolver(FixedServerNameResolver::new(name));
    }
    let mut connector = TimeoutConnector::new(builder.enable_all_versions().wrap_connector(tcp));
    connector.set_connect_timeout(config.connect_timeout);
    let client: Client<_, Body> = Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        // Probes find a broken connection. Without one, a burst of requests would open one connection for each.
        .pool_idle_timeout(None)
        .http2_keep_alive_while_idle(true)
        .http2_keep_alive_interval(PROBE_AFTER)
        .http2_keep_alive_timeout(PROBE_TIME)
        .build(connector);
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .map_err(BoxError::from)
        .map_response(|response: Response<Incoming>| response.map(boxed))
        .service(client);
    Ok(BoxCloneSyncService::new(ServiceBuilder::new().map_err(BoxError::from).service(service)))
}

fn boxed<B>(body: B) -> AnswerBody
where
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    body.map_err(Into::into).boxed_unsync()
}
