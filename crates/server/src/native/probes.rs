//! `/livez` and `/readyz`: probes for supervisors of the process.

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, Response, StatusCode, header};

use crate::conditions::conditions;
use crate::service::Service;

/// Returns 200 as long as the process runs.
pub(super) async fn live() -> Response<Body> {
    text(StatusCode::OK, "ok\n".to_owned())
}

/// Returns 200 if the server accepts requests, and otherwise the reason.
pub(super) async fn ready(State(service): State<Service>) -> Response<Body> {
    let conditions = conditions(&service);
    if !conditions.iter().any(|one| one.refuses) {
        let also = conditions.iter().map(|one| one.name).collect::<Vec<_>>().join(", ");
        // Only the names, because no authentication is needed here.
        let body = if also.is_empty() {
            "ready\n".to_owned()
        } else {
            format!("ready, with a warning: {also}. See `/headroom/v1/health`\n")
        };
        return text(StatusCode::OK, body);
    }
    // No authentication is needed here, so the reason is only in the log and in the health report for viewers.
    let body = "the scheduler accepts no commands. See `/headroom/v1/health`\n";
    let mut response = text(StatusCode::SERVICE_UNAVAILABLE, body.to_owned());
    let seconds = HeaderValue::from_static("5");
    response.headers_mut().insert(header::RETRY_AFTER, seconds);
    response
}

fn text(status: StatusCode, body: String) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let media = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, media);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
