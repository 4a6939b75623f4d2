//! Target queues: the queues of a file as they should become.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use crate::books::{Queue, QueueSettings};
use crate::config::{PartitionConfig, QueueConfig};
use crate::event::{Event, QueueEvent};
use crate::id::PartitionId;
use crate::name::Name;
use crate::rejection::Rejection;

use super::settings::{Above, queue_settings};

/// One queue of the file with its effective settings.
pub(in crate::rules) struct Target<'file> {
    pub(in crate::rules) queue: &'file QueueConfig,
    /// Path in lower case.
    pub(in crate::rules) path: Name,
    /// Path of the parent. `None` for the root.
    pub(in crate::rules) parent: Option<Name>,
    pub(in crate::rules) settings: QueueSettings,
    /// Whether it accepts no applications because its tenant drains.
    pub(in crate::rules) draining: bool,
}

impl Target<'_> {
    pub(in crate::rules) fn added(&self, partition: PartitionId, parent: &Name) -> Event {
        Event::Queue(QueueEvent::Added {
            partition,
            parent: parent.clone(),
            name: Name::new(self.queue.name.to_lowercase()),
            leaf: self.is_leaf(),
            managed: true,
            settings: Box::new(self.settings.clone()),
        })
    }

    pub(in crate::rules) fn changed(&self, partition: PartitionId) -> Event {
        Event::Queue(QueueEvent::Changed {
            partition,
            queue: self.path.clone(),
            leaf: self.is_leaf(),
            managed: true,
            settings: Box::new(self.settings.clone()),
        })
    }

    /// Returns whether an existing queue already has these settings.
    pub(in crate::rules) fn is_in_force(&self, queue: &Queue) -> bool {
        queue.managed && queue.leaf == self.is_leaf() && *queue.settings == self.settings
    }

    pub(in crate::rules) fn is_leaf(&self) -> bool {
        self.parent.is_some() && !self.queue.is_parent()
    }
}

/// Returns all queues of a partition, parents before children.
pub(super) fn targets_of(partition: &PartitionConfig) -> Result<Vec<Target<'_>>, Rejection> {
    let mut targets = Vec::new();
    let mut paths = BTreeSet::new();
    // Iterative depth-first search: a deep nesting in a file must not exhaust the stack.
    let mut open: Vec<(Option<usize>, &QueueConfig)> = vec![(None, &partition.root)];
    while let Some((above, queue)) = open.pop() {
        let above: Option<&Target<'_>> = above.map(|above| &targets[above]);
        let path = above.map_or_else(
            || Name::new("root"),
            |above| format!("{}.{}", above.path, queue.name.to_lowercase()).into(),
        );
        let parent = above.map(|above| above.path.clone());
        let above =
            above.map_or(Above::Partition(partition), |above| Above::Queue(&above.settings));
        let settings = queue_settings(queue, &path, above)?;
        if !paths.insert(path.clone()) {
            return Err(Rejection::DuplicateQueue { queue: path });
        }
        let position = targets.len();
        targets.push(Target { queue, path, parent, settings, draining: false });
        open.extend(queue.children.iter().rev().map(|child| (Some(position), child)));
    }
    Ok(targets)
}
