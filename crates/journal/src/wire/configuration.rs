//! The checked queue file. Trees are written as lists, and restored by the reader.

use headroom_core::Name;
use headroom_core::config::{
    Configuration, FilterConfig, GangPlacement, LimitConfig, LimitPrecedence, NodeOrder,
    NodeSortConfig, PartitionConfig, PreemptionConfig, QueueConfig, RuleConfig, TemplateConfig,
};

use super::{At as _, Decoded, Fault, Field, message, structure, words};
use crate::proto;
use crate::record::{LEVELS_MAX, What};

words!(NodeOrder = proto::NodeOrder { Fair, BinPacking });
words!(LimitPrecedence = proto::LimitPrecedence { Both, User });

structure!(Configuration = proto::Configuration { partitions, checksum });
structure!(
    TemplateConfig = proto::Template {
        max_applications,
        properties,
        max,
        guaranteed,
        user_limits,
        application_limits,
        capacity,
    }
);
structure!(FilterConfig = proto::Filter { kind, users, groups });
structure!(NodeSortConfig = proto::NodeSort { order, weights });
structure!(
    PreemptionConfig = proto::Preemption {
        enabled,
        quota_enabled,
        strict_guarantee,
        balance,
        intra_queue_enabled,
        observe_only,
    }
);
structure!(
    LimitConfig =
        proto::LimitConfig { description, users, groups, max_resources, max_applications }
);

/// Records of earlier formats have no value, which means placement one by one.
impl Field<bool> for GangPlacement {
    fn put(&self) -> bool {
        match self {
            Self::Members => false,
            Self::Whole => true,
        }
    }

    fn take(field: bool) -> Decoded<Self> {
        Ok(if field { Self::Whole } else { Self::Members })
    }
}

impl Field<proto::PartitionConfig> for PartitionConfig {
    fn put(&self) -> proto::PartitionConfig {
        let Self {
            name,
            root,
            placement_rules,
            node_sort,
            preemption,
            limit_precedence,
            user_group_resolver,
            user_limits,
            application_limits,
            tenants,
            gang_placement,
            starvation_after,
            reservation_share,
        } = self;
        proto::PartitionConfig {
            name: name.put(),
            queues: flatten(root),
            placement_rules: placement_rules.put(),
            node_sort: node_sort.put(),
            preemption: preemption.put(),
            limit_precedence: limit_precedence.put(),
            user_group_resolver: user_group_resolver.put(),
            user_limits: user_limits.put(),
            application_limits: application_limits.put(),
            tenants: tenants.put(),
            gang_placement: gang_placement.put(),
            starvation_after: starvation_after.put(),
            reservation_share: reservation_share.put(),
        }
    }

    fn take(field: proto::PartitionConfig) -> Decoded<Self> {
        let proto::PartitionConfig {
            name,
            queues,
            placement_rules,
            node_sort,
            preemption,
            limit_precedence,
            user_group_resolver,
            user_limits,
            application_limits,
            tenants,
            gang_placement,
            starvation_after,
            reservation_share,
        } = field;
        Ok(Self {
            name: name.into(),
            root: unflatten(queues).at("queues")?,
            placement_rules: Field::take(placement_rules).at("placement_rules")?,
            node_sort: Field::take(node_sort).at("node_sort")?,
            preemption: Field::take(preemption).at("preemption")?,
            limit_precedence: Field::take(limit_precedence).at("limit_precedence")?,
            user_group_resolver,
            user_limits: Field::take(user_limits).at("user_limits")?,
            application_limits: Field::take(application_limits).at("application_limits")?,
            tenants: Field::take(tenants).at("tenants")?,
            gang_placement: Field::take(gang_placement).at("gang_placement")?,
            starvation_after: Field::take(starvation_after).at("starvation_after")?,
            reservation_share: Field::take(reservation_share).at("reservation_share")?,
        })
    }
}

/// Returns a queue and all its descendants, each after its parent.
fn flatten(root: &QueueConfig) -> Vec<proto::QueueConfig> {
    let mut open = vec![(0, root)];
    let mut queues = Vec::new();
    while let Some((depth, queue)) = open.pop() {
        queues.push(one_queue(depth, queue));
        open.extend(queue.children.iter().rev().map(|child| (depth + 1, child)));
    }
    queues
}

fn one_queue(depth: u32, queue: &QueueConfig) -> proto::QueueConfig {
    let QueueConfig {
        name,
        parent,
        children: _,
        max,
        guaranteed,
        max_applications,
        properties,
        admin_acl,
        submit_acl,
        template,
        limits,
        user_limits,
        application_limits,
        capacity,
        label_capacities,
        preemption,
        start,
        lifetimes,
        node_labels,
    } = queue;
    proto::QueueConfig {
        depth,
        name: name.put(),
        parent: *parent,
        max: max.put(),
        guaranteed: guaranteed.put(),
        max_applications: *max_applications,
        properties: properties.put(),
        admin_acl: admin_acl.put(),
        submit_acl: submit_acl.put(),
        template: template.as_ref().map(Field::put),
        limits: limits.put(),
        user_limits: user_limits.put(),
        application_limits: application_limits.put(),
        capacity: capacity.put(),
        label_capacities: label_capacities.put(),
        preemption: preemption.put(),
        start: start.put(),
        lifetimes: lifetimes.put(),
        node_labels: node_labels.put(),
    }
}

/// Restores the tree. A queue has all its children when the next queue in the list is not deeper.
fn unflatten(queues: Vec<proto::QueueConfig>) -> Decoded<QueueConfig> {
    let mut open: Vec<QueueConfig> = Vec::new();
    for (index, queue) in queues.into_iter().enumerate() {
        let depth = queue.depth as usize;
        if depth > LEVELS_MAX {
            return Err(Fault::new(What::TooDeep { levels: depth })).at("depth").at_index(index);
        }
        if depth > open.len() || (depth == 0 && index > 0) {
            return Err(Fault::new(What::NoParent)).at("depth").at_index(index);
        }
        close(&mut open, depth);
        open.push(lone_queue(queue).at_index(index)?);
    }
    close(&mut open, 1);
    open.pop().ok_or(Fault::new(What::Missing))
}

/// Moves queues into the children of their parents, until `levels` queues remain.
fn close(open: &mut Vec<QueueConfig>, levels: usize) {
    while open.len() > levels
        && let Some(last) = open.pop()
        && let Some(parent) = open.last_mut()
    {
        parent.children.push(last);
    }
}

fn lone_queue(queue: proto::QueueConfig) -> Decoded<QueueConfig> {
    let proto::QueueConfig {
        depth: _,
        name,
        parent,
        max,
        guaranteed,
        max_applications,
        properties,
        admin_acl,
        submit_acl,
        template,
        limits,
        user_limits,
        application_limits,
        capacity,
        label_capacities,
        preemption,
        start,
        lifetimes,
        node_labels,
    } = queue;
    Ok(QueueConfig {
        name: name.into(),
        parent,
        children: Vec::new(),
        max: Field::take(max).at("max")?,
        guaranteed: Field::take(guaranteed).at("guaranteed")?,
        max_applications,
        properties: Field::take(properties).at("properties")?,
        admin_acl,
        submit_acl,
        template: template.map(TemplateConfig::take).transpose().at("template")?,
        limits: Field::take(limits).at("limits")?,
        user_limits: Field::take(user_limits).at("user_limits")?,
        application_limits: Field::take(application_limits).at("application_limits")?,
        capacity: Field::take(capacity).at("capacity")?,
        label_capacities: Field::take(label_capacities).at("label_capacities")?,
        preemption: Field::take(preemption).at("preemption")?,
        start: Field::take(start).at("start")?,
        lifetimes: Field::take(lifetimes).at("lifetimes")?,
        node_labels: Field::take(node_labels).at("node_labels")?,
    })
}

impl Field<proto::PlacementRule> for RuleConfig {
    fn put(&self) -> proto::PlacementRule {
        let rules = std::iter::successors(Some(self), |rule| rule.parent.as_deref());
        let step = |rule: &Self| {
            let Self { name, create, filter, parent: _, value } = rule;
            proto::RuleStep {
                name: name.put(),
                create: *create,
                filter: filter.put(),
                value: value.put(),
            }
        };
        proto::PlacementRule { steps: rules.map(step).collect() }
    }

    fn take(field: proto::PlacementRule) -> Decoded<Self> {
        let levels = field.steps.len();
        if levels > LEVELS_MAX {
            return Err(Fault::new(What::TooDeep { levels })).at("steps");
        }
        let mut last: Option<Self> = None;
        for (index, step) in field.steps.into_iter().enumerate().rev() {
            let proto::RuleStep { name, create, filter, value } = step;
            let filter = Field::take(filter).at("filter").at_index(index).at("steps")?;
            last = Some(Self { name, create, filter, parent: last.map(Box::new), value });
        }
        last.ok_or(Fault::new(What::Missing)).at("steps")
    }
}

impl Field<proto::Weight> for (Name, f64) {
    fn put(&self) -> proto::Weight {
        proto::Weight { resource: self.0.put(), weight: Some(self.1) }
    }

    fn take(field: proto::Weight) -> Decoded<Self> {
        let weight = field.weight.ok_or(Fault::new(What::Missing)).at("weight")?;
        Ok((Name::from(field.resource), weight))
    }
}

message!(PartitionConfig = proto::PartitionConfig);
