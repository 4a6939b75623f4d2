//! Checks applications after deserialization, and rebuilds their names, their lists, and the counts of queues.

use alloc::vec;
use alloc::vec::Vec;

use crate::books::{Application, ApplicationState, Books, StateLog};
use crate::id::QueueId;
use crate::stored::Unsound;

use super::{Outcome, before, relink};

impl Books {
    pub(super) fn settle_applications(&mut self) -> Outcome {
        let mut active = 0;
        for (_, row) in self.applications.iter() {
            self.check_application(row)?;
            active += usize::from(row.state.is_active());
        }
        let mut named = 0;
        for (id, partition) in &mut self.partitions {
            named += partition.applications.len();
            let rows = &self.applications;
            partition.applications.name(|one| {
                let row = rows.get(*one);
                let row = row.filter(|row| row.partition == *id && row.state.is_active());
                let row =
                    row.ok_or_else(|| Unsound::dangling(&partition.name, "an application"))?;
                Ok::<_, Unsound>(row.name.clone())
            })?;
        }
        Unsound::unless(named == active, "all applications", "those found by name")?;
        self.relink_applications(active)?;
        self.check_queue_counts()
    }

    fn check_application(&self, row: &Application) -> Outcome {
        let name = &row.name;
        let known = self.partitions.contains_key(&row.partition);
        Unsound::unless(known, name, "its partition")?;
        Unsound::unless(row.number <= self.submissions, name, "its number")?;
        let remembered = row.state_log.iter().count() <= StateLog::REMEMBERED;
        Unsound::unless(remembered, name, "the states that it was in")?;
        for group in row.gang.iter().flat_map(|gang| &gang.groups) {
            let sum = group.replaced.checked_add(group.timed_out);
            Unsound::unless(sum.is_some(), name, "the placeholders of a task group")?;
        }
        if row.state.is_active() {
            let queue = self.queues.get(row.queue).filter(|queue| queue.partition == row.partition);
            let queue = queue.ok_or_else(|| Unsound::dangling(name, "a queue"))?;
            return Unsound::unless(row.queue_path == queue.path, name, "the path of its queue");
        }
        let free = row.link.is_none() && !row.counted && !row.allocating;
        let alone = free && row.next_in_queue.is_none() && row.first_allocation.is_none();
        Unsound::unless(alone, name, "what it has though it ended")
    }

    fn relink_applications(&mut self, active: usize) -> Outcome {
        let queues: Vec<QueueId> = self.queues.iter().map(|(id, _)| id).collect();
        let mut listed = 0;
        for id in queues {
            let queue = &self.queues[id];
            let (path, first, last) =
                (&queue.path, queue.first_application, queue.last_application);
            let (count, end) = relink(&mut self.applications, first, path, |_, row, previous| {
                let here = row.queue == id && row.state.is_active();
                Unsound::unless(here, path, "its applications")?;
                before(&mut row.previous_in_queue, previous, path)?;
                Ok(row.next_in_queue)
            })?;
            Unsound::unless(last == end, path, "its last application")?;
            let idle = queue.removable_at.is_none() || queue.is_removable();
            Unsound::unless(idle, path, "whether it may be cleaned away")?;
            listed += count as usize;
        }
        Unsound::unless(listed == active, "all applications", "those in the lists of their queues")
    }

    /// Checks that queues count the running and allocating applications.
    fn check_queue_counts(&self) -> Outcome {
        let mut counts = vec![(0_u64, 0_u64); self.queues.slots()];
        for (_, row) in self.applications.iter() {
            let runs = u64::from(row.state == ApplicationState::Running);
            let allocating = u64::from(row.allocating);
            if runs + allocating > 0 {
                for (queue, _) in self.up(row.queue) {
                    counts[queue.index()].0 += runs;
                    counts[queue.index()].1 += allocating;
                }
            }
        }
        for (id, row) in self.queues.iter() {
            let counted = (row.running, row.allocating) == counts[id.index()];
            Unsound::unless(counted, &row.path, "the applications that run")?;
        }
        Ok(())
    }
}
