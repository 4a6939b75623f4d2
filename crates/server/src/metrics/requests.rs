//! Counts answered requests, by operation.

use std::collections::HashMap;
use std::sync::LazyLock;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use headroom_api::routes;

use crate::live::RequestKind;
use crate::service::Service;

/// Operations by method and path.
static OPERATIONS: LazyLock<HashMap<(&'static str, &'static str), &'static str>> =
    LazyLock::new(|| {
        routes::all().map(|route| ((route.method.as_str(), route.path), route.operation)).collect()
    });

/// Counts a request, and the time until its answer begins. This layer must wrap matched routes, so that the path is
/// known: use `Router::route_layer`, or `layer` if the router has only paths of the table.
pub async fn count(State(service): State<Service>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let path = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    let operation = path.and_then(|path| OPERATIONS.get(&(request.method().as_str(), path)));
    // The requested path is never a label: a client could create series without end.
    let operation = operation.copied().unwrap_or_default();
    let response = next.run(request).await;
    let kind = RequestKind { operation, status: response.status().as_u16() };
    service.live().answered(kind, began.elapsed());
    response
}
