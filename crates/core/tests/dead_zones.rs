//! No dead zone: whatever users of a small leaf use and ask for, the scheduler comes to rest only when
//! no ask is left that its user's cap, the queue and a node would allow. Every small case is played,
//! with shares that make progress; what follows from the formula alone is in `userlimit/no_dead_zone.rs`.

use headroom_core::books::Books;
use headroom_core::config::{
    Configuration, PartitionConfig, QueueConfig, UserFactor, UserLimitsConfig,
};
use headroom_core::resource::{Amounts, Quantity, ResourceType};
use headroom_core::userlimit::{Decimal, Formula};
use headroom_core::{AddNode, Ask, Command, Name, Scheduler, Step, Submit, Timestamp, decide};

/// The largest guarantee that is tried: `HEADROOM_CAPACITY`, 8 before a release.
fn capacity_max() -> i64 {
    let wanted = std::env::var("HEADROOM_CAPACITY").ok().and_then(|text| text.parse().ok());
    wanted.unwrap_or(3)
}

/// One user: the usage, and the size of the user's asks, of which there are as many as could ever fit.
type User = (i64, i64);

struct Case<'a> {
    rules: &'a UserLimitsConfig,
    guaranteed: i64,
    /// All there is: one node.
    total: i64,
    users: &'a [User],
}

fn memory(amount: i64) -> Amounts {
    Amounts::from([("memory", amount)])
}

impl Case<'_> {
    fn configuration(&self) -> Configuration {
        let leaf = QueueConfig {
            name: Name::new("q"),
            guaranteed: memory(self.guaranteed),
            user_limits: Some(self.rules.clone()),
            ..QueueConfig::default()
        };
        let root = QueueConfig {
            name: Name::new("root"),
            parent: true,
            children: vec![leaf],
            submit_acl: "*".into(),
            ..QueueConfig::default()
        };
        let partitions = vec![PartitionConfig::new("default", root)];
        Configuration { partitions, ..Configuration::default() }
    }

    /// The commands that lead there: what runs already is reported by the RM.
    fn commands(&self) -> Vec<Command> {
        let partition = Name::new("default");
        let mut commands = vec![
            Command::Configure(Box::new(self.configuration())),
            Command::AddNode(AddNode {
                partition: partition.clone(),
                node: "n1".into(),
                capacity: memory(self.total),
                schedulable: true,
                ..AddNode::default()
            }),
        ];
        for (number, (used, size)) in self.users.iter().enumerate() {
            let (application, user) = (format!("app{number}"), format!("user{number}"));
            commands.push(Command::Submit(Submit {
                partition: partition.clone(),
                application: application.clone().into(),
                queue: Name::new("root.q"),
                user: user.into(),
                ..Submit::default()
            }));
            let ask = |key: String, size: i64, node: Option<Name>| {
                Command::Ask(Ask {
                    partition: partition.clone(),
                    application: application.clone().into(),
                    key: key.into(),
                    resources: memory(size),
                    node,
                    ..Ask::default()
                })
            };
            if *used > 0 {
                commands.push(ask(format!("used{number}"), *used, Some("n1".into())));
            }
            for one in 0..=(self.total / size) {
                commands.push(ask(format!("a{number}-{one}"), *size, None));
            }
        }
        commands
    }

    /// Let the scheduler come to rest.
    fn play(&self) -> Books {
        let (mut books, mut scheduler) = (Books::default(), Scheduler::default());
        let now = Timestamp::from_millis(1_000);
        let mut events = Vec::new();
        for command in self.commands() {
            for event in decide(&books, now, &command).expect("the case is legal") {
                scheduler.apply(&mut books, now, &event);
            }
        }
        while scheduler.next(&books, now, &mut events) == Step::Moved {
            for event in events.drain(..) {
                scheduler.apply(&mut books, now, &event);
            }
        }
        books
    }

    /// The user whose ask could go on, if there is one.
    fn stuck(&self, books: &Books) -> Option<usize> {
        let (leaf, users) = books.leaves_with_users().next().expect("the leaf has user limits");
        let (rules, state) = (users.rules(), &users.state());
        let free = self.total - books.queue(leaf).allocated.get_or_zero(ResourceType::MEMORY).get();
        let trackers = &books.partitions().values().next().expect("there is one").trackers;
        let could = |(number, (_, size)): (usize, &User)| {
            let name = format!("user{number}");
            let (_, user) = users.users().find(|(level, _)| {
                trackers.tracker(trackers.level(*level).tracker).name == *name
            })?;
            let ask = [(ResourceType::MEMORY, Quantity::of(*size))].into_iter().collect();
            let cap = rules.cap(state, user.weight, &ask);
            let fits = !user.waits().is_empty()
                && *size <= free
                && !rules.is_capped(state, &cap, &user.used(), &ask);
            fits.then_some(number)
        };
        self.users.iter().enumerate().find_map(could)
    }
}

/// Users in every order that makes a difference: who came first counts, so none is left out.
fn populations(capacity: i64, total: i64) -> Vec<Vec<User>> {
    let sizes = 1..=capacity;
    let used = [0, 1, capacity / 2, capacity];
    let one: Vec<User> =
        used.iter().flat_map(|used| sizes.clone().map(move |size| (*used, size))).collect();
    let mut all: Vec<Vec<User>> = one.iter().map(|user| vec![*user]).collect();
    let mut last = all.clone();
    for _ in 1..3 {
        last = last
            .iter()
            .flat_map(|users| one.iter().map(move |user| [users.as_slice(), &[*user]].concat()))
            .collect();
        all.extend(last.iter().cloned());
    }
    all.retain(|users| users.iter().map(|(used, _)| used).sum::<i64>() <= total);
    all.sort_unstable();
    all.dedup();
    all
}

#[test]
fn the_scheduler_rests_only_where_nobody_could_go_on() {
    let floors = [0, 25, 30, 34, 50, 100].map(Decimal::whole);
    let factor = |text: &str| UserFactor::Times(Decimal::parse(text).expect("a decimal"));
    let factors = [factor("0.5"), factor("1"), factor("2"), UserFactor::Off];
    let mut played = 0_u64;
    for guaranteed in 1..=capacity_max() {
        for total in [guaranteed, guaranteed * 5 / 2] {
            for users in populations(guaranteed, total) {
                for (floor, factor) in floors
                    .iter()
                    .flat_map(|floor| factors.iter().map(move |factor| (floor, factor)))
                {
                    let rules = UserLimitsConfig {
                        formula: Some(Formula::Smooth),
                        floor: Some(*floor),
                        factor: Some(*factor),
                        ..UserLimitsConfig::default()
                    };
                    let case = Case { rules: &rules, guaranteed, total, users: &users };
                    let stuck = case.stuck(&case.play());
                    assert_eq!(
                        stuck, None,
                        "p {floor}, f {factor:?}, Q {guaranteed} of {total}, users (used, ask) {users:?}"
                    );
                    played += 1;
                }
            }
        }
    }
    println!("{played} cases");
    assert!(played > 10_000, "every small case");
}
