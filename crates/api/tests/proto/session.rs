//! `headroom.si.v1`: our session and callbacks.
//!
//! A number that was ever released is never used for anything else.

use super::shape::{enumerations, fields, lines, methods, package};

const FIELDS: &str = "
    RmMessage 1 seq uint64
    RmMessage 2 ackSeq uint64
    RmMessage 10 register headroom.si.v1.Register of content
    RmMessage 11 application si.v1.ApplicationRequest of content
    RmMessage 12 allocation si.v1.AllocationRequest of content
    RmMessage 13 node si.v1.NodeRequest of content
    RmMessage 14 configuration si.v1.UpdateConfigurationRequest of content
    RmMessage 15 recoveryDone headroom.si.v1.RecoveryDone of content
    RmMessage 16 callbackReply headroom.si.v1.CallbackReply of content
    RmMessage 17 ping headroom.si.v1.Ping of content
    RmMessage 20 nodeConstraints map<string,headroom.si.v1.NodeConstraint>
    SchedulerMessage 1 seq uint64
    SchedulerMessage 2 ackSeq uint64
    SchedulerMessage 10 registered headroom.si.v1.Registered of content
    SchedulerMessage 11 application si.v1.ApplicationResponse of content
    SchedulerMessage 12 allocation si.v1.AllocationResponse of content
    SchedulerMessage 13 node si.v1.NodeResponse of content
    SchedulerMessage 14 configurationResult headroom.si.v1.ConfigurationResult of content
    SchedulerMessage 15 callbackRequest headroom.si.v1.CallbackRequest of content
    SchedulerMessage 16 events headroom.si.v1.EventBatch of content
    SchedulerMessage 17 containerState si.v1.UpdateContainerSchedulingStateRequest of content
    SchedulerMessage 18 requestError headroom.si.v1.RequestError of content
    SchedulerMessage 19 pong headroom.si.v1.Pong of content
    Register 1 manager si.v1.RegisterResourceManagerRequest
    Register 2 capabilities headroom.si.v1.Capabilities
    Register 3 skipRecovery bool
    Register 4 sessionToken string
    Registered 1 sessionToken string
    Registered 2 instanceUUID string
    Registered 3 resumed bool
    RecoveryDone empty
    NodeConstraint 1 blockedNodes rep string
    NodeConstraint 2 nodeLabel string
    ConfigurationResult 1 requestSeq uint64
    ConfigurationResult 2 error string
    RequestError 1 requestSeq uint64
    RequestError 2 code string
    RequestError 3 message string
    Ping 1 id uint64
    Pong 1 id uint64
    UpdateConfigurationResponse empty
    GetServerInfoRequest empty
    GetServerInfoResponse 1 version string
    GetServerInfoResponse 2 instanceUUID string
    GetServerInfoResponse 3 registeredRmIDs rep string
    CallbackRmMessage 1 attach headroom.si.v1.CallbackAttach of content
    CallbackRmMessage 2 reply headroom.si.v1.CallbackReply of content
    CallbackSchedulerMessage 1 request headroom.si.v1.CallbackRequest of content
    CallbackSchedulerMessage 2 events headroom.si.v1.EventBatch of content
    CallbackSchedulerMessage 3 containerState si.v1.UpdateContainerSchedulingStateRequest of content
    CallbackAttach 1 rmID string
    CallbackAttach 2 capabilities headroom.si.v1.Capabilities
    Capabilities 1 predicates bool
    Capabilities 2 preemptionPredicates bool
    Capabilities 3 events bool
    Capabilities 4 containerState bool
    Capabilities 5 stateDump bool
    Capabilities 6 predicatesCacheable bool
    Capabilities 7 questionsAtOnce uint32
    CallbackRequest 1 id uint64
    CallbackRequest 2 deadlineMs uint32
    CallbackRequest 10 predicatesBatch headroom.si.v1.PredicatesBatch of question
    CallbackRequest 11 preemptionPredicatesBatch headroom.si.v1.PreemptionPredicatesBatch of question
    CallbackRequest 12 stateDump headroom.si.v1.StateDumpRequest of question
    CallbackReply 1 id uint64
    CallbackReply 10 predicatesBatch headroom.si.v1.PredicatesVerdicts of answer
    CallbackReply 11 preemptionPredicatesBatch headroom.si.v1.PreemptionPredicatesVerdicts of answer
    CallbackReply 12 stateDump headroom.si.v1.StateDump of answer
    PredicatesBatch 1 allocationKey string
    PredicatesBatch 2 allocate bool
    PredicatesBatch 3 nodeIDs rep string
    PredicatesVerdicts 1 nodes rep headroom.si.v1.NodeVerdict
    NodeVerdict 1 nodeID string
    NodeVerdict 2 ok bool
    NodeVerdict 3 reason string
    PreemptionPredicatesBatch 1 candidates rep si.v1.PreemptionPredicatesArgs
    PreemptionPredicatesVerdicts 1 candidates rep si.v1.PreemptionPredicatesResponse
    StateDumpRequest empty
    StateDump 1 json string of outcome
    StateDump 2 error string of outcome
    EventBatch 1 records rep si.v1.EventRecord
";

const METHODS: &str = "
    Callbacks.Attach stream headroom.si.v1.CallbackRmMessage -> stream headroom.si.v1.CallbackSchedulerMessage
    SchedulerSession.GetServerInfo headroom.si.v1.GetServerInfoRequest -> headroom.si.v1.GetServerInfoResponse
    SchedulerSession.Session stream headroom.si.v1.RmMessage -> stream headroom.si.v1.SchedulerMessage
    SchedulerSession.UpdateConfiguration si.v1.UpdateConfigurationRequest -> headroom.si.v1.UpdateConfigurationResponse
";

#[test]
fn fields_keep_their_names_numbers_and_types() {
    assert_eq!(fields(&package("headroom.si.v1")), lines(FIELDS));
}

#[test]
fn methods_keep_their_names_and_streams() {
    assert_eq!(methods(&package("headroom.si.v1")), lines(METHODS));
    assert!(enumerations(&package("headroom.si.v1")).is_empty());
}
