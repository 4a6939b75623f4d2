//! Partitions.

use headroom_api::wsv1::Partition;
use headroom_core::view::PartitionView;

use crate::convert::partition;

use super::refusal::Answer;
use super::request::{RestRequest, Seen};

pub(crate) async fn get_partitions(asked: RestRequest) -> Answer {
    // Clients wait for a partition, and then expect the recovered applications.
    let is_recovering = asked.rest.rm_metadata.manager().is_some_and(|one| one.is_recovering);
    asked.object(move |seen| Ok(if is_recovering { Vec::new() } else { partitions(seen) })).await
}

/// Returns the visible partitions. Totals are included if they are visible.
pub(crate) fn partitions(seen: &Seen) -> Vec<Partition> {
    let manager = seen.rest.rm_metadata.manager().map(|manager| manager.id).unwrap_or_default();
    let books = seen.books();
    let show = |id| {
        let view = PartitionView::of(books, id);
        if seen.sight.sees_totals(books, id) {
            partition::partition(&view, &manager)
        } else {
            partition::named(&view, &manager)
        }
    };
    seen.partitions().into_iter().map(show).collect()
}
