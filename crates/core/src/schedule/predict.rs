//! Predicts the wait of a task that is not submitted: the checks of the scheduler on a fork of the books that has the
//! task.

use crate::books::Books;
use crate::id::{AllocationId, ApplicationId};
use crate::time::Timestamp;
use crate::wait::{Blocker, CheckResult, Wait};

use super::Scheduler;
use super::checks::{Checked, Position};
use super::class::{ChargeState, ClassKey, GangPart};
use super::placement_mode::PlacementMode;

/// An ask that the fork of the books has, and the scheduler does not.
struct PredictedAsk<'one, B> {
    scheduler: &'one Scheduler,
    then: &'one Books,
    key: ClassKey,
    now: Timestamp,
    /// Returns whether another application precedes the application of the ask in the leaf.
    is_behind: B,
}

impl Scheduler {
    /// Returns the wait of an ask that only the fork `then` has, with the other members of its task. `None` if it could
    /// start.
    ///
    /// `is_behind` returns whether another application precedes the application of the ask in the leaf. That
    /// application must be linked to its trackers.
    pub(crate) fn predict_wait(
        &self,
        then: &Books,
        ask: AllocationId,
        now: Timestamp,
        is_behind: impl Fn(ApplicationId) -> bool,
    ) -> Option<Wait> {
        let row = then.allocation(ask);
        let (application, shape) = (row.application, row.shape);
        let (leaf, members) = (then.application(application).queue, then.members_of(application));
        let key = ClassKey {
            leaf,
            charge: ChargeState::of(then, application),
            shape,
            mode: if members > 1 {
                PlacementMode::AllOrNothing(members)
            } else {
                PlacementMode::AnyNode
            },
            gang: None,
            gang_part: GangPart::None,
            has_hold: false,
            backoff_application: None,
            shared: then.users_of(leaf).is_some(),
            in_head_of_line_queue: then
                .queue(leaf)
                .settings
                .values
                .application_order
                .has_head_of_line(),
        };
        let position = PredictedAsk { scheduler: self, then, key, now, is_behind };
        let activating = key.waits().then_some(application);
        Checked { books: then, activating, key, position }.first().map(|(_, wait)| wait)
    }
}

impl<B: Fn(ApplicationId) -> bool> Position for PredictedAsk<'_, B> {
    const IS_PLACING: bool = false;

    fn in_line(&self) -> Option<CheckResult> {
        let behind = self.scheduler.behind(self.then, self.key, self.now, &self.is_behind);
        behind.map(CheckResult::failed)
    }

    fn gang(&self) -> Option<CheckResult> {
        None // It is no placeholder.
    }

    fn back_off(&self) -> Option<CheckResult> {
        None // Its application is new.
    }

    fn manager(&self) -> Option<CheckResult> {
        None // It would be asked in time.
    }

    fn node(&self, _: bool) -> Option<CheckResult> {
        let (key, partition) = (self.key, self.then.queue(self.key.leaf).partition);
        let Some(nodes) = self.scheduler.nodes.get(&partition) else {
            return Some(CheckResult::failed(Wait::of(Blocker::Nodes(partition))));
        };
        if nodes.has_room_for(self.then, key.shape, key.members() as usize) {
            return Some(CheckResult::passed(Blocker::Nodes(partition)));
        }
        Some(CheckResult::failed(self.scheduler.without_node(self.then, partition, key)))
    }
}
