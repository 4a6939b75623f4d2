//! Applies edits to a copy of the books, with the events and commands that they represent.

use alloc::boxed::Box;
use alloc::sync::Arc;

use crate::books::tracker::TrackerKind;
use crate::books::{LimitSettings, LimitSubject, NodeAttributes};
use crate::command::{AddNode, Ask, Command, SetTenant, Submit};
use crate::config::TenantSettings;
use crate::event::{AllocationEvent, AskEvent, Event, QueueEvent, Termination};
use crate::fork::Fork;
use crate::id::{AllocationId, LevelId, PartitionId, QueueId};
use crate::name::Name;
use crate::resource::Amounts;

use super::edit::Edit;

/// Name of a trial node whose name does not matter.
const ANY_NODE: &str = "headroom-explain";

impl Edit {
    /// Applies the edit. Returns whether that was possible. The ID of the ask can change.
    pub(super) fn make(&self, copy: &mut Fork, ask: &mut AllocationId) -> bool {
        let books = &copy.books;
        match self {
            Self::QueueMax { .. }
            | Self::QueueApplications { .. }
            | Self::ParallelApplications { .. }
            | Self::ParallelOfUser { .. }
            | Self::Setting { .. } => self.change_queue(copy),
            Self::Limit { partition, level, resource, to, .. } => {
                let name = books.types().name(*resource).clone();
                change_limit(copy, (*partition, *level), |limit| {
                    limit.max.set(name.clone(), *to);
                })
            }
            Self::LimitApplications { partition, level, to, .. } => {
                change_limit(copy, (*partition, *level), |limit| limit.max_applications = *to)
            }
            Self::Resume { partition, tenant, .. } => resume(copy, *partition, tenant),
            Self::Release { allocation } | Self::End { allocation, .. } => {
                release(copy, *allocation)
            }
            Self::Size { resource, to, .. } => {
                let mut size = books.resources_of(*ask).clone();
                size.set(*resource, *to);
                let resources = books.types().amounts(&size);
                copy.apply(&Event::Allocation(AllocationEvent::Resized {
                    allocation: *ask,
                    resources,
                }));
                true
            }
            Self::Node { partition, name, label, capacity } => {
                add_node(copy, (*partition, name, label), capacity)
            }
            Self::Larger { node, by } => {
                let row = books.node(*node);
                let mut capacity = books.plain(row.partition, &row.capacity);
                for (name, by) in by.iter() {
                    let amount = capacity.get(name).unwrap_or_default().plus(by);
                    capacity.set(name.clone(), amount);
                }
                let partition = books.partition(row.partition).name.clone();
                let command = Command::ResizeNode { partition, node: row.name.clone(), capacity };
                copy.execute(&command)
            }
            Self::Leaf { queue, .. } => shift(copy, ask, *queue),
        }
    }

    /// Applies the edit if it changes a queue. Returns whether it does.
    fn change_queue(&self, copy: &mut Fork) -> bool {
        let (Self::QueueMax { queue, .. }
        | Self::QueueApplications { queue, .. }
        | Self::ParallelApplications { queue, .. }
        | Self::ParallelOfUser { queue, .. }
        | Self::Setting { queue, .. }) = self
        else {
            return false;
        };
        let books = &copy.books;
        let row = books.queue(*queue);
        let mut settings = (*row.settings).clone();
        let limits = &mut settings.application_limits;
        match self {
            Self::QueueMax { resource, to, .. } => {
                let name = books.types().name(*resource).clone();
                settings.max.get_or_insert_with(Amounts::default).set(name, *to);
            }
            Self::QueueApplications { to, .. } => settings.max_applications = *to,
            Self::ParallelApplications { to, .. } => {
                if let Some(limits) = limits {
                    Arc::make_mut(limits).max_parallel = Some(*to);
                }
            }
            Self::ParallelOfUser { user, to, .. } => {
                if let Some(limits) = limits {
                    Arc::make_mut(limits).set_parallel_of(user, *to);
                }
            }
            Self::Setting { setting, to, .. } => setting.set(&mut settings, *to),
            Self::Limit { .. }
            | Self::LimitApplications { .. }
            | Self::Resume { .. }
            | Self::Release { .. }
            | Self::End { .. }
            | Self::Size { .. }
            | Self::Node { .. }
            | Self::Larger { .. }
            | Self::Leaf { .. } => return false,
        }
        let event = Event::Queue(QueueEvent::Changed {
            partition: row.partition,
            queue: row.path.clone(),
            leaf: row.leaf,
            managed: row.managed,
            settings: Box::new(settings),
        });
        copy.apply(&event);
        true
    }
}

fn resume(copy: &mut Fork, partition: PartitionId, tenant: &Name) -> bool {
    let row = copy.books.partition(partition);
    let Some(known) = row.tenants.get(tenant) else { return false };
    let command = Command::SetTenant(Box::new(SetTenant {
        partition: row.name.clone(),
        tenant: tenant.clone(),
        settings: TenantSettings { suspended: false, ..(*known.settings).clone() },
        ..SetTenant::default()
    }));
    copy.execute(&command)
}

fn add_node(
    copy: &mut Fork,
    (partition, name, label): (PartitionId, &Name, &Name),
    capacity: &Amounts,
) -> bool {
    let name = if name.is_empty() { Name::new(ANY_NODE) } else { name.clone() };
    let label = Some((NodeAttributes::LABEL, label.as_str()));
    let attributes = label.filter(|(_, label)| !label.is_empty()).into_iter().collect();
    let command = Command::AddNode(AddNode {
        partition: copy.books.partition(partition).name.clone(),
        node: name,
        capacity: capacity.clone(),
        schedulable: true,
        attributes,
    });
    copy.execute(&command)
}

fn change_limit(
    copy: &mut Fork,
    (partition, level): (PartitionId, LevelId),
    change: impl Fn(&mut LimitSettings),
) -> bool {
    let books = &copy.books;
    let trackers = &books.partition(partition).trackers;
    let level = trackers.level(level);
    let tracker = trackers.tracker(level.tracker);
    let named = |one: &LimitSubject| match (one, tracker.kind) {
        (LimitSubject::User(name), TrackerKind::User)
        | (LimitSubject::Group(name), TrackerKind::Group) => *name == tracker.name,
        _ => false,
    };
    let others = |one: &LimitSubject| match tracker.kind {
        TrackerKind::User => *one == LimitSubject::AnyUser,
        TrackerKind::Group => *one == LimitSubject::AnyGroup,
    };
    let mut limits = trackers.limits_at(level.queue).to_vec();
    let by_name = limits.iter().any(|one| named(&one.subject));
    let is_it = |one: &LimitSubject| if by_name { named(one) } else { others(one) };
    // The last of several limits for one name counts.
    let Some(limit) = limits.iter_mut().rev().find(|one| is_it(&one.subject)) else {
        return false;
    };
    change(limit);
    let queue = books.queue(level.queue).path.clone();
    copy.apply(&Event::Queue(QueueEvent::LimitsChanged { partition, queue, limits }));
    true
}

fn release(copy: &mut Fork, allocation: AllocationId) -> bool {
    let books = &copy.books;
    let Some(row) = books.allocations().get(allocation) else { return false };
    let application = books.application(row.application);
    let command = Command::Release {
        partition: books.partition(application.partition).name.clone(),
        application: application.name.clone(),
        key: Some(row.key.clone()),
        termination: Termination::StoppedByRm,
    };
    copy.execute(&command)
}

/// Submits an application of the same user with the same ask to another leaf.
fn shift(copy: &mut Fork, ask: &mut AllocationId, queue: QueueId) -> bool {
    let books = &copy.books;
    let row = books.allocation(*ask);
    let application = books.application(row.application);
    let partition = books.partition(application.partition).name.clone();
    let path = books.queue(queue).path.clone();
    let name = Name::new(ANY_NODE);
    let submit = Command::Submit(Submit {
        partition: partition.clone(),
        application: name.clone(),
        queue: path,
        user: application.user.clone(),
        groups: application.groups.to_vec(),
        ..Submit::default()
    });
    let wish = books.node_selector_of(*ask).cloned().unwrap_or_default();
    let again = Command::Ask(Ask {
        partition,
        application: name.clone(),
        key: name.clone(),
        resources: books.plain_size_of(*ask),
        priority: row.priority,
        required_node: row.required_node().cloned().unwrap_or_default(),
        may_preempt: row.may_preempt,
        preemptable: row.preemptable,
        node_label: wish.label.unwrap_or_default(),
        blocked_nodes: wish.blocked,
        ..Ask::default()
    });
    let before = *ask;
    copy.apply(&Event::Ask(AskEvent::Removed {
        ask: before,
        termination: Termination::StoppedByRm,
    }));
    if !copy.execute(&submit) || !copy.execute(&again) {
        return false;
    }
    let books = &copy.books;
    let mut all = books.allocations().iter();
    let Some((id, row)) = all.find(|(_, row)| row.key == name && row.is_pending()) else {
        return false;
    };
    *ask = id;
    books.application(row.application).queue == queue
}
