//! One ask, and the allocation that it becomes.

use alloc::boxed::Box;

use crate::id::{AllocationId, ApplicationId, NodeId, ShapeId};
use crate::name::Name;
use crate::resource::Resources;
use crate::time::{Millis, Timestamp};

use super::Books;

use super::gang::StopRequest;
use super::hold::Hold;
use super::question::Inquiry;
use super::shape::Equals;

/// An ask while `node` is none, an allocation afterwards: one object, as in the protocol.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
#[expect(clippy::struct_excessive_bools, reason = "each is one yes or no of the protocol")]
pub struct Allocation {
    /// Allocation key, unique in the partition.
    pub key: Name,
    /// Whose.
    pub application: ApplicationId,
    /// How much.
    pub shape: ShapeId,
    /// Higher goes first.
    pub priority: i32,
    /// When the ask was made.
    pub created: Timestamp,
    /// Counts asks, across partitions; breaks ties. Below zero for one that goes in front of
    /// its equals.
    pub number: i64,
    /// Where it was placed.
    pub node: Option<NodeId>,
    /// When it was placed.
    pub placed: Timestamp,
    /// Whether it is the first of its application, which is taken back last.
    pub originator: bool,
    /// Whether it only holds room for a member of its task group.
    pub placeholder: bool,
    /// Whether others may be stopped for it.
    pub may_preempt: bool,
    /// Whether it offers itself to be stopped for others; if not, it goes later.
    pub preemptable: bool,
    /// Whether others were asked to stop for it, which happens once.
    pub preemption_triggered: bool,
    /// Whether the RM was informed that more nodes would help it, which happens once.
    pub scale_up_asked: bool,
    /// Whether it took the place of a placeholder.
    pub took_place: bool,
    /// What the RM was asked to do with it.
    pub mark: StopRequest,
    /// What most have nothing of.
    pub(super) special: Option<Box<RareFields>>,
    pub(super) next_in_application: Option<AllocationId>,
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub(super) previous_in_application: Option<AllocationId>,
    pub(super) next_on_node: Option<AllocationId>,
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub(super) previous_on_node: Option<AllocationId>,
}

/// What most asks and allocations have nothing of.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct RareFields {
    pub(super) task_group: Option<Name>,
    pub(super) required_node: Option<Name>,
    pub(super) reservation: Option<Reservation>,
    pub(super) partner: Option<AllocationId>,
    pub(super) preemption_tried: Option<PreemptionTry>,
    pub(super) inquiry: Option<Box<Inquiry>>,
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub(super) hold: Option<Hold>,
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub(super) hold_ended: Option<Timestamp>,
}

/// A node that is reserved for an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Reservation {
    /// Which.
    pub node: NodeId,
    /// Since when.
    pub since: Timestamp,
}

/// A try in vain to find something to stop for an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct PreemptionTry {
    /// When.
    pub at: Timestamp,
    /// [`Books::changes`] at that time.
    pub changes: u64,
}

impl PreemptionTry {
    /// How long after a try in vain the next one comes. Source: scheduling §11.2.
    pub const PAUSE: Millis = Millis::from_secs(15);
}

impl Books {
    /// What an ask that waits has in common with all that are judged as one with it; none where it is
    /// judged by itself: it has a node, or the RM is asked about it.
    pub(crate) fn equals_of(&self, ask: AllocationId) -> Option<(ShapeId, Equals)> {
        let row = self.allocation(ask);
        let application = self.application(row.application);
        let by_itself = row.reservation().is_some()
            || self.partition(application.partition).questions.is_some();
        let link = application.link.filter(|_| !by_itself)?;
        Some((row.shape, (application.queue, link, row.priority)))
    }

    /// The last try in vain to stop something for an ask that is equal to this one, or for itself while it
    /// was judged with these.
    pub(crate) fn try_of_equals(&self, ask: AllocationId) -> Option<PreemptionTry> {
        self.equals_of(ask).and_then(|(shape, equals)| self.shapes.tried(shape, equals))
    }

    /// The last try in vain to stop something for an ask, or for one that is equal to it.
    pub fn last_try(&self, ask: AllocationId) -> Option<PreemptionTry> {
        self.allocation(ask).preemption_tried().max(self.try_of_equals(ask))
    }
}

impl Allocation {
    /// Whether it still waits for room.
    pub const fn is_pending(&self) -> bool {
        self.node.is_none()
    }

    /// Whether it is an allocation: on its node, and counted for its queue and its user.
    pub fn is_allocated(&self) -> bool {
        self.node.is_some() && !self.is_swapping()
    }

    /// Whether it can be stopped for an ask that needs `wanted`; it counts as `size` for queues and users.
    /// Scheduling §11.3 and §11.7.
    pub(crate) fn is_eligible_victim(&self, size: &Resources, wanted: &Resources) -> bool {
        self.may_be_victim() && size.shares_type(wanted)
    }

    /// Whether it can be stopped for another ask at all, be that by itself or with its gang.
    pub(crate) fn may_be_victim(&self) -> bool {
        self.is_allocated() && self.mark == StopRequest::None && self.required_node().is_none()
    }

    /// Whether it is a member of a gang that is about to take the place of a placeholder: it
    /// waits no more, and is no allocation yet.
    pub fn is_swapping(&self) -> bool {
        !self.placeholder && self.partner().is_some()
    }

    /// Whether it is never lent a node: the first of its application, and what holds room for others.
    pub(crate) const fn is_homebound(&self) -> bool {
        self.originator || self.placeholder
    }

    /// Whether nothing is true of it that is not of most.
    #[inline]
    pub(crate) const fn has_only_common_fields(&self) -> bool {
        self.special.is_none()
    }

    /// The task group that it holds room for, or takes room from.
    pub fn task_group(&self) -> Option<&Name> {
        self.special.as_ref()?.task_group.as_ref()
    }

    /// The only node that it may run on.
    pub fn required_node(&self) -> Option<&Name> {
        self.special.as_ref()?.required_node.as_ref()
    }

    /// The node that is reserved for it.
    pub fn reservation(&self) -> Option<Reservation> {
        self.special.as_ref()?.reservation
    }

    /// The room that queues hold for it.
    pub fn hold(&self) -> Option<Hold> {
        self.special.as_ref()?.hold
    }

    /// Since when it counts as waiting for room to be held: since it was made, or since room was last held for it in
    /// vain.
    pub(crate) fn waits_for_hold_since(&self) -> Timestamp {
        let ended = self.special.as_ref().and_then(|one| one.hold_ended);
        ended.map_or(self.created, |ended| ended.max(self.created))
    }

    /// Of a member that is about to take the place of a placeholder, that; of a placeholder, the
    /// member.
    pub fn partner(&self) -> Option<AllocationId> {
        self.special.as_ref()?.partner
    }

    /// The last time that something to stop for it was looked for, in vain.
    pub fn preemption_tried(&self) -> Option<PreemptionTry> {
        self.special.as_ref()?.preemption_tried
    }

    /// What the RM was asked about it, and what it answered.
    pub(super) fn inquiry(&self) -> Option<&Inquiry> {
        self.special.as_ref()?.inquiry.as_deref()
    }

    pub(super) fn special_mut(&mut self) -> &mut RareFields {
        self.special.get_or_insert_default()
    }

    /// Forget what is nothing again.
    pub(super) fn settle(&mut self) {
        if self.special.as_deref() == Some(&RareFields::default()) {
            self.special = None;
        }
    }
}
