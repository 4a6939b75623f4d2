//! Bodies of `/ws/v1`: one example of each, with every field, and what is left out when empty.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use headroom_api::wsv1::{
    Allocation, Application, ApplicationHistory, Ask, ChildTemplate, Cluster, Config, ConfigFilter,
    ConfigLimit, ConfigPartition, ConfigPlacementRule, ConfigQueue, ConfigUserGroupResolver,
    ContainerHistory, ErrorBody, EventBatch, EventRecord, EventResource, EventStream,
    ForeignAllocation, GroupUsage, Health, HealthCheck, IntegerText, Node, Partition,
    PartitionNodes, PartitionNodesUtilization, PartitionRules, PlaceholderData, PlacementFilter,
    PlacementRule, Queue, QueueTemplate, QueueUsage, SimulatedLimit, SimulatedLimits,
    SimulatedUser, StateChange, StateDump, StreamLine, UserLimit, UserLimits, UserLimitsSimulation,
    UserUsage, UtilizationBucket, Validation, message, to_json, to_json_indented,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

type Read = fn(&str) -> serde_json::Result<Vec<u8>>;

/// Every example with the body that it is one of.
const EXAMPLES: [(&str, Read); 31] = [
    ("application", again::<Application>),
    ("applications", again::<Vec<Application>>),
    ("clusters", again::<Vec<Cluster>>),
    ("config", again::<Config>),
    ("error", again::<ErrorBody>),
    ("events-batch", again::<EventBatch>),
    ("events-batch-empty", again::<EventBatch>),
    ("events-stream", again::<Vec<StreamLine>>),
    ("group", again::<GroupUsage>),
    ("groups", again::<Vec<GroupUsage>>),
    ("health", again::<Health>),
    ("history-apps", again::<Vec<ApplicationHistory>>),
    ("history-containers", again::<Vec<ContainerHistory>>),
    ("node", again::<Node>),
    ("node-utilizations", again::<Vec<PartitionNodesUtilization>>),
    ("nodes", again::<Vec<Node>>),
    ("partitions", again::<Vec<Partition>>),
    ("placementrules", again::<Vec<PlacementRule>>),
    ("queue", again::<Queue>),
    ("queues", again::<Queue>),
    ("simulated-limits", again::<SimulatedLimits>),
    ("state-dump", again::<StateDump>),
    ("user", again::<UserUsage>),
    ("user-limits", again::<UserLimits>),
    ("user-limits-off", again::<UserLimits>),
    ("user-limits-simulation", again::<UserLimitsSimulation>),
    ("users", again::<Vec<UserUsage>>),
    ("validate-conf-allowed", again::<Validation>),
    ("validate-conf-refused", again::<Validation>),
    ("escapes", again::<ErrorBody>),
    ("nothing", again::<Vec<Queue>>),
];

/// Read a body and write it.
fn again<T: DeserializeOwned + Serialize>(text: &str) -> serde_json::Result<Vec<u8>> {
    to_json_indented(&serde_json::from_str::<T>(text)?)
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wsv1")
}

#[test]
fn every_example_is_written_as_it_was_read() {
    for (name, again) in EXAMPLES {
        let text = fs::read_to_string(folder().join(format!("{name}.json"))).unwrap();
        let written = again(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(String::from_utf8(written).unwrap(), text, "{name}");
    }
}

#[test]
fn every_example_is_read() {
    let files: BTreeSet<_> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let read: BTreeSet<_> = EXAMPLES.iter().map(|(name, _)| format!("{name}.json")).collect();
    assert_eq!(files, read);
}

fn text<T: Serialize>(body: &T) -> String {
    String::from_utf8(to_json(body).unwrap()).unwrap()
}

/// The fields that are always sent, in their order; everything else is empty and left out.
#[test]
fn empty_fields_are_left_out_and_no_others() {
    for (written, expected) in [
        (text(&Cluster::default()), r#"{"partition":"","clusterName":""}"#),
        (
            text(&Partition::default()),
            concat!(
                r#"{"clusterId":"","name":"","capacity":{},"nodeSortingPolicy":{},"#,
                r#""preemptionEnabled":false,"quotaPreemptionEnabled":false}"#
            ),
        ),
        (
            text(&Queue::default()),
            concat!(
                r#"{"queuename":"","partition":"","isLeaf":false,"isManaged":false,"#,
                r#""currentPriority":0,"prioritySorting":false,"preemptionEnabled":false,"#,
                r#""isPreemptionFence":false,"isPriorityFence":false}"#
            ),
        ),
        (text(&QueueTemplate::default()), "{}"),
        (text(&Node::default()), r#"{"nodeID":"","schedulable":false,"isReserved":false}"#),
        (
            text(&Application::default()),
            concat!(
                r#"{"applicationID":"","partition":"","queueName":"","submissionTime":0,"#,
                r#""resourceHistory":{}}"#
            ),
        ),
        (text(&StateChange::default()), "{}"),
        (text(&PlaceholderData::default()), "{}"),
        (text(&Allocation::default()), r#"{"allocationKey":""}"#),
        (text(&ForeignAllocation::default()), r#"{"allocationKey":""}"#),
        (text(&Ask::default()), r#"{"allocationKey":""}"#),
        (text(&PlacementRule::default()), r#"{"name":""}"#),
        (text(&PlacementFilter::default()), r#"{"type":""}"#),
        (text(&UserUsage::default()), r#"{"userName":""}"#),
        (text(&GroupUsage::default()), r#"{"groupName":""}"#),
        (text(&QueueUsage::at("root.a")), r#"{"queuePath":"root.a","queuename":"root.a"}"#),
        (text(&ApplicationHistory::default()), "{}"),
        (text(&ContainerHistory::default()), "{}"),
        (
            text(&PartitionNodesUtilization::default()),
            r#"{"clusterId":"","partition":"","utilizations":[]}"#,
        ),
        (text(&UtilizationBucket::default()), "{}"),
        (text(&Health::default()), r#"{"Healthy":false}"#),
        (text(&HealthCheck::default()), r#"{"Succeeded":false}"#),
        (
            text(&EventBatch::default()),
            r#"{"InstanceUUID":"","LowestID":0,"HighestID":0,"EventRecords":null}"#,
        ),
        (text(&EventRecord::default()), "{}"),
        (
            text(&EventRecord { resource: Some(EventResource::default()), ..Default::default() }),
            r#"{"resource":{}}"#,
        ),
        (text(&Validation::default()), r#"{"allowed":false}"#),
        (text(&ErrorBody::default()), r#"{"status_code":0}"#),
        (text(&StateDump::default()), "{}"),
        (text(&PartitionNodes::default()), r#"{"partitionName":""}"#),
        (text(&PartitionRules::default()), r#"{"partition":""}"#),
        (text(&EventStream::default()), "{}"),
    ] {
        assert_eq!(written, format!("{expected}\n"));
    }
}

#[test]
fn empty_fields_of_the_configuration_are_left_out_and_no_others() {
    for (written, expected) in [
        (
            text(&Config::default()),
            concat!(
                r#"{"Partitions":[],"DeadlockDetectionEnabled":false,"#,
                r#""DeadlockTimeoutSeconds":0}"#
            ),
        ),
        (
            text(&ConfigPartition::default()),
            concat!(
                r#"{"Name":"","Queues":[],"Preemption":{},"NodeSortPolicy":{"Type":""},"#,
                r#""UserGroupResolver":{}}"#
            ),
        ),
        (
            text(&ConfigQueue::default()),
            r#"{"Name":"","Resources":{},"ChildTemplate":{"Resources":{}}}"#,
        ),
        (text(&ChildTemplate::default()), r#"{"Resources":{}}"#),
        (text(&ConfigPlacementRule::default()), r#"{"Name":"","Filter":{"Type":""}}"#),
        (text(&ConfigFilter::default()), r#"{"Type":""}"#),
        (text(&ConfigLimit::default()), r#"{"Limit":""}"#),
        (text(&ConfigUserGroupResolver::default()), "{}"),
    ] {
        assert_eq!(written, format!("{expected}\n"));
    }
}

#[test]
fn empty_fields_of_user_limits_are_left_out_and_no_others() {
    let limits = [
        (
            text(&UserLimits::default()),
            r#"{"queuePath":"","partition":"","enabled":false,"users":[]}"#,
        ),
        (
            text(&UserLimit::default()),
            concat!(
                r#"{"user":"","softShare":{},"hardCap":{},"limit":{},"used":{},"headroom":{},"#,
                r#""active":false,"weight":0,"runningApps":0}"#
            ),
        ),
        (text(&UserLimitsSimulation::default()), "{}"),
        (text(&SimulatedUser::default()), r#"{"user":""}"#),
        (
            text(&SimulatedLimit::default()),
            concat!(
                r#"{"user":"","active":false,"weight":0,"used":{},"r":{},"q":{},"whole":{},"a":{},"#,
                r#""b":{},"soft":{},"hard":{},"limit":{},"#,
                r#""admitted":{"progress":false,"strict":false,"overshoot":false}}"#
            ),
        ),
    ];
    for (written, expected) in limits {
        assert_eq!(written, format!("{expected}\n"));
    }
}

#[test]
fn zero_is_kept_where_it_is_no_absence() {
    let ask = Ask { priority: Some(IntegerText(0)), ..Ask::default() };
    assert_eq!(text(&ask), "{\"allocationKey\":\"\",\"priority\":\"0\"}\n");
    let ask = Ask { resource: [("vcore", 0)].into_iter().collect(), ..Ask::default() };
    assert_eq!(text(&ask), "{\"allocationKey\":\"\",\"resource\":{\"vcore\":0}}\n");
    let ended = Application { finished_time: Some(0), ..Application::default() };
    assert!(text(&ended).contains("\"finishedTime\":0"));
}

#[test]
fn nothing_at_all_is_read_as_an_empty_list_where_the_reference_sends_it() {
    for body in ["null", "[]"] {
        let mut reader = serde_json::Deserializer::from_str(body);
        assert_eq!(PartitionNodesUtilization::list(&mut reader).unwrap(), []);
    }
    let without = r#"{"clusterId":"rm","partition":"default"}"#;
    let read: PartitionNodesUtilization = serde_json::from_str(without).unwrap();
    assert_eq!(read.utilizations, []);
}

#[test]
fn a_field_that_is_always_sent_is_missed() {
    for (body, field) in [
        (r#"{"userName":"sue","queues":{}}"#, "queuePath"),
        (r#"{"queues":{"queuePath":"root"}}"#, "userName"),
    ] {
        let missed = serde_json::from_str::<UserUsage>(body).unwrap_err().to_string();
        assert!(missed.starts_with(&format!("missing field `{field}`")), "{body}: {missed}");
    }
    let list = serde_json::from_str::<UserUsage>(r#"{"userName":"sue","groups":[]}"#);
    let wrong = list.unwrap_err().to_string();
    assert!(wrong.starts_with("invalid type: sequence, expected a map"), "{wrong}");
    let batch = serde_json::from_str::<EventBatch>(r#"{"InstanceUUID":"","LowestID":0}"#);
    let missed = batch.unwrap_err().to_string();
    assert!(missed.starts_with("missing field `HighestID`"), "{missed}");
}

#[test]
fn unknown_fields_are_passed_over() {
    let newer = r#"{"userName":"sue","mood":"fine"}"#;
    let read: UserUsage = serde_json::from_str(newer).unwrap();
    assert_eq!(read, UserUsage { user_name: "sue".into(), ..UserUsage::default() });
}

#[test]
fn an_error_says_the_same_twice() {
    let error = ErrorBody::new(404, message::PARTITION_NOT_FOUND);
    let example = fs::read_to_string(folder().join("error.json")).unwrap();
    assert_eq!(error, serde_json::from_str(&example).unwrap());
}
