//! `/ws/v1` and `/debug`, in the format that clients of `YuniKorn` expect: one file per noun.
//!
//! Handlers read a view of the books with everything that was answered before the request, and never block the
//! writer. Small answers are created at once, and lists piece by piece as the client reads them. Answers omit what
//! the caller does not see, as `visible.rs` decides. Requests are parsed in `request.rs`, and common parts of all
//! answers are in `crate::mount`.

mod application;
mod cluster;
mod config;
mod debug;
mod decode;
mod event;
mod health;
mod history;
pub mod log_level;
mod node;
mod partition;
mod placement;
mod profile;
mod queue;
mod redaction;
mod refusal;
mod request;
mod respond;
mod rm_metadata;
mod settings;
mod state_dump;
mod stream;
mod usage;
mod user_limits;
mod validation;
mod visible;

use std::sync::Arc;

use axum::routing::{MethodRouter, get, post};

use crate::service::Service;

pub use health::Checks;
pub use rm_metadata::{Manager, NoRmMetadata, RmMetadata, Tags};
pub use settings::{Cors, EventSettings, RestSettings};
pub use stream::Streams;
pub use visible::{Extent, Visibility};

pub(crate) use refusal::Refusal;
pub(crate) use respond::{TEXT, body};

/// State that the handlers need in addition to the service: settings, and metadata that is not in the books.
#[derive(Debug)]
pub struct Rest {
    /// Settings of `/ws/v1`.
    pub settings: RestSettings,
    /// Metadata in responses that is not in the books.
    pub rm_metadata: Arc<dyn RmMetadata>,
    /// Result of the last health check.
    pub checks: Arc<Checks>,
    /// Open streams of events.
    pub streams: Arc<Streams>,
    large: respond::Large,
    /// Limits concurrent validations of queue files.
    reviews: validation::Reviews,
    /// Allows one state dump at a time.
    dump: Arc<tokio::sync::Mutex<()>>,
}

impl Rest {
    /// Returns the state for these settings, with this metadata in addition to the books.
    pub fn new(settings: RestSettings, rm_metadata: Arc<dyn RmMetadata>) -> Self {
        Self {
            settings,
            rm_metadata,
            checks: Arc::default(),
            streams: Arc::default(),
            large: respond::Large::new(&settings),
            reviews: validation::Reviews::default(),
            dump: Arc::default(),
        }
    }
}

/// Returns the handler of an operation of `/ws/v1` or `/debug`, by its name in the table of routes. `None` for
/// operations of other modules.
pub fn handler(operation: &str) -> Option<MethodRouter<Service>> {
    Some(match operation {
        "getClusters" => get(cluster::get_clusters),
        "getConfig" => get(config::get_config),
        "validateConfig" => post(validation::validate_config),
        "getApplicationHistory" => get(history::get_application_history),
        "getContainerHistory" => get(history::get_container_history),
        "getPartitions" => get(partition::get_partitions),
        "getPlacementRules" => get(placement::get_placement_rules),
        "getQueues" => get(queue::get_queues),
        "getQueue" => get(queue::get_queue),
        "getNodes" => get(node::get_nodes),
        "getNode" => get(node::get_node),
        "getNodeUtilizations" => get(node::get_node_utilizations),
        "getQueueApplications" => get(application::get_queue_applications),
        "getQueueApplication" => get(application::get_queue_application),
        "getApplication" => get(application::get_application),
        "getApplications" => get(application::get_applications),
        "getQueueApplicationsByState" => get(application::get_queue_applications_by_state),
        "getUserLimits" => get(user_limits::get_user_limits),
        "simulateUserLimits" => post(user_limits::simulate_user_limits),
        "getUsers" => get(usage::get_users),
        "getUser" => get(usage::get_user),
        "getGroups" => get(usage::get_groups),
        "getGroup" => get(usage::get_group),
        "getEvents" => get(event::get_events),
        "streamEvents" => get(stream::stream_events),
        "getHealthCheck" => get(health::get_health_check),
        "getStackOld" | "getStateDumpOld" => get(debug::redirect),
        "getStack" => get(debug::get_stack),
        "getStateDump" => get(state_dump::get_state_dump),
        "getProfiles" => get(debug::get_profiles),
        "getCommandLine" => get(debug::get_command_line),
        "getSymbols" => get(debug::get_symbols),
        "getCpuProfile" | "profile" => get(profile::get_cpu_profile),
        "getHeapProfile" => get(profile::get_heap_profile),
        "getAllocationProfile"
        | "getBlockProfile"
        | "getThreadProfile"
        | "getMutexProfile"
        | "getThreadCreationProfile"
        | "getTrace" => get(debug::unsupported),
        _ => return None,
    })
}
