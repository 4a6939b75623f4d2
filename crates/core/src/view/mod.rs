//! Views: the state of single objects for readers, with names and amounts instead of IDs.
//!
//! A view is created from [`Books`] alone, so a clone can be read while the original changes. It costs what it shows: a
//! queue its subtree, an application its asks, a user the levels of that user. Lists are sorted, and their order is
//! stable. The sender decides the wire format.
//!
//! The books do not store which checks an ask has passed, so views do not show them.

mod application;
mod bucket;
mod drift;
mod drivers;
mod health;
mod history;
mod metered;
mod node;
mod partition;
mod percent;
mod placement;
mod predict;
mod queue;
mod quota_reduction;
mod simulate;
mod spent;
mod tally;
mod tenant;
mod usage;
mod user_limits;
mod waiting;

pub use application::{AllocationView, ApplicationView, AskView, RejectedView, TaskGroupView};
pub use bucket::node_buckets;
pub use drift::tenant_drift;
pub use drivers::{DriversView, drivers};
pub use health::{Check, Counters, health, is_healthy};
pub use history::{BANDS, History, Sample, band, usage_bands};
pub use metered::{task_seconds, tenant_measured, tenant_seconds};
pub use node::{ForeignByNode, ForeignView, NodeView};
pub use partition::PartitionView;
pub use percent::Percents;
pub use placement::{FilterView, RuleView, rules};
pub use predict::{PredictedTask, predict_task};
pub use queue::{QueueView, TemplateView};
pub use quota_reduction::{QuotaReductionView, VictimView, lowering};
pub use simulate::{
    SimulatedLimitView, SimulatedUser, Simulation, SimulationError, SimulationView,
};
pub use spent::{SpentView, SummaryView};
pub use tally::{
    PartitionTally, QueueTally, Rate, Spans, StateCounts, Tally, TenantTallies, TenantTally,
};
pub use tenant::{TenantView, tenant, tenant_use, tenants};
pub use usage::{GroupView, UsageView, UserView, groups, users};
pub use user_limits::{
    LeafView, LimitedBy, RulesView, UserLimitView, UserLimitsView, max_applications, user_limits,
};
pub use waiting::{WaitingView, leaf_of_tenant, place, waiting};

use crate::books::Books;
use crate::resource::{Amounts, Resources};

/// Returns the amounts of an optional vector. Empty for `None`.
fn amounts(books: &Books, resources: Option<&Resources>) -> Amounts {
    resources.map(|resources| books.types().amounts(resources)).unwrap_or_default()
}
