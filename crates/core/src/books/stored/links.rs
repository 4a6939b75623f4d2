//! Checks the links between applications and trackers.

use alloc::collections::BTreeMap;

use crate::books::tracker::TrackerKind;
use crate::books::{Application, Books};
use crate::id::{LevelId, PartitionId};
use crate::stored::Unsound;

use super::Outcome;

impl Books {
    /// Checks that tracker levels are at existing queues, and count the applications that are linked to them.
    pub(super) fn check_links(&self) -> Outcome {
        let mut counts = BTreeMap::new();
        for (_, row) in self.applications.iter() {
            self.count_links(row, &mut counts)?;
        }
        for (id, partition) in &self.partitions {
            let trackers = &partition.trackers;
            for (level_id, level) in trackers.levels() {
                let name = &trackers.tracker(level.tracker).name;
                let queue = self.queues.get(level.queue).filter(|queue| queue.partition == *id);
                let queue = queue.ok_or_else(|| Unsound::dangling(name, "a queue"))?;
                let above = level.parent.map(|above| trackers.level(above).queue);
                Unsound::unless(queue.parent == above, name, "the path of a level")?;
                let counted = counts.get(&(*id, level_id)).copied().unwrap_or_default();
                let counts = (level.links(), level.running);
                Unsound::unless(counts == counted, name, "the applications at a level")?;
            }
            for queue in trackers.limited_queues() {
                let here = self.queues.get(queue).is_some_and(|row| row.partition == *id);
                Unsound::unless(here, &partition.name, "a queue with limits")?;
            }
            for (queue, path) in trackers.paths_of_wildcards() {
                let limited = trackers.limits_any_user(queue);
                let holds = limited && self.path_of(queue) == **path;
                Unsound::unless(holds, &partition.name, "the path of a limit of all users")?;
            }
        }
        Ok(())
    }

    /// Counts the links of one application, and the levels at which it counts as running.
    fn count_links(
        &self,
        row: &Application,
        counts: &mut BTreeMap<(PartitionId, LevelId), (u64, u64)>,
    ) -> Outcome {
        let Some(link) = row.link else {
            let nothing = !row.counted && row.untold.is_none();
            return Unsound::unless(
                nothing,
                &row.name,
                "its trackers and the amounts charged to them",
            );
        };
        let charged = row.untold.is_none() || link.group.level().is_some();
        Unsound::unless(charged, &row.name, "its group and the amount charged to it")?;
        let partition = self.partitions.get(&row.partition);
        let partition = partition.ok_or_else(|| Unsound::dangling(&row.name, "a partition"))?;
        let group = link.group.level().map(|level| (level, TrackerKind::Group));
        for (leaf, kind) in core::iter::once((link.user, TrackerKind::User)).chain(group) {
            let level = partition.trackers.find_level(leaf).filter(|level| {
                let tracker = partition.trackers.tracker(level.tracker);
                level.queue == row.queue && tracker.kind == kind
            });
            level.ok_or_else(|| Unsound::dangling(&row.name, "a level of a tracker"))?;
            let running = match kind {
                TrackerKind::User => row.counted,
                TrackerKind::Group => row.counted_by_group(),
            };
            for (level, _) in partition.trackers.up(leaf) {
                let sum = counts.entry((row.partition, level)).or_insert((0, 0));
                sum.0 += 1;
                sum.1 += u64::from(running);
            }
        }
        Ok(())
    }
}
