//! Asks come, are placed, and give back.

use crate::books::{Allocation, Books, Link};
use crate::event::Event;
use crate::id::{AllocationId, NodeId};
use crate::resource::Amounts;
use crate::time::Timestamp;

impl Books {
    pub(super) fn add_ask(&mut self, event: &Event) {
        let Event::AskAdded { application, key, resources, priority, created, originator } = event
        else {
            return;
        };
        let (application, created) = (*application, *created);
        // Zero amounts ask for nothing; dropped, they cannot run into an exhausted limit.
        let resources = self.types.intern_all(resources).pruned();
        let shape = self.shapes.acquire(resources.clone());
        self.asks += 1;
        let ask = self.allocations.insert(Allocation {
            key: key.clone(),
            application,
            shape,
            priority: *priority,
            created,
            number: self.asks,
            node: None,
            placed: Timestamp::ZERO,
            originator: *originator,
            next_in_application: None,
            previous_in_application: None,
            next_on_node: None,
            previous_on_node: None,
        });
        self.attach_allocation(ask);
        let row = &mut self.applications[application];
        row.pending.add(&resources);
        row.ask_count += 1;
        let shown = row.priority();
        row.priorities.add(*priority);
        let shows = row.priority();
        row.submitted = row.submitted.min(created);
        let (queue, partition) = (row.queue, row.partition);
        self.each_up(queue, |queue| queue.pend(&resources));
        self.reprioritise(Some(queue), shown, shows);
        let partition = self.partition_mut(partition);
        partition.allocations.insert(key.clone(), ask);
        partition.ask_count += 1;
    }

    pub(super) fn remove_ask(&mut self, ask: AllocationId) {
        let row = self.allocations.remove(ask).expect("the event names an ask that is there");
        self.detach_allocation(&row);
        let resources = self.shapes.get(row.shape).clone();
        let application = &mut self.applications[row.application];
        application.pending.subtract(&resources);
        application.pending.prune();
        application.ask_count -= 1;
        let shown = application.priority();
        application.priorities.remove(row.priority);
        let shows = application.priority();
        let (queue, partition) = (application.queue, application.partition);
        self.each_up(queue, |queue| queue.unpend(&resources));
        self.reprioritise(Some(queue), shown, shows);
        let partition = self.partition_mut(partition);
        partition.allocations.remove(&*row.key);
        partition.ask_count -= 1;
        self.shapes.release(row.shape);
    }

    pub(super) fn place(&mut self, now: Timestamp, ask: AllocationId, node: NodeId) {
        let row = &mut self.allocations[ask];
        row.node = Some(node);
        row.placed = now;
        let (application, shape, priority) = (row.application, row.shape, row.priority);
        let resources = self.shapes.get(shape);
        self.nodes[node].charge(resources);
        self.nodes[node].allocation_count += 1;
        let row = &mut self.applications[application];
        row.pending.subtract(resources);
        row.pending.prune();
        row.allocated.add(resources);
        row.peak.raise(&row.allocated);
        row.ask_count -= 1;
        row.allocation_count += 1;
        let shown = row.priority();
        row.priorities.remove(priority);
        let shows = row.priority();
        let (queue, link, first) =
            (row.queue, row.link, !core::mem::replace(&mut row.counted, true));
        let partition =
            self.partitions.get_mut(&row.partition).expect("an application has its partition");
        partition.ask_count -= 1;
        partition.allocation_count += 1;
        for level in link.into_iter().flat_map(Link::levels) {
            partition.trackers.increase(level, resources);
            if first {
                partition.trackers.start_application(level);
            }
        }
        let mut next = Some(queue);
        while let Some(id) = next {
            let queue = &mut self.queues[id];
            queue.unpend(resources);
            queue.charge(resources);
            next = queue.parent;
        }
        self.reprioritise(Some(queue), shown, shows);
        self.attach_to_node(ask, node);
    }

    /// Give an ask or allocation another size, whatever fits.
    pub(super) fn resize(&mut self, allocation: AllocationId, resources: &Amounts) {
        let after = self.types.intern_all(resources).pruned();
        let shape = self.shapes.acquire(after.clone());
        let row = &mut self.allocations[allocation];
        let (old, application, node) = (row.shape, row.application, row.node);
        row.shape = shape;
        let before = self.shapes.get(old).clone();
        self.shapes.release(old);
        let row = &mut self.applications[application];
        let (queue, link, partition) = (row.queue, row.link, row.partition);
        let total = if node.is_some() { &mut row.allocated } else { &mut row.pending };
        total.subtract(&before);
        total.add(&after);
        total.prune();
        let Some(node) = node else {
            return self.each_up(queue, |queue| {
                queue.unpend(&before);
                queue.pend(&after);
            });
        };
        row.peak.raise(&row.allocated);
        self.each_up(queue, |queue| {
            queue.refund(&before);
            queue.charge(&after);
        });
        self.nodes[node].refund(&before);
        self.nodes[node].charge(&after);
        let trackers = self.trackers(partition);
        for level in link.into_iter().flat_map(Link::levels) {
            trackers.decrease(level, &before);
            trackers.increase(level, &after);
        }
    }

    pub(super) fn release(&mut self, allocation: AllocationId) {
        let row = self.allocations.remove(allocation).expect("the event names a live allocation");
        self.detach_allocation(&row);
        let resources = self.shapes.get(row.shape).clone();
        let node = row.node.expect("a released allocation was placed");
        self.detach_from_node(&row, node);
        self.nodes[node].refund(&resources);
        self.nodes[node].allocation_count -= 1;
        let application = &mut self.applications[row.application];
        application.allocated.subtract(&resources);
        application.allocated.prune();
        application.allocation_count -= 1;
        let (queue, link, partition) = (application.queue, application.link, application.partition);
        self.each_up(queue, |queue| queue.refund(&resources));
        let partition = self.partition_mut(partition);
        partition.allocations.remove(&*row.key);
        partition.allocation_count -= 1;
        for level in link.into_iter().flat_map(Link::levels) {
            partition.trackers.decrease(level, &resources);
        }
        self.shapes.release(row.shape);
    }
}
