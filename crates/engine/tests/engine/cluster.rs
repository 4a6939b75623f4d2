//! A small cluster behind an engine that goes by hand.

use std::sync::Arc;

use headroom_core::config::{Configuration, QueueConfig};
use headroom_core::testkit::{amounts, leaf, partition};
use headroom_core::{AddNode, Ask, Command, Millis, Name, Submit, Termination, Timestamp};
use headroom_engine::{
    Accepted, Engine, HandClock, Handle, NoticeKind, Pace, Settings, Submission,
};
use headroom_journal::{MemoryJournal, Origin};

/// When every test begins.
pub(crate) const START: Timestamp = Timestamp::from_millis(1_000_000);

pub(crate) struct Cluster {
    pub(crate) engine: Engine,
    pub(crate) handle: Handle,
    pub(crate) clock: HandClock,
}

impl Cluster {
    /// An engine on this journal, which goes by hand.
    pub(crate) fn on(journal: &MemoryJournal) -> Self {
        Self::with(journal, |settings| settings.pace = Pace::ByHand)
    }

    pub(crate) fn with(journal: &MemoryJournal, change: impl FnOnce(&mut Settings)) -> Self {
        let clock = HandClock::at(START);
        let mut settings = Settings::with(clock.clone());
        change(&mut settings);
        let engine = Engine::start(Box::new(journal.open()), settings).unwrap();
        let handle = engine.handle();
        Self { engine, handle, clock }
    }

    /// One queue, one node of 8 vcores, one application.
    pub(crate) async fn furnished(journal: &MemoryJournal) -> Self {
        let cluster = Self::on(journal);
        cluster.furnish().await;
        cluster
    }

    pub(crate) async fn furnish(&self) {
        for command in furniture() {
            self.accept(command).await;
        }
    }

    pub(crate) async fn accept(&self, submission: impl Into<Submission>) -> Accepted {
        self.handle.submit(submission).await.unwrap().unwrap()
    }

    /// Let some time pass, and take all steps.
    pub(crate) async fn turn(&self, by: Millis) -> u32 {
        self.clock.advance(by);
        self.handle.step(u32::MAX).await.unwrap()
    }

    /// Allocation keys in the order in which they were placed.
    pub(crate) fn placed(&self) -> Vec<String> {
        let entries = self.handle.feed().read(1, usize::MAX).unwrap();
        let news = entries.iter().flat_map(|entry| &entry.notices).map(|notice| &notice.news);
        let keys = news.filter_map(|news| match news {
            NoticeKind::Allocated(one) => Some(one.key.to_string()),
            _ => None,
        });
        keys.collect()
    }
}

/// One queue, one node of 8 vcores, one application.
pub(crate) fn furniture() -> Vec<Command> {
    vec![
        Command::Configure(Box::new(configuration())),
        Command::AddNode(AddNode {
            partition: default(),
            node: Name::new("n1"),
            capacity: amounts([("vcore", 8_000)]),
            schedulable: true,
            ..AddNode::default()
        }),
        Command::Submit(Submit {
            partition: default(),
            application: Name::new("app"),
            queue: Name::new("root.a"),
            user: Name::new("ann"),
            ..Submit::default()
        }),
    ]
}

pub(crate) fn default() -> Name {
    Name::new("default")
}

fn configuration() -> Configuration {
    let queue = QueueConfig { max: amounts([("vcore", 6_000)]), ..leaf("a") };
    partition(QueueConfig { name: Name::new("root"), children: vec![queue], ..leaf("root") })
}

pub(crate) fn ask(key: &str, vcores: i64) -> Command {
    Command::Ask(Ask {
        partition: default(),
        application: Name::new("app"),
        key: Name::new(key),
        resources: amounts([("vcore", vcores * 1_000)]),
        ..Ask::default()
    })
}

pub(crate) fn release(key: &str) -> Command {
    Command::Release {
        partition: default(),
        application: Name::new("app"),
        key: Some(Name::new(key)),
        termination: Termination::StoppedByRm,
    }
}

/// A command of a sender who gives it an id.
pub(crate) fn from(identity: &str, id: &str, command: Command) -> Submission {
    let origin = Origin { identity: identity.into(), command_id: id.into(), ..Origin::default() };
    Submission { origin: Some(Arc::new(origin)), command }
}
