//! What happens in the cluster: nodes, applications, asks.

use headroom_core::resource::Amounts;
use headroom_core::{AddNode, Ask, Command, Name, RejectApplication, Submit};

use super::Server;

pub fn amounts<const COUNT: usize>(entries: [(&str, i64); COUNT]) -> Amounts {
    Amounts::from(entries)
}

/// A node of so many cores and 64 GiB.
pub fn node(name: &str, vcores: i64) -> AddNode {
    AddNode {
        partition: Name::new("default"),
        node: Name::new(name),
        capacity: amounts([("vcore", vcores * 1_000), ("memory", 64 << 30)]),
        schedulable: true,
        attributes: [("si.io/hostname", format!("{name}.example.org").as_str())]
            .into_iter()
            .collect(),
    }
}

/// An application in a queue; the group of the user has the user's name.
pub fn submit(application: &str, queue: &str, user: &str) -> Submit {
    Submit {
        partition: Name::new("default"),
        application: Name::new(application),
        queue: Name::new(queue),
        user: Name::new(user),
        groups: vec![Name::new(user)],
        ..Submit::default()
    }
}

/// An ask for so many cores and 1 GiB.
pub fn ask(application: &str, key: &str, vcores: i64) -> Ask {
    Ask {
        partition: Name::new("default"),
        application: Name::new(application),
        key: Name::new(key),
        resources: amounts([("vcore", vcores * 1_000), ("memory", 1 << 30)]),
        ..Ask::default()
    }
}

/// One that runs on a node already.
pub fn placed(application: &str, key: &str, vcores: i64, node: &str) -> Ask {
    Ask { node: Some(Name::new(node)), ..ask(application, key, vcores) }
}

impl Server {
    /// Give a command that is accepted.
    pub async fn accept(&self, command: Command) {
        self.handle.submit(command).await.unwrap().unwrap();
    }

    /// A small cluster: two nodes, two users, something that runs, something that waits, something
    /// foreign, and an application that was refused.
    pub async fn furnish(&self) {
        let foreign = headroom_core::SetForeign {
            partition: Name::new("default"),
            key: Name::new("daemon"),
            node: Name::new("n1"),
            resources: amounts([("vcore", 500)]),
            preemptable: false,
        };
        let refused = Command::RejectApplication(Box::new(RejectApplication {
            partition: Name::new("default"),
            application: Name::new("app-refused"),
            queue: Name::new("root.nowhere"),
            code: Name::new("PL-REJECTED"),
            message: Name::new("no rule found a queue <for> it & that is all"),
            ..RejectApplication::default()
        }));
        for command in [
            Command::AddNode(node("n1", 8)),
            Command::AddNode(node("n2", 4)),
            Command::SetForeign(foreign),
            Command::Submit(submit("app-1", "root.sales", "ann")),
            Command::Submit(submit("app-2", "root.dev.one", "ann")),
            Command::Submit(submit("app-3", "root.sales", "bob")),
            refused,
            Command::Ask(ask("app-1", "a1", 2)),
            Command::Ask(ask("app-1", "a2", 20)),
            Command::Ask(ask("app-2", "b1", 1)),
        ] {
            self.accept(command).await;
        }
        self.turn(1_000).await;
    }
}
