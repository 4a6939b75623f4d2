//! Notices to the RM about an event, with names instead of IDs. Scheduler interface §6 to §8.
//!
//! An event identifies rows by IDs, and applying the event removes some rows. [`notices`] therefore resolves the names
//! before the event is applied.

use headroom_core::books::{ApplicationState, Books, QuestionMode, QuestionSubject};
use headroom_core::id::{AllocationId, ApplicationId, NodeId, PartitionId};
use headroom_core::resource::Amounts;
use headroom_core::{
    AllocationEvent, ApplicationEvent, AskEvent, Command, Event, Name, NodeEvent, Termination,
    Timestamp,
};

/// A notice to the RM of a partition.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// Partition name.
    pub partition: Name,
    /// Content of the notice.
    pub news: NoticeKind,
}

/// Content of a notice.
#[derive(Clone, Debug, PartialEq)]
pub enum NoticeKind {
    /// An application was accepted.
    ApplicationAccepted {
        /// Application id.
        application: Name,
    },
    /// An application was rejected.
    ApplicationRejected {
        /// Application id.
        application: Name,
        /// Reason as a sentence.
        reason: Name,
    },
    /// An application entered a state.
    ApplicationMoved {
        /// Application id.
        application: Name,
        /// New state.
        state: ApplicationState,
        /// Previous state.
        before: ApplicationState,
    },
    /// An ended application was removed, because its retention time is over.
    ApplicationExpired {
        /// Application id.
        application: Name,
    },
    /// A node was accepted.
    NodeAccepted {
        /// Node id.
        node: Name,
    },
    /// An ask was placed, and the RM must start it. Alternatively, the RM reported an allocation that already runs.
    Allocated(Box<Allocated>),
    /// An allocation or ask was removed, or has to be stopped.
    Released(Released),
    /// More nodes would help an ask.
    ScaleUp {
        /// Application id.
        application: Name,
        /// Allocation key.
        key: Name,
    },
    /// A question to the RM.
    Asked(Box<RmQuestion>),
}

/// A new allocation.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one yes or no of the protocol")]
pub struct Allocated {
    /// Application id.
    pub application: Name,
    /// Allocation key.
    pub key: Name,
    /// Node id.
    pub node: Name,
    /// Size of the allocation.
    pub resources: Amounts,
    /// Task group. Empty for none.
    pub task_group: Name,
    /// Whether the allocation is a placeholder.
    pub placeholder: bool,
    /// Whether the allocation is the originator of its application.
    pub originator: bool,
    /// Whether preemption can stop other allocations for the ask.
    pub may_preempt: bool,
    /// Whether preemption can stop the allocation.
    pub preemptable: bool,
}

/// A release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Released {
    /// Application id.
    pub application: Name,
    /// Allocation key.
    pub key: Name,
    /// Reason of the release.
    pub termination: Termination,
    /// Ask key or queue path for which the allocation is released. Empty without such a cause.
    pub cause: Name,
    /// Whether the RM must stop the allocation, and then confirm. Otherwise, the allocation is already removed.
    pub to_confirm: bool,
}

/// A question and its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RmQuestion {
    /// Number of the question, which the answer repeats.
    pub question: u64,
    /// Allocation key of the ask.
    pub key: Name,
    /// Content of the question.
    pub about: About,
}

/// Content of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// Whether nodes suit the ask, in order of preference.
    Nodes(QuestionMode, Vec<Name>),
    /// Number of allocations that must be removed from nodes so that the ask can run there.
    Removals(Vec<NamedRemoval>),
}

/// Allocations on a node that can be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedRemoval {
    /// Node id.
    pub node: Name,
    /// Allocation keys, in the order of removal.
    pub victims: Vec<Name>,
    /// Smallest number of removals.
    pub least: usize,
}

/// Returns the notices to the RM about an event. `books` is the state before the event, `at` is the time of the event,
/// and `cause` is the command that caused the event.
///
/// The cost depends on the objects of the event.
pub fn notices(
    books: &Books,
    at: Timestamp,
    cause: Option<&Command>,
    event: &Event,
) -> impl Iterator<Item = Notice> {
    let of_task = is_of_task(books, cause, event);
    let teller = Teller { books, at };
    // A placeholder that is removed with its node was not stopped by the RM, as far as the RM reported.
    let gone = match (cause, event) {
        (
            Some(Command::RemoveNode { .. }),
            Event::Allocation(AllocationEvent::SwapConfirmed { placeholder }),
        ) => Some(teller.gone(*placeholder, Termination::NodeRemoved)),
        _ => None,
    };
    gone.into_iter().chain(teller.of(event)).filter(move |_| !of_task)
}

/// Returns whether an event is about a task of a tenant. The client that submitted the task runs it, so the RM does not
/// know its keys and gets no notice. The RM gets questions about nodes, as for other asks.
fn is_of_task(books: &Books, cause: Option<&Command>, event: &Event) -> bool {
    let application = match event {
        Event::Application(ApplicationEvent::Added { .. } | ApplicationEvent::Rejected { .. }) => {
            return match cause {
                Some(Command::SubmitTask(_)) => true,
                Some(Command::RejectApplication(rejected)) => rejected.of_task,
                _ => false,
            };
        }
        Event::Application(
            ApplicationEvent::Moved { application, .. } | ApplicationEvent::Removed { application },
        ) => *application,
        Event::Ask(
            AskEvent::Placed { ask: one, .. }
            | AskEvent::Removed { ask: one, .. }
            | AskEvent::ScaleUpAsked { ask: one },
        )
        | Event::Allocation(
            AllocationEvent::Released { allocation: one, .. }
            | AllocationEvent::ReleaseAsked { allocation: one, .. }
            | AllocationEvent::Preempted { victim: one, .. },
        ) => books.allocation(*one).application,
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
            | ApplicationEvent::Activated { .. }
            | ApplicationEvent::Allocating { .. }
            | ApplicationEvent::BackedOff { .. }
            | ApplicationEvent::PlaceholdersExpired { .. }
            | ApplicationEvent::TimerStopped { .. },
        )
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
            | AskEvent::PreemptionTried { .. },
        )
        | Event::Allocation(
            AllocationEvent::Resized { .. }
            | AllocationEvent::SwapStarted { .. }
            | AllocationEvent::SwapConfirmed { .. }
            | AllocationEvent::SwapDropped { .. }
            | AllocationEvent::PreemptionObserved { .. },
        )
        | Event::Foreign(_)
        | Event::Tenant(_) => return false,
    };
    books.application(application).task.is_some()
}

/// Sorts the notices of a record. If a node is removed, the releases of all its allocations precede the replacements of
/// its placeholders. Source: scheduler interface §7.3.
pub(crate) fn put_in_order(cause: Option<&Command>, notices: &mut [Notice]) {
    if matches!(cause, Some(Command::RemoveNode { .. })) {
        notices.sort_by_key(|one| !matches!(one.news, NoticeKind::Released(_)));
    }
}

/// Decides which events an RM receives, and what each contains.
struct Teller<'books> {
    books: &'books Books,
    at: Timestamp,
}

impl Teller<'_> {
    fn of(&self, event: &Event) -> Option<Notice> {
        match event {
            Event::Application(
                ApplicationEvent::Added { .. }
                | ApplicationEvent::Rejected { .. }
                | ApplicationEvent::Moved { .. }
                | ApplicationEvent::Removed { .. },
            ) => self.of_application(event),
            Event::Node(NodeEvent::Added { partition, node, .. }) => {
                Some(self.notice(*partition, NoticeKind::NodeAccepted { node: node.clone() }))
            }
            // The sender of a new node also gets its acceptance.
            Event::Node(NodeEvent::Reported { node }) => {
                let node = self.books.node(*node);
                Some(
                    self.notice(
                        node.partition,
                        NoticeKind::NodeAccepted { node: node.name.clone() },
                    ),
                )
            }
            Event::Ask(AskEvent::Placed { ask, node }) => Some(self.allocated(*ask, *node)),
            Event::Allocation(AllocationEvent::SwapConfirmed { placeholder }) => {
                let ask = self.books.allocation(*placeholder).partner()?;
                Some(self.allocated(ask, self.books.allocation(ask).node?))
            }
            Event::Allocation(AllocationEvent::Released { allocation, termination }) => {
                // The RM already knows what it was asked to stop.
                let by_itself = matches!(
                    termination,
                    Termination::StoppedByRm
                        | Termination::NodeRemoved
                        | Termination::PartitionRemoved
                );
                by_itself.then(|| self.gone(*allocation, *termination))
            }
            // The RM gets notices about removed asks only if they were given up.
            Event::Ask(AskEvent::Removed {
                ask,
                termination: termination @ (Termination::Timeout | Termination::LifetimeOver),
            }) => Some(self.to_go(*ask, *termination, Name::default())),
            Event::Allocation(AllocationEvent::SwapStarted { ask, placeholder, .. }) => {
                let cause = self.books.allocation(*ask).key.clone();
                Some(self.to_go(*placeholder, Termination::PlaceholderReplaced, cause))
            }
            Event::Allocation(AllocationEvent::ReleaseAsked { allocation, termination }) => {
                Some(self.to_go(*allocation, *termination, Name::default()))
            }
            Event::Allocation(AllocationEvent::Preempted { victim, cause }) => {
                Some(self.to_go(*victim, Termination::Preempted, self.cause(*cause)))
            }
            Event::Ask(AskEvent::ScaleUpAsked { ask }) => {
                let row = self.books.allocation(*ask);
                let application = self.books.application(row.application).name.clone();
                let news = NoticeKind::ScaleUp { application, key: row.key.clone() };
                Some(self.notice(self.partition_of(row.application), news))
            }
            Event::Ask(AskEvent::Asked { ask, subject }) => Some(self.asked(*ask, subject)),
            Event::Configured { .. }
            | Event::Partition(_)
            | Event::Queue(_)
            | Event::Node(
                NodeEvent::Resized { .. }
                | NodeEvent::Scheduling { .. }
                | NodeEvent::Removed { .. }
                | NodeEvent::VerdictsVoid { .. },
            )
            | Event::Application(
                ApplicationEvent::Linked { .. }
                | ApplicationEvent::GroupUnlinked { .. }
                | ApplicationEvent::Unlinked { .. }
                | ApplicationEvent::LifetimeSet { .. }
                | ApplicationEvent::LifetimeOver { .. }
                | ApplicationEvent::DeadlineSet { .. }
                | ApplicationEvent::Overtaken { .. }
                | ApplicationEvent::Activated { .. }
                | ApplicationEvent::Allocating { .. }
                | ApplicationEvent::BackedOff { .. }
                | ApplicationEvent::PlaceholdersExpired { .. }
                | ApplicationEvent::TimerStopped { .. },
            )
            | Event::Task(_)
            | Event::Ask(
                AskEvent::Added { .. }
                | AskEvent::Removed { .. }
                | AskEvent::Reserved { .. }
                | AskEvent::Unreserved { .. }
                | AskEvent::Held { .. }
                | AskEvent::HoldEnded { .. }
                | AskEvent::Answered { .. }
                | AskEvent::PreemptionTriggered { .. }
                | AskEvent::PreemptionTried { .. },
            )
            | Event::Allocation(
                AllocationEvent::Resized { .. }
                | AllocationEvent::SwapDropped { .. }
                | AllocationEvent::PreemptionObserved { .. },
            )
            | Event::Foreign(_)
            | Event::Tenant(_) => None,
        }
    }

    fn of_application(&self, event: &Event) -> Option<Notice> {
        match event {
            Event::Application(ApplicationEvent::Added { partition, application, .. }) => {
                let application = application.clone();
                Some(self.notice(*partition, NoticeKind::ApplicationAccepted { application }))
            }
            Event::Application(ApplicationEvent::Rejected {
                partition,
                application,
                message,
                ..
            }) => {
                let (application, reason) = (application.clone(), message.clone());
                Some(
                    self.notice(
                        *partition,
                        NoticeKind::ApplicationRejected { application, reason },
                    ),
                )
            }
            Event::Application(ApplicationEvent::Moved { application: id, state, .. }) => {
                let row = self.books.application(*id);
                let (application, before) = (row.name.clone(), row.state);
                let news = NoticeKind::ApplicationMoved { application, state: *state, before };
                Some(self.notice(row.partition, news))
            }
            Event::Application(ApplicationEvent::Removed { application: id }) => {
                let row = self.books.application(*id);
                let is_over = !row.state.is_active() && row.timer.is_some_and(|end| end <= self.at);
                let application = row.name.clone();
                is_over.then(|| {
                    self.notice(row.partition, NoticeKind::ApplicationExpired { application })
                })
            }
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
                | ApplicationEvent::Activated { .. }
                | ApplicationEvent::Allocating { .. }
                | ApplicationEvent::BackedOff { .. }
                | ApplicationEvent::PlaceholdersExpired { .. }
                | ApplicationEvent::TimerStopped { .. },
            )
            | Event::Task(_)
            | Event::Ask(_)
            | Event::Allocation(_)
            | Event::Foreign(_)
            | Event::Tenant(_) => None,
        }
    }

    fn notice(&self, partition: PartitionId, news: NoticeKind) -> Notice {
        Notice { partition: self.books.partition(partition).name.clone(), news }
    }

    fn partition_of(&self, application: ApplicationId) -> PartitionId {
        self.books.application(application).partition
    }

    fn allocated(&self, ask: AllocationId, node: NodeId) -> Notice {
        let row = self.books.allocation(ask);
        let allocated = Allocated {
            application: self.books.application(row.application).name.clone(),
            key: row.key.clone(),
            node: self.books.node(node).name.clone(),
            resources: self.books.plain_size_of(ask),
            task_group: row.task_group().cloned().unwrap_or_default(),
            placeholder: row.placeholder,
            originator: row.originator,
            may_preempt: row.may_preempt,
            preemptable: row.preemptable,
        };
        self.notice(self.partition_of(row.application), NoticeKind::Allocated(Box::new(allocated)))
    }

    fn gone(&self, allocation: AllocationId, termination: Termination) -> Notice {
        self.released(allocation, termination, Name::default(), false)
    }

    fn to_go(&self, allocation: AllocationId, termination: Termination, cause: Name) -> Notice {
        self.released(allocation, termination, cause, true)
    }

    fn released(
        &self,
        allocation: AllocationId,
        termination: Termination,
        cause: Name,
        to_confirm: bool,
    ) -> Notice {
        let row = self.books.allocation(allocation);
        let application = self.books.application(row.application).name.clone();
        let key = row.key.clone();
        let news =
            NoticeKind::Released(Released { application, key, termination, cause, to_confirm });
        self.notice(self.partition_of(row.application), news)
    }

    fn cause(&self, cause: headroom_core::PreemptionCause) -> Name {
        use headroom_core::PreemptionCause::{Guarantee, Priority, Quota, RequiredNode, Share};
        match cause {
            Guarantee(ask) | Share(ask) | Priority(ask) | RequiredNode(ask) => {
                self.books.allocation(ask).key.clone()
            }
            Quota(queue) => self.books.queue(queue).path.clone(),
        }
    }

    fn asked(&self, ask: AllocationId, subject: &QuestionSubject) -> Notice {
        let row = self.books.allocation(ask);
        let name = |node: &NodeId| self.books.node(*node).name.clone();
        let key_of = |id: &AllocationId| self.books.allocation(*id).key.clone();
        let about = match subject {
            QuestionSubject::Nodes(mode, nodes) => {
                About::Nodes(*mode, nodes.iter().map(name).collect())
            }
            QuestionSubject::Removals(removals) => {
                let named = removals.iter().map(|one| NamedRemoval {
                    node: name(&one.node),
                    victims: one.victims.iter().map(key_of).collect(),
                    least: one.least,
                });
                About::Removals(named.collect())
            }
        };
        // The event increments the number of questions, so this question has the next number.
        let question = self.books.questions_put() + 1;
        let asked = RmQuestion { question, key: row.key.clone(), about };
        self.notice(self.partition_of(row.application), NoticeKind::Asked(Box::new(asked)))
    }
}
