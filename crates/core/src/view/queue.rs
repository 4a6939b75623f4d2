//! A queue, alone or with everything below it.

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
    /// Full path, lower case.
    pub path: Name,
    /// Name of its partition.
    pub partition: Name,
    /// Path of the queue above; none for the root.
    pub parent: Option<Name>,
    /// Whether it takes in applications.
    pub state: QueueState,
    /// Whether it holds applications, and not queues.
    pub leaf: bool,
    /// Whether it comes from the queue file.
    pub managed: bool,
    /// What cannot be exceeded, as configured here; the sum of the nodes for the root. A type
    /// that is not named is unlimited.
    pub max: Amounts,
    /// What it can always get back, as configured here.
    pub guaranteed: Amounts,
    /// Allocated here and below.
    pub allocated: Amounts,
    /// Asked for here and below.
    pub pending: Amounts,
    /// Being taken back here and below: the RM was asked to stop it.
    pub preempting: Amounts,
    /// What may still be used, the least on the way up to the root; may be negative.
    pub headroom: Amounts,
    /// `allocated` in percent of `max`.
    pub used_percent: Percents,
    /// Running applications here and below.
    pub running: u64,
    /// Applications that may run at once; 0 is unlimited.
    pub max_applications: u64,
    /// Accepted applications here and below that hold a place among the running ones already,
    /// because their gang is on the way.
    pub starting: Vec<Name>,
    /// The priority that it shows its parent, fence and offset applied; none while nothing
    /// waits.
    pub priority: Option<i32>,
    /// Whether its own offset is all the priority that it shows.
    pub priority_fence: bool,
    /// What is added to its priority.
    pub priority_offset: i32,
    /// In which order applications, or the queues below, are offered room; queues always by
    /// their shares.
    pub order: ApplicationOrder,
    /// Whether priority comes before that order.
    pub priority_first: bool,
    /// From where room may be taken for it.
    pub preemption: PreemptionPolicy,
    /// How long its asks wait before room is taken for them; means something in a leaf.
    pub preemption_delay: Millis,
    /// How long it may stay above a lowered maximum; 0 is for ever.
    pub quota_preemption_delay: Millis,
    /// The properties in force.
    pub properties: Properties,
    /// What a leaf made below by a placement rule starts with.
    pub template: Option<TemplateView>,
    /// Paths of the queues right below.
    pub child_paths: Vec<Name>,
    /// The queues right below, by path; empty if the queue alone was asked for.
    pub children: Vec<QueueView>,
}

/// What a leaf made by a placement rule starts with.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateView {
    /// Applications that may run at once; 0 is unlimited.
    pub max_applications: u64,
    /// Its maximum.
    pub max: Amounts,
    /// Its guarantee.
    pub guaranteed: Amounts,
    /// Its properties.
    pub properties: Properties,
}

impl QueueView {
    /// A queue without those below it.
    pub fn alone(books: &Books, queue: QueueId) -> Self {
        Self::new(books, queue, Vec::new())
    }

    /// A queue with everything below it.
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
            // What only leaves use is passed on by a parent, and not in force there.
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

/// The applications of a subtree that count as if they ran, by id. Looks for them only where
/// the queues say that there are some.
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
