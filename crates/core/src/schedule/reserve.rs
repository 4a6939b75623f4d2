//! Nodes that are kept for asks, and asks that may run on one node only. Scheduling §9, §6.3.

use alloc::vec::Vec;

use crate::books::{Books, Reservation};
use crate::event::Event;
use crate::id::{AllocationId, NodeId};
use crate::resource::Resources;
use crate::time::{Millis, Timestamp};
use crate::wait::{Blocker, Wait};

use super::Scheduler;
use super::class::{ClassId, ClassKey};
use super::judge::{Verdict, held_back, on_any_node, wait};
use super::keep::Due;
use super::lane::Lane;
use super::nodes::NodeIndex;
use super::preempt::stopping;
use super::questions;

/// After how long a lack of headroom ends a reservation. The reference adds its hour twice:
/// scheduling §9.5, decision D-17.
pub const RESERVATION_WAIT: Millis = Millis::from_secs(2 * 60 * 60);

/// When a lack of headroom ends a reservation: once it is older than that.
fn overdue_at(kept: Reservation) -> Timestamp {
    kept.since + RESERVATION_WAIT + Millis::new(1)
}

/// Whether it is the amount that holds an ask back, and not the number of applications.
const fn lacks_headroom(wait: Wait) -> bool {
    matches!(wait.blocker, Blocker::QueueMax(_) | Blocker::Limit(..) | Blocker::UserCap(..))
}

/// Try the node that is kept for an ask; `elsewhere`, all others.
pub(super) fn on_kept_node(
    books: &Books,
    nodes: &mut NodeIndex,
    key: ClassKey,
    (ask, elsewhere): (AllocationId, bool),
) -> Verdict {
    let (row, wanted) = (books.allocation(ask), books.on_node(ask));
    let partition = books.queue(key.leaf).partition;
    let asks = books.asks_about_nodes(partition);
    if elsewhere && asks {
        return questions::on_any_node(books, nodes, (partition, ask), wanted);
    }
    if elsewhere {
        return on_any_node(books, nodes, key.leaf, key.shape);
    }
    let kept = row.reservation().expect("a kept ask has its reservation").node;
    // Whether the node is drained does not matter: it was kept before.
    if books.node(kept).available.fits(wanted) {
        let refused = || match row.required_node() {
            // A node that it may not have, though there is room, is kept in vain.
            _ if stopping(books, kept).next().is_none() => Verdict::GiveUp(ask),
            // Who is being stopped there may be what the RM minds.
            Some(_) => wait(Blocker::NodeConstraint(ask)),
            None => Verdict::Elsewhere,
        };
        return questions::on_node(books, ask, kept, refused);
    }
    match row.required_node() {
        Some(_) => wait(Blocker::RequiredNode(kept)),
        None => Verdict::Elsewhere,
    }
}

/// An ask for which a node is kept lacks headroom or may not start; after a while, headroom ends
/// its reservation.
pub(super) fn on_no_headroom(
    books: &Books,
    ask: AllocationId,
    held_back: Wait,
    now: Timestamp,
) -> Verdict {
    let kept = books.allocation(ask).reservation().expect("a kept ask has its reservation");
    if lacks_headroom(held_back) && overdue_at(kept) <= now {
        return Verdict::GiveUp(ask);
    }
    Verdict::Wait(held_back)
}

/// Try the one node that an ask may run on, which is kept for it otherwise; that it is drained
/// does not matter, nor how old the ask is.
pub(super) fn on_required_node(books: &Books, node: NodeId, ask: &Resources) -> Verdict {
    let row = books.node(node);
    if !row.could_hold(ask) {
        return wait(Blocker::RequiredNodeSize(node));
    }
    let mut holders = row.reservations().iter().map(|one| books.allocation(*one));
    let free = holders.all(|holder| holder.required_node().is_none());
    if free && row.available.fits(ask) { Verdict::Place(node) } else { Verdict::Keep(node) }
}

/// What keeps a node from asks that may run nowhere else ends for their sake.
pub(super) fn make_way(books: &Books, node: NodeId, events: &mut Vec<Event>) {
    let holders = books.node(node).reservations().iter();
    let ordinary = holders.filter(|ask| books.allocation(**ask).required_node().is_none());
    events.extend(ordinary.map(|ask| Event::Unreserved { ask: *ask }));
}

impl Scheduler {
    /// A node is kept for this ask from now on: remember when that may end.
    pub(super) fn watch_reservation(&mut self, books: &Books, ask: AllocationId) {
        if let Some(kept) = books.allocation(ask).reservation() {
            self.dues.insert((overdue_at(kept), Due::Overdue(ask)));
            self.calls.note_kept(books, ask, true);
        }
    }

    /// No node is kept for this ask any more, or it is about to go.
    pub(super) fn forget_reservation(&mut self, books: &Books, ask: AllocationId) {
        if let Some(kept) = books.allocation(ask).reservation() {
            self.dues.remove(&(overdue_at(kept), Due::Overdue(ask)));
            self.overdue.remove(&ask);
            self.calls.note_kept(books, ask, false);
        }
    }

    /// Have the reservations judged anew that lack headroom by now and are old enough to end.
    pub(super) fn look_at_overdue(&mut self, books: &Books) {
        if !core::mem::take(&mut self.charged) {
            return;
        }
        let lacking = |scheduler: &Self, ask: AllocationId| {
            let class = scheduler.class_of(books, ask)?;
            let row = &scheduler.classes.rows[class];
            row.wait.and_then(|_| held_back(books, row.key)).filter(|wait| lacks_headroom(*wait))
        };
        let due: Vec<AllocationId> = self.overdue.iter().copied().collect();
        for ask in due {
            if lacking(self, ask).is_some() {
                self.wake(books, ask);
            }
        }
    }

    /// The asks for which a node is kept may have room on it by now.
    pub(super) fn wake_kept(&mut self, books: &Books, node: NodeId) {
        for ask in books.node(node).reservations() {
            let row = books.allocation(*ask);
            // With more free, what may be stopped there may be enough.
            let stops = row.required_node().is_some() && !row.preemption_triggered;
            if stops || books.node(node).available.fits(books.on_node(*ask)) {
                self.wake(books, *ask);
            }
        }
    }

    /// Have a single ask judged anew.
    pub(super) fn wake(&mut self, books: &Books, ask: AllocationId) {
        if let Some(class) = self.class_of(books, ask) {
            self.judge_anew(books, class, false);
        }
    }

    /// Have a class judged anew, whatever it waits for; `elsewhere` for a class of one ask whose
    /// kept node has no room.
    pub(super) fn judge_anew(&mut self, books: &Books, class: ClassId, elsewhere: bool) {
        let row = &mut self.classes.rows[class];
        let (leaf, group) = (row.key.leaf, row.group());
        let pass = core::mem::replace(&mut row.pass, row.key.pass());
        let mut head = row.head.clone().expect("a class has a bundle");
        let place = (head.clone(), class);
        row.wait = None;
        if head.elsewhere != elsewhere {
            head.elsewhere = elsewhere;
            let (_, bundle) = row.bundles.pop_first().expect("a class has a bundle");
            self.classes.bundles[bundle].head = head.clone();
            row.bundles.insert((head.clone(), bundle));
            row.head = Some(head.clone());
        }
        match group {
            Some(group) => self.parked.remove(&mut self.tree, group, &place, row.seat),
            None => {
                self.tree.ready_mut(leaf, pass).remove(&place);
            }
        }
        let row = &mut self.classes.rows[class];
        let (pass, place) = (row.pass, (head, class));
        match row.group() {
            Some(turn) => row.seat = self.parked.insert(&mut self.tree, turn, place),
            None => drop(self.tree.ready_mut(leaf, pass).insert(place)),
        }
        self.tree.touch(leaf);
        self.recount(books, class);
        self.stand(books, class);
    }
}

/// The wait of an ask for which a node is kept, as it is shown.
pub(super) fn shown(books: &Books, key: ClassKey, wait: Wait) -> Wait {
    let (Lane::Kept(ask), Blocker::Nodes(_) | Blocker::RequiredNode(_)) = (key.lane, wait.blocker)
    else {
        return wait;
    };
    let kept = books.allocation(ask).reservation().expect("a kept ask has its reservation");
    let shortfall = books.node(kept.node).available.shortfall(books.on_node(ask));
    let row = books.allocation(ask);
    let stops = row.preemption_triggered && stopping(books, kept.node).next().is_some();
    let blocker = match row.required_node() {
        _ if stops => Blocker::Preempting,
        // No other will do.
        Some(_) => Blocker::RequiredNode,
        None => Blocker::KeptNode,
    };
    Wait { blocker: blocker(kept.node), shortfall }
}
