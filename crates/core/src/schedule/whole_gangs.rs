//! Gangs whose placeholders are placed in one step, or not at all. Source: no-starvation NS-30, decision page 48.
//!
//! A gang *gathers* while some of its placeholders are placed and others still wait. One gang of a partition may gather
//! at a time: it takes room as it comes. Every other gang waits for it, unless there is room for all its placeholders
//! at once. So two gangs never hold what the other needs.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::books::{ApplicationState, Books};
use crate::bounds;
use crate::config::GangPlacement;
use crate::event::Event;
use crate::id::{AllocationId, ApplicationId, NodeId, PartitionId, ShapeId};
use crate::resource::Resources;
use crate::wait::{Blocker, Wait};

use super::check_class::limits_and_cap;
use super::class::{ChargeState, ClassKey};
use super::order::AskKey;
use super::placement_mode::PlacementMode;
use super::{Scheduler, place};

/// The gangs that gather. There is one for each partition, and more only where the RM has placed some itself.
#[derive(Clone, Debug, Default)]
pub(super) struct GatheringGangs(BTreeMap<ApplicationId, PartitionId>);

impl GatheringGangs {
    /// The gang of a partition that gathers, other than this.
    fn other(&self, partition: PartitionId, than: ApplicationId) -> Option<ApplicationId> {
        let all = self.0.iter().filter(|(id, of)| **of == partition && **id != than);
        all.map(|(id, _)| *id).next()
    }
}

/// Whether the gang of an application holds some of its room, and waits for the rest.
fn gathers(books: &Books, application: ApplicationId) -> bool {
    let Some(row) = books.applications().get(application) else { return false };
    let settings = &books.partition(row.partition).settings;
    settings.gang_placement == GangPlacement::Whole
        && row.state == ApplicationState::Accepted
        && row.allocation_count > 0
        && row.gang.as_ref().is_some_and(|gang| !gang.ask.is_empty() && !gang.is_untouched())
}

/// The placeholders of a gang that wait, by what they want.
struct Placeholders {
    /// How many of each shape.
    shapes: Vec<(ShapeId, usize)>,
    /// What they need of queues, users and groups in all.
    needs: Resources,
    /// In the order in which they are placed.
    asks: Vec<(AskKey, AllocationId, ShapeId)>,
    /// Whether each may run on any node that suits it, and nobody is asked about that.
    is_plain: bool,
}

impl Scheduler {
    /// Note all gangs that gather, in books that have not been looked at.
    pub(super) fn find_gathering(&mut self, books: &Books) {
        let all = books.applications().iter().filter(|(id, _)| gathers(books, *id));
        self.gathering = GatheringGangs(all.map(|(id, row)| (id, row.partition)).collect());
    }

    /// A gang may have placed its first placeholder, or its last, or may have given up.
    pub(super) fn follow_gang(&mut self, books: &Books, application: ApplicationId) {
        let is = gathers(books, application);
        if self.gathering.0.contains_key(&application) == is {
            // The set is as it was. Whether the gang is still judged as one may have changed.
        } else if is {
            let partition = books.application(application).partition;
            self.gathering.0.insert(application, partition);
        } else if let Some(partition) = self.gathering.0.remove(&application) {
            let blocker = Blocker::BehindGang(partition, application);
            self.parked.open(&mut self.tree, blocker, |_| true);
        }
        let waiting = self.applications.get(application.index());
        let has_gang = waiting.is_some_and(|one| one.batches.of_gang().next().is_some());
        if has_gang {
            self.restand(books, application);
        }
    }

    /// More of the placeholders of a gang are there.
    pub(super) fn gang_arrived(&mut self, application: ApplicationId) {
        self.parked.open(&mut self.tree, Blocker::GangAsks(application), |_| true);
    }

    /// A node has more room: a gang may fit at once that waits for another.
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

    /// Why the gang of a class may not take room now; none where it may, and for other classes.
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
        let other = self.gathering.other(row.partition, application)?;
        let fits = self.may_fit_at_once(books, key, &placeholders);
        (!fits).then_some(Wait::of(Blocker::BehindGang(row.partition, other)))
    }

    fn placeholders_of(&self, books: &Books, application: ApplicationId) -> Placeholders {
        let mut all = Placeholders {
            shapes: Vec::new(),
            needs: Resources::new(),
            asks: Vec::new(),
            is_plain: true,
        };
        let waiting = self.applications.get(application.index());
        for (key, batch) in waiting.into_iter().flat_map(|one| one.batches.of_gang()) {
            let asks = &self.classes.batches[batch].asks;
            let count = u32::try_from(asks.len()).unwrap_or(u32::MAX);
            all.needs.add(&books.shapes().times(key.shape, count));
            all.shapes.push((key.shape, asks.len()));
            all.asks.extend(asks.iter().map(|(place, ask)| (*place, *ask, key.shape)));
            all.is_plain &=
                matches!(key.mode, PlacementMode::AnyNode | PlacementMode::MayPreempt(_));
        }
        all.asks.sort_unstable_by_key(|(place, ..)| *place);
        all
    }

    /// Whether queues and limits have room for all placeholders at once, and the nodes for all of each size.
    fn may_fit_at_once(&self, books: &Books, key: ClassKey, all: &Placeholders) -> bool {
        let ChargeState::Linked { link, .. } = key.charge else { return false };
        let nodes = &self.nodes[&books.queue(key.leaf).partition];
        all.is_plain
            && bounds::queues(books, key.leaf, &all.needs).is_none()
            && limits_and_cap(books, key.leaf, link, &all.needs).is_none()
            && all.shapes.iter().all(|(shape, count)| nodes.has_room_for(books, *shape, *count))
    }

    /// Place all placeholders of the gang of a class, each where it would go if those before it were there already.
    /// Whether that was possible.
    ///
    /// Costs what as many placements cost, on books that are shared but for those.
    pub(super) fn place_gang(
        &mut self,
        books: &Books,
        key: ClassKey,
        events: &mut Vec<Event>,
    ) -> bool {
        let Some(gang) = key.gang else { return false };
        let all = self.placeholders_of(books, gang.application);
        if !self.may_fit_at_once(books, key, &all) {
            return false;
        }
        let partition = books.queue(key.leaf).partition;
        let nodes = self.nodes.get_mut(&partition).expect("every partition has its nodes");
        let (mut then, mut touched, before) = (books.clone(), Vec::<NodeId>::new(), events.len());
        let mut is_whole = true;
        for (_, ask, shape) in &all.asks {
            let Some(node) = nodes.first_fit(&then, *shape) else {
                is_whole = false; // Sizes that fit one by one need not fit together.
                break;
            };
            let from = events.len();
            place(&then, gang.application, (*ask, node), events);
            for event in &events[from..] {
                then.apply(self.now, event);
            }
            nodes.update(&then, node);
            touched.push(node);
        }
        for node in touched {
            nodes.update(books, node); // Nothing of it has happened yet.
        }
        if !is_whole {
            events.truncate(before);
        }
        is_whole
    }

    /// The gang for which the gang of a class waits that was found not to fit at once.
    pub(super) fn behind_gang(&self, books: &Books, key: ClassKey) -> Option<Wait> {
        let application = key.gang?.application;
        let partition = books.queue(key.leaf).partition;
        let other = self.gathering.other(partition, application)?;
        Some(Wait::of(Blocker::BehindGang(partition, other)))
    }
}
