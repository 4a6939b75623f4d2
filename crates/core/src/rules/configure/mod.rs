//! Applies a queue file: compares it with the current books and returns the differences as events. Source: queues and
//! limits §3.
//!
//! The whole file is checked before the first event is returned. An error in one partition therefore changes nothing in
//! the others.

mod labels;
mod limits;
mod remove;
mod settings;
mod state;
mod target;
mod user_limits;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::books::Books;
use crate::config::{Configuration, PartitionConfig, QueueConfig, UserLimitsConfig};
use crate::event::{Event, PartitionEvent, QueueEvent, TenantEvent};
use crate::id::{Id, PartitionId, Slot};
use crate::name::Name;
use crate::placement::Rules;
use crate::rejection::{Rejection, TenantRejection};
use crate::resource::ResourceTypes;
use crate::time::Timestamp;

pub(super) use limits::{of as limits_of, replace as replace_limits};
pub(super) use settings::{
    Above, application_limits_below, granting, queue_settings, user_limits_below,
};
pub(super) use state::{of_known, of_new};
pub(super) use target::Target;

use super::tenant::{self, Lowering, Reconfigured};
use settings::partition_settings;
use target::targets_of;

pub(super) fn configure(
    books: &Books,
    now: Timestamp,
    configuration: &Configuration,
) -> Result<Vec<Event>, Rejection> {
    if !configuration.checksum.is_empty() && configuration.checksum == *books.checksum() {
        return Ok(Vec::new()); // The same text is in force.
    }
    count_types(books, configuration)?;
    let mut events = Vec::new();
    let mut named = BTreeSet::new();
    let mut next = books.next_partition_id().slot().number();
    for partition in &configuration.partitions {
        if !named.insert(partition.name.to_ascii_lowercase()) {
            return Err(Rejection::DuplicatePartition { partition: partition.name.clone() });
        }
        let targets = targets_of(partition)?;
        if let Some(id) = books.partition_named(&partition.name) {
            placement_fits(partition)?;
            user_limits::are_not_lowered(books, id, &targets)?;
            change_partition(books, now, (id, partition), targets, &mut events)?;
        } else {
            let id = PartitionId::from_slot(Slot::new(next, 0));
            next += 1;
            add_partition(id, partition, &targets, &mut events)?;
        }
    }
    tenants_once(configuration)?;
    for (id, row) in books.partitions() {
        if !named.contains(&row.name.to_ascii_lowercase()) {
            if !row.tenants.is_empty() {
                let (partition, count) = (row.name.clone(), row.tenants.len());
                let what = "no longer has the partition";
                return Err(TenantRejection::InForce { partition, count, what }.into());
            }
            remove::partition(books, *id, &mut events);
        }
    }
    if configuration.checksum != *books.checksum() {
        events.push(Event::Configured { checksum: configuration.checksum.clone() });
    }
    Ok(events)
}

fn add_partition(
    id: PartitionId,
    partition: &PartitionConfig,
    targets: &[Target<'_>],
    events: &mut Vec<Event>,
) -> Result<(), Rejection> {
    if let Some(tenants) = &partition.tenants {
        tenant::root(&partition.name, tenants, targets)?;
    }
    for target in targets {
        events.push(match &target.parent {
            None => Event::Partition(PartitionEvent::Added {
                partition: partition.name.clone(),
                settings: Box::new(partition_settings(partition)),
                root: Box::new(target.settings.clone()),
            }),
            Some(parent) => target.added(id, parent),
        });
        events.extend(of_new(id, target));
        let limits = limits::of(target.queue);
        if !limits.is_empty() {
            let queue = target.path.clone();
            events.push(Event::Queue(QueueEvent::LimitsChanged { partition: id, queue, limits }));
        }
    }
    if let Some(tenants) = &partition.tenants {
        let defaults = Box::new(tenants.defaults.clone());
        events.push(Event::Tenant(TenantEvent::DefaultsSet { partition: id, defaults }));
    }
    Ok(())
}

/// Rejects a file with tenants in two partitions, because a tenant is found by its name alone.
fn tenants_once(configuration: &Configuration) -> Result<(), TenantRejection> {
    let mut with = configuration.partitions.iter().filter(|one| one.tenants.is_some());
    match (with.next(), with.next()) {
        (Some(first), Some(second)) => {
            let (first, second) = (first.name.clone(), second.name.clone());
            Err(TenantRejection::Twice { first, second })
        }
        _ => Ok(()),
    }
}

fn change_partition(
    books: &Books,
    now: Timestamp,
    (id, partition): (PartitionId, &PartitionConfig),
    targets: Vec<Target<'_>>,
    events: &mut Vec<Event>,
) -> Result<(), Rejection> {
    let row = books.partition(id);
    let settings = partition_settings(partition);
    let Reconfigured { config, tenants, defaults } =
        tenant::reconfigured(books, id, partition, &targets)?;
    if settings != row.settings {
        let settings = Box::new(settings);
        events.push(Event::Partition(PartitionEvent::Changed { partition: id, settings }));
    }
    if let Some(defaults) = defaults.cloned().map(Box::new) {
        events.push(Event::Tenant(TenantEvent::DefaultsSet { partition: id, defaults }));
    }
    let tenants = config.map(|config| Lowering {
        books,
        partition: id,
        config,
        tenants: &tenants,
        by_file: true,
    });
    let pieces = tenants.map(|tenants| tenants.pieces(&tenants.all())).unwrap_or_default();
    let mut targets: Vec<Target<'_>> = targets;
    if let Some(tenants) = tenants.filter(|_| !pieces.is_empty()) {
        tenants.targets(&pieces, &mut targets)?;
    }
    let targets = &targets;
    let mut wanted = BTreeMap::new();
    for target in targets {
        match (row.queues.get(&*target.path), &target.parent) {
            (Some(queue), _) => {
                wanted.insert(*queue, target);
                let queue = books.queue(*queue);
                events.extend(of_known(id, queue, target));
                // An unchanged queue is also updated if its quota preemption timer is over.
                if !target.is_in_force(queue) || queue.quota_clock_is_over() {
                    events.push(target.changed(id));
                }
                if target.parent.is_none() {
                    // Child queues are checked against their maxima in the types of the new labels.
                    let labels = target.settings.node_labels.as_deref();
                    labels::count_again(books, now, id, labels, events)?;
                }
            }
            (None, Some(parent)) => {
                events.push(target.added(id, parent));
                events.extend(of_new(id, target));
            }
            (None, None) => unreachable!("a partition has its root"),
        }
    }
    state::of_others(books, id, &wanted, events);
    limits::change(books, id, (targets, tenants.as_ref()), &wanted, events);
    Ok(())
}

/// Rejects placement rules that cannot be built, for a partition with valid rules. A new partition is accepted with
/// invalid rules, and rejects every application.
fn placement_fits(partition: &PartitionConfig) -> Result<(), Rejection> {
    let built = Rules::compile(&partition.placement_rules);
    built
        .map(drop)
        .map_err(|error| Rejection::PlacementRules { partition: partition.name.clone(), error })
}

/// Rejects a queue file that would add too many resource types.
fn count_types(books: &Books, configuration: &Configuration) -> Result<(), Rejection> {
    let mut names: BTreeSet<&Name> = BTreeSet::new();
    let partitions = configuration.partitions.iter();
    let user_limits = partitions.clone().filter_map(|partition| partition.user_limits.as_ref());
    for amounts in user_limits.flat_map(UserLimitsConfig::amounts) {
        names.extend(amounts.iter().map(|(name, _)| name));
    }
    let mut open: Vec<&QueueConfig> = partitions.map(|partition| &partition.root).collect();
    while let Some(queue) = open.pop() {
        let limits = queue.limits.iter().map(|limit| &limit.max_resources);
        let template =
            queue.template.iter().flat_map(|template| [&template.max, &template.guaranteed]);
        let of_template =
            queue.template.iter().filter_map(|template| template.user_limits.as_ref());
        let user_limits = queue.user_limits.iter().chain(of_template);
        let own = limits.chain(template).chain([&queue.max, &queue.guaranteed]);
        for amounts in own.chain(user_limits.flat_map(UserLimitsConfig::amounts)) {
            names.extend(amounts.iter().map(|(name, _)| name));
        }
        open.extend(&queue.children);
    }
    let known = books.types().len();
    let added = books.types().count_unknown_names(names.into_iter());
    if known + added <= ResourceTypes::LIMIT {
        return Ok(());
    }
    let what = "the queue file";
    Err(Rejection::TooManyTypes { what, added, known, limit: ResourceTypes::LIMIT })
}
