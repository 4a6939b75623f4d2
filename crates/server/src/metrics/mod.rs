//! Metrics for Prometheus: `/ws/v1/metrics` under the reference's names, `/metrics` under ours
//! and the reference's.
//!
//! Everything is found when it is asked for: from a view of the books, from what the engine has
//! counted, and from what the server counts about itself. So a series goes with its queue, node or
//! partition, and nothing is counted twice. A scrape costs the queues, the nodes and the reasons,
//! not what runs or waits; ours besides the users of leaves with user limits.

mod engine;
mod own;
mod process;
mod reference;
mod requests;
mod scrape;
mod text;
mod users;
mod waits;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, Response, header};
use axum::routing::{MethodRouter, get};

use crate::service::Service;

pub use requests::count;

use scrape::Scrape;
use text::Exposition;

/// What answers an operation of the table of routes; none if it is not answered here.
pub fn handler(operation: &str) -> Option<MethodRouter<Service>> {
    Some(match operation {
        "getMetrics" => get(reference_only),
        "getAllMetrics" => get(all),
        _ => return None,
    })
}

async fn reference_only(State(service): State<Service>) -> Response<Body> {
    let scrape = Scrape::of(&service).await;
    let mut out = Exposition::default();
    reference::write(&mut out, &scrape);
    process::write(&mut out, &service);
    answer(out)
}

async fn all(State(service): State<Service>) -> Response<Body> {
    let scrape = Scrape::of(&service).await;
    let shared = users::shared(&scrape.view).await;
    let mut out = Exposition::default();
    own::write(&mut out, &scrape);
    waits::write(&mut out, &scrape);
    users::write(&mut out, &shared);
    reference::write(&mut out, &scrape);
    process::write(&mut out, &service);
    answer(out)
}

fn answer(out: Exposition) -> Response<Body> {
    let mut response = Response::new(Body::from(out.finish()));
    let media = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, media);
    response
}
