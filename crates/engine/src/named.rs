//! Whom an event is about, in names, for those who are told of it later.
//!
//! An event names rows by ids, and some rows are gone once it is applied. So names are looked up
//! just before.

use headroom_core::books::{ApplicationState, Books};
use headroom_core::id::{AllocationId, ApplicationId, NodeId, PartitionId, QueueId};
use headroom_core::resource::Amounts;
use headroom_core::{Event, Name, PreemptionCause};

/// Whom an event is about. What it is not about is empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Named {
    /// Partition name.
    pub partition: Name,
    /// Path of the queue.
    pub queue: Name,
    /// Application id.
    pub application: Name,
    /// Who is charged.
    pub user: Name,
    /// Allocation key.
    pub key: Name,
    /// Node id.
    pub node: Name,
    /// Who else takes part: for whose sake something stops, whose place is taken,
    /// which tenant something is said of.
    pub other: Name,
    /// How much, where the event does not say it.
    pub resources: Amounts,
    /// The state of the application before.
    pub before: Option<ApplicationState>,
}

/// The names in an event; `books` are those just before it. Costs what the event names.
pub(crate) fn named(books: &Books, event: &Event) -> Named {
    let look = Look { books };
    match event {
        Event::PartitionAdded { partition, .. } => {
            Named { partition: partition.clone(), ..Named::default() }
        }
        Event::PartitionChanged { partition, .. }
        | Event::PartitionRemoved { partition }
        | Event::DriftFound { partition, .. }
        | Event::RecoverySet { partition, .. }
        | Event::QuestionsSet { partition, .. } => look.partition(*partition),
        Event::Configured { .. } => Named::default(),
        Event::QueueAdded { partition, parent, name, .. } => {
            let path = format!("{parent}.{name}");
            Named { queue: Name::new(&path), ..look.partition(*partition) }
        }
        Event::QueueChanged { partition, queue, .. }
        | Event::QueueMoved { partition, queue, .. }
        | Event::LimitsChanged { partition, queue, .. } => {
            Named { queue: queue.clone(), ..look.partition(*partition) }
        }
        Event::QueueRemoved { queue } | Event::QuotaClockStopped { queue } => look.queue(*queue),
        Event::NodeAdded { partition, node, .. } => {
            Named { node: node.clone(), ..look.partition(*partition) }
        }
        Event::NodeResized { node, .. }
        | Event::NodeScheduling { node, .. }
        | Event::NodeRemoved { node }
        | Event::NodeReported { node }
        | Event::VerdictsVoid { node } => look.node(*node),
        Event::ForeignSet { partition, key, node, .. } => {
            let node = books.node(*node).name.clone();
            Named { key: key.clone(), node, ..look.partition(*partition) }
        }
        Event::ForeignRemoved { partition, key } => {
            Named { key: key.clone(), ..look.partition(*partition) }
        }
        Event::TenantSet { partition, tenant, .. }
        | Event::TenantDraining { partition, tenant }
        | Event::TenantRemoved { partition, tenant } => {
            Named { other: tenant.clone(), ..look.partition(*partition) }
        }
        _ => look.of_application(event),
    }
}

struct Look<'books> {
    books: &'books Books,
}

impl Look<'_> {
    fn of_application(&self, event: &Event) -> Named {
        match event {
            Event::ApplicationAdded { partition, queue, application, user, .. }
            | Event::ApplicationRejected { partition, queue, application, user, .. } => Named {
                queue: queue.clone(),
                application: application.clone(),
                user: user.clone(),
                ..self.partition(*partition)
            },
            Event::ApplicationMoved { application, .. } => {
                let before = Some(self.books.application(*application).state);
                Named { before, ..self.application(*application) }
            }
            Event::ApplicationLinked { application, .. }
            | Event::GroupUnlinked { application }
            | Event::ApplicationUnlinked { application }
            | Event::ApplicationAllocating { application }
            | Event::ApplicationActivated { application, .. }
            | Event::ApplicationRemoved { application }
            | Event::LifetimeSet { application, .. }
            | Event::LifetimeOver { application }
            | Event::DeadlineSet { application, .. }
            | Event::Overtaken { application }
            | Event::BackedOff { application, .. }
            | Event::PlaceholdersExpired { application }
            | Event::TimerStopped { application } => self.application(*application),
            Event::TaskAdded { application, settings } => {
                Named { other: settings.tenant.clone(), ..self.application(*application) }
            }
            Event::TaskThrottled { application, .. } | Event::TaskMoved { application, .. } => {
                let task = self.books.application(*application).task.as_deref();
                let tenant = task.map(|task| task.settings.tenant.clone()).unwrap_or_default();
                Named { other: tenant, ..self.application(*application) }
            }
            Event::AskAdded { application, key, .. } => {
                Named { key: key.clone(), ..self.application(*application) }
            }
            _ => self.of_ask(event),
        }
    }

    fn of_ask(&self, event: &Event) -> Named {
        match event {
            Event::Placed { ask, node } | Event::Reserved { ask, node } => self.on(*ask, *node),
            Event::SwapStarted { ask, placeholder, node } => {
                Named { other: self.key_of(*placeholder), ..self.on(*ask, *node) }
            }
            Event::AskRemoved { ask, .. }
            | Event::Unreserved { ask }
            | Event::SwapDropped { ask }
            | Event::PreemptionTriggered { ask }
            | Event::PreemptionTried { ask }
            | Event::ScaleUpAsked { ask }
            | Event::Asked { ask, .. }
            | Event::Answered { ask, .. } => self.allocation(*ask),
            Event::Resized { allocation, .. }
            | Event::Released { allocation, .. }
            | Event::ReleaseAsked { allocation, .. } => self.allocation(*allocation),
            Event::SwapConfirmed { placeholder } => {
                let member = self.books.allocation(*placeholder).partner();
                let placeholder = self.key_of(*placeholder);
                member.map_or_else(Named::default, |member| Named {
                    other: placeholder,
                    ..self.allocation(member)
                })
            }
            Event::Preempted { victim, cause } | Event::PreemptionObserved { victim, cause } => {
                let other = match cause {
                    PreemptionCause::Guarantee(ask)
                    | PreemptionCause::Share(ask)
                    | PreemptionCause::RequiredNode(ask) => self.key_of(*ask),
                    PreemptionCause::Quota(queue) => self.books.queue(*queue).path.clone(),
                };
                Named { other, ..self.allocation(*victim) }
            }
            _ => Named::default(),
        }
    }

    fn partition(&self, partition: PartitionId) -> Named {
        Named { partition: self.books.partition(partition).name.clone(), ..Named::default() }
    }

    fn queue(&self, queue: QueueId) -> Named {
        let row = self.books.queue(queue);
        Named { queue: row.path.clone(), ..self.partition(row.partition) }
    }

    fn node(&self, node: NodeId) -> Named {
        let row = self.books.node(node);
        Named { node: row.name.clone(), ..self.partition(row.partition) }
    }

    fn application(&self, application: ApplicationId) -> Named {
        let row = self.books.application(application);
        Named {
            queue: row.queue_path.clone(),
            application: row.name.clone(),
            user: row.user.clone(),
            ..self.partition(row.partition)
        }
    }

    fn allocation(&self, one: AllocationId) -> Named {
        let row = self.books.allocation(one);
        let node = row.node.map(|node| self.books.node(node).name.clone());
        Named {
            key: row.key.clone(),
            node: node.unwrap_or_default(),
            resources: self.books.plain_size_of(one),
            ..self.application(row.application)
        }
    }

    /// An ask, and a node that it is about to have.
    fn on(&self, ask: AllocationId, node: NodeId) -> Named {
        Named { node: self.books.node(node).name.clone(), ..self.allocation(ask) }
    }

    fn key_of(&self, one: AllocationId) -> Name {
        self.books.allocation(one).key.clone()
    }
}
