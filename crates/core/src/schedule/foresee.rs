//! What would hold back a task that is not submitted: the checks of the scheduler on books that have it,
//! in the order in which it makes them.

use crate::books::Books;
use crate::id::{AllocationId, ApplicationId};
use crate::rules::activation;
use crate::time::Timestamp;
use crate::wait::{Blocker, Wait};

use super::Scheduler;
use super::class::{ClassKey, Standing};
use super::judge::held_back;
use super::lane::Lane;
use super::turns;
use super::waits::shut;

impl Scheduler {
    /// Why an ask, with the other members of its task, would wait that these books have, and those of the
    /// scheduler have not; none if there would be nodes. `is_behind` says whether another application is before
    /// its own in their leaf. Its application is tied to its user.
    pub(crate) fn foresee(
        &self,
        then: &Books,
        ask: AllocationId,
        now: Timestamp,
        is_behind: impl Fn(ApplicationId) -> bool,
    ) -> Option<Wait> {
        let row = then.allocation(ask);
        let application = then.application(row.application);
        let (leaf, partition) = (application.queue, application.partition);
        if let Some(wait) = shut(then, leaf) {
            return Some(wait);
        }
        if then.waits_for_activation(row.application)
            && let Some(wait) = activation::held_back(then, row.application)
        {
            return Some(wait);
        }
        let (shape, members) = (row.shape, then.members_of(row.application));
        let key = ClassKey {
            leaf,
            standing: Standing::of(then, row.application),
            shape,
            lane: if members > 1 { Lane::Whole(members) } else { Lane::Open },
            alone: None,
            shared: then.users_of(leaf).is_some(),
            lined: then.queue(leaf).settings.values.application_order.is_line(),
        };
        if let Some(wait) = self.behind(then, key, now, is_behind) {
            return Some(wait);
        }
        if let Some(wait) = held_back(then, key).or_else(|| turns::held_back(then, key)) {
            return Some(wait);
        }
        let no_room = Wait { blocker: Blocker::Nodes(partition), shortfall: None };
        let Some(nodes) = self.nodes.get(&partition) else { return Some(no_room) };
        if nodes.has_room_for(then, shape, members as usize) {
            return None;
        }
        Some(self.without_node(then, partition, key))
    }
}
