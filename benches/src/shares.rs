//! Many users of one leaf, who share it or are served in the order of their applications.

use headroom_core::config::{Configuration, UserLimitsConfig};
use headroom_core::resource::{Amounts, ResourceType};
use headroom_core::userlimit::{Decimal, Formula};
use headroom_core::{AddNode, Ask, Command, Name, Submit, Termination};

use crate::cluster::{Cluster, b1_configuration};

/// How many asks each user has.
const EACH: u64 = 20;
const NODES: u64 = 1_000;

/// A cluster of 1,000 nodes with room for 20 asks of each user, half of it guaranteed to the leaf,
/// and all asks waiting.
pub fn sharing(users: u64, formula: Option<Formula>) -> Cluster {
    let mut cluster = Cluster::default();
    cluster.command(&Command::Configure(Box::new(configuration(users, formula))));
    for number in 0..NODES {
        cluster.command(&Command::AddNode(AddNode {
            partition: Name::new("default"),
            node: Name::from(format!("node-{number:06}")),
            capacity: size(users * EACH / NODES),
            schedulable: true,
            ..AddNode::default()
        }));
    }
    for user in 0..users {
        let name = format!("user-{user}");
        cluster.command(&Command::Submit(Submit {
            partition: Name::new("default"),
            application: application(user),
            queue: Name::new("root.a"),
            user: name.into(),
            ..Submit::default()
        }));
        for number in 0..EACH {
            cluster.command(&Command::Ask(Ask {
                partition: Name::new("default"),
                application: application(user),
                key: key(user, number),
                resources: size(1),
                ..Ask::default()
            }));
        }
    }
    cluster
}

/// The most asks that any user of a leaf with user limits has placed.
pub fn most_of_one(cluster: &Cluster) -> i64 {
    let users = cluster.books.leaves_with_users().flat_map(|(_, leaf)| leaf.users());
    let used = users.map(|(_, user)| user.used.get_or_zero(ResourceType::MEMORY).get() / 10);
    used.max().unwrap_or(0)
}

/// Users come and go: one ask of one user after another is taken back.
pub fn leave(cluster: &mut Cluster, users: u64) {
    for user in 0..users {
        for number in 0..EACH {
            cluster.command(&Command::Release {
                partition: Name::new("default"),
                application: application(user),
                key: Some(key(user, number)),
                termination: Termination::StoppedByRm,
            });
        }
    }
}

fn application(user: u64) -> Name {
    Name::from(format!("app-{user}"))
}

fn key(user: u64, number: u64) -> Name {
    Name::from(format!("{user}-{number}"))
}

fn size(asks: u64) -> Amounts {
    let asks = i64::try_from(asks).unwrap_or(i64::MAX);
    Amounts::from([("memory", 10 * asks), ("vcore", asks)])
}

fn configuration(users: u64, formula: Option<Formula>) -> Configuration {
    let mut file = b1_configuration();
    let leaf = &mut file.partitions[0].root.children[0];
    leaf.guaranteed = size(users * EACH / 2);
    // The floor must not be more than an equal part, or nobody has to wait for anybody.
    leaf.user_limits = formula.map(|formula| UserLimitsConfig {
        formula: Some(formula),
        floor: Some(if formula == Formula::Smooth { Decimal::ZERO } else { Decimal::ONE }),
        ..UserLimitsConfig::default()
    });
    file
}
