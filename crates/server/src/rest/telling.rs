//! Why something waits, as whoever asks may hear it: of bounds whose use he does not see he learns the name, and no
//! figure of what others use.

use headroom_core::books::Books;
use headroom_core::books::tracker::TrackerKind;
use headroom_core::id::{AllocationId, QueueId};
use headroom_core::{Blocker, Wait};

use super::visible::{Extent, Sight};

impl Sight {
    /// Whether he sees what is used of a bound.
    pub fn sees_use_of(&self, books: &Books, blocker: Blocker) -> bool {
        let sees = |queue: QueueId| self.extent(books, queue) >= Extent::Figures;
        if let Some((kind, name, queue)) = level(books, blocker) {
            let own = match kind {
                TrackerKind::User => self.sees_user(name),
                TrackerKind::Group => self.sees_group(name),
            };
            return own || sees(queue);
        }
        match blocker {
            Blocker::QueueMax(queue)
            | Blocker::QueueApplications(queue)
            | Blocker::ParallelApplications(queue)
            | Blocker::DriverQueue(queue)
            | Blocker::BehindHead(queue, _)
            | Blocker::Order(queue, _) => sees(queue),
            Blocker::KeptNode(_)
            | Blocker::Preempting(_)
            | Blocker::RequiredNode(_)
            | Blocker::RequiredNodeSize(_) => self.is_all(),
            // How many nodes there are.
            Blocker::RmBusy(_) => self.counts_hidden(),
            // Limits of users and groups are looked at above.
            Blocker::QueueState(_)
            | Blocker::Limit(..)
            | Blocker::UserCap(..)
            | Blocker::UserShare(..)
            | Blocker::LimitApplications(..)
            | Blocker::ParallelOfUser(..)
            | Blocker::DriverUser(..)
            | Blocker::Nodes(_)
            | Blocker::NodesReserved(_)
            | Blocker::NodeBlocked(_)
            | Blocker::NoSuchLabel(_)
            | Blocker::NodeAbsent(_)
            | Blocker::Placeholders(..)
            | Blocker::AwaitingRm(_)
            | Blocker::RmAway(_)
            | Blocker::NoNodes(_)
            | Blocker::NodeConstraint(_)
            | Blocker::BackOff(_) => true,
        }
    }

    /// Whether he sees how much there may be at all. Of tenants above his own he does; what the whole cluster has is
    /// no bound that anybody set.
    pub fn sees_bound_of(&self, books: &Books, blocker: Blocker) -> bool {
        let root = matches!(blocker, Blocker::QueueMax(queue) if books.queue(queue).depth == 0);
        !root || self.counts_hidden() || self.sees_use_of(books, blocker)
    }

    /// What sets the bound, without the name of anybody or any node that he does not see.
    pub fn scope_of(&self, books: &Books, blocker: Blocker) -> String {
        if let Some((kind, name, queue)) = level(books, blocker) {
            let path = &books.queue(queue).path;
            match kind {
                TrackerKind::User if !self.sees_user(name) => {
                    return format!("another user at {path}");
                }
                TrackerKind::Group if !self.sees_group(name) => {
                    return format!("another group at {path}");
                }
                TrackerKind::User | TrackerKind::Group => {}
            }
        }
        if self.sees_node_of(blocker) { blocker.subject(books) } else { "a node".to_owned() }
    }

    /// Why an ask waits in a sentence, if he may see all that it tells.
    pub fn sentence(&self, books: &Books, wait: &Wait, ask: AllocationId) -> Option<String> {
        let open = self.sees_use_of(books, wait.blocker) && self.sees_node_of(wait.blocker);
        open.then(|| wait.sentence(books, ask))
    }

    /// The same; and else the code and what sets the bound.
    pub fn reason(&self, books: &Books, wait: &Wait, ask: AllocationId) -> String {
        self.sentence(books, wait, ask).unwrap_or_else(|| {
            format!("{} {}", wait.blocker.code(books), self.scope_of(books, wait.blocker))
        })
    }

    /// Whether he sees the node that a check names, if it names one.
    fn sees_node_of(&self, blocker: Blocker) -> bool {
        !matches!(blocker, Blocker::KeptNode(_) | Blocker::Preempting(_)) || self.is_all()
    }
}

/// Whose bound it is, and where, if it is that of a user or group.
fn level(books: &Books, blocker: Blocker) -> Option<(TrackerKind, &str, QueueId)> {
    match blocker {
        Blocker::Limit(partition, level)
        | Blocker::LimitApplications(partition, level)
        | Blocker::UserCap(partition, level)
        | Blocker::UserShare(partition, level)
        | Blocker::ParallelOfUser(partition, level)
        | Blocker::DriverUser(partition, level) => {
            let trackers = &books.partition(partition).trackers;
            let level = trackers.level(level);
            let tracker = trackers.tracker(level.tracker);
            Some((tracker.kind, &tracker.name, level.queue))
        }
        _ => None,
    }
}
