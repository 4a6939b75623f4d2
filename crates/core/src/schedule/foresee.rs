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
    /// Why an ask would wait that these books have, and those of the scheduler have not; none if it would have
    /// a node. `is_behind` says whether another application is before its own in their leaf. Its application is
    /// tied to its user.
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
        let of = |blocker| Some(Wait { blocker, shortfall: None });
        if let Some(queue) = shut(then, leaf) {
            return of(Blocker::QueueState(queue));
        }
        if let Some(wait) = then
            .waits_for_activation(row.application)
            .then(|| activation::held_back(then, row.application))
            .flatten()
        {
            return Some(wait);
        }
        let shape = row.shape;
        if let Some(wait) = self.behind(then, leaf, (shape, now), is_behind) {
            return Some(wait);
        }
        let order = then.queue(leaf).settings.values.application_order;
        let key = ClassKey {
            leaf,
            standing: Standing::of(then, row.application),
            shape,
            lane: Lane::Open,
            alone: None,
            shared: then.users_of(leaf).is_some(),
            lined: order.is_line(),
        };
        if let Some(wait) = held_back(then, key).or_else(|| turns::held_back(then, key)) {
            return Some(wait);
        }
        let nodes = self.nodes.get(&partition);
        let suits = |node| then.suits(shape, node);
        let asked = then.shapes().on_node(shape);
        let found = nodes.is_some_and(|nodes| !nodes.with_room(then, asked, suits, 1).is_empty());
        if found {
            return None;
        }
        let wait = Wait { blocker: Blocker::Nodes(partition), shortfall: None };
        Some(nodes.map_or(wait, |nodes| nodes.told(then, (partition, shape), wait)))
    }
}
