//! Client and server of one interface understand each other, and a message gives known bytes.

use std::pin::Pin;

use headroom_api::si::headroom::{NodeConstraint, RmMessage, rm_message};
use headroom_api::si::v1::scheduler_client::SchedulerClient;
use headroom_api::si::v1::scheduler_server::{Scheduler, SchedulerServer};
use headroom_api::si::v1::{
    AcceptedNode, AllocationRelease, AllocationRequest, AllocationResponse, ApplicationRequest,
    ApplicationResponse, NodeInfo, NodeRequest, NodeResponse, Quantity,
    RegisterResourceManagerRequest, RegisterResourceManagerResponse, Resource, TerminationType,
    node_info::ActionFromRm,
};
use prost::Message as _;
use tonic::codegen::tokio_stream::{self, Stream, StreamExt as _};
use tonic::{Request, Response, Status, Streaming};

type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// Accepts every node, and nothing else.
struct Accepting;

#[tonic::async_trait]
impl Scheduler for Accepting {
    type UpdateAllocationStream = Answers<AllocationResponse>;
    type UpdateApplicationStream = Answers<ApplicationResponse>;
    type UpdateNodeStream = Answers<NodeResponse>;

    async fn register_resource_manager(
        &self,
        request: Request<RegisterResourceManagerRequest>,
    ) -> Result<Response<RegisterResourceManagerResponse>, Status> {
        match &*request.into_inner().rm_id {
            "" => Err(Status::invalid_argument("rmID is empty")),
            _ => Ok(Response::new(RegisterResourceManagerResponse {})),
        }
    }

    async fn update_allocation(
        &self,
        _: Request<Streaming<AllocationRequest>>,
    ) -> Result<Response<Self::UpdateAllocationStream>, Status> {
        Err(Status::unimplemented("allocations"))
    }

    async fn update_application(
        &self,
        _: Request<Streaming<ApplicationRequest>>,
    ) -> Result<Response<Self::UpdateApplicationStream>, Status> {
        Err(Status::unimplemented("applications"))
    }

    async fn update_node(
        &self,
        request: Request<Streaming<NodeRequest>>,
    ) -> Result<Response<Self::UpdateNodeStream>, Status> {
        let answers = request.into_inner().map(|request| {
            let accepted =
                request?.nodes.into_iter().map(|node| AcceptedNode { node_id: node.node_id });
            Ok(NodeResponse { rejected: Vec::new(), accepted: accepted.collect() })
        });
        Ok(Response::new(Box::pin(answers)))
    }
}

#[tokio::test]
async fn nodes_are_accepted_over_a_stream() {
    let mut client = SchedulerClient::new(SchedulerServer::new(Accepting));
    let node = |id: &str| NodeInfo { node_id: id.into(), ..NodeInfo::default() };
    let requests = [vec![node("n1"), node("n2")], vec![node("n3")]]
        .map(|nodes| NodeRequest { nodes, rm_id: "rm".into() });
    let answers = client.update_node(tokio_stream::iter(requests)).await.unwrap().into_inner();
    let accepted: Vec<Vec<String>> = answers
        .map(|answer| answer.unwrap().accepted.into_iter().map(|one| one.node_id).collect())
        .collect()
        .await;
    assert_eq!(accepted, [vec!["n1", "n2"], vec!["n3"]]);
}

#[tokio::test]
async fn a_refusal_arrives_as_a_status() {
    let mut client = SchedulerClient::new(SchedulerServer::new(Accepting));
    let request = RegisterResourceManagerRequest::default();
    let status = client.register_resource_manager(request).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::InvalidArgument);
}

#[test]
fn messages_give_the_bytes_of_the_published_numbers() {
    let quantity = |value| Quantity { value };
    let node = NodeInfo {
        node_id: "n".into(),
        action: ActionFromRm::CreateDrain.into(),
        attributes: [("k".into(), "v".into())].into(),
        schedulable_resource: Some(Resource {
            resources: [("b".into(), quantity(-1)), ("a".into(), quantity(300))].into(),
        }),
    };
    let bytes = [
        &b"\x0a\x01n\x10\x06\x1a\x06\x0a\x01k\x12\x01v\x22\x1c"[..],
        b"\x0a\x08\x0a\x01a\x12\x03\x08\xac\x02",
        b"\x0a\x10\x0a\x01b\x12\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    ];
    assert_eq!(node.encode_to_vec(), bytes.concat());

    let release = AllocationRelease {
        application_id: "a".into(),
        termination_type: TerminationType::PlaceholderReplaced.into(),
        allocation_key: "k".into(),
        ..AllocationRelease::default()
    };
    assert_eq!(release.encode_to_vec(), b"\x12\x01a\x20\x04\x32\x01k");
}

#[test]
fn a_session_carries_what_the_published_interface_has_no_field_for() {
    let constraint = NodeConstraint { blocked_nodes: vec!["n".into()], node_label: "ssd".into() };
    let message = RmMessage {
        seq: 1,
        content: Some(rm_message::Content::Allocation(AllocationRequest::default())),
        node_constraints: [("k".into(), constraint)].into(),
        ..RmMessage::default()
    };
    let bytes = b"\x08\x01\x62\x00\xa2\x01\x0d\x0a\x01k\x12\x08\x0a\x01n\x12\x03ssd";
    assert_eq!(message.encode_to_vec(), bytes);
    assert_eq!(RmMessage::decode(&bytes[..]).unwrap(), message);
}
