//! Usage above a limit, which occurs after a maximum or limit was lowered, or an allocation was placed by hand.

use std::cmp::Reverse;

use headroom_api::headroomv1::OverLimit;
use headroom_core::books::Books;
use headroom_core::books::tracker::TrackerKind;
use headroom_core::id::{PartitionId, QueueId};
use headroom_core::resource::Resources;

use super::summary::LISTED_MAX;
use super::visible;
use crate::caller::Caller;

/// Returns queues, users, and groups whose usage exceeds a limit, the largest excess first.
pub(super) fn over_limit(
    books: &Books,
    caller: &Caller,
    partition: PartitionId,
    sees: &impl Fn(QueueId) -> bool,
) -> Vec<OverLimit> {
    let row = books.partition(partition);
    let mut found = Vec::new();
    for (path, id) in row.queues.iter().filter(|(_, id)| sees(**id)) {
        let queue = books.queue(*id);
        let over = excess(books, &queue.allocated, queue.max.as_ref());
        found.extend(over.map(|(resource, used, limit)| OverLimit {
            kind: "queue".to_owned(),
            name: path.to_string(),
            queue: None,
            resource,
            limit,
            used,
        }));
    }
    for queue in row.trackers.limited_queues() {
        for (_, level) in row.trackers.levels_at(queue) {
            let tracker = row.trackers.tracker(level.tracker);
            let kind = match tracker.kind {
                TrackerKind::User if visible::user_in(books, caller, &tracker.name, queue) => {
                    "user"
                }
                TrackerKind::Group if visible::everything(caller) => "group",
                TrackerKind::User | TrackerKind::Group => continue,
            };
            let used = level.used();
            let over = excess(books, &used, level.max());
            found.extend(over.map(|(resource, used, limit)| OverLimit {
                kind: kind.to_owned(),
                name: tracker.name.to_string(),
                queue: Some(books.queue(queue).path.to_string()),
                resource,
                limit,
                used,
            }));
        }
    }
    found.sort_by_key(|one| {
        (Reverse(i128::from(one.used) - i128::from(one.limit)), one.name.clone())
    });
    found.truncate(LISTED_MAX);
    found
}

/// Returns the types whose usage exceeds the limit: name, usage, limit.
fn excess(
    books: &Books,
    used: &Resources,
    max: Option<&Resources>,
) -> impl Iterator<Item = (String, i64, i64)> + use<> {
    let max = max.into_iter().flat_map(Resources::iter);
    let over = max.filter(|(resource, max)| used.get_or_zero(*resource) > *max);
    let named = over.map(|(resource, max)| {
        let name = books.types().name(resource).to_string();
        (name, used.get_or_zero(resource).get(), max.get())
    });
    named.collect::<Vec<_>>().into_iter()
}
