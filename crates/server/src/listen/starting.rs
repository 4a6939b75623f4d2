//! Answers while the journal is read.

use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use headroom_api::headroomv1::Code;
use tower::ServiceExt as _;

use crate::family::{Family, Refusal};

/// Returns a router that forwards to `main` after `main` is set.
pub(super) fn until(main: Arc<OnceLock<Router>>) -> Router {
    Router::new().fallback(hand_on).with_state(main)
}

async fn hand_on(State(main): State<Arc<OnceLock<Router>>>, request: Request) -> Response {
    let Some(main) = main.get() else { return starting(&request) };
    match main.clone().oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

fn starting(request: &Request) -> Response {
    let path = request.uri().path();
    if path == "/livez" {
        return "ok\n".into_response();
    }
    let media = request.headers().get(CONTENT_TYPE).and_then(|media| media.to_str().ok());
    let is_rpc = media.is_some_and(|media| media.starts_with("application/grpc"));
    let family = if is_rpc { Family::Rpc } else { Family::of_path(path) };
    let refusal =
        Refusal::new(Code::Recovering, "the server is still reading its journal. Try again later.");
    refusal.retry_after(1).response(family, "")
}
