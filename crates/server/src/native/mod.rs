//! `/headroom/v1`, and the probes of the process: handlers by the names of their operations.
//!
//! A handler reads a view of the books, or asks the writer where the scheduler itself is needed. What changes
//! something is in `tenants/`. What all answers share is in `answer.rs` and `request.rs`.

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

/// What answers an operation of the table of routes; none if it is not answered here.
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
        "explainWouldRun" => post(explain::would_run),
        "planConfig" => post(plan::plan),
        "applyConfig" => post(plan::apply),
        "listEvents" => get(events::events),
        _ => return tenants::handler(operation),
    })
}
