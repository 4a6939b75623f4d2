//! Nodes, and their utilization.

use headroom_api::wsv1::{Node, PartitionNodesUtilization, message};
use headroom_core::id::{NodeId, PartitionId};
use headroom_core::view::{ForeignByNode, NodeView, node_buckets};

use crate::convert::node::node;
use crate::convert::node_utilization::utilization;

use super::refusal::{Answer, Refusal};
use super::request::{RestRequest, Seen};

pub(crate) async fn get_nodes(asked: RestRequest) -> Answer {
    let partition = asked.parameter("partition").to_owned();
    asked
        .list(move |seen| {
            let partition = seen.partition(&partition)?;
            Ok(nodes(seen, partition))
        })
        .await
}

pub(crate) async fn get_node(asked: RestRequest) -> Answer {
    let partition = asked.parameter("partition").to_owned();
    let name = asked.parameter("node").to_owned();
    let look = move |seen: &Seen| {
        let books = seen.books();
        let partition = seen.partition(&partition)?;
        let found = books.partition(partition).nodes.get(name.as_str());
        let found = found.ok_or_else(|| Refusal::missing(message::NODE_NOT_FOUND))?;
        Ok(node(&NodeView::of(books, *found), &*seen.rest.rm_metadata))
    };
    asked.object(look).await
}

pub(crate) async fn get_node_utilizations(asked: RestRequest) -> Answer {
    asked.object(|seen| Ok(node_utilizations(seen))).await
}

/// Returns the nodes of a partition by id, each created when it is read.
pub(crate) fn nodes(
    seen: Seen,
    partition: PartitionId,
) -> impl Iterator<Item = Node> + Send + 'static {
    let books = seen.books();
    let ids: Vec<NodeId> = books.partition(partition).nodes.iter().map(|(_, id)| *id).collect();
    let mut foreign = ForeignByNode::of(books, partition);
    ids.into_iter().map(move |id| {
        let view = NodeView::next_of(seen.books(), id, &mut foreign);
        node(&view, &*seen.rest.rm_metadata)
    })
}

fn node_utilizations(seen: &Seen) -> Vec<PartitionNodesUtilization> {
    let manager = seen.rest.rm_metadata.manager().map(|manager| manager.id).unwrap_or_default();
    let books = seen.books();
    let of = |id: PartitionId| {
        utilization(&manager, &books.partition(id).name, &node_buckets(books, id))
    };
    seen.partitions().into_iter().map(of).collect()
}
