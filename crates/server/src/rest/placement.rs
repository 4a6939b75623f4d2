//! Placement rules.

use headroom_api::wsv1::PlacementRule;
use headroom_core::id::PartitionId;
use headroom_core::view::rules;

use crate::convert::placement::rule;

use super::refusal::Answer;
use super::request::{RestRequest, Seen};

pub(crate) async fn get_placement_rules(asked: RestRequest) -> Answer {
    let partition = asked.parameter("partition").to_owned();
    asked.object(move |seen| Ok(placement_rules(seen, seen.partition(&partition)?))).await
}

/// Returns the placement rules of a partition, in their order.
pub(crate) fn placement_rules(seen: &Seen, partition: PartitionId) -> Vec<PlacementRule> {
    rules(seen.books(), partition).iter().map(rule).collect()
}
