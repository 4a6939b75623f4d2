//! What was placed, beside what our scheduler would place: in histories with a single node and
//! applications in the order in which they came, where nobody has a choice of nodes.
//!
//! Rules of `CapacityScheduler` about what goes on behind an ask that waits for room are applied, since
//! they are not ours: a leaf stops at the first ask for which its queue, or the node, has no room, where ours goes on with the
//! next (decision L-8); and 3.4.3 holds back from other leaves what such a leaf below its guarantee
//! has left, where ours holds nothing back (M-13). While a node is reserved, or about to be, nothing is
//! compared: ours is kept for one ask by another contract.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};
use headroom_core::books::Books;
use headroom_core::id::{AllocationId, ApplicationId, QueueId};
use headroom_core::userlimit::{Among, Formula};
use headroom_core::{AskEvent, Blocker, Command, Event, Scheduler, Step, Termination, decide};
use serde_json::Value;

use super::figures::Figures;
use super::own::Own;
use super::record::Record;
use super::setup::{PARTITION, Setup};
use super::size::Size;
use super::world::{NOW, World};

/// What is compared of a history, and of the step at hand.
#[derive(Debug)]
pub(super) struct Placements {
    /// Whether placements are compared in this history.
    are_compared: bool,
    /// Whether they are in this step.
    now: bool,
    /// How many more could have been placed in this step.
    left: u64,
    /// Which `CapacityScheduler` it was.
    formula: Formula,
}

/// What our scheduler would place next.
#[derive(Debug)]
struct Next {
    /// For which application, and how much; none if nothing can be placed.
    placed: Option<(String, Size)>,
    /// Whether another leaf than that of the application waits for room.
    holds_back: bool,
}

impl Placements {
    pub(super) fn of(setup: &Setup, steps: &[Value]) -> Self {
        let added = steps.iter().filter(|step| step["op"] == "add_node");
        let nodes: BTreeSet<&str> = added.filter_map(|step| step["node"].as_str()).collect();
        let are_compared = nodes.len() == 1 && setup.is_fifo();
        Self { are_compared, now: false, left: 0, formula: setup.formula }
    }

    /// A step begins.
    pub(super) fn begin(&mut self, record: &Record, step: &Value) {
        let mut events = step["events"].as_array().into_iter().flatten();
        let is_reserved = record.apps().any(|(_, app)| app.get("reserved").is_some());
        let reserves = events.any(|event| event[0] == "reserve");
        self.now = self.are_compared && step["op"] == "heartbeat" && !is_reserved && !reserves;
        self.left = step["times"].as_u64().unwrap_or(1);
    }

    /// Something was placed; it is not in the books yet.
    pub(super) fn compare(
        &mut self,
        own: &Own,
        recorded: (&str, Size),
        figures: &mut Figures,
    ) -> Result<()> {
        self.left = self.left.saturating_sub(1);
        self.look(own, Some(recorded), figures)
    }

    /// The step ends: where more could have been placed and was not, ours places nothing either.
    pub(super) fn end(&mut self, own: &Own, figures: &mut Figures) -> Result<()> {
        if self.left > 0 {
            self.look(own, None, figures)?;
        }
        self.now = false;
        Ok(())
    }

    fn look(&self, own: &Own, recorded: Option<(&str, Size)>, figures: &mut Figures) -> Result<()> {
        if !self.now {
            return Ok(());
        }
        let world = &own.world;
        let leaf = recorded.and_then(|(app, _)| world.leaf_of(app));
        let Next { placed, holds_back } = next((&world.books, &own.parts), self.formula, leaf)?;
        if holds_back && self.formula == Formula::Yarn3 {
            return Ok(());
        }
        let recorded = recorded.map(|(app, size)| (app.to_owned(), world.counted(size)));
        let subject = recorded.as_ref().map_or("nobody", |(app, _)| app).to_owned();
        figures.plain(&subject, "placement", &placed, &recorded);
        Ok(())
    }
}

/// What our scheduler would place next where a leaf stops at the first ask that waits for room. Where
/// the record says that this leaf was next, others that are served just as well are left alone.
fn next(
    (books, parts): (&Books, &World),
    formula: Formula,
    recorded: Option<QueueId>,
) -> Result<Next> {
    let mut books = books.clone();
    let mut stopped = BTreeSet::new();
    loop {
        let mut scheduler = Scheduler::new(&books);
        let placed = place(&mut scheduler, &mut books)?;
        let waiting = waiting_for_room(&scheduler, &books, formula);
        let leaf_of =
            |ask: AllocationId| books.application(books.allocation(ask).application).queue;
        let here = placed.map(leaf_of);
        let is_ahead = |ask: &&AllocationId| {
            placed.is_some_and(|placed| {
                leaf_of(**ask) == leaf_of(placed)
                    && place_of(&books, **ask) < place_of(&books, placed)
            })
        };
        if let Some(leaf) = here.filter(|_| waiting.iter().any(|ask| is_ahead(&ask))) {
            stopped.insert(leaf);
            stop(&mut books, leaf)?;
            continue;
        }
        if let Some((here, other)) = here.zip(recorded)
            && are_served_alike((&books, parts), here, other)
        {
            stop(&mut books, here)?;
            continue;
        }
        stopped.extend(waiting.iter().map(|ask| leaf_of(*ask)));
        let holds_back = stopped.iter().any(|leaf| Some(*leaf) != here);
        let placed = placed.map(|ask| {
            let application = books.application(books.allocation(ask).application);
            (application.name.to_string(), Size::of(books.resources_of(ask)))
        });
        return Ok(Next { placed, holds_back });
    }
}

/// Bring the scheduler to the first ask that it places; the books are as they are just before.
fn place(scheduler: &mut Scheduler, books: &mut Books) -> Result<Option<AllocationId>> {
    const STEPS_MAX: usize = 10_000;
    let mut events = Vec::new();
    for _ in 0..STEPS_MAX {
        if scheduler.next(books, NOW, &mut events) != Step::Moved {
            return Ok(None);
        }
        for event in events.drain(..) {
            if let Event::Ask(AskEvent::Placed { ask, .. }) = &event {
                return Ok(Some(*ask));
            }
            scheduler.apply(books, NOW, &event);
        }
    }
    bail!("the scheduler goes on and places nothing")
}

/// The asks that wait for room in a queue or on the node, of each application the first that is
/// looked at: it is left at the first ask that its user may not have, which 3.4.3 finds out before it
/// looks for room, and 2.7.3 afterwards.
fn waiting_for_room(scheduler: &Scheduler, books: &Books, formula: Formula) -> Vec<AllocationId> {
    let waits = |ask: &AllocationId| {
        let blocker = scheduler.wait_of(books, *ask).map(|wait| wait.blocker);
        // An ask for which the queue or the nodes are too small waits for room there, too.
        matches!(
            blocker,
            Some(
                Blocker::QueueMax(_)
                    | Blocker::QueueTooSmall(_)
                    | Blocker::Nodes(_)
                    | Blocker::NodesTooSmall(_)
            )
        )
    };
    let mut by_application: BTreeMap<ApplicationId, Vec<AllocationId>> = BTreeMap::new();
    for ask in pending(books) {
        by_application.entry(books.allocation(ask).application).or_default().push(ask);
    }
    let mut found = Vec::new();
    for mut asks in by_application.into_values() {
        asks.sort_by_key(|ask| place_of(books, *ask));
        let ends = |ask: &AllocationId| waits(ask) || !may_have(books, *ask);
        let last = asks.into_iter().find(ends);
        let is_left = |ask: &AllocationId| formula == Formula::Yarn3 && !may_have(books, *ask);
        found.extend(last.filter(|ask| waits(ask) && !is_left(ask)));
    }
    found
}

/// Whether the user of an ask may have it, as far as his limit goes.
fn may_have(books: &Books, ask: AllocationId) -> bool {
    let row = books.application(books.allocation(ask).application);
    let users = books.users_of(row.queue).zip(row.link);
    let user = users.and_then(|(users, link)| Some((users, users.user(link.user)?)));
    user.is_none_or(|(users, user)| {
        let ask = users.normalised(books.resources_of(ask));
        let limit = users.limit(&user, Among::Active, &ask);
        users.rules().admits(&users.state(), &limit, &user.used(), &ask)
    })
}

/// Whether two leaves have the same part of what they are guaranteed, or the queues that they are below
/// have: whoever goes first then is told by other signs. What they are guaranteed is here what is
/// configured, since 2.7.3 orders queues by that, and reports it rounded (M-10).
fn are_served_alike((books, parts): (&Books, &World), one: QueueId, other: QueueId) -> bool {
    if one == other {
        return false;
    }
    let (one, other) = (books.path_of(one), books.path_of(other));
    let differ = one.iter().zip(&other).find(|(one, other)| one != other);
    differ.is_some_and(|(one, other)| {
        let (one, other) = (part_served(books, parts, *one), part_served(books, parts, *other));
        (one - other).abs() <= one.max(other) * 1e-3
    })
}

/// How much of what it is guaranteed a queue uses, of the type of which that is most.
#[expect(clippy::cast_precision_loss, reason = "amounts are far below 2^53 MB")]
fn part_served(books: &Books, parts: &World, queue: QueueId) -> f64 {
    let row = books.queue(queue);
    let configured = parts.queue(&row.path).ok().map(|queue| parts.books.queue(queue));
    let guaranteed = configured.and_then(|queue| queue.guaranteed.as_ref());
    let Some(guaranteed) = guaranteed else { return 0.0 };
    let used = Size::of(&row.allocated);
    let of = |used: i64, all: i64| if all > 0 { used as f64 / all as f64 } else { 0.0 };
    let all = Size::of(guaranteed);
    of(used.memory, all.memory).max(of(used.cores, all.cores))
}

fn pending(books: &Books) -> impl Iterator<Item = AllocationId> {
    books.allocations().iter().filter(|(_, row)| row.is_pending()).map(|(ask, _)| ask)
}

/// Where an ask stands in its leaf.
fn place_of(books: &Books, ask: AllocationId) -> impl Ord + use<> {
    let row = books.allocation(ask);
    (books.application(row.application).number, Reverse(row.priority), row.number)
}

/// A leaf stops: what waits there is left alone.
fn stop(books: &mut Books, leaf: QueueId) -> Result<()> {
    let here =
        |ask: &AllocationId| books.application(books.allocation(*ask).application).queue == leaf;
    let asks: Vec<AllocationId> = pending(books).filter(here).collect();
    for ask in asks {
        let row = books.allocation(ask);
        let release = Command::Release {
            partition: PARTITION.into(),
            application: books.application(row.application).name.clone(),
            key: Some(row.key.clone()),
            termination: Termination::StoppedByRm,
        };
        for event in decide(books, NOW, &release)? {
            books.apply(NOW, &event);
        }
    }
    Ok(())
}
