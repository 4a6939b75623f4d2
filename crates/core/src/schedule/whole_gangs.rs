//! Gangs whose placeholders are placed in one step, or not at all. Source: no-starvation NS-30, decision page 48.
//!
//! A gang *gathers* while some of its placeholders are placed and others still wait. At most one gang of a partition
//! gathers at a time and reserves capacity as it becomes free. Every other gang waits for it, unless all its
//! placeholders fit at once. So two gangs never hold the capacity that the other needs.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use smallvec::SmallVec;

use crate::books::{ApplicationState, Books, Node};
use crate::bounds;
use crate::config::GangPlacement;
use crate::event::Event;
use crate::id::{AllocationId, ApplicationId, PartitionId, ShapeId};
use crate::resource::Resources;
use crate::time::Timestamp;
use crate::wait::{Blocker, Wait};

use super::batch_list::BatchKey;
use super::check_class::limits_and_cap;
use super::class::{AskBatch, ChargeState, ClassId, ClassKey};
use super::head_of_line::HeadCheck;
use super::holds::beside_hold;
use super::order::AskKey;
use super::placement_mode::PlacementMode;
use super::{Scheduler, Search};

/// Gathering gangs. At most one for each partition, unless the RM placed placeholders itself.
#[derive(Clone, Debug, Default)]
pub(super) struct GatheringGangs(BTreeMap<ApplicationId, PartitionId>);

impl GatheringGangs {
    /// Returns another gang of the partition that gathers.
    fn other(&self, partition: PartitionId, than: ApplicationId) -> Option<ApplicationId> {
        let all = self.0.iter().filter(|(id, of)| **of == partition && **id != than);
        all.map(|(id, _)| *id).next()
    }
}

/// Returns whether an application has a gang that is placed as a whole.
fn has_whole_gang(books: &Books, application: ApplicationId) -> bool {
    let Some(row) = books.applications().get(application) else { return false };
    row.gang.as_ref().is_some_and(|gang| !gang.ask.is_empty())
        && books.partition(row.partition).settings.gang_placement == GangPlacement::Whole
}

/// Returns whether the gang of an application has a part of its placeholders and waits for the rest.
pub(super) fn gathers(books: &Books, application: ApplicationId) -> bool {
    if !has_whole_gang(books, application) {
        return false;
    }
    let row = books.application(application);
    row.state == ApplicationState::Accepted
        && row.allocation_count > 0
        && row.gang.as_ref().is_some_and(|gang| !gang.is_untouched())
}

/// Waiting placeholders of a gang.
struct Placeholders {
    /// Number of placeholders by shape.
    shapes: SmallVec<[(ShapeId, usize); 2]>,
    /// Sum of all placeholders, which queues, users, and groups must allow.
    needs: Resources,
    /// Whether each placeholder can run on any matching node, and the RM decides about none.
    is_plain: bool,
}

impl Scheduler {
    /// Finds all gathering gangs in complete books.
    pub(super) fn find_gathering(&mut self, books: &Books) {
        let all = books.applications().iter().filter(|(id, _)| gathers(books, *id));
        self.gathering = GatheringGangs(all.map(|(id, row)| (id, row.partition)).collect());
    }

    /// Updates the state of a gang that can have placed its first or last placeholder, or can have failed.
    ///
    /// Costs nothing if gangs are placed one by one, and for an application without a gang.
    pub(super) fn follow_gang(&mut self, books: &Books, application: ApplicationId) {
        let was = self.gathering.0.contains_key(&application);
        if !was && !has_whole_gang(books, application) {
            return;
        }
        let is = gathers(books, application);
        if is && !was {
            let partition = books.application(application).partition;
            self.gathering.0.insert(application, partition);
            self.wake_reserved_gangs(books, partition);
        }
        if was
            && !is
            && let Some(partition) = self.gathering.0.remove(&application)
        {
            let blocker = Blocker::BehindGang(partition, application);
            self.parked.open(&mut self.tree, blocker, |_| true);
            // The next gang can reserve nodes that this one could not.
            let shown = (&mut self.tree, &mut self.parked.turns);
            self.reservation_candidates.open(shown, partition, |_| true);
        }
        let waiting = self.applications.get(application.index());
        // The event can also change whether the gang is checked as one.
        if waiting.is_some_and(|one| one.batches.of_gang().next().is_some()) {
            self.restand(books, application);
        }
    }

    /// Wakes placeholders of other gangs that reserved nodes: these reservations are useless while a gang gathers.
    ///
    /// Costs the nodes of the partition if some are reserved.
    fn wake_reserved_gangs(&mut self, books: &Books, partition: PartitionId) {
        let row = books.partition(partition);
        if row.reservation_count == 0 {
            return;
        }
        let nodes = row.nodes.iter().map(|(_, node)| books.node(*node));
        let asks = nodes.flat_map(Node::reservations).copied();
        let of_gangs = asks.filter(|ask| books.is_of_whole_gang(books.allocation(*ask)));
        for ask in of_gangs.collect::<Vec<_>>() {
            self.wake(books, ask);
        }
    }

    /// Wakes the placeholders of a gang after more of them were requested.
    pub(super) fn gang_arrived(&mut self, application: ApplicationId) {
        self.parked.open(&mut self.tree, Blocker::GangAsks(application), |_| true);
    }

    /// Wakes gangs that wait for a gathering gang and that can fit at once after a node gained free capacity.
    pub(super) fn wake_gangs(
        &mut self,
        partition: PartitionId,
        fits: impl Fn((ShapeId, u32)) -> bool,
    ) {
        let all = self.gathering.0.iter().filter(|(_, of)| **of == partition);
        for gang in all.map(|(id, _)| *id).collect::<Vec<_>>() {
            let blocker = Blocker::BehindGang(partition, gang);
            self.parked.open(&mut self.tree, blocker, |wanted| wanted.1 == 0 || fits(wanted));
        }
    }

    /// Returns why the gang of a class cannot use capacity now. `None` if it can, and for other classes.
    ///
    /// Costs the sizes of its placeholders, and the nodes while another gang gathers.
    pub(super) fn wait_for_gang(&self, books: &Books, key: ClassKey) -> Option<Wait> {
        let application = key.gang?.application;
        let placeholders = self.placeholders_of(books, application);
        let row = books.application(application);
        let has_all =
            row.gang.as_ref().is_none_or(|gang| placeholders.needs.is_at_least(&gang.ask));
        if !has_all {
            return Some(Wait::of(Blocker::GangAsks(application)));
        }
        let behind = self.behind_gang(books, key)?;
        (!self.may_fit_at_once(books, key, &placeholders)).then_some(behind)
    }

    fn placeholders_of(&self, books: &Books, application: ApplicationId) -> Placeholders {
        let (shapes, needs) = (SmallVec::new(), Resources::new());
        let is_plain = !books.asks_about_nodes(books.application(application).partition);
        let mut all = Placeholders { shapes, needs, is_plain };
        for (key, batch) in self.batches_of_gang(application) {
            let count = batch.asks.len();
            all.needs
                .add(&books.shapes().times(key.shape, u32::try_from(count).unwrap_or(u32::MAX)));
            match all.shapes.last_mut() {
                // An ask with a hold has a batch of its own.
                Some((shape, before)) if *shape == key.shape => *before += count,
                Some(_) | None => all.shapes.push((key.shape, count)),
            }
            all.is_plain &=
                matches!(key.mode, PlacementMode::AnyNode | PlacementMode::MayPreempt(_));
        }
        all
    }

    fn batches_of_gang(
        &self,
        application: ApplicationId,
    ) -> impl Iterator<Item = (BatchKey, &AskBatch)> {
        let waiting = self.applications.get(application.index()).into_iter();
        let batches = waiting.flat_map(|one| one.batches.of_gang());
        batches.map(|(key, batch)| (key, &self.classes.batches[batch]))
    }

    /// Returns whether queues and limits allow all placeholders at once, and nodes can hold all placeholders of each
    /// size.
    fn may_fit_at_once(&self, books: &Books, key: ClassKey, all: &Placeholders) -> bool {
        let ChargeState::Linked { link, .. } = key.charge else { return false };
        let nodes = &self.nodes[&books.queue(key.leaf).partition];
        all.is_plain
            && bounds::queues(books, key.leaf, &all.needs).is_none()
            && beside_hold(books, key, &all.needs).is_none()
            && limits_and_cap(books, key.leaf, link, &all.needs).is_none()
            && all.shapes.iter().all(|(shape, count)| nodes.has_room_for(books, *shape, *count))
    }

    /// Starts the gang of a class of which one placeholder could be placed: places all placeholders, or parks the class
    /// behind the gathering gang. `None` if the gang can gather itself, and for other classes.
    ///
    /// Costs one placement for each placeholder, on a fork that shares most of its data with the books.
    pub(super) fn start_gang(
        &mut self,
        books: &Books,
        (class, head_check): (ClassId, &HeadCheck),
        now: Timestamp,
        events: &mut Vec<Event>,
    ) -> Option<Search> {
        let key = self.classes.rows[class].key;
        let application = key.gang?.application;
        let all = self.placeholders_of(books, application);
        if self.may_fit_at_once(books, key, &all) {
            let mut asks: Vec<(AskKey, AllocationId, ShapeId)> = Vec::new();
            for (key, batch) in self.batches_of_gang(application) {
                asks.extend(batch.asks.iter().map(|(place, ask)| (*place, *ask, key.shape)));
            }
            asks.sort_unstable_by_key(|(place, ..)| *place);
            let asks: Vec<_> = asks.into_iter().map(|(_, ask, shape)| (ask, shape)).collect();
            if self.place_together(books, application, &asks, now, events) {
                events.extend(head_check.overtaken(application));
                return Some(Search::Over);
            }
        }
        let wait = self.behind_gang(books, key)?;
        self.park_for(books, class, (wait, wait), now);
        Some(Search::GoesOn)
    }

    /// Returns the wait for the gathering gang, for a gang that does not fit at once.
    pub(super) fn behind_gang(&self, books: &Books, key: ClassKey) -> Option<Wait> {
        let application = key.gang?.application;
        let partition = books.queue(key.leaf).partition;
        let other = self.gathering.other(partition, application)?;
        Some(Wait::of(Blocker::BehindGang(partition, other)))
    }
}
