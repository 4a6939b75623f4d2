//! Applies events of partitions, queues, and nodes.

use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

use smallvec::SmallVec;

use crate::books::quota_clock::QuotaChange;
use crate::books::tracker::Trackers;
use crate::books::{
    Books, LimitSettings, Node, NodeAttributes, OpenQuestions, Partition, PartitionSettings, Queue,
    QueueSettings, QueueState, SpentKeys, Tasks, Tenants, Timer,
};
use crate::config::UserLimitsConfig;
use crate::id::{NodeId, PartitionId, QueueId};
use crate::name::Name;
use crate::ordered::OrderedMap;
use crate::placement::Rules;
use crate::resource::{Amounts, Beyond, Resources};
use crate::time::{Millis, Timestamp};

/// Interval at which a partition removes empty queues, from its creation. Source: scheduling §3.5.
const CLEANED_EVERY: Millis = Millis::from_secs(10);

impl Books {
    pub(super) fn add_partition(
        &mut self,
        now: Timestamp,
        name: &Name,
        settings: PartitionSettings,
        root: &QueueSettings,
    ) {
        let id = self.next_partition_id();
        self.partitions_made += 1;
        let root = self.new_queue(id, None, &Name::new("root"), (false, true), root);
        let mut queues = OrderedMap::default();
        queues.insert(Name::new("root"), root);
        let partition = Partition {
            name: name.clone(),
            since: now,
            rules: Arc::new(Rules::in_force(settings.placement_rules.clone())),
            settings,
            questions: None,
            open_questions: OpenQuestions::default(),
            root,
            trackers: Trackers::default(),
            queues,
            queues_made: 0,
            capacities: 0,
            nodes: OrderedMap::default(),
            applications: OrderedMap::default(),
            ended: OrderedMap::default(),
            rejected: OrderedMap::default(),
            allocations: OrderedMap::default(),
            foreign: OrderedMap::default(),
            ask_count: 0,
            allocation_count: 0,
            swap_count: 0,
            placeholder_count: 0,
            reservation_count: 0,
            tenants: Tenants::default(),
            recovery: None,
            away: None,
            tasks: Tasks::default(),
            spent_keys: SpentKeys::default(),
        };
        self.partitions.insert(id, partition);
    }

    pub(super) fn change_partition(&mut self, partition: PartitionId, settings: PartitionSettings) {
        let row = self.partition_mut(partition);
        if *row.rules.written() != settings.placement_rules {
            row.rules = Arc::new(Rules::in_force(settings.placement_rules.clone()));
        }
        row.settings = settings;
    }

    pub(crate) fn note_questions(&mut self) {
        self.asking = self.partitions.values().any(|one| one.questions.is_some());
    }

    pub(super) fn remove_partition(&mut self, partition: PartitionId) {
        self.end_recovery(partition);
        let row = self.partitions.remove(&partition).expect("the event names a partition");
        self.queues.remove(row.root);
        self.note_questions();
    }

    pub(super) fn add_queue(
        &mut self,
        now: Timestamp,
        partition: PartitionId,
        parent: &Name,
        name: &Name,
        (leaf, managed): (bool, bool),
        settings: &QueueSettings,
    ) {
        let parent = self.partition(partition).queues_path(parent);
        let queue = self.new_queue(partition, Some(parent), name, (leaf, managed), settings);
        self.attach_queue(queue);
        let path = self.queues[queue].path.clone();
        let row = self.partition_mut(partition);
        row.queues.insert(path, queue);
        row.queues_made += u32::from(!managed);
        self.count_capacity(partition, false, settings.capacity.is_some());
        if self.has_fractional_queues(partition) {
            // A queue without a fraction does not change the sizes of its siblings.
            let only = settings.capacity.is_none().then_some(queue);
            self.divide(Some(now), parent, only);
            self.look_at_sizes(parent);
        }
        self.watch_emptiness(now, queue);
        self.watch_emptiness(now, parent);
    }

    pub(super) fn new_queue(
        &mut self,
        partition: PartitionId,
        parent: Option<QueueId>,
        name: &Name,
        (leaf, managed): (bool, bool),
        settings: &QueueSettings,
    ) -> QueueId {
        let above = parent.map(|parent| &self.queues[parent]);
        let path =
            above.map_or_else(|| name.clone(), |above| format!("{}.{name}", above.path).into());
        let depth = above.map_or(0, |above| above.depth + 1);
        let max = settings.max.as_ref().and_then(|max| self.positive(max));
        let guaranteed = settings.guaranteed.as_ref().and_then(|amounts| self.positive(amounts));
        self.meet_template(settings);
        let mut queue = Queue {
            partition,
            name: name.clone(),
            path,
            parent,
            depth,
            leaf,
            managed,
            state: QueueState::Active,
            settings: Arc::new(settings.clone()),
            max: None,
            left: None,
            guaranteed,
            derived_applications: None,
            allocated: Resources::new(),
            pending: Resources::new(),
            pending_beyond: Beyond::default(),
            preempting: Resources::new(),
            running: 0,
            allocating: 0,
            applications: 0,
            activated: 0,
            waiting: 0,
            quota_preemption_at: None,
            priorities: OrderedMap::default(),
            child_count: 0,
            removable_at: None,
            first_child: None,
            last_child: None,
            next_sibling: None,
            previous_sibling: None,
            first_application: None,
            last_application: None,
            stops_at: None,
        };
        queue.set_max(max);
        let queue = self.queues.insert(queue);
        self.count_leaf(queue);
        self.share_leaf(queue);
        queue
    }

    /// Registers the types of a template, so that they are not new for queues that are created from it.
    fn meet_template(&mut self, settings: &QueueSettings) {
        let template = settings.template.as_deref();
        if let Some(template) = template {
            self.positive(&template.max);
            self.positive(&template.guaranteed);
        }
        let shares = settings.user_limits.as_deref();
        let shares = shares.into_iter().chain(template.and_then(|one| one.user_limits.as_ref()));
        for amounts in shares.flat_map(UserLimitsConfig::amounts) {
            self.positive(amounts);
        }
    }

    pub(super) fn change_queue(
        &mut self,
        now: Timestamp,
        queue: QueueId,
        (leaf, managed): (bool, bool),
        settings: &QueueSettings,
    ) {
        let mut max = settings.max.as_ref().and_then(|max| self.positive(max));
        let amounts = settings.guaranteed.as_ref();
        let mut guaranteed = amounts.and_then(|amounts| self.positive(amounts));
        self.meet_template(settings);
        let partition = self.queue(queue).partition;
        let divided = self.has_fractional_queues(partition);
        let row = &mut self.queues[queue];
        let shown = row.shown_priority();
        let (max_before, delay_before) =
            (row.max.clone(), row.settings.values.quota_preemption_delay);
        let made = (u32::from(!row.managed), u32::from(!managed));
        let counts = row.settings.application_limits != settings.application_limits;
        let parts = (row.settings.capacity.is_some(), settings.capacity.is_some());
        let labels = row.parent.is_none() && row.settings.node_labels != settings.node_labels;
        let lifetimes = row.settings.lifetimes != settings.lifetimes || row.managed != managed;
        (row.leaf, row.managed) = (leaf, managed);
        row.settings = Arc::new(settings.clone());
        let (parent, shows) = (row.parent, row.shown_priority());
        self.count_capacity(partition, parts.0, parts.1);
        let divides = divided || self.has_fractional_queues(partition);
        if divides && let Some(sizes) = self.sizes_of(queue) {
            (max, guaranteed) = (sizes.max, sizes.guaranteed);
        }
        if parent.is_some() {
            self.set_sizes(now, queue, (max, guaranteed), (max_before.as_ref(), delay_before));
        }
        let max_changed = max_before != self.queues[queue].max;
        let made_in = &mut self.partition_mut(partition).queues_made;
        *made_in = *made_in - made.0 + made.1;
        self.reprioritise(parent, shown, shows);
        self.watch_emptiness(now, queue);
        self.watch_drain(now, queue);
        if lifetimes {
            self.renew_lifetimes(queue);
        }
        if labels {
            self.label_nodes(partition);
        }
        if counts {
            self.count_leaves_below(queue);
        } else {
            self.count_leaf(queue);
        }
        self.share_leaf(queue);
        if labels {
            self.share_by_label(partition);
        }
        if max_changed {
            self.look_below(queue);
        }
        if divides {
            let only = (parts == (false, false)).then_some(queue).filter(|_| parent.is_some());
            let from = parent.unwrap_or(queue);
            self.divide(Some(now), from, only);
            self.look_at_sizes(from);
        }
    }

    /// Sets the sizes of a queue other than the root. The maximum and the delay before the change control the quota
    /// preemption timer.
    fn set_sizes(
        &mut self,
        now: Timestamp,
        queue: QueueId,
        (max, guaranteed): (Option<Resources>, Option<Resources>),
        (max_before, delay_before): (Option<&Resources>, Millis),
    ) {
        let row = &mut self.queues[queue];
        row.set_max(max);
        row.guaranteed = guaranteed;
        let change = QuotaChange {
            max_before,
            delay_before,
            max: row.max.as_ref(),
            delay: row.settings.values.quota_preemption_delay,
            used: &row.allocated,
            tenant: row.settings.tenant.is_some(),
        };
        let at = change.fires_at(now, row.quota_preemption_at);
        row.quota_preemption_at = at.filter(|_| row.managed);
    }

    pub(super) fn remove_queue(&mut self, now: Timestamp, queue: QueueId) {
        self.forget_leaf(queue);
        self.detach_queue(queue);
        let row = self.queues.remove(queue).expect("the event names a queue that is there");
        self.count_leaf(queue);
        if let Some(at) = row.removable_at {
            self.timers.remove(&(at, Timer::Queue(queue)));
        }
        if let Some(at) = row.stops_at {
            self.timers.remove(&(at, Timer::Stop(queue)));
        }
        let partition = self.partition_mut(row.partition);
        partition.queues.remove(&*row.path);
        partition.queues_made -= u32::from(!row.managed);
        if let Some(parent) = row.parent.filter(|_| row.settings.capacity.is_some()) {
            self.count_capacity(row.partition, true, false);
            if self.has_fractional_queues(row.partition) {
                self.divide(Some(now), parent, None);
                self.look_at_sizes(parent);
            }
        }
        if let Some(parent) = row.parent {
            self.watch_emptiness(now, parent);
        }
    }

    /// Sets or clears the removal time of a queue. A queue is removable if it is empty, and either dynamic or draining.
    pub(super) fn watch_emptiness(&mut self, now: Timestamp, queue: QueueId) {
        let row = &self.queues[queue];
        let removable = row.is_removable();
        if removable == row.removable_at.is_some() {
            return;
        }
        let at = removable.then(|| {
            let since = self.partition(row.partition).since;
            let rounds = now.since(since).get() / CLEANED_EVERY.get() + 1;
            since + Millis::new(rounds * CLEANED_EVERY.get())
        });
        let before = core::mem::replace(&mut self.queues[queue].removable_at, at);
        if let Some(before) = before {
            self.timers.remove(&(before, Timer::Queue(queue)));
        }
        if let Some(at) = at {
            self.timers.insert((at, Timer::Queue(queue)), ());
        }
    }

    pub(super) fn set_limits(
        &mut self,
        partition: PartitionId,
        queue: &str,
        limits: &[LimitSettings],
    ) {
        let path = self.path_of(self.partition(partition).queues_path(queue));
        let max: Vec<_> = limits.iter().map(|limit| self.positive(&limit.max)).collect();
        let changed = self.trackers(partition).set_limits(&path, limits, max);
        changed.expect("a queue has its path, and a limit names somebody");
        self.look_at_all_users(partition);
    }

    pub(super) fn add_node(
        &mut self,
        now: Timestamp,
        partition: PartitionId,
        name: &Name,
        capacity: &Amounts,
        schedulable: bool,
        attributes: &NodeAttributes,
    ) {
        let capacity = self.types.intern_all(capacity).pruned();
        let node = self.nodes.insert(Node {
            partition,
            name: name.clone(),
            available: capacity.clone(),
            capacity: capacity.clone(),
            allocated: Resources::new(),
            attributes: attributes.clone(),
            version: 0,
            schedulable,
            occupied: Resources::new(),
            fixed: Resources::new(),
            allocation_count: 0,
            reservations: SmallVec::new(),
            first_allocation: None,
            label: attributes.label().cloned(),
            closed: self.closes(partition, attributes.label()),
            lends: self.lends(partition, attributes.label()),
        });
        self.shapes.node_added(node, &self.nodes[node]);
        self.partition_mut(partition).nodes.insert(name.clone(), node);
        self.resize_root(now, partition, &capacity);
    }

    pub(super) fn remove_node(&mut self, now: Timestamp, node: NodeId) {
        let row = self.nodes.remove(node).expect("the event names a node that is there");
        self.shapes.node_removed(node);
        self.no_longer_missing(row.partition, node);
        self.partition_mut(row.partition).nodes.remove(&*row.name);
        self.resize_root(now, row.partition, &row.capacity.times(-1));
    }

    /// Updates the maximum of the root, which is the sum of the nodes. `None` without nodes.
    pub(super) fn resize_root(
        &mut self,
        now: Timestamp,
        partition: PartitionId,
        change: &Resources,
    ) {
        let root = self.partition(partition).root;
        let queue = &mut self.queues[root];
        let total =
            queue.max.as_ref().map_or_else(|| change.pruned(), |max| max.plus(change).pruned());
        queue.set_max((!total.is_empty()).then_some(total));
        if self.has_fractional_queues(partition) {
            self.divide(Some(now), root, None);
        }
        self.look_at_sizes(root);
    }
}
