//! The requests of the demo, as messages of the scheduler interface.

use std::collections::BTreeMap;

use headroom_api::si::v1;
use headroom_server::{POD_NAME, POD_NAMESPACE};
use headroom_sim::nodes::NodeSpec;

use super::scene::{JobKind, NodeKind, Size};

/// Name under which the demo registers.
pub(super) const RM: &str = "demo";
const GROUP: &str = "members";

/// Kind of a task.
#[derive(Clone, Copy, Debug)]
pub(super) struct TaskSpec {
    /// Whether the task is the first of its job.
    pub(super) originator: bool,
    /// Whether the task is a placeholder.
    pub(super) placeholder: bool,
    /// Whether the task belongs to a task group, as a placeholder or a member.
    pub(super) in_group: bool,
}

fn resource(size: Size) -> v1::Resource {
    let amounts = [("memory", size.memory), ("nvidia.com/gpu", size.gpu), ("vcore", size.vcore)];
    let some = amounts.into_iter().filter(|(_, value)| *value != 0);
    let named = some.map(|(name, value)| (name.to_owned(), v1::Quantity { value }));
    v1::Resource { resources: named.collect() }
}

fn times(size: Size, count: u64) -> Size {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let by = |amount: i64| amount.saturating_mul(count);
    Size { vcore: by(size.vcore), memory: by(size.memory), gpu: by(size.gpu) }
}

fn texts<const N: usize>(pairs: [(&str, &str); N]) -> BTreeMap<String, String> {
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

/// Returns a node, the `number`th of its kind.
pub(super) fn node(name: &str, kind: &NodeKind, number: usize) -> v1::NodeInfo {
    let rack = if number % 2 == 1 { "rack-a" } else { "rack-b" };
    v1::NodeInfo {
        node_id: name.to_owned(),
        action: v1::node_info::ActionFromRm::Create.into(),
        attributes: texts([
            ("si/hostname", name),
            ("si/rackname", rack),
            ("si/instance-type", kind.instance_type),
            ("si/arch", "amd64"),
            ("si/os", "linux"),
            ("si/node-partition", "default"),
        ]),
        schedulable_resource: Some(resource(kind.capacity)),
    }
}

/// Returns a node of a node list.
pub(super) fn listed(spec: &NodeSpec) -> v1::NodeInfo {
    let amounts = spec.resources.iter();
    let amounts =
        amounts.map(|(name, value)| (name.to_string(), v1::Quantity { value: value.get() }));
    v1::NodeInfo {
        node_id: spec.name.to_string(),
        action: v1::node_info::ActionFromRm::Create.into(),
        attributes: texts([
            ("si/hostname", spec.name.as_str()),
            ("si/node-partition", "default"),
            ("si/node-label", spec.label.as_ref().map_or("", |label| label.as_str())),
        ]),
        schedulable_resource: Some(v1::Resource { resources: amounts.collect() }),
    }
}

/// Returns an action on a node.
pub(super) fn action(name: &str, action: v1::node_info::ActionFromRm) -> v1::NodeInfo {
    v1::NodeInfo {
        node_id: name.to_owned(),
        action: action.into(),
        attributes: texts([("si/node-partition", "default")]),
        schedulable_resource: None,
    }
}

/// Returns a foreign allocation, which runs on a node but was not scheduled.
pub(super) fn daemon(node: &str, size: Size) -> v1::Allocation {
    v1::Allocation {
        allocation_key: format!("daemon-{node}"),
        allocation_tags: texts([
            ("foreign", "static"),
            (POD_NAMESPACE, "kube-system"),
            (POD_NAME, &format!("daemon-{node}")),
        ]),
        resource_per_alloc: Some(resource(size)),
        node_id: node.to_owned(),
        partition_name: "default".to_owned(),
        ..v1::Allocation::default()
    }
}

/// Returns a job with this many tasks.
pub(super) fn application(
    id: &str,
    kind: &JobKind,
    (user, group): (&str, &str),
    tasks: u64,
) -> v1::AddApplicationRequest {
    let gang = kind.gang;
    v1::AddApplicationRequest {
        application_id: id.to_owned(),
        queue_name: kind.queue.to_owned(),
        partition_name: "default".to_owned(),
        ugi: Some(v1::UserGroupInformation {
            user: user.to_owned(),
            groups: vec![group.to_owned()],
        }),
        tags: texts([("namespace", group)]),
        execution_timeout_milli_seconds: gang.map_or(0, |gang| gang.timeout),
        placeholder_ask: gang.map(|_| resource(times(kind.size, tasks))),
        gang_scheduling_style: gang.map_or_else(String::new, |gang| gang.style.to_owned()),
    }
}

/// Returns an ask for a task.
pub(super) fn ask(id: &str, key: &str, kind: &JobKind, spec: TaskSpec) -> v1::Allocation {
    v1::Allocation {
        allocation_key: key.to_owned(),
        allocation_tags: texts([(POD_NAMESPACE, kind.name), (POD_NAME, key)]),
        resource_per_alloc: Some(resource(kind.size)),
        priority: kind.priority,
        application_id: id.to_owned(),
        partition_name: "default".to_owned(),
        task_group_name: if spec.in_group { GROUP.to_owned() } else { String::new() },
        placeholder: spec.placeholder,
        originator: spec.originator,
        preemption_policy: Some(v1::PreemptionPolicy {
            allow_preempt_self: kind.preemptable,
            allow_preempt_other: kind.may_preempt,
        }),
        ..v1::Allocation::default()
    }
}

/// Returns the report that a task has ended, with the reason.
pub(super) fn release(id: &str, key: &str, termination: i32) -> v1::AllocationRelease {
    v1::AllocationRelease {
        partition_name: "default".to_owned(),
        application_id: id.to_owned(),
        termination_type: termination,
        allocation_key: key.to_owned(),
        message: String::new(),
    }
}
