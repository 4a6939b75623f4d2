//! What must always hold, recomputed from first principles. Scheduling §21.
//!
//! Nothing here reads a ledger to check another: every sum is made anew from allocations,
//! asks and nodes.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;

use crate::books::tracker::{TrackerKind, Trackers};
use crate::books::{Application, ApplicationState, Books, Level, LimitSubject};
use crate::config::LimitPrecedence;
use crate::id::{AllocationId, ApplicationId, LevelId, NodeId, PartitionId, QueueId};
use crate::resource::Resources;

/// Two figures that should be equal and are not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{subject}: {what} is {kept} in the books and {recomputed} when counted anew")]
pub struct Violation {
    /// About which row.
    pub subject: String,
    /// Which figure.
    pub what: &'static str,
    /// As kept.
    pub kept: String,
    /// As recomputed.
    pub recomputed: String,
}

type Outcome = Result<(), Violation>;

impl Books {
    /// Check everything that must hold after every event.
    ///
    /// Costs the size of the books; for tests, and for the simulator now and then.
    ///
    /// # Errors
    /// The first figure that is wrong.
    pub fn check(&self) -> Result<(), Violation> {
        let sums = Sums::of(self);
        self.check_allocations()?;
        self.check_applications(&sums)?;
        self.check_queues(&sums)?;
        self.check_nodes(&sums)?;
        self.check_trackers(&sums)?;
        self.check_names(&sums)
    }

    /// Check that an allocation that was just placed exceeds no queue maximum, no limit and no
    /// node in any type that it has.
    ///
    /// # Errors
    /// The first excess.
    pub fn check_placed(&self, allocation: AllocationId) -> Result<(), Violation> {
        let sums = Sums::of(self);
        let row = self.allocation(allocation);
        let asked = self.resources_of(allocation);
        let application = self.application(row.application);
        // A node or a limit may have been lowered below its use: what counts is the new one.
        let within = |max: &Resources, used: &Resources, all: bool| {
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
        let holds = within(&node.capacity, used, true) && node.schedulable;
        ensure(holds, &node.name, "capacity, allocations within it", &node.capacity, used)?;
        for (id, level) in self.holding_back(row.application) {
            let used = &sums.levels[&(application.partition, id)].used;
            let max = level.max.as_ref().unwrap_or(&NOTHING);
            ensure(within(max, used, false), "user or group", "limit, use within it", max, used)?;
        }
        Ok(())
    }

    /// Check that an application that just started leaves no queue, user or group with more
    /// running applications than it may have.
    ///
    /// # Errors
    /// The first excess.
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
            let max = level.max_applications;
            if max > 0 && running > max {
                return Err(violation("user or group", "running applications", &max, &running));
            }
        }
        Ok(())
    }

    fn check_allocations(&self) -> Outcome {
        let mut uses = BTreeMap::new();
        for (_, row) in self.allocations().iter() {
            *uses.entry(row.shape).or_insert(0_u64) += 1;
        }
        for (id, resources, kept) in self.shapes().iter() {
            let counted = uses.get(&id).copied().unwrap_or(0);
            equal(&format!("shape {resources:?}"), "uses", &kept, &counted)?;
        }
        Ok(())
    }

    fn check_applications(&self, sums: &Sums) -> Outcome {
        let nothing = ApplicationSum::default();
        for (id, row) in self.applications().iter() {
            // Ended ones are many: what is counted for none of them is found by count below.
            let idle = row.ask_count + row.allocation_count == 0;
            let sum = if idle { &nothing } else { sums.applications.get(&id).unwrap_or(&nothing) };
            let name = &row.name;
            equal(name, "pending", &row.pending, &sum.pending)?;
            equal(name, "allocated", &row.allocated, &sum.allocated)?;
            equal(name, "asks", &row.ask_count, &sum.asks)?;
            equal(name, "allocations", &row.allocation_count, &sum.allocations)?;
            let listed: u32 = self.allocations_of(id).map(|_| 1).sum();
            equal(name, "listed asks and allocations", &listed, &(sum.asks + sum.allocations))?;
            if let Some(charged) = row.charged_to_group() {
                let within = !charged.has_negative() && row.allocated.is_at_least(&charged);
                equal(name, "charged to its group within what it has", &within, &true)?;
            }
            if sum.allocations > 0 {
                equal(name, "linked while it has allocations", &row.link.is_some(), &true)?;
                equal(name, "counted while it has allocations", &row.counted, &true)?;
            }
            if !row.state.is_active() {
                let free = (row.link.is_none(), row.counted, sum.asks + sum.allocations);
                equal(name, "detached when it has ended", &free, &(true, false, 0))?;
            }
        }
        let busy = self.applications().iter();
        let busy = busy.filter(|(_, row)| row.ask_count + row.allocation_count > 0).count();
        equal("all applications", "with asks or allocations", &busy, &sums.applications.len())
    }

    fn check_queues(&self, sums: &Sums) -> Outcome {
        let nothing = QueueSum::default();
        for (id, row) in self.queues().iter() {
            let sum = sums.queues.get(&id).unwrap_or(&nothing);
            equal(&row.path, "allocated", &row.allocated, &sum.allocated.pruned())?;
            equal(&row.path, "pending", &row.pending, &sum.pending.pruned())?;
            equal(&row.path, "running applications", &row.running, &sum.running)?;
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

    /// The highest priority among the waiting asks of an application.
    fn urgency(&self, application: ApplicationId) -> Option<i32> {
        let asks = self.allocations_of(application).filter(|(_, row)| row.is_pending());
        asks.map(|(_, row)| row.priority).max()
    }

    fn check_nodes(&self, sums: &Sums) -> Outcome {
        let mut on_nodes = 0;
        for (id, row) in self.nodes().iter() {
            let here = self.allocations_on(id).map(|(_, one)| u32::from(one.node == Some(id)));
            let listed = here.sum::<u32>();
            equal(&row.name, "allocations", &row.allocation_count, &listed)?;
            on_nodes += listed;
            let used = if listed == 0 { &NOTHING } else { &sums.nodes[&id] };
            equal(&row.name, "allocated", &row.allocated, used)?;
            equal(&row.name, "available", &row.available, &row.capacity.minus(used).pruned())?;
        }
        let placed = sums.applications.values().map(|sum| sum.allocations).sum();
        equal("all nodes", "listed allocations", &on_nodes, &placed)
    }

    /// The levels whose limits hold an application back, straight from the queue file: of the
    /// user all, of the group those that no limit with the user's name lifts.
    fn holding_back(&self, application: ApplicationId) -> impl Iterator<Item = (LevelId, &Level)> {
        let row = self.application(application);
        let partition = self.partition(row.partition);
        let first = partition.settings.limit_precedence == LimitPrecedence::User;
        let him = LimitSubject::User(row.user.clone());
        let named = move |queue: QueueId| {
            let limits = partition.trackers.limits_at(queue);
            limits.iter().any(|limit| limit.subject == him)
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
            for queue in trackers.limited_queues() {
                let here = self.queues().get(queue).is_some_and(|one| one.partition == *partition);
                equal(&row.name, "queue of a limit", &true, &here)?;
                equal(&row.name, "limits kept", &trackers.limits_at(queue).is_empty(), &false)?;
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
            // Found by its key, each is there; and as many keys as rows is one each.
            for (key, allocation) in row.allocations.iter() {
                let found = self.allocations().get(*allocation);
                equal(key, "its key", &found.map(|one| &one.key), &Some(key))?;
            }
            let kept = row.ask_count + row.allocation_count;
            equal(
                &row.name,
                "asks and allocations by key",
                &(row.allocations.len() as u64),
                &kept,
            )?;
        }
        Ok(())
    }
}

/// Check the sums of one level, its limit, and that it is found where it is.
fn check_level(
    trackers: &Trackers,
    id: LevelId,
    subject: &str,
    counted: Option<&LevelSum>,
) -> Outcome {
    let (nothing, level) = (LevelSum::default(), trackers.level(id));
    let sum = counted.unwrap_or(&nothing);
    let tracker = trackers.tracker(level.tracker);
    equal(subject, "used", &level.used, &sum.used.pruned())?;
    equal(subject, "use below zero", &level.used.has_negative(), &false)?;
    equal(subject, "running applications", &level.running, &sum.running)?;
    equal(subject, "linked applications", &level.links(), &sum.links)?;
    let left = level.max.as_ref().map(|max| max.minus_existing(&sum.used));
    equal(subject, "left of the limit", &level.left, &left)?;
    let limit = trackers.configured(tracker.kind, &tracker.name, level.queue).cloned();
    let limit = limit.unwrap_or_default();
    equal(
        subject,
        "limit",
        &(&level.max, level.max_applications),
        &(&limit.max, limit.max_applications),
    )?;
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
    kept: &Resources,
    recomputed: &Resources,
) -> Outcome {
    if holds { Ok(()) } else { Err(violation(subject, what, kept, recomputed)) }
}

fn equal<T: PartialEq + core::fmt::Debug>(
    subject: &str,
    what: &'static str,
    kept: &T,
    recomputed: &T,
) -> Outcome {
    if kept == recomputed { Ok(()) } else { Err(violation(subject, what, kept, recomputed)) }
}

fn violation<T: core::fmt::Debug>(
    subject: &str,
    what: &'static str,
    kept: &T,
    recomputed: &T,
) -> Violation {
    Violation {
        subject: subject.into(),
        what,
        kept: format!("{kept:?}"),
        recomputed: format!("{recomputed:?}"),
    }
}

#[derive(Default)]
struct ApplicationSum {
    pending: Resources,
    allocated: Resources,
    asks: u32,
    allocations: u32,
}

#[derive(Default)]
struct QueueSum {
    pending: Resources,
    allocated: Resources,
    running: u64,
    children: u32,
    applications: u32,
}

#[derive(Default)]
struct LevelSum {
    used: Resources,
    running: u64,
    links: u64,
}

/// Everything counted anew from allocations, asks, applications and nodes.
#[derive(Default)]
struct Sums {
    applications: BTreeMap<ApplicationId, ApplicationSum>,
    queues: BTreeMap<QueueId, QueueSum>,
    nodes: BTreeMap<NodeId, Resources>,
    levels: BTreeMap<(PartitionId, LevelId), LevelSum>,
    sizes: BTreeMap<PartitionId, Resources>,
    /// Applications that have not ended.
    active: BTreeMap<PartitionId, usize>,
}

impl Sums {
    fn of(books: &Books) -> Self {
        let mut sums = Self::default();
        for (_, node) in books.nodes().iter() {
            sums.sizes.entry(node.partition).or_default().add(&node.capacity);
        }
        for (_, queue) in books.queues().iter() {
            if let Some(parent) = queue.parent {
                sums.queues.entry(parent).or_default().children += 1;
            }
        }
        for (_, row) in books.applications().iter() {
            // Most have ended, and count nowhere.
            if row.state.is_active() || row.link.is_some() {
                sums.count_application(books, row);
            }
        }
        for (id, row) in books.allocations().iter() {
            let resources = books.resources_of(id);
            let sum = sums.applications.entry(row.application).or_default();
            match row.node {
                None => {
                    sum.pending.add(resources);
                    sum.asks += 1;
                }
                Some(node) => {
                    sum.allocated.add(resources);
                    sum.allocations += 1;
                    sums.nodes.entry(node).or_default().add(resources);
                }
            }
            sums.charge(books, row.application, resources, row.node.is_some());
        }
        sums
    }

    fn count_application(&mut self, books: &Books, row: &Application) {
        if row.state.is_active() {
            self.queues.entry(row.queue).or_default().applications += 1;
            *self.active.entry(row.partition).or_default() += 1;
        }
        if row.state == ApplicationState::Running {
            for (queue, _) in books.up(row.queue) {
                self.queues.entry(queue).or_default().running += 1;
            }
        }
        let Some(link) = row.link else { return };
        let trackers = &books.partition(row.partition).trackers;
        let group = link.group.level().map(|level| (level, row.counted_by_group()));
        for (leaf, counted) in core::iter::once((link.user, row.counted)).chain(group) {
            for (level, _) in trackers.up(leaf) {
                let sum = self.levels.entry((row.partition, level)).or_default();
                sum.links += 1;
                sum.running += u64::from(counted);
            }
        }
        // What a group was not told is taken off what the allocations add to it below.
        let untold = row.charged_to_group().map(|charged| row.allocated.minus(&charged));
        for (level, _) in link.group.level().into_iter().flat_map(|leaf| trackers.up(leaf)) {
            let sum = self.levels.entry((row.partition, level)).or_default();
            sum.used = sum.used.minus(untold.as_ref().unwrap_or(&NOTHING));
        }
    }

    fn charge(
        &mut self,
        books: &Books,
        application: ApplicationId,
        resources: &Resources,
        placed: bool,
    ) {
        let row = books.application(application);
        for (queue, _) in books.up(row.queue) {
            let sum = self.queues.entry(queue).or_default();
            if placed { sum.allocated.add(resources) } else { sum.pending.add(resources) }
        }
        for (level, _) in books.levels_of(application).filter(|_| placed) {
            self.levels.entry((row.partition, level)).or_default().used.add(resources);
        }
    }
}
