//! One application: whose it is, what it asks for and has, and where it stands in its life.

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

/// How long an application that has ended, or was rejected, is remembered. Source: scheduling
/// §3.5.
pub const REMEMBERED_FOR: Millis = Millis::from_secs(72 * 3_600);

/// Where an application stands in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ApplicationState {
    /// Submitted, nothing asked for yet.
    New,
    /// Asks for room, has none yet.
    Accepted,
    /// Has had an allocation, and is not done.
    Running,
    /// Has nothing and asks for nothing; it may come back for a while.
    Completing,
    /// Done; remembered for a while.
    Completed,
    /// Its gang was not complete in time; what it holds is stopped, and it starts again then.
    Resuming,
    /// It is to fail; what it holds is stopped first.
    Failing,
    /// It failed; remembered for a while.
    Failed,
}

impl ApplicationState {
    /// Whether the life cycle has a step from this state to that one. Source: scheduling §3.1.
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

    /// The state after it got something to do or to run: it runs one step further. None where
    /// that changes nothing.
    pub const fn run(self) -> Option<Self> {
        match self {
            Self::New | Self::Resuming => Some(Self::Accepted),
            Self::Accepted | Self::Completing => Some(Self::Running),
            Self::Running | Self::Completed | Self::Failing | Self::Failed => None,
        }
    }

    /// Whether the application is in its queue and in the list of its partition.
    pub const fn is_active(self) -> bool {
        !matches!(self, Self::Completed | Self::Failed)
    }
}

impl fmt::Display for ApplicationState {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, out)
    }
}

/// The states that an application was in, with the time when it entered each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct StateLog(
    #[cfg_attr(feature = "snapshot", serde(with = "crate::stored::few"))]
    SmallVec<[(Timestamp, ApplicationState); 4]>,
);

impl StateLog {
    /// How many are remembered.
    pub const REMEMBERED: usize = 64;

    /// Times and states, the oldest first.
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
    /// Its partition.
    pub partition: PartitionId,
    /// Application id, as submitted.
    pub name: Name,
    /// Its leaf queue; that of one that has ended may be gone.
    pub queue: QueueId,
    /// The path of its leaf queue.
    pub queue_path: Name,
    /// Who is charged.
    pub user: Name,
    /// The user's groups at submission.
    pub groups: Arc<[Name]>,
    /// When it was submitted, or its oldest ask was made if that is earlier.
    pub submitted: Timestamp,
    /// Counts submissions, across partitions; breaks ties.
    pub number: u64,
    /// Where it stands.
    pub state: ApplicationState,
    /// Since when.
    pub state_since: Timestamp,
    /// When the timer of its state fires, if it has one.
    pub timer: Option<Timestamp>,
    /// When it last entered Running.
    pub started: Option<Timestamp>,
    /// The states that it was in so far, the newest last; the oldest of very many are forgotten.
    pub state_log: StateLog,
    /// The trackers that count for it; none before the scheduler first looked at it.
    pub link: Option<TrackerLink>,
    /// Whether its trackers count it as running: from its first allocation on.
    pub counted: bool,
    /// Whether it has got something before it runs, so that its queues count it as if it ran. It
    /// is Accepted, or Resuming and Accepted again.
    pub allocating: bool,
    /// Its gang; none if it has none and never had a placeholder.
    pub gang: Option<Box<Gang>>,
    /// Until when none of its asks is looked at, because too many found no node.
    pub backed_off: Option<Timestamp>,
    /// What its group was not charged with; nothing, unless it changed its group while it ran.
    pub(super) untold: Option<Box<UnchargedToGroup>>,
    /// Sum of its waiting asks; no type with amount zero.
    pub pending: Resources,
    /// Sum of its allocations, placeholders included; no type with amount zero.
    pub allocated: Resources,
    /// The most that it had at once, type by type, as of its placements: of placeholders alone,
    /// or of all others. What an allocation grows by counts with the next one. As with the
    /// reference.
    pub peak: Resources,
    /// What it used with all that it gave back so far; none before that, and after it ended.
    pub usage: Option<Arc<Usage>>,
    /// How many asks wait.
    pub ask_count: u32,
    /// How many of these are never lent a node: originators, and placeholders.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub homebound: u32,
    /// How many members are about to take the place of placeholders.
    pub swap_count: u32,
    /// For how many of its asks a node is reserved.
    pub reservation_count: u32,
    /// How many allocations it has.
    pub allocation_count: u32,
    /// The priorities of its waiting asks.
    pub(super) priorities: AskPriorities,
    /// The order of its asks and allocations, as far as new ones need it.
    pub(super) line: AskOrder,
    /// Its newest ask or allocation; the others follow from there.
    pub(super) first_allocation: Option<AllocationId>,
    pub(super) next_in_queue: Option<ApplicationId>,
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub(super) previous_in_queue: Option<ApplicationId>,
    /// What its driver counts as, since it was activated; none before, and where no application has
    /// to be.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub driver: Option<Box<Resources>>,
    /// How long it may live.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub lifetime: Lifetime,
    /// When it is to be done.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub deadline: Deadline,
    /// How often others went before it in the line of its leaf while it was the head, since it last got
    /// something.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub overtaken: u32,
    /// The application that did so last. `None` if none did, or if a journal before format 9 recorded it.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub overtaken_by: Option<Name>,
    /// What it is as a task of a tenant, if it is one.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub task: Option<Box<Task>>,
    /// What it used over time, if that is on account of a tenant.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub metered: Option<Arc<Metered>>,
}

impl Application {
    /// The highest priority that it asks with; none while it asks for nothing.
    #[inline]
    pub fn priority(&self) -> Option<i32> {
        self.priorities.highest()
    }

    /// Allocated to placeholders, and how many they are.
    pub fn placeholders(&self) -> (&Resources, u32) {
        static NOTHING: Resources = Resources::new();
        match &self.gang {
            Some(gang) => (&gang.placeholders, gang.placeholder_count),
            None => (&NOTHING, 0),
        }
    }

    /// Allocated to others than placeholders; no type with amount zero.
    pub fn real(&self) -> Resources {
        match &self.gang {
            Some(gang) => self.allocated.minus(&gang.placeholders).pruned(),
            None => self.allocated.clone(),
        }
    }

    /// Whether an ask of this task group waits for a placeholder to take the place of. Source:
    /// scheduling §10.2.
    pub fn waits_for_place(&self, task_group: &str) -> bool {
        let group = self.gang.as_ref().and_then(|gang| gang.group(task_group));
        group.is_some_and(|(_, group)| group.has_replaceable_placeholders())
    }

    /// Whether it has not started: it has nothing, and did not have to give up what it had; or it is a task
    /// that waits again.
    pub const fn is_waiting(&self) -> bool {
        let starts = matches!(self.state, ApplicationState::New | ApplicationState::Accepted);
        starts && self.allocation_count == 0 || self.task.is_some() && self.ask_count > 0
    }

    /// Whether its group is still to be chosen, which any look at its limits does first.
    pub fn lacks_group(&self) -> bool {
        self.link.is_none_or(|link| link.group.is_undecided())
    }

    /// What its group is charged with for it, if it has one.
    pub fn charged_to_group(&self) -> Option<Resources> {
        self.link?.group.level()?;
        Some(match &self.untold {
            None => self.allocated.clone(),
            Some(untold) => self.allocated.minus(&untold.amount).pruned(),
        })
    }

    /// Whether its group counts it as running.
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
