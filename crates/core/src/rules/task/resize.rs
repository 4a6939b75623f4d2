//! Resizes the members of a task. Source: tenants TR-16.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::books::{Books, TaskState};
use crate::bounds::{Bound, exceeded};
use crate::event::{AllocationEvent, Event};
use crate::id::{LevelId, NodeId, PartitionId, QueueId};
use crate::name::Name;
use crate::rejection::{Rejection, TaskRejection};
use crate::resource::{Amounts, Quantity, Resources};
use crate::rules::{Naming, allocation, tenant, types_fit};
use crate::wait::Blocker;

use super::OneTask;
use super::submit::are_possible;

impl OneTask<'_> {
    /// Resizes each member. A waiting task must still be possible. A running task needs the additional amounts in its
    /// quotas and on its nodes.
    pub(super) fn resize(&self, resources: &Amounts) -> Result<Vec<Event>, Rejection> {
        let state = self.state();
        if !matches!(state, TaskState::Waiting | TaskState::Starting | TaskState::Running) {
            return Err(self.refuse("resized", "WAITING, STARTING or RUNNING"));
        }
        let (books, task) = (self.books, self.name());
        if !resources.is_strictly_positive() {
            let (key, application) = (task.clone(), task.clone());
            return Err(Rejection::AskSize { key, application, resources: resources.clone() });
        }
        are_possible(task, resources)?;
        tenant::are_named(books, self.partition, "the task", resources)?;
        let counted = alloc::borrow::Cow::Borrowed(resources);
        let counted = tenant::counted(books, self.application, counted);
        types_fit(books, &Naming::of_client("the task"), &counted)?;
        let members = self.members();
        let whole = counted.times(i64::try_from(members.len()).unwrap_or(i64::MAX));
        tenant::fits_quota(books, self.application, task, &whole)?;
        allocation::sum_grows(books, self.application, state != TaskState::Waiting, &whole)?;
        if state != TaskState::Waiting {
            self.may_grow(&counted)?;
        }
        Ok(members
            .into_iter()
            .map(|(allocation, _)| {
                Event::Allocation(AllocationEvent::Resized {
                    allocation,
                    resources: counted.clone().into_owned(),
                })
            })
            .collect())
    }

    /// Checks whether the additional amounts of all members fit. Otherwise, none is resized.
    fn may_grow(&self, each: &Amounts) -> Result<(), TaskRejection> {
        let books = self.books;
        let row = books.application(self.application);
        let mut more = Resources::new();
        let mut on_nodes: BTreeMap<NodeId, Resources> = BTreeMap::new();
        for (id, member) in self.members() {
            let growth = growth(books, books.resources_of(id), each);
            let Some(node) = member.node else { continue };
            let on_node = books.for_nodes(self.partition, &growth);
            let here = on_nodes.entry(node).or_default();
            here.add(on_node.as_ref().unwrap_or(&growth));
            let node = books.node(node);
            for (resource, amount) in here.iter() {
                let free = node.available.get_or_zero(resource);
                if amount > Quantity::ZERO && amount > free {
                    let (task, node) = (row.name.clone(), node.name.clone());
                    let resource = books.types().name(resource).clone();
                    return Err(TaskRejection::NoRoom { task, node, resource, more: amount, free });
                }
            }
            more.add(&growth);
        }
        let Some(link) = row.link else { return Ok(()) };
        let more = more.pruned();
        match exceeded(books, row.queue, link, &more) {
            Some(Bound::QueueMax(queue)) => Err(self.beyond_queue(queue, &more)),
            Some(Bound::Limit(partition, level)) => {
                Err(self.beyond_limit((partition, level), &more))
            }
            None => Ok(()),
        }
    }

    fn beyond_queue(&self, queue: QueueId, more: &Resources) -> TaskRejection {
        let row = self.books.queue(queue);
        let of_tenant = row.settings.tenant.as_ref().map(|mark| mark.tenant.clone());
        let scope = match of_tenant {
            Some(tenant) => Name::from(alloc::format!("tenant {tenant}")),
            None => Name::from(alloc::format!("queue {}", row.path)),
        };
        let nothing = Resources::new();
        self.beyond(scope, (&row.allocated, row.max.as_ref().unwrap_or(&nothing)), more)
    }

    fn beyond_limit(
        &self,
        (partition, level): (PartitionId, LevelId),
        more: &Resources,
    ) -> TaskRejection {
        let trackers = &self.books.partition(partition).trackers;
        let scope = Blocker::Limit(partition, level).subject(self.books);
        let level = trackers.level(level);
        let nothing = Resources::new();
        self.beyond(Name::from(scope), (&level.used(), level.max().unwrap_or(&nothing)), more)
    }

    /// Returns the rejection for the first type that is short.
    fn beyond(
        &self,
        scope: Name,
        (used, max): (&Resources, &Resources),
        more: &Resources,
    ) -> TaskRejection {
        let over = more.iter().find_map(|(resource, more)| {
            let (limit, used) = (max.get(resource)?, used.get_or_zero(resource));
            (more > Quantity::ZERO && used.plus(more) > limit)
                .then_some((resource, used, more, limit))
        });
        let (resource, used, more, limit) = over.expect("one type does not fit");
        let resource = self.books.types().name(resource).clone();
        TaskRejection::Quota { task: self.name().clone(), scope, resource, used, more, limit }
    }
}

/// Returns the amounts by which an allocation would grow. Empty if it would not.
fn growth(books: &Books, before: &Resources, each: &Amounts) -> Resources {
    let mut growth = Resources::new();
    for (name, amount) in each.iter() {
        let Some(resource) = books.types().find(name) else { continue };
        let more = amount.minus(before.get_or_zero(resource));
        if more > Quantity::ZERO {
            growth.set(resource, more);
        }
    }
    growth
}
