//! Shares equal names and lists after deserialization: users, groups, paths, and properties. Otherwise, each row would
//! have its own copy.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::books::{Books, NodeAttributes};
use crate::config::{ApplicationLimitsConfig, TemplateConfig, UserLimitsConfig};
use crate::id::{AllocationId, ApplicationId, NodeId, QueueId};
use crate::name::Name;

/// Distinct values so far.
struct Pool<T>(BTreeSet<T>);

impl<T: Ord + Clone> Pool<T> {
    /// Replaces a value by an equal earlier one, if there is one.
    fn share(&mut self, one: &mut T) {
        match self.0.get(one) {
            Some(known) => *one = known.clone(),
            None => {
                self.0.insert(one.clone());
            }
        }
    }
}

impl Books {
    pub(super) fn share_names(&mut self) {
        let mut names = Pool(BTreeSet::new());
        for partition in self.partitions.values() {
            for mut name in partition.trackers.all_names() {
                names.share(&mut name);
            }
        }
        self.share_in_queues(&mut names);
        self.share_in_applications(&mut names);
        let nodes: Vec<NodeId> = self.nodes.iter().map(|(id, _)| id).collect();
        let mut attributes = Pool(BTreeSet::new());
        for id in nodes {
            let row = &mut self.nodes[id];
            if row.attributes != NodeAttributes::default() {
                attributes.share(&mut row.attributes);
            }
        }
        let special = self.allocations.iter().filter(|(_, row)| !row.has_only_common_fields());
        let special: Vec<AllocationId> = special.map(|(id, _)| id).collect();
        for id in special {
            let special = self.allocations[id].special_mut();
            special.task_group.iter_mut().for_each(|name| names.share(name));
            special.required_node.iter_mut().for_each(|name| names.share(name));
        }
    }

    fn share_in_queues(&mut self, names: &mut Pool<Name>) {
        let queues: Vec<QueueId> = self.queues.iter().map(|(id, _)| id).collect();
        let mut templates: Vec<Arc<TemplateConfig>> = Vec::new();
        let mut limits: Vec<Arc<UserLimitsConfig>> = Vec::new();
        let mut of_applications: Vec<Arc<ApplicationLimitsConfig>> = Vec::new();
        for id in queues {
            let settings = Arc::make_mut(&mut self.queues[id].settings);
            let properties = core::mem::take(&mut settings.properties);
            settings.properties = properties
                .into_iter()
                .map(|(mut key, mut value)| {
                    names.share(&mut key);
                    names.share(&mut value);
                    (key, value)
                })
                .collect();
            // The template and the limits of a queue usually equal those of a queue shortly before it.
            share_recent(&mut templates, &mut settings.template);
            share_recent(&mut limits, &mut settings.user_limits);
            share_recent(&mut of_applications, &mut settings.application_limits);
        }
    }

    fn share_in_applications(&mut self, names: &mut Pool<Name>) {
        let mut lists: Pool<Arc<[Name]>> = Pool(BTreeSet::new());
        let applications: Vec<ApplicationId> = self.applications.iter().map(|(id, _)| id).collect();
        for id in applications {
            let row = &mut self.applications[id];
            match self.queues.get(row.queue) {
                Some(queue) if queue.path == row.queue_path => row.queue_path = queue.path.clone(),
                _ => names.share(&mut row.queue_path),
            }
            names.share(&mut row.user);
            lists.share(&mut row.groups);
        }
        for partition in self.partitions.values_mut() {
            partition.rejected.each_mut(|row| {
                for name in [&mut row.queue, &mut row.user, &mut row.code] {
                    names.share(name);
                }
                lists.share(&mut row.groups);
            });
        }
    }
}

/// Replaces a value by an equal one of the last few.
fn share_recent<T: PartialEq>(recent: &mut Vec<Arc<T>>, own: &mut Option<Arc<T>>) {
    let Some(own) = own else { return };
    match recent.iter().rev().take(4).find(|known| *known == own) {
        Some(known) => *own = known.clone(),
        None => recent.push(own.clone()),
    }
}
