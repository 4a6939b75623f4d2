//! `GET …/tenants/{tenant}/events`: events of a tenant, its descendants, and their tasks, as they happen.
//!
//! All effects of a journal record on a task are one event. Events have no positions in the waiting list, because one
//! start changes all later positions. They only report that the list has changed.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::extract::State;
use axum::http::Response;
use headroom_api::headroomv1::{Code, ShortType, TaskReason, TenantEvent};
use headroom_core::event_text::{EventNames, TenantPath, kind_of};
use headroom_core::{
    AllocationEvent, ApplicationEvent, AskEvent, Event, Name, TaskEvent, TaskStep,
    TenantEvent as TenantChange,
};
use headroom_engine::Entry;

use super::super::answer::Refused;
use super::super::request::NativeRequest;
use super::super::stream::{EventSource, Selection, resumed, stream};
use super::super::words::time;
use super::body;
use super::scope::TenantScope;
use super::task::state;
use crate::convert::value::resources;
use crate::live::StreamKind;
use crate::service::Service;

/// Maximum number of open streams of tenants.
const STREAMS_MAX: u64 = 1_000;
/// Maximum number of open streams of one tenant.
const STREAMS_OF_ONE_MAX: u64 = 100;

pub(super) async fn watch(
    State(service): State<Service>,
    asked: NativeRequest,
) -> Result<Response<Body>, Refused> {
    asked.parameters(&[])?;
    let view = service.engine.views().at_least(0).await;
    let here = TenantScope::of(&view, &asked)?;
    let (tenant, _) = here.tenant()?;
    let feed = service.engine.feed();
    let first = resumed(feed, &asked)?.unwrap_or_else(|| feed.newest() + 1);
    let open = service
        .live()
        .open_stream_of((StreamKind::Tenants, STREAMS_MAX), (&tenant, STREAMS_OF_ONE_MAX));
    let open = open.ok_or_else(|| {
        let detail = format!(
            "{STREAMS_OF_ONE_MAX} streams of tenant {tenant} are open, or {STREAMS_MAX} of all tenants, which is \
             the limit. Try again later."
        );
        Refused::new(&asked, Code::TooManyRequests, detail)
    })?;
    let sees_all = here.sees(&Name::default());
    let whose = (!sees_all).then(|| asked.caller.tenants.clone());
    let watch = Watch { tenant, whose, events: Vec::new() };
    Ok(stream(&service, (watch, first), open))
}

/// Selects the events that a client receives of a tenant.
struct Watch {
    tenant: Name,
    /// Tenants that the client can read, together with their descendants. `None` if the client can read all tenants.
    whose: Option<Vec<Name>>,
    /// The events of the current entry.
    events: Vec<TenantEvent>,
}

/// Relation of an event to the tenant of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sight {
    /// The event belongs to another tenant.
    Other,
    /// The event belongs to the tenant or a descendant.
    Within,
    /// The event's tenant was a descendant, and moves out of the tenant.
    Leaves,
    /// The event's tenant is a descendant, but the client can no longer read the tenant.
    Lost,
}

impl Watch {
    /// Returns whether the client can read any of these tenants.
    fn sees(&self, path: &[Name]) -> bool {
        self.whose.as_ref().is_none_or(|whose| path.iter().any(|name| whose.contains(name)))
    }

    fn sight(&self, of: &TenantPath) -> Sight {
        let up = |path: &[Name]| path.iter().position(|name| *name == self.tenant);
        match (up(&of.path), up(&of.left)) {
            (Some(place), _) if self.sees(&of.path[place..]) => Sight::Within,
            (Some(_), _) => Sight::Lost,
            (None, Some(place)) if self.sees(&of.left[place..]) => Sight::Leaves,
            (None, _) => Sight::Other,
        }
    }

    /// Adds the change of a tenant.
    fn tell_of_tenant(&mut self, entry: &Entry, event: &Event, of: &TenantPath, sight: Sight) {
        let quota = if let Event::Tenant(TenantChange::Set { settings, .. }) = event
            && sight == Sight::Within
            && of.left.is_empty()
        {
            settings.quota.as_ref().map(|_| body::quota(settings))
        } else {
            None
        };
        let tenant = of.path.first().unwrap_or(&self.tenant).to_string();
        self.events.push(TenantEvent {
            tenant,
            quota,
            waiting_changed: !matches!(event, Event::Tenant(TenantChange::Removed { .. })),
            ..begun(entry, event)
        });
    }

    /// Adds the fields of an event to the event of its task. `most` means that the event is the most informative event
    /// so far.
    fn add(&mut self, place: usize, event: &Event, of: &TenantPath, most: bool) {
        let reason = self.reason(event, of);
        let body = &mut self.events[place];
        body.waiting_changed |= reorders(event);
        if let Event::Allocation(AllocationEvent::Resized { resources: amounts, .. }) = event {
            body.resources = Some(resources(amounts));
        }
        if most {
            kind_of(event).clone_into(&mut body.kind);
            body.reason = reason;
        }
    }

    /// Returns why a task waits, as far as the client sees that.
    fn reason(&self, event: &Event, of: &TenantPath) -> Option<TaskReason> {
        match event {
            Event::Application(ApplicationEvent::Rejected { code, message, .. }) => {
                Some(TaskReason {
                    code: code.to_string(),
                    sentence: Some(message.to_string()),
                    ..TaskReason::default()
                })
            }
            Event::Task(TaskEvent::Throttled { reason, .. }) => {
                let above = of.path.iter().position(|name| *name == reason.scope);
                let open = above.is_none_or(|place| self.sees(&of.path[place..]));
                let types = reason.types.iter().map(|one| ShortType {
                    resource: one.resource.to_string(),
                    used: open.then(|| one.used.get()),
                    asked: one.asked.get(),
                    limit: one.limit.get(),
                    short: open.then(|| {
                        one.used
                            .get()
                            .saturating_add(one.asked.get())
                            .saturating_sub(one.limit.get())
                    }),
                });
                Some(TaskReason {
                    code: reason.code.to_string(),
                    scope: (!reason.scope.is_empty()).then(|| reason.scope.to_string()),
                    types: types.collect(),
                    sentence: None,
                })
            }
            Event::Configured { .. }
            | Event::Partition(_)
            | Event::Queue(_)
            | Event::Node(_)
            | Event::Application(
                ApplicationEvent::Added { .. }
                | ApplicationEvent::Linked { .. }
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
            | Event::Task(TaskEvent::Added { .. } | TaskEvent::Moved { .. })
            | Event::Ask(_)
            | Event::Allocation(_)
            | Event::Foreign(_)
            | Event::Tenant(_) => None,
        }
    }
}

/// Returns an event of an entry without its subject.
fn begun(entry: &Entry, event: &Event) -> TenantEvent {
    TenantEvent {
        ledger_version: entry.record.sequence,
        at: time(entry.record.time),
        kind: kind_of(event).to_owned(),
        ..TenantEvent::default()
    }
}

fn of_task(entry: &Entry, event: &Event, (task, of): (&Name, &TenantPath)) -> TenantEvent {
    let stands = entry.tasks.iter().find(|(name, _)| name == task);
    TenantEvent {
        tenant: of.path.first().map(ToString::to_string).unwrap_or_default(),
        task: Some(task.to_string()),
        state: stands.map(|(_, at)| state(*at)),
        ..begun(entry, event)
    }
}

/// Returns how informative an event of a task is, compared with other events of the same record. The most informative
/// event is sent. `None` if the event has nothing to send.
const fn weight(event: &Event) -> Option<u8> {
    Some(match event {
        Event::Application(ApplicationEvent::Rejected { .. }) => 8,
        Event::Task(TaskEvent::Moved {
            step:
                TaskStep::Confirmed
                | TaskStep::Cancelling
                | TaskStep::Restarted { .. }
                | TaskStep::Requeued { .. }
                | TaskStep::Ended { .. },
            ..
        }) => 7,
        Event::Task(TaskEvent::Throttled { .. }) => 6,
        Event::Task(TaskEvent::Added { .. }) => 5,
        Event::Allocation(AllocationEvent::Preempted { .. }) => 4,
        Event::Ask(AskEvent::Placed { .. })
        | Event::Allocation(AllocationEvent::SwapConfirmed { .. }) => 3,
        Event::Allocation(AllocationEvent::Resized { .. }) => 2,
        Event::Application(ApplicationEvent::DeadlineSet { .. }) => 1,
        Event::Application(ApplicationEvent::Added { .. })
        | Event::Ask(AskEvent::Added { .. } | AskEvent::Removed { .. })
        | Event::Allocation(
            AllocationEvent::SwapStarted { .. }
            | AllocationEvent::ReleaseAsked { .. }
            | AllocationEvent::Released { .. },
        ) => 0,
        Event::Task(TaskEvent::Moved {
            step: TaskStep::Waited | TaskStep::Measured { .. },
            ..
        })
        | Event::Configured { .. }
        | Event::Partition(_)
        | Event::Queue(_)
        | Event::Node(_)
        | Event::Application(
            ApplicationEvent::Linked { .. }
            | ApplicationEvent::GroupUnlinked { .. }
            | ApplicationEvent::Unlinked { .. }
            | ApplicationEvent::LifetimeSet { .. }
            | ApplicationEvent::LifetimeOver { .. }
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
            AskEvent::Reserved { .. }
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
            AllocationEvent::SwapDropped { .. } | AllocationEvent::PreemptionObserved { .. },
        )
        | Event::Foreign(_)
        | Event::Tenant(_) => return None,
    })
}

/// Returns whether this event can change the positions of other waiting tasks.
const fn reorders(event: &Event) -> bool {
    matches!(
        event,
        Event::Ask(AskEvent::Added { .. } | AskEvent::Removed { .. } | AskEvent::Placed { .. })
            | Event::Allocation(AllocationEvent::SwapStarted { .. })
            | Event::Application(ApplicationEvent::DeadlineSet { .. })
    )
}

impl EventSource for Watch {
    type Event = TenantEvent;

    fn look(&mut self, entry: &Entry) -> Selection {
        self.events.clear();
        let mut known: BTreeMap<&Name, (usize, u8)> = BTreeMap::new();
        for (event, named) in entry.record.events.iter().zip(&entry.named) {
            if let Event::Tenant(TenantChange::DefaultsSet { .. }) = event {
                let tenant = self.tenant.to_string();
                self.events.push(TenantEvent {
                    tenant,
                    waiting_changed: true,
                    ..begun(entry, event)
                });
            }
            let EventNames { application, tenant: Some(of), .. } = named else { continue };
            let sight = self.sight(of);
            match sight {
                Sight::Other => continue,
                Sight::Lost => return Selection::Last(self.events.len(), Some("gone")),
                Sight::Within | Sight::Leaves => {}
            }
            if application.is_empty() {
                self.tell_of_tenant(entry, event, of, sight);
                if matches!(event, Event::Tenant(TenantChange::Removed { tenant, .. }) if *tenant == self.tenant)
                {
                    return Selection::Last(self.events.len(), Some("gone"));
                }
                continue;
            }
            let Some(weight) = weight(event) else { continue };
            let (place, most) = known.entry(application).or_insert((self.events.len(), 0));
            if *place == self.events.len() {
                self.events.push(of_task(entry, event, (application, of)));
            }
            self.add(*place, event, of, weight >= *most);
            *most = weight.max(*most);
        }
        Selection::Some(self.events.len())
    }

    fn event(&self, _: &Entry, place: usize) -> TenantEvent {
        self.events[place].clone()
    }
}
