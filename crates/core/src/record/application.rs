//! Records of applications, asks, and allocations.

use crate::books::{ApplicationState, PreemptionTry, StopRequest};
use crate::event::{AllocationEvent, ApplicationEvent, AskEvent, PreemptionCause, Termination};
use crate::id::{AllocationId, ApplicationId, NodeId};
use crate::name::Name;
use crate::resource::{Amounts, Quantity};
use crate::time::Millis;

use super::builder::RecordBuilder;
use super::{Change, Detail, Kind, Record};

/// Time for which failed preemption attempts of an ask are not recorded again. Source: scheduling §17.2.
pub(super) const QUIET_FOR: Millis = Millis::from_secs(15);

/// Reason of a gang timeout, in the words of the protocol. Source: scheduling §3.3.
const GANG_TIMEOUT: &str = "ResourceReservationTimeout";

impl RecordBuilder<'_> {
    pub(super) fn hear_of_application(&mut self, event: &ApplicationEvent) {
        match event {
            ApplicationEvent::Added { application, queue, .. } => {
                self.application(application, Change::Add, Detail::AppNew, None);
                self.in_queue(queue, application, Change::Add);
            }
            ApplicationEvent::Rejected { application, message, .. } => {
                self.application(application, Change::Add, Detail::AppNew, None);
                self.application(application, Change::Set, Detail::AppReject, Some(message));
            }
            ApplicationEvent::Linked { application, group: Some(group) } => {
                self.linked(*application, group, Change::Set);
            }
            ApplicationEvent::GroupUnlinked { application } => {
                self.unlinked(*application, true);
            }
            ApplicationEvent::Unlinked { application } => {
                self.unlinked(*application, false);
            }
            ApplicationEvent::Moved { application, state, .. } => {
                self.moved(*application, *state);
            }
            ApplicationEvent::Removed { application } => {
                self.removed(*application);
            }
            // The state change that follows has its own record, if any.
            ApplicationEvent::Linked { group: None, .. }
            | ApplicationEvent::LifetimeSet { .. }
            | ApplicationEvent::LifetimeOver { .. }
            | ApplicationEvent::DeadlineSet { .. }
            | ApplicationEvent::Overtaken { .. }
            | ApplicationEvent::Activated { .. }
            | ApplicationEvent::Allocating { .. }
            | ApplicationEvent::BackedOff { .. }
            | ApplicationEvent::PlaceholdersExpired { .. }
            | ApplicationEvent::TimerStopped { .. } => {}
        }
    }

    fn application(&mut self, name: &Name, change: Change, detail: Detail, text: Option<&str>) {
        let record = self.record(Kind::Application, change, detail, name);
        self.tell(match text {
            Some(text) => record.saying(text),
            None => record,
        });
    }

    fn in_queue(&mut self, path: &Name, application: &Name, change: Change) {
        let record = self.record(Kind::Queue, change, Detail::QueueApp, path).with(application);
        self.tell(record);
    }

    fn moved(&mut self, application: ApplicationId, state: ApplicationState) {
        let row = self.books.application(application);
        let (detail, text) = match state {
            ApplicationState::New => (Detail::AppNew, None),
            ApplicationState::Accepted => (Detail::AppAccepted, None),
            ApplicationState::Running => (Detail::AppRunning, None),
            ApplicationState::Completing => (Detail::AppCompleting, None),
            ApplicationState::Completed => (Detail::AppCompleted, None),
            ApplicationState::Resuming => (Detail::AppResuming, Some(GANG_TIMEOUT)),
            ApplicationState::Failing => (Detail::AppFailing, Some(GANG_TIMEOUT)),
            ApplicationState::Failed => (Detail::AppFailed, None),
        };
        self.application(&row.name, Change::Set, detail, text);
        if row.state.is_active() && !state.is_active() {
            self.left_queue(application);
        }
    }

    fn removed(&mut self, application: ApplicationId) {
        let row = self.books.application(application);
        if row.state.is_active() {
            self.left_queue(application);
        } else if row.timer.is_some_and(|at| at <= self.at) {
            self.application(&row.name, Change::Set, Detail::AppExpired, None);
        }
    }

    fn left_queue(&mut self, application: ApplicationId) {
        let row = self.books.application(application);
        self.application(&row.name, Change::Remove, Detail::None, None);
        self.in_queue(&row.queue_path, &row.name, Change::Remove);
    }

    pub(super) fn hear_of_ask(&mut self, event: &AskEvent) {
        match event {
            AskEvent::Added { application, key, resources, .. } => {
                let partition = self.books.application(*application).partition;
                let size = self.plain(partition, resources);
                self.of_application(*application, key, Change::Add, Detail::AppRequest, size);
            }
            AskEvent::Removed { ask, termination } => {
                self.reservation_ended(*ask);
                let timed_out =
                    matches!(termination, Termination::Timeout | Termination::LifetimeOver);
                self.ask_gone(*ask, timed_out);
            }
            AskEvent::Placed { ask, node } => {
                let row = self.books.allocation(*ask);
                self.reservation_ended(*ask);
                self.carries_allocation(*node, *ask, Change::Add);
                self.charged(row.application, &self.counted(*ask));
                self.of_allocation(*ask, Change::Add, Detail::AppAlloc);
            }
            AskEvent::PreemptionTried { ask } => self.tried(*ask),
            AskEvent::Reserved { ask, node } => self.reservation(*ask, *node, Change::Add),
            AskEvent::Unreserved { ask } => self.reservation_ended(*ask),
            // An answer of the RM is recorded where the ask waits for it.
            AskEvent::Held { .. }
            | AskEvent::HoldEnded { .. }
            | AskEvent::Asked { .. }
            | AskEvent::Answered { .. }
            | AskEvent::PreemptionTriggered { .. }
            | AskEvent::ScaleUpAsked { .. } => {}
        }
    }

    pub(super) fn hear_of_allocation(&mut self, event: &AllocationEvent) {
        match event {
            AllocationEvent::Resized { allocation, resources } => {
                self.resized(*allocation, resources);
            }
            AllocationEvent::Released { allocation, termination } => {
                self.released(*allocation, *termination);
            }
            AllocationEvent::SwapStarted { ask, placeholder, node } => {
                self.reservation_ended(*ask);
                if self.books.allocation(*placeholder).node != Some(*node) {
                    self.carries_allocation(*node, *ask, Change::Add);
                }
            }
            AllocationEvent::SwapConfirmed { placeholder } => {
                self.swapped(*placeholder);
            }
            AllocationEvent::SwapDropped { ask } => {
                if let Some(node) = self.swaps_to(*ask) {
                    self.carries_allocation(node, *ask, Change::Remove);
                }
            }
            AllocationEvent::ReleaseAsked { allocation, .. } => {
                self.too_small(*allocation);
            }
            AllocationEvent::Preempted { victim, cause } => {
                self.preempted(*victim, *cause);
            }
            AllocationEvent::PreemptionObserved { .. } => {}
        }
    }

    fn of_application(
        &mut self,
        application: ApplicationId,
        key: &Name,
        change: Change,
        detail: Detail,
        size: Amounts,
    ) {
        let name = &self.books.application(application).name;
        let record = self.record(Kind::Application, change, detail, name).with(key);
        self.tell(record.of(size));
    }

    fn of_allocation(&mut self, one: AllocationId, change: Change, detail: Detail) {
        let row = self.books.allocation(one);
        let size = self.size_of(one);
        self.of_application(row.application, &row.key, change, detail, size);
    }

    fn ask_gone(&mut self, ask: AllocationId, timed_out: bool) {
        let detail = if timed_out { Detail::RequestTimeout } else { Detail::RequestCancel };
        self.of_allocation(ask, Change::Remove, detail);
    }

    fn released(&mut self, one: AllocationId, termination: Termination) {
        let row = self.books.allocation(one);
        self.refunded(row.application, &self.counted(one));
        // Unless the allocation was lost or timed out, its ask ends too. Source: scheduling §13.1.
        let (detail, ask_goes) = match termination {
            Termination::StoppedByRm | Termination::PartitionRemoved => (Detail::AllocCancel, true),
            Termination::NodeRemoved => (Detail::AllocNodeRemoved, false),
            Termination::Timeout | Termination::LifetimeOver => (Detail::AllocTimeout, false),
            Termination::Preempted => (Detail::AllocPreempt, true),
            Termination::PlaceholderReplaced => (Detail::AllocReplaced, true),
        };
        self.of_allocation(one, Change::Remove, detail);
        if let Some(node) = row.node {
            self.carries_allocation(node, one, Change::Remove);
        }
        if ask_goes {
            self.ask_gone(one, false);
        }
    }

    /// Records a placeholder replacement: one allocation ends and one begins. The node is recorded only if it differs.
    fn swapped(&mut self, placeholder: AllocationId) {
        let row = self.books.allocation(placeholder);
        let Some(member) = row.partner() else { return };
        let moves = self.swaps_to(member).is_some();
        self.refunded(row.application, &self.counted(placeholder));
        self.of_allocation(placeholder, Change::Remove, Detail::AllocReplaced);
        if let Some(node) = row.node.filter(|_| moves) {
            self.carries_allocation(node, placeholder, Change::Remove);
        }
        self.ask_gone(placeholder, false);
        self.charged(row.application, &self.counted(member));
        self.of_allocation(member, Change::Add, Detail::AppAlloc);
    }

    /// Returns the node of a replacing member, if it differs from that of its placeholder.
    fn swaps_to(&self, member: AllocationId) -> Option<NodeId> {
        let row = self.books.allocation(member);
        let from = self.books.allocation(row.partner()?).node;
        row.node.filter(|to| from != Some(*to))
    }

    fn resized(&mut self, one: AllocationId, resources: &Amounts) {
        let row = self.books.allocation(one);
        if !row.is_allocated() {
            return;
        }
        // By name, because the event itself can register a new type.
        let before = self.counted(one);
        self.refunded(row.application, &grown(resources, &before));
        self.charged(row.application, &grown(&before, resources));
    }

    /// Creates a record of an ask or allocation itself.
    fn request(&self, one: AllocationId, text: &str) -> Record {
        let row = self.books.allocation(one);
        let name = &self.books.application(row.application).name;
        let size = self.size_of(one);
        let record = self.record(Kind::Request, Change::None, Detail::None, &row.key);
        record.with(name).of(size).saying(text)
    }

    /// Records that the RM is asked to stop a placeholder that is too small for a member.
    ///
    /// The other possible cause is a timeout. Only for a small placeholder, the timeout is still ahead and an ask
    /// waits.
    fn too_small(&mut self, placeholder: AllocationId) {
        let row = self.books.allocation(placeholder);
        let application = self.books.application(row.application);
        let timed = application.gang.as_ref().is_some_and(|gang| gang.deadline.is_some());
        if row.placeholder && timed && application.ask_count > 0 {
            let text = "the placeholder is smaller than a member of its task group";
            let record = self.request(placeholder, text);
            self.tell(record);
        }
    }

    fn preempted(&mut self, victim: AllocationId, cause: PreemptionCause) {
        if self.books.allocation(victim).mark == StopRequest::Preempted {
            return;
        }
        let text = match cause {
            PreemptionCause::Guarantee(ask)
            | PreemptionCause::Share(ask)
            | PreemptionCause::Priority(ask)
            | PreemptionCause::RequiredNode(ask) => {
                let row = self.books.allocation(ask);
                let whose = &self.books.application(row.application).name;
                alloc::format!("preempted by ask {} of application {whose}", row.key)
            }
            PreemptionCause::Quota(queue) => {
                let path = &self.books.queue(queue).path;
                alloc::format!("preempted by the changed quota of queue {path}")
            }
        };
        let record = self.request(victim, &text);
        self.tell(record);
    }

    /// Records a failed preemption attempt, only for asks with a required node.
    fn tried(&mut self, ask: AllocationId) {
        let row = self.books.allocation(ask);
        let Some(node) = row.required_node() else { return };
        let recent = |tried: PreemptionTry| self.at.since(tried.at) < QUIET_FOR;
        if row.preemption_tried().is_some_and(recent) {
            return;
        }
        let text = alloc::format!("no allocation on node {node} can be preempted for the ask");
        let record = self.request(ask, &text);
        self.tell(record);
    }
}

/// Returns the increase from `before` to `after`, in the types that increase.
fn grown(before: &Amounts, after: &Amounts) -> Amounts {
    let more = after
        .iter()
        .map(|(name, amount)| (name.clone(), amount.minus(before.get(name).unwrap_or_default())));
    more.filter(|(_, amount)| *amount > Quantity::ZERO).collect()
}
