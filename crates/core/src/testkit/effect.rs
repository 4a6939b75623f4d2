//! Texts of a story for reservations, gangs, preemption, and foreign use.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::books::{Books, NodeVerdict, QuestionMode, QuestionSubject};
use crate::event::{
    AllocationEvent, ApplicationEvent, AskEvent, Event, ForeignEvent, PreemptionCause, QueueEvent,
    TaskEvent, TaskStep,
};
use crate::id::{AllocationId, ApplicationId, NodeId};

/// Returns a short text for an event of the cycle, before the books change. `None` for events without a text.
pub(super) fn cycle_effect(books: &Books, event: &Event) -> Option<String> {
    let key = |id: &AllocationId| &books.allocation(*id).key;
    let node = |id: &NodeId| &books.node(*id).name;
    Some(match event {
        Event::Ask(AskEvent::Reserved { ask, node: to }) => {
            format!("{} keeps {}", node(to), key(ask))
        }
        Event::Ask(AskEvent::Unreserved { ask }) => format!("no node is reserved for {}", key(ask)),
        Event::Ask(AskEvent::Held { ask, top }) => {
            format!("{} holds room for {}", books.queue(*top).path, key(ask))
        }
        Event::Ask(AskEvent::HoldEnded { ask }) => format!("no room is held for {}", key(ask)),
        Event::Allocation(AllocationEvent::SwapStarted { ask, placeholder, node: to }) => {
            format!("{} takes the place of {} on {}", key(ask), key(placeholder), node(to))
        }
        Event::Allocation(AllocationEvent::SwapConfirmed { placeholder }) => {
            format!("{} replaced", key(placeholder))
        }
        Event::Allocation(AllocationEvent::SwapDropped { ask }) => {
            format!("{} waits again", key(ask))
        }
        Event::Allocation(AllocationEvent::ReleaseAsked { allocation, termination }) => {
            format!("{} to be released: {termination:?}", key(allocation))
        }
        Event::Allocation(AllocationEvent::Preempted { victim, cause }) => match cause {
            PreemptionCause::Guarantee(ask)
            | PreemptionCause::Share(ask)
            | PreemptionCause::Priority(ask)
            | PreemptionCause::RequiredNode(ask) => {
                format!("{} to be stopped for {}", key(victim), key(ask))
            }
            PreemptionCause::Quota(queue) => {
                let path = &books.queue(*queue).path;
                format!("{} to be stopped for the quota of {path}", key(victim))
            }
        },
        Event::Allocation(AllocationEvent::PreemptionObserved { victim, .. }) => {
            format!("{} would be stopped", key(victim))
        }
        Event::Ask(AskEvent::PreemptionTried { ask }) => {
            format!("nothing to stop for {}", key(ask))
        }
        Event::Queue(QueueEvent::QuotaClockStopped { queue }) => {
            format!("quota clock of {} stopped", books.queue(*queue).path)
        }
        Event::Application(ApplicationEvent::BackedOff { application, until }) => {
            let name = &books.application(*application).name;
            format!("{name} backs off until {} ms", until.as_millis())
        }
        Event::Application(ApplicationEvent::PlaceholdersExpired { application }) => {
            format!("placeholders of {} expired", books.application(*application).name)
        }
        Event::Application(ApplicationEvent::LifetimeSet { application, since, asked }) => {
            let name = &books.application(*application).name;
            let asked = asked.map_or_else(String::new, |asked| format!(", asks for {asked}"));
            format!("{name} lives since {} ms{asked}", since.as_millis())
        }
        Event::Application(ApplicationEvent::LifetimeOver { application }) => {
            format!("lifetime of {} over", books.application(*application).name)
        }
        Event::Application(ApplicationEvent::DeadlineSet { application, deadline, estimate }) => {
            let name = &books.application(*application).name;
            let by = deadline
                .map_or_else(|| "whenever".into(), |at| format!("by {} ms", at.as_millis()));
            format!("{name} to be done {by}, takes {estimate}")
        }
        Event::Application(ApplicationEvent::Overtaken { application, by }) => {
            let by = by.map_or("?", |by| books.application(by).name.as_str());
            format!("{} overtaken by {by}", books.application(*application).name)
        }
        Event::Application(ApplicationEvent::TimerStopped { application }) => {
            format!("timer of {} stopped", books.application(*application).name)
        }
        Event::Ask(AskEvent::ScaleUpAsked { ask }) => format!("more nodes would help {}", key(ask)),
        Event::Foreign(ForeignEvent::Set { key, node: on, .. }) => {
            format!("{key} occupies {}", node(on))
        }
        Event::Foreign(ForeignEvent::Removed { key, .. }) => format!("{key} gone"),
        _ => return question_effect(books, event),
    })
}

/// Returns a short text for an event about the RM: questions and answers.
fn question_effect(books: &Books, event: &Event) -> Option<String> {
    let key = |id: &AllocationId| &books.allocation(*id).key;
    let node = |id: &NodeId| &books.node(*id).name;
    Some(match event {
        Event::Ask(AskEvent::Asked { ask, subject: QuestionSubject::Nodes(mode, nodes) }) => {
            let names: Vec<&str> = nodes.iter().map(|id| node(id).as_str()).collect();
            let once = match mode {
                QuestionMode::Allocate => "",
                QuestionMode::Reserve => " once there is room",
            };
            format!("RM asked whether {} may run on {}{once}", key(ask), names.join(" "))
        }
        Event::Ask(AskEvent::Asked { ask, subject: QuestionSubject::Removals(removals) }) => {
            let removals = removals.iter().map(|one| {
                let victims: Vec<&str> = one.victims.iter().map(|id| key(id).as_str()).collect();
                format!("{} without {} of {}", node(&one.node), one.least, victims.join(" "))
            });
            let nodes: Vec<String> = removals.collect();
            format!("RM asked whether {} may run on {}", key(ask), nodes.join(", "))
        }
        Event::Ask(AskEvent::Answered { ask, verdicts }) => {
            let texts = verdicts.iter().map(|(id, verdict)| match verdict {
                NodeVerdict::Suits => format!("{}=ok", node(id)),
                NodeVerdict::SuitsWithout(count) => format!("{}={count}", node(id)),
                NodeVerdict::Refused(reason) => format!("{}={reason}", node(id)),
            });
            format!("RM says of {}: {}", key(ask), texts.collect::<Vec<_>>().join(" "))
        }
        Event::Task(
            TaskEvent::Added { .. } | TaskEvent::Throttled { .. } | TaskEvent::Moved { .. },
        ) => task_effect(books, event),
        _ => return None,
    })
}

fn task_effect(books: &Books, event: &Event) -> String {
    let name = |id: &ApplicationId| &books.application(*id).name;
    match event {
        Event::Task(TaskEvent::Added { application, settings }) => {
            format!("task {} of {}", name(application), settings.tenant)
        }
        Event::Task(TaskEvent::Throttled { application, reason }) => {
            let types: Vec<String> = reason
                .types
                .iter()
                .map(|one| format!(" {} {}+{} of {}", one.resource, one.used, one.asked, one.limit))
                .collect();
            let (code, scope) = (&reason.code, &reason.scope);
            format!("{} throttled {code} {scope}{}", name(application), types.concat())
        }
        Event::Task(TaskEvent::Moved { application, step: TaskStep::Ended { outcome, .. } }) => {
            format!("{} {outcome:?}", name(application))
        }
        Event::Task(TaskEvent::Moved { application, step: TaskStep::Restarted { .. } }) => {
            format!("{} Restarted", name(application))
        }
        Event::Task(TaskEvent::Moved { application, step: TaskStep::Requeued { .. } }) => {
            format!("{} Requeued", name(application))
        }
        Event::Task(TaskEvent::Moved { application, step }) => {
            format!("{} {step:?}", name(application))
        }
        _ => String::new(),
    }
}
