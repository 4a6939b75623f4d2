//! Partitions, queues and nodes come and go.

use alloc::format;
use alloc::sync::Arc;

use crate::books::tracker::Trackers;
use crate::books::{Books, Node, Partition, PartitionSettings, Queue, QueueSettings};
use crate::id::{NodeId, PartitionId, QueueId};
use crate::name::Name;
use crate::ordered::OrderedMap;
use crate::resource::{Amounts, Resources};

impl Books {
    pub(super) fn add_partition(
        &mut self,
        name: &Name,
        settings: PartitionSettings,
        root: &QueueSettings,
    ) {
        let id = self.next_partition_id();
        let root = self.new_queue(id, None, &Name::new("root"), false, root);
        let mut queues = OrderedMap::default();
        queues.insert(Name::new("root"), root);
        let partition = Partition {
            name: name.clone(),
            settings,
            root,
            trackers: Trackers::default(),
            queues,
            nodes: OrderedMap::default(),
            applications: OrderedMap::default(),
            allocations: OrderedMap::default(),
            ask_count: 0,
            allocation_count: 0,
        };
        self.partitions.insert(id, partition);
    }

    pub(super) fn add_queue(
        &mut self,
        partition: PartitionId,
        parent: &Name,
        name: &Name,
        leaf: bool,
        settings: &QueueSettings,
    ) {
        let parent = self.partition(partition).queues_path(parent);
        let queue = self.new_queue(partition, Some(parent), name, leaf, settings);
        self.attach_queue(queue);
        let path = self.queues[queue].path.clone();
        self.partition_mut(partition).queues.insert(path, queue);
    }

    pub(super) fn new_queue(
        &mut self,
        partition: PartitionId,
        parent: Option<QueueId>,
        name: &Name,
        leaf: bool,
        settings: &QueueSettings,
    ) -> QueueId {
        let above = parent.map(|parent| &self.queues[parent]);
        let path =
            above.map_or_else(|| name.clone(), |above| format!("{}.{name}", above.path).into());
        let depth = above.map_or(0, |above| above.depth + 1);
        let max = settings.max.as_ref().and_then(|max| self.positive(max));
        let guaranteed = settings.guaranteed.as_ref().and_then(|amounts| self.positive(amounts));
        let mut queue = Queue {
            partition,
            name: name.clone(),
            path,
            parent,
            depth,
            leaf,
            settings: Arc::new(settings.clone()),
            max: None,
            left: None,
            guaranteed,
            allocated: Resources::new(),
            pending: Resources::new(),
            running: 0,
            first_child: None,
            last_child: None,
            next_sibling: None,
            first_application: None,
            last_application: None,
        };
        queue.set_max(max);
        self.queues.insert(queue)
    }

    pub(super) fn add_node(
        &mut self,
        partition: PartitionId,
        name: &Name,
        capacity: &Amounts,
        schedulable: bool,
    ) {
        let capacity = self.types.intern_all(capacity).pruned();
        let node = self.nodes.insert(Node {
            partition,
            name: name.clone(),
            available: capacity.clone(),
            capacity: capacity.clone(),
            allocated: Resources::new(),
            schedulable,
            allocation_count: 0,
            first_allocation: None,
        });
        self.partition_mut(partition).nodes.insert(name.clone(), node);
        self.resize_root(partition, &capacity);
    }

    pub(super) fn remove_node(&mut self, node: NodeId) {
        let row = self.nodes.remove(node).expect("the event names a node that is there");
        self.partition_mut(row.partition).nodes.remove(&*row.name);
        self.resize_root(row.partition, &row.capacity.times(-1));
    }

    /// The root's maximum is the sum of the nodes; without nodes there is none.
    pub(super) fn resize_root(&mut self, partition: PartitionId, change: &Resources) {
        let root = self.partition(partition).root;
        let queue = &mut self.queues[root];
        let total =
            queue.max.as_ref().map_or_else(|| change.pruned(), |max| max.plus(change).pruned());
        queue.set_max((!total.is_empty()).then_some(total));
    }
}
