//! Applies events of placeholder replacements. Source: scheduling §10.3, §10.4.

use crate::books::Books;
use crate::books::gang::StopRequest;
use crate::id::{AllocationId, NodeId};
use crate::time::Timestamp;

use super::allocation::{charge, refund};

impl Books {
    /// Starts the replacement of a placeholder by a member, which no longer waits.
    pub(super) fn start_swap(
        &mut self,
        ask: AllocationId,
        placeholder: AllocationId,
        node: NodeId,
    ) {
        self.drop_reservation(ask);
        self.drop_hold(ask);
        self.forget_inquiry(ask);
        let row = &mut self.allocations[ask];
        row.node = Some(node);
        row.special_mut().partner = Some(placeholder);
        let (application, shape, priority) = (row.application, row.shape, row.priority);
        let homebound = u32::from(row.is_homebound());
        let held = &mut self.allocations[placeholder];
        held.special_mut().partner = Some(ask);
        held.mark = StopRequest::Released;
        let moves = held.node != Some(node);
        let resources = self.shapes.get(shape).clone();
        if moves {
            self.nodes[node].charge(self.shapes.on_node(shape));
            self.nodes[node].allocation_count += 1;
            self.attach_to_node(ask, node);
        }
        let row = &mut self.applications[application];
        let waited = row.is_waiting();
        row.pending.subtract(&resources);
        row.pending.prune();
        row.ask_count -= 1;
        row.homebound -= homebound;
        row.swap_count += 1;
        let shown = row.priority();
        row.priorities.remove(priority);
        let shows = row.priority();
        let (queue, partition) = (row.queue, row.partition);
        let partition = self.partition_mut(partition);
        partition.ask_count -= 1;
        partition.swap_count += 1;
        self.follow_start(application, waited);
        self.each_up(queue, |queue| queue.unpend(&resources));
        self.reprioritise(Some(queue), shown, shows);
        self.share_ask(application, shape, false);
    }

    /// Cancels a replacement. The member waits again, and the placeholder is still being stopped.
    pub(super) fn drop_swap(&mut self, ask: AllocationId) {
        let row = &mut self.allocations[ask];
        let node = row.node.take().expect("a member in a swap has its node");
        let placeholder = row.special_mut().partner.take().expect("and its placeholder");
        row.settle();
        let (application, shape, priority) = (row.application, row.shape, row.priority);
        let homebound = u32::from(row.is_homebound());
        let held = &mut self.allocations[placeholder];
        held.special_mut().partner = None;
        held.settle();
        let moves = held.node != Some(node);
        let resources = self.shapes.get(shape).clone();
        if moves {
            let row = self.allocations[ask].clone();
            self.detach_from_node(&row, node);
            let row = &mut self.allocations[ask];
            (row.next_on_node, row.previous_on_node) = (None, None);
            self.nodes[node].refund(self.shapes.on_node(shape));
            self.nodes[node].allocation_count -= 1;
        }
        let row = &mut self.applications[application];
        let waited = row.is_waiting();
        row.pending.add(&resources);
        row.ask_count += 1;
        row.homebound += homebound;
        row.swap_count -= 1;
        let shown = row.priority();
        row.priorities.add(priority);
        let shows = row.priority();
        let (queue, partition) = (row.queue, row.partition);
        let partition = self.partition_mut(partition);
        partition.ask_count += 1;
        partition.swap_count -= 1;
        self.follow_start(application, waited);
        self.each_up(queue, |queue| queue.pend(&resources));
        self.reprioritise(Some(queue), shown, shows);
        self.share_ask(application, shape, true);
    }

    /// Completes a replacement. The placeholder is removed, and the member counts instead.
    pub(super) fn confirm_swap(&mut self, now: Timestamp, placeholder: AllocationId) {
        let gone = self.allocations.remove(placeholder).expect("the event names a placeholder");
        self.detach_allocation(&gone);
        let from = gone.node.expect("a placeholder that is replaced was placed");
        let before = self.shapes.get(gone.shape).clone();
        self.detach_from_node(&gone, from);
        self.nodes[from].refund(self.shapes.on_node(gone.shape));
        self.nodes[from].allocation_count -= 1;
        self.bring_nearer(now, from);
        let ask = gone.partner().expect("the event names one with a member");
        let row = &mut self.allocations[ask];
        row.special_mut().partner = None;
        row.settle();
        row.took_place = true;
        row.placed = now;
        let (to, shape) = (row.node.expect("a member in a swap has its node"), row.shape);
        let after = self.shapes.get(shape).clone();
        if to == from {
            self.nodes[to].charge(self.shapes.on_node(shape));
            self.nodes[to].allocation_count += 1;
            self.attach_to_node(ask, to);
        }
        let application = &mut self.applications[gone.application];
        application.spend(now, &gone, &self.nodes[from], &before);
        let queue = application.queue;
        let partition = self
            .partitions
            .get_mut(&application.partition)
            .expect("an application has its partition");
        partition.allocations.remove(&*gone.key);
        partition.swap_count -= 1;
        partition.placeholder_count -= 1;
        refund(partition, application, &before);
        application.allocated.subtract(&before);
        application.allocated.prune();
        application.replaced(&gone, &before);
        application.line.remove(gone.priority);
        application.swap_count -= 1;
        application.allocated.add(&after);
        let real = application.real();
        application.peak.raise(&real);
        let calm = charge(partition, application, &after);
        self.each_up(queue, |queue| {
            queue.refund(&before);
            queue.charge(&after);
        });
        self.share_use(gone.application, calm, || after.minus(&before));
        self.meter(now, gone.application, |_| after.minus(&before));
        self.shapes.release(gone.shape);
    }
}
