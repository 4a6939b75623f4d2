//! Records of gangs and preemption, from facts written by hand. Other tests show how these facts are decided.

use headroom_core::books::{ApplicationState, Books, QueueSettings};
use headroom_core::config::PropertyValues;
use headroom_core::id::{AllocationId, ApplicationId, NodeId, QueueId};
use headroom_core::record::{Record, RecordSequencer, records};
use headroom_core::testkit::{World, amounts, leaf, parent, partition};
use headroom_core::{
    AddNode, AllocationEvent, ApplicationEvent, AskEvent, AskTraits, Command, Event, Millis, Name,
    PreemptionCause, QueueEvent, Submit, Termination, Timestamp,
};

/// An application `app1` with a placeholder `p1` of 10 on `n1`, and a member `m1` that waits.
struct Gang {
    books: Books,
    now: Timestamp,
    application: ApplicationId,
    placeholder: AllocationId,
    member: AllocationId,
    nodes: [NodeId; 2],
    queue: QueueId,
}

impl Gang {
    fn new(member_size: i64) -> Self {
        let mut world = World::default();
        let here = || Name::new("default");
        let node = |node: &str| {
            Command::AddNode(AddNode {
                partition: here(),
                node: node.into(),
                capacity: amounts([("memory", 100)]),
                schedulable: true,
                ..AddNode::default()
            })
        };
        for command in [
            Command::Configure(Box::new(partition(parent("root", vec![leaf("a")])))),
            node("n1"),
            node("n2"),
            Command::Submit(Submit {
                partition: here(),
                application: "app1".into(),
                queue: "root.a".into(),
                user: "ann".into(),
                placeholder_ask: amounts([("memory", 10)]),
                ..Submit::default()
            }),
        ] {
            world.command(&command).unwrap();
        }
        let mut books = world.books;
        let (application, row) = books.applications().iter().next().unwrap();
        let queue = row.queue;
        let nodes: Vec<NodeId> = books.nodes().iter().map(|(id, _)| id).collect();
        let now = Timestamp::from_millis(1_000);
        let ask = |key: &str, size, placeholder| {
            Event::Ask(AskEvent::Added {
                application,
                key: key.into(),
                resources: amounts([("memory", size)]),
                priority: 0,
                created: now,
                traits: AskTraits {
                    placeholder,
                    task_group: Some("g".into()),
                    required_node: (!placeholder).then(|| "n1".into()),
                    ..AskTraits::default()
                },
            })
        };
        let moved =
            |state| Event::Application(ApplicationEvent::Moved { application, state, timer: None });
        books.apply(now, &ask("p1", 10, true));
        let placeholder = books.partitions().values().next().unwrap().allocations.get("p1");
        let placeholder = *placeholder.unwrap();
        books.apply(now, &moved(ApplicationState::Accepted));
        books
            .apply(now, &Event::Application(ApplicationEvent::Linked { application, group: None }));
        books.apply(now, &Event::Ask(AskEvent::Placed { ask: placeholder, node: nodes[0] }));
        books.apply(now, &moved(ApplicationState::Running));
        books.apply(now, &ask("m1", member_size, false));
        let member = books.partitions().values().next().unwrap().allocations.get("m1");
        let (member, nodes) = (*member.unwrap(), [nodes[0], nodes[1]]);
        Self { books, now, application, placeholder, member, nodes, queue }
    }

    /// Returns the records of some events in words, in the order in which they are reported.
    fn tell(&mut self, events: &[Event]) -> Vec<String> {
        let (mut telling, mut told) = (RecordSequencer::default(), Vec::new());
        for event in events {
            telling.hear(&self.books, self.now, event, &mut |record| told.push(words(&record)));
            self.books.apply(self.now, event);
            self.books.check().unwrap();
        }
        telling.finish(&mut |record| told.push(words(&record)));
        told
    }

    fn start(&self, node: usize) -> Event {
        let (ask, placeholder) = (self.member, self.placeholder);
        Event::Allocation(AllocationEvent::SwapStarted { ask, placeholder, node: self.nodes[node] })
    }

    /// Set a maximum below the use, which starts the clock: a minute.
    fn lower_maximum(&mut self) {
        let max = if self.books.queue(self.queue).max.is_some() { 4 } else { 5 };
        let settings = QueueSettings {
            max: Some(amounts([("memory", max)])),
            values: PropertyValues {
                quota_preemption_delay: Millis::from_secs(60),
                ..PropertyValues::default()
            },
            ..QueueSettings::default()
        };
        let partition = *self.books.partitions().first_key_value().unwrap().0;
        let (queue, leaf, managed) = ("root.a".into(), true, true);
        self.tell(&[Event::Queue(QueueEvent::Changed {
            partition,
            queue,
            leaf,
            managed,
            settings: Box::new(settings),
        })]);
    }
}

fn text(record: &Record) -> String {
    let reference = record.reference.as_deref().unwrap_or("-");
    let message = record.message.as_deref().unwrap_or("-");
    format!("{} {} {reference}: {message}", record.kind.word(), record.object)
}

fn words(record: &Record) -> String {
    let reference = record.reference.as_deref().unwrap_or("-");
    format!("{} {} {} {reference}", record.change.word(), record.detail.word(), record.object)
}

#[test]
fn a_member_on_another_node_is_on_both_until_the_swap_is_over() {
    let mut gang = Gang::new(6);
    assert_eq!(gang.tell(&[gang.start(1)]), ["ADD NODE_ALLOC n2 m1"]);
    assert_eq!(
        gang.tell(&[Event::Allocation(AllocationEvent::SwapDropped { ask: gang.member })]),
        ["REMOVE NODE_ALLOC n2 m1"]
    );
    gang.tell(&[gang.start(1)]);
    assert_eq!(
        gang.tell(&[Event::Allocation(AllocationEvent::SwapConfirmed {
            placeholder: gang.placeholder
        })]),
        [
            "REMOVE UG_USER_RESOURCE ann root.a",
            "REMOVE ALLOC_REPLACED app1 p1",
            "REMOVE NODE_ALLOC n1 p1",
            "REMOVE REQUEST_CANCEL app1 p1",
            "ADD UG_USER_RESOURCE ann root.a",
            "ADD APP_ALLOC app1 m1",
        ]
    );
}

#[test]
fn a_reservation_is_told_as_long_as_it_lasts() {
    let mut gang = Gang::new(10);
    let (ask, node) = (gang.member, gang.nodes[0]);
    let told = gang.tell(&[
        Event::Ask(AskEvent::Reserved { ask, node }),
        Event::Ask(AskEvent::Unreserved { ask }),
    ]);
    assert_eq!(told, ["ADD NODE_RESERVATION n1 m1", "REMOVE NODE_RESERVATION n1 m1"]);
    gang.tell(&[Event::Ask(AskEvent::Reserved { ask, node })]);
    let told = gang.tell(&[Event::Ask(AskEvent::Placed { ask, node })]);
    assert_eq!(told[..2], ["REMOVE NODE_RESERVATION n1 m1", "ADD NODE_ALLOC n1 m1"]);
    let mut gang = Gang::new(10);
    gang.tell(&[Event::Ask(AskEvent::Reserved { ask, node })]);
    let told =
        gang.tell(&[Event::Ask(AskEvent::Removed { ask, termination: Termination::Timeout })]);
    assert_eq!(told, ["REMOVE NODE_RESERVATION n1 m1", "REMOVE REQUEST_TIMEOUT app1 m1"]);
}

#[test]
fn who_is_stopped_for_whom_is_told_of_the_victim() {
    let mut gang = Gang::new(10);
    let (victim, member, queue) = (gang.placeholder, gang.member, gang.queue);
    let cause = PreemptionCause::Guarantee(member);
    let mut messages = Vec::new();
    for cause in [cause, PreemptionCause::RequiredNode(member), PreemptionCause::Quota(queue)] {
        let event = Event::Allocation(AllocationEvent::Preempted { victim, cause });
        records(&gang.books, gang.now, &event, &mut |record| messages.push(text(&record)));
    }
    assert_eq!(
        messages,
        [
            "REQUEST p1 app1: preempted by ask m1 of application app1",
            "REQUEST p1 app1: preempted by ask m1 of application app1",
            "REQUEST p1 app1: preempted by the changed quota of queue root.a",
        ]
    );
    gang.tell(&[Event::Allocation(AllocationEvent::Preempted { victim, cause })]);
    let told = gang.tell(&[Event::Allocation(AllocationEvent::Released {
        allocation: victim,
        termination: Termination::Preempted,
    })]);
    assert_eq!(
        told[1..],
        [
            "REMOVE ALLOC_PREEMPT app1 p1",
            "REMOVE NODE_ALLOC n1 p1",
            "REMOVE REQUEST_CANCEL app1 p1",
        ]
    );
}

#[test]
fn an_ask_for_which_nothing_can_be_stopped_is_told_of_every_fifteen_seconds() {
    let mut gang = Gang::new(10);
    let tried = Event::Ask(AskEvent::PreemptionTried { ask: gang.member });
    for (seconds, expected) in [(0, 1), (14, 0), (29, 1)] {
        gang.now = Timestamp::from_millis(1_000 + seconds * 1_000);
        let told = gang.tell(core::slice::from_ref(&tried));
        assert_eq!(told.len(), expected, "after {seconds} s: {told:?}");
    }
}

#[test]
fn a_placeholder_that_is_too_small_is_told_of_and_one_whose_time_is_over_is_not() {
    let mut gang = Gang::new(20);
    let asked = Event::Allocation(AllocationEvent::ReleaseAsked {
        allocation: gang.placeholder,
        termination: Termination::Timeout,
    });
    let mut messages = Vec::new();
    records(&gang.books, gang.now, &asked, &mut |record| messages.push(text(&record)));
    let expected = "REQUEST p1 app1: the placeholder is smaller than a member of its task group";
    assert_eq!(messages, [expected]);
    let expired =
        Event::Application(ApplicationEvent::PlaceholdersExpired { application: gang.application });
    assert_eq!(gang.tell(&[expired, asked]), [""; 0]);
}

#[test]
fn quota_preemption_is_told_of_the_queue_when_its_time_had_come() {
    let mut gang = Gang::new(10);
    let (victim, queue) = (gang.placeholder, gang.queue);
    let stopped = Event::Queue(QueueEvent::QuotaClockStopped { queue });
    assert_eq!(gang.tell(core::slice::from_ref(&stopped)), [""; 0]);
    gang.lower_maximum();
    gang.tell(&[Event::Allocation(AllocationEvent::Preempted {
        victim,
        cause: PreemptionCause::Quota(queue),
    })]);
    assert_eq!(gang.tell(core::slice::from_ref(&stopped)), [""; 0], "its time has not come");
    gang.lower_maximum();
    gang.now = Timestamp::from_millis(90_000);
    assert_eq!(gang.tell(&[stopped]), ["SET QUEUE_PREEMPTION root.a -"]);
}
