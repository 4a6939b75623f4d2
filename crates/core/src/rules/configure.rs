//! Taking a queue file into force.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use alloc::{format, vec};

use crate::books::tracker::WILDCARD;
use crate::books::{Books, LimitSubject, PartitionSettings, QueueSettings};
use crate::config::{ApplicationOrder, Configuration, PartitionConfig, Properties, QueueConfig};
use crate::event::Event;
use crate::id::{Id, PartitionId, Slot};
use crate::name::Name;
use crate::rejection::Rejection;
use crate::resource::{Amounts, ResourceTypes};

/// Order of applications in a leaf.
const SORT_POLICY: &str = "application.sort.policy";
/// Whether priority comes first.
const SORT_PRIORITY: &str = "application.sort.priority";

pub(super) fn configure(
    books: &Books,
    configuration: &Configuration,
) -> Result<Vec<Event>, Rejection> {
    count_types(books, configuration)?;
    let mut events = Vec::new();
    let mut seen = BTreeSet::new();
    let first = books.next_partition_id().slot().number();
    for (number, partition) in (first..).zip(&configuration.partitions) {
        let fresh = seen.insert(partition.name.to_ascii_lowercase());
        if !fresh || books.partition_named(&partition.name).is_some() {
            return Err(Rejection::DuplicatePartition { partition: partition.name.clone() });
        }
        add_partition(PartitionId::from_slot(Slot::new(number, 0)), partition, &mut events);
    }
    Ok(events)
}

fn add_partition(id: PartitionId, partition: &PartitionConfig, events: &mut Vec<Event>) {
    let root = &partition.root;
    let properties = inherit(&Properties::new(), &root.properties);
    events.push(Event::PartitionAdded {
        partition: partition.name.clone(),
        settings: PartitionSettings {
            node_sort: partition.node_sort.clone(),
            preemption: partition.preemption,
        },
        // The root is as large as its nodes; amounts in the file are refused before this.
        root: QueueSettings { max: None, guaranteed: None, ..settings(root, properties.clone()) },
    });
    add_limits(id, &Name::new("root"), root, events);
    // Depth first, by hand: nesting comes from a file and must not exhaust the stack.
    let mut open: Vec<(Name, Properties, &QueueConfig)> = vec![];
    for child in root.children.iter().rev() {
        open.push((Name::new("root"), properties.clone(), child));
    }
    while let Some((parent, inherited, queue)) = open.pop() {
        let properties = inherit(&inherited, &queue.properties);
        let name = Name::new(queue.name.to_ascii_lowercase());
        let path = Name::from(format!("{parent}.{name}"));
        events.push(Event::QueueAdded {
            partition: id,
            parent,
            name,
            leaf: !queue.is_parent(),
            settings: settings(queue, properties.clone()),
        });
        add_limits(id, &path, queue, events);
        for child in queue.children.iter().rev() {
            open.push((path.clone(), properties.clone(), child));
        }
    }
}

fn add_limits(partition: PartitionId, path: &Name, queue: &QueueConfig, events: &mut Vec<Event>) {
    for limit in &queue.limits {
        let users = limit.users.iter().map(|name| match &**name {
            WILDCARD => LimitSubject::AnyUser,
            _ => LimitSubject::User(name.clone()),
        });
        let groups = limit.groups.iter().map(|name| match &**name {
            WILDCARD => LimitSubject::AnyGroup,
            _ => LimitSubject::Group(name.clone()),
        });
        events.extend(users.chain(groups).map(|subject| Event::LimitSet {
            partition,
            queue: path.clone(),
            subject,
            max: limit.max_resources.clone(),
            max_applications: limit.max_applications,
        }));
    }
}

fn settings(queue: &QueueConfig, properties: Properties) -> QueueSettings {
    let some = |amounts: &Amounts| amounts.is_strictly_positive().then(|| amounts.clone());
    let text = |key| properties.get(key).map_or("", |value: &Name| value.as_str());
    QueueSettings {
        max: some(&queue.max),
        guaranteed: some(&queue.guaranteed),
        max_applications: queue.max_applications,
        application_order: match text(SORT_POLICY) {
            "fair" => ApplicationOrder::Fair,
            _ => ApplicationOrder::Fifo,
        },
        priority_first: !text(SORT_PRIORITY).eq_ignore_ascii_case("disabled"),
        properties,
    }
}

/// What a queue is left with: its parent's properties as far as they are passed on, and its
/// own over them.
fn inherit(parent: &Properties, own: &Properties) -> Properties {
    let mut result = Properties::new();
    for (key, value) in parent {
        let passed = match &**key {
            "priority.policy" => Name::new("default"),
            "priority.offset" => Name::new("0"),
            "preemption.policy" if !value.eq_ignore_ascii_case("disabled") => Name::new("default"),
            _ => value.clone(),
        };
        result.insert(key.clone(), passed);
    }
    result.extend(own.iter().map(|(key, value)| (key.clone(), value.clone())));
    result
}

/// Refuse a file that would make the books know too many resource types.
fn count_types(books: &Books, configuration: &Configuration) -> Result<(), Rejection> {
    let mut names: BTreeSet<Name> = BTreeSet::new();
    let mut open: Vec<&QueueConfig> =
        configuration.partitions.iter().map(|partition| &partition.root).collect();
    while let Some(queue) = open.pop() {
        let limits = queue.limits.iter().map(|limit| &limit.max_resources);
        for amounts in limits.chain([&queue.max, &queue.guaranteed]) {
            names.extend(amounts.iter().map(|(name, _)| name.clone()));
        }
        open.extend(&queue.children);
    }
    let known = books.types().len();
    let added = names.iter().filter(|name| books.types().find(name).is_none()).count();
    if known + added <= ResourceTypes::LIMIT {
        return Ok(());
    }
    let what = "the queue file";
    Err(Rejection::TooManyTypes { what, added, known, limit: ResourceTypes::LIMIT })
}
