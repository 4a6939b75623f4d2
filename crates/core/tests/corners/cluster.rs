//! A cluster for tests that look at more than a story tells. Every invariant is checked after
//! every command.

use headroom_core::books::QueueState;
use headroom_core::config::{Configuration, QueueConfig, RuleConfig};
use headroom_core::id::PartitionId;
use headroom_core::resource::Amounts;
use headroom_core::testkit::{World, amounts, partition};
use headroom_core::view::{ApplicationView, NodeView, QueueView};
use headroom_core::{
    AddNode, ApplicationEvent, Ask, Command, Event, Millis, Name, QueueEvent, SetForeign, Submit,
    Termination,
};

/// One partition.
#[derive(Default)]
pub(crate) struct Cluster {
    pub(crate) world: World,
}

pub(crate) fn here() -> Name {
    Name::new("default")
}

/// An ask of an application, or with `node` something that runs there already.
pub(crate) fn ask(key: &str, application: &str, resources: Amounts) -> Ask {
    Ask {
        partition: here(),
        key: key.into(),
        application: application.into(),
        resources,
        ..Ask::default()
    }
}

pub(crate) fn submit(application: &str, queue: &str) -> Submit {
    Submit {
        partition: here(),
        application: application.into(),
        queue: queue.into(),
        user: "ann".into(),
        ..Submit::default()
    }
}

impl Cluster {
    /// With these queues, where rules may make more.
    pub(crate) fn with(root: QueueConfig) -> Self {
        let mut cluster = Self::default();
        cluster.configure(Self::file(root));
        cluster
    }

    pub(crate) fn file(root: QueueConfig) -> Configuration {
        let mut file = partition(root);
        let rule = RuleConfig { name: "provided".into(), create: true, ..RuleConfig::default() };
        file.partitions[0].placement_rules = vec![rule];
        file
    }

    pub(crate) fn configure(&mut self, file: Configuration) {
        self.command(&Command::Configure(Box::new(file)));
    }

    /// What the command led to, without what the scheduler did after it.
    pub(crate) fn command(&mut self, command: &Command) -> Vec<Event> {
        let events = self.world.command(command).unwrap();
        self.settle();
        events
    }

    pub(crate) fn apply(&mut self, event: &Event) {
        self.world.apply(event);
        self.settle();
    }

    fn settle(&mut self) {
        self.world.books.check().unwrap();
        self.world.settle();
        self.world.books.check().unwrap();
    }

    pub(crate) fn add_node(&mut self, name: &str, capacity: Amounts) {
        let (partition, node) = (here(), Name::new(name));
        let add = AddNode { partition, node, capacity, schedulable: true, ..AddNode::default() };
        self.command(&Command::AddNode(add));
    }

    pub(crate) fn submit(&mut self, application: &str, queue: &str) {
        let events = self.command(&Command::Submit(submit(application, queue)));
        assert!(
            matches!(events.last(), Some(Event::Application(ApplicationEvent::Added { .. }))),
            "{events:?}"
        );
    }

    pub(crate) fn ask(&mut self, key: &str, application: &str, resources: Amounts) -> Vec<Event> {
        self.command(&Command::Ask(ask(key, application, resources)))
    }

    pub(crate) fn ask_with_priority(&mut self, key: &str, application: &str, priority: i32) {
        let resources = amounts([("vcore", 1)]);
        self.command(&Command::Ask(Ask { priority, ..ask(key, application, resources) }));
    }

    /// Something runs on a node already.
    pub(crate) fn report(&mut self, key: &str, application: &str, node: &str, resources: Amounts) {
        let node = Some(Name::new(node));
        self.command(&Command::Ask(Ask { node, ..ask(key, application, resources) }));
    }

    pub(crate) fn foreign(&mut self, key: &str, node: &str, vcore: i64) {
        self.command(&Command::SetForeign(SetForeign {
            partition: here(),
            key: key.into(),
            node: node.into(),
            resources: amounts([("vcore", vcore)]),
            preemptable: false,
        }));
    }

    pub(crate) fn foreign_gone(&mut self, key: &str) {
        self.command(&Command::ReleaseForeign { partition: here(), key: key.into() });
    }

    pub(crate) fn release(&mut self, key: &str, application: &str) {
        self.release_as(key, application, Termination::StoppedByRm);
    }

    pub(crate) fn release_as(&mut self, key: &str, application: &str, termination: Termination) {
        self.command(&Command::Release {
            partition: here(),
            application: application.into(),
            key: Some(key.into()),
            termination,
        });
    }

    pub(crate) fn wait(&mut self, seconds: u64) {
        self.world.now = self.world.now + Millis::from_secs(seconds);
        self.command(&Command::Tick);
    }

    /// Stop or drain a queue, or take it into use.
    pub(crate) fn move_queue(&mut self, path: &str, state: QueueState) {
        let partition = self.partition();
        self.apply(&Event::Queue(QueueEvent::Moved { partition, queue: path.into(), state }));
    }

    pub(crate) fn partition(&self) -> PartitionId {
        self.world.books.partition_named("default").unwrap()
    }

    pub(crate) fn queue(&self, path: &str) -> QueueView {
        let books = &self.world.books;
        QueueView::alone(books, books.queue_at(self.partition(), path).unwrap())
    }

    pub(crate) fn application(&self, name: &str) -> ApplicationView {
        let books = &self.world.books;
        let partition = books.partition(self.partition());
        ApplicationView::of(books, *partition.applications.get(name).unwrap())
    }

    pub(crate) fn node(&self, name: &str) -> NodeView {
        let books = &self.world.books;
        NodeView::of(books, *books.partition(self.partition()).nodes.get(name).unwrap())
    }
}
