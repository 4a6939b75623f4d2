//! Which facts of the journal the audit tells, and as what: the one place that says so. Names and
//! values from before are looked up in the books just before the event.

use headroom_core::books::{Allocation, Books, TaskOutcome};
use headroom_core::id::{AllocationId, ApplicationId, PartitionId};
use headroom_core::resource::Quantity;
use headroom_core::{
    Command, Event, Name, PreemptionCause, TaskStep, TenantDrift, Termination, view,
};
use serde_json::Value;

use super::record::{AuditType, Fact, Said};
use super::said;

/// Add what an event says to the audit; `books` are those just before it, and `command` what it
/// follows from. Costs what the event names.
pub(crate) fn facts(books: &Books, command: Option<&Command>, event: &Event, out: &mut Vec<Fact>) {
    if view::tenants(books).is_none() {
        return;
    }
    let look = Look { books };
    match event {
        Event::TenantSet { .. }
        | Event::TenantDraining { .. }
        | Event::TenantRemoved { .. }
        | Event::TenantDefaultsSet { .. } => look.of_tenant(event, out),
        Event::ApplicationRejected { application, user, code, message, .. } => {
            let submit = match command {
                Some(Command::Submit(submit)) => submit,
                Some(Command::SubmitTask(task)) => &task.submit,
                _ => return,
            };
            if !submit.tenant.is_empty() {
                let after = [("message", text(message)), ("user", text(user))];
                out.push(Fact {
                    reason: Some(code.to_string()),
                    after: with(after),
                    ..fact(AuditType::TaskRejected, submit.tenant.clone(), application)
                });
            }
        }
        Event::ApplicationAdded { partition, queue, application, user, .. } => {
            if let Some(tenant) = look.tenant_at(*partition, queue) {
                let after = with([("queue", text(queue)), ("user", text(user))]);
                out.push(Fact { after, ..fact(AuditType::TaskSubmitted, tenant, application) });
            }
        }
        Event::TaskAdded { .. } | Event::TaskThrottled { .. } | Event::TaskMoved { .. } => {
            out.extend(look.of_mark(event));
        }
        Event::DriftFound { drift, .. } => out.extend(of_drift(drift)),
        _ => out.extend(look.of_task(event)),
    }
}

fn fact(kind: AuditType, tenant: Name, task: &Name) -> Fact {
    let (tenant, task) = (Some(tenant), Some(task.clone()));
    let (before, after) = (Said::new(), Said::new());
    Fact { kind, tenant, task, before, after, reason: None }
}

/// Of each tenant what was counted, and what was found instead.
fn of_drift(drift: &[TenantDrift]) -> impl Iterator<Item = Fact> {
    let of_one = drift.chunk_by(|one, other| one.tenant == other.tenant);
    of_one.map(|types| {
        let amounts = |of: fn(&TenantDrift) -> Quantity| {
            let amount = |one: &TenantDrift| Value::from(of(one).get());
            let said = types.iter().map(|one| (one.resource.to_string(), amount(one)));
            said.collect::<Value>()
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

fn with<const N: usize>(said: [(&str, Value); N]) -> Said {
    said.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

struct Look<'books> {
    books: &'books Books,
}

impl Look<'_> {
    /// What one command says of a tenant may be several things: each is told as what it is.
    fn of_tenant(&self, event: &Event, out: &mut Vec<Fact>) {
        let about = |kind, tenant: Option<&Name>, before, after| {
            let (tenant, task, reason) = (tenant.cloned(), None, None);
            Fact { kind, tenant, task, before, after, reason }
        };
        match event {
            Event::TenantSet { partition, tenant, settings } => {
                let known = self.books.partition(*partition).tenants.get(tenant);
                let Some(known) = known else {
                    let after = said::all(settings);
                    out.push(about(AuditType::TenantCreated, Some(tenant), Said::new(), after));
                    return;
                };
                for (kind, before, after) in said::changes(&known.settings, settings) {
                    out.push(about(kind, Some(tenant), before, after));
                }
            }
            Event::TenantDraining { tenant, .. } => {
                let draining = |is: bool| with([("draining", Value::from(is))]);
                let kind = AuditType::TenantChanged;
                out.push(about(kind, Some(tenant), draining(false), draining(true)));
            }
            Event::TenantRemoved { partition, tenant } => {
                let known = self.books.partition(*partition).tenants.get(tenant);
                let before = known.map(|known| said::all(&known.settings)).unwrap_or_default();
                out.push(about(AuditType::TenantDeleted, Some(tenant), before, Said::new()));
            }
            Event::TenantDefaultsSet { partition, defaults } => {
                let known = self.books.partition(*partition).tenants.defaults();
                for (kind, before, after) in said::default_changes(known, defaults) {
                    out.push(about(kind, None, before, after));
                }
            }
            _ => {}
        }
    }

    /// What happens to tasks that their allocations do not show.
    fn of_mark(&self, event: &Event) -> Option<Fact> {
        match event {
            Event::TaskAdded { application, settings } => {
                let row = self.books.application(*application);
                // One with a queue of its own was told of with that.
                let told = self.tenant_at(row.partition, &row.queue_path).is_some();
                let after = with([("queue", text(&row.queue_path)), ("user", text(&row.user))]);
                let tenant = settings.tenant.clone();
                let fact = fact(AuditType::TaskSubmitted, tenant, &row.name);
                (!told).then_some(Fact { after, ..fact })
            }
            Event::TaskThrottled { application, reason } => {
                let fact = self.of_application(AuditType::TaskThrottled, *application)?;
                let types = reason.types.iter().map(|one| {
                    let (used, asked, limit) = (one.used.get(), one.asked.get(), one.limit.get());
                    let short = used.saturating_add(asked).saturating_sub(limit);
                    let said =
                        [("used", used), ("asked", asked), ("limit", limit), ("short", short)];
                    let said: Said =
                        said.map(|(name, amount)| (name.to_owned(), amount.into())).into();
                    (one.resource.to_string(), said.into_iter().collect::<Value>())
                });
                let types: Value = types.collect();
                let after = with([("scope", text(&reason.scope)), ("types", types)]);
                Some(Fact { after, reason: Some(reason.code.to_string()), ..fact })
            }
            Event::TaskMoved { application, step } => {
                let (kind, reason) = step_told(step)?;
                let fact = self.of_application(kind, *application)?;
                let row = self.books.application(*application);
                let before = with([(
                    "resources",
                    said::amounts(&self.books.types().amounts(&row.allocated)),
                )]);
                Some(Fact { before, reason: Some(reason.to_owned()), ..fact })
            }
            _ => None,
        }
    }

    fn of_application(&self, kind: AuditType, application: ApplicationId) -> Option<Fact> {
        let task = &self.books.application(application).name;
        Some(fact(kind, self.tenant_of(application)?, task))
    }

    /// Whether an allocation is of a task, whose end is told by its step.
    fn is_marked(&self, one: AllocationId) -> bool {
        let application = self.books.allocation(one).application;
        self.books.application(application).task.is_some()
    }

    /// What happens to asks and allocations of tasks. A placeholder is no start: its member is.
    fn of_task(&self, event: &Event) -> Option<Fact> {
        match event {
            Event::Placed { ask, node } => {
                let node = self.books.node(*node).name.clone();
                self.started(*ask, &node)
            }
            Event::SwapConfirmed { placeholder } => {
                let member = self.books.allocation(*placeholder).partner()?;
                let node = self.books.allocation(member).node?;
                self.started(member, &self.books.node(node).name)
            }
            Event::Released { allocation: one, termination: Termination::StoppedByRm }
            | Event::AskRemoved { ask: one, .. }
                if self.is_marked(*one) =>
            {
                None
            }
            Event::Released { allocation, termination } => {
                let (row, fact) = self.of_allocation(AuditType::TaskEnded, *allocation)?;
                let node = row.node.map(|node| text(&self.books.node(node).name));
                let before = self.held(row, *allocation, node);
                Some(Fact { before, reason: Some(word(*termination).to_owned()), ..fact })
            }
            Event::AskRemoved { ask, termination } => {
                let (row, fact) = self.of_allocation(AuditType::TaskCancelled, *ask)?;
                let before = self.held(row, *ask, None);
                Some(Fact { before, reason: Some(word(*termination).to_owned()), ..fact })
            }
            Event::Preempted { victim, cause } => {
                let (row, fact) = self.of_allocation(AuditType::TaskEvicted, *victim)?;
                let node = row.node.map(|node| text(&self.books.node(node).name));
                let before = self.held(row, *victim, node);
                let (reason, whose) = self.cause(*cause);
                let after = with([("for", text(&whose))]);
                Some(Fact { before, after, reason: Some(reason.to_owned()), ..fact })
            }
            _ => None,
        }
    }

    fn started(&self, ask: AllocationId, node: &Name) -> Option<Fact> {
        let (row, fact) = self.of_allocation(AuditType::TaskStarted, ask)?;
        Some(Fact { after: self.held(row, ask, Some(text(node))), ..fact })
    }

    /// Of which task of which tenant an allocation is; none of a placeholder, and of what has no tenant.
    fn of_allocation(&self, kind: AuditType, one: AllocationId) -> Option<(&Allocation, Fact)> {
        let row = self.books.allocation(one);
        if row.placeholder {
            return None;
        }
        let task = &self.books.application(row.application).name;
        let tenant = self.tenant_of(row.application)?;
        Some((row, fact(kind, tenant, task)))
    }

    /// What an ask or allocation has or wants.
    fn held(&self, row: &Allocation, one: AllocationId, node: Option<Value>) -> Said {
        let resources = said::amounts(&self.books.plain_size_of(one));
        let said = with([("key", text(&row.key)), ("resources", resources)]);
        said.into_iter().chain(node.map(|node| ("node".to_owned(), node))).collect()
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
            PreemptionCause::RequiredNode(ask) => ("REQUIRED_NODE", key(ask)),
            PreemptionCause::Quota(queue) => ("QUOTA", self.books.queue(queue).path.clone()),
        }
    }
}

/// As what a step of a task is told, and with which reason; none of one that changes nothing for the
/// ledger.
const fn step_told(step: &TaskStep) -> Option<(AuditType, &'static str)> {
    Some(match step {
        TaskStep::Confirmed | TaskStep::Waited | TaskStep::Measured { .. } => return None,
        TaskStep::Cancelling => (AuditType::TaskCancelled, "CANCELLING"),
        TaskStep::Restarted { .. } => (AuditType::TaskEnded, "RESTARTED"),
        TaskStep::Requeued { .. } => (AuditType::TaskEvicted, "REQUEUED"),
        TaskStep::Ended { outcome, .. } => match outcome {
            TaskOutcome::Succeeded => (AuditType::TaskEnded, "SUCCEEDED"),
            TaskOutcome::Failed => (AuditType::TaskEnded, "FAILED"),
            TaskOutcome::Expired => (AuditType::TaskEnded, "EXPIRED"),
            TaskOutcome::Cancelled => (AuditType::TaskCancelled, "CANCELLED"),
            TaskOutcome::Evicted => (AuditType::TaskEvicted, "EVICTED"),
        },
    })
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
