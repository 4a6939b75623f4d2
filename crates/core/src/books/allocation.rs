//! An ask, and the allocation that it becomes.

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

/// An ask while `node` is `None`, and an allocation afterwards: one object, as in the protocol.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
#[expect(clippy::struct_excessive_bools, reason = "each is one yes or no of the protocol")]
pub struct Allocation {
    /// Allocation key, unique in the partition.
    pub key: Name,
    /// Application of the ask.
    pub application: ApplicationId,
    /// Amounts and node selector.
    pub shape: ShapeId,
    /// Priority. A higher number is scheduled first.
    pub priority: i32,
    /// Creation time of the ask.
    pub created: Timestamp,
    /// Sequence number of the ask across partitions, which orders equal asks. Negative for an ask that precedes its
    /// equals.
    pub number: i64,
    /// Node of the allocation. `None` for an ask.
    pub node: Option<NodeId>,
    /// Time of the placement.
    pub placed: Timestamp,
    /// Whether it is the first ask of its application. An originator is preempted last.
    pub originator: bool,
    /// Whether it is a placeholder, which reserves capacity for a member of its task group.
    pub placeholder: bool,
    /// Whether other allocations can be preempted for it.
    pub may_preempt: bool,
    /// Whether it is a preferred victim of preemption. Other allocations are preempted later.
    pub preemptable: bool,
    /// Whether allocations were preempted for it. Happens at most once.
    pub preemption_triggered: bool,
    /// Whether the RM was informed that more nodes would help it. Happens at most once.
    pub scale_up_asked: bool,
    /// Whether it replaced a placeholder.
    pub took_place: bool,
    /// Requested stop of the allocation.
    pub mark: StopRequest,
    /// Fields that most asks do not have.
    pub(super) special: Option<Box<RareFields>>,
    pub(super) next_in_application: Option<AllocationId>,
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub(super) previous_in_application: Option<AllocationId>,
    pub(super) next_on_node: Option<AllocationId>,
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub(super) previous_on_node: Option<AllocationId>,
}

/// Fields that most asks and allocations do not have.
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
    /// Number of its holds that ended before it started.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub(super) holds_failed: u32,
}

/// Reservation of a node for an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Reservation {
    /// Reserved node.
    pub node: NodeId,
    /// Start of the reservation.
    pub since: Timestamp,
    /// Last release on the node, or the start of the reservation.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub nearer: Timestamp,
}

impl Reservation {
    /// Time without a release on the node after which another ask can reserve one. Source: no-starvation NS-12.
    const IN_VAIN_AFTER: Millis = Millis::from_secs(10 * 60);

    /// Returns the time from which it counts as in vain, unless an allocation on the node is released before.
    pub(crate) fn is_vain_at(self) -> Timestamp {
        // A reservation of an older journal has no last release.
        self.since.max(self.nearer) + Self::IN_VAIN_AFTER
    }
}

/// A failed preemption attempt for an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct PreemptionTry {
    /// Time of the attempt.
    pub at: Timestamp,
    /// [`Books::changes`] at that time.
    pub changes: u64,
}

impl PreemptionTry {
    /// Time between a failed attempt and the next one. Source: scheduling §11.2.
    pub const PAUSE: Millis = Millis::from_secs(15);
}

impl Books {
    /// Returns the properties that a waiting ask shares with the asks that are checked as one with it. `None` if it is
    /// checked by itself: it has a reserved node, or the RM was asked about it. Asks that never preempt are not excluded.
    pub(crate) fn equals_of(&self, ask: AllocationId) -> Option<(ShapeId, Equals)> {
        let row = self.allocation(ask);
        let application = self.application(row.application);
        let by_itself = row.reservation().is_some() || self.inquires(ask);
        let link = application.link.filter(|_| !by_itself)?;
        Some((row.shape, (application.queue, link, row.priority)))
    }

    /// Returns the last failed preemption attempt for an equal ask, or for this ask while it was checked with equal
    /// ones.
    pub(crate) fn try_of_equals(&self, ask: AllocationId) -> Option<PreemptionTry> {
        self.equals_of(ask).and_then(|(shape, equals)| self.shapes.tried(shape, equals))
    }

    /// Returns the last failed preemption attempt for an ask or for an equal one.
    pub fn last_try(&self, ask: AllocationId) -> Option<PreemptionTry> {
        self.allocation(ask).preemption_tried().max(self.try_of_equals(ask))
    }
}

impl Allocation {
    /// Returns whether it is a waiting ask.
    pub const fn is_pending(&self) -> bool {
        self.node.is_none()
    }

    /// Returns whether it is an allocation, which counts for its node, its queue, and its user.
    pub fn is_allocated(&self) -> bool {
        self.node.is_some() && !self.is_swapping()
    }

    /// Returns whether it can be preempted for an ask that needs `wanted`. `size` is its size for queues and users.
    /// Source: scheduling §11.3 and §11.7.
    pub(crate) fn is_eligible_victim(&self, size: &Resources, wanted: &Resources) -> bool {
        self.may_be_victim() && size.shares_type(wanted)
    }

    /// Returns whether it can be preempted at all, alone or with its gang.
    pub(crate) fn may_be_victim(&self) -> bool {
        self.is_allocated() && self.mark == StopRequest::None && self.required_node().is_none()
    }

    /// Returns whether it is a member that replaces a placeholder: no longer a waiting ask, and not yet an allocation.
    pub fn is_swapping(&self) -> bool {
        !self.placeholder && self.partner().is_some()
    }

    /// Returns whether it never borrows a node: it is an originator or a placeholder.
    pub(crate) const fn is_homebound(&self) -> bool {
        self.originator || self.placeholder
    }

    /// Returns whether it has no rare fields.
    #[inline]
    pub(crate) const fn has_only_common_fields(&self) -> bool {
        self.special.is_none()
    }

    /// Returns the task group of a placeholder or member.
    pub fn task_group(&self) -> Option<&Name> {
        self.special.as_ref()?.task_group.as_ref()
    }

    /// Returns the name of the required node.
    pub fn required_node(&self) -> Option<&Name> {
        self.special.as_ref()?.required_node.as_ref()
    }

    /// Returns the reservation of a node for it.
    pub fn reservation(&self) -> Option<Reservation> {
        self.special.as_ref()?.reservation
    }

    /// Returns the hold of queue capacity for it.
    pub fn hold(&self) -> Option<Hold> {
        self.special.as_ref()?.hold
    }

    /// Returns the number of its holds that ended before it started.
    pub(crate) fn holds_failed(&self) -> u32 {
        self.special.as_ref().map_or(0, |one| one.holds_failed)
    }

    /// Returns since when it waits for a hold: its creation, or the end of its last hold.
    pub(crate) fn waits_for_hold_since(&self) -> Timestamp {
        let ended = self.special.as_ref().and_then(|one| one.hold_ended);
        ended.map_or(self.created, |ended| ended.max(self.created))
    }

    /// Returns the other side of a placeholder replacement: the placeholder of a member, or the member of a
    /// placeholder.
    pub fn partner(&self) -> Option<AllocationId> {
        self.special.as_ref()?.partner
    }

    /// Returns the last failed preemption attempt for it.
    pub fn preemption_tried(&self) -> Option<PreemptionTry> {
        self.special.as_ref()?.preemption_tried
    }

    /// Returns the questions to the RM about it, and the answers.
    pub(super) fn inquiry(&self) -> Option<&Inquiry> {
        self.special.as_ref()?.inquiry.as_deref()
    }

    pub(super) fn special_mut(&mut self) -> &mut RareFields {
        self.special.get_or_insert_default()
    }

    /// Drops the rare fields if all of them are empty.
    pub(super) fn settle(&mut self) {
        if self.special.as_deref() == Some(&RareFields::default()) {
            self.special = None;
        }
    }
}
