//! Books and a scheduler without a server, for what an RM causes.

use headroom_core::resource::Amounts;
use headroom_core::testkit::World;
use headroom_core::{
    AddNode, ApplicationEvent, Ask, Command, Event, Millis, Name, RefusalCode, Rejection, Submit,
    decide,
};

use crate::example::Example;

/// A cluster with a queue file and what was done to it.
pub(crate) struct Cluster(pub(crate) World);

pub(crate) fn default() -> Name {
    Name::new("default")
}

pub(crate) fn amounts<const COUNT: usize>(entries: [(&str, i64); COUNT]) -> Amounts {
    Amounts::from(entries)
}

pub(crate) fn node(name: &str, vcores: i64) -> AddNode {
    AddNode {
        partition: default(),
        node: Name::new(name),
        capacity: amounts([("vcore", vcores * 1_000)]),
        schedulable: true,
        ..AddNode::default()
    }
}

pub(crate) fn submit(application: &str, queue: &str) -> Submit {
    Submit {
        partition: default(),
        application: Name::new(application),
        queue: Name::new(queue),
        user: Name::new("ann"),
        ..Submit::default()
    }
}

pub(crate) fn tagged(application: &str, key: &str, value: &str) -> Submit {
    let tags = vec![(Name::new(key), Name::new(value))];
    Submit { tags, ..submit(application, "root.sales") }
}

pub(crate) fn gang(application: &str, vcores: i64) -> Submit {
    let placeholder_ask = amounts([("vcore", vcores * 1_000)]);
    Submit { placeholder_ask, ..submit(application, "root.sales") }
}

pub(crate) fn ask(application: &str, key: &str, vcores: i64) -> Ask {
    Ask {
        partition: default(),
        application: Name::new(application),
        key: Name::new(key),
        resources: amounts([("vcore", vcores * 1_000)]),
        ..Ask::default()
    }
}

impl Cluster {
    /// With this queue file in force.
    pub(crate) fn of(file: &str) -> Self {
        let read = headroom_config::read(file).unwrap();
        let mut cluster = Self(World::default());
        cluster.take(&Command::Configure(Box::new(read.configuration)));
        cluster
    }

    /// With these queues below the root, as a queue file has them.
    pub(crate) fn with(queues: &str) -> Self {
        Self::of(&format!(
            "partitions: [{{name: default, queues: [{{name: root, submitacl: '*', queues: {queues}}}]}}]"
        ))
    }

    /// One queue, `root.sales`, a node of 8 cores, and an application.
    pub(crate) fn usual() -> Self {
        let mut cluster = Self::with("[{name: sales}]");
        cluster.take(&Command::AddNode(node("n1", 8)));
        cluster.take(&Command::Submit(submit("app-1", "root.sales")));
        cluster
    }

    /// Have a command carried out.
    pub(crate) fn take(&mut self, command: &Command) -> Vec<Event> {
        self.0.command(command).unwrap()
    }

    pub(crate) fn wait(&mut self, seconds: u64) {
        self.0.now = self.0.now + Millis::from_secs(seconds);
        self.take(&Command::Tick);
        self.0.settle();
    }

    fn judge(&self, command: &Command) -> Result<Vec<Event>, Rejection> {
        decide(&self.0.books, self.0.now, command)
    }

    /// A command that is refused.
    pub(crate) fn refuses(&self, code: RefusalCode, asked: &str, command: &Command) -> Example {
        let refused = self.judge(command);
        Example::refusal(code, asked, &refused.expect_err(asked))
    }

    /// An application that is rejected.
    pub(crate) fn rejects(&self, code: RefusalCode, asked: &str, submit: Submit) -> Example {
        let events = self.judge(&Command::Submit(submit)).unwrap();
        let Some(Event::Application(ApplicationEvent::Rejected { code: found, message, .. })) =
            events.last()
        else {
            panic!("{asked}: it is taken in: {events:?}");
        };
        Example::sentence(code.as_str(), asked, (found, message))
    }
}
