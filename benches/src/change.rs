//! Small changes to a cluster where many wait: what each costs must not be what waits.

use headroom_core::config::{Configuration, PartitionConfig, QueueConfig, RuleConfig};
use headroom_core::resource::Amounts;
use headroom_core::{AddNode, Ask, Command, Name, Submit};

use crate::cluster::Cluster;

/// A cluster where rules make queues, and one queue of the file is full of what waits.
#[derive(Debug)]
pub struct Changes {
    /// The cluster.
    pub cluster: Cluster,
    done: u64,
}

impl Changes {
    /// One small node, and this many users who wait with an ask of their own each; in
    /// `root.made.q`, which a rule made, one more waits.
    pub fn new(waiting: u64) -> Self {
        let mut all = Self { cluster: Cluster::default(), done: 0 };
        all.cluster.command(&Command::Configure(Box::new(configuration())));
        all.cluster.command(&Command::AddNode(AddNode {
            partition: Name::new("default"),
            node: Name::new("node"),
            capacity: Amounts::from([("memory", 1), ("vcore", 1)]),
            schedulable: true,
            ..AddNode::default()
        }));
        for number in 0..waiting {
            all.submit(&format!("app-{number}"), "root.crowd", &format!("user-{number}"), 0);
            all.ask(&format!("app-{number}"), &format!("ask-{number}"), 10, 0);
        }
        all.submit("app", "root.made.q", "user", 10);
        all.ask("app", "ask", 10, 0);
        assert_eq!(all.cluster.place(1), 0, "all are too large");
        all
    }

    /// Change the quota of the queue that a rule made, by the tag of one more application.
    pub fn change_quota(&mut self) {
        self.done += 1;
        let number = self.done;
        self.submit(&format!("tag-{number}"), "root.made.q", "user", 10 + number);
        assert_eq!(self.cluster.place(1), 0, "it is too large still");
    }

    /// Give one ask that waits another size.
    pub fn resize(&mut self) {
        self.done += 1;
        self.ask("app-0", "ask-0", 20 + self.done, 0);
        assert_eq!(self.cluster.place(1), 0, "it is too large still");
    }

    /// Make this many queues below one parent by submissions, in the order of their names.
    pub fn make_queues(&mut self, count: u64) {
        for number in 0..count {
            self.submit(&format!("new-{number}"), &format!("root.made.n{number:05}"), "user", 0);
            assert_eq!(self.cluster.place(1), 0, "nothing has room");
        }
    }

    /// Ask this many times, each time with another priority.
    pub fn ask_by_priority(&mut self, count: u64) {
        for number in 0..count {
            let priority = i32::try_from(number).unwrap_or(i32::MAX);
            self.ask("app", &format!("by-{number}"), 10, priority);
        }
    }

    /// Take this many asks with low priorities back, and ask again.
    pub fn change_priority(&mut self, changes: u64) {
        for number in 0..changes {
            self.cluster.command(&Command::Release {
                partition: Name::new("default"),
                application: Name::new("app"),
                key: Some(Name::from(format!("by-{number}"))),
                termination: headroom_core::Termination::StoppedByRm,
            });
            let priority = i32::try_from(number).unwrap_or(i32::MAX);
            self.ask("app", &format!("by-{number}"), 10, priority);
        }
    }

    fn submit(&mut self, application: &str, queue: &str, user: &str, quota: u64) {
        let value = format!(r#"{{"resources":{{"vcore":{{"value":{quota}}}}}}}"#);
        let tag = (Name::new("namespace.resourcequota"), Name::from(value));
        self.cluster.command(&Command::Submit(Submit {
            partition: Name::new("default"),
            application: Name::new(application),
            queue: Name::new(queue),
            user: Name::new(user),
            tags: if quota > 0 { vec![tag] } else { Vec::new() },
            ..Submit::default()
        }));
    }

    fn ask(&mut self, application: &str, key: &str, memory: u64, priority: i32) {
        let memory = i64::try_from(memory).unwrap_or(i64::MAX);
        self.cluster.command(&Command::Ask(Ask {
            partition: Name::new("default"),
            application: Name::new(application),
            key: Name::new(key),
            resources: Amounts::from([("memory", memory), ("vcore", 1)]),
            priority,
            ..Ask::default()
        }));
    }
}

fn configuration() -> Configuration {
    let queue = |name: &str| QueueConfig { name: Name::new(name), ..QueueConfig::default() };
    let root = QueueConfig {
        parent: true,
        children: vec![queue("crowd"), QueueConfig { parent: true, ..queue("made") }, queue("z")],
        submit_acl: "*".into(),
        ..queue("root")
    };
    let rule = RuleConfig { name: "provided".into(), create: true, ..RuleConfig::default() };
    let mut partition = PartitionConfig::new("default", root);
    partition.placement_rules = vec![rule];
    Configuration { partitions: vec![partition], ..Configuration::default() }
}
