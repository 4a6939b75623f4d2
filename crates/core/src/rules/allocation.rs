//! Commands about asks, and releases.

use alloc::vec;
use alloc::vec::Vec;

use crate::books::{ApplicationState, Books};
use crate::command::Ask;
use crate::event::{AllocationEvent, ApplicationEvent, AskEvent, AskTraits, Event, Termination};
use crate::id::{AllocationId, ApplicationId, NodeId};
use crate::name::Name;
use crate::rejection::{Rejection, TaskRejection};
use crate::resource::Amounts;
use crate::time::Timestamp;

use super::application::{Placement, linked, placed};
use super::lifecycle::Lifecycle;
use super::node::node_named;
use super::{
    ID_BYTES_MAX, Naming, application_named, labels, named, partition_named, short, sum_fits,
    tenant, types_fit, within,
};

/// Adds or updates an ask or allocation. Idempotent. Source: scheduling §4.1.
pub(super) fn ask(books: &Books, now: Timestamp, ask: &Ask) -> Result<Vec<Event>, Rejection> {
    let partition = partition_named(books, &ask.partition)?;
    let application = application_named(books, partition, &ask.application)?;
    if books.application(application).task.is_some() {
        let (key, task) = (ask.key.clone(), ask.application.clone());
        return Err(TaskRejection::Ask { key, task }.into());
    }
    ask_of(books, now, ask, application)
}

/// Adds or updates an ask of an application, which can be a task.
pub(super) fn ask_of(
    books: &Books,
    now: Timestamp,
    ask: &Ask,
    application: ApplicationId,
) -> Result<Vec<Event>, Rejection> {
    let partition = books.application(application).partition;
    named("allocation key", &ask.key)?;
    if books.application(application).lifetime.over {
        let (key, application) = (ask.key.clone(), ask.application.clone());
        return Err(Rejection::LifetimeOver { key, application });
    }
    let node = ask.node.as_ref().map(|node| node_named(books, partition, node)).transpose()?;
    if !ask.resources.is_strictly_positive() {
        return Err(Rejection::AskSize {
            key: ask.key.clone(),
            application: ask.application.clone(),
            resources: ask.resources.clone(),
        });
    }
    short("task group", &ask.task_group)?;
    within("required node", &ask.required_node, ID_BYTES_MAX)?;
    check_node_selector(books, application, ask)?;
    if ask.placeholder && ask.task_group.is_empty() {
        let (key, application) = (ask.key.clone(), ask.application.clone());
        return Err(Rejection::NoTaskGroup { key, application });
    }
    labels::are_plain(books, partition, "the ask", &ask.resources)?;
    tenant::are_named(books, partition, "the ask", &ask.resources)?;
    if node.is_none() {
        is_small_enough(books, application, ask)?;
    }
    match books.partition(partition).allocations.get(&*ask.key) {
        Some(known) if books.allocation(*known).application == application => {
            update(books, now, ask, *known, node)
        }
        Some(known) => {
            let holder = books.application(books.allocation(*known).application);
            Err(Rejection::DuplicateKey {
                key: ask.key.clone(),
                holder: holder.name.clone(),
                claimant: ask.application.clone(),
            })
        }
        None => add(books, now, ask, application, node),
    }
}

/// Rejects an ask that exceeds `maximumallocation` of its queue. Allocations are not checked, because they already run.
/// Source: user-headroom §2.6.
fn is_small_enough(books: &Books, application: ApplicationId, ask: &Ask) -> Result<(), Rejection> {
    let known =
        books.partition(books.application(application).partition).allocations.get(&*ask.key);
    if known.is_some_and(|known| !books.allocation(*known).is_pending()) {
        return Ok(());
    }
    let queue = books.queue(books.application(application).queue);
    let limits = queue.settings.user_limits.as_ref();
    let Some(largest) = limits.and_then(|limits| limits.maximum_allocation.as_ref()) else {
        return Ok(());
    };
    let mut asked = ask.resources.iter().filter_map(|(resource, amount)| {
        let most = largest.get(resource)?;
        (amount > most).then(|| (resource.clone(), amount, most))
    });
    asked.next().map_or(Ok(()), |(resource, asked, most)| {
        let (key, queue) = (ask.key.clone(), queue.path.clone());
        Err(Rejection::AboveMaximumAllocation { key, queue, resource, asked, most })
    })
}

/// Adds a new ask, or an allocation that the RM already started.
fn add(
    books: &Books,
    now: Timestamp,
    ask: &Ask,
    application: ApplicationId,
    node: Option<NodeId>,
) -> Result<Vec<Event>, Rejection> {
    let traits = traits(books, application, ask);
    let resources = size_of_new(books, application, (ask, &traits), node)?;
    sum_grows(books, application, false, &resources)?;
    if node.is_some() {
        sum_grows(books, application, true, &resources)?;
    }
    let size = node.and_then(|_| books.types().resolve(&resources).ok()).map(|size| size.pruned());
    let mut events = vec![Event::Ask(AskEvent::Added {
        application,
        key: ask.key.clone(),
        resources,
        priority: ask.priority,
        // An ask cannot be created in the future: its position would be last, and its age would never begin.
        created: ask.created.map_or(now, |created| created.min(now)),
        traits,
    })];
    let mut state = books.application(application).state;
    if matches!(state, ApplicationState::New | ApplicationState::Completing)
        && let Some(next) = state.run()
    {
        state = next;
        events.push(Event::Application(ApplicationEvent::Moved {
            application,
            state,
            timer: None,
        }));
    }
    if let Some(node) = node {
        let placement = Placement {
            ask: books.allocations().next_id(),
            node,
            application,
            state,
            placeholder: ask.placeholder,
            size: size.as_ref(),
        };
        place(books, &placement, &mut events);
    }
    Ok(events)
}

/// Returns the amounts that a new ask counts as.
fn size_of_new(
    books: &Books,
    application: ApplicationId,
    (ask, traits): (&Ask, &AskTraits),
    node: Option<NodeId>,
) -> Result<Amounts, Rejection> {
    let partition = books.application(application).partition;
    let label = labels::of_ask(books, partition, traits, node);
    let resources = labels::counted(&ask.resources, label.as_ref());
    let resources = tenant::counted(books, application, resources);
    if node.is_none() {
        tenant::fits_quota(books, application, &ask.key, &resources)?;
    }
    types_fit(books, &Naming::of_client("the ask"), &resources)?;
    Ok(resources.into_owned())
}

/// Updates an existing ask or allocation: its size can change, and an ask can have started.
fn update(
    books: &Books,
    now: Timestamp,
    ask: &Ask,
    known: AllocationId,
    node: Option<NodeId>,
) -> Result<Vec<Event>, Rejection> {
    let row = books.allocation(known);
    if let Some(events) = wished_again(books, ask, known, node) {
        return events;
    }
    let mut events = Vec::new();
    let label = labels::of_known(books, known, node);
    let resources = labels::counted(&ask.resources, label.as_ref());
    let resources = tenant::counted(books, row.application, resources);
    if row.is_pending() && node.is_none() {
        tenant::fits_quota(books, row.application, &ask.key, &resources)?;
    }
    types_fit(books, &Naming::of_client("the ask"), &resources)?;
    let size = books.types().resolve(&resources).map(|size| size.pruned());
    if size.as_ref() != Ok(books.resources_of(known)) {
        sum_grows(books, row.application, row.is_allocated(), &resources)?;
        if row.is_swapping() {
            // The old size fitted the placeholder. The new size must be checked again.
            Lifecycle::of(books, now, row.application).drop_swap(known, &mut events);
        }
        let resources = resources.clone().into_owned();
        events.push(Event::Allocation(AllocationEvent::Resized { allocation: known, resources }));
    }
    if let Some(node) = node.filter(|_| row.is_pending()) {
        sum_grows(books, row.application, true, &resources)?;
        let size = size.ok();
        let placement = Placement {
            ask: known,
            node,
            application: row.application,
            state: books.application(row.application).state,
            placeholder: row.placeholder,
            size: size.as_ref(),
        };
        place(books, &placement, &mut events);
    }
    Ok(events)
}

/// Returns the events that withdraw a waiting ask and add it again with other requirements for nodes and the same age.
/// `None` if the requirements are the same. A command without requirements for nodes does not change them.
fn wished_again(
    books: &Books,
    ask: &Ask,
    known: AllocationId,
    node: Option<NodeId>,
) -> Option<Result<Vec<Event>, Rejection>> {
    let row = books.allocation(known);
    let silent = ask.node_label.is_empty() && ask.blocked_nodes.is_empty();
    // A placeholder that is added again would count twice in its task group.
    if silent || node.is_some() || row.placeholder || !row.is_pending() {
        return None;
    }
    let traits = traits(books, row.application, ask);
    let before = books.node_selector_of(known).cloned().unwrap_or_default();
    if (&before.label, &before.blocked) == (&traits.node_label, &traits.blocked_nodes) {
        return None;
    }
    let sized = size_of_new(books, row.application, (ask, &traits), None);
    let sized = sized.and_then(|resources| {
        sum_grows(books, row.application, false, &resources).map(|()| resources)
    });
    Some(sized.map(|resources| {
        let removed =
            Event::Ask(AskEvent::Removed { ask: known, termination: Termination::StoppedByRm });
        let added = Event::Ask(AskEvent::Added {
            application: row.application,
            key: row.key.clone(),
            resources,
            priority: row.priority,
            created: row.created,
            traits,
        });
        vec![removed, added]
    }))
}

/// Adds the events of an allocation that the RM already started. Nothing is checked, everything is counted.
fn place(books: &Books, placement: &Placement<'_>, events: &mut Vec<Event>) {
    events.extend(linked(books, placement.application));
    placed(books, placement, events);
}

/// Checks the node selector of an ask: its queue must have access to the label, and the block list must not be too
/// long. Source: user-headroom §3 (checks 5 and 12).
fn check_node_selector(
    books: &Books,
    application: ApplicationId,
    ask: &Ask,
) -> Result<(), Rejection> {
    let count = ask.blocked_nodes.len();
    if count > Ask::BLOCKED_NODES_MAX {
        let (key, limit) = (ask.key.clone(), Ask::BLOCKED_NODES_MAX);
        return Err(Rejection::ManyBlockedNodes { key, count, limit });
    }
    within("node label", &ask.node_label, ID_BYTES_MAX)?;
    for node in &ask.blocked_nodes {
        within("blocked node", node, ID_BYTES_MAX)?;
    }
    let queue = books.queue(books.application(application).queue);
    let labels = queue.settings.node_labels.as_ref();
    let label = &ask.node_label;
    if label.is_empty() || labels.is_none_or(|labels| labels.allows(label)) {
        return Ok(());
    }
    let (key, queue) = (ask.key.clone(), queue.path.clone());
    Err(Rejection::NoPartitionAccess { key, queue, label: label.clone() })
}

fn traits(books: &Books, application: ApplicationId, ask: &Ask) -> AskTraits {
    let named = |name: &Name| (!name.is_empty()).then(|| name.clone());
    let queue = books.queue(books.application(application).queue);
    let usual = || queue.settings.node_labels.as_ref()?.default.clone();
    let mut blocked_nodes = ask.blocked_nodes.clone();
    blocked_nodes.retain(|node| !node.is_empty());
    blocked_nodes.sort();
    blocked_nodes.dedup();
    AskTraits {
        originator: ask.originator,
        placeholder: ask.placeholder,
        may_preempt: ask.may_preempt,
        preemptable: ask.preemptable,
        task_group: named(&ask.task_group),
        required_node: named(&ask.required_node),
        node_label: named(&ask.node_label).or_else(usual).filter(|label| !label.is_empty()),
        blocked_nodes,
    }
}

/// Rejects additional amounts if the sum of the asks of the application, or of all allocations in the partition, would
/// exceed 64 bits.
///
/// Asks of other applications do not count. Otherwise, one application could use up a sum that many share.
pub(super) fn sum_grows(
    books: &Books,
    application: ApplicationId,
    placed: bool,
    added: &Amounts,
) -> Result<(), Rejection> {
    let row = books.application(application);
    if placed {
        let root = books.queue(books.partition(row.partition).root);
        return sum_fits(books, "the allocations of the partition", Some(&root.allocated), added);
    }
    // A member that replaces a placeholder can wait again. It is not larger than its placeholder.
    let may_wait = (row.swap_count > 0).then(|| row.pending.plus(&row.allocated));
    let held = may_wait.as_ref().unwrap_or(&row.pending);
    sum_fits(books, "the asks of the application", Some(held), added)
}

/// Releases an ask, an allocation, or a whole application, or confirms a requested release. Source: scheduling §13.1.
pub(super) fn release(
    books: &Books,
    now: Timestamp,
    partition: &Name,
    application: &Name,
    key: Option<&Name>,
    termination: Termination,
) -> Result<Vec<Event>, Rejection> {
    let partition = partition_named(books, partition)?;
    let id = match application_named(books, partition, application) {
        Err(_) if termination.is_confirmation() => return Ok(Vec::new()),
        found => found?,
    };
    let mut events = Vec::new();
    let mut life = Lifecycle::of(books, now, id);
    let Some(key) = key else {
        life.give_up_all(termination, &mut events);
        return Ok(events);
    };
    let found = books.partition(partition).allocations.get(&**key).copied();
    let mine = found.filter(|one| books.allocation(*one).application == id);
    let one = match mine {
        Some(one) => one,
        // It is already gone. A repeated confirmation, or one after the scheduler gave the ask up, has no effect.
        None if termination.is_confirmation() => return Ok(events),
        None => {
            let (key, application) = (key.clone(), application.clone());
            return Err(Rejection::UnknownKey { key, application });
        }
    };
    let row = books.allocation(one);
    // Only the core uses the termination `Timeout`, and never to end an ask.
    let withdraws = termination != Termination::Timeout;
    if row.is_allocated() {
        if termination == Termination::PlaceholderReplaced && row.partner().is_some() {
            life.confirm(one, &mut events);
        } else {
            life.release(one, termination, &mut events);
        }
    } else if withdraws && row.is_swapping() {
        life.abandon(one, termination, &mut events);
    } else if withdraws {
        life.withdraw(one, termination, &mut events);
    }
    Ok(events)
}
