//! Check and charge in a leaf that its users share: limits of users and groups as for B2, and the
//! elastic limit of each user as well.

use headroom_core::books::tracker::Trackers;
use headroom_core::books::{Change, LeafShares, RowUpdate, Shapes};
use headroom_core::config::{
    Configuration, LimitConfig, PartitionConfig, QueueConfig, UserLimitsConfig,
};
use headroom_core::id::LevelId;
use headroom_core::resource::{Amounts, ResourceType, Resources};
use headroom_core::{AddNode, Ask, Command, Name, Submit};

use crate::charge::{amounts, zipf};
use crate::cluster::Cluster;

/// How deep the leaf is, with the root.
const DEPTH: usize = 6;
const GROUPS: usize = 100;

/// What is guaranteed, and what limits allow: more than is ever charged.
const PLENTY: i64 = 1 << 40;

/// A leaf, with user limits or without, all of whose users wait for something, and who of them is charged.
#[derive(Clone, Debug)]
pub struct SharedCharges {
    trackers: Trackers,
    /// What is known of them where there are user limits.
    users: Option<LeafShares>,
    shapes: Shapes,
    /// The level of a user, and the level of the group.
    linked: Vec<(LevelId, Option<LevelId>)>,
    order: Vec<u32>,
    amount: Resources,
    used: Resources,
    charged: usize,
}

impl SharedCharges {
    /// This many users in 100 groups who wait for something, in one leaf six queues deep, with a limit for
    /// every user and every group at each and 8 types, and charges by Zipf's law (exponent 1).
    pub fn zipf(users: usize, charges: usize, with: bool) -> Self {
        let cluster = cluster(users, with);
        let books = &cluster.books;
        let mut leaves = books.queues().iter().filter(|(_, queue)| queue.child_count == 0);
        let (leaf, _) = leaves.next().expect("there is a leaf");
        let of_leaf = books.users_of(leaf);
        let active = of_leaf.map(|users| users.outline().active);
        assert_eq!(active, with.then_some(users as u64), "everybody waits for something");
        let linked = books.applications_in(leaf).filter_map(|(_, row)| row.link);
        let linked: Vec<_> = linked.map(|link| (link.user, link.group.level())).collect();
        assert_eq!(linked.len(), users, "everybody has a tracker");
        let row = books.partition(books.queue(leaf).partition);
        let amount = books.types().resolve(&amounts(8, 1)).expect("the file names all types");
        Self {
            trackers: row.trackers.clone(),
            users: of_leaf.map(|users| users.shares().clone()),
            shapes: books.shapes().clone(),
            linked,
            order: zipf(users, charges),
            amount,
            used: books.queue(leaf).allocated.clone(),
            charged: 0,
        }
    }

    /// Check every charge against all limits, and charge it.
    pub fn charge_all(&mut self) {
        self.charged += self.order.len();
        match self.users.take() {
            None => self.charge_without(),
            Some(mut users) => {
                self.charge_with(&mut users);
                self.users = Some(users);
            }
        }
        self.used = self.amount.times(i64::try_from(self.charged).unwrap_or(i64::MAX));
    }

    /// As where there are no user limits.
    fn charge_without(&mut self) {
        let Self { trackers, linked, order, amount, .. } = self;
        for place in order {
            let (user, group) = linked[*place as usize];
            for level in core::iter::once(user).chain(group) {
                check(trackers, level, amount);
            }
            for level in core::iter::once(user).chain(group) {
                charge(trackers, level, amount);
            }
        }
    }

    /// The same, and the user is not above the share and would not exceed the cap. Then the figures of the leaf about
    /// this user and about all users are updated.
    fn charge_with(&mut self, users: &mut LeafShares) {
        let Self { trackers, linked, order, amount, used, shapes, .. } = self;
        for place in order {
            let (user, group) = linked[*place as usize];
            assert!(users.with(trackers, used).allows(user, amount), "there is room for all");
            if let Some(group) = group {
                check(trackers, group, amount);
            }
            let calm = charge(trackers, user, amount);
            if let Some(group) = group {
                charge(trackers, group, amount);
            }
            if !calm {
                let change = Change { ask: None, used: Some(amount), calm };
                assert_eq!(users.follow((trackers, shapes), user, change), RowUpdate::Unchanged);
            }
        }
    }

    /// What all users use is the sum of the charges.
    ///
    /// # Panics
    /// When it is not.
    pub fn check(&self) {
        let of = |used: &Resources| used.get_or_zero(ResourceType::MEMORY).get();
        let used = self.linked.iter().map(|(user, _)| of(&self.trackers.level(*user).used()));
        let charged = i64::try_from(self.charged).unwrap_or(i64::MAX);
        assert_eq!(used.sum::<i64>(), charged, "every charge is counted once");
        if let Some(users) = &self.users {
            let active = of(&users.with(&self.trackers, &self.used).state().used_active);
            assert_eq!(active, charged, "active users use all of it");
        }
    }
}

#[inline]
fn check(trackers: &Trackers, level: LevelId, amount: &Resources) {
    assert!(trackers.refusing(level, 0, amount).is_none(), "there is room for all");
}

#[inline]
fn charge(trackers: &mut Trackers, level: LevelId, amount: &Resources) -> bool {
    trackers.charge(level, amount).expect("the levels are linked")
}

/// A node that is too small for anybody, and an ask of each user.
fn cluster(users: usize, with: bool) -> Cluster {
    let mut cluster = Cluster::default();
    cluster.command(&Command::Configure(Box::new(configuration(with))));
    cluster.command(&Command::AddNode(AddNode {
        partition: Name::new("default"),
        node: Name::new("node"),
        capacity: Amounts::from([("memory", 1), ("vcore", 0)]),
        schedulable: true,
        ..AddNode::default()
    }));
    for number in 0..users {
        cluster.command(&Command::Submit(Submit {
            partition: Name::new("default"),
            application: Name::from(format!("app-{number}")),
            queue: Name::from(path()),
            user: Name::from(format!("user-{number}")),
            groups: vec![Name::from(format!("g{}", number % GROUPS))],
            ..Submit::default()
        }));
        cluster.command(&Command::Ask(Ask {
            partition: Name::new("default"),
            application: Name::from(format!("app-{number}")),
            key: Name::from(format!("ask-{number}")),
            resources: amounts(8, 1),
            ..Ask::default()
        }));
    }
    assert_eq!(cluster.place(u64::MAX), 0, "nobody finds a node");
    cluster
}

fn path() -> String {
    let below = (1..DEPTH).map(|level| format!(".c{level}"));
    core::iter::once("root".to_owned()).chain(below).collect()
}

fn configuration(with: bool) -> Configuration {
    let groups = (0..GROUPS).map(|number| LimitConfig {
        groups: vec![Name::from(format!("g{number}"))],
        max_resources: amounts(8, PLENTY),
        ..LimitConfig::default()
    });
    let all = LimitConfig {
        users: vec![Name::new("*")],
        max_resources: amounts(8, PLENTY),
        ..LimitConfig::default()
    };
    let limits: Vec<LimitConfig> = core::iter::once(all).chain(groups).collect();
    let mut below = None;
    for level in (0..DEPTH).rev() {
        let is_leaf = below.is_none();
        below = Some(QueueConfig {
            name: if level == 0 { Name::new("root") } else { format!("c{level}").into() },
            parent: !is_leaf,
            children: below.into_iter().collect(),
            limits: limits.clone(),
            guaranteed: if is_leaf { amounts(8, PLENTY) } else { Amounts::EMPTY },
            user_limits: (is_leaf && with).then(UserLimitsConfig::default),
            submit_acl: if level == 0 { "*".into() } else { String::new() },
            ..QueueConfig::default()
        });
    }
    let partitions = vec![PartitionConfig::new("default", below.expect("there is a root"))];
    Configuration { partitions, ..Configuration::default() }
}
