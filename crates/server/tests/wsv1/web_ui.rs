//! Checklist 3: every call of `YuniKorn`'s web UI, and each field that it reads, as its page
//! contract says: REST API §16.2. Partition and queue names stand in its paths as they are.
//!
//! A field is named by its path; `[]` is every element of a list, of which there must be one. One
//! that is left out when it is empty has a `?`: the UI takes that for nothing.

use headroom_core::Command;
use serde_json::Value;

use crate::support::{Options, Server, node};

/// A page, the paths that it asks for, and what it reads of each.
struct Call {
    page: &'static str,
    path: &'static str,
    fields: &'static [&'static str],
}

const QUEUE: &[&str] = &[
    "queuename",
    "status",
    "partition",
    "isLeaf",
    "isManaged",
    "maxResource.memory?",
    "maxResource.vcore?",
    "guaranteedResource?",
    "allocatedResource?",
    "pendingResource?",
    "absUsedCapacity.memory?",
    "absUsedCapacity.vcore?",
    "properties?",
    "template.maxResource?",
    "template.guaranteedResource?",
    "template.properties?",
];

const APPLICATION: &[&str] = &[
    "[].applicationID",
    "[].usedResource?",
    "[].pendingResource?",
    "[].maxUsedResource?",
    "[].submissionTime",
    "[].stateLog?[].time",
    "[].applicationState",
    "[].allocations?[].allocationKey",
    "[].allocations?[].allocationTags?",
    "[].allocations?[].resource",
    "[].allocations?[].priority",
    "[].allocations?[].nodeId",
    "[].allocations?[].applicationId",
];

const NODE: &[&str] = &[
    "[].nodeID",
    "[].hostName?",
    "[].rackName?",
    "[].attributes",
    "[].capacity.memory",
    "[].capacity.vcore",
    "[].allocated?",
    "[].occupied?",
    "[].available",
    "[].utilized.memory?",
    "[].utilized.vcore?",
    "[].allocations?[].allocationKey",
    "[].allocations?[].resource",
    "[].allocations?[].priority",
    "[].allocations?[].nodeId",
    "[].allocations?[].applicationId",
    "[].foreignAllocations?[].allocationKey",
    "[].foreignAllocations?[].resource",
    "[].foreignAllocations?[].priority",
    "[].foreignAllocations?[].nodeId",
];

const CALLS: &[Call] = &[
    Call {
        page: "/dashboard",
        path: "/ws/v1/clusters",
        fields: &[
            "[].clusterName",
            "[].rmBuildInformation[].buildVersion",
            "[].rmBuildInformation[].buildDate?",
            "[].rmBuildInformation[].rmId",
        ],
    },
    Call {
        page: "/dashboard",
        path: "/ws/v1/partitions",
        fields: &[
            "[].name",
            "[].totalNodes?",
            "[].totalContainers?",
            "[].nodeSortingPolicy.type",
            "[].applications.total",
            "[].applications.Running?",
        ],
    },
    Call {
        page: "/dashboard",
        path: "/ws/v1/history/apps",
        fields: &["[].timestamp", "[].totalApplications"],
    },
    Call {
        page: "/dashboard",
        path: "/ws/v1/history/containers",
        fields: &["[].timestamp", "[].totalContainers"],
    },
    Call {
        page: "node utilisation",
        path: "/ws/v1/scheduler/node-utilizations",
        fields: &["[].partition", "[].utilizations"],
    },
    Call { page: "/queues", path: "/ws/v1/partition/default/queues", fields: QUEUE },
    Call { page: "/queues", path: "/ws/v1/partition/gpu/queues", fields: QUEUE },
    Call {
        page: "/applications",
        path: "/ws/v1/partition/default/queue/root.sales/applications",
        fields: APPLICATION,
    },
    Call {
        page: "/applications",
        path: "/ws/v1/partition/default/queue/root.dev.one/applications",
        fields: APPLICATION,
    },
    Call { page: "/nodes", path: "/ws/v1/partition/default/nodes", fields: NODE },
    Call {
        page: "/status",
        path: "/ws/v1/scheduler/healthcheck",
        fields: &[
            "Healthy",
            "HealthChecks[].Name",
            "HealthChecks[].Succeeded",
            "HealthChecks[].Description",
            "HealthChecks[].DiagnosisMessage",
        ],
    },
];

/// Follow a field; where it is missing and must not be.
fn read<'a>(value: &'a Value, field: &str, found: &mut Vec<&'a Value>) -> Result<(), String> {
    if field.is_empty() {
        found.push(value);
        return Ok(());
    }
    if let Some(rest) = field.strip_prefix("[]") {
        let list = value.as_array().ok_or_else(|| format!("{value} is no list"))?;
        let rest = rest.strip_prefix('.').unwrap_or(rest);
        return list.iter().try_for_each(|one| read(one, rest, found));
    }
    let end = field.find(['.', '[']).unwrap_or(field.len());
    let (name, rest) = field.split_at(end);
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    let (name, may_be_absent) = match name.strip_suffix('?') {
        Some(name) => (name, true),
        None => (name, field.ends_with('?')),
    };
    match value.get(name) {
        Some(value) => read(value, rest, found),
        None if may_be_absent => Ok(()),
        None => Err(format!("{name} is missing in {value}")),
    }
}

fn each_queue<'a>(queue: &'a Value, visit: &mut impl FnMut(&'a Value)) {
    visit(queue);
    for child in queue["children"].as_array().into_iter().flatten() {
        each_queue(child, visit);
    }
}

#[tokio::test]
async fn every_call_of_the_web_ui_finds_what_it_reads() {
    let server = Server::start().await;
    server.furnish().await;
    server.turn(60_000).await;
    server.accept(Command::AddNode(node("n3", 1))).await;
    server.rest.checks.run(&server.service).await;
    for Call { page, path, fields } in CALLS {
        let body = server.json(path).await;
        for field in *fields {
            let mut found = Vec::new();
            let mut outcome = Ok(());
            if *fields == QUEUE {
                each_queue(&body, &mut |queue| {
                    if outcome.is_ok() {
                        outcome = read(queue, field, &mut found);
                    }
                });
            } else {
                outcome = read(&body, field, &mut found);
            }
            assert_eq!(outcome, Ok(()), "{page} reads {field} of {path}");
        }
    }
    let mut found = Vec::new();
    let queues = server.json("/ws/v1/partition/default/queues").await;
    each_queue(&queues, &mut |queue| {
        read(queue, "absUsedCapacity.vcore?", &mut found).unwrap();
        assert_eq!(queue["status"], "Active");
    });
    assert!(found.iter().all(|one| (0..=100).contains(&one.as_i64().unwrap())), "{found:?}");
    let nodes = server.json("/ws/v1/partition/default/nodes").await;
    let mut attributes = Vec::new();
    read(&nodes, "[].attributes", &mut attributes).unwrap();
    assert!(attributes.iter().all(|one| one.is_object()), "its filter goes through them");
    let fullness = server.json("/ws/v1/scheduler/node-utilizations").await;
    let mut buckets = Vec::new();
    read(&fullness, "[].utilizations[].utilization", &mut buckets).unwrap();
    assert!(!buckets.is_empty());
    assert!(buckets.iter().all(|one| one.as_array().unwrap().len() == 10));
    // What the optional fields are is seen at least once.
    for (path, field) in [
        ("/ws/v1/partition/default/queue/root.sales/applications", "[].allocations?[].priority"),
        ("/ws/v1/partition/default/nodes", "[].foreignAllocations?[].priority"),
        ("/ws/v1/partition/default/nodes", "[].utilized.vcore?"),
        ("/ws/v1/partitions", "[].totalNodes?"),
    ] {
        let body = server.json(path).await;
        let mut found = Vec::new();
        read(&body, field, &mut found).unwrap();
        assert!(!found.is_empty(), "{field} of {path}");
    }
}

#[tokio::test]
async fn a_cluster_with_nothing_in_it_breaks_no_page() {
    let queues = "partitions: [{name: default, queues: [{name: root}]}, {name: gpu, queues: []}]";
    let server =
        Server::with(Options { queues: Some(queues.to_owned()), ..Options::default() }).await;
    server.rest.checks.run(&server.service).await;
    for Call { page, path, fields } in CALLS {
        let path = path.replace("root.sales", "root").replace("root.dev.one", "root");
        let body = server.json(&path).await;
        for field in *fields {
            let outcome = read(&body, field, &mut Vec::new());
            assert_eq!(outcome, Ok(()), "{page} reads {field} of {path}");
        }
    }
    for path in ["/ws/v1/history/apps", "/ws/v1/history/containers"] {
        assert_eq!(server.get(path).await.text(), "[]\n");
    }
}
