//! Maps events of the journal to records of the audit log. Only this module does so. Names and old values are read from
//! the books before the event.

use headroom_core::books::{Allocation, Books, TaskOutcome, TaskState};
use headroom_core::id::{AllocationId, ApplicationId, PartitionId};
use headroom_core::resource::{Amounts, Quantity};
use headroom_core::{
    AllocationEvent, ApplicationEvent, AskEvent, Command, Event, Name, PreemptionCause, TaskChange,
    TaskEvent, TaskStep, TenantDrift, TenantEvent, Termination, Timestamp, view,
};
use serde_json::Value;

use super::record::{AuditFields, AuditType, Fact, written_time};
use super::settings;

/// Adds the audit facts of an event. `books` is the state before the event, and `command` caused the event. The cost
/// depends on the objects of the event.
pub(crate) fn facts(books: &Books, command: Option<&Command>, event: &Event, out: &mut Vec<Fact>) {
    if view::tenants(books).is_none() {
        return;
    }
    let look = Look { books };
    match event {
        Event::Tenant(
            TenantEvent::Set { .. }
            | TenantEvent::Draining { .. }
            | TenantEvent::Removed { .. }
            | TenantEvent::DefaultsSet { .. },
        ) => look.of_tenant(event, out),
        Event::Application(ApplicationEvent::Rejected {
            application, user, code, message, ..
        }) => {
            let tenant = match command {
                Some(Command::Submit(submit)) => &submit.tenant,
                Some(Command::SubmitTask(task)) => &task.submit.tenant,
                Some(Command::RejectApplication(rejected)) => &rejected.tenant,
                _ => return,
            };
            if !tenant.is_empty() {
                let after = [("message", text(message)), ("user", text(user))];
                out.push(Fact {
                    reason: Some(code.to_string()),
                    after: with(after),
                    ..fact(AuditType::TaskRejected, tenant.clone(), application)
                });
            }
        }
        Event::Application(ApplicationEvent::Added {
            partition, queue, application, user, ..
        }) => {
            if let Some(tenant) = look.tenant_at(*partition, queue) {
                let after = with([("queue", text(queue)), ("user", text(user))]);
                out.push(Fact { after, ..fact(AuditType::TaskSubmitted, tenant, application) });
            }
        }
        Event::Task(TaskEvent::Added { .. } | TaskEvent::Throttled { .. }) => {
            out.extend(look.of_mark(event));
        }
        Event::Task(TaskEvent::Moved { application, step }) => {
            look.of_step(*application, step, out);
        }
        Event::Ask(AskEvent::Removed { ask, .. }) if is_rank(command) => {
            out.extend(look.ranked(*ask, command));
        }
        Event::Application(ApplicationEvent::DeadlineSet { application, deadline, .. })
            if is_rank(command) =>
        {
            out.extend(look.deadline_set(*application, *deadline));
        }
        Event::Tenant(TenantEvent::DriftFound { drift, .. }) => out.extend(of_drift(drift)),
        Event::Configured { .. }
        | Event::Partition(_)
        | Event::Queue(_)
        | Event::Node(_)
        | Event::Application(
            ApplicationEvent::Linked { .. }
            | ApplicationEvent::GroupUnlinked { .. }
            | ApplicationEvent::Unlinked { .. }
            | ApplicationEvent::LifetimeSet { .. }
            | ApplicationEvent::LifetimeOver { .. }
            | ApplicationEvent::DeadlineSet { .. }
            | ApplicationEvent::Overtaken { .. }
            | ApplicationEvent::Moved { .. }
            | ApplicationEvent::Activated { .. }
            | ApplicationEvent::Allocating { .. }
            | ApplicationEvent::Removed { .. }
            | ApplicationEvent::BackedOff { .. }
            | ApplicationEvent::PlaceholdersExpired { .. }
            | ApplicationEvent::TimerStopped { .. },
        )
        | Event::Ask(
            AskEvent::Added { .. }
            | AskEvent::Removed { .. }
            | AskEvent::Placed { .. }
            | AskEvent::Reserved { .. }
            | AskEvent::Unreserved { .. }
            | AskEvent::Held { .. }
            | AskEvent::HoldEnded { .. }
            | AskEvent::Asked { .. }
            | AskEvent::Answered { .. }
            | AskEvent::PreemptionTriggered { .. }
            | AskEvent::PreemptionTried { .. }
            | AskEvent::ScaleUpAsked { .. },
        )
        | Event::Allocation(_)
        | Event::Foreign(_) => out.extend(look.of_task(event)),
    }
}

fn fact(kind: AuditType, tenant: Name, task: &Name) -> Fact {
    let (tenant, task) = (Some(tenant), Some(task.clone()));
    let (before, after) = (AuditFields::new(), AuditFields::new());
    Fact { kind, tenant, task, before, after, reason: None }
}

/// Returns a fact for each tenant, with the counted and the correct amounts.
fn of_drift(drift: &[TenantDrift]) -> impl Iterator<Item = Fact> {
    let of_one = drift.chunk_by(|one, other| one.tenant == other.tenant);
    of_one.map(|types| {
        let amounts = |of: fn(&TenantDrift) -> Quantity| {
            let amount = |one: &TenantDrift| Value::from(of(one).get());
            let amounts_by_type = types.iter().map(|one| (one.resource.to_string(), amount(one)));
            amounts_by_type.collect::<Value>()
        };
        Fact {
            kind: AuditType::LedgerDrift,
            tenant: types.first().map(|one| one.tenant.clone()),
            task: None,
            before: with([("counted", amounts(|one| one.counted))]),
            after: with([("found", amounts(|one| one.found))]),
            reason: None,
        }
    })
}

fn text(name: &Name) -> Value {
    Value::from(name.as_str())
}

fn with<const N: usize>(fields: [(&str, Value); N]) -> AuditFields {
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

struct Look<'books> {
    books: &'books Books,
}

impl Look<'_> {
    /// Adds the facts of a tenant event. One command can change several aspects of a tenant, and each is a separate
    /// fact.
    fn of_tenant(&self, event: &Event, out: &mut Vec<Fact>) {
        let about = |kind, tenant: Option<&Name>, before, after| {
            let (tenant, task, reason) = (tenant.cloned(), None, None);
            Fact { kind, tenant, task, before, after, reason }
        };
        match event {
            Event::Tenant(TenantEvent::Set { partition, tenant, settings }) => {
                let known = self.books.partition(*partition).tenants.get(tenant);
                let Some(known) = known else {
                    let after = settings::all(settings);
                    out.push(about(
                        AuditType::TenantCreated,
                        Some(tenant),
                        AuditFields::new(),
                        after,
                    ));
                    return;
                };
                for (kind, before, after) in settings::changes(&known.settings, settings) {
                    out.push(about(kind, Some(tenant), before, after));
                }
            }
            Event::Tenant(TenantEvent::Draining { tenant, .. }) => {
                let draining = |is: bool| with([("draining", Value::from(is))]);
                let kind = AuditType::TenantChanged;
                out.push(about(kind, Some(tenant), draining(false), draining(true)));
            }
            Event::Tenant(TenantEvent::Removed { partition, tenant }) => {
                let known = self.books.partition(*partition).tenants.get(tenant);
                let before = known.map(|known| settings::all(&known.settings)).unwrap_or_default();
                out.push(about(AuditType::TenantDeleted, Some(tenant), before, AuditFields::new()));
            }
            Event::Tenant(TenantEvent::DefaultsSet { partition, defaults }) => {
                let known = self.books.partition(*partition).tenants.defaults();
                for (kind, before, after) in settings::default_changes(known, defaults) {
                    out.push(about(kind, None, before, after));
                }
            }
            Event::Configured { .. }
            | Event::Partition(_)
            | Event::Queue(_)
            | Event::Node(_)
            | Event::Application(_)
            | Event::Task(_)
            | Event::Ask(_)
            | Event::Allocation(_)
            | Event::Foreign(_)
            | Event::Tenant(TenantEvent::DriftFound { .. }) => {}
        }
    }

    /// Returns the fact of a task event that its allocations do not show.
    fn of_mark(&self, event: &Event) -> Option<Fact> {
        match event {
            Event::Task(TaskEvent::Added { application, settings }) => {
                let row = self.books.application(*application);
                // A task with its own queue is already reported with that queue.
                let is_reported = self.tenant_at(row.partition, &row.queue_path).is_some();
                let after = with([("queue", text(&row.queue_path)), ("user", text(&row.user))]);
                let tenant = settings.tenant.clone();
                let fact = fact(AuditType::TaskSubmitted, tenant, &row.name);
                (!is_reported).then_some(Fact { after, ..fact })
            }
            Event::Task(TaskEvent::Throttled { application, reason }) => {
                let fact = self.of_application(AuditType::TaskThrottled, *application)?;
                let types = reason.types.iter().map(|one| {
                    let (used, asked, limit) = (one.used.get(), one.asked.get(), one.limit.get());
                    let short = used.saturating_add(asked).saturating_sub(limit);
                    let fields =
                        [("used", used), ("asked", asked), ("limit", limit), ("short", short)];
                    let fields: AuditFields =
                        fields.map(|(name, amount)| (name.to_owned(), amount.into())).into();
                    (one.resource.to_string(), fields.into_iter().collect::<Value>())
                });
                let types: Value = types.collect();
                let after = with([("scope", text(&reason.scope)), ("types", types)]);
                Some(Fact { after, reason: Some(reason.code.to_string()), ..fact })
            }
            Event::Configured { .. }
            | Event::Partition(_)
            | Event::Queue(_)
            | Event::Node(_)
            | Event::Application(_)
            | Event::Task(TaskEvent::Moved { .. })
            | Event::Ask(_)
            | Event::Allocation(_)
            | Event::Foreign(_)
            | Event::Tenant(_) => None,
        }
    }

    /// Adds the fact of a step of a task. The end of a task on nodes is reported by its members, each of which
    /// releases its node.
    fn of_step(&self, application: ApplicationId, step: &TaskStep, out: &mut Vec<Fact>) {
        let row = self.books.application(application);
        let (kind, reason) = match step {
            TaskStep::Waited | TaskStep::Restarted { .. } => return,
            TaskStep::Confirmed => (AuditType::TaskConfirmed, None),
            TaskStep::Measured { .. } => (AuditType::TaskMeasured, None),
            TaskStep::Cancelling => (AuditType::TaskCancelled, Some("CANCELLING")),
            TaskStep::Requeued { .. } => (AuditType::TaskEvicted, Some("REQUEUED")),
            TaskStep::Ended { outcome, .. } => match outcome {
                TaskOutcome::Cancelled => (AuditType::TaskCancelled, Some("CANCELLED")),
                TaskOutcome::Evicted => (AuditType::TaskEvicted, Some("EVICTED")),
                TaskOutcome::Succeeded | TaskOutcome::Failed | TaskOutcome::Expired
                    if row.allocation_count > 0 =>
                {
                    return;
                }
                TaskOutcome::Succeeded => (AuditType::TaskEnded, Some("SUCCEEDED")),
                TaskOutcome::Failed => (AuditType::TaskEnded, Some("FAILED")),
                TaskOutcome::Expired => (AuditType::TaskEnded, Some("EXPIRED")),
            },
        };
        let types = self.books.types();
        let of = if row.allocation_count > 0 { &row.allocated } else { &row.pending };
        let before =
            with([("key", text(&row.name)), ("resources", settings::amounts(&types.amounts(of)))]);
        let after = match step {
            TaskStep::Measured { resources } => with([("measured", settings::amounts(resources))]),
            _ => AuditFields::new(),
        };
        let fact = self.of_application(kind, application);
        let reason = reason.map(str::to_owned);
        out.extend(fact.map(|fact| Fact { before, after, reason, ..fact }));
    }

    /// Returns why a member of a task releases its node: because the task ended, or because the member is asked for
    /// again.
    fn end_of_member(&self, application: ApplicationId) -> &'static str {
        let task = self.books.application(application).task.as_deref();
        match task.and_then(|task| task.end.as_ref()) {
            Some(end) => TaskState::Ended(end.outcome).as_str(),
            None if self.books.task_state(application) == Some(TaskState::Evicting) => "REQUEUED",
            None => "RESTARTED",
        }
    }

    /// Returns the fact that the priority of a member changed: its ask is removed and added again.
    fn ranked(&self, ask: AllocationId, command: Option<&Command>) -> Option<Fact> {
        let Some(Command::ChangeTask { change: TaskChange::Rank { priority, .. }, .. }) = command
        else {
            return None;
        };
        let (row, fact) = self.of_allocation(AuditType::TaskRanked, ask)?;
        let fields = |priority: i32| with([("key", text(&row.key)), ("priority", priority.into())]);
        let (before, after) = (fields(row.priority), fields((*priority)?));
        Some(Fact { before, after, ..fact })
    }

    /// Returns the fact that the deadline of a task changed.
    fn deadline_set(&self, application: ApplicationId, at: Option<Timestamp>) -> Option<Fact> {
        let fact = self.of_application(AuditType::TaskRanked, application)?;
        let row = self.books.application(application);
        let fields = |at: Option<Timestamp>| {
            let at = at.map_or(Value::Null, |at| written_time(at).into());
            with([("key", text(&row.name)), ("deadline", at)])
        };
        Some(Fact { before: fields(row.deadline.at), after: fields(at), ..fact })
    }

    fn of_application(&self, kind: AuditType, application: ApplicationId) -> Option<Fact> {
        let task = &self.books.application(application).name;
        Some(fact(kind, self.tenant_of(application)?, task))
    }

    /// Returns whether an ask or allocation belongs to a task whose steps are reported.
    fn is_marked(&self, one: AllocationId) -> bool {
        let application = self.books.allocation(one).application;
        self.books.application(application).task.is_some()
    }

    /// Returns the fact of an event of an ask or allocation. Reports the start of a member, but not the start of its
    /// placeholder.
    fn of_task(&self, event: &Event) -> Option<Fact> {
        match event {
            Event::Ask(AskEvent::Placed { ask, node }) => {
                let node = self.books.node(*node).name.clone();
                self.started(*ask, &node)
            }
            Event::Allocation(AllocationEvent::SwapConfirmed { placeholder }) => {
                let member = self.books.allocation(*placeholder).partner()?;
                let node = self.books.allocation(member).node?;
                self.started(member, &self.books.node(node).name)
            }
            Event::Ask(AskEvent::Removed { ask, .. }) if self.is_marked(*ask) => None,
            Event::Allocation(AllocationEvent::Released { allocation, termination }) => {
                let (row, fact) = self.of_allocation(AuditType::TaskEnded, *allocation)?;
                let node = row.node.map(|node| text(&self.books.node(node).name));
                let before = self.held(row, *allocation, node);
                let by_step =
                    *termination == Termination::StoppedByRm && self.is_marked(*allocation);
                let reason =
                    if by_step { self.end_of_member(row.application) } else { word(*termination) };
                Some(Fact { before, reason: Some(reason.to_owned()), ..fact })
            }
            Event::Ask(AskEvent::Removed { ask, termination }) => {
                let (row, fact) = self.of_allocation(AuditType::TaskCancelled, *ask)?;
                let before = self.held(row, *ask, None);
                Some(Fact { before, reason: Some(word(*termination).to_owned()), ..fact })
            }
            Event::Allocation(AllocationEvent::Resized { allocation, resources }) => {
                let (row, fact) = self.of_allocation(AuditType::TaskResized, *allocation)?;
                let node = row.node.map(|node| text(&self.books.node(node).name));
                let before = self.held(row, *allocation, node);
                let mut after = before.clone();
                after
                    .insert("resources".to_owned(), settings::amounts(&self.plain(row, resources)));
                Some(Fact { before, after, ..fact })
            }
            Event::Allocation(AllocationEvent::Preempted { victim, cause }) => {
                let (row, fact) = self.of_allocation(AuditType::TaskEvicted, *victim)?;
                let node = row.node.map(|node| text(&self.books.node(node).name));
                let before = self.held(row, *victim, node);
                let (reason, whose) = self.cause(*cause);
                let after = with([("for", text(&whose))]);
                Some(Fact { before, after, reason: Some(reason.to_owned()), ..fact })
            }
            Event::Configured { .. }
            | Event::Partition(_)
            | Event::Queue(_)
            | Event::Node(_)
            | Event::Application(_)
            | Event::Task(_)
            | Event::Ask(
                AskEvent::Added { .. }
                | AskEvent::Reserved { .. }
                | AskEvent::Unreserved { .. }
                | AskEvent::Held { .. }
                | AskEvent::HoldEnded { .. }
                | AskEvent::Asked { .. }
                | AskEvent::Answered { .. }
                | AskEvent::PreemptionTriggered { .. }
                | AskEvent::PreemptionTried { .. }
                | AskEvent::ScaleUpAsked { .. },
            )
            | Event::Allocation(
                AllocationEvent::SwapStarted { .. }
                | AllocationEvent::SwapDropped { .. }
                | AllocationEvent::ReleaseAsked { .. }
                | AllocationEvent::PreemptionObserved { .. },
            )
            | Event::Foreign(_)
            | Event::Tenant(_) => None,
        }
    }

    fn started(&self, ask: AllocationId, node: &Name) -> Option<Fact> {
        let (row, fact) = self.of_allocation(AuditType::TaskStarted, ask)?;
        Some(Fact { after: self.held(row, ask, Some(text(node))), ..fact })
    }

    /// Returns an allocation, and a fact with its task and tenant. `None` for a placeholder, and without a tenant.
    fn of_allocation(&self, kind: AuditType, one: AllocationId) -> Option<(&Allocation, Fact)> {
        let row = self.books.allocation(one);
        if row.placeholder {
            return None;
        }
        let task = &self.books.application(row.application).name;
        let tenant = self.tenant_of(row.application)?;
        Some((row, fact(kind, tenant, task)))
    }

    /// Returns the fields with the size of an ask or allocation.
    fn held(&self, row: &Allocation, one: AllocationId, node: Option<Value>) -> AuditFields {
        let resources = settings::amounts(&self.books.plain_size_of(one));
        let fields = with([("key", text(&row.key)), ("resources", resources)]);
        fields.into_iter().chain(node.map(|node| ("node".to_owned(), node))).collect()
    }

    /// Returns the amounts of an event, in the types that users know.
    fn plain(&self, row: &Allocation, resources: &Amounts) -> Amounts {
        let partition = self.books.application(row.application).partition;
        match self.books.types().resolve(resources) {
            Ok(known) => self.books.plain(partition, &known),
            Err(_) => resources.clone(),
        }
    }

    fn tenant_of(&self, application: ApplicationId) -> Option<Name> {
        let row = self.books.application(application);
        if let Some(task) = &row.task {
            return Some(task.settings.tenant.clone());
        }
        let queue = self.books.queue(row.queue);
        queue.settings.tenant.as_ref().map(|mark| mark.tenant.clone())
    }

    fn tenant_at(&self, partition: PartitionId, path: &Name) -> Option<Name> {
        let queue = self.books.partition(partition).queues.get(&**path)?;
        self.books.queue(*queue).settings.tenant.as_ref().map(|mark| mark.tenant.clone())
    }

    fn cause(&self, cause: PreemptionCause) -> (&'static str, Name) {
        let key = |ask: AllocationId| self.books.allocation(ask).key.clone();
        match cause {
            PreemptionCause::Guarantee(ask) => ("GUARANTEE", key(ask)),
            PreemptionCause::Share(ask) => ("USER_SHARE", key(ask)),
            PreemptionCause::Priority(ask) => ("PRIORITY", key(ask)),
            PreemptionCause::RequiredNode(ask) => ("REQUIRED_NODE", key(ask)),
            PreemptionCause::Quota(queue) => ("QUOTA", self.books.queue(queue).path.clone()),
        }
    }
}

/// Returns whether a command changes the priority or deadline of a task.
const fn is_rank(command: Option<&Command>) -> bool {
    matches!(command, Some(Command::ChangeTask { change: TaskChange::Rank { .. }, .. }))
}

const fn word(termination: Termination) -> &'static str {
    match termination {
        Termination::StoppedByRm => "STOPPED_BY_RM",
        Termination::NodeRemoved => "NODE_REMOVED",
        Termination::PartitionRemoved => "PARTITION_REMOVED",
        Termination::Timeout => "TIMEOUT",
        Termination::Preempted => "PREEMPTED",
        Termination::PlaceholderReplaced => "PLACEHOLDER_REPLACED",
        Termination::LifetimeOver => "LIFETIME_OVER",
    }
}
