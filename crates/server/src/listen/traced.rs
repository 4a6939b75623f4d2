//! The span of a request, for trace collectors.

use std::fmt;
use std::sync::Arc;

use axum::http::{HeaderMap, Method, StatusCode};
use headroom_engine::TRACES;
use tracing::{Level, Span, field};

/// Has a span go on with the trace that headers tell of.
type GoOn = dyn Fn(&Span, &HeaderMap) + Send + Sync;

/// Has spans go on with the traces of those who call.
#[derive(Clone)]
pub struct Parents(Arc<GoOn>);

impl Parents {
    /// By a function that is given a span that has just been made, and the head of the request.
    pub fn new(adopt: impl Fn(&Span, &HeaderMap) + Send + Sync + 'static) -> Self {
        Self(Arc::new(adopt))
    }
}

impl fmt::Debug for Parents {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Parents").finish_non_exhaustive()
    }
}

/// The fields of a request when it comes.
pub(super) struct Begun<'a> {
    pub(super) is_rpc: bool,
    pub(super) method: &'a Method,
    pub(super) path: &'a str,
    /// The path in the table of routes, if it is there.
    pub(super) route: Option<&'static str>,
    pub(super) id: &'a str,
}

/// The span of a request: from its head to that of its answer. Names follow the semantic
/// conventions of OpenTelemetry for HTTP and RPC.
pub(super) fn span(begun: &Begun<'_>, headers: &HeaderMap, parents: Option<&Parents>) -> Span {
    if !tracing::enabled!(target: TRACES, Level::INFO) {
        return Span::none();
    }
    let Begun { is_rpc, method, path, route, id } = *begun;
    // Few names, whatever paths are asked for.
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

/// What became of it.
pub(super) fn answered(span: &Span, status: StatusCode) {
    // Signed, or it would reach collectors as text.
    span.record("http.response.status_code", i64::from(status.as_u16()));
    if status.is_server_error() {
        span.record("otel.status_code", "ERROR");
    }
}
