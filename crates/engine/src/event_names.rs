//! Whom an event is about, in names, for later readers of the event.
//!
//! An event names rows by ids, and some rows are gone once it is applied. So names are looked up
//! just before.

use std::collections::BTreeSet;

use headroom_core::books::{ApplicationState, Books, TaskState};
use headroom_core::id::{AllocationId, ApplicationId, NodeId, PartitionId, QueueId};
use headroom_core::resource::Amounts;
use headroom_core::{Command, Event, Name, PreemptionCause};

/// Whom an event is about. What it is not about is empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventNames {
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
    /// which tenant changes.
    pub other: Name,
    /// How much, where the event does not say it.
    pub resources: Amounts,
    /// The state of the application before.
    pub before: Option<ApplicationState>,
    /// Of which tenant it is, if it is of one.
    pub tenant: Option<Box<TenantPath>>,
}

/// Of which tenant something is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TenantPath {
    /// The tenant, and those above it, the nearest first.
    pub path: Vec<Name>,
    /// Those above it so far, where it is to be below another one.
    pub left: Vec<Name>,
    /// Whether it is about a task.
    pub is_task: bool,
}

/// The names in an event; `books` are those just before it, `cause` is the command that it follows from. Costs
/// what the event names.
pub(crate) fn named(books: &Books, cause: Option<&Command>, event: &Event) -> EventNames {
    let look = Look { books };
    if let Event::ApplicationRejected { partition, .. } = event {
        let tenant = match cause {
            Some(Command::SubmitTask(task)) => Some((&task.submit.tenant, true)),
            Some(Command::Submit(submit)) => Some((&submit.tenant, false)),
            Some(Command::RejectApplication(one)) => Some((&one.tenant, one.of_task)),
            _ => None,
        };
        let of = tenant.filter(|(tenant, _)| !tenant.is_empty());
        let tenant = of.map(|(tenant, is_task)| Box::new(look.under(*partition, tenant, is_task)));
        return EventNames { tenant, ..look.of_application(event) };
    }
    match event {
        Event::PartitionAdded { partition, .. } => {
            EventNames { partition: partition.clone(), ..EventNames::default() }
        }
        Event::PartitionChanged { partition, .. }
        | Event::PartitionRemoved { partition }
        | Event::DriftFound { partition, .. }
        | Event::RecoverySet { partition, .. }
        | Event::ManagerAway { partition, .. }
        | Event::QuestionsSet { partition, .. } => look.partition(*partition),
        Event::Configured { .. } => EventNames::default(),
        Event::QueueAdded { partition, parent, name, .. } => {
            let path = format!("{parent}.{name}");
            EventNames { queue: Name::new(&path), ..look.partition(*partition) }
        }
        Event::QueueChanged { partition, queue, .. }
        | Event::QueueMoved { partition, queue, .. }
        | Event::LimitsChanged { partition, queue, .. } => {
            EventNames { queue: queue.clone(), ..look.partition(*partition) }
        }
        Event::QueueRemoved { queue } | Event::QuotaClockStopped { queue } => look.queue(*queue),
        Event::NodeAdded { partition, node, .. } => {
            EventNames { node: node.clone(), ..look.partition(*partition) }
        }
        Event::NodeResized { node, .. }
        | Event::NodeScheduling { node, .. }
        | Event::NodeRemoved { node }
        | Event::NodeReported { node }
        | Event::VerdictsVoid { node } => look.node(*node),
        Event::ForeignSet { partition, key, node, .. } => {
            let node = books.node(*node).name.clone();
            EventNames { key: key.clone(), node, ..look.partition(*partition) }
        }
        Event::ForeignRemoved { partition, key } => {
            EventNames { key: key.clone(), ..look.partition(*partition) }
        }
        Event::TenantSet { partition, tenant, settings } => {
            let of = look.placed(*partition, tenant, settings.parent.as_ref());
            EventNames {
                other: tenant.clone(),
                tenant: Some(Box::new(of)),
                ..look.partition(*partition)
            }
        }
        Event::TenantDraining { partition, tenant }
        | Event::TenantRemoved { partition, tenant } => {
            let of = look.under(*partition, tenant, false);
            EventNames {
                other: tenant.clone(),
                tenant: Some(Box::new(of)),
                ..look.partition(*partition)
            }
        }
        _ => look.of_application(event),
    }
}

struct Look<'books> {
    books: &'books Books,
}

impl Look<'_> {
    fn of_application(&self, event: &Event) -> EventNames {
        match event {
            Event::ApplicationAdded { partition, queue, application, user, .. }
            | Event::ApplicationRejected { partition, queue, application, user, .. } => {
                EventNames {
                    queue: queue.clone(),
                    application: application.clone(),
                    user: user.clone(),
                    tenant: self.tenant_at(*partition, queue),
                    ..self.partition(*partition)
                }
            }
            Event::ApplicationMoved { application, .. } => {
                let before = Some(self.books.application(*application).state);
                EventNames { before, ..self.application(*application) }
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
                let partition = self.books.application(*application).partition;
                let of = self.under(partition, &settings.tenant, true);
                let other = settings.tenant.clone();
                EventNames { other, tenant: Some(Box::new(of)), ..self.application(*application) }
            }
            Event::TaskThrottled { application, .. } | Event::TaskMoved { application, .. } => {
                let task = self.books.application(*application).task.as_deref();
                let tenant = task.map(|task| task.settings.tenant.clone()).unwrap_or_default();
                EventNames { other: tenant, ..self.application(*application) }
            }
            Event::AskAdded { application, key, .. } => {
                EventNames { key: key.clone(), ..self.application(*application) }
            }
            _ => self.of_ask(event),
        }
    }

    fn of_ask(&self, event: &Event) -> EventNames {
        match event {
            Event::Placed { ask, node } | Event::Reserved { ask, node } => self.on(*ask, *node),
            Event::SwapStarted { ask, placeholder, node } => {
                EventNames { other: self.key_of(*placeholder), ..self.on(*ask, *node) }
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
                member.map_or_else(EventNames::default, |member| EventNames {
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
                EventNames { other, ..self.allocation(*victim) }
            }
            _ => EventNames::default(),
        }
    }

    fn partition(&self, partition: PartitionId) -> EventNames {
        EventNames {
            partition: self.books.partition(partition).name.clone(),
            ..EventNames::default()
        }
    }

    fn queue(&self, queue: QueueId) -> EventNames {
        let row = self.books.queue(queue);
        EventNames { queue: row.path.clone(), ..self.partition(row.partition) }
    }

    fn node(&self, node: NodeId) -> EventNames {
        let row = self.books.node(node);
        EventNames { node: row.name.clone(), ..self.partition(row.partition) }
    }

    fn application(&self, application: ApplicationId) -> EventNames {
        let row = self.books.application(application);
        EventNames {
            queue: row.queue_path.clone(),
            application: row.name.clone(),
            user: row.user.clone(),
            tenant: self.tenant_of(application),
            ..self.partition(row.partition)
        }
    }

    fn tenant_of(&self, application: ApplicationId) -> Option<Box<TenantPath>> {
        let row = self.books.application(application);
        if let Some(task) = &row.task {
            return Some(Box::new(self.under(row.partition, &task.settings.tenant, true)));
        }
        // It may have ended long ago, and its queue with it.
        let queue = self.books.queues().get(row.queue)?;
        let mark = queue.settings.tenant.as_ref()?;
        Some(Box::new(self.under(row.partition, &mark.tenant, false)))
    }

    fn tenant_at(&self, partition: PartitionId, path: &Name) -> Option<Box<TenantPath>> {
        let queue = self.books.partition(partition).queues.get(&**path)?;
        let mark = self.books.queue(*queue).settings.tenant.as_ref()?;
        Some(Box::new(self.under(partition, &mark.tenant, false)))
    }

    /// A tenant and those above it, which may be gone.
    fn under(&self, partition: PartitionId, tenant: &Name, is_task: bool) -> TenantPath {
        let above = self.books.partition(partition).tenants.up(tenant).skip(1);
        let path = std::iter::once(tenant).chain(above.map(|(name, _)| name)).cloned();
        TenantPath { path: path.collect(), left: Vec::new(), is_task }
    }

    /// A tenant that is to be below this one.
    fn placed(&self, partition: PartitionId, tenant: &Name, parent: Option<&Name>) -> TenantPath {
        let tenants = &self.books.partition(partition).tenants;
        let mut of = self.under(partition, tenant, false);
        let is_known = tenants.get(tenant).is_some();
        if is_known && of.path.get(1) == parent {
            return of;
        }
        of.left = of.path.drain(1..).collect();
        let above = parent.into_iter().flat_map(|parent| tenants.up(parent));
        of.path.extend(above.map(|(name, _)| name.clone()));
        of
    }

    fn allocation(&self, one: AllocationId) -> EventNames {
        let row = self.books.allocation(one);
        let node = row.node.map(|node| self.books.node(node).name.clone());
        EventNames {
            key: row.key.clone(),
            node: node.unwrap_or_default(),
            resources: self.books.plain_size_of(one),
            ..self.application(row.application)
        }
    }

    /// An ask, and a node that it is about to have.
    fn on(&self, ask: AllocationId, node: NodeId) -> EventNames {
        EventNames { node: self.books.node(node).name.clone(), ..self.allocation(ask) }
    }

    fn key_of(&self, one: AllocationId) -> Name {
        self.books.allocation(one).key.clone()
    }
}

/// Where tasks stand that these events are about; `books` are those after them. Costs the members of these tasks.
pub(crate) fn states(books: &Books, names: &[EventNames]) -> Vec<(Name, TaskState)> {
    let is_task = |named: &&EventNames| named.tenant.as_ref().is_some_and(|of| of.is_task);
    let tasks: BTreeSet<_> =
        names.iter().filter(is_task).map(|named| (&named.partition, &named.application)).collect();
    let state = |(partition, task): (&Name, &Name)| {
        let partition = books.partition_named(partition)?;
        let state = books.task_state(books.task_named(partition, task)?)?;
        Some((task.clone(), state))
    };
    tasks.into_iter().filter_map(state).collect()
}
