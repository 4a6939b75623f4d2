//! Names of the objects of an event, for later readers.
//!
//! An event refers to rows by ID. Some rows no longer exist after the event is applied, so names are read before.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;

use crate::books::{ApplicationState, Books, TaskState};
use crate::command::Command;
use crate::event::{
    AllocationEvent, ApplicationEvent, AskEvent, Event, ForeignEvent, NodeEvent, PartitionEvent,
    PreemptionCause, QueueEvent, TaskEvent, TenantEvent,
};
use crate::id::{AllocationId, ApplicationId, NodeId, PartitionId, QueueId};
use crate::name::Name;
use crate::resource::Amounts;

/// Names of the objects of an event. Names that do not apply are empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventNames {
    /// Partition name.
    pub partition: Name,
    /// Path of the queue.
    pub queue: Name,
    /// Application id.
    pub application: Name,
    /// User that is charged.
    pub user: Name,
    /// Allocation key.
    pub key: Name,
    /// Node id.
    pub node: Name,
    /// Other party: the ask that causes a preemption, the placeholder that is replaced, or the tenant that changes.
    pub other: Name,
    /// Amounts, if the event itself does not contain them.
    pub resources: Amounts,
    /// State of the application before the event.
    pub before: Option<ApplicationState>,
    /// Tenant of the object, if it has one.
    pub tenant: Option<Box<TenantPath>>,
}

/// Tenant of an object, with its ancestors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TenantPath {
    /// The tenant and its ancestors, nearest first.
    pub path: Vec<Name>,
    /// Previous ancestors, if the tenant moves to another parent.
    pub left: Vec<Name>,
    /// Whether the object is a task.
    pub is_task: bool,
}

/// Returns the names of an event: the object itself first, then the objects that contain it.
pub fn subjects(named: &EventNames) -> impl Iterator<Item = &Name> {
    let EventNames { key, application, node, queue, user, partition, .. } = named;
    [key, application, node, queue, user, partition].into_iter().filter(|name| !name.is_empty())
}

/// Returns the names of the objects of an event.
///
/// `books` is the state just before the event. `cause` is the command that produced it. Costs the number of objects
/// that the event refers to.
pub fn named(books: &Books, cause: Option<&Command>, event: &Event) -> EventNames {
    let look = Look { books };
    if let Event::Application(event @ ApplicationEvent::Rejected { partition, .. }) = event {
        let tenant = match cause {
            Some(Command::SubmitTask(task)) => Some((&task.submit.tenant, true)),
            Some(Command::Submit(submit)) => Some((&submit.tenant, false)),
            Some(Command::RejectApplication(one)) => Some((&one.tenant, one.of_task)),
            Some(_) | None => None,
        };
        let of = tenant.filter(|(tenant, _)| !tenant.is_empty());
        let tenant = of.map(|(tenant, is_task)| Box::new(look.under(*partition, tenant, is_task)));
        return EventNames { tenant, ..look.of_application(event) };
    }
    match event {
        Event::Configured { .. } => EventNames::default(),
        Event::Partition(event) => look.of_partition(event),
        Event::Queue(event) => look.of_queue(event),
        Event::Node(event) => look.of_node(event),
        Event::Application(event) => look.of_application(event),
        Event::Task(event) => look.of_task(event),
        Event::Ask(event) => look.of_ask(event),
        Event::Allocation(event) => look.of_allocation(event),
        Event::Foreign(event) => look.of_foreign(event),
        Event::Tenant(event) => look.of_tenant(event),
    }
}

struct Look<'books> {
    books: &'books Books,
}

impl Look<'_> {
    fn of_partition(&self, event: &PartitionEvent) -> EventNames {
        match event {
            PartitionEvent::Added { partition, .. } => {
                EventNames { partition: partition.clone(), ..EventNames::default() }
            }
            PartitionEvent::Changed { partition, .. }
            | PartitionEvent::Removed { partition }
            | PartitionEvent::QuestionsSet { partition, .. }
            | PartitionEvent::RecoverySet { partition, .. }
            | PartitionEvent::ManagerAway { partition, .. } => self.partition(*partition),
        }
    }

    fn of_queue(&self, event: &QueueEvent) -> EventNames {
        match event {
            QueueEvent::Added { partition, parent, name, .. } => {
                let path = format!("{parent}.{name}");
                EventNames { queue: Name::new(&path), ..self.partition(*partition) }
            }
            QueueEvent::Changed { partition, queue, .. }
            | QueueEvent::Moved { partition, queue, .. }
            | QueueEvent::LimitsChanged { partition, queue, .. } => {
                EventNames { queue: queue.clone(), ..self.partition(*partition) }
            }
            QueueEvent::Removed { queue } | QueueEvent::QuotaClockStopped { queue } => {
                self.queue(*queue)
            }
        }
    }

    fn of_node(&self, event: &NodeEvent) -> EventNames {
        match event {
            NodeEvent::Added { partition, node, .. } => {
                EventNames { node: node.clone(), ..self.partition(*partition) }
            }
            NodeEvent::Resized { node, .. }
            | NodeEvent::Scheduling { node, .. }
            | NodeEvent::Removed { node }
            | NodeEvent::Reported { node }
            | NodeEvent::VerdictsVoid { node } => self.node(*node),
        }
    }

    fn of_application(&self, event: &ApplicationEvent) -> EventNames {
        match event {
            ApplicationEvent::Added { partition, queue, application, user, .. }
            | ApplicationEvent::Rejected { partition, queue, application, user, .. } => {
                EventNames {
                    queue: queue.clone(),
                    application: application.clone(),
                    user: user.clone(),
                    tenant: self.tenant_at(*partition, queue),
                    ..self.partition(*partition)
                }
            }
            ApplicationEvent::Moved { application, .. } => {
                let before = Some(self.books.application(*application).state);
                EventNames { before, ..self.application(*application) }
            }
            ApplicationEvent::Overtaken { application, by } => {
                let by = by.map(|by| self.books.application(by).name.clone());
                EventNames { other: by.unwrap_or_default(), ..self.application(*application) }
            }
            ApplicationEvent::Linked { application, .. }
            | ApplicationEvent::GroupUnlinked { application }
            | ApplicationEvent::Unlinked { application }
            | ApplicationEvent::Allocating { application }
            | ApplicationEvent::Activated { application, .. }
            | ApplicationEvent::Removed { application }
            | ApplicationEvent::LifetimeSet { application, .. }
            | ApplicationEvent::LifetimeOver { application }
            | ApplicationEvent::DeadlineSet { application, .. }
            | ApplicationEvent::BackedOff { application, .. }
            | ApplicationEvent::PlaceholdersExpired { application }
            | ApplicationEvent::TimerStopped { application } => self.application(*application),
        }
    }

    fn of_task(&self, event: &TaskEvent) -> EventNames {
        match event {
            TaskEvent::Added { application, settings } => {
                let partition = self.books.application(*application).partition;
                let of = self.under(partition, &settings.tenant, true);
                let other = settings.tenant.clone();
                EventNames { other, tenant: Some(Box::new(of)), ..self.application(*application) }
            }
            TaskEvent::Throttled { application, .. } | TaskEvent::Moved { application, .. } => {
                let task = self.books.application(*application).task.as_deref();
                let tenant = task.map(|task| task.settings.tenant.clone()).unwrap_or_default();
                EventNames { other: tenant, ..self.application(*application) }
            }
        }
    }

    fn of_ask(&self, event: &AskEvent) -> EventNames {
        match event {
            AskEvent::Added { application, key, .. } => {
                EventNames { key: key.clone(), ..self.application(*application) }
            }
            AskEvent::Placed { ask, node } | AskEvent::Reserved { ask, node } => {
                self.on(*ask, *node)
            }
            AskEvent::Held { ask, top } => {
                let queue = self.books.queue(*top).path.clone();
                EventNames { queue, ..self.allocation(*ask) }
            }
            AskEvent::Removed { ask, .. }
            | AskEvent::Unreserved { ask }
            | AskEvent::HoldEnded { ask }
            | AskEvent::PreemptionTriggered { ask }
            | AskEvent::PreemptionTried { ask }
            | AskEvent::ScaleUpAsked { ask }
            | AskEvent::Asked { ask, .. }
            | AskEvent::Answered { ask, .. } => self.allocation(*ask),
        }
    }

    fn of_allocation(&self, event: &AllocationEvent) -> EventNames {
        match event {
            AllocationEvent::Resized { allocation, .. }
            | AllocationEvent::Released { allocation, .. }
            | AllocationEvent::ReleaseAsked { allocation, .. } => self.allocation(*allocation),
            AllocationEvent::SwapStarted { ask, placeholder, node } => {
                EventNames { other: self.key_of(*placeholder), ..self.on(*ask, *node) }
            }
            AllocationEvent::SwapConfirmed { placeholder } => {
                let member = self.books.allocation(*placeholder).partner();
                let placeholder = self.key_of(*placeholder);
                member.map_or_else(EventNames::default, |member| EventNames {
                    other: placeholder,
                    ..self.allocation(member)
                })
            }
            AllocationEvent::SwapDropped { ask } => self.allocation(*ask),
            AllocationEvent::Preempted { victim, cause }
            | AllocationEvent::PreemptionObserved { victim, cause } => {
                let other = match cause {
                    PreemptionCause::Guarantee(ask)
                    | PreemptionCause::Share(ask)
                    | PreemptionCause::Priority(ask)
                    | PreemptionCause::RequiredNode(ask) => self.key_of(*ask),
                    PreemptionCause::Quota(queue) => self.books.queue(*queue).path.clone(),
                };
                EventNames { other, ..self.allocation(*victim) }
            }
        }
    }

    fn of_foreign(&self, event: &ForeignEvent) -> EventNames {
        match event {
            ForeignEvent::Set { partition, key, node, .. } => {
                let node = self.books.node(*node).name.clone();
                EventNames { key: key.clone(), node, ..self.partition(*partition) }
            }
            ForeignEvent::Removed { partition, key } => {
                EventNames { key: key.clone(), ..self.partition(*partition) }
            }
        }
    }

    fn of_tenant(&self, event: &TenantEvent) -> EventNames {
        let (partition, tenant, of) = match event {
            TenantEvent::Set { partition, tenant, settings } => {
                let of = self.placed(*partition, tenant, settings.parent.as_ref());
                (*partition, tenant, of)
            }
            TenantEvent::Draining { partition, tenant }
            | TenantEvent::Removed { partition, tenant } => {
                (*partition, tenant, self.under(*partition, tenant, false))
            }
            TenantEvent::DriftFound { partition, .. } => return self.partition(*partition),
            TenantEvent::DefaultsSet { .. } => return EventNames::default(),
        };
        EventNames {
            other: tenant.clone(),
            tenant: Some(Box::new(of)),
            ..self.partition(partition)
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
        // The application can have ended long ago, and its queue can be removed.
        let queue = self.books.queues().get(row.queue)?;
        let mark = queue.settings.tenant.as_ref()?;
        Some(Box::new(self.under(row.partition, &mark.tenant, false)))
    }

    fn tenant_at(&self, partition: PartitionId, path: &Name) -> Option<Box<TenantPath>> {
        let queue = self.books.partition(partition).queues.get(&**path)?;
        let mark = self.books.queue(*queue).settings.tenant.as_ref()?;
        Some(Box::new(self.under(partition, &mark.tenant, false)))
    }

    /// Returns the path of a tenant. Removed ancestors are missing.
    fn under(&self, partition: PartitionId, tenant: &Name, is_task: bool) -> TenantPath {
        let above = self.books.partition(partition).tenants.up(tenant).skip(1);
        let path = core::iter::once(tenant).chain(above.map(|(name, _)| name)).cloned();
        TenantPath { path: path.collect(), left: Vec::new(), is_task }
    }

    /// Returns the path of a tenant after a move to this parent.
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

    /// Returns the names of an ask and of the node that it is about to use.
    fn on(&self, ask: AllocationId, node: NodeId) -> EventNames {
        EventNames { node: self.books.node(node).name.clone(), ..self.allocation(ask) }
    }

    fn key_of(&self, one: AllocationId) -> Name {
        self.books.allocation(one).key.clone()
    }
}

/// Returns the states of the tasks of these events.
///
/// `books` is the state after the events. Costs the number of members of these tasks.
pub fn task_states(books: &Books, names: &[EventNames]) -> Vec<(Name, TaskState)> {
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
