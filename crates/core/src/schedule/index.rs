//! Updates the indexes of the scheduler for each event.

use alloc::format;

use crate::books::{ApplicationState, Books, QueueSettings, QueueState};
use crate::event::{
    AllocationEvent, ApplicationEvent, AskEvent, Event, ForeignEvent, NodeEvent, PartitionEvent,
    QueueEvent,
};
use crate::id::{AllocationId, ApplicationId, PartitionId, QueueId};
use crate::resource::Amounts;
use crate::wait::Blocker;

use super::Scheduler;
use super::before_event::{BeforeEvent, capture, group_of, see_added};
use super::holds::hold_before;
use super::nodes::NodeIndex;
use super::placement_mode::PlacementMode;

impl Scheduler {
    /// Builds all indexes from the books.
    pub(super) fn build(&mut self, books: &Books) {
        self.labelled = books.types().labelled();
        for (id, partition) in books.partitions() {
            self.roots.insert(*id, partition.root);
            let mut nodes = NodeIndex::new(&partition.settings.node_sort);
            nodes.fill(books, *id);
            self.nodes.insert(*id, nodes);
            self.lending.know(books, *id);
        }
        self.tree.fill(books);
        self.marking.know(books);
        for (id, ask) in books.allocations().iter() {
            if ask.is_pending() {
                self.add_ask(books, id);
            } else if ask.placeholder {
                self.places.add(books, id);
            }
        }
        for (id, row) in books.applications().iter() {
            self.note_begun(books, id);
            if row.backed_off.is_some() {
                self.watch_back_off(books, id);
            }
        }
        self.find_gathering(books);
        self.find_holds(books);
        self.find_sparing(books);
        self.find_unreported(books);
        // A scheduler that has not made a step yet can already be asked for the order of queues.
        self.tree.refresh(books);
    }

    /// Captures the state that the event is about to change, and removes asks whose class will change.
    #[inline]
    pub(super) fn before(&mut self, books: &Books, event: &Event) -> BeforeEvent {
        if self.stale {
            return BeforeEvent::default();
        }
        match event {
            Event::Queue(event) => self.before_queue(books, event),
            Event::Node(NodeEvent::Removed { node }) => {
                let partition = books.node(*node).partition;
                self.unpin(books, *node);
                self.nodes_of(partition).remove(books, *node);
                self.parked.waking_nodes.node_changed(partition, *node);
                BeforeEvent { partition: Some(partition), ..BeforeEvent::default() }
            }
            Event::Application(event) => before_application(books, event),
            Event::Ask(event) => self.before_ask(books, event),
            Event::Allocation(event) => self.before_allocation(books, event),
            Event::Foreign(
                ForeignEvent::Set { partition, key, .. } | ForeignEvent::Removed { partition, key },
            ) => {
                let known = books.partition(*partition).foreign.get(&**key);
                let node = known.map(|one| one.node).filter(|id| books.nodes().get(*id).is_some());
                BeforeEvent { freed: node, ..BeforeEvent::default() }
            }
            Event::Configured { .. }
            | Event::Partition(_)
            | Event::Node(
                NodeEvent::Added { .. }
                | NodeEvent::Resized { .. }
                | NodeEvent::Scheduling { .. }
                | NodeEvent::Reported { .. }
                | NodeEvent::VerdictsVoid { .. },
            )
            | Event::Task(_)
            | Event::Tenant(_) => BeforeEvent::default(),
        }
    }

    fn before_queue(&mut self, books: &Books, event: &QueueEvent) -> BeforeEvent {
        match event {
            QueueEvent::Removed { queue } => {
                self.tree.remove(books, *queue);
                self.forget_sparing(books.queue(*queue));
                BeforeEvent { queue: books.queue(*queue).parent, ..BeforeEvent::default() }
            }
            QueueEvent::Changed { partition, queue, settings, .. } => {
                let queue = books.partition(*partition).queues.get(&**queue);
                let sized = queue.copied().filter(|queue| only_sizes(books, *queue, event));
                self.before_sizes(books, sized, settings)
            }
            QueueEvent::Added { .. }
            | QueueEvent::Moved { .. }
            | QueueEvent::LimitsChanged { .. }
            | QueueEvent::QuotaClockStopped { .. } => BeforeEvent::default(),
        }
    }

    #[inline]
    fn before_ask(&mut self, books: &Books, event: &AskEvent) -> BeforeEvent {
        match event {
            AskEvent::Removed { ask, .. }
            | AskEvent::Placed { ask, .. }
            | AskEvent::Reserved { ask, .. }
            | AskEvent::PreemptionTriggered { ask }
            | AskEvent::Unreserved { ask }
            | AskEvent::Held { ask, .. }
            | AskEvent::HoldEnded { ask } => {
                self.carry_marks(books, event);
                let row = books.allocation(*ask);
                let freed = row.reservation().map(|reservation| reservation.node);
                let batch = self.remove_ask(books, *ask);
                let group = group_of(books, row);
                let keeps = matches!(
                    event,
                    AskEvent::Reserved { .. }
                        | AskEvent::PreemptionTriggered { .. }
                        | AskEvent::Unreserved { .. }
                );
                let hold = if keeps { None } else { hold_before(books, *ask) };
                BeforeEvent { batch, freed, group, hold, ..capture(books, row.application) }
            }
            AskEvent::Added { application, traits, .. } => see_added(books, *application, traits),
            AskEvent::Asked { ask, .. } | AskEvent::Answered { ask, .. } => {
                let mode = PlacementMode::of(books, *ask, books.allocation(*ask));
                BeforeEvent { mode: Some(mode), ..BeforeEvent::default() }
            }
            AskEvent::PreemptionTried { .. } | AskEvent::ScaleUpAsked { .. } => {
                BeforeEvent::default()
            }
        }
    }

    #[inline]
    fn before_allocation(&mut self, books: &Books, event: &AllocationEvent) -> BeforeEvent {
        match event {
            AllocationEvent::Resized { allocation: ask, .. }
                if books.allocation(*ask).is_pending() =>
            {
                let (batch, hold) = (self.remove_ask(books, *ask), hold_before(books, *ask));
                let seen = capture(books, books.allocation(*ask).application);
                BeforeEvent { batch, ask: Some(*ask), hold, ..seen }
            }
            AllocationEvent::Resized { allocation, .. } => before_release(books, *allocation),
            AllocationEvent::Released { allocation, .. } => {
                self.places.remove(books, *allocation);
                before_release(books, *allocation)
            }
            AllocationEvent::SwapConfirmed { placeholder } => before_release(books, *placeholder),
            AllocationEvent::SwapStarted { ask, placeholder, .. } => {
                self.places.remove(books, *placeholder);
                let application = books.allocation(*ask).application;
                let freed =
                    books.allocation(*ask).reservation().map(|reservation| reservation.node);
                let (batch, hold) = (self.remove_ask(books, *ask), hold_before(books, *ask));
                BeforeEvent { batch, freed, hold, ..capture(books, application) }
            }
            AllocationEvent::SwapDropped { ask } => {
                let row = books.allocation(*ask);
                BeforeEvent { ask: Some(*ask), node: row.node, ..capture(books, row.application) }
            }
            AllocationEvent::ReleaseAsked { allocation, .. }
            | AllocationEvent::Preempted { victim: allocation, .. } => {
                self.places.remove(books, *allocation);
                BeforeEvent::default()
            }
            AllocationEvent::PreemptionObserved { .. } => BeforeEvent::default(),
        }
    }

    /// Captures a leaf of which only the sizes are about to change.
    fn before_sizes(
        &mut self,
        books: &Books,
        sized: Option<QueueId>,
        settings: &QueueSettings,
    ) -> BeforeEvent {
        if let Some(leaf) = sized.filter(|leaf| toggles_guarantee(books, *leaf, settings)) {
            self.take_out_leaf(books, leaf);
        }
        BeforeEvent { sized, ..BeforeEvent::default() }
    }

    /// Updates the indexes after the event was applied.
    #[inline]
    pub(super) fn after(&mut self, books: &Books, event: &Event, seen: &BeforeEvent) {
        if !self.is_followed(books, seen) {
            return;
        }
        match event {
            Event::Partition(event) => self.after_partition(books, event),
            Event::Queue(event) => self.after_queue(books, event, seen),
            Event::Node(event) => self.after_node(books, event, seen),
            Event::Application(event) => self.after_application(books, event, seen),
            Event::Task(event) => self.follow_task(event),
            Event::Ask(event) => self.after_ask(books, event, seen),
            Event::Allocation(event) => self.after_allocation(books, event, seen),
            Event::Foreign(ForeignEvent::Set { node, preemptable, .. }) => {
                self.freed(books, seen);
                self.node_changed(books, *node);
                if !preemptable {
                    self.known_nodes.shrank();
                }
                self.foreign_left(books, seen);
            }
            Event::Foreign(ForeignEvent::Removed { .. }) => {
                self.freed(books, seen);
                self.foreign_left(books, seen);
            }
            Event::Configured { .. } | Event::Tenant(_) => {}
        }
        if let Some(before) = &seen.hold {
            self.follow_hold(books, before);
        }
    }

    fn after_partition(&mut self, books: &Books, event: &PartitionEvent) {
        match event {
            PartitionEvent::Added { .. } => self.add_partition(books),
            // A change of the rules can affect the order and the limits of all waiting asks.
            PartitionEvent::Changed { .. }
            | PartitionEvent::Removed { .. }
            | PartitionEvent::QuestionsSet { .. } => self.stale = true,
            PartitionEvent::RecoverySet { .. } | PartitionEvent::ManagerAway { .. } => {}
        }
    }

    fn after_queue(&mut self, books: &Books, event: &QueueEvent, seen: &BeforeEvent) {
        match event {
            QueueEvent::Added { partition, parent, name, .. } => {
                self.add_queue(books, *partition, &format!("{parent}.{name}"));
            }
            // A stopped queue and its descendants have no waiting asks.
            QueueEvent::Moved { state: QueueState::Stopped, .. }
            | QueueEvent::QuotaClockStopped { .. } => {}
            QueueEvent::Moved { .. } | QueueEvent::LimitsChanged { .. } => self.stale = true,
            QueueEvent::Changed { .. } => match seen.sized {
                Some(leaf) => self.leaf_sized(books, leaf),
                None => self.stale = true,
            },
            // The siblings of a removed queue gain its fraction.
            QueueEvent::Removed { .. } => self.follow_siblings(books, seen),
        }
    }

    fn after_node(&mut self, books: &Books, event: &NodeEvent, seen: &BeforeEvent) {
        match event {
            NodeEvent::Added { partition, node, .. } => {
                let node = books.partition(*partition).nodes.get(&**node);
                let node = *node.expect("the event added the node");
                self.nodes_of(*partition).add(books, *partition, node);
                self.room_of_heads_changed(books, *partition, node);
                self.node_versioned(books, node);
                self.pin(books, node);
                self.cluster_resized(books, *partition);
                self.node_grew(books, node);
                self.node_opened(books, node);
            }
            NodeEvent::Resized { node, .. } => {
                let partition = books.node(*node).partition;
                self.update_node(books, *node);
                self.cluster_resized(books, partition);
                self.known_nodes.shrank();
                self.node_grew(books, *node);
                self.node_opened(books, *node);
            }
            NodeEvent::Scheduling { node, .. } => {
                self.update_node(books, *node);
                self.known_nodes.shrank();
                self.node_grew(books, *node);
                self.node_opened(books, *node);
            }
            NodeEvent::Removed { node } => {
                let partition = seen.partition.expect("seen before");
                self.room_of_heads_changed(books, partition, *node);
                self.known_nodes.shrank();
                // The last node with a resource type can be gone. Then asks fail the check of the nodes instead.
                self.put_back(books);
                self.cluster_resized(books, partition);
            }
            NodeEvent::VerdictsVoid { node } => self.update_node(books, *node),
            NodeEvent::Reported { .. } => {}
        }
    }

    fn after_application(&mut self, books: &Books, event: &ApplicationEvent, seen: &BeforeEvent) {
        match event {
            ApplicationEvent::Linked { application, .. }
            | ApplicationEvent::Allocating { application } => self.restand(books, *application),
            ApplicationEvent::Unlinked { application } => {
                self.counts_elsewhere(books, *application, seen);
            }
            ApplicationEvent::GroupUnlinked { application } => {
                self.counts_elsewhere(books, *application, seen);
                self.limit_use_gave_way(books, seen);
            }
            ApplicationEvent::Moved { application, .. } => {
                self.counts_elsewhere(books, *application, seen);
                self.queues_gave_way(books, seen);
                self.follow_gang(books, *application);
            }
            ApplicationEvent::DeadlineSet { application, .. }
            | ApplicationEvent::PlaceholdersExpired { application } => {
                self.reorder(books, *application, None);
            }
            ApplicationEvent::Activated { application, .. } => {
                self.was_activated(books, *application);
            }
            ApplicationEvent::Removed { application } => {
                self.queues_gave_way(books, seen);
                self.follow_gang(books, *application);
            }
            ApplicationEvent::BackedOff { application, .. } => {
                self.watch_back_off(books, *application);
                self.visit_again(books, *application);
            }
            // These events free no capacity.
            ApplicationEvent::Added { .. }
            | ApplicationEvent::Rejected { .. }
            | ApplicationEvent::LifetimeSet { .. }
            | ApplicationEvent::LifetimeOver { .. }
            | ApplicationEvent::Overtaken { .. }
            | ApplicationEvent::TimerStopped { .. } => {}
        }
    }

    /// Updates the indexes after the charge state of an application changed.
    fn counts_elsewhere(&mut self, books: &Books, application: ApplicationId, seen: &BeforeEvent) {
        self.restand(books, application);
        self.limits_gave_way(seen);
        self.lending.reopen_held(&mut self.tree);
    }

    #[inline]
    fn after_ask(&mut self, books: &Books, event: &AskEvent, seen: &BeforeEvent) {
        match event {
            AskEvent::Added { .. } => {
                self.lending.less_waits(&mut self.tree);
                self.add_ask(books, seen.ask.expect("seen before"));
                self.group_changed(books, seen);
                self.follow_borrowers(books, seen);
            }
            AskEvent::Removed { .. } => {
                self.lending.less_waits(&mut self.tree);
                self.reorder_seen(books, seen);
                self.freed(books, seen);
                self.group_changed(books, seen);
                self.follow_borrowers(books, seen);
                if let Some(application) = seen.application {
                    self.follow_gang(books, application);
                }
            }
            AskEvent::Placed { ask, node } => {
                self.lending.less_waits(&mut self.tree);
                self.update_node(books, *node);
                self.reorder_seen(books, seen);
                self.freed(books, seen);
                if books.node(*node).is_reserved() {
                    // The new allocation can be a victim for asks that require this node.
                    self.wake_reserved(books, *node);
                }
                if !books.allocation(*ask).has_only_common_fields() {
                    self.special_placed(books, *ask);
                    self.follow_gang(books, books.allocation(*ask).application);
                }
                self.follow_borrowers(books, seen);
            }
            AskEvent::Reserved { ask, node } => {
                self.reorder_seen(books, seen);
                self.add_ask(books, *ask);
                self.give_marks(books, *ask);
                self.node_changed(books, *node);
                let application = books.allocation(*ask).application;
                if books.application(application).state == ApplicationState::Accepted {
                    self.restand(books, application); // It counts as allocating from now on.
                }
                self.visit_again(books, application);
                self.follow_reservation(books, application);
            }
            AskEvent::Held { ask, .. } | AskEvent::HoldEnded { ask } => {
                self.reorder_seen(books, seen);
                self.add_ask(books, *ask);
                self.give_marks(books, *ask);
                self.watch_hold(books, *ask);
            }
            AskEvent::Unreserved { ask } => {
                self.reorder_seen(books, seen);
                self.add_ask(books, *ask);
                self.give_marks(books, *ask);
                self.freed(books, seen);
            }
            AskEvent::PreemptionTriggered { ask } => {
                if books.allocation(*ask).is_pending() {
                    self.reorder_seen(books, seen);
                    self.add_ask(books, *ask);
                }
            }
            AskEvent::PreemptionTried { ask } => self.note_try(books, *ask),
            AskEvent::ScaleUpAsked { ask } => self.hint_given(books, *ask),
            AskEvent::Asked { ask, .. } | AskEvent::Answered { ask, .. } => {
                self.follow_question(books, *ask, seen.mode.expect("seen before"));
            }
        }
    }

    #[inline]
    fn after_allocation(&mut self, books: &Books, event: &AllocationEvent, seen: &BeforeEvent) {
        match event {
            AllocationEvent::Resized { allocation, .. } => {
                self.lending.less_waits(&mut self.tree);
                self.resized(books, seen);
                let row = books.allocation(*allocation);
                if row.placeholder && row.is_allocated() {
                    self.place_opened(books, *allocation);
                }
            }
            AllocationEvent::Released { .. } => {
                self.lending.less_waits(&mut self.tree);
                self.released(books, seen);
                self.group_changed(books, seen);
            }
            AllocationEvent::SwapStarted { node, placeholder, .. } => {
                self.reorder_seen(books, seen);
                self.freed(books, seen);
                self.update_node(books, *node);
                self.marked(books, *placeholder);
                self.follow_borrowers(books, seen);
            }
            AllocationEvent::SwapConfirmed { .. } => {
                self.released(books, seen);
                self.group_changed(books, seen);
            }
            AllocationEvent::SwapDropped { ask } => {
                self.add_ask(books, *ask);
                self.follow_borrowers(books, seen);
                if let Some(node) = seen.node {
                    self.node_changed(books, node);
                }
            }
            AllocationEvent::ReleaseAsked { allocation, .. }
            | AllocationEvent::Preempted { victim: allocation, .. } => {
                self.marked(books, *allocation);
            }
            AllocationEvent::PreemptionObserved { .. } => {}
        }
    }

    pub(super) fn nodes_of(&mut self, partition: PartitionId) -> &mut NodeIndex {
        self.nodes.get_mut(&partition).expect("every partition has its nodes")
    }

    fn add_partition(&mut self, books: &Books) {
        let (id, partition) = books.partitions().last_key_value().expect("one was just added");
        self.roots.insert(*id, partition.root);
        self.nodes.insert(*id, NodeIndex::new(&partition.settings.node_sort));
        self.tree.add(books, partition.root);
        self.find_holds(books);
    }

    /// Updates the indexes after the size of the cluster changed. Shares change, and asks that the former size refused
    /// are checked again.
    fn cluster_resized(&mut self, books: &Books, partition: PartitionId) {
        self.tree.resize();
        self.all_turns_moved(books);
        self.activation_resized();
        self.parked.lines.all_moved();
        self.lending.reopen_held(&mut self.tree);
        self.queue_gave_way(books, self.roots[&partition]);
        self.follow_sizes(books, self.roots[&partition]);
    }

    pub(super) fn queue_gave_way(&mut self, books: &Books, queue: QueueId) {
        let row = books.queue(queue);
        let fits =
            |(shape, members)| row.shortfall(&books.shapes().times(shape, members)).is_none();
        self.parked.open(&mut self.tree, Blocker::QueueMax(queue), fits);
        self.hold_gave_way(books, queue);
        self.guarantee_gave_way(books, queue);
        self.wake_gangs(row.partition, fits);
        self.line_gave_way(books, queue);
    }

    pub(super) fn reorder_seen(&mut self, books: &Books, seen: &BeforeEvent) {
        if let Some(application) = seen.application {
            self.reorder(books, application, seen.batch);
        }
    }

    /// Updates the indexes after the maximum, the guarantee, or the limit on applications of a leaf changed.
    fn leaf_sized(&mut self, books: &Books, leaf: QueueId) {
        self.tree.sized(books, leaf);
        self.max_grew(books, leaf);
        self.parked.lines.all_moved();
        self.lending.reopen_held(&mut self.tree);
        self.activation_moved(leaf);
        self.queue_gave_way(books, leaf);
        self.queue_may_start(books, leaf);
        self.shares_moved(books, leaf);
        self.put_back(books);
    }

    /// Updates the indexes after an ask or an allocation was resized.
    fn resized(&mut self, books: &Books, seen: &BeforeEvent) {
        match seen.ask {
            Some(ask) => {
                self.reorder_seen(books, seen);
                self.add_ask(books, ask);
            }
            None => self.released(books, seen),
        }
    }

    /// Updates the indexes after an allocation freed capacity of its queues, its trackers, and its node.
    pub(super) fn released(&mut self, books: &Books, seen: &BeforeEvent) {
        if let Some(node) = seen.node {
            self.update_node(books, node);
            self.node_gave_way(books, node);
            if books.node(node).lends() {
                self.lending.reopen_held(&mut self.tree);
            }
        }
        let mut next = seen.queue;
        while let Some(queue) = next {
            self.queue_gave_way(books, queue);
            next = books.queue(queue).parent;
        }
        self.limit_use_gave_way(books, seen);
        if let Some(queue) = seen.queue {
            self.tree.touch(queue);
        }
        self.reorder_seen(books, seen);
        if let Some(application) = seen.application {
            self.turns_eased(books, application);
            self.follow_gang(books, application);
        }
    }

    /// Wakes asks that can fit after the usage of the trackers decreased.
    fn limit_use_gave_way(&mut self, books: &Books, seen: &BeforeEvent) {
        let Some(partition) = seen.partition else { return };
        let trackers = &books.partition(partition).trackers;
        for id in &seen.levels {
            let Some(level) = trackers.find_level(*id) else { continue };
            let fits =
                |(shape, members)| level.shortfall(&books.shapes().times(shape, members)).is_none();
            self.parked.open(&mut self.tree, Blocker::Limit(partition, *id), fits);
        }
        self.cap_gave_way(books, partition, seen);
    }

    /// Wakes asks of applications that can start after another application left the trackers.
    fn limits_gave_way(&mut self, seen: &BeforeEvent) {
        if let Some(partition) = seen.partition {
            for level in &seen.levels {
                let blocker = Blocker::LimitApplications(partition, *level);
                self.parked.open(&mut self.tree, blocker, |_| true);
            }
        }
    }

    /// Wakes asks of applications that can start after another application can have left the state Running.
    fn queues_gave_way(&mut self, books: &Books, seen: &BeforeEvent) {
        if let (Some(partition), Some(leaf), Some(user)) = (seen.partition, seen.queue, &seen.user)
        {
            self.activation_gave_way(books, (partition, user), leaf);
        }
        let mut next = seen.queue;
        while let Some(queue) = next {
            self.queue_may_start(books, queue);
            next = books.queue(queue).parent;
        }
    }

    fn queue_may_start(&mut self, books: &Books, queue: QueueId) {
        if books.queue(queue).allows_application() {
            let blocker = Blocker::QueueApplications(queue);
            self.parked.open(&mut self.tree, blocker, |_| true);
        }
    }
}

/// Captures the state of an allocation that will free capacity.
fn before_release(books: &Books, allocation: AllocationId) -> BeforeEvent {
    let row = books.allocation(allocation);
    let levels = books.levels_of(row.application).map(|(id, _)| id).collect();
    let group = group_of(books, row);
    BeforeEvent { node: row.node, levels, group, ..capture(books, row.application) }
}

fn before_application(books: &Books, event: &ApplicationEvent) -> BeforeEvent {
    match event {
        ApplicationEvent::Moved { application, state: ApplicationState::Completing, .. }
        | ApplicationEvent::Unlinked { application }
        | ApplicationEvent::GroupUnlinked { application } => BeforeEvent {
            levels: books.levels_of(*application).map(|(id, _)| id).collect(),
            ..capture(books, *application)
        },
        ApplicationEvent::Moved { application, .. } | ApplicationEvent::Removed { application } => {
            // An ended application has already left its queue, which can be removed.
            if books.application(*application).state.is_active() {
                capture(books, *application)
            } else {
                BeforeEvent::default()
            }
        }
        ApplicationEvent::Added { .. }
        | ApplicationEvent::Rejected { .. }
        | ApplicationEvent::Linked { .. }
        | ApplicationEvent::LifetimeSet { .. }
        | ApplicationEvent::LifetimeOver { .. }
        | ApplicationEvent::DeadlineSet { .. }
        | ApplicationEvent::Overtaken { .. }
        | ApplicationEvent::Activated { .. }
        | ApplicationEvent::Allocating { .. }
        | ApplicationEvent::BackedOff { .. }
        | ApplicationEvent::PlaceholdersExpired { .. }
        | ApplicationEvent::TimerStopped { .. } => BeforeEvent::default(),
    }
}

/// Returns whether the event changes only the sizes of a leaf that a placement rule created, as the tags of an
/// application do.
fn only_sizes(books: &Books, queue: QueueId, event: &QueueEvent) -> bool {
    let QueueEvent::Changed { leaf: true, managed: false, settings, .. } = event else {
        return false;
    };
    let row = books.queue(queue);
    let same_counts = row.settings.application_limits == settings.application_limits;
    // A change of a fraction also changes the sizes of the siblings.
    let is_plain = row.settings.capacity.is_none() && settings.capacity.is_none();
    row.leaf && !row.managed && row.settings.values == settings.values && same_counts && is_plain
}

/// Returns whether the event adds the first guarantee of a queue or removes its last one.
fn toggles_guarantee(books: &Books, queue: QueueId, settings: &QueueSettings) -> bool {
    let promises =
        |one: &QueueSettings| one.guaranteed.as_ref().is_some_and(Amounts::is_strictly_positive);
    promises(&books.queue(queue).settings) != promises(settings)
}
