//! `si.v1`, as published.

use prost::Message as _;
use prost_types::FileDescriptorSet;

use super::shape::{enumerations, fields, lines, methods, package};

const FIELDS: &str = "
    RegisterResourceManagerRequest 1 rmID string
    RegisterResourceManagerRequest 2 version string
    RegisterResourceManagerRequest 3 policyGroup string
    RegisterResourceManagerRequest 4 buildInfo map<string,string>
    RegisterResourceManagerRequest 5 config string
    RegisterResourceManagerRequest 6 extraConfig map<string,string>
    RegisterResourceManagerResponse empty
    UpdateConfigurationRequest 2 rmID string
    UpdateConfigurationRequest 3 policyGroup string
    UpdateConfigurationRequest 4 config string
    UpdateConfigurationRequest 5 extraConfig map<string,string>
    UpdateConfigurationRequest - 1
    UpdateConfigurationRequest - configs
    AllocationRequest 2 releases si.v1.AllocationReleasesRequest
    AllocationRequest 3 rmID string
    AllocationRequest 4 allocations rep si.v1.Allocation
    AllocationRequest - 1
    AllocationRequest - asks
    AllocationReleasesRequest 1 allocationsToRelease rep si.v1.AllocationRelease
    AllocationReleasesRequest - 2
    AllocationReleasesRequest - allocationAsksToRelease
    ApplicationRequest 1 new rep si.v1.AddApplicationRequest
    ApplicationRequest 2 remove rep si.v1.RemoveApplicationRequest
    ApplicationRequest 3 rmID string
    NodeRequest 1 nodes rep si.v1.NodeInfo
    NodeRequest 2 rmID string
    AllocationResponse 1 new rep si.v1.Allocation
    AllocationResponse 2 released rep si.v1.AllocationRelease
    AllocationResponse 5 rejectedAllocations rep si.v1.RejectedAllocation
    AllocationResponse - 3
    AllocationResponse - 4
    AllocationResponse - releasedAsks
    AllocationResponse - rejected
    ApplicationResponse 1 rejected rep si.v1.RejectedApplication
    ApplicationResponse 2 accepted rep si.v1.AcceptedApplication
    ApplicationResponse 3 updated rep si.v1.UpdatedApplication
    NodeResponse 1 rejected rep si.v1.RejectedNode
    NodeResponse 2 accepted rep si.v1.AcceptedNode
    Resource 1 resources map<string,si.v1.Quantity>
    Quantity 1 value int64
    UserGroupInformation 1 user string
    UserGroupInformation 2 groups rep string
    PreemptionPolicy 1 allowPreemptSelf bool
    PreemptionPolicy 2 allowPreemptOther bool
    AddApplicationRequest 1 applicationID string
    AddApplicationRequest 2 queueName string
    AddApplicationRequest 3 partitionName string
    AddApplicationRequest 4 ugi si.v1.UserGroupInformation
    AddApplicationRequest 5 tags map<string,string>
    AddApplicationRequest 6 executionTimeoutMilliSeconds int64
    AddApplicationRequest 7 placeholderAsk si.v1.Resource
    AddApplicationRequest 8 gangSchedulingStyle string
    RemoveApplicationRequest 1 applicationID string
    RemoveApplicationRequest 2 partitionName string
    AcceptedApplication 1 applicationID string
    RejectedApplication 1 applicationID string
    RejectedApplication 2 reason string
    UpdatedApplication 1 applicationID string
    UpdatedApplication 2 state string
    UpdatedApplication 3 stateTransitionTimestamp int64
    UpdatedApplication 4 message string
    Allocation 1 allocationKey string
    Allocation 2 allocationTags map<string,string>
    Allocation 5 resourcePerAlloc si.v1.Resource
    Allocation 6 priority int32
    Allocation 8 nodeID string
    Allocation 9 applicationID string
    Allocation 10 partitionName string
    Allocation 11 taskGroupName string
    Allocation 12 placeholder bool
    Allocation 14 originator bool
    Allocation 15 preemptionPolicy si.v1.PreemptionPolicy
    Allocation - 3
    Allocation - 7
    Allocation - 13
    Allocation - UUID
    Allocation - queueName
    Allocation - allocationID
    AllocationRelease 1 partitionName string
    AllocationRelease 2 applicationID string
    AllocationRelease 4 terminationType si.v1.TerminationType
    AllocationRelease 5 message string
    AllocationRelease 6 allocationKey string
    AllocationRelease - 3
    AllocationRelease - 7
    AllocationRelease - UUID
    AllocationRelease - allocationID
    RejectedAllocation 1 allocationKey string
    RejectedAllocation 2 applicationID string
    RejectedAllocation 3 reason string
    NodeInfo 1 nodeID string
    NodeInfo 2 action si.v1.NodeInfo.ActionFromRM
    NodeInfo 3 attributes map<string,string>
    NodeInfo 4 schedulableResource si.v1.Resource
    NodeInfo - 5
    NodeInfo - 6
    NodeInfo - occupiedResource
    NodeInfo - existingAllocations
    AcceptedNode 1 nodeID string
    RejectedNode 1 nodeID string
    RejectedNode 2 reason string
    PredicatesArgs 1 allocationKey string
    PredicatesArgs 2 nodeID string
    PredicatesArgs 3 allocate bool
    PreemptionPredicatesArgs 1 allocationKey string
    PreemptionPredicatesArgs 2 nodeID string
    PreemptionPredicatesArgs 3 preemptAllocationKeys rep string
    PreemptionPredicatesArgs 4 startIndex int32
    PreemptionPredicatesResponse 1 success bool
    PreemptionPredicatesResponse 2 index int32
    UpdateContainerSchedulingStateRequest 1 applicationID string
    UpdateContainerSchedulingStateRequest 2 allocationKey string
    UpdateContainerSchedulingStateRequest 3 state si.v1.UpdateContainerSchedulingStateRequest.SchedulingState
    UpdateContainerSchedulingStateRequest 4 reason string
    EventRecord 1 type si.v1.EventRecord.Type
    EventRecord 2 objectID string
    EventRecord 5 message string
    EventRecord 6 timestampNano int64
    EventRecord 7 eventChangeType si.v1.EventRecord.ChangeType
    EventRecord 8 eventChangeDetail si.v1.EventRecord.ChangeDetail
    EventRecord 9 referenceID string
    EventRecord 10 resource si.v1.Resource
    EventRecord - 3
    EventRecord - 4
    EventRecord - groupID
    EventRecord - reason
";

const METHODS: &str = "
    Scheduler.RegisterResourceManager si.v1.RegisterResourceManagerRequest -> si.v1.RegisterResourceManagerResponse
    Scheduler.UpdateAllocation stream si.v1.AllocationRequest -> stream si.v1.AllocationResponse
    Scheduler.UpdateApplication stream si.v1.ApplicationRequest -> stream si.v1.ApplicationResponse
    Scheduler.UpdateNode stream si.v1.NodeRequest -> stream si.v1.NodeResponse
";

const ENUMERATIONS: [(&str, &[(i32, &str)]); 6] = [
    (
        "TerminationType",
        &[
            (0, "UNKNOWN_TERMINATION_TYPE"),
            (1, "STOPPED_BY_RM"),
            (2, "TIMEOUT"),
            (3, "PREEMPTED_BY_SCHEDULER"),
            (4, "PLACEHOLDER_REPLACED"),
        ],
    ),
    (
        "NodeInfo.ActionFromRM",
        &[
            (0, "UNKNOWN_ACTION_FROM_RM"),
            (1, "CREATE"),
            (2, "UPDATE"),
            (3, "DRAIN_NODE"),
            (4, "DECOMISSION"),
            (5, "DRAIN_TO_SCHEDULABLE"),
            (6, "CREATE_DRAIN"),
        ],
    ),
    (
        "UpdateContainerSchedulingStateRequest.SchedulingState",
        &[
            (0, "UNKNOWN_SCHEDULING_STATE"),
            (1, "SKIPPED"),
            (2, "SCHEDULED"),
            (3, "RESERVED"),
            (4, "FAILED"),
        ],
    ),
    (
        "EventRecord.Type",
        &[
            (0, "UNKNOWN_EVENTRECORD_TYPE"),
            (1, "REQUEST"),
            (2, "APP"),
            (3, "NODE"),
            (4, "QUEUE"),
            (5, "USERGROUP"),
        ],
    ),
    ("EventRecord.ChangeType", &[(0, "NONE"), (1, "SET"), (2, "ADD"), (3, "REMOVE")]),
    ("EventRecord.ChangeDetail", CHANGE_DETAILS),
];

const CHANGE_DETAILS: &[(i32, &str)] = &[
    (0, "DETAILS_NONE"),
    (100, "REQUEST_CANCEL"),
    (101, "REQUEST_ALLOC"),
    (102, "REQUEST_TIMEOUT"),
    (200, "APP_ALLOC"),
    (201, "APP_REQUEST"),
    (202, "APP_REJECT"),
    (203, "APP_NEW"),
    (204, "APP_ACCEPTED"),
    (206, "APP_RUNNING"),
    (207, "APP_COMPLETING"),
    (208, "APP_COMPLETED"),
    (209, "APP_FAILING"),
    (210, "APP_FAILED"),
    (211, "APP_RESUMING"),
    (212, "APP_EXPIRED"),
    (213, "APP_CANNOTRUN_QUEUE"),
    (214, "APP_RUNNABLE_QUEUE"),
    (215, "APP_CANNOTRUN_QUOTA"),
    (216, "APP_RUNNABLE_QUOTA"),
    (300, "NODE_DECOMISSION"),
    (302, "NODE_SCHEDULABLE"),
    (303, "NODE_ALLOC"),
    (304, "NODE_CAPACITY"),
    (305, "NODE_OCCUPIED"),
    (306, "NODE_RESERVATION"),
    (400, "QUEUE_CONFIG"),
    (401, "QUEUE_DYNAMIC"),
    (402, "QUEUE_TYPE"),
    (403, "QUEUE_MAX"),
    (404, "QUEUE_GUARANTEED"),
    (405, "QUEUE_APP"),
    (406, "QUEUE_ALLOC"),
    (407, "QUEUE_PREEMPTION"),
    (500, "ALLOC_CANCEL"),
    (501, "ALLOC_PREEMPT"),
    (502, "ALLOC_TIMEOUT"),
    (503, "ALLOC_REPLACED"),
    (504, "ALLOC_NODEREMOVED"),
    (600, "UG_USER_LIMIT"),
    (601, "UG_GROUP_LIMIT"),
    (602, "UG_APP_LINK"),
    (603, "UG_USER_RESOURCE"),
    (604, "UG_GROUP_RESOURCE"),
];

#[test]
fn fields_have_the_published_names_numbers_and_types() {
    assert_eq!(fields(&package("si.v1")), lines(FIELDS));
}

#[test]
fn methods_have_the_published_names_and_streams() {
    assert_eq!(methods(&package("si.v1")), lines(METHODS));
}

#[test]
fn enumerations_have_the_published_values() {
    let found = enumerations(&package("si.v1"));
    assert_eq!(found.len(), ENUMERATIONS.len());
    for (name, expected) in ENUMERATIONS {
        let values: Vec<_> =
            found[name].value.iter().map(|value| (value.number(), value.name())).collect();
        assert_eq!(values, expected, "{name}");
    }
}

#[test]
fn details_that_are_gone_stay_reserved() {
    let found = enumerations(&package("si.v1"));
    let details = &found["EventRecord.ChangeDetail"];
    let ranges: Vec<_> =
        details.reserved_range.iter().map(|range| (range.start(), range.end())).collect();
    assert_eq!(ranges, [(205, 205), (301, 301)]);
    assert_eq!(details.reserved_name, ["APP_STARTING", "NODE_READY"]);
}

#[test]
fn secrets_are_marked_by_the_published_extension() {
    let extensions = package("si.v1").extension;
    let [secret] = &extensions[..] else { panic!("one extension, not {extensions:?}") };
    assert_eq!((secret.name(), secret.number()), ("si_secret", 1059));
    assert_eq!(secret.extendee(), ".google.protobuf.FieldOptions");
    assert_eq!(format!("{:?}", secret.r#type()), "Bool");
}

#[test]
fn descriptors_are_whole() {
    let set = FileDescriptorSet::decode(headroom_api::si::DESCRIPTORS).unwrap();
    let names: Vec<_> = set.file.iter().map(|file| file.name().to_owned()).collect();
    for file in &set.file {
        for needed in &file.dependency {
            assert!(names.contains(needed), "{} needs {needed}", file.name());
        }
    }
}
