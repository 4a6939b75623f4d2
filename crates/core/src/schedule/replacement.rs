//! Placeholder replacement by members of gangs. Source: scheduling §10.3.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::books::{Allocation, Books, Question, QuestionMode, QuestionSubject, StopRequest};
use crate::event::{AllocationEvent, Event, Termination};
use crate::id::{AllocationId, ApplicationId, NodeId};
use crate::name::Name;
use crate::time::Timestamp;
use crate::wait::{Blocker, Wait};

use super::Scheduler;
use super::nodes::NodeIndex;
use super::placement_mode::PlacementMode;
use super::questions;

/// Placeholders that members can replace, by application and task group. The oldest ask is first, then the order of the
/// keys.
#[derive(Clone, Debug, Default)]
pub(super) struct ReplaceablePlaceholders(
    BTreeMap<GroupId, BTreeSet<(Timestamp, Name, AllocationId)>>,
);

/// Task group, by its position in its application.
pub(super) type GroupId = (ApplicationId, u32);

impl ReplaceablePlaceholders {
    /// Adds a placeholder that was placed, if it is replaceable.
    pub(super) fn add(&mut self, books: &Books, placeholder: AllocationId) {
        let row = books.allocation(placeholder);
        if row.placeholder
            && row.is_allocated()
            && row.mark == StopRequest::None
            && let Some(group) = group_of(books, row)
        {
            let key = (row.created, row.key.clone(), placeholder);
            self.0.entry(group).or_default().insert(key);
        }
    }

    /// Removes an allocation that is no longer replaceable, if it is a placeholder.
    pub(super) fn remove(&mut self, books: &Books, allocation: AllocationId) {
        let row = books.allocation(allocation);
        if !row.placeholder || row.mark != StopRequest::None {
            return;
        }
        let Some(group) = group_of(books, row) else { return };
        let Some(places) = self.0.get_mut(&group) else { return };
        places.remove(&(row.created, row.key.clone(), allocation));
        if places.is_empty() {
            self.0.remove(&group);
        }
    }

    fn of(&self, group: GroupId) -> impl Iterator<Item = AllocationId> {
        self.0.get(&group).into_iter().flatten().map(|(_, _, id)| *id)
    }
}

/// Returns the task group of an ask or allocation. `None` if its application does not have the group.
pub(super) fn group_of(books: &Books, row: &Allocation) -> Option<GroupId> {
    let gang = books.application(row.application).gang.as_ref()?;
    let (position, _) = gang.group(row.task_group()?)?;
    Some((row.application, u32::try_from(position).expect("an application has few task groups")))
}

/// Lets a member replace a placeholder.
///
/// Selects the first placeholder that is large enough and on a node that the member can use. Otherwise, selects the
/// first that is large enough, and another node. Placeholders that are too small for the member are useless, so the RM
/// is asked to stop those found during the search. Placeholders on nodes with another exclusive label are skipped.
///
/// Returns the blocker if no replacement is possible. If the function returns no blocker and adds no event, the RM has
/// too many open questions.
pub(super) fn replace_placeholder(
    books: &Books,
    (places, nodes): (&ReplaceablePlaceholders, &NodeIndex),
    member: AllocationId,
    events: &mut Vec<Event>,
) -> Option<Wait> {
    let row = books.allocation(member);
    let group = group_of(books, row).expect("a member waits for a place in its group");
    let wanted = books.resources_of(member);
    let partition = books.application(row.application).partition;
    let asks = books.asks_about_nodes(partition);
    let before = events.len();
    let (mut large_enough, mut unknown) = (None, Vec::new());
    for placeholder in places.of(group) {
        if books.label_of(placeholder) != books.label_of(member) {
            continue; // It holds room where the member cannot be, large or small.
        }
        if !books.resources_of(placeholder).fits(wanted) {
            let (allocation, termination) = (placeholder, Termination::Timeout);
            events
                .push(Event::Allocation(AllocationEvent::ReleaseAsked { allocation, termination }));
            continue;
        }
        let node = books.allocation(placeholder).node.expect("a placeholder to be had is placed");
        let verdict = books.verdict_on(member, node, QuestionMode::Reserve);
        let accepted = !asks || verdict.is_some_and(|one| one.refusal.is_none());
        let may_run = books.may_run_on(member, node);
        if may_run && accepted {
            events.push(Event::Allocation(AllocationEvent::SwapStarted {
                ask: member,
                placeholder,
                node,
            }));
            return None;
        }
        large_enough.get_or_insert(placeholder);
        if may_run && verdict.is_none() && !unknown.contains(&node) {
            unknown.push(node);
        }
    }
    if asks && !unknown.is_empty() {
        unknown.truncate(Question::NODES_MAX);
        let subject = QuestionSubject::Nodes(QuestionMode::Reserve, unknown);
        questions::put_question(books, member, subject, events);
        return None;
    }
    if let Some(placeholder) = large_enough {
        let node = if asks {
            questions::elsewhere(books, nodes, member)
        } else {
            elsewhere(books, row, member).map(Ok)
        };
        match node {
            Some(Ok(node)) => events.push(Event::Allocation(AllocationEvent::SwapStarted {
                ask: member,
                placeholder,
                node,
            })),
            Some(Err(nodes)) => {
                let subject = QuestionSubject::Nodes(QuestionMode::Allocate, nodes);
                questions::put_question(books, member, subject, events);
                return None;
            }
            None => {}
        }
    }
    if events.len() > before {
        return None;
    }
    Some(Wait::of(blocker(books, places, member)))
}

/// Returns the blocker of a member that can replace no placeholder.
pub(super) fn blocker(
    books: &Books,
    places: &ReplaceablePlaceholders,
    member: AllocationId,
) -> Blocker {
    let row = books.allocation(member);
    let group = group_of(books, row).expect("a member waits for a place in its group");
    let wanted = books.resources_of(member);
    let partition = books.application(row.application).partition;
    if books.asks_about_nodes(partition)
        && questions::is_refused(books, member)
        && places.of(group).any(|one| books.resources_of(one).fits(wanted))
    {
        return Blocker::NodeConstraint(member);
    }
    // A member with a required node waits for that node. Other members do not share its blocker, and it is woken by
    // itself.
    match row.required_node() {
        None => Blocker::Placeholders(group.0, group.1),
        Some(name) => match books.partition(partition).nodes.get(&**name) {
            Some(node) => Blocker::RequiredNode(*node),
            None => Blocker::NodeAbsent(partition),
        },
    }
}

/// Returns the node for a member that can use no node of a placeholder. Only a member with a required node gets one.
///
/// The node must be usable, not reserved, and have enough free capacity. Both the member and the placeholder count
/// until the RM has stopped the placeholder.
fn elsewhere(books: &Books, row: &Allocation, member: AllocationId) -> Option<NodeId> {
    let partition = books.partition(books.application(row.application).partition);
    let node = *partition.nodes.get(row.required_node()?)?;
    let found = books.node(node);
    (found.is_open() && found.available.fits(books.node_request(member))).then_some(node)
}

impl Scheduler {
    /// Wakes the members of the task group of a placeholder that was placed or resized, including members with a
    /// required node.
    pub(super) fn place_opened(&mut self, books: &Books, placeholder: AllocationId) {
        self.places.add(books, placeholder);
        let row = books.allocation(placeholder);
        let Some(group) = group_of(books, row) else { return };
        let blocker = Blocker::Placeholders(group.0, group.1);
        self.parked.open(&mut self.tree, blocker, |_| true);
        let mine = self.pinned_members.range((group, AllocationId::FIRST)..);
        let mine = mine.take_while(|(of, _)| *of == group);
        let asks: Vec<AllocationId> = mine.map(|(_, ask)| *ask).collect();
        for ask in asks {
            self.wake(books, ask);
        }
    }

    /// Wakes members that require a node after it can have gained free capacity.
    pub(super) fn wake_pinned_members(&mut self, books: &Books, node: NodeId) {
        if self.pinned_members.is_empty() {
            return;
        }
        let row = books.node(node);
        let asks = self.required.get(&(row.partition, row.name.clone()));
        let asks: Vec<AllocationId> = asks
            .into_iter()
            .flatten()
            .copied()
            .filter(|ask| self.is_single_member(books, *ask))
            .collect();
        for ask in asks {
            self.wake(books, ask);
        }
    }

    /// Returns whether an ask is a member that waits for a placeholder separately from equal members.
    pub(super) fn is_single_member(&self, books: &Books, ask: AllocationId) -> bool {
        let group = group_of(books, books.allocation(ask));
        group.is_some_and(|group| self.pinned_members.contains(&(group, ask)))
    }

    /// Records whether an ask with this mode is a member that waits separately.
    pub(super) fn note_pinned_member(
        &mut self,
        books: &Books,
        (ask, mode): (AllocationId, PlacementMode),
        comes: bool,
    ) {
        let Some(group) = group_of(books, books.allocation(ask)) else { return };
        match mode {
            PlacementMode::ReplacePlaceholderAlone(_) if comes => {
                self.pinned_members.insert((group, ask));
            }
            PlacementMode::ReplacePlaceholderAlone(_) => {
                self.pinned_members.remove(&(group, ask));
            }
            PlacementMode::AnyNode
            | PlacementMode::MayPreempt(_)
            | PlacementMode::NeedsVerdict(_)
            | PlacementMode::AllOrNothing(_)
            | PlacementMode::RequiredNode(_)
            | PlacementMode::RequiredNodeAbsent(_)
            | PlacementMode::ReservedNode(_)
            | PlacementMode::ReplacePlaceholder(..) => {}
        }
    }
}
