//! Views of queues, alone or with their descendants.

use alloc::vec::Vec;

use crate::books::{Books, Queue, QueueState};
use crate::config::{
    ApplicationOrder, PreemptionPolicy, PriorityPolicy, Properties, PropertyValues,
};
use crate::id::QueueId;
use crate::name::Name;
use crate::resource::Amounts;
use crate::time::Millis;

use super::amounts;
use super::percent::{Percents, percents};

/// A queue.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not states of one thing")]
pub struct QueueView {
    /// Path in lower case.
    pub path: Name,
    /// Name of the partition.
    pub partition: Name,
    /// Path of the parent. `None` for the root.
    pub parent: Option<Name>,
    /// State, which determines whether it accepts applications.
    pub state: QueueState,
    /// Whether it is a leaf, which holds applications and no child queues.
    pub leaf: bool,
    /// Whether the queue file defines it.
    pub managed: bool,
    /// Maximum that is configured here. For the root, the sum of the nodes. A type that is not named is unlimited.
    pub max: Amounts,
    /// Guarantee that is configured here.
    pub guaranteed: Amounts,
    /// Usage of the queue and its descendants.
    pub allocated: Amounts,
    /// Pending amounts of the queue and its descendants.
    pub pending: Amounts,
    /// Amounts that the RM is stopping because of preemption, in the queue and its descendants.
    pub preempting: Amounts,
    /// Headroom: the least that is left on the path to the root. Can be negative.
    pub headroom: Amounts,
    /// `allocated` as a percentage of `max`.
    pub used_percent: Percents,
    /// Number of running applications in the queue and its descendants.
    pub running: u64,
    /// Limit on running applications. 0 is unlimited.
    pub max_applications: u64,
    /// Accepted applications in the queue and its descendants that already count as running, because their gang is
    /// incomplete.
    pub starting: Vec<Name>,
    /// Priority that it shows its parent, after fence and offset. `None` if nothing waits.
    pub priority: Option<i32>,
    /// Whether it is a fence, which shows only its offset.
    pub priority_fence: bool,
    /// Offset that is added to its priority.
    pub priority_offset: i32,
    /// Order of applications or children. Children are always in the order of their shares.
    pub order: ApplicationOrder,
    /// Whether the priority precedes that order.
    pub priority_first: bool,
    /// Queues in which it can preempt.
    pub preemption: PreemptionPolicy,
    /// Delay before its asks preempt. Used in leaves only.
    pub preemption_delay: Millis,
    /// Delay before quota preemption after its maximum was lowered. 0 disables it.
    pub quota_preemption_delay: Millis,
    /// Effective properties.
    pub properties: Properties,
    /// Initial settings of leaves that placement rules create in its subtree.
    pub template: Option<TemplateView>,
    /// Paths of its children.
    pub child_paths: Vec<Name>,
    /// Children by path. Empty if only the queue was requested.
    pub children: Vec<QueueView>,
}

/// Initial settings of a leaf that a placement rule creates.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateView {
    /// Limit on running applications. 0 is unlimited.
    pub max_applications: u64,
    /// Maximum of the leaf.
    pub max: Amounts,
    /// Guarantee of the leaf.
    pub guaranteed: Amounts,
    /// Properties of the leaf.
    pub properties: Properties,
}

impl QueueView {
    /// Returns a queue without its descendants.
    pub fn alone(books: &Books, queue: QueueId) -> Self {
        Self::new(books, queue, Vec::new())
    }

    /// Returns a queue with its descendants.
    pub fn tree(books: &Books, queue: QueueId) -> Self {
        let mut children: Vec<Self> =
            books.children(queue).map(|(child, _)| Self::tree(books, child)).collect();
        children.sort_by(|one, other| one.path.cmp(&other.path));
        Self::new(books, queue, children)
    }

    fn new(books: &Books, id: QueueId, children: Vec<Self>) -> Self {
        let row = books.queue(id);
        let values = &row.settings.values;
        let of = |resources| amounts(books, Some(resources));
        let (max, allocated) = (amounts(books, row.max.as_ref()), of(&row.allocated));
        let mut child_paths: Vec<Name> =
            books.children(id).map(|(_, child)| child.path.clone()).collect();
        child_paths.sort();
        let mut view = Self {
            path: row.path.clone(),
            partition: books.partition(row.partition).name.clone(),
            parent: row.parent.map(|parent| books.queue(parent).path.clone()),
            state: row.state,
            leaf: row.leaf,
            managed: row.managed,
            used_percent: percents(&max, &allocated),
            max,
            guaranteed: amounts(books, row.guaranteed.as_ref()),
            allocated,
            pending: of(&row.pending),
            preempting: of(&row.preempting),
            headroom: amounts(books, books.headroom(id).as_ref()),
            running: row.running,
            max_applications: row.settings.max_applications,
            starting: starting(books, id),
            priority: row.shown_priority(),
            priority_fence: values.priority_policy == PriorityPolicy::Fence,
            priority_offset: values.priority_offset,
            order: values.application_order,
            priority_first: values.priority_first,
            preemption: values.preemption_policy,
            preemption_delay: values.preemption_delay,
            quota_preemption_delay: values.quota_preemption_delay,
            properties: row.settings.properties.clone(),
            template: template(row),
            child_paths,
            children,
        };
        if !row.leaf {
            // A parent only passes these settings to leaves and does not use them.
            view.order = ApplicationOrder::Fair;
            view.preemption_delay = PropertyValues::default().preemption_delay;
        }
        view
    }
}

fn template(queue: &Queue) -> Option<TemplateView> {
    queue.settings.template.as_ref().map(|template| TemplateView {
        max_applications: template.max_applications,
        max: template.max.clone(),
        guaranteed: template.guaranteed.clone(),
        properties: template.properties.clone(),
    })
}

/// Returns the applications of a subtree that count as running before they are Running, by ID. Visits only queues with
/// such applications.
fn starting(books: &Books, queue: QueueId) -> Vec<Name> {
    let (mut found, mut left) = (Vec::new(), alloc::vec![queue]);
    while let Some(queue) = left.pop() {
        if books.queue(queue).allocating == 0 {
            continue;
        }
        left.extend(books.children(queue).map(|(id, _)| id));
        let here = books.applications_in(queue).filter(|(_, row)| row.allocating);
        found.extend(here.map(|(_, row)| row.name.clone()));
    }
    found.sort();
    found
}
