//! `GET /livez` and `/readyz`, for whoever starts and stops processes.

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use headroom_engine::Unavailable;

use crate::family::{Family, Refusal};
use crate::service::Service;

/// The two routes.
pub fn router(service: Service) -> Router {
    let live = get(|| async { "ok\n" });
    Router::new().route("/livez", live).route("/readyz", get(ready)).with_state(service)
}

/// Whether commands are taken. While the journal is read, nobody comes this far.
async fn ready(State(service): State<Service>) -> Response {
    match service.engine.stopped() {
        None => "ok\n".into_response(),
        Some(reason) => {
            let stopped = Unavailable::Stopped { reason: reason.to_owned() };
            Refusal::from(stopped).response(Family::Reference, "")
        }
    }
}
