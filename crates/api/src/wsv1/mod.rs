//! Bodies of `/ws/v1`, as clients of `YuniKorn` know them.
//!
//! One file per noun. A field that is always sent has no `default`; one that is left out when it
//! is empty has both `default` and `skip_serializing_if`. Fields are in the order in which they
//! are sent. Unknown fields are passed over when reading, so that a newer server can be read.
//!
//! - Amounts: bytes of `memory` and `ephemeral-storage`, thousandths of a core of `vcore`, plain
//!   counts of all other types.
//! - Times: nanoseconds since 1970-01-01T00:00:00Z, where a field does not say otherwise.
//!
//! [`to_json`] writes a body byte by byte as the reference does.

mod allocation;
mod application;
mod ask;
mod cluster;
mod config;
mod encode;
mod error;
mod event;
mod health;
mod history;
mod node;
mod node_utilization;
mod partition;
mod placement;
mod queue;
mod state_dump;
mod usage;
mod user_limits;
mod validation;
mod value;

pub use allocation::{Allocation, ForeignAllocation};
pub use application::{Application, PlaceholderData, ResourceHistory, StateChange};
pub use ask::{AllocationLogEntry, Ask};
pub use cluster::Cluster;
pub use config::{
    ChildTemplate, Config, ConfigApplicationLimits, ConfigAudit, ConfigCapacity, ConfigFilter,
    ConfigGangs, ConfigLimit, ConfigNodeLabels, ConfigNodeSortPolicy, ConfigOnLower,
    ConfigPartition, ConfigPlacementRule, ConfigPreemption, ConfigQueue, ConfigQueuePreemption,
    ConfigReservations, ConfigResources, ConfigStarvation, ConfigTenantDefaults, ConfigTenants,
    ConfigUserGroupResolver, ConfigUserLimits, ConfigWaiting,
};
pub use encode::{to_json, to_json_indented};
pub use error::{ErrorBody, message};
pub use event::{EventBatch, EventQuantity, EventRecord, EventResource, StreamLine, StreamStart};
pub use health::{Health, HealthCheck};
pub use history::{ApplicationHistory, ContainerHistory};
pub use node::Node;
pub use node_utilization::{PartitionNodesUtilization, ResourceUtilization, UtilizationBucket};
pub use partition::{NodeSortingPolicy, Partition, PartitionCapacity};
pub use placement::{PlacementFilter, PlacementRule};
pub use queue::{Queue, QueueTemplate};
pub use state_dump::{EventStream, PartitionNodes, PartitionRules, StateDump};
pub use usage::{GroupUsage, QueueUsage, UserUsage};
pub use user_limits::{
    Admitted, OtherUsers, SimulatedLimit, SimulatedLimits, SimulatedUser, UserLimit,
    UserLimitAmong, UserLimitCalculator, UserLimitEnforcement, UserLimitFormula, UserLimitInputs,
    UserLimits, UserLimitsSimulation,
};
pub use validation::Validation;
pub use value::{IntegerText, NotAnInteger, Percentages, Resources};

/// Returns whether a field is omitted: empty text, zero, `false`, none, or an empty list or map.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
