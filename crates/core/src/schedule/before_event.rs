//! What is remembered from before an event, so that what it changed can be followed.

use alloc::boxed::Box;

use smallvec::SmallVec;

use crate::books::{Allocation, Books};
use crate::event::AskTraits;
use crate::id::{AllocationId, ApplicationId, LevelId, NodeId, PartitionId, QueueId};
use crate::name::Name;

use super::class::AskBatchId;
use super::holds::HoldBefore;

/// What has to be remembered from before an event.
#[derive(Clone, Default)]
pub(super) struct BeforeEvent {
    /// The ask that the event adds, or gives another size.
    pub(super) ask: Option<AllocationId>,
    /// The batch that the event takes an ask from, if it has others.
    pub(super) batch: Option<AskBatchId>,
    pub(super) application: Option<ApplicationId>,
    pub(super) queue: Option<QueueId>,
    pub(super) node: Option<NodeId>,
    pub(super) partition: Option<PartitionId>,
    /// Another node that has more room afterwards.
    pub(super) freed: Option<NodeId>,
    /// The task group that a placeholder comes to or goes from, and whether it had places.
    pub(super) group: Option<(usize, bool)>,
    /// The levels of its trackers, of which some may disappear.
    pub(super) levels: SmallVec<[LevelId; 16]>,
    /// Who had the application, where applications are counted.
    pub(super) user: Option<Name>,
    /// The leaf of which the event changes no more than what tags can.
    pub(super) sized: Option<QueueId>,
    /// The hold that the ask of the event had.
    pub(super) hold: Option<Box<HoldBefore>>,
}

pub(super) fn capture(books: &Books, application: ApplicationId) -> BeforeEvent {
    let row = books.application(application);
    BeforeEvent {
        application: Some(application),
        // One that has ended is remembered longer than a queue that a rule made for it.
        queue: row.state.is_active().then_some(row.queue),
        partition: Some(row.partition),
        // Its leaf may be none any more.
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

/// The task group that a placeholder belongs to, and whether it has places.
pub(super) fn group_of(books: &Books, row: &Allocation) -> Option<(usize, bool)> {
    let name = row.task_group().filter(|_| row.placeholder)?;
    Some(group_named(books, row.application, name))
}

/// The position of a task group, the next if it is not there yet, and whether it has places.
fn group_named(books: &Books, application: ApplicationId, name: &Name) -> (usize, bool) {
    let Some(gang) = &books.application(application).gang else { return (0, false) };
    let known =
        gang.group(name).map(|(place, group)| (place, group.has_replaceable_placeholders()));
    known.unwrap_or((gang.groups.len(), false))
}
