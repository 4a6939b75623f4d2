//! Many users of one leaf, who share it or are served in the order of their applications.

use headroom_core::config::{Configuration, UserLimitsConfig};
use headroom_core::resource::{Amounts, ResourceType};
use headroom_core::userlimit::{Decimal, Formula};
use headroom_core::{AddNode, Ask, Command, Name, Submit, Termination};

use crate::cluster::{Cluster, b1_configuration};

/// How many asks each user has.
const EACH: u64 = 20;
const NODES: u64 = 1_000;

/// How the users of the leaf are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sharing {
    /// How many there are, with one application each.
    pub users: u64,
    /// Whether applications go by what they use, not by their age.
    pub is_fair: bool,
    /// With user limits of this formula.
    pub limits: Option<Formula>,
    /// Whether shares are so large that nobody ever waits for another.
    pub is_free: bool,
}

impl Sharing {
    /// In the order of their applications, without user limits.
    pub const fn without(users: u64) -> Self {
        Self { users, is_fair: false, limits: None, is_free: false }
    }

    /// With user limits by which each has an equal part, so that users take turns.
    pub const fn with(users: u64, formula: Formula) -> Self {
        Self { users, is_fair: false, limits: Some(formula), is_free: false }
    }

    /// With applications by what they use.
    #[must_use]
    pub const fn fair(self) -> Self {
        Self { is_fair: true, ..self }
    }

    /// With shares by which nobody has to wait: the order is that of the applications.
    #[must_use]
    pub const fn free(self) -> Self {
        Self { is_free: true, ..self }
    }

    /// A cluster of 1,000 nodes with room for 20 asks of each user, half of it guaranteed to the leaf,
    /// and all asks waiting.
    pub fn cluster(self) -> Cluster {
        let mut cluster = Cluster::default();
        cluster.command(&Command::Configure(Box::new(self.configuration())));
        for number in 0..NODES {
            cluster.command(&Command::AddNode(AddNode {
                partition: Name::new("default"),
                node: Name::from(format!("node-{number:06}")),
                capacity: size(self.users * EACH / NODES),
                schedulable: true,
                ..AddNode::default()
            }));
        }
        for user in 0..self.users {
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

    fn configuration(self) -> Configuration {
        let mut file = b1_configuration();
        let leaf = &mut file.partitions[0].root.children[0];
        leaf.guaranteed = size(self.users * EACH / 2);
        if self.is_fair {
            leaf.properties.insert(Name::new("application.sort.policy"), Name::new("fair"));
        }
        // The floor must not be more than an equal part, or nobody has to wait for anybody.
        let floor = match self.limits {
            _ if self.is_free => Decimal::HUNDRED,
            Some(Formula::Smooth) => Decimal::ZERO,
            _ => Decimal::ONE,
        };
        leaf.user_limits = self.limits.map(|formula| UserLimitsConfig {
            formula: Some(formula),
            floor: Some(floor),
            ..UserLimitsConfig::default()
        });
        file
    }
}

/// The most asks that any user of a leaf with user limits has placed.
pub fn most_of_one(cluster: &Cluster) -> i64 {
    let users = cluster.books.leaves_with_users().flat_map(|(_, leaf)| leaf.users());
    let used = users.map(|(_, user)| user.used_of(ResourceType::MEMORY).get() / 10);
    used.max().unwrap_or(0)
}

/// Users come and go: all asks of one user after another are taken back, and one ask is placed after
/// each. Whoever is left is active before and after.
///
/// # Panics
/// When nothing is placed though somebody waits.
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
        let left = users - user - 1;
        assert!(cluster.place(1) == 1 || left == 0, "{left} users wait, and there is room");
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
