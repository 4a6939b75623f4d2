//! Converts a valid file to the typed configuration.

use headroom_core::config::property::read_span;
use headroom_core::config::{
    Configuration, FilterConfig, GangPlacement, LimitConfig, LimitPrecedence, NodeLabelsConfig,
    NodeOrder, NodeSortConfig, PartitionConfig, PreemptionConfig, Properties, QueueConfig,
    QueuePreemptionConfig, RESERVATION_SHARE, RuleConfig, STARVATION_AFTER, TemplateConfig,
    WithinQueue,
};
use headroom_core::userlimit::Decimal;
use headroom_core::{Millis, Name};

use crate::application_limits;
use crate::capacity;
use crate::check::{self, Tree};
use crate::life;
use crate::ordering::{self, Above};
use crate::raw::{Limit, NodeLabels, Partition, Queue, Rule, Template, Text};
use crate::reservations::Share;
use crate::tenants;
use crate::user_limits;
use crate::vector::Vector;

/// Returns the configuration. The trees must be valid.
pub(crate) fn build(trees: Vec<Tree>, checksum: &str) -> Configuration {
    Configuration {
        partitions: trees.into_iter().map(partition).collect(),
        checksum: Name::new(checksum),
    }
}

fn read<T>(text: Option<&Text>, of: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    text.and_then(|text| of(&text.value))
}

fn partition(tree: Tree) -> PartitionConfig {
    let Tree { partition, root } = tree;
    let defaults = PreemptionConfig::default();
    let tenants = tenants::build(partition.tenants.as_deref());
    let mut queues = self::tree(&root);
    if let Some(tenants) = &tenants {
        tenants::plant(&mut queues, &tenants.root);
    }
    PartitionConfig {
        tenants,
        gang_placement: gang_placement(&partition),
        starvation_after: starvation_after(&partition),
        reservation_share: reservation_share(&partition),
        name: Name::new(check::name_of_partition(&partition.name.value)),
        root: queues,
        placement_rules: partition.rules.iter().map(rule).collect(),
        node_sort: NodeSortConfig {
            order: match partition.node_sort.policy.value.as_str() {
                "binpacking" => NodeOrder::BinPacking,
                _ => NodeOrder::Fair,
            },
            weights: partition
                .node_sort
                .weights
                .iter()
                .map(|(name, weight)| {
                    // Infinite scores have no order, so the weight is 1, as for an unnamed type.
                    let finite = weight.value.is_finite();
                    (name_of(name), if finite { weight.value } else { 1.0 })
                })
                .collect(),
        },
        preemption: PreemptionConfig {
            enabled: partition.preemption.enabled.unwrap_or(defaults.enabled),
            quota_enabled: partition.preemption.quota_enabled.unwrap_or(defaults.quota_enabled),
            strict_guarantee: partition
                .preemption
                .strict_guarantee
                .map_or(defaults.strict_guarantee, |strict| strict.value),
            balance: partition.preemption.balance.unwrap_or(defaults.balance),
            intra_queue_enabled: partition
                .preemption
                .intra_queue_enabled
                .unwrap_or(defaults.intra_queue_enabled),
            observe_only: partition.preemption.observe_only.unwrap_or(defaults.observe_only),
        },
        user_group_resolver: partition.resolver.kind.value,
        user_limits: partition.user_limits.as_deref().map(user_limits::build),
        application_limits: application_limits::build(partition.application_limits.as_deref()),
        limit_precedence: match partition.limit_precedence.value.as_str() {
            "user" => LimitPrecedence::User,
            _ => LimitPrecedence::Both,
        },
    }
}

/// Returns how gangs of a partition are placed.
pub(crate) fn gang_placement(partition: &Partition) -> GangPlacement {
    let placement = partition.gangs.as_deref().map(|gangs| gangs.placement.value.as_str());
    match placement.unwrap_or_default() {
        "whole" => GangPlacement::Whole,
        "" if tenants::are_enabled(partition.tenants.as_deref()) => GangPlacement::Whole,
        _ => GangPlacement::Members,
    }
}

/// Returns how long an ask of a partition waits before it gets a hold. 0 if asks never get a hold.
pub(crate) fn starvation_after(partition: &Partition) -> Millis {
    let after = partition.starvation.as_deref().and_then(|block| block.after.as_ref());
    let with_tenants = tenants::are_enabled(partition.tenants.as_deref());
    let usual = if with_tenants { STARVATION_AFTER } else { Millis::ZERO };
    read(after, read_span).unwrap_or(usual)
}

/// Returns the largest fraction of the nodes that a partition reserves. `None` without a limit.
pub(crate) fn reservation_share(partition: &Partition) -> Option<Decimal> {
    let share = partition.reservations.as_deref().and_then(|block| block.share.as_ref());
    let with_tenants = tenants::are_enabled(partition.tenants.as_deref());
    let usual = with_tenants.then_some(RESERVATION_SHARE);
    read(share, Share::read).map_or(usual, Share::limit)
}

fn queue(from: &Queue, is_root: bool, above: Above<'_>) -> QueueConfig {
    let is_parent = from.parent || !from.children.is_empty();
    let mut properties = properties(&from.properties);
    ordering::complete(&mut properties, from, ordering::is_leaf(from, is_root), above);
    let above = above.below(from);
    let template = from.template.as_deref();
    QueueConfig {
        name: Name::from(from.name.value.to_lowercase()),
        parent: from.parent,
        children: from.children.iter().map(|child| queue(child, false, above)).collect(),
        max: Vector::of(from.resources.max.as_ref()).amounts(),
        guaranteed: Vector::of(from.resources.guaranteed.as_ref()).amounts(),
        max_applications: from.max_applications.value,
        properties,
        admin_acl: from.admin_acl.value.clone(),
        submit_acl: from.submit_acl.value.clone(),
        template: template
            .filter(|template| is_parent && !check::is_absent(template))
            .map(template_of),
        limits: from.limits.value.iter().map(limit).collect(),
        user_limits: from.user_limits.as_deref().map(user_limits::build),
        application_limits: application_limits::build(from.application_limits.as_deref()),
        capacity: capacity::build(from.capacity.as_deref()),
        label_capacities: capacity::build_labels(from),
        preemption: QueuePreemptionConfig {
            disabled: from.preemption.disabled,
            intra_queue_disabled: from.preemption.intra_queue_disabled,
            balance: from.preemption.balance,
            within_queue: read(from.preemption.within_queue.as_ref(), WithinQueue::of_word),
            min_runtime: read(from.preemption.min_runtime.as_ref(), read_span),
        },
        start: from.start.as_ref().and_then(life::start),
        lifetimes: life::lifetimes(from),
        node_labels: from.node_labels.as_deref().map(node_labels),
    }
}

/// Returns the queue tree of a partition. A label is exclusive if a queue has a fraction of its nodes, because asks
/// without the label could otherwise use up these nodes. A label whose idle nodes are lent is also exclusive, because
/// only nodes that are counted separately can be lent.
fn tree(from: &Queue) -> QueueConfig {
    let mut root = queue(from, true, Above::default());
    let mut labels: Vec<Name> = Vec::new();
    let mut open = vec![&root];
    while let Some(queue) = open.pop() {
        labels.extend(queue.label_capacities.iter().map(|one| one.label.clone()));
        open.extend(&queue.children);
    }
    labels.extend(root.node_labels.iter().flat_map(|labels| labels.lends.iter().cloned()));
    let exclusive = root.node_labels.as_ref().map(|labels| &labels.exclusive[..]);
    labels.retain(|label| exclusive.is_none_or(|all| !NodeLabelsConfig::names(all, label)));
    if !labels.is_empty() {
        let exclusive = &mut root.node_labels.get_or_insert_default().exclusive;
        exclusive.extend(labels);
        exclusive.sort();
        exclusive.dedup();
    }
    root
}

fn node_labels(from: &NodeLabels) -> NodeLabelsConfig {
    let sorted = |labels: &[Text]| {
        let mut labels: Vec<Name> = labels.iter().map(name_of).collect();
        labels.sort();
        labels.dedup();
        labels
    };
    NodeLabelsConfig {
        accessible: from.accessible.as_deref().map(sorted),
        default: from.default.as_ref().map(name_of),
        exclusive: sorted(&from.exclusive),
        lends: sorted(&from.lends),
    }
}

fn template_of(from: &Template) -> TemplateConfig {
    let filled = from
        .properties
        .iter()
        .filter(|(key, value)| !key.value.is_empty() && !value.value.is_empty());
    TemplateConfig {
        max_applications: from.max_applications.value,
        properties: filled.map(pair).collect(),
        max: Vector::of(from.resources.max.as_ref()).amounts(),
        guaranteed: Vector::of(from.resources.guaranteed.as_ref()).amounts(),
        user_limits: from.user_limits.as_deref().map(user_limits::build),
        application_limits: application_limits::build(from.application_limits.as_deref()),
        capacity: capacity::build(from.capacity.as_deref()),
    }
}

fn limit(from: &Limit) -> LimitConfig {
    LimitConfig {
        description: from.description.value.clone(),
        users: from.users().iter().map(name_of).collect(),
        groups: from.groups().iter().map(name_of).collect(),
        max_resources: Vector::of(from.max_resources.as_ref()).amounts(),
        max_applications: from.max_applications.value,
    }
}

fn rule(from: &Rule) -> RuleConfig {
    RuleConfig {
        name: from.name.value.clone(),
        create: from.create,
        filter: FilterConfig {
            kind: from.filter.kind.value.clone(),
            users: from.filter.users.iter().map(name_of).collect(),
            groups: from.filter.groups.iter().map(name_of).collect(),
        },
        parent: from.parent.as_deref().map(|parent| Box::new(rule(parent))),
        value: from.value.value.clone(),
    }
}

fn properties(from: &[(Text, Text)]) -> Properties {
    from.iter().map(pair).collect()
}

fn pair((key, value): &(Text, Text)) -> (Name, Name) {
    (name_of(key), name_of(value))
}

fn name_of(text: &Text) -> Name {
    Name::new(&text.value)
}
