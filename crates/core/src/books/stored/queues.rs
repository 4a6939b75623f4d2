//! Checks the tree of queues after deserialization, and rebuilds paths and lists of children.

use alloc::vec::Vec;

use crate::books::{Books, Queue};
use crate::id::{AllocationId, ApplicationId, QueueId};
use crate::resource::Resources;
use crate::stored::Unsound;

use super::{Outcome, before, relink};

impl Books {
    pub(super) fn settle_queues(&mut self) -> Outcome {
        let mut named = 0;
        for (id, partition) in &mut self.partitions {
            named += partition.queues.len();
            let queues = &self.queues;
            let of = |queue| queues.get(queue).filter(|row: &&Queue| row.partition == *id);
            partition.queues.name(|queue| {
                let row =
                    of(*queue).ok_or_else(|| Unsound::dangling(&partition.name, "a queue"))?;
                Ok::<_, Unsound>(row.path.clone())
            })?;
            let root = of(partition.root).filter(|root| root.parent.is_none());
            root.ok_or_else(|| Unsound::dangling(&partition.name, "a root queue"))?;
            let rows = partition.queues.iter().filter_map(|(_, queue)| queues.get(*queue));
            let made = rows.map(|row| u32::from(!row.managed)).sum::<u32>();
            let counted = partition.queues_made == made;
            Unsound::unless(counted, &partition.name, "how many queues rules made")?;
        }
        Unsound::unless(named == self.queues.len(), "all queues", "those found by path")?;
        self.check_tree()?;
        self.relink_queues()
    }

    /// Checks that each queue has the path and the depth that follow from its parent.
    fn check_tree(&self) -> Outcome {
        for (id, row) in self.queues.iter() {
            let holds = match row.parent {
                None => {
                    let root = self.partitions.get(&row.partition).map(|one| one.root);
                    root == Some(id) && row.depth == 0 && row.path == row.name
                }
                Some(parent) => self.queues.get(parent).is_some_and(|parent| {
                    let below = row.path.strip_prefix(&*parent.path);
                    let below = below.and_then(|rest| rest.strip_prefix('.'));
                    parent.partition == row.partition
                        && parent.depth.checked_add(1) == Some(row.depth)
                        && below == Some(&*row.name)
                }),
            };
            Unsound::unless(holds, &row.path, "its parent, depth and path")?;
        }
        Ok(())
    }

    /// Recomputes the pending sums beyond 64 bits, which the snapshot truncates.
    pub(super) fn sum_up_largest_pending(&mut self) {
        if !self.queues.iter().any(|(_, row)| row.has_largest_pending()) {
            return;
        }
        let all: Vec<QueueId> = self.queues.iter().map(|(id, _)| id).collect();
        for id in all {
            self.queues[id].pending = Resources::new();
        }
        let waiting = self.allocations.iter().filter(|(_, row)| row.is_pending());
        let waiting: Vec<(AllocationId, ApplicationId)> =
            waiting.map(|(id, row)| (id, row.application)).collect();
        for (ask, application) in waiting {
            let resources = self.resources_of(ask).clone();
            let mut queue = Some(self.application(application).queue);
            while let Some(id) = queue {
                let row = &mut self.queues[id];
                row.pend(&resources);
                queue = row.parent;
            }
        }
    }

    fn relink_queues(&mut self) -> Outcome {
        let ids: Vec<QueueId> = self.queues.iter().map(|(id, _)| id).collect();
        let (mut below, mut roots) = (0, 0);
        for id in ids {
            let row = &self.queues[id];
            let (path, first, last) = (row.path.clone(), row.first_child, row.last_child);
            let child_count = row.child_count;
            roots += usize::from(row.parent.is_none());
            let (count, end) = relink(&mut self.queues, first, &path, |_, row, previous| {
                Unsound::unless(row.parent == Some(id), &path, "the queues below it")?;
                before(&mut row.previous_sibling, previous, &path)?;
                Ok(row.next_sibling)
            })?;
            let counted = (child_count, last) == (count, end);
            Unsound::unless(counted, &path, "the number of queues below it")?;
            below += count as usize;
        }
        let all = below + roots == self.queues.len();
        Unsound::unless(all, "all queues", "those in the lists of their parents")
    }
}
