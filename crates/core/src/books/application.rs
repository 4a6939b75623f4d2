//! One application: its user, its asks and allocations, and its state.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;

use smallvec::SmallVec;

use crate::id::{AllocationId, ApplicationId, PartitionId, QueueId};
use crate::name::Name;
use crate::resource::Resources;
use crate::time::{Millis, Timestamp};

use super::ask_order::AskOrder;
use super::deadline::Deadline;
use super::gang::Gang;
use super::lifetime::Lifetime;
use super::link::{TrackerLink, UnchargedToGroup};
use super::meter::Metered;
use super::priority::AskPriorities;
use super::task::Task;
use super::usage::Usage;

/// Time for which an ended or rejected application is stored. Source: scheduling §3.5.
pub const REMEMBERED_FOR: Millis = Millis::from_secs(72 * 3_600);

/// State of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ApplicationState {
    /// Submitted, without asks.
    New,
    /// Has asks, and has had no allocation.
    Accepted,
    /// Has had an allocation, and is not finished.
    Running,
    /// Has no asks and no allocations, and can continue for a while.
    Completing,
    /// Finished. Stored for a while.
    Completed,
    /// Its gang was not complete in time. Its allocations are stopped, and then it starts again.
    Resuming,
    /// About to fail. Its allocations are stopped first.
    Failing,
    /// Failed. Stored for a while.
    Failed,
}

impl ApplicationState {
    /// Returns whether the life cycle has a transition from this state to `next`. Source: scheduling §3.1.
    pub const fn may_become(self, next: Self) -> bool {
        use ApplicationState::{
            Accepted, Completed, Completing, Failed, Failing, New, Resuming, Running,
        };
        matches!(
            (self, next),
            (New, Accepted | Resuming | Failing)
                | (Accepted, Running | Completing | Resuming | Failing)
                | (Running, Completing | Failing)
                | (Completing, Running | Completed)
                | (Resuming, Accepted)
                | (Failing, Failed)
        )
    }

    /// Returns the next state after an ask or an allocation was added. `None` if the state does not change.
    pub const fn run(self) -> Option<Self> {
        match self {
            Self::New | Self::Resuming => Some(Self::Accepted),
            Self::Accepted | Self::Completing => Some(Self::Running),
            Self::Running | Self::Completed | Self::Failing | Self::Failed => None,
        }
    }

    /// Returns whether the application is in its queue and in the list of its partition.
    pub const fn is_active(self) -> bool {
        !matches!(self, Self::Completed | Self::Failed)
    }
}

impl fmt::Display for ApplicationState {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, out)
    }
}

/// States of an application so far, each with its start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct StateLog(
    #[cfg_attr(feature = "snapshot", serde(with = "crate::stored::few"))]
    SmallVec<[(Timestamp, ApplicationState); 4]>,
);

impl StateLog {
    /// Largest number of stored states.
    pub const REMEMBERED: usize = 64;

    /// Returns times and states, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (Timestamp, ApplicationState)> {
        self.0.iter().copied()
    }

    pub(super) fn push(&mut self, at: Timestamp, state: ApplicationState) {
        if self.0.len() == Self::REMEMBERED {
            self.0.remove(0);
        }
        self.0.push((at, state));
    }
}

/// One application.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Application {
    /// Partition of the application.
    pub partition: PartitionId,
    /// Application id, as submitted.
    pub name: Name,
    /// Leaf. After the application ended, the leaf might be removed.
    pub queue: QueueId,
    /// Path of the leaf.
    pub queue_path: Name,
    /// User that is charged.
    pub user: Name,
    /// Groups of the user at submission.
    pub groups: Arc<[Name]>,
    /// Time of submission, or the creation time of its oldest ask if that is earlier.
    pub submitted: Timestamp,
    /// Sequence number of the submission across partitions, which orders equal applications.
    pub number: u64,
    /// Current state.
    pub state: ApplicationState,
    /// Start of the current state.
    pub state_since: Timestamp,
    /// Time at which the timer of the state fires. `None` without a timer.
    pub timer: Option<Timestamp>,
    /// Time at which it last became Running.
    pub started: Option<Timestamp>,
    /// Past and current states, newest last. The oldest of very many states are dropped.
    pub state_log: StateLog,
    /// Trackers that count the application. `None` before its first check.
    pub link: Option<TrackerLink>,
    /// Whether its trackers count it as running, which begins with its first allocation.
    pub counted: bool,
    /// Whether it has an allocation before it is Running, so that its queues count it as running. Its state is
    /// Accepted, or Resuming and then Accepted again.
    pub allocating: bool,
    /// Gang. `None` if it has no gang and never had a placeholder.
    pub gang: Option<Box<Gang>>,
    /// End of its back-off, until which its asks are not checked.
    pub backed_off: Option<Timestamp>,
    /// Amounts that its group was not charged with. `None` unless it changed its group while it ran.
    pub(super) untold: Option<Box<UnchargedToGroup>>,
    /// Sum of its waiting asks, without types of amount zero.
    pub pending: Resources,
    /// Sum of its allocations with placeholders, without types of amount zero.
    pub allocated: Resources,
    /// Largest simultaneous usage of each type, of placeholders alone or of all other allocations. Updated at each
    /// placement, so growth of an allocation counts at the next placement, as in YuniKorn.
    pub peak: Resources,
    /// Accumulated usage of released allocations. `None` before the first release, and after the application ended.
    pub usage: Option<Arc<Usage>>,
    /// Number of waiting asks.
    pub ask_count: u32,
    /// Number of waiting asks that never borrow a node: originators and placeholders.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub homebound: u32,
    /// Number of members that are replacing placeholders.
    pub swap_count: u32,
    /// Number of asks with a reserved node.
    pub reservation_count: u32,
    /// Number of allocations.
    pub allocation_count: u32,
    /// Priorities of its waiting asks.
    pub(super) priorities: AskPriorities,
    /// Order of its asks and allocations, as far as new asks need it.
    pub(super) line: AskOrder,
    /// Newest ask or allocation, the start of the list.
    pub(super) first_allocation: Option<AllocationId>,
    pub(super) next_in_queue: Option<ApplicationId>,
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub(super) previous_in_queue: Option<ApplicationId>,
    /// Amounts that its driver counts as since its activation. `None` before, and if no activation is necessary.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub driver: Option<Box<Resources>>,
    /// Lifetime of the application.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub lifetime: Lifetime,
    /// Deadline of the application.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub deadline: Deadline,
    /// Number of times that it was overtaken as the head of line since its last placement.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub overtaken: u32,
    /// The application that did so last. `None` if none did, or if a journal before format 9 recorded it.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub overtaken_by: Option<Name>,
    /// Time at which it last gave up a reserved node, in a partition that limits reservations.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub(crate) reservation_ended: Option<Timestamp>,
    /// Task data, if it is a task of a tenant.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub task: Option<Box<Task>>,
    /// Usage over time, if it is charged to a tenant.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub metered: Option<Arc<Metered>>,
}

impl Application {
    /// Returns the highest priority of its waiting asks. `None` without waiting asks.
    #[inline]
    pub fn priority(&self) -> Option<i32> {
        self.priorities.highest()
    }

    /// Returns the usage and the number of its placeholders.
    pub fn placeholders(&self) -> (&Resources, u32) {
        static NOTHING: Resources = Resources::new();
        match &self.gang {
            Some(gang) => (&gang.placeholders, gang.placeholder_count),
            None => (&NOTHING, 0),
        }
    }

    /// Returns the usage of all allocations that are no placeholders, without types of amount zero.
    pub fn real(&self) -> Resources {
        match &self.gang {
            Some(gang) => self.allocated.minus(&gang.placeholders).pruned(),
            None => self.allocated.clone(),
        }
    }

    /// Returns whether a member of this task group must wait to replace a placeholder. Source: scheduling §10.2.
    pub fn waits_for_place(&self, task_group: &str) -> bool {
        let group = self.gang.as_ref().and_then(|gang| gang.group(task_group));
        group.is_some_and(|(_, group)| group.has_replaceable_placeholders())
    }

    /// Returns whether the application has not started: it has no allocation and is not about to end or restart. Also
    /// true for a task that waits again.
    pub const fn is_waiting(&self) -> bool {
        let starts = matches!(self.state, ApplicationState::New | ApplicationState::Accepted);
        starts && self.allocation_count == 0 || self.task.is_some() && self.ask_count > 0
    }

    /// Returns whether its group must be selected before its limits are checked.
    pub fn lacks_group(&self) -> bool {
        self.link.is_none_or(|link| link.group.is_undecided())
    }

    /// Returns the amounts that its group is charged with. `None` without a group.
    pub fn charged_to_group(&self) -> Option<Resources> {
        self.link?.group.level()?;
        Some(match &self.untold {
            None => self.allocated.clone(),
            Some(untold) => self.allocated.minus(&untold.amount).pruned(),
        })
    }

    /// Returns whether its group counts it as running.
    pub fn counted_by_group(&self) -> bool {
        let has_group = self.link.is_some_and(|link| link.group.level().is_some());
        has_group && self.untold.as_ref().map_or(self.counted, |untold| untold.counted)
    }
}

#[cfg(test)]
mod tests {
    use super::ApplicationState::{
        self, Accepted, Completed, Completing, Failed, Failing, New, Resuming, Running,
    };

    #[test]
    fn the_life_cycle_has_exactly_the_steps_of_its_table() {
        let all = [New, Accepted, Running, Completing, Completed, Resuming, Failing, Failed];
        let next_of = |state: ApplicationState| -> alloc::vec::Vec<ApplicationState> {
            all.into_iter().filter(|next| state.may_become(*next)).collect()
        };
        assert_eq!(next_of(New), [Accepted, Resuming, Failing]);
        assert_eq!(next_of(Accepted), [Running, Completing, Resuming, Failing]);
        assert_eq!(next_of(Running), [Completing, Failing]);
        assert_eq!(next_of(Completing), [Running, Completed]);
        assert_eq!(next_of(Completed), []);
        assert_eq!(next_of(Resuming), [Accepted]);
        assert_eq!(next_of(Failing), [Failed]);
        assert_eq!(next_of(Failed), []);
    }
}
