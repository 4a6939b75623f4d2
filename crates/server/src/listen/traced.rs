//! Spans of requests, for trace collectors.

use std::fmt;
use std::sync::Arc;

use axum::http::{HeaderMap, Method, StatusCode};
use headroom_engine::TRACES;
use tracing::{Level, Span, field};

/// Sets the parent of a span to the trace in the headers.
type GoOn = dyn Fn(&Span, &HeaderMap) + Send + Sync;

/// Continues the traces of callers.
#[derive(Clone)]
pub struct Parents(Arc<GoOn>);

impl Parents {
    /// Returns a value that calls `adopt` with each new span and the headers of its request.
    pub fn new(adopt: impl Fn(&Span, &HeaderMap) + Send + Sync + 'static) -> Self {
        Self(Arc::new(adopt))
    }
}

impl fmt::Debug for Parents {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Parents").finish_non_exhaustive()
    }
}

/// Fields of a request at its arrival.
pub(super) struct Begun<'a> {
    pub(super) is_rpc: bool,
    pub(super) method: &'a Method,
    pub(super) path: &'a str,
    /// Path in the table of routes, if a route matches.
    pub(super) route: Option<&'static str>,
    pub(super) id: &'a str,
}

/// Returns the span of a request: from its headers to the headers of its response. Names follow the OpenTelemetry
/// semantic conventions for HTTP and RPC.
pub(super) fn span(begun: &Begun<'_>, headers: &HeaderMap, parents: Option<&Parents>) -> Span {
    if !tracing::enabled!(target: TRACES, Level::INFO) {
        return Span::none();
    }
    let Begun { is_rpc, method, path, route, id } = *begun;
    // The number of names is small, whatever paths are requested.
    let name = match route {
        _ if is_rpc => path.trim_start_matches('/').to_owned(),
        Some(route) => format!("{method} {route}"),
        None => method.to_string(),
    };
    let span = tracing::info_span!(
        target: TRACES,
        parent: None,
        "request",
        otel.name = name,
        otel.kind = "server",
        otel.status_code = field::Empty,
        rpc.system = is_rpc.then_some("grpc"),
        http.request.method = %method,
        http.route = route,
        http.response.status_code = field::Empty,
        url.path = path,
        headroom.request_id = id,
    );
    if let Some(Parents(adopt)) = parents {
        adopt(&span, headers);
    }
    span
}

/// Records the result of a request.
pub(super) fn answered(span: &Span, status: StatusCode) {
    // Signed, because collectors would get an unsigned number as text.
    span.record("http.response.status_code", i64::from(status.as_u16()));
    if status.is_server_error() {
        span.record("otel.status_code", "ERROR");
    }
}
