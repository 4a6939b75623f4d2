//! Records of gangs and preemption, from facts written down by hand: how they come about is told
//! elsewhere.

use headroom_core::books::{ApplicationState, Books};
use headroom_core::id::{AllocationId, ApplicationId, NodeId, QueueId};
use headroom_core::record::{Record, Telling, records};
use headroom_core::testkit::{World, amounts, leaf, parent, partition};
use headroom_core::{
    AddNode, AskTraits, Command, Event, Millis, Name, PreemptionCause, Submit, Termination,
    Timestamp,
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
        let ask = |key: &str, size, placeholder| Event::AskAdded {
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
        };
        let moved = |state| Event::ApplicationMoved { application, state, timer: None };
        books.apply(now, &ask("p1", 10, true));
        let placeholder = books.partitions().values().next().unwrap().allocations.get("p1");
        let placeholder = *placeholder.unwrap();
        books.apply(now, &moved(ApplicationState::Accepted));
        books.apply(now, &Event::ApplicationLinked { application, group: None });
        books.apply(now, &Event::Placed { ask: placeholder, node: nodes[0] });
        books.apply(now, &moved(ApplicationState::Running));
        books.apply(now, &ask("m1", member_size, false));
        let member = books.partitions().values().next().unwrap().allocations.get("m1");
        let (member, nodes) = (*member.unwrap(), [nodes[0], nodes[1]]);
        Self { books, now, application, placeholder, member, nodes, queue }
    }

    /// The records of some events, in words, in the order in which they are told.
    fn tell(&mut self, events: &[Event]) -> Vec<String> {
        let (mut telling, mut told) = (Telling::default(), Vec::new());
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
        Event::SwapStarted { ask, placeholder, node: self.nodes[node] }
    }

    fn moved(&self, state: ApplicationState) -> Event {
        Event::ApplicationMoved { application: self.application, state, timer: None }
    }
}

fn words(record: &Record) -> String {
    let reference = record.reference.as_deref().unwrap_or("-");
    format!("{} {} {} {reference}", record.change.word(), record.detail.word(), record.object)
}

#[test]
fn scheduling_w19_the_states_of_a_swap_are_told_around_what_goes_and_what_comes() {
    let mut gang = Gang::new(10);
    assert_eq!(gang.tell(&[gang.start(0)]), [""; 0]);
    let events = [
        Event::SwapConfirmed { placeholder: gang.placeholder },
        gang.moved(ApplicationState::Completing),
        gang.moved(ApplicationState::Running),
    ];
    let told = gang.tell(&events);
    assert_eq!(
        told,
        [
            "REMOVE UG_USER_RESOURCE ann root.a",
            "SET APP_COMPLETING app1 -",
            "REMOVE ALLOC_REPLACED app1 p1",
            "REMOVE REQUEST_CANCEL app1 p1",
            "ADD UG_USER_RESOURCE ann root.a",
            "SET APP_RUNNING app1 -",
            "ADD APP_ALLOC app1 m1",
        ]
    );
}
