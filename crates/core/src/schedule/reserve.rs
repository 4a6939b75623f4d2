//! Reserved and required nodes of asks. Source: scheduling §9, §6.3.

use alloc::vec::Vec;

use crate::books::{Books, Reservation};
use crate::event::{AskEvent, Event};
use crate::id::{AllocationId, NodeId};
use crate::resource::Resources;
use crate::time::{Millis, Timestamp};
use crate::wait::{Blocker, Wait};

use super::Scheduler;
use super::check_class::{Verdict, on_any_node, wait};
use super::checks::wait_for_charge;
use super::class::{ClassId, ClassKey};
use super::holds::behind_hold;
use super::nodes::NodeIndex;
use super::placement_mode::PlacementMode;
use super::questions;
use super::reservation_candidates::SchedulerTimer;

/// Age from which a lack of headroom ends a reservation. YuniKorn adds its hour twice: scheduling §9.5, decision D-17.
pub const RESERVATION_WAIT: Millis = Millis::from_secs(2 * 60 * 60);

/// Returns the time from which a lack of headroom ends a reservation.
fn overdue_at(reservation: Reservation) -> Timestamp {
    reservation.since + RESERVATION_WAIT + Millis::new(1)
}

/// Returns whether an amount blocks the ask, and not a number of applications.
const fn lacks_headroom(wait: Wait) -> bool {
    matches!(wait.blocker, Blocker::QueueMax(_) | Blocker::Limit(..) | Blocker::UserCap(..))
}

/// Returns the verdict for the reserved node of an ask, or for all other nodes if `elsewhere` is true.
pub(super) fn on_reserved_node(
    books: &Books,
    nodes: &mut NodeIndex,
    key: ClassKey,
    (ask, elsewhere): (AllocationId, bool),
) -> Verdict {
    let (row, wanted) = (books.allocation(ask), books.node_request(ask));
    let partition = books.queue(key.leaf).partition;
    let asks = books.asks_about_nodes(partition);
    if elsewhere && asks {
        return questions::on_any_node(books, nodes, (partition, ask), wanted);
    }
    if elsewhere {
        return on_any_node(books, nodes, key.leaf, key.shape);
    }
    let reserved = row.reservation().expect("the ask has a reservation").node;
    // A drained node can still be used, because it was reserved before.
    if books.node(reserved).available.fits(wanted) {
        let refused = || match row.required_node() {
            // A reservation of a node that the ask cannot use has no purpose.
            _ if books.preempted_on(reserved).next().is_none() => Verdict::Unreserve(ask),
            // The RM can reject the node because of the allocations that are being stopped there.
            Some(_) => wait(Blocker::NodeConstraint(ask)),
            None => Verdict::Elsewhere,
        };
        return questions::on_node(books, ask, reserved, refused);
    }
    match row.required_node() {
        Some(_) => wait(Blocker::RequiredNode(reserved)),
        None => Verdict::Elsewhere,
    }
}

/// Returns the verdict for an ask with a reserved node that fails a check of charges. After a time, a lack of headroom
/// ends its reservation.
pub(super) fn on_no_headroom(
    books: &Books,
    ask: AllocationId,
    wait: Wait,
    now: Timestamp,
) -> Verdict {
    let reservation = books
        .allocation(ask)
        .reservation()
        .expect("an ask with a reserved node has its reservation");
    if lacks_headroom(wait) && overdue_at(reservation) <= now {
        return Verdict::Unreserve(ask);
    }
    Verdict::Wait(wait)
}

/// Returns the verdict for the required node of an ask: to place the ask or to reserve the node. Ignores whether the
/// node is drained, and the age of the ask.
pub(super) fn on_required_node(books: &Books, node: NodeId, ask: &Resources) -> Verdict {
    let row = books.node(node);
    if !row.could_hold(ask) {
        return wait(Blocker::RequiredNodeSize(node));
    }
    let mut holders = row.reservations().iter().map(|one| books.allocation(*one));
    let free = holders.all(|holder| holder.required_node().is_none());
    if free && row.available.fits(ask) { Verdict::Place(node) } else { Verdict::Reserve(node) }
}

/// Ends the reservations of a node for asks that do not require it, in favor of an ask that does.
pub(super) fn make_way(books: &Books, node: NodeId, events: &mut Vec<Event>) {
    let holders = books.node(node).reservations().iter();
    let ordinary = holders.filter(|ask| books.allocation(**ask).required_node().is_none());
    events.extend(ordinary.map(|ask| Event::Ask(AskEvent::Unreserved { ask: *ask })));
}

impl Scheduler {
    /// Sets the timers of a new reservation.
    pub(super) fn watch_reservation(&mut self, books: &Books, ask: AllocationId) {
        if let Some(reservation) = books.allocation(ask).reservation() {
            self.timers.insert((overdue_at(reservation), SchedulerTimer::ReservationExpired(ask)));
            let vain = books.reservation_in_vain_at(ask);
            self.timers.extend(vain.map(|at| (at, SchedulerTimer::ReservationInVain(ask))));
            self.reserved.insert(ask);
            self.attempts.note_reservation(books, ask, true);
        }
    }

    /// Removes the timers of a reservation that ends or whose ask is about to be removed.
    pub(super) fn forget_reservation(&mut self, books: &Books, ask: AllocationId) {
        if let Some(reservation) = books.allocation(ask).reservation() {
            self.timers.remove(&(overdue_at(reservation), SchedulerTimer::ReservationExpired(ask)));
            self.reserved.remove(&ask);
            self.overdue.remove(&ask);
            self.in_vain.remove(&ask);
            self.attempts.note_reservation(books, ask, false);
        }
    }

    /// Returns an ask whose reservation is in vain while others wait.
    ///
    /// A release moves the time of a reservation, but not its timer. The time is therefore compared again here.
    pub(super) fn reserved_in_vain(
        &mut self,
        books: &Books,
        now: Timestamp,
    ) -> Option<AllocationId> {
        for ask in self.in_vain.iter().copied().collect::<Vec<_>>() {
            match books.reservation_in_vain_at(ask) {
                Some(at) if at > now => {
                    self.timers.insert((at, SchedulerTimer::ReservationInVain(ask)));
                }
                Some(_) if books.others_wait_beside(ask) => return Some(ask),
                Some(_) => continue,
                None => {} // Allocations stop there for it.
            }
            self.in_vain.remove(&ask);
        }
        None
    }

    /// Returns the first ask with a reserved node that cannot start because of the hold of another ask, whatever else it
    /// waits for. The ask of the hold can need this node, so each of them would wait for the other.
    ///
    /// Costs the reservations while queues hold capacity, and nothing otherwise.
    pub(super) fn reserved_behind_hold(&self, books: &Books) -> Option<AllocationId> {
        if !books.has_holds() {
            return None;
        }
        self.reserved.iter().copied().find(|ask| {
            let class = self.class_of(books, *ask);
            class.is_some_and(|class| behind_hold(books, self.classes.rows[class].key).is_some())
        })
    }

    /// Wakes asks whose reservation is old enough to end and that lack headroom.
    pub(super) fn look_at_overdue(&mut self, books: &Books) {
        if !core::mem::take(&mut self.charged) {
            return;
        }
        let lacking = |scheduler: &Self, ask: AllocationId| {
            let class = scheduler.class_of(books, ask)?;
            let row = &scheduler.classes.rows[class];
            row.wait
                .and_then(|_| wait_for_charge(books, row.key))
                .filter(|wait| lacks_headroom(*wait))
        };
        let due: Vec<AllocationId> = self.overdue.iter().copied().collect();
        for ask in due {
            if lacking(self, ask).is_some() {
                self.wake(books, ask);
            }
        }
    }

    /// Wakes the asks that reserved a node after its free capacity can have increased.
    pub(super) fn wake_reserved(&mut self, books: &Books, node: NodeId) {
        for ask in books.node(node).reservations() {
            let row = books.allocation(*ask);
            // With more free capacity, the possible victims on the node can be sufficient.
            let stops = row.required_node().is_some() && !row.preemption_triggered;
            if stops || books.node(node).available.fits(books.node_request(*ask)) {
                self.wake(books, *ask);
            }
        }
    }

    /// Wakes the class of an ask.
    pub(super) fn wake(&mut self, books: &Books, ask: AllocationId) {
        if let Some(class) = self.class_of(books, ask) {
            self.judge_again(books, class, false);
        }
    }

    /// Makes a class ready, regardless of its blocker. `elsewhere` is true for a class of one ask whose reserved node
    /// does not have enough free capacity.
    pub(super) fn judge_again(&mut self, books: &Books, class: ClassId, elsewhere: bool) {
        let group = self.classes.rows[class].group();
        if group.is_none() {
            self.unlist(class);
        }
        let row = &mut self.classes.rows[class];
        row.pass = row.key.pass();
        let mut head = row.head.clone().expect("a class has a batch");
        let place = (head.clone(), class);
        row.wait = None;
        if head.elsewhere != elsewhere {
            head.elsewhere = elsewhere;
            let (before, batch) = row.batches.first_key().expect("a class has a batch").clone();
            self.classes.batches[batch].head = head.clone();
            row.batches.rename(&(before, batch), (head.clone(), batch), ());
            row.head = Some(head.clone());
        }
        if let Some(group) = group {
            self.parked.remove(&mut self.tree, group, &place, row.seat);
        }
        let row = &mut self.classes.rows[class];
        match row.group() {
            Some(turn) => {
                row.seat = self.parked.insert(&mut self.tree, turn, (head, class));
                self.tree.touch(turn.leaf);
            }
            None => self.list(class),
        }
        self.holds.note(class);
        self.recount(books, class);
        self.list_candidate(books, class);
    }
}

/// Returns the displayed wait of an ask with a reserved node.
pub(super) fn shown(books: &Books, key: ClassKey, wait: Wait) -> Wait {
    let (PlacementMode::ReservedNode(ask), Blocker::Nodes(_) | Blocker::RequiredNode(_)) =
        (key.mode, wait.blocker)
    else {
        return wait;
    };
    let reservation = books.allocation(ask).reservation().expect("the ask has a reservation");
    let shortfall = books.node(reservation.node).available.shortfall(books.node_request(ask));
    let row = books.allocation(ask);
    let stops = row.preemption_triggered && books.preempted_on(reservation.node).next().is_some();
    let blocker = match row.required_node() {
        _ if stops => Blocker::PreemptionPending,
        // The ask can use no other node.
        Some(_) => Blocker::RequiredNode,
        None => Blocker::ReservedNodeFull,
    };
    Wait { blocker: blocker(reservation.node), shortfall }
}
