//! Applies events of foreign allocations. Source: scheduling §12.4.

use crate::books::{Books, Foreign};
use crate::id::{NodeId, PartitionId};
use crate::name::Name;
use crate::resource::{Amounts, Resources};

impl Books {
    pub(super) fn set_foreign(
        &mut self,
        partition: PartitionId,
        key: &Name,
        node: NodeId,
        resources: &Amounts,
        preemptable: bool,
    ) {
        self.remove_foreign(partition, key);
        let resources = self.types.intern_all(resources).pruned();
        self.nodes[node].reoccupy(&Resources::new(), &resources);
        if !preemptable {
            self.nodes[node].fix(&Resources::new(), &resources);
        }
        let row = Foreign { node, resources, preemptable };
        self.partition_mut(partition).foreign.insert(key.clone(), row);
    }

    pub(super) fn remove_foreign(&mut self, partition: PartitionId, key: &Name) {
        let Some(gone) = self.partition_mut(partition).foreign.remove(&**key) else {
            return;
        };
        // The node might be removed together with its foreign allocations.
        if let Some(node) = self.nodes.get_mut(gone.node) {
            node.reoccupy(&gone.resources, &Resources::new());
            if !gone.preemptable {
                node.fix(&gone.resources, &Resources::new());
            }
        }
    }
}
