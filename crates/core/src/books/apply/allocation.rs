//! Applies events of asks and allocations.

use alloc::boxed::Box;
use alloc::sync::Arc;

use crate::books::allocation::RareFields;
use crate::books::gang::StopRequest;
use crate::books::link::UnchargedToGroup;
use crate::books::{
    Allocation, Application, ApplicationState, Books, NodeSelector, Partition, Timer,
};
use crate::event::{AskEvent, AskTraits, Termination};
use crate::id::{AllocationId, ApplicationId, NodeId};
use crate::resource::{Amounts, Resources};
use crate::time::Timestamp;

use super::application::LIVE;

impl Books {
    pub(super) fn add_ask(&mut self, event: &AskEvent) {
        let AskEvent::Added { application, key, resources, priority, created, traits } = event
        else {
            return;
        };
        let (application, created) = (*application, *created);
        // A zero amount requests nothing. Without the type, the ask cannot fail an exhausted limit of it.
        let resources = self.types.intern_all(resources).pruned();
        let on_node = self.for_nodes(self.applications[application].partition, &resources);
        let shape = self.shapes.acquire((resources.clone(), on_node), wish(traits), &self.nodes);
        self.asks += 1;
        let line = &mut self.applications[application].line;
        let in_front = line.goes_on_behind(*priority, created);
        line.add(*priority, created);
        let ask = self.allocations.insert(Allocation {
            key: key.clone(),
            application,
            shape,
            priority: *priority,
            created,
            number: if in_front { -self.asks } else { self.asks },
            node: None,
            placed: Timestamp::ZERO,
            originator: traits.originator,
            placeholder: traits.placeholder,
            may_preempt: traits.may_preempt,
            preemptable: traits.preemptable,
            preemption_triggered: false,
            scale_up_asked: false,
            took_place: false,
            mark: StopRequest::None,
            special: special(traits),
            next_in_application: None,
            previous_in_application: None,
            next_on_node: None,
            previous_on_node: None,
        });
        self.attach_allocation(ask);
        let row = &mut self.applications[application];
        let waited = row.is_waiting();
        row.pending.add(&resources);
        row.ask_count += 1;
        row.homebound += u32::from(traits.originator || traits.placeholder);
        let shown = row.priority();
        row.priorities.add(*priority);
        let shows = row.priority();
        row.submitted = row.submitted.min(created);
        if let Some(group) = traits.task_group.as_ref().filter(|_| traits.placeholder) {
            row.gang.get_or_insert_default().add_placeholder(group, &resources);
        }
        let (queue, partition) = (row.queue, row.partition);
        self.note_size(application);
        self.follow_start(application, waited);
        self.each_up(queue, |queue| queue.pend(&resources));
        self.reprioritise(Some(queue), shown, shows);
        let partition = self.partition_mut(partition);
        partition.allocations.insert(key.clone(), ask);
        partition.ask_count += 1;
        self.share_ask(application, shape, true);
    }

    pub(super) fn remove_ask(&mut self, ask: AllocationId, termination: Termination) {
        self.drop_reservation(ask);
        self.drop_hold(ask);
        self.forget_inquiry(ask);
        let row = self.allocations.remove(ask).expect("the event names an ask that is there");
        self.detach_allocation(&row);
        self.share_ask(row.application, row.shape, false);
        let resources = self.shapes.get(row.shape).clone();
        let application = &mut self.applications[row.application];
        application.pending.subtract(&resources);
        application.pending.prune();
        let waited = application.is_waiting();
        application.ask_count -= 1;
        application.homebound -= u32::from(row.is_homebound());
        application.line.remove(row.priority);
        if termination == Termination::Timeout {
            application.timed_out(&row);
        }
        let shown = application.priority();
        application.priorities.remove(row.priority);
        let shows = application.priority();
        let (queue, partition) = (application.queue, application.partition);
        self.follow_start(row.application, waited);
        self.each_up(queue, |queue| queue.unpend(&resources));
        self.reprioritise(Some(queue), shown, shows);
        let partition = self.partition_mut(partition);
        partition.allocations.remove(&*row.key);
        partition.ask_count -= 1;
        self.shapes.release(row.shape);
    }

    pub(super) fn place(&mut self, now: Timestamp, ask: AllocationId, node: NodeId) {
        self.drop_reservation(ask);
        self.drop_hold(ask);
        self.forget_inquiry(ask);
        let row = &mut self.allocations[ask];
        row.node = Some(node);
        row.placed = now;
        let (application, shape, priority) = (row.application, row.shape, row.priority);
        let (placeholder, homebound) = (row.placeholder, row.is_homebound());
        let resources = self.shapes.get(shape);
        self.nodes[node].charge(self.shapes.on_node(shape));
        self.nodes[node].allocation_count += 1;
        let row = &mut self.applications[application];
        row.pending.subtract(resources);
        row.pending.prune();
        row.allocated.add(resources);
        let deadline = if placeholder { row.hold(now, resources) } else { None };
        match &row.gang {
            None => row.peak.raise(&row.allocated),
            Some(gang) if placeholder => row.peak.raise(&gang.placeholders),
            Some(_) => row.peak.raise(&row.real()),
        }
        let waited = row.is_waiting();
        row.ask_count -= 1;
        row.homebound -= u32::from(homebound);
        row.allocation_count += 1;
        row.overtaken = 0;
        row.overtaken_by = None;
        let shown = row.priority();
        row.priorities.remove(priority);
        let shows = row.priority();
        let queue = row.queue;
        let partition =
            self.partitions.get_mut(&row.partition).expect("an application has its partition");
        partition.ask_count -= 1;
        partition.allocation_count += 1;
        partition.placeholder_count += u64::from(placeholder);
        let calm = charge(partition, row, resources);
        let quota = partition.settings.preemption.quota_enabled;
        let mut next = Some(queue);
        while let Some(id) = next {
            let queue = &mut self.queues[id];
            queue.unpend(resources);
            queue.charge(resources);
            if quota && queue.parent.is_some() {
                queue.watch_quota(now, resources);
            }
            next = queue.parent;
        }
        self.follow_start(application, waited);
        self.reprioritise(Some(queue), shown, shows);
        self.attach_to_node(ask, node);
        self.share_placed(application, shape, calm);
        self.note_started(now, application);
        self.meter(now, application, |books| books.shapes.get(shape).clone());
        if let Some(deadline) = deadline {
            self.timers.insert((deadline, Timer::Placeholders(application)), ());
        }
        if self.applications[application].repairs_gang() {
            self.repair_gang(application, ask);
        }
    }

    /// Counts a new member of a gang that lost some. With the last one, its timer stops.
    fn repair_gang(&mut self, application: ApplicationId, member: AllocationId) {
        let gang = self.applications[application].gang.as_mut().expect("it lost members");
        gang.repair(&self.allocations[member]);
        if gang.lost == 0 && gang.placeholder_count == 0 {
            self.expire_placeholders(application);
        }
    }

    /// Counts a member that a gang lost with its node. Its timer starts with the first one, unless placeholders already
    /// have a timer.
    fn lose_member(&mut self, now: Timestamp, member: &Allocation) {
        if !self.is_missed(member) {
            return;
        }
        let application = member.application;
        let gang = self.applications[application].gang.as_mut().expect("the member is of a gang");
        gang.lost += 1;
        if let Some(deadline) = gang.start_timer(now) {
            self.timers.insert((deadline, Timer::Placeholders(application)), ());
        }
    }

    /// Counts an Accepted application as allocating after its first placement.
    #[inline]
    pub(super) fn note_allocating(&mut self, application: ApplicationId) {
        let row = &mut self.applications[application];
        if row.state == ApplicationState::Accepted && !row.allocating {
            row.allocating = true;
            let queue = row.queue;
            self.each_up(queue, |queue| queue.allocating += 1);
        }
    }

    /// Records that the RM was asked to stop a preempted allocation.
    pub(super) fn preempt(&mut self, victim: AllocationId) {
        let row = &mut self.allocations[victim];
        row.mark = StopRequest::Preempted;
        let (application, shape) = (row.application, row.shape);
        let resources = self.shapes.get(shape).clone();
        let queue = self.applications[application].queue;
        self.each_up(queue, |queue| queue.preempting.add(&resources));
    }

    /// Resizes an ask or allocation, whether the new size fits or not.
    pub(super) fn resize(&mut self, now: Timestamp, allocation: AllocationId, resources: &Amounts) {
        let after = self.types.intern_all(resources).pruned();
        let wish = self.shapes.shared_wish(self.allocations[allocation].shape);
        let application = self.allocations[allocation].application;
        let on_node = self.for_nodes(self.applications[application].partition, &after);
        let shape = self.shapes.acquire((after.clone(), on_node), wish, &self.nodes);
        self.forget_inquiry(allocation);
        let row = &mut self.allocations[allocation];
        let (old, application, node) = (row.shape, row.application, row.node);
        let (placeholder, preempted) = (row.placeholder, row.mark == StopRequest::Preempted);
        row.shape = shape;
        let before = self.shapes.get(old).clone();
        if let Some(node) = node {
            self.nodes[node].refund(self.shapes.on_node(old));
            self.nodes[node].charge(self.shapes.on_node(shape));
        }
        if node.is_none() {
            self.share_ask(application, shape, true);
            self.share_ask(application, old, false);
        }
        self.shapes.release(old);
        let row = &mut self.applications[application];
        let queue = row.queue;
        if node.is_none() {
            row.pending.subtract(&before);
            row.pending.add(&after);
            row.pending.prune();
            self.note_size(application);
            return self.each_up(queue, |queue| {
                queue.unpend(&before);
                queue.pend(&after);
            });
        }
        // For each type, the decrease is refunded and the increase is charged.
        let nothing = Resources::new();
        let grown = after.minus(&before).maximum(&nothing).pruned();
        let shrunk = before.minus(&after).maximum(&nothing).pruned();
        let partition =
            self.partitions.get_mut(&row.partition).expect("an application has its partition");
        let mut calm = refund(partition, row, &shrunk);
        if !grown.is_empty() {
            calm = charge(partition, row, &grown);
        }
        row.allocated.subtract(&before);
        row.allocated.add(&after);
        row.allocated.prune();
        if let Some(gang) = row.gang.as_mut().filter(|_| placeholder) {
            gang.placeholders = gang.placeholders.minus(&before).plus(&after).pruned();
        }
        let quota = partition.settings.preemption.quota_enabled;
        self.note_size(application);
        self.each_up(queue, |queue| {
            queue.refund(&before);
            queue.charge(&after);
            if preempted {
                queue.preempting = queue.preempting.minus(&before).plus(&after).pruned();
            }
            if quota && queue.parent.is_some() {
                queue.watch_quota(now, &grown);
            }
        });
        self.share_use(application, calm, || after.minus(&before));
        self.meter(now, application, |_| after.minus(&before));
    }

    pub(super) fn release(
        &mut self,
        now: Timestamp,
        allocation: AllocationId,
        termination: Termination,
    ) {
        let row = self.allocations.remove(allocation).expect("the event names a live allocation");
        self.detach_allocation(&row);
        let resources = self.shapes.get(row.shape).clone();
        let node = row.node.expect("a released allocation was placed");
        self.detach_from_node(&row, node);
        self.nodes[node].refund(self.shapes.on_node(row.shape));
        self.nodes[node].allocation_count -= 1;
        self.bring_nearer(now, node);
        let application = &mut self.applications[row.application];
        application.spend(now, &row, &self.nodes[node], &resources);
        let queue = application.queue;
        let partition = self
            .partitions
            .get_mut(&application.partition)
            .expect("an application has its partition");
        partition.allocations.remove(&*row.key);
        partition.allocation_count -= 1;
        let calm = refund(partition, application, &resources);
        application.allocated.subtract(&resources);
        application.allocated.prune();
        application.allocation_count -= 1;
        application.line.remove(row.priority);
        if row.placeholder {
            partition.placeholder_count -= 1;
            if termination == Termination::PlaceholderReplaced {
                application.replaced(&row, &resources);
            } else {
                application.given_up(&row, &resources);
            }
        }
        let preempted = row.mark == StopRequest::Preempted;
        self.follow_start(row.application, false);
        self.each_up(queue, |queue| {
            queue.refund(&resources);
            if preempted {
                queue.preempting.subtract(&resources);
                queue.preempting.prune();
            }
        });
        self.share_use(row.application, calm, || resources.times(-1));
        self.meter(now, row.application, |_| resources.times(-1));
        self.shapes.release(row.shape);
        if termination == Termination::NodeRemoved {
            self.lose_member(now, &row);
        }
    }
}

/// Returns the node selector of an ask, if it has one.
fn wish(traits: &AskTraits) -> Option<Arc<NodeSelector>> {
    let (label, blocked) = (traits.node_label.clone(), traits.blocked_nodes.clone());
    Some(NodeSelector { label, blocked }).filter(|wish| !wish.is_empty()).map(Arc::new)
}

fn special(traits: &AskTraits) -> Option<Box<RareFields>> {
    let AskTraits { task_group, required_node, .. } = traits.clone();
    let rare = task_group.is_some() || required_node.is_some();
    rare.then(|| Box::new(RareFields { task_group, required_node, ..RareFields::default() }))
}

/// Charges the user and the group of an application, which both count it afterwards. Returns whether the user certainly
/// stays as active as before in a leaf with user limits.
#[inline]
pub(super) fn charge(
    partition: &mut Partition,
    application: &mut Application,
    amount: &Resources,
) -> bool {
    let first = !core::mem::replace(&mut application.counted, true);
    let Some(link) = application.link else { return false };
    let trackers = &mut partition.trackers;
    let calm = trackers.charge(link.user, amount).expect(LIVE);
    if first {
        trackers.start_application(link.user).expect(LIVE);
    }
    let Some(group) = link.group.level() else { return calm };
    trackers.increase(group, amount).expect(LIVE);
    let first = match &mut application.untold {
        None => first,
        Some(untold) => !core::mem::replace(&mut untold.counted, true),
    };
    if first {
        trackers.start_application(group).expect(LIVE);
    }
    UnchargedToGroup::settle(&mut application.untold);
    calm
}

/// Refunds the user of an application, and its group as far as the group was charged. Call it before the amount is
/// subtracted from the application. Returns whether the user certainly stays as active as before.
#[inline]
pub(super) fn refund(
    partition: &mut Partition,
    application: &mut Application,
    amount: &Resources,
) -> bool {
    let Some(link) = application.link else { return false };
    let trackers = &mut partition.trackers;
    let calm = trackers.refund(link.user, amount).expect(LIVE);
    let Some(group) = link.group.level() else { return calm };
    match &mut application.untold {
        None => trackers.decrease(group, amount).expect(LIVE),
        Some(untold) => {
            let back = untold.give_back(&application.allocated, amount);
            trackers.decrease(group, &back).expect(LIVE);
            UnchargedToGroup::settle(&mut application.untold);
        }
    }
    calm
}
