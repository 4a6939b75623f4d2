//! Converts the queue file to effective settings: parses and inherits properties, parses access lists, and inherits
//! templates.

use alloc::sync::Arc;

use crate::books::{PartitionSettings, QueueSettings};
use crate::config::property::inherit;
use crate::config::{
    AccessList, ApplicationLimitsConfig, NodeLabelsConfig, PartitionConfig, Properties,
    PropertyValues, QueueConfig, QueueStart, TemplateConfig, UserLimitsConfig,
};
use crate::config::{
    application_limits_at_root, inherited_application_limits, inherited_user_limits,
};
use crate::name::Name;
use crate::rejection::Rejection;
use crate::resource::Amounts;

/// Returns the policies of a partition.
pub(super) fn partition_settings(partition: &PartitionConfig) -> PartitionSettings {
    PartitionSettings {
        node_sort: partition.node_sort.clone(),
        preemption: partition.preemption,
        limit_precedence: partition.limit_precedence,
        placement_rules: partition.placement_rules.as_slice().into(),
        user_group_resolver: Name::new(&partition.user_group_resolver),
        tenants: partition.tenants.clone().map(Arc::new),
        gang_placement: partition.gang_placement,
        starvation_after: partition.starvation_after,
        reservation_share: partition.reservation_share,
    }
}

/// Parent of a queue.
#[derive(Clone, Copy, Debug)]
pub(in crate::rules) enum Above<'file> {
    /// Parent queue with these settings.
    Queue(&'file QueueSettings),
    /// The partition itself, for the root queue.
    Partition(&'file PartitionConfig),
}

/// Returns the settings of a configured queue under this parent. The maximum of the root is the sum of the nodes, so
/// the root has no maximum or guarantee of its own.
pub(in crate::rules) fn queue_settings(
    queue: &QueueConfig,
    path: &Name,
    above: Above<'_>,
) -> Result<QueueSettings, Rejection> {
    let access_list = |list: &str| {
        AccessList::parse(list)
            .map_err(|error| Rejection::AccessList { queue: path.clone(), words: error.words })
    };
    let (own, own_count) = (queue.user_limits.as_ref(), queue.application_limits.as_ref());
    let (above, user_limits, application_limits, preemption) = match above {
        Above::Queue(above) => {
            let user_limits = user_limits_below(own, above.user_limits.as_ref());
            let counts = application_limits_below(own_count, above.application_limits.as_ref());
            (Some(above), user_limits, counts, above.preemption)
        }
        Above::Partition(partition) => {
            let user_limits = inherited_user_limits(own, partition.user_limits.as_ref());
            let counts =
                application_limits_at_root(own_count, partition.application_limits.as_ref());
            let preemption = partition.preemption.of_root();
            (None, user_limits.map(Arc::new), counts.map(Arc::new), preemption)
        }
    };
    let properties = match above {
        Some(above) => inherit(&above.properties, &queue.properties),
        None => inherit(&Properties::new(), &queue.properties),
    };
    let sized = |amounts| if above.is_some() { granting(amounts) } else { None };
    Ok(QueueSettings {
        max: sized(&queue.max),
        guaranteed: sized(&queue.guaranteed),
        max_applications: queue.max_applications,
        values: PropertyValues::read(&properties),
        properties,
        submit_acl: access_list(&queue.submit_acl)?,
        admin_acl: access_list(&queue.admin_acl)?,
        template: queue.is_parent().then(|| template(queue.template.as_ref(), above)).flatten(),
        user_limits,
        application_limits,
        capacity: queue.capacity.filter(|_| above.is_some()),
        label_capacities: queue.label_capacities.clone(),
        preemption: queue.preemption.over(&preemption),
        stopped: is_stopped(queue, path, above)?,
        lifetimes: queue.lifetimes.below(above.map(|above| above.lifetimes).unwrap_or_default()),
        node_labels: node_labels(queue, above),
        tenant: None,
    })
}

/// Returns the labels to which a queue has access.
fn node_labels(
    queue: &QueueConfig,
    above: Option<&QueueSettings>,
) -> Option<Arc<NodeLabelsConfig>> {
    let above = above.and_then(|above| above.node_labels.as_ref());
    match &queue.node_labels {
        None => above.cloned(), // Shared, not copied.
        Some(own) => Some(Arc::new(own.below(above.map(Arc::as_ref)))),
    }
}

/// Returns whether a queue is stopped, by its own setting or by that of its parent. Source: user-headroom §10 (C12).
fn is_stopped(
    queue: &QueueConfig,
    path: &Name,
    above: Option<&QueueSettings>,
) -> Result<bool, Rejection> {
    let above = above.is_some_and(|above| above.stopped);
    match queue.start {
        Some(QueueStart::Running) if above => {
            Err(Rejection::RunsBelowStopped { queue: path.clone() })
        }
        start => Ok(above || start == Some(QueueStart::Stopped)),
    }
}

/// Returns the user limits of a queue: its own settings, completed with inherited ones.
pub(in crate::rules) fn user_limits_below(
    own: Option<&UserLimitsConfig>,
    above: Option<&Arc<UserLimitsConfig>>,
) -> Option<Arc<UserLimitsConfig>> {
    match own {
        None => above.cloned(), // Shared, not copied.
        own => inherited_user_limits(own, above.map(Arc::as_ref)).map(Arc::new),
    }
}

/// Returns the application limits of a queue: its own settings, completed with inherited ones.
pub(in crate::rules) fn application_limits_below(
    own: Option<&ApplicationLimitsConfig>,
    above: Option<&Arc<ApplicationLimitsConfig>>,
) -> Option<Arc<ApplicationLimitsConfig>> {
    inherited_application_limits(own, above.map(Arc::as_ref)).map(Arc::new)
}

/// Returns the template of a queue, or that of its parent.
fn template(
    own: Option<&TemplateConfig>,
    above: Option<&QueueSettings>,
) -> Option<Arc<TemplateConfig>> {
    own.map(|own| {
        Arc::new(TemplateConfig {
            max: granting(&own.max).unwrap_or_default(),
            guaranteed: granting(&own.guaranteed).unwrap_or_default(),
            ..own.clone()
        })
    })
    .or_else(|| above.and_then(|above| above.template.clone()))
}

/// Returns the amounts if at least one is positive. Otherwise, they limit or guarantee nothing.
pub(in crate::rules) fn granting(amounts: &Amounts) -> Option<Amounts> {
    amounts.is_strictly_positive().then(|| amounts.clone())
}
