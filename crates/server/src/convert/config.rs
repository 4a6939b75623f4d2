//! The active queue file.

use std::collections::BTreeMap;
use std::sync::Arc;

use headroom_api::wsv1::{
    ChildTemplate, ConfigApplicationLimits, ConfigCapacity, ConfigFilter, ConfigGangs,
    ConfigNodeLabels, ConfigNodeSortPolicy, ConfigPartition, ConfigPlacementRule, ConfigPreemption,
    ConfigQueue, ConfigQueuePreemption, ConfigReservations, ConfigResources, ConfigStarvation,
    ConfigUserGroupResolver, ConfigUserLimits,
};
use headroom_config::schema::Content;
use headroom_core::books::{Books, Partition, QueueSettings};
use headroom_core::config::property::duration_text;
use headroom_core::config::{
    AccessList, ApplicationLimitsConfig, CapacityConfig, CapacityShare, GangPlacement,
    LabelCapacity, LifetimesConfig, LimitPrecedence, NodeLabelsConfig, RuleConfig, UserFactor,
    UserLimitsConfig, inherited_application_limits,
};
use headroom_core::id::QueueId;
use headroom_core::resource::{Amounts, base_of};
use headroom_core::userlimit::{Calculator, Decimal, Enforcement, Formula};
use headroom_core::{Millis, Name};
use serde::Deserialize as _;

use super::value::{names, texts};

/// Returns a partition of the file. `None` if a setting has another type in the interface than in the table, which a
/// test excludes.
pub(crate) fn partition(content: Content) -> Option<ConfigPartition> {
    ConfigPartition::deserialize(content).ok()
}

/// Returns a partition with the part of the file that the books store. The books do not distinguish defaults from
/// written values. The result has no limits of users and groups, because these limits are stored with the usage.
pub(crate) fn partition_in_books(books: &Books, partition: &Partition) -> ConfigPartition {
    let settings = &partition.settings;
    let preemption = settings.preemption;
    let weights = settings.node_sort.weights.iter();
    ConfigPartition {
        name: partition.name.to_string(),
        queues: vec![queue_in_books(books, partition.root)],
        placement_rules: settings.placement_rules.iter().map(rule_in_books).collect(),
        limits: Vec::new(),
        preemption: ConfigPreemption {
            enabled: Some(preemption.enabled),
            quota_preemption_enabled: Some(preemption.quota_enabled),
            strict_guarantee: Some(preemption.strict_guarantee),
            balance: Some(preemption.balance),
            intra_queue_enabled: preemption.intra_queue_enabled.then_some(true),
            observe_only: preemption.observe_only.then_some(true),
        },
        node_sort_policy: ConfigNodeSortPolicy {
            policy: settings.node_sort.order.word().to_owned(),
            resource_weights: weights.map(|(name, one)| (name.to_string(), *one)).collect(),
        },
        user_group_resolver: ConfigUserGroupResolver {
            kind: settings.user_group_resolver.to_string(),
        },
        limit_precedence: match settings.limit_precedence {
            LimitPrecedence::Both => String::new(),
            LimitPrecedence::User => "user".to_owned(),
        },
        gangs: ConfigGangs {
            placement: match settings.gang_placement {
                GangPlacement::Members => String::new(),
                GangPlacement::Whole => GangPlacement::Whole.word().to_owned(),
            },
        },
        starvation: ConfigStarvation {
            after: match settings.starvation_after {
                Millis::ZERO => String::new(),
                after => duration_text(after),
            },
        },
        reservations: ConfigReservations {
            share: settings.reservation_share.map(|share| share.to_string()).unwrap_or_default(),
        },
        user_limits: None, // They are the root's.
        application_limits: None,
        tenants: None,
    }
}

fn queue_in_books(books: &Books, id: QueueId) -> ConfigQueue {
    let row = books.queue(id);
    let settings = &row.settings;
    let managed = books.children(id).filter(|(_, child)| child.managed);
    let mut children: Vec<ConfigQueue> =
        managed.map(|(child, _)| queue_in_books(books, child)).collect();
    children.sort_by(|one, other| one.name.cmp(&other.name));
    let template = settings.template.as_ref().map(|template| ChildTemplate {
        max_applications: template.max_applications,
        properties: texts(&template.properties),
        resources: ConfigResources {
            guaranteed: quantities(&template.guaranteed),
            max: quantities(&template.max),
        },
        user_limits: template.user_limits.as_ref().map(user_limits_in_books),
        application_limits: template.application_limits.as_ref().map(application_limits_in_books),
        capacity: template.capacity.map(capacity_in_books),
    });
    // The books have the resulting settings of each queue. A setting is shown only where it differs from that of the
    // parent.
    let above = row.parent.map(|parent| &books.queue(parent).settings);
    let users_above = above.and_then(|above| above.user_limits.as_ref());
    let user_limits = settings.user_limits.as_ref().filter(|own| users_above != Some(*own));
    let inherited = above
        .and_then(|above| inherited_application_limits(None, above.application_limits.as_deref()));
    let labels_above = above.and_then(|above| above.node_labels.as_ref());
    let labels = settings.node_labels.as_ref().filter(|own| labels_above != Some(*own));
    let starts_stop = settings.stopped && above.is_none_or(|above| !above.stopped);
    let lifetime = |of: fn(&LifetimesConfig) -> Option<Millis>| {
        let above = above.and_then(|above| of(&above.lifetimes));
        of(&settings.lifetimes).filter(|own| above != Some(*own)).map(|own| own.get() / 1_000)
    };
    let own = settings.application_limits.as_deref();
    let application_limits = own.filter(|own| inherited.as_ref() != Some(*own));
    let preemption_above = above.map_or_else(
        || books.partition(row.partition).settings.preemption.of_root(),
        |above| above.preemption,
    );
    let own_preemption =
        Some(settings.preemption).filter(|own| *own != preemption_above).unwrap_or_default();
    ConfigQueue {
        name: row.name.to_string(),
        parent: !row.leaf,
        resources: ConfigResources {
            guaranteed: settings.guaranteed.as_ref().map(quantities).unwrap_or_default(),
            max: settings.max.as_ref().map(quantities).unwrap_or_default(),
        },
        max_applications: settings.max_applications,
        properties: texts(&settings.properties),
        admin_acl: access(&settings.admin_acl),
        submit_acl: access(&settings.submit_acl),
        child_template: template.unwrap_or_default(),
        queues: children,
        limits: Vec::new(),
        user_limits: user_limits.map(|limits| user_limits_in_books(limits)),
        application_limits: application_limits.map(application_limits_in_books),
        capacity: settings.capacity.map(capacity_in_books),
        preemption: (!own_preemption.says_nothing()).then_some(ConfigQueuePreemption {
            disabled: own_preemption.disabled,
            intra_queue_disabled: own_preemption.intra_queue_disabled,
            balance: own_preemption.balance,
            within_queue: own_preemption.within_queue.map(|one| one.word().to_owned()),
            min_runtime: own_preemption.min_runtime.map(duration_text),
        }),
        state: if starts_stop { "stopped".to_owned() } else { String::new() },
        // The properties of the queue have it.
        ordering_policy: String::new(),
        maximum_application_lifetime: lifetime(|lifetimes| lifetimes.maximum),
        default_application_lifetime: lifetime(|lifetimes| lifetimes.default),
        node_labels: node_labels_in_books(labels, settings),
    }
}

/// Returns the labels of a queue that differ from the labels of its parent, and the queue's fractions of these labels.
fn node_labels_in_books(
    labels: Option<&Arc<NodeLabelsConfig>>,
    settings: &QueueSettings,
) -> Option<ConfigNodeLabels> {
    let all = ConfigNodeLabels {
        accessible: labels.and_then(|labels| labels.accessible.as_ref()).map(names),
        default: labels.and_then(|labels| labels.default.as_ref()).map(ToString::to_string),
        exclusive: labels.map(|labels| names(&labels.exclusive)).unwrap_or_default(),
        lends: labels.map(|labels| names(&labels.lends)).unwrap_or_default(),
        capacities: label_capacities_in_books(settings),
    };
    (labels.is_some() || !all.capacities.is_empty()).then_some(all)
}

/// Returns the capacities of labels. Their mode is the mode of the queue's capacity.
fn label_capacities_in_books(settings: &QueueSettings) -> BTreeMap<String, ConfigCapacity> {
    let parts = settings.label_capacities.iter();
    let part = |one: &LabelCapacity| ConfigCapacity {
        mode: String::new(),
        ..capacity_in_books(one.capacity)
    };
    parts.map(|one| (one.label.to_string(), part(one))).collect()
}

fn user_limits_in_books(limits: &UserLimitsConfig) -> ConfigUserLimits {
    let decimal = |decimal: Option<Decimal>| decimal.map(|one| one.to_string()).unwrap_or_default();
    let word = |word: Option<&str>| word.unwrap_or_default().to_owned();
    let factor = |factor: UserFactor| match factor {
        UserFactor::Times(times) => times.to_string(),
        UserFactor::Off => "-1".to_owned(),
    };
    let weights = limits.weights.iter();
    ConfigUserLimits {
        floor: decimal(limits.floor),
        factor: limits.factor.map(factor).unwrap_or_default(),
        weights: weights.map(|(user, one)| (user.to_string(), one.to_string())).collect(),
        formula: word(limits.formula.map(Formula::word)),
        enforcement: word(limits.enforcement.map(Enforcement::word)),
        calculator: word(limits.calculator.map(Calculator::word)),
        minimum_allocation: limits.minimum_allocation.as_ref().map(quantities),
        increment: limits.increment.as_ref().map(quantities),
        maximum_allocation: limits.maximum_allocation.as_ref().map(quantities),
    }
}

fn application_limits_in_books(limits: &ApplicationLimitsConfig) -> ConfigApplicationLimits {
    let by_user = limits.max_parallel_by_user.iter();
    ConfigApplicationLimits {
        maximum_applications: limits.max.unwrap_or(0),
        maximum_applications_per_user: limits.max_per_user.unwrap_or(0),
        max_parallel_apps: limits.max_parallel.unwrap_or(0),
        max_parallel_apps_per_user: limits.max_parallel_per_user.unwrap_or(0),
        max_parallel_apps_by_user: by_user.map(|(user, one)| (user.to_string(), *one)).collect(),
        driver: limits.driver.map(|part| part.to_string()).unwrap_or_default(),
        global_queue_max_application: limits.max_per_queue.unwrap_or(0),
    }
}

fn capacity_in_books(capacity: CapacityConfig) -> ConfigCapacity {
    let value = match capacity.share {
        CapacityShare::Percent(value) | CapacityShare::Weight(value) => Some(value),
        CapacityShare::Absolute => None,
    };
    let mode = capacity.share.mode();
    let text = |one: Option<Decimal>| one.map(|one| one.to_string()).unwrap_or_default();
    ConfigCapacity { mode: mode.to_owned(), value: text(value), maximum: text(capacity.maximum) }
}

/// Returns amounts in the format of a file: thousandths for `vcore`, and the base unit for all other types.
fn quantities(amounts: &Amounts) -> BTreeMap<String, String> {
    let written = |(name, amount): (&Name, headroom_core::resource::Quantity)| {
        let unit = if base_of(name) == "vcore" { "m" } else { "" };
        (name.to_string(), format!("{}{unit}", amount.get()))
    };
    amounts.iter().map(|(name, amount)| written((name, amount))).collect()
}

fn access(list: &AccessList) -> String {
    if list.is_everybody() {
        return "*".to_owned();
    }
    let joined = |names: &std::collections::BTreeSet<Name>| -> String {
        names.iter().map(Name::as_str).collect::<Vec<_>>().join(",")
    };
    let (users, groups) = (joined(list.users()), joined(list.groups()));
    if groups.is_empty() { users } else { format!("{users} {groups}") }
}

fn rule_in_books(rule: &RuleConfig) -> ConfigPlacementRule {
    ConfigPlacementRule {
        name: rule.name.clone(),
        create: rule.create,
        filter: ConfigFilter {
            kind: rule.filter.kind.clone(),
            users: names(&rule.filter.users),
            groups: names(&rule.filter.groups),
        },
        parent: rule.parent.as_deref().map(|parent| Box::new(rule_in_books(parent))),
        value: rule.value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use headroom_api::wsv1::Config;
    use headroom_config::schema::{Content, partition};
    use headroom_config::{outline, read};

    use super::super::yaml;

    /// A queue file with every setting of the table.
    const EVERYTHING: &str = include_str!("../../../config/tests/everything.yaml");

    #[test]
    fn the_interface_has_every_setting_of_the_table() {
        let written = outline(EVERYTHING).unwrap().remove(0);
        let converted = super::partition(written.clone()).expect("each setting has its type");
        let json = serde_json::to_value(&converted).unwrap();
        let back = Content::from_json(partition(), &json);
        // Functions identify tables, and their addresses vary.
        let shown = |content: &Content| {
            let text = format!("{content:#?}");
            text.lines().filter(|line| !line.contains("0x")).collect::<Vec<_>>().join("\n")
        };
        assert_eq!(shown(&back), shown(&written));
    }

    #[test]
    fn the_file_in_force_says_the_same_as_the_file() {
        let written = outline(EVERYTHING).unwrap();
        let shown = yaml::config(&written, &Config::default());
        let partitions = shown.split("\ndeadlock").next().unwrap();
        let read = |text: &str| read(text).unwrap().configuration.partitions;
        assert_eq!(read(partitions), read(EVERYTHING));
    }
}
