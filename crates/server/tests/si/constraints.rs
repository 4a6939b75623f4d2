//! Nodes that an ask may not or must have. Decision L-10.

use headroom_api::si::headroom::rm_message::Content as Ask;
use headroom_api::si::headroom::{Capabilities, NodeConstraint, RmMessage};
use headroom_api::si::v1::node_info::ActionFromRm;
use headroom_api::si::v1::{Allocation, AllocationRequest, NodeInfo, NodeRequest};

use crate::session::{SessionRm, application, new_keys};
use crate::support::{Rm, Server, ask, node};

fn labelled(id: &str, label: &str) -> NodeInfo {
    NodeInfo {
        attributes: [("headroom/label".to_owned(), label.to_owned())].into(),
        ..node(id, ActionFromRm::Create, 10)
    }
}

fn tagged(key: &str, tag: &str, value: &str) -> Allocation {
    Allocation {
        allocation_tags: [(tag.to_owned(), value.to_owned())].into(),
        ..ask("app", key, 1)
    }
}

/// Turn until so many keys are placed; with their nodes, by key.
async fn placed(server: &Server, count: usize) -> Vec<(String, String)> {
    let mut found = Vec::new();
    crate::support::until("everything is placed", async || {
        server.turn(1).await;
        let view = server.handle.views().at_least(0).await;
        let rows = view.books.allocations().iter();
        let on = rows.filter_map(|(_, row)| {
            let node = view.books.node(row.node?).name.to_string();
            Some((row.key.to_string(), node))
        });
        found = on.collect();
        found.len() >= count
    })
    .await;
    found.sort();
    found
}

/// Nothing more is placed, however long one waits.
async fn stays(server: &Server, count: usize) {
    for _ in 0..20 {
        server.turn(1).await;
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    assert_eq!(placed(server, count).await.len(), count);
}

#[tokio::test]
async fn tags_of_an_ask_say_which_nodes_it_may_have() {
    let server = Server::start().await;
    let mut rm = Rm::furnished(&server).await;
    let nodes = vec![labelled("n2", "ssd"), labelled("n3", "disk")];
    rm.nodes.send(NodeRequest { nodes, rm_id: "rm".into() });
    rm.nodes.next().await;
    rm.ask(vec![
        tagged("blocks", "headroom/blocked-nodes", "n1,n2"),
        tagged("labelled", "headroom/node-label", "ssd"),
        tagged("nowhere", "headroom/node-label", "tape"),
        ask("app", "anywhere", 1),
    ]);
    rm.states(1).await;
    let placed = placed(&server, 3).await;
    let of = |key: &str| placed.iter().find(|(one, _)| one == key).map(|(_, node)| &**node);
    assert_eq!((of("blocks"), of("labelled")), (Some("n3"), Some("n2")), "{placed:?}");
    assert!(of("anywhere").is_some());
    stays(&server, 3).await;
    // A node with that label comes.
    let nodes = vec![labelled("n4", "tape")];
    rm.nodes.send(NodeRequest { nodes, rm_id: "rm".into() });
    rm.nodes.next().await;
    let placed = self::placed(&server, 4).await;
    assert!(placed.contains(&("nowhere".to_owned(), "n4".to_owned())), "{placed:?}");
}

#[tokio::test]
async fn in_a_session_a_constraint_may_be_lifted() {
    let server = Server::start().await;
    let mut rm = SessionRm::on(&server, Capabilities::default()).await;
    rm.send(Ask::Node(NodeRequest { nodes: vec![labelled("n1", "disk")], rm_id: "rm".into() }));
    rm.send(application("app"));
    let send = |rm: &mut SessionRm, constraint: NodeConstraint| {
        rm.seq += 1;
        let request = AllocationRequest {
            allocations: vec![ask("app", "k1", 1)],
            ..AllocationRequest::default()
        };
        rm.pipe.send(RmMessage {
            seq: rm.seq,
            ack_seq: rm.processed,
            content: Some(Ask::Allocation(request)),
            node_constraints: [("k1".to_owned(), constraint)].into(),
        });
    };
    let ssd = NodeConstraint { node_label: "ssd".into(), ..NodeConstraint::default() };
    send(&mut rm, ssd);
    assert_eq!(new_keys(&rm.settled().await), [""; 0]);
    stays(&server, 0).await;
    send(&mut rm, NodeConstraint::default());
    rm.settled().await;
    assert_eq!(placed(&server, 1).await, [("k1".to_owned(), "n1".to_owned())]);
}
