//! Metrics for Prometheus: `/ws/v1/metrics` with names of the reference, and `/metrics` with names of Headroom and the
//! reference.
//!
//! Every value is read at the scrape: from a view of the books, and from counters of the engine and the server. A
//! series therefore ends with its queue, node, or partition, and nothing is counted twice. The cost of a scrape depends
//! on the queues, the nodes, and the wait reasons, but not on allocations and asks. For the names of Headroom, the cost
//! also depends on the tenants, and on the users of leaves with user limits.

mod cluster;
mod engine;
mod own;
mod process;
mod reference;
mod requests;
mod scrape;
mod tenants;
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

/// Returns the handler of an operation in the table of routes. `None` for operations of other modules.
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
    cluster::write(&mut out, &scrape);
    tenants::write(&mut out, &scrape).await;
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
