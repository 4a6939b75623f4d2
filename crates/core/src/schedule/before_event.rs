//! State captured before an event, so that the indexes can follow its effects.

use alloc::boxed::Box;

use smallvec::SmallVec;

use crate::books::{Allocation, Books};
use crate::event::AskTraits;
use crate::id::{AllocationId, ApplicationId, LevelId, NodeId, PartitionId, QueueId};
use crate::name::Name;

use super::class::AskBatchId;
use super::holds::HoldBefore;
use super::placement_mode::PlacementMode;

/// State captured before an event.
#[derive(Clone, Default)]
pub(super) struct BeforeEvent {
    /// Ask that the event adds or resizes.
    pub(super) ask: Option<AllocationId>,
    /// Placement mode of the ask of a question or an answer.
    pub(super) mode: Option<PlacementMode>,
    /// Batch from which the event removes an ask. `None` if the batch becomes empty.
    pub(super) batch: Option<AskBatchId>,
    pub(super) application: Option<ApplicationId>,
    pub(super) queue: Option<QueueId>,
    pub(super) node: Option<NodeId>,
    pub(super) partition: Option<PartitionId>,
    /// Another node that gains free capacity through the event.
    pub(super) freed: Option<NodeId>,
    /// Task group of a placeholder that is added or removed, and whether the group had placeholders before.
    pub(super) group: Option<(usize, bool)>,
    /// Levels of the trackers of the application. The event can remove some of them.
    pub(super) levels: SmallVec<[LevelId; 16]>,
    /// User of the application, if active applications are counted.
    pub(super) user: Option<Name>,
    /// Leaf of which the event changes only sizes that tags can set.
    pub(super) sized: Option<QueueId>,
    /// Hold of the ask of the event.
    pub(super) hold: Option<Box<HoldBefore>>,
}

pub(super) fn capture(books: &Books, application: ApplicationId) -> BeforeEvent {
    let row = books.application(application);
    BeforeEvent {
        application: Some(application),
        // An ended application is stored longer than a queue that a placement rule created for it.
        queue: row.state.is_active().then_some(row.queue),
        partition: Some(row.partition),
        // The leaf can have become a parent or can be removed, so the user is captured here.
        user: books.counts_applications().then(|| row.user.clone()),
        ..BeforeEvent::default()
    }
}

pub(super) fn see_added(
    books: &Books,
    application: ApplicationId,
    traits: &AskTraits,
) -> BeforeEvent {
    let name = traits.task_group.as_ref().filter(|_| traits.placeholder);
    let group = name.map(|name| group_named(books, application, name));
    let ask = Some(books.allocations().next_id());
    BeforeEvent { ask, application: Some(application), group, ..BeforeEvent::default() }
}

/// Returns the task group of a placeholder, and whether it has replaceable placeholders.
pub(super) fn group_of(books: &Books, row: &Allocation) -> Option<(usize, bool)> {
    let name = row.task_group().filter(|_| row.placeholder)?;
    Some(group_named(books, row.application, name))
}

/// Returns the position of a task group, and whether it has replaceable placeholders. A new group has the next
/// position.
fn group_named(books: &Books, application: ApplicationId, name: &Name) -> (usize, bool) {
    let Some(gang) = &books.application(application).gang else { return (0, false) };
    let known =
        gang.group(name).map(|(place, group)| (place, group.has_replaceable_placeholders()));
    known.unwrap_or((gang.groups.len(), false))
}
