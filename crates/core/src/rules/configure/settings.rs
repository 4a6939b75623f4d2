//! From what the queue file says to settings in force: properties read and inherited, access
//! lists read, templates inherited.

use alloc::sync::Arc;

use crate::books::{PartitionSettings, QueueSettings};
use crate::config::property::inherit;
use crate::config::{
    AccessList, PartitionConfig, Properties, PropertyValues, QueueConfig, TemplateConfig,
};
use crate::name::Name;
use crate::rejection::Rejection;
use crate::resource::Amounts;

/// The policies of a partition.
pub(super) fn partition_settings(partition: &PartitionConfig) -> PartitionSettings {
    PartitionSettings {
        node_sort: partition.node_sort.clone(),
        preemption: partition.preemption,
        limit_precedence: partition.limit_precedence,
        placement_rules: partition.placement_rules.as_slice().into(),
        user_group_resolver: Name::new(&partition.user_group_resolver),
    }
}

/// The settings of a configured queue below one with these settings; none is the root, which
/// is as large as its nodes and has no maximum or guarantee of its own.
pub(super) fn queue_settings(
    queue: &QueueConfig,
    path: &Name,
    above: Option<&QueueSettings>,
) -> Result<QueueSettings, Rejection> {
    let access_list = |list: &str| {
        AccessList::parse(list)
            .map_err(|error| Rejection::AccessList { queue: path.clone(), words: error.words })
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
    })
}

/// A queue's own template, or else its parent's.
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

/// These amounts, unless none is above zero: they then limit or grant nothing.
pub(in crate::rules) fn granting(amounts: &Amounts) -> Option<Amounts> {
    amounts.is_strictly_positive().then(|| amounts.clone())
}
