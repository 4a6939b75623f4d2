//! A queue file as it was understood, in its own words: quantities and access lists as they are
//! written, below one root. For those who show the file; what it means is in
//! [`Loaded`](crate::Loaded).

use std::collections::BTreeMap;

use headroom_core::config::QueuePreemptionConfig;

use crate::application_limits::count;
use crate::check::{self, Tree};
use crate::diagnostic::Report;
use crate::life::seconds;
use crate::raw::{self, At, Pairs, Text};
use crate::yaml;

/// A partition of a file. What is absent was not written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartitionOutline {
    /// The name in force.
    pub name: String,
    /// The queue called `root`, with the limits of the partition.
    pub root: QueueOutline,
    /// In the order in which they are tried.
    pub rules: Vec<RuleOutline>,
    /// `preemption.enabled`.
    pub preemption: Option<bool>,
    /// `preemption.quotapreemptionenabled`.
    pub quota_preemption: Option<bool>,
    /// `preemption.strictguarantee`.
    pub strict_guarantee: Option<bool>,
    /// `preemption.balance`.
    pub balance: Option<bool>,
    /// `preemption.intraqueueenabled`.
    pub intra_queue: Option<bool>,
    /// `preemption.observeonly`.
    pub observe_only: Option<bool>,
    /// `limitprecedence`.
    pub limit_precedence: String,
    /// `nodesortpolicy.type`.
    pub node_policy: String,
    /// `nodesortpolicy.resourceweights`.
    pub node_weights: BTreeMap<String, f64>,
    /// `usergroupresolver.type`.
    pub resolver: String,
    /// `userlimits`.
    pub user_limits: Option<UserLimitsOutline>,
    /// `applicationlimits`.
    pub application_limits: Option<ApplicationLimitsOutline>,
}

/// A queue of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueOutline {
    /// Last part of its path, as written; `root` for the root.
    pub name: String,
    /// Whether it was said to be a parent, or is the root.
    pub parent: bool,
    /// Maximum and guarantee.
    pub resources: ResourcesOutline,
    /// Applications that may run at once; 0 where nothing is said.
    pub max_applications: u64,
    /// By key.
    pub properties: BTreeMap<String, String>,
    /// Who may administer it.
    pub admin_acl: String,
    /// Who may submit.
    pub submit_acl: String,
    /// What queues that rules make below it start with.
    pub template: TemplateOutline,
    /// The queues right below it.
    pub children: Vec<QueueOutline>,
    /// Of users and groups.
    pub limits: Vec<LimitOutline>,
    /// `userlimits`.
    pub user_limits: Option<UserLimitsOutline>,
    /// `applicationlimits`.
    pub application_limits: Option<ApplicationLimitsOutline>,
    /// `capacity`.
    pub capacity: Option<CapacityOutline>,
    /// `preemption`.
    pub preemption: QueuePreemptionConfig,
    /// `state`; empty where nothing is said.
    pub state: String,
    /// `orderingpolicy`; empty where nothing is said.
    pub ordering_policy: String,
    /// `maximumapplicationlifetime`, in seconds.
    pub maximum_lifetime: Option<u64>,
    /// `defaultapplicationlifetime`, in seconds.
    pub default_lifetime: Option<u64>,
    /// `nodelabels.accessible`.
    pub accessible_labels: Option<Vec<String>>,
    /// `nodelabels.default`.
    pub default_label: Option<String>,
    /// `nodelabels.exclusive`.
    pub exclusive_labels: Vec<String>,
    /// `nodelabels.lends`.
    pub lending_labels: Vec<String>,
    /// `nodelabels.<label>`, without a mode.
    pub label_capacities: BTreeMap<String, CapacityOutline>,
}

/// Quantities by resource type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourcesOutline {
    /// The maximum.
    pub max: BTreeMap<String, String>,
    /// The guarantee.
    pub guaranteed: BTreeMap<String, String>,
}

/// What queues that rules make start with; all empty where there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TemplateOutline {
    /// Applications that may run at once; 0 where nothing is said.
    pub max_applications: u64,
    /// By key.
    pub properties: BTreeMap<String, String>,
    /// Maximum and guarantee.
    pub resources: ResourcesOutline,
    /// `userlimits`.
    pub user_limits: Option<UserLimitsOutline>,
    /// `applicationlimits`.
    pub application_limits: Option<ApplicationLimitsOutline>,
    /// `capacity`.
    pub capacity: Option<CapacityOutline>,
}

/// What part of its parent a queue has; as it is written, empty where nothing is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CapacityOutline {
    /// What the part is said in.
    pub mode: String,
    /// The percentage or weight.
    pub value: String,
    /// How many percent of what its parent may use.
    pub maximum: String,
}

/// How users share leaves; numbers and words as they are written, empty where nothing is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserLimitsOutline {
    /// What is split.
    pub formula: String,
    /// When an ask is too much.
    pub enforcement: String,
    /// How vectors are compared.
    pub calculator: String,
    /// `minimumuserlimitpercent`.
    pub floor: String,
    /// `userlimitfactor`.
    pub factor: String,
    /// By user.
    pub weights: BTreeMap<String, String>,
    /// Quantities by resource type.
    pub minimum_allocation: Option<BTreeMap<String, String>>,
    /// Quantities by resource type.
    pub increment: Option<BTreeMap<String, String>>,
    /// Quantities by resource type.
    pub maximum_allocation: Option<BTreeMap<String, String>>,
}

/// How many applications there may be, and what drivers may have; 0 and empty where nothing is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApplicationLimitsOutline {
    /// `maximumapplications`.
    pub max: u64,
    /// `maximumapplicationsperuser`.
    pub max_per_user: u64,
    /// `maxparallelapps`.
    pub max_parallel: u64,
    /// `maxparallelappsperuser`.
    pub max_parallel_per_user: u64,
    /// `maxparallelappsbyuser`, by user.
    pub max_parallel_by_user: BTreeMap<String, u64>,
    /// `maximumdriverresourcepercent`, as it is written.
    pub driver: String,
    /// `globalqueuemaxapplication`.
    pub max_per_queue: u64,
}

/// What some users and groups may use in a queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitOutline {
    /// Its description.
    pub description: String,
    /// Names, or `*`.
    pub users: Vec<String>,
    /// Names, or `*`.
    pub groups: Vec<String>,
    /// Quantities by resource type.
    pub max_resources: BTreeMap<String, String>,
    /// Applications that may run at once; 0 where nothing is said.
    pub max_applications: u64,
}

/// A placement rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleOutline {
    /// Which.
    pub name: String,
    /// Whether it makes queues.
    pub create: bool,
    /// `allow`, `deny` or nothing.
    pub filter: String,
    /// Names of users, or one expression.
    pub users: Vec<String>,
    /// Names of groups, or one expression.
    pub groups: Vec<String>,
    /// The rule that finds the queue above.
    pub parent: Option<Box<RuleOutline>>,
    /// A queue, or the name of a tag.
    pub value: String,
}

/// The partitions of a file, in its order; none if it has faults.
pub fn outline(text: &str) -> Option<Vec<PartitionOutline>> {
    crate::with_stack(|| outline_here(text)).ok().flatten()
}

fn outline_here(text: &str) -> Option<Vec<PartitionOutline>> {
    let mut report = Report::default();
    let document = yaml::parse(text, &mut report);
    let file = document.map(|document| raw::read(&document, &mut report)).unwrap_or_default();
    let trees = check::check(file, &mut report);
    (!report.has_errors()).then(|| trees.iter().map(partition).collect())
}

fn partition(tree: &Tree) -> PartitionOutline {
    let Tree { partition, root } = tree;
    let weights = partition.node_weights.iter();
    PartitionOutline {
        name: check::name_of_partition(&partition.name.value).to_owned(),
        root: queue(root),
        rules: partition.rules.iter().map(rule).collect(),
        preemption: partition.preemption,
        quota_preemption: partition.quota_preemption,
        strict_guarantee: partition.strict_guarantee,
        balance: partition.balance,
        intra_queue: partition.intra_queue,
        observe_only: partition.observe_only,
        limit_precedence: partition.limit_precedence.value.clone(),
        node_policy: partition.node_policy.value.clone(),
        node_weights: weights.map(|(name, one)| (name.value.clone(), one.value)).collect(),
        resolver: partition.resolver.value.clone(),
        user_limits: partition.user_limits.as_deref().map(user_limits),
        application_limits: partition.application_limits.as_deref().map(application_limits),
    }
}

fn queue(from: &raw::Queue) -> QueueOutline {
    let template = from.template.as_deref().map(|At { value, .. }| TemplateOutline {
        max_applications: value.max_applications.value,
        properties: texts(&value.properties),
        resources: resources(&value.resources),
        user_limits: value.user_limits.as_deref().map(user_limits),
        application_limits: value.application_limits.as_deref().map(application_limits),
        capacity: value.capacity.as_deref().map(capacity),
    });
    let labels = from.node_labels.as_deref();
    QueueOutline {
        name: from.name.value.clone(),
        parent: from.parent,
        resources: resources(&from.resources),
        max_applications: from.max_applications.value,
        properties: texts(&from.properties),
        admin_acl: from.admin_acl.value.clone(),
        submit_acl: from.submit_acl.value.clone(),
        template: template.unwrap_or_default(),
        children: from.children.iter().map(queue).collect(),
        limits: from.limits.value.iter().map(limit).collect(),
        user_limits: from.user_limits.as_deref().map(user_limits),
        application_limits: from.application_limits.as_deref().map(application_limits),
        capacity: from.capacity.as_deref().map(capacity),
        preemption: from.preemption,
        state: from.start.as_ref().map(|word| word.value.clone()).unwrap_or_default(),
        ordering_policy: from.ordering.as_ref().map(|word| word.value.clone()).unwrap_or_default(),
        maximum_lifetime: from.maximum_lifetime.as_ref().and_then(seconds),
        default_lifetime: from.default_lifetime.as_ref().and_then(seconds),
        label_capacities: labels
            .into_iter()
            .flat_map(|labels| &labels.capacities)
            .map(|(label, block)| (label.value.clone(), capacity(block)))
            .collect(),
        exclusive_labels: labels.map(|labels| list(&labels.exclusive)).unwrap_or_default(),
        lending_labels: labels.map(|labels| list(&labels.lends)).unwrap_or_default(),
        accessible_labels: labels.and_then(|labels| labels.accessible.as_deref()).map(list),
        default_label: labels
            .and_then(|labels| labels.default.as_ref())
            .map(|one| one.value.clone()),
    }
}

fn capacity(from: &raw::Capacity) -> CapacityOutline {
    let raw::Capacity { mode, value, maximum, span: _ } = from;
    let [mode, value, maximum] = [mode, value, maximum]
        .map(|text| text.as_ref().map(|one| one.value.clone()).unwrap_or_default());
    CapacityOutline { mode, value, maximum }
}

fn user_limits(from: &raw::UserLimits) -> UserLimitsOutline {
    let text = |text: &Option<Text>| text.as_ref().map(|one| one.value.clone()).unwrap_or_default();
    let amounts = |one: &Option<Pairs>| one.as_ref().map(|pairs| texts(&pairs.value));
    UserLimitsOutline {
        formula: text(&from.formula),
        enforcement: text(&from.enforcement),
        calculator: text(&from.calculator),
        floor: text(&from.floor),
        factor: text(&from.factor),
        weights: texts(&from.weights),
        minimum_allocation: amounts(&from.minimum_allocation),
        increment: amounts(&from.increment),
        maximum_allocation: amounts(&from.maximum_allocation),
    }
}

fn application_limits(from: &raw::ApplicationLimits) -> ApplicationLimitsOutline {
    let number = |text: &Option<Text>| text.as_ref().and_then(count).unwrap_or(0);
    let of_user = |(user, text): &(Text, Text)| Some((user.value.clone(), count(text)?));
    ApplicationLimitsOutline {
        max: number(&from.max),
        max_per_user: number(&from.max_per_user),
        max_parallel: number(&from.max_parallel),
        max_parallel_per_user: number(&from.max_parallel_per_user),
        max_parallel_by_user: from.max_parallel_by_user.iter().filter_map(of_user).collect(),
        driver: from.driver.as_ref().map(|text| text.value.clone()).unwrap_or_default(),
        max_per_queue: number(&from.max_per_queue),
    }
}

fn resources(from: &raw::Resources) -> ResourcesOutline {
    ResourcesOutline { max: pairs(from.max.as_ref()), guaranteed: pairs(from.guaranteed.as_ref()) }
}

fn limit(from: &raw::Limit) -> LimitOutline {
    LimitOutline {
        description: from.description.value.clone(),
        users: list(from.users()),
        groups: list(from.groups()),
        max_resources: pairs(from.max_resources.as_ref()),
        max_applications: from.max_applications.value,
    }
}

fn rule(from: &raw::Rule) -> RuleOutline {
    RuleOutline {
        name: from.name.value.clone(),
        create: from.create,
        filter: from.filter.kind.value.clone(),
        users: list(&from.filter.users),
        groups: list(&from.filter.groups),
        parent: from.parent.as_deref().map(|parent| Box::new(rule(parent))),
        value: from.value.value.clone(),
    }
}

fn list(from: &[Text]) -> Vec<String> {
    from.iter().map(|text| text.value.clone()).collect()
}

fn pairs(from: Option<&Pairs>) -> BTreeMap<String, String> {
    from.map(|pairs| texts(&pairs.value)).unwrap_or_default()
}

fn texts(from: &[(Text, Text)]) -> BTreeMap<String, String> {
    from.iter().map(|(key, value)| (key.value.clone(), value.value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_shown_in_its_own_words_below_one_root() {
        let text = "
partitions:
  - name: Default
    limits: [{limit: all, users: ['*'], maxapplications: 5}]
    nodesortpolicy: {type: binpacking, resourceweights: {vcore: 2}}
    queues:
      - name: Sales
        submitacl: 'ann dev'
        resources: {max: {memory: 10Gi, vcore: 1500m}}
";
        let all = outline(text).unwrap();
        let [one] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!((one.name.as_str(), one.root.name.as_str()), ("default", "root"));
        assert_eq!(one.root.limits[0].max_applications, 5);
        assert_eq!((one.preemption, one.node_weights["vcore"]), (None, 2.0));
        let sales = &one.root.children[0];
        assert_eq!((sales.name.as_str(), sales.submit_acl.as_str()), ("Sales", "ann dev"));
        assert_eq!(sales.resources.max["vcore"], "1500m");
        assert_eq!(outline(""), Some(Vec::new()));
        assert_eq!(outline("partitions: 1"), None);
    }
}
