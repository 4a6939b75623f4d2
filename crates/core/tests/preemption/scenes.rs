//! Users who share leaves, and preemption: scene 2 of user-headroom §7.2 and its worked examples,
//! through a running scheduler.

use headroom_core::books::Allocation;
use headroom_core::config::{
    LimitConfig, QueueConfig, QueuePreemptionConfig, UserFactor, UserLimitsConfig,
};
use headroom_core::id::AllocationId;
use headroom_core::testkit::{World, amounts, leaf, parent, partition};
use headroom_core::userlimit::{Decimal, Enforcement, Formula};
use headroom_core::{
    AddNode, AllocationEvent, Ask, Command, Event, Millis, Name, PreemptionCause, Submit,
    Termination, Timestamp,
};

/// A cluster of one type in which what is to be stopped stops at once, and is asked for again.
struct Scene {
    world: World,
    asked: u32,
    /// For a guarantee, and for a share.
    kills: (u32, u32),
}

/// `p` = 30, `f` = 100, steps of one.
fn shared() -> UserLimitsConfig {
    UserLimitsConfig {
        floor: Some(Decimal::whole(30)),
        factor: Some(UserFactor::Times(Decimal::whole(100))),
        minimum_allocation: Some(amounts([("memory", 1)])),
        ..UserLimitsConfig::default()
    }
}

fn queue(name: &str, guaranteed: i64) -> QueueConfig {
    let guaranteed = amounts([("memory", guaranteed)]);
    QueueConfig { guaranteed, user_limits: Some(shared()), ..leaf(name) }
}

/// Nobody has more than that.
fn limit_of(memory: i64) -> LimitConfig {
    LimitConfig {
        users: vec![Name::new("*")],
        max_resources: amounts([("memory", memory)]),
        ..LimitConfig::default()
    }
}

impl Scene {
    fn of(queues: Vec<QueueConfig>, nodes: &[i64]) -> Self {
        let mut configuration = partition(parent("root", queues));
        configuration.partitions[0].preemption.intra_queue_enabled = true;
        let world = World { now: Timestamp::from_millis(1_000_000), ..World::default() };
        let mut scene = Self { world, asked: 0, kills: (0, 0) };
        scene.command(&Command::Configure(Box::new(configuration)));
        for (number, size) in nodes.iter().enumerate() {
            scene.command(&Command::AddNode(AddNode {
                partition: Name::new("default"),
                node: Name::from(format!("n{number}")),
                capacity: amounts([("memory", *size)]),
                schedulable: true,
                ..AddNode::default()
            }));
        }
        scene
    }

    fn command(&mut self, command: &Command) {
        self.world.command(command).unwrap();
    }

    /// A user's application in a queue, and its asks.
    fn asks(&mut self, queue: &str, user: &str, size: i64, count: u32) {
        let application = Name::from(format!("{queue}-{user}"));
        let submit = Submit {
            partition: Name::new("default"),
            application: application.clone(),
            queue: Name::from(format!("root.{queue}")),
            user: Name::new(user),
            ..Submit::default()
        };
        let known = self.world.books.partitions().values().next().unwrap();
        if !known.applications.iter().any(|(name, _)| *name == application) {
            self.command(&Command::Submit(submit));
        }
        for _ in 0..count {
            self.asked += 1;
            self.command(&Command::Ask(Ask {
                partition: Name::new("default"),
                application: application.clone(),
                key: Name::from(format!("k{:04}", self.asked)),
                resources: amounts([("memory", size)]),
                may_preempt: true,
                preemptable: true,
                ..Ask::default()
            }));
        }
        self.world.settle();
    }

    /// Let time pass until nothing is stopped any more.
    fn rest(&mut self) {
        for _ in 0..60 {
            self.world.now = self.world.now + Millis::from_secs(30);
            self.command(&Command::Tick);
            loop {
                let victims = self.settle();
                if victims.is_empty() {
                    break;
                }
                for victim in victims {
                    self.stop(victim);
                }
            }
        }
        self.world.books.check().unwrap();
    }

    /// One look at all that waits; who is to be stopped by it.
    fn settle(&mut self) -> Vec<AllocationId> {
        let mut victims = Vec::new();
        for event in self.world.settle() {
            if let Event::Allocation(AllocationEvent::Preempted { victim, cause }) = event {
                match cause {
                    PreemptionCause::Share(_) => self.kills.1 += 1,
                    _ => self.kills.0 += 1,
                }
                victims.push(victim);
            }
        }
        victims
    }

    /// It ends, and is not asked for again.
    fn end(&mut self, id: AllocationId, termination: Termination) {
        let books = &self.world.books;
        let row = books.allocation(id);
        let release = Command::Release {
            partition: Name::new("default"),
            application: books.application(row.application).name.clone(),
            key: Some(row.key.clone()),
            termination,
        };
        self.command(&release);
    }

    /// What started last in a leaf.
    fn newest_of(&self, leaf: &str) -> AllocationId {
        let books = &self.world.books;
        let path = format!("root.{leaf}");
        let of = |row: &Allocation| books.application(row.application).queue;
        let runs = books.allocations().iter().filter(|(_, row)| row.is_allocated());
        let here = runs.filter(|(_, row)| books.queue(of(row)).path == *path);
        here.max_by_key(|(_, row)| (row.placed, row.number)).unwrap().0
    }

    fn stop(&mut self, victim: AllocationId) {
        let books = &self.world.books;
        let row = books.allocation(victim);
        let application = books.application(row.application).name.clone();
        let resources = books.types().amounts(books.resources_of(victim));
        self.end(victim, Termination::Preempted);
        self.asked += 1;
        let key = Name::from(format!("k{:04}", self.asked));
        let partition = Name::new("default");
        self.command(&Command::Ask(Ask {
            partition,
            application,
            key,
            resources,
            ..Ask::default()
        }));
    }

    fn used(&self, queue: &str) -> i64 {
        let books = &self.world.books;
        let partition = *books.partitions().first_key_value().unwrap().0;
        let queue = books.queue_at(partition, &format!("root.{queue}")).unwrap();
        let memory = books.types().find("memory").unwrap();
        books.queue(queue).allocated.get_or_zero(memory).get()
    }

    /// What users have in a leaf, by name.
    fn of_users(&self, leaf: &str) -> Vec<i64> {
        let books = &self.world.books;
        let partition = *books.partitions().first_key_value().unwrap().0;
        let leaf = books.queue_at(partition, &format!("root.{leaf}")).unwrap();
        let memory = books.types().find("memory").unwrap();
        let users = books.users_of(leaf).unwrap().users();
        let mut of: Vec<(Name, i64)> = users
            .map(|(level, user)| {
                let trackers = &books.partition(partition).trackers;
                let name = trackers.tracker(trackers.level(level).tracker).name.clone();
                (name, user.used_of(memory).get())
            })
            .collect();
        of.sort();
        of.into_iter().map(|(_, used)| used).collect()
    }
}

/// A has all of the cluster in containers of 2; B gets asks of 8; C is idle.
fn scene_2(nodes: &[i64], balance: bool, asks: u32) -> Scene {
    let preemption =
        QueuePreemptionConfig { balance: Some(balance), ..QueuePreemptionConfig::default() };
    let queue = |name: &str, guaranteed| QueueConfig { preemption, ..queue(name, guaranteed) };
    let mut scene = Scene::of(vec![queue("a", 30), queue("b", 30), queue("c", 40)], nodes);
    scene.asks("a", "ann", 2, 50);
    assert_eq!(scene.used("a"), 100, "A alone has everything");
    scene.asks("b", "bob", 8, asks);
    scene
}

#[test]
#[doc(alias = "SD-42")]
fn whole_asks_end_at_32_and_with_balance_in_the_middle() {
    for (balance, ends) in [(false, (68, 32)), (true, (52, 48))] {
        let mut scene = scene_2(&[100], balance, 10);
        scene.rest();
        assert_eq!((scene.used("a"), scene.used("b")), ends, "balance: {balance}");
        assert_eq!(i64::from(scene.kills.0) * 2, ends.1, "nobody was stopped in vain");
    }
}

#[test]
#[doc(alias = "UH-40")]
fn demand_is_whole_asks() {
    // 24 of 30 are used and 7 asks of 8 wait: one more; nothing is used and 10 wait: four.
    for (before, waiting, kills) in [(3, 7, 4), (0, 10, 16)] {
        let mut scene = Scene::of(vec![queue("a", 30), queue("b", 30), queue("c", 40)], &[100]);
        scene.asks("b", "bob", 8, before);
        scene.asks("a", "ann", 2, 50);
        scene.asks("b", "bob", 8, waiting);
        assert_eq!(scene.used("a") + scene.used("b"), 100);
        scene.rest();
        assert_eq!((scene.used("b"), scene.kills), (32, (kills, 0)));
    }
}

#[test]
#[doc(alias = "SD-45")]
fn what_goes_is_on_one_node_and_no_more_than_it_takes() {
    // Five nodes of 20, containers larger than a quarter of a node: of 2 there go four for each of 8.
    let mut scene = scene_2(&[20; 5], false, 1);
    scene.rest();
    assert_eq!((scene.used("b"), scene.kills), (8, (4, 0)));
    let mut scene = scene_2(&[20; 5], false, 10);
    scene.rest();
    assert_eq!((scene.used("b"), scene.kills), (32, (16, 0)));
}

#[test]
#[doc(alias = "C24")]
fn a_queue_that_is_switched_off_gives_nothing_nor_what_is_below_it() {
    for (below, ends) in [(None, 0), (Some(true), 0), (Some(false), 32)] {
        let off = |disabled| QueuePreemptionConfig { disabled, ..QueuePreemptionConfig::default() };
        let x = QueueConfig { preemption: off(below), ..queue("x", 30) };
        let a = QueueConfig { preemption: off(Some(true)), ..parent("a", vec![x]) };
        let mut scene = Scene::of(vec![a, queue("b", 30)], &[100]);
        scene.asks("a.x", "ann", 2, 50);
        scene.asks("b", "bob", 8, 10);
        scene.rest();
        assert_eq!(scene.used("b"), ends, "{below:?} below one that is off");
    }
}

#[test]
#[doc(alias = "C24")]
fn where_it_is_only_observed_nobody_is_stopped() {
    let mut scene = scene_2(&[100], false, 10);
    let mut file = partition(parent("root", vec![queue("a", 30), queue("b", 30), queue("c", 40)]));
    file.partitions[0].preemption.observe_only = true;
    scene.command(&Command::Configure(Box::new(file)));
    scene.world.now = scene.world.now + Millis::from_secs(30);
    scene.command(&Command::Tick);
    let events = scene.world.settle();
    let observed = events
        .iter()
        .filter(|one| matches!(one, Event::Allocation(AllocationEvent::PreemptionObserved { .. })));
    assert_eq!(observed.count(), 4, "room for the first ask of 8");
    assert!(
        !events
            .iter()
            .any(|one| matches!(one, Event::Allocation(AllocationEvent::Preempted { .. })))
    );
    assert_eq!(scene.used("b"), 0);
}

/// Q = 102 and three users who use 22, 29 and 38, and wait for 40, 3 and 16.
fn demand_of(formula: Formula) -> i64 {
    let limits = UserLimitsConfig {
        formula: Some(formula),
        floor: Some(Decimal::ONE),
        enforcement: Some(Enforcement::Overshoot),
        ..shared()
    };
    let q = QueueConfig { user_limits: Some(limits), ..queue("q", 102) };
    let mut scene = Scene::of(vec![q], &[89]);
    for (user, used) in [("ann", 22), ("bob", 29), ("cid", 38)] {
        scene.asks("q", user, used, 1);
    }
    assert_eq!(scene.of_users("q"), [22, 29, 38]);
    for (user, waits) in [("ann", 40), ("bob", 3), ("cid", 16)] {
        scene.asks("q", user, waits, 1);
    }
    let books = &scene.world.books;
    let partition = *books.partitions().first_key_value().unwrap().0;
    let demand = books.demand_of(books.queue_at(partition, "root.q").unwrap());
    demand.get_or_zero(books.types().find("memory").unwrap()).get()
}

#[test]
#[doc(alias = "UH-23")]
fn demand_is_what_users_may_have_of_what_they_wait_for() {
    // 34 each: 12 of 40, all of 3, none of 16.
    assert_eq!(demand_of(Formula::Yarn27), 15);
    // 30 each, a step more than the average of what they use (M-9): 8, 1, 0.
    assert_eq!(demand_of(Formula::Yarn3), 9);
    // A share only says whose turn it is under `progress`; here the limit holds as well.
    assert_eq!(demand_of(Formula::Smooth), 15);
}

/// Q = 60: Ann has all of it in containers of 1, Bob waits for 30 of them.
fn ann_has_all_and_bob_waits(formula: Option<Formula>, off: bool) -> Scene {
    let limits = UserLimitsConfig {
        floor: Some(Decimal::whole(25)),
        factor: Some(UserFactor::Times(Decimal::ONE)),
        formula,
        ..shared()
    };
    let preemption = QueuePreemptionConfig {
        intra_queue_disabled: Some(off),
        ..QueuePreemptionConfig::default()
    };
    let q = QueueConfig { user_limits: Some(limits), preemption, ..queue("q", 60) };
    let mut scene = Scene::of(vec![q], &[1; 60]);
    scene.asks("q", "ann", 1, 60);
    scene.asks("q", "bob", 1, 30);
    assert_eq!(scene.of_users("q"), [60, 0]);
    scene
}

#[test]
#[doc(alias = "UH-36")]
fn users_take_from_each_other_a_fifth_of_their_queue_at_once() {
    let mut scene = ann_has_all_and_bob_waits(Some(Formula::Yarn3), false);
    // Nothing that is to be stopped ends for a while: 12 are on their way, and no more.
    let mut on_their_way = Vec::new();
    for _ in 0..20 {
        scene.world.now = scene.world.now + Millis::from_secs(30);
        scene.command(&Command::Tick);
        on_their_way.extend(scene.settle());
    }
    assert_eq!((on_their_way.len(), scene.kills), (12, (0, 12)));
    for victim in on_their_way {
        scene.stop(victim);
    }
    scene.rest();
    // Among both the limit is 31; a step more stays with Ann: 60 - 31 - 1 = 28 go.
    assert_eq!((scene.of_users("q"), scene.kills), (vec![32, 28], (0, 28)));
}

#[test]
#[doc(alias = "C25")]
fn users_of_a_leaf_take_from_each_other_unless_it_is_switched_off() {
    let mut scene = ann_has_all_and_bob_waits(None, false);
    scene.rest();
    assert_eq!(scene.of_users("q"), [32, 28], "each formula splits it among both");
    let mut scene = ann_has_all_and_bob_waits(None, true);
    scene.rest();
    assert_eq!((scene.of_users("q"), scene.kills), (vec![60, 0], (0, 0)));
}

/// How scene 2a or 2b ends by these rules: what A and B have. In 2b A gives four containers of 2 back
/// while B wants more.
fn ends(formula: Formula, enforcement: Enforcement, balance: bool, gives_back: bool) -> [i64; 2] {
    let limits =
        UserLimitsConfig { formula: Some(formula), enforcement: Some(enforcement), ..shared() };
    let preemption =
        QueuePreemptionConfig { balance: Some(balance), ..QueuePreemptionConfig::default() };
    let queue = |name: &str, guaranteed| QueueConfig {
        preemption,
        user_limits: Some(limits.clone()),
        ..queue(name, guaranteed)
    };
    let mut scene = Scene::of(vec![queue("a", 30), queue("b", 30), queue("c", 40)], &[100]);
    scene.asks("a", "ann", 2, 50);
    scene.asks("b", "bob", 8, 10);
    scene.rest();
    if gives_back {
        for _ in 0..4 {
            let newest = scene.newest_of("a");
            scene.end(newest, Termination::StoppedByRm);
        }
        scene.rest();
    }
    [scene.used("a"), scene.used("b")]
}

#[test]
fn with_balance_no_queue_ends_farther_from_its_part_than_without() {
    let laws = [Enforcement::Overshoot, Enforcement::Progress, Enforcement::Strict];
    for formula in [Formula::Yarn27, Formula::Yarn3, Formula::Smooth] {
        for (enforcement, gives_back) in
            laws.into_iter().flat_map(|law| [(law, false), (law, true)])
        {
            let rules = format!("{formula:?}, {enforcement:?}, 2b: {gives_back}");
            let [with, without] =
                [true, false].map(|balance| ends(formula, enforcement, balance, gives_back));
            // A and B are guaranteed the same, want more than there is, and C nothing.
            let part = 50_i64;
            for (with, without) in with.into_iter().zip(without) {
                let is_nearer = part.abs_diff(with) <= part.abs_diff(without);
                assert!(is_nearer, "{rules}: {with} with balance, {without} without");
            }
            // Under `strict` shares of CapacityScheduler's formulas stop a queue where they did.
            if enforcement != Enforcement::Strict || formula == Formula::Smooth {
                let beside = if gives_back { [60, 40] } else { [68, 32] };
                assert_eq!((with, without), ([52, 48], beside), "{rules}");
            }
        }
    }
}

#[test]
fn an_ask_that_may_not_be_had_is_no_demand() {
    // Three asks of 8 fit into 27, by the maximum of the queue, the limit of its user, or the user cap.
    for bound in ["max", "limit", "cap"] {
        let balance = Some(true);
        let preemption = QueuePreemptionConfig { balance, ..QueuePreemptionConfig::default() };
        let all = |name: &str, guaranteed| QueueConfig { preemption, ..queue(name, guaranteed) };
        let mut b = all("b", 30);
        match bound {
            "max" => b.max = amounts([("memory", 27)]),
            "limit" => b.limits = vec![limit_of(27)],
            _ => {
                let factor = Some(UserFactor::Times(Decimal::parse("0.9").unwrap()));
                b.user_limits = Some(UserLimitsConfig { factor, ..shared() });
            }
        }
        let mut scene = Scene::of(vec![all("a", 30), b, all("c", 10)], &[100]);
        scene.asks("a", "ann", 1, 100);
        scene.asks("b", "bob", 8, 10);
        scene.asks("c", "cid", 1, 100);
        scene.rest();
        // What is left of 100 by 24 is split as 3 to 1.
        let used = ["a", "b", "c"].map(|name| scene.used(name));
        assert_eq!(used, [57, 24, 19], "{bound}");
    }
}

#[test]
fn what_balance_promises_to_others_takes_no_guarantee_away() {
    // 66 and 33 are their parts: of what A has above its part, 6, no ask of 7 can be had.
    for balance in [false, true] {
        let preemption =
            QueuePreemptionConfig { balance: Some(balance), ..QueuePreemptionConfig::default() };
        let queue = |name: &str, guaranteed| QueueConfig { preemption, ..queue(name, guaranteed) };
        let mut scene = Scene::of(vec![queue("a", 60), queue("b", 30), queue("c", 10)], &[100]);
        scene.asks("a", "ann", 1, 100);
        scene.asks("b", "bob", 7, 10);
        scene.rest();
        assert_eq!((scene.used("a"), scene.used("b")), (65, 35), "balance: {balance}");
        assert_eq!(scene.kills, (35, 0), "nobody takes back");
    }
}
