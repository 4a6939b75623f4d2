//! What reservations, gangs, preemption and foreign use look like in a story.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::books::{Books, NodeVerdict, QuestionMode, QuestionSubject};
use crate::event::{Event, PreemptionCause, TaskStep};
use crate::id::{AllocationId, ApplicationId, NodeId};

/// A few words for an event of the cycle that is about to change these books.
pub(super) fn cycle_effect(books: &Books, event: &Event) -> Option<String> {
    let key = |id: &AllocationId| &books.allocation(*id).key;
    let node = |id: &NodeId| &books.node(*id).name;
    Some(match event {
        Event::Reserved { ask, node: kept } => format!("{} keeps {}", node(kept), key(ask)),
        Event::Unreserved { ask } => format!("no node is kept for {}", key(ask)),
        Event::SwapStarted { ask, placeholder, node: to } => {
            format!("{} takes the place of {} on {}", key(ask), key(placeholder), node(to))
        }
        Event::SwapConfirmed { placeholder } => format!("{} replaced", key(placeholder)),
        Event::SwapDropped { ask } => format!("{} waits again", key(ask)),
        Event::ReleaseAsked { allocation, termination } => {
            format!("{} to be released: {termination:?}", key(allocation))
        }
        Event::Preempted { victim, cause } => match cause {
            PreemptionCause::Guarantee(ask)
            | PreemptionCause::Share(ask)
            | PreemptionCause::RequiredNode(ask) => {
                format!("{} to be stopped for {}", key(victim), key(ask))
            }
            PreemptionCause::Quota(queue) => {
                let path = &books.queue(*queue).path;
                format!("{} to be stopped for the quota of {path}", key(victim))
            }
        },
        Event::PreemptionObserved { victim, .. } => format!("{} would be stopped", key(victim)),
        Event::PreemptionTried { ask } => format!("nothing to stop for {}", key(ask)),
        Event::QuotaClockStopped { queue } => {
            format!("quota clock of {} stopped", books.queue(*queue).path)
        }
        Event::BackedOff { application, until } => {
            let name = &books.application(*application).name;
            format!("{name} backs off until {} ms", until.as_millis())
        }
        Event::PlaceholdersExpired { application } => {
            format!("placeholders of {} expired", books.application(*application).name)
        }
        Event::LifetimeSet { application, since, asked } => {
            let name = &books.application(*application).name;
            let asked = asked.map_or_else(String::new, |asked| format!(", asks for {asked}"));
            format!("{name} lives since {} ms{asked}", since.as_millis())
        }
        Event::LifetimeOver { application } => {
            format!("lifetime of {} over", books.application(*application).name)
        }
        Event::DeadlineSet { application, deadline, estimate } => {
            let name = &books.application(*application).name;
            let by = deadline
                .map_or_else(|| "whenever".into(), |at| format!("by {} ms", at.as_millis()));
            format!("{name} to be done {by}, takes {estimate}")
        }
        Event::Overtaken { application } => {
            format!("{} overtaken", books.application(*application).name)
        }
        Event::TimerStopped { application } => {
            format!("timer of {} stopped", books.application(*application).name)
        }
        Event::ScaleUpAsked { ask } => format!("more nodes would help {}", key(ask)),
        Event::ForeignSet { key, node: on, .. } => format!("{key} occupies {}", node(on)),
        Event::ForeignRemoved { key, .. } => format!("{key} gone"),
        _ => return question_effect(books, event),
    })
}

/// The same for what the RM is asked, and says.
fn question_effect(books: &Books, event: &Event) -> Option<String> {
    let key = |id: &AllocationId| &books.allocation(*id).key;
    let node = |id: &NodeId| &books.node(*id).name;
    Some(match event {
        Event::Asked { ask, subject: QuestionSubject::Nodes(mode, nodes) } => {
            let names: Vec<&str> = nodes.iter().map(|id| node(id).as_str()).collect();
            let once = match mode {
                QuestionMode::Allocate => "",
                QuestionMode::Reserve => " once there is room",
            };
            format!("RM asked whether {} may run on {}{once}", key(ask), names.join(" "))
        }
        Event::Asked { ask, subject: QuestionSubject::Removals(removals) } => {
            let removals = removals.iter().map(|one| {
                let victims: Vec<&str> = one.victims.iter().map(|id| key(id).as_str()).collect();
                format!("{} without {} of {}", node(&one.node), one.least, victims.join(" "))
            });
            let nodes: Vec<String> = removals.collect();
            format!("RM asked whether {} may run on {}", key(ask), nodes.join(", "))
        }
        Event::Answered { ask, verdicts } => {
            let said = verdicts.iter().map(|(id, verdict)| match verdict {
                NodeVerdict::Suits => format!("{}=ok", node(id)),
                NodeVerdict::SuitsWithout(count) => format!("{}={count}", node(id)),
                NodeVerdict::Refused(reason) => format!("{}={reason}", node(id)),
            });
            format!("RM says of {}: {}", key(ask), said.collect::<Vec<_>>().join(" "))
        }
        Event::TaskAdded { .. } | Event::TaskThrottled { .. } | Event::TaskMoved { .. } => {
            task_effect(books, event)
        }
        _ => return None,
    })
}

fn task_effect(books: &Books, event: &Event) -> String {
    let name = |id: &ApplicationId| &books.application(*id).name;
    match event {
        Event::TaskAdded { application, settings } => {
            format!("task {} of {}", name(application), settings.tenant)
        }
        Event::TaskThrottled { application, reason } => {
            let types: Vec<String> = reason
                .types
                .iter()
                .map(|one| format!(" {} {}+{} of {}", one.resource, one.used, one.asked, one.limit))
                .collect();
            let (code, scope) = (&reason.code, &reason.scope);
            format!("{} throttled {code} {scope}{}", name(application), types.concat())
        }
        Event::TaskMoved { application, step: TaskStep::Ended { outcome, .. } } => {
            format!("{} {outcome:?}", name(application))
        }
        Event::TaskMoved { application, step: TaskStep::Restarted { .. } } => {
            format!("{} Restarted", name(application))
        }
        Event::TaskMoved { application, step: TaskStep::Requeued { .. } } => {
            format!("{} Requeued", name(application))
        }
        Event::TaskMoved { application, step } => format!("{} {step:?}", name(application)),
        _ => String::new(),
    }
}
