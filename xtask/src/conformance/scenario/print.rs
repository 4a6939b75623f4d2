//! Views as the JSON of the reference's REST answers, as far as it is recorded: empty and zero
//! fields are left out where REST leaves them out; times, hosts and attributes always.

use std::collections::BTreeMap;

use headroom_core::books::Books;
use headroom_core::config::{NodeOrder, PreemptionPolicy, Properties};
use headroom_core::resource::Amounts;
use headroom_core::view::{
    AllocationView, ApplicationView, ForeignView, GroupView, NodeView, PartitionView, Percents,
    QueueView, RejectedView, TaskGroupView, UsageView, UserView, groups, users,
};
use headroom_core::{Millis, Name};
use serde_json::{Map, Value, json};

/// The partition whose queues, applications and nodes are recorded.
const RECORDED: &str = "default";

/// What priority means "none".
const NO_PRIORITY: i32 = i32::MIN;

/// One answer for each part of the record. Users and groups are those of all partitions, one
/// after the other: the reference has one list for all. `manager` is the name of the resource manager.
pub fn snapshot(books: &Books, manager: &str) -> Value {
    let partitions = books.partitions();
    let (mut all_users, mut all_groups) = (Vec::new(), Vec::new());
    for id in partitions.keys() {
        all_users.extend(users(books, *id));
        all_groups.extend(groups(books, *id));
    }
    all_users.sort_by(|one, other| one.user.cmp(&other.user));
    all_groups.sort_by(|one, other| one.group.cmp(&other.group));
    let mut views: Vec<PartitionView> =
        partitions.keys().map(|id| PartitionView::of(books, *id)).collect();
    views.sort_by(|one, other| one.name.cmp(&other.name));
    let mut map = Map::new();
    map.insert("users".into(), all_users.iter().map(user).collect());
    map.insert("groups".into(), all_groups.iter().map(group).collect());
    map.insert("partitions".into(), views.iter().map(|one| partition(one, manager)).collect());
    if let Some(id) = books.partition_named(RECORDED) {
        let root = QueueView::tree(books, books.partition(id).root);
        map.insert("queues".into(), queue(&root));
        map.insert("nodes".into(), NodeView::all(books, id).iter().map(node).collect());
        let (active, ended) =
            (ApplicationView::active(books, id), ApplicationView::completed(books, id));
        let refused = RejectedView::all(books, id);
        let applications = json!({
            "active": active.iter().map(application).collect::<Value>(),
            "completed": ended.iter().map(application).collect::<Value>(),
            "rejected": refused.iter().map(rejected).collect::<Value>(),
        });
        map.insert("applications".into(), applications);
    }
    Value::Object(map)
}

/// Amounts as a flat map.
pub(super) fn resources(amounts: &Amounts) -> Value {
    amounts.iter().map(|(name, amount)| (name.to_string(), Value::from(amount.get()))).collect()
}

fn percents(percents: &Percents) -> Value {
    percents.iter().map(|(name, percent)| (name.to_string(), Value::from(*percent))).collect()
}

fn texts(properties: &Properties) -> Value {
    properties.iter().map(|(key, value)| (key.to_string(), Value::from(value.as_str()))).collect()
}

fn names<'a>(names: impl IntoIterator<Item = &'a Name>) -> Value {
    names.into_iter().map(|name| Value::from(name.as_str())).collect()
}

/// An object without its fields that are empty or zero, but for those of `always`.
fn object<const COUNT: usize>(always: &[&str], fields: [(&str, Value); COUNT]) -> Value {
    let kept = |(name, value): &(&str, Value)| always.contains(name) || !is_empty(value);
    fields.into_iter().filter(kept).map(|(name, value)| (name.to_owned(), value)).collect()
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
    }
}

fn queue(view: &QueueView) -> Value {
    let template = view.template.as_ref().map_or(Value::Null, |template| {
        let fields = [
            ("maxApplications", template.max_applications.into()),
            ("maxResource", resources(&template.max)),
            ("guaranteedResource", resources(&template.guaranteed)),
            ("properties", texts(&template.properties)),
        ];
        object(&[], fields)
    });
    let sorting = view.order.word();
    let is_root = view.parent.is_none();
    let partition = if is_root { view.partition.as_str() } else { "" };
    let fields = [
        ("queuename", view.path.as_str().into()),
        ("status", view.state.to_string().into()),
        ("partition", partition.into()),
        ("pendingResource", resources(&view.pending)),
        ("maxResource", resources(&view.max)),
        ("guaranteedResource", resources(&view.guaranteed)),
        ("allocatedResource", resources(&view.allocated)),
        ("preemptingResource", resources(&view.preempting)),
        ("headroom", resources(&view.headroom)),
        ("isLeaf", view.leaf.into()),
        ("isManaged", view.managed.into()),
        ("properties", texts(&view.properties)),
        ("parent", view.parent.as_ref().map(Name::as_str).into()),
        ("template", template),
        ("children", view.children.iter().map(queue).collect()),
        ("absUsedCapacity", percents(&view.used_percent)),
        ("maxRunningApps", view.max_applications.into()),
        ("runningApps", view.running.into()),
        ("currentPriority", view.priority.unwrap_or(NO_PRIORITY).into()),
        ("allocatingAcceptedApps", names(&view.starting)),
        ("sortingPolicy", sorting.into()),
        ("prioritySorting", view.priority_first.into()),
        ("preemptionEnabled", (view.preemption != PreemptionPolicy::Disabled).into()),
        ("isPreemptionFence", (view.preemption == PreemptionPolicy::Fence).into()),
        ("preemptionDelay", duration(view.preemption_delay).into()),
        ("quotaPreemptionDelay", duration(view.quota_preemption_delay).into()),
        ("isPriorityFence", view.priority_fence.into()),
        ("priorityOffset", view.priority_offset.into()),
    ];
    let always = [
        "isLeaf",
        "isManaged",
        "currentPriority",
        "prioritySorting",
        "preemptionEnabled",
        "isPreemptionFence",
        "isPriorityFence",
        "partition",
    ];
    object(&always, fields)
}

/// A span of time as Go prints it.
fn duration(span: Millis) -> String {
    let (hours, minutes) = (span.get() / 3_600_000, span.get() / 60_000 % 60);
    let (seconds, millis) = (span.get() / 1_000 % 60, span.get() % 1_000);
    if span.get() > 0 && span.get() < 1_000 {
        return format!("{millis}ms");
    }
    let fraction = match millis {
        0 => String::new(),
        _ => format!(".{millis:03}").trim_end_matches('0').to_owned(),
    };
    match (hours, minutes) {
        (0, 0) => format!("{seconds}{fraction}s"),
        (0, _) => format!("{minutes}m{seconds}{fraction}s"),
        _ => format!("{hours}h{minutes}m{seconds}{fraction}s"),
    }
}

fn application(view: &ApplicationView) -> Value {
    let ask = |ask: &headroom_core::view::AskView| {
        let fields = [
            ("allocationKey", ask.key.as_str().into()),
            ("resource", resources(&ask.resources)),
            ("priority", ask.priority.to_string().into()),
            ("originator", ask.originator.into()),
            ("placeholder", ask.placeholder.into()),
            ("taskGroupName", ask.task_group.as_ref().map(Name::as_str).into()),
            ("requiredNodeId", ask.required_node.as_ref().map(Name::as_str).into()),
            ("triggeredPreemption", ask.preemption_triggered.into()),
        ];
        object(&[], fields)
    };
    let states = view.state_log.iter().map(|(_, state)| Value::from(state.to_string()));
    let fields = [
        ("applicationID", view.application.as_str().into()),
        ("queueName", view.queue.as_str().into()),
        ("user", view.user.as_str().into()),
        ("groups", names(&*view.groups)),
        ("applicationState", view.state.to_string().into()),
        ("usedResource", resources(&view.used)),
        ("maxUsedResource", resources(&view.max_used)),
        ("pendingResource", resources(&view.pending)),
        ("maxRequestPriority", view.highest_priority.unwrap_or(NO_PRIORITY).into()),
        ("stateLog", states.collect()),
        ("requests", view.requests.iter().map(ask).collect()),
        ("allocations", view.allocations.iter().map(allocation).collect()),
        ("hasReserved", (!view.reservations.is_empty()).into()),
        ("reservations", names(&view.reservations)),
        ("placeholderData", view.task_groups.iter().map(task_group).collect()),
    ];
    object(&[], fields)
}

fn task_group(view: &TaskGroupView) -> Value {
    let fields = [
        ("taskGroupName", view.name.as_str().into()),
        ("count", view.count.into()),
        ("minResource", resources(&view.size)),
        ("replaced", view.replaced.into()),
        ("timedout", view.timed_out.into()),
    ];
    object(&[], fields)
}

fn allocation(view: &AllocationView) -> Value {
    let fields = [
        ("allocationKey", view.key.as_str().into()),
        ("nodeId", view.node.as_str().into()),
        ("resource", resources(&view.resources)),
        ("priority", view.priority.to_string().into()),
        ("originator", view.originator.into()),
        ("placeholder", view.placeholder.into()),
        ("placeholderUsed", view.took_place.into()),
        ("taskGroupName", view.task_group.as_ref().map(Name::as_str).into()),
        ("preempted", view.preempted.into()),
    ];
    object(&[], fields)
}

fn foreign(view: &ForeignView) -> Value {
    let fields = [
        ("allocationKey", view.key.as_str().into()),
        ("resource", resources(&view.resources)),
        ("preemptable", view.preemptable.into()),
    ];
    object(&[], fields)
}

/// What no rule found a queue for is shown without one.
const NO_RULE_MATCHED: &str = "PL-REJECTED";

fn rejected(view: &RejectedView) -> Value {
    let queue = if view.code == NO_RULE_MATCHED { "" } else { view.queue.as_str() };
    let fields = [
        ("applicationID", view.application.as_str().into()),
        ("queueName", queue.into()),
        ("user", view.user.as_str().into()),
        ("groups", names(&*view.groups)),
        ("applicationState", "Rejected".into()),
        ("maxRequestPriority", NO_PRIORITY.into()),
        ("stateLog", json!(["Rejected"])),
    ];
    object(&["queueName"], fields)
}

fn node(view: &NodeView) -> Value {
    let fields = [
        ("nodeID", view.node.as_str().into()),
        ("capacity", resources(&view.capacity)),
        ("allocated", resources(&view.allocated)),
        ("occupied", resources(&view.occupied)),
        ("available", resources(&view.available)),
        ("utilized", percents(&view.used_percent)),
        ("allocations", names(view.allocations.iter().map(|one| &one.key))),
        ("foreignAllocations", view.foreign.iter().map(foreign).collect()),
        ("schedulable", view.schedulable.into()),
        ("isReserved", (!view.reservations.is_empty()).into()),
        ("reservations", names(&view.reservations)),
    ];
    object(&["schedulable", "isReserved"], fields)
}

fn user(view: &UserView) -> Value {
    let groups = view
        .groups
        .iter()
        .map(|(application, group)| (application.to_string(), Value::from(group.as_str())));
    let fields = [
        ("userName", view.user.as_str().into()),
        ("groups", groups.collect()),
        ("queues", usage(&view.usage)),
    ];
    object(&[], fields)
}

fn group(view: &GroupView) -> Value {
    let fields = [
        ("groupName", view.group.as_str().into()),
        ("applications", names(&view.applications)),
        ("queues", usage(&view.usage)),
    ];
    object(&[], fields)
}

fn usage(view: &UsageView) -> Value {
    let fields = [
        ("queuePath", view.path.as_str().into()),
        ("resourceUsage", resources(&view.used)),
        ("runningApplications", names(&view.running)),
        ("maxResources", resources(&view.max)),
        ("maxApplications", view.max_applications.into()),
        ("children", view.children.iter().map(usage).collect()),
    ];
    object(&[], fields)
}

fn partition(view: &PartitionView, manager: &str) -> Value {
    let order = match view.node_order {
        NodeOrder::Fair => "fair",
        NodeOrder::BinPacking => "binpacking",
    };
    let weights: Map<String, Value> =
        view.node_weights.iter().map(|(name, one)| (name.to_string(), json!(one))).collect();
    let mut counts: BTreeMap<String, usize> =
        view.applications.iter().map(|(state, count)| (state.to_string(), *count)).collect();
    if view.rejected > 0 {
        counts.insert("Rejected".to_owned(), view.rejected);
    }
    counts.insert("total".to_owned(), counts.values().sum());
    let capacity = [
        ("capacity", resources(&view.capacity)),
        ("usedCapacity", resources(&view.used)),
        ("utilization", percents(&view.used_percent)),
    ];
    let fields = [
        ("clusterId", manager.into()),
        ("name", view.name.as_str().into()),
        ("capacity", object(&[], capacity)),
        ("nodeSortingPolicy", json!({"type": order, "resourceWeights": weights})),
        ("preemptionEnabled", view.preemption.enabled.into()),
        ("quotaPreemptionEnabled", view.preemption.quota_enabled.into()),
        ("totalNodes", view.nodes.into()),
        ("applications", json!(counts)),
        ("totalContainers", view.allocations.into()),
        ("state", view.state.to_string().into()),
    ];
    object(&["preemptionEnabled", "quotaPreemptionEnabled", "capacity"], fields)
}
