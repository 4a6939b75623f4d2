//! Queues that placement rules create for applications: their initial settings, and changes by tags.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::books::{Books, Partition, Queue, QueueSettings, QueueState};
use crate::config::legal::{RECOVERY_QUEUE, is_queue_name};
use crate::config::property::SORT_POLICY;
use crate::config::{CapacityConfig, PropertyValues, TemplateConfig};
use crate::event::{Event, QueueEvent};
use crate::id::{PartitionId, QueueId};
use crate::name::Name;
use crate::placement::{Placed, QueueTags, is_recovery};
use crate::resource::Amounts;
use crate::rules::configure::{application_limits_below, granting, user_limits_below};
use crate::rules::{Naming, types_fit};

use super::Declined;

/// Returns the settings of a leaf. Tags change them if a placement rule created the leaf.
pub(super) fn change(
    books: &Books,
    partition: PartitionId,
    leaf: QueueId,
    tags: QueueTags,
    events: &mut Vec<Event>,
) -> Result<Arc<QueueSettings>, Declined> {
    let row = books.queue(leaf);
    if row.managed || is_recovery(books, leaf) {
        return Ok(row.settings.clone());
    }
    let mut settings = QueueSettings::clone(&row.settings);
    tags.change(&mut settings);
    if settings == *row.settings {
        return Ok(row.settings.clone());
    }
    types_are_few(books, &settings)?;
    events.push(Event::Queue(QueueEvent::Changed {
        partition,
        queue: row.path.clone(),
        leaf: row.leaf,
        managed: row.managed,
        settings: Box::new(settings.clone()),
    }));
    Ok(Arc::new(settings))
}

/// Returns the missing levels of the path of a leaf, if the leaf can be created.
fn may_create<'placed>(
    books: &Books,
    partition: PartitionId,
    placed: &'placed Placed,
) -> Result<&'placed str, Declined> {
    let above = books.queue(placed.nearest);
    let path = || placed.path.clone();
    if above.leaf {
        return Err(Declined::BelowLeaf { path: path(), above: above.path.clone() });
    }
    let missing = &placed.path[above.path.len() + 1..];
    // The recovery queue always exists, even as a descendant of a stopped queue.
    let recovery = above.parent.is_none() && missing == RECOVERY_QUEUE;
    if above.state != QueueState::Active && !recovery {
        let (above, state) = (above.path.clone(), above.state);
        return Err(Declined::BelowPassing { path: path(), above, state });
    }
    if recovery {
        return Ok(missing);
    }
    let illegal = |level: &&str| !is_queue_name(level) || *level == RECOVERY_QUEUE;
    if let Some(level) = missing.split('.').find(illegal) {
        return Err(Declined::Level { path: path(), level: Name::new(level) });
    }
    queues_are_few(books, partition, placed, missing.split('.').count())?;
    Ok(missing)
}

/// Creates a leaf and its missing parents. Returns the settings of the leaf.
pub(super) fn create(
    books: &Books,
    partition: PartitionId,
    placed: &Placed,
    tags: QueueTags,
    events: &mut Vec<Event>,
) -> Result<Arc<QueueSettings>, Declined> {
    let above = books.queue(placed.nearest);
    let missing = may_create(books, partition, placed)?;
    let recovery = above.parent.is_none() && missing == RECOVERY_QUEUE;
    let template = above.settings.template.clone();
    let user_limits = above.settings.user_limits.clone();
    let counts = above.settings.application_limits.clone();
    let part = part_below(books, placed.nearest).filter(|_| !recovery);
    let preemption = above.settings.preemption;
    // User limits do not apply in the recovery queue.
    let mut leaf = QueueSettings::default();
    if !recovery {
        leaf = settings_of_leaf(template.as_deref(), sort_policy(books, placed.nearest));
        leaf.preemption = preemption;
        let own = template.as_ref().and_then(|template| template.user_limits.as_ref());
        leaf.user_limits = user_limits_below(own, user_limits.as_ref());
        let own = template.as_ref().and_then(|template| template.application_limits.as_ref());
        leaf.application_limits = application_limits_below(own, counts.as_ref());
        leaf.capacity = part;
        leaf.node_labels.clone_from(&above.settings.node_labels);
        tags.change(&mut leaf);
        types_are_few(books, &leaf)?;
    }
    let mut parent = above.path.clone();
    let mut levels = missing.split('.').peekable();
    while let Some(name) = levels.next() {
        let is_leaf = levels.peek().is_none();
        let settings = if is_leaf {
            leaf.clone()
        } else {
            let (template, user_limits) = (template.clone(), user_limits.clone());
            let application_limits = application_limits_below(None, counts.as_ref());
            QueueSettings {
                template,
                user_limits,
                application_limits,
                capacity: part.map(|_| CapacityConfig::ONE),
                preemption,
                node_labels: above.settings.node_labels.clone(),
                ..QueueSettings::default()
            }
        };
        let next = Name::from(alloc::format!("{parent}.{name}"));
        events.push(Event::Queue(QueueEvent::Added {
            partition,
            parent: core::mem::replace(&mut parent, next),
            name: Name::new(name),
            leaf: is_leaf,
            managed: false,
            settings: Box::new(settings),
        }));
    }
    Ok(Arc::new(leaf))
}

/// Returns the capacity fraction of a leaf that a placement rule creates in the subtree of `above`.
///
/// The leaf gets the weight of the template if the configured queues there have weights. It also gets it if there are
/// none and `above` has a fraction itself. Otherwise, it gets none.
fn part_below(books: &Books, above: QueueId) -> Option<CapacityConfig> {
    let row = books.queue(above);
    let template = row.settings.template.as_deref();
    let specified = template.and_then(|template| template.capacity);
    if specified.is_none() && !books.has_fractional_queues(row.partition) {
        return None;
    }
    if specified.is_none() && template.is_some_and(|one| granting(&one.guaranteed).is_some()) {
        return None; // It has its amount.
    }
    let by_weight =
        |row: &Queue| row.settings.capacity.as_ref().is_some_and(CapacityConfig::is_weight);
    let mut of_file = books.children(above).map(|(_, row)| row).filter(|row| row.managed);
    let shares = match of_file.next() {
        Some(first) => by_weight(first) && of_file.all(by_weight),
        None => specified.is_some() || row.settings.capacity.is_some(),
    };
    shares.then(|| specified.unwrap_or(CapacityConfig::ONE))
}

/// Rejects the application if placement rules would create too many queues.
fn queues_are_few(
    books: &Books,
    partition: PartitionId,
    placed: &Placed,
    missing: usize,
) -> Result<(), Declined> {
    let row = books.partition(partition);
    if row.queues_made as usize + missing <= Partition::QUEUES_MADE_MAX as usize {
        return Ok(());
    }
    let (path, partition, made) = (placed.path.clone(), row.name.clone(), row.queues_made);
    Err(Declined::ManyQueues { path, partition, missing, made })
}

/// Returns the initial settings of a leaf that a placement rule creates.
fn settings_of_leaf(template: Option<&TemplateConfig>, policy: Option<&Name>) -> QueueSettings {
    let mut settings = QueueSettings::default();
    if let Some(template) = template {
        settings.max = granting(&template.max);
        settings.guaranteed = granting(&template.guaranteed);
        settings.max_applications = template.max_applications;
        settings.properties = template.properties.clone();
    }
    // The parent sets the sort policy of children that placement rules create. Source: decision L-3.
    if let Some(policy) = policy {
        let properties = &mut settings.properties;
        properties.entry(Name::new(SORT_POLICY)).or_insert_with(|| policy.clone());
    }
    settings.values = PropertyValues::read(&settings.properties);
    settings
}

/// Returns the sort policy of the nearest queue that the queue file defines. That queue has inherited from its
/// ancestors.
fn sort_policy(books: &Books, queue: QueueId) -> Option<&Name> {
    let (_, configured) = books.up(queue).find(|(_, row)| row.managed)?;
    configured.settings.properties.get(SORT_POLICY)
}

fn types_are_few(books: &Books, settings: &QueueSettings) -> Result<(), Declined> {
    let user_limits = settings.user_limits.iter().flat_map(|limits| limits.amounts());
    let all = settings.max.iter().chain(&settings.guaranteed).chain(user_limits);
    let amounts: Amounts =
        all.flat_map(Amounts::iter).map(|(name, amount)| (name.clone(), amount)).collect();
    types_fit(books, &Naming::of_client("the queue of the application"), &amounts)
        .map_err(Declined::Types)
}
