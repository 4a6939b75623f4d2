//! A large queue file, and a cluster at work below it.

use std::fmt::Write as _;

use headroom_core::books::Books;
use headroom_core::resource::Amounts;
use headroom_core::{AddNode, Ask, Command, Name, Scheduler, Step, Submit, Timestamp, decide};

/// A queue file with so many queues and as many limits, in teams of 100.
pub fn many(queues: usize) -> String {
    let mut text = "\
partitions:
  - name: default
    queues:
      - name: root
        submitacl: '*'
        queues:
"
    .to_owned();
    for queue in 0..queues {
        let team = queue / 100;
        // Writing into a string cannot fail.
        let _ = if queue % 100 == 0 {
            write!(
                text,
                "          - name: team{team}
            resources:
              guaranteed: {{vcore: 100, memory: 400Gi}}
              max: {{vcore: 1000, memory: 4000Gi}}
            limits:
              - limit: the lead
                users: [lead{team}]
                maxresources: {{vcore: 500}}
            queues:
"
            )
        } else {
            write!(
                text,
                "              - name: q{queue}
                resources:
                  guaranteed: {{vcore: 1, memory: 4Gi}}
                  max: {{vcore: 100, memory: 400Gi}}
                properties:
                  application.sort.policy: fair
                limits:
                  - limit: one owner, and all others
                    users: [user{queue}, '*']
                    maxresources: {{vcore: 50, memory: 200Gi}}
                    maxapplications: 10
"
            )
        };
    }
    text
}

/// The same file with another maximum in every queue, and another limit.
pub fn changed(text: &str) -> String {
    text.replace("{vcore: 100, memory: 400Gi}", "{vcore: 99, memory: 400Gi}")
        .replace("{vcore: 50, memory: 200Gi}", "{vcore: 49, memory: 200Gi}")
}

/// A cluster that is at work below a queue file.
#[derive(Debug)]
pub struct Live {
    books: Books,
    scheduler: Scheduler,
}

impl Live {
    /// A cluster with one node and, in each of these many queues of [`many`], an application of
    /// the queue's owner that runs one ask and waits with another.
    pub fn at_work(text: &str, queues: usize) -> Self {
        let mut live = Self { books: Books::default(), scheduler: Scheduler::default() };
        live.configure(text);
        let partition = Name::new("default");
        live.command(&Command::AddNode(AddNode {
            partition: partition.clone(),
            node: Name::new("node"),
            capacity: Amounts::from([("vcore", 40_000_000), ("memory", 1 << 50)]),
            schedulable: true,
            ..AddNode::default()
        }));
        for queue in (0..queues).filter(|queue| queue % 100 != 0) {
            let application = Name::from(format!("app-{queue}"));
            live.command(&Command::Submit(Submit {
                partition: partition.clone(),
                application: application.clone(),
                queue: Name::from(format!("root.team{}.q{queue}", queue / 100)),
                user: Name::from(format!("user{queue}")),
                ..Submit::default()
            }));
            for (key, vcore) in [("runs", 30_000), ("waits", 40_000)] {
                live.command(&Command::Ask(Ask {
                    partition: partition.clone(),
                    application: application.clone(),
                    key: Name::from(format!("{key}-{queue}")),
                    resources: Amounts::from([("vcore", vcore)]),
                    ..Ask::default()
                }));
            }
        }
        live.settle();
        live
    }

    /// Take a queue file into force, from its text on, and let what may start start.
    pub fn configure(&mut self, text: &str) {
        let loaded = headroom_config::read(text).expect("the file is legal");
        self.command(&Command::Configure(Box::new(loaded.configuration)));
        self.settle();
    }

    /// How many asks wait.
    pub fn waiting(&self) -> u64 {
        self.books.partitions().values().map(|partition| partition.ask_count).sum()
    }

    fn command(&mut self, command: &Command) {
        let events = decide(&self.books, Timestamp::ZERO, command).expect("the command is legal");
        for event in &events {
            self.scheduler.apply(&mut self.books, Timestamp::ZERO, event);
        }
    }

    fn settle(&mut self) {
        let mut events = Vec::new();
        while self.scheduler.next(&self.books, Timestamp::ZERO, &mut events) == Step::Moved {
            for event in events.drain(..) {
                self.scheduler.apply(&mut self.books, Timestamp::ZERO, &event);
            }
        }
    }
}
