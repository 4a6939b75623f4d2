//! Invariants of the books, checked by recomputation. Source: scheduling §21.
//!
//! No check compares one stored sum with another. Every sum is recomputed from allocations, asks, and nodes.

mod activation;
mod capacity;
mod lifecycle;
mod sums;
mod tenants;
mod users;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;

use crate::books::tracker::{TrackerKind, Trackers};
use crate::books::{
    Allocation, Application, ApplicationState, Books, Level, LimitSubject, Node, Question,
    QuestionSubject,
};
use crate::config::LimitPrecedence;
use crate::id::{AllocationId, ApplicationId, LevelId, NodeId, PartitionId, QueueId};
use crate::resource::Resources;

use sums::{ApplicationSum, LevelSum, QueueSum, Sums};

/// Two figures that should be equal and differ.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{subject}: {what} is {counted} in the books, but {recomputed} when recomputed")]
pub struct Violation {
    /// Row with the wrong figure.
    pub subject: String,
    /// Figure that is wrong.
    pub what: &'static str,
    /// Value in the books.
    pub counted: String,
    /// Recomputed value.
    pub recomputed: String,
}

type Outcome = Result<(), Violation>;

impl Books {
    /// Checks everything that must hold after every event.
    ///
    /// Costs the size of the books, so call it in tests, and occasionally in the simulator.
    ///
    /// # Errors
    ///
    /// Returns the first wrong figure.
    pub fn check(&self) -> Result<(), Violation> {
        let sums = Sums::of(self);
        self.check_allocations()?;
        self.check_holds()?;
        self.check_applications(&sums)?;
        self.check_queues(&sums)?;
        self.check_capacities()?;
        self.check_nodes(&sums)?;
        self.check_trackers(&sums)?;
        self.check_users(&sums)?;
        self.check_activation()?;
        self.check_states()?;
        self.check_lifetimes()?;
        self.check_tenants()?;
        self.check_names(&sums)
    }

    /// Checks that an allocation that was just placed exceeds no queue maximum, no limit, and no node in any of its
    /// types.
    ///
    /// # Errors
    ///
    /// Returns the first excess.
    pub fn check_placed(&self, allocation: AllocationId) -> Result<(), Violation> {
        let sums = Sums::of(self);
        let row = self.allocation(allocation);
        let asked = self.resources_of(allocation);
        let application = self.application(row.application);
        // A node or a limit can have been lowered below its usage. Only the types of the new allocation count.
        let on_node = self.node_request(allocation);
        let within = |max: &Resources, used: &Resources, all: bool| {
            // Nodes do not have the types that count only for queues.
            let asked = if all { on_node } else { asked };
            asked.iter().all(|(resource, _)| {
                let used = used.get_or_zero(resource);
                max.get(resource).map_or(!all, |max| used <= max)
            })
        };
        for (id, queue) in self.up(application.queue) {
            let used = &sums.queues[&id].allocated;
            let root = queue.parent.is_none();
            let max = queue.max.as_ref().unwrap_or(&NOTHING);
            let holds = within(max, used, root);
            ensure(holds, &queue.path, "maximum, allocations within it", max, used)?;
        }
        let node = row.node.expect("it was just placed");
        let (used, node) = (&sums.nodes[&node], self.node(node));
        let holds = within(&node.capacity, used, true);
        ensure(holds, &node.name, "capacity, allocations within it", &node.capacity, used)?;
        for (id, level) in self.holding_back(row.application) {
            let used = &sums.levels[&(application.partition, id)].used;
            let max = level.max().unwrap_or(&NOTHING);
            ensure(within(max, used, false), "user or group", "limit, use within it", max, used)?;
        }
        Ok(())
    }

    /// Checks that an application that just started leaves every queue, user, and group within its limit on running
    /// applications.
    ///
    /// # Errors
    ///
    /// Returns the first excess.
    pub fn check_started(&self, application: ApplicationId) -> Result<(), Violation> {
        let sums = Sums::of(self);
        let row = self.application(application);
        for (id, queue) in self.up(row.queue) {
            let (running, max) = (sums.queues[&id].running, queue.settings.max_applications);
            if max > 0 && running > max {
                return Err(violation(&queue.path, "running applications", &max, &running));
            }
        }
        for (id, level) in self.holding_back(application) {
            let running = sums.levels[&(row.partition, id)].running;
            let max = level.max_applications();
            if max > 0 && running > max {
                return Err(violation("user or group", "running applications", &max, &running));
            }
        }
        Ok(())
    }

    /// Checks that questions exist only for waiting asks, with at most the allowed number of nodes.
    fn check_questions(&self, id: AllocationId, row: &Allocation) -> Outcome {
        let question = self.question_of(id);
        let asked = question.map_or(0, |question| question.nodes().count());
        let most = match question.map(|one| &one.subject) {
            _ if !row.is_pending() => 0,
            Some(QuestionSubject::Removals(_)) => Question::REMOVALS_MAX,
            _ => Question::NODES_MAX,
        };
        if asked > most {
            return Err(violation(&row.key, "nodes that the RM is asked about", &most, &asked));
        }
        let known = self.verdicts_remembered(id);
        if known > 0 && !row.is_pending() {
            return Err(violation(&row.key, "verdicts of what waits no more", &known, &0));
        }
        Ok(())
    }

    /// Checks the number of open questions and its limit.
    fn check_open_questions(&self) -> Outcome {
        for (id, row) in self.partitions() {
            let asks = row.allocations.iter().filter(|(_, ask)| self.question_of(**ask).is_some());
            let (open, stored) = (asks.count(), row.open_questions);
            equal(
                &row.name,
                "open questions",
                &stored.count,
                &u32::try_from(open).unwrap_or(u32::MAX),
            )?;
            let most = row.questions.map_or(0, |one| usize::from(one.at_once.get()));
            if open > most {
                return Err(violation(&row.name, "open questions", &most, &open));
            }
            // Between half of the limit and the limit, the flag depends on the history.
            let full = open > most / 2 && (stored.full || open == most);
            let stored = self.has_asked_enough(*id);
            equal(&row.name, "whether the RM has enough to answer", &stored, &full)?;
        }
        Ok(())
    }

    fn check_allocations(&self) -> Outcome {
        self.check_open_questions()?;
        let mut uses = BTreeMap::new();
        for (_, row) in self.allocations().iter() {
            *uses.entry(row.shape).or_insert(0_u64) += 1;
        }
        for (id, row) in self.allocations().iter() {
            self.check_questions(id, row)?;
            let Some(partner) = row.partner() else { continue };
            let back = self.allocations().get(partner).and_then(Allocation::partner);
            equal(&row.key, "partner of its partner", &back, &Some(id))?;
        }
        for (id, resources, stored) in self.shapes().iter() {
            let counted = uses.get(&id).copied().unwrap_or(0);
            equal(&format!("shape {resources:?}"), "uses", &stored, &counted)?;
        }
        Ok(())
    }

    fn check_applications(&self, sums: &Sums) -> Outcome {
        let nothing = ApplicationSum::default();
        for (id, row) in self.applications().iter() {
            // Most applications have ended. A wrong count of one of them is found by the total numbers.
            let idle = row.ask_count + row.allocation_count + row.swap_count == 0;
            let sum = if idle { &nothing } else { sums.applications.get(&id).unwrap_or(&nothing) };
            let name = &row.name;
            equal(name, "pending", &row.pending, &sum.pending)?;
            equal(name, "allocated", &row.allocated, &sum.allocated)?;
            equal(name, "asks", &row.ask_count, &sum.asks)?;
            equal(name, "asks that are never lent a node", &row.homebound, &sum.homebound)?;
            equal(name, "allocations", &row.allocation_count, &sum.allocations)?;
            let listed: u32 = self.allocations_of(id).map(|_| 1).sum();
            let counted = sum.asks + sum.allocations + sum.swaps;
            equal(name, "listed asks and allocations", &listed, &counted)?;
            equal(name, "members in a swap", &row.swap_count, &sum.swaps)?;
            equal(name, "reservations", &row.reservation_count, &sum.reservations)?;
            let (held, placeholders) = row.placeholders();
            equal(name, "placeholders", &(held, placeholders), &(&sum.held, sum.placeholders))?;
            let starts =
                matches!(row.state, ApplicationState::Accepted | ApplicationState::Resuming);
            let accepted = !row.allocating || starts;
            equal(name, "Accepted or Resuming while it counts as allocating", &accepted, &true)?;
            if let Some(charged) = row.charged_to_group() {
                let within = !charged.has_negative() && row.allocated.is_at_least(&charged);
                equal(name, "charged to its group within what it has", &within, &true)?;
            }
            if sum.allocations > 0 {
                equal(name, "linked while it has allocations", &row.link.is_some(), &true)?;
            }
            if sum.allocations > sum.placeholders {
                equal(name, "counted while it has more than placeholders", &row.counted, &true)?;
            }
            if !row.state.is_active() {
                let free = (row.link.is_none(), row.counted, sum.asks + sum.allocations);
                equal(name, "detached when it has ended", &free, &(true, false, 0))?;
            }
        }
        let busy = self.applications().iter();
        let busy = busy
            .filter(|(_, row)| row.ask_count + row.allocation_count + row.swap_count > 0)
            .count();
        equal("all applications", "with asks or allocations", &busy, &sums.applications.len())
    }

    fn check_queues(&self, sums: &Sums) -> Outcome {
        let nothing = QueueSum::default();
        for (id, row) in self.queues().iter() {
            let sum = sums.queues.get(&id).unwrap_or(&nothing);
            equal(&row.path, "allocated", &row.allocated, &sum.allocated.pruned())?;
            equal(&row.path, "pending", &row.pending, &sum.shown_pending())?;
            let (stored, exact) = (row.largest_pending(), sum.largest_pending());
            equal(&row.path, "pending beyond 64 bits", &stored, &exact)?;
            equal(&row.path, "preempting", &row.preempting, &sum.preempting.pruned())?;
            equal(&row.path, "running applications", &row.running, &sum.running)?;
            equal(&row.path, "allocating applications", &row.allocating, &sum.allocating)?;
            let left = row.max.as_ref().map(|max| max.minus_existing(&sum.allocated));
            equal(&row.path, "left of its maximum", &row.left, &left)?;
            let listed = self.children(id).map(|(_, child)| u32::from(child.parent == Some(id)));
            equal(&row.path, "queues below", &listed.sum(), &sum.children)?;
            equal(&row.path, "number of queues below", &row.child_count, &sum.children)?;
            let mut shown = BTreeMap::new();
            let applications = self.applications_in(id).filter_map(|(id, _)| self.urgency(id));
            let below = self.children(id).filter_map(|(_, child)| child.shown_priority());
            for priority in applications.chain(below) {
                *shown.entry(priority).or_default() += 1;
            }
            equal(&row.path, "priorities", &row.priorities().collect(), &shown)?;
            let active = |row: &Application| row.queue == id && row.state.is_active();
            let listed = self.applications_in(id).map(|(_, row)| u32::from(active(row)));
            equal(&row.path, "listed applications", &listed.sum(), &sum.applications)?;
            if row.parent.is_none() {
                let size = sums.sizes.get(&row.partition).map(Resources::pruned);
                let size = size.filter(|size| !size.is_empty());
                equal(&row.path, "size of the cluster", &row.max, &size)?;
            }
        }
        Ok(())
    }

    /// Returns the highest priority among the waiting asks of an application.
    fn urgency(&self, application: ApplicationId) -> Option<i32> {
        let asks = self.allocations_of(application).filter(|(_, row)| row.is_pending());
        asks.map(|(_, row)| row.priority).max()
    }

    fn check_nodes(&self, sums: &Sums) -> Outcome {
        for (id, row) in self.nodes().iter() {
            let here = self.allocations_on(id).map(|(_, one)| u32::from(one.node == Some(id)));
            let listed = here.sum::<u32>();
            let counted = sums.on_node.get(&id).copied().unwrap_or(0);
            equal(&row.name, "allocations", &row.allocation_count, &counted)?;
            equal(&row.name, "listed allocations", &listed, &counted)?;
            let used = sums.nodes.get(&id).unwrap_or(&NOTHING);
            equal(&row.name, "allocated", &row.allocated, &used.pruned())?;
            let foreign = sums.foreign.get(&id).unwrap_or(&NOTHING);
            equal(&row.name, "occupied", &row.occupied, &foreign.pruned())?;
            let free = row.capacity.minus(used).minus(foreign).pruned();
            equal(&row.name, "available", &row.available, &free)?;
            self.check_reservations(id, row)?;
        }
        Ok(())
    }

    /// Checks that the holds of queues and asks agree, with at most one ask for each queue.
    fn check_holds(&self) -> Outcome {
        let held = self.allocations().iter().filter_map(|(id, row)| Some((id, row, row.hold()?)));
        let mut queues = BTreeMap::new();
        for (id, row, hold) in held {
            equal(&row.key, "an ask with a hold waits", &row.is_pending(), &true)?;
            let leaf = self.application(row.application).queue;
            let above = self.up(leaf).any(|(queue, _)| queue == hold.top);
            equal(&row.key, "the top of a hold is above", &above, &true)?;
            for queue in self.holding(id, hold.top) {
                let other = queues.insert(queue, id);
                equal(&row.key, "the others for whom a queue holds room", &other, &None)?;
            }
        }
        let stored: BTreeMap<_, _> = self.holds().collect();
        equal(&crate::Name::new("the books"), "the queues that hold room", &stored, &queues)
    }

    /// Checks the reservations of a node. Each ask waits, and fits the capacity of the node without foreign
    /// allocations. There is one ordinary reservation, or several of asks that require the node.
    fn check_reservations(&self, id: NodeId, row: &Node) -> Outcome {
        let (mut ordinary, left) = (0, row.capacity.minus(&row.occupied));
        for one in row.reservations() {
            let ask = self.allocations().get(*one);
            let waits = ask.filter(|ask| ask.is_pending());
            let stored = waits.and_then(Allocation::reservation).map(|one| one.node);
            equal(&row.name, "node of its reservation", &stored, &Some(id))?;
            let fits = waits.is_some() && left.fits(self.node_request(*one));
            equal(
                &row.name,
                "an ask that could not fit it and that it is reserved for",
                &fits,
                &true,
            )?;
            ordinary += usize::from(waits.is_some_and(|ask| ask.required_node().is_none()));
        }
        let alone = ordinary == 0 || row.reservations().len() == 1;
        equal(&row.name, "an ordinary reservation alone", &alone, &true)
    }

    /// Returns the levels whose limits apply to an application, directly from the queue file: all levels of the user,
    /// and those of the group that no limit with the name of the user replaces.
    fn holding_back(
        &self,
        application: ApplicationId,
    ) -> impl Iterator<Item = (LevelId, Level<'_>)> {
        let row = self.application(application);
        let partition = self.partition(row.partition);
        let first = partition.settings.limit_precedence == LimitPrecedence::User;
        let subject = LimitSubject::User(row.user.clone());
        let named = move |queue: QueueId| {
            let limits = partition.trackers.limits_at(queue);
            limits.iter().any(|limit| limit.subject == subject)
        };
        self.levels_of(application).filter(move |(_, level)| {
            let group = partition.trackers.tracker(level.tracker).kind == TrackerKind::Group;
            !(first && group && self.up(level.queue).any(|(queue, _)| named(queue)))
        })
    }

    fn check_trackers(&self, sums: &Sums) -> Outcome {
        for (partition, row) in self.partitions() {
            let trackers = &row.trackers;
            for (id, level) in trackers.levels() {
                let tracker = trackers.tracker(level.tracker);
                let here = self.queues().get(level.queue);
                let path = here.filter(|queue| queue.partition == *partition);
                let Some(path) = path.map(|queue| &queue.path) else {
                    return Err(violation(&tracker.name, "queue of a level", &true, &false));
                };
                let subject = format!("{} at {path}", tracker.name);
                check_level(trackers, id, &subject, sums.levels.get(&(*partition, id)))?;
                let parent = level.parent.map(|parent| trackers.level(parent).queue);
                equal(&subject, "queue above", &parent, &self.queue(level.queue).parent)?;
            }
            let counted = trackers.shared_are_counted();
            equal(&row.name, "uses of each shared ceiling counted", &counted, &true)?;
            for queue in trackers.limited_queues() {
                let here = self.queues().get(queue).is_some_and(|one| one.partition == *partition);
                equal(&row.name, "queue of a limit", &true, &here)?;
                equal(&row.name, "limits stored", &trackers.limits_at(queue).is_empty(), &false)?;
            }
            for kind in [TrackerKind::User, TrackerKind::Group] {
                for (name, id) in trackers.names(kind).iter() {
                    let tracker = trackers.tracker(*id);
                    equal(name, "name and kind", &(&tracker.name, tracker.kind), &(name, kind))?;
                }
            }
        }
        Ok(())
    }

    fn check_names(&self, sums: &Sums) -> Outcome {
        for (id, row) in self.partitions() {
            let of = |partition: PartitionId| partition == *id;
            let queues = || self.queues().iter().filter(|(_, one)| of(one.partition));
            equal(&row.name, "queues by path", &row.queues.len(), &queues().count())?;
            let made = queues().map(|(_, one)| u32::from(!one.managed)).sum();
            equal(&row.name, "queues made by rules", &row.queues_made, &made)?;
            let nodes = self.nodes().iter().filter(|(_, one)| of(one.partition)).count();
            equal(&row.name, "nodes by id", &row.nodes.len(), &nodes)?;
            let active = sums.active.get(id).copied().unwrap_or(0);
            equal(&row.name, "applications by id", &row.applications.len(), &active)?;
            let mine = |application| of(self.application(application).partition);
            let all = self.allocations().iter().filter(|(_, one)| mine(one.application));
            let pending = all.filter(|(_, one)| one.is_pending()).count() as u64;
            equal(&row.name, "asks", &row.ask_count, &pending)?;
            // Each key finds its row, and the numbers of keys and rows are equal, so each row has one key.
            for (key, allocation) in row.allocations.iter() {
                let found = self.allocations().get(*allocation);
                equal(key, "its key", &found.map(|one| &one.key), &Some(key))?;
            }
            let mine = || {
                let all = self.applications().iter();
                all.filter(|(_, one)| of(one.partition)).map(|(_, one)| one)
            };
            let swaps = mine().map(|one| u64::from(one.swap_count)).sum();
            equal(&row.name, "members in a swap", &row.swap_count, &swaps)?;
            let held = mine().map(|one| u64::from(one.placeholders().1)).sum();
            equal(&row.name, "placeholders", &row.placeholder_count, &held)?;
            let reserved = mine().map(|one| u64::from(one.reservation_count)).sum();
            equal(&row.name, "reservations", &row.reservation_count, &reserved)?;
            let stored = row.ask_count + row.allocation_count + row.swap_count;
            equal(
                &row.name,
                "asks and allocations by key",
                &(row.allocations.len() as u64),
                &stored,
            )?;
        }
        Ok(())
    }
}

/// Checks the sums, the limit, and the index entry of one level.
fn check_level(
    trackers: &Trackers,
    id: LevelId,
    subject: &str,
    counted: Option<&LevelSum>,
) -> Outcome {
    let (nothing, level) = (LevelSum::default(), trackers.level(id));
    let sum = counted.unwrap_or(&nothing);
    let tracker = trackers.tracker(level.tracker);
    equal(subject, "used", &level.used(), &sum.used.pruned())?;
    equal(subject, "use below zero", &level.used().has_negative(), &false)?;
    equal(subject, "running applications", &level.running, &sum.running)?;
    equal(subject, "linked applications", &level.links(), &sum.links)?;
    let left = level.max().map(|max| max.minus_existing(&sum.used));
    equal(subject, "left of the limit", &level.left(), &left)?;
    let limit = trackers.configured(tracker.kind, &tracker.name, level.queue).cloned();
    let limit = limit.unwrap_or_default();
    equal(
        subject,
        "limit",
        &(level.max(), level.max_applications()),
        &(limit.max.as_ref(), limit.max_applications),
    )?;
    equal(subject, "amounts where they are looked for", &trackers.is_in_place(id), &true)?;
    equal(subject, "no account of its own without need", &trackers.leans_if_it_may(id), &true)?;
    let found = trackers.level_of(tracker.kind, &tracker.name, level.queue);
    equal(subject, "level at its queue", &found, &Some(id))?;
    let below = trackers.children(id).filter(|(_, child)| child.parent == Some(id)).count();
    let needed = level.is_limited() || sum.links > 0 || below > 0;
    equal(subject, "needed by a use or a limit", &needed, &true)
}

static NOTHING: Resources = Resources::new();

fn ensure(
    holds: bool,
    subject: &str,
    what: &'static str,
    counted: &Resources,
    recomputed: &Resources,
) -> Outcome {
    if holds { Ok(()) } else { Err(violation(subject, what, counted, recomputed)) }
}

fn equal<T: PartialEq + core::fmt::Debug>(
    subject: &str,
    what: &'static str,
    counted: &T,
    recomputed: &T,
) -> Outcome {
    if counted == recomputed { Ok(()) } else { Err(violation(subject, what, counted, recomputed)) }
}

fn violation<T: core::fmt::Debug>(
    subject: &str,
    what: &'static str,
    counted: &T,
    recomputed: &T,
) -> Violation {
    Violation {
        subject: subject.into(),
        what,
        counted: format!("{counted:?}"),
        recomputed: format!("{recomputed:?}"),
    }
}
