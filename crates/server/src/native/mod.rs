//! `/headroom/v1`, and the probes of the process: handlers by operation name.
//!
//! A handler reads a view of the books, or queries the writer where the scheduler itself is needed. Changes are in
//! `tenants/`. Shared parts of requests and answers are in `request.rs` and `answer.rs`.

mod answer;
mod events;
mod explain;
mod health;
mod open_api;
mod over_limit;
mod partitions;
mod plan;
mod probes;
mod reasons;
mod request;
mod stream;
mod summary;
mod tenants;
mod visible;
mod words;

use axum::routing::{MethodRouter, get, post};

use crate::service::Service;

pub use explain::explanation_of;
pub(crate) use health::drift;
pub(crate) use summary::node_counts;
pub(crate) use words::time;

/// Returns the handler of an operation in the table of routes. `None` for operations of other modules.
pub fn handler(operation: &str) -> Option<MethodRouter<Service>> {
    Some(match operation {
        "getLive" => get(probes::live),
        "getReady" => get(probes::ready),
        "getOpenApi" => get(open_api::document),
        "getHealth" => get(health::health),
        "listPartitions" => get(partitions::list),
        "getPartition" => get(partitions::one),
        "getReasons" => get(reasons::reasons),
        "explainApplication" => get(explain::application),
        "explainAsk" => get(explain::ask),
        "explainPod" => get(explain::pod),
        "explainWouldRun" => post(explain::would_run),
        "planConfig" => post(plan::plan),
        "applyConfig" => post(plan::apply),
        "listEvents" => get(events::events),
        _ => return tenants::handler(operation),
    })
}
