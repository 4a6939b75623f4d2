//! Random increases, decreases, resizes, and limit changes, compared with a model of sums by path: the usage of each
//! user and group, and what each application has added to its group so far.

use std::collections::{BTreeMap, BTreeSet};

use headroom_core::books::Books;
use headroom_core::books::tracker::{TrackerKind, WILDCARD};
use headroom_core::id::ApplicationId;
use headroom_core::resource::{Quantity, Resources};
use headroom_core::testkit::Counts;
use headroom_core::{AllocationEvent, ApplicationEvent, AskEvent, Event, Name};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

use super::{GROUP, Scene, USER};

const LEAVES: [&str; 3] = ["root.a.x", "root.a.y", "root.b"];
const QUEUES: [&str; 5] = ["root", "root.a", "root.a.x", "root.a.y", "root.b"];
const USERS: [(&str, &[&str]); 4] =
    [("ann", &["dev", "ops"]), ("bob", &["ops"]), ("eve", &["elsewhere"]), ("zoe", &[])];
const APPLICATIONS: [&str; 6] = ["1", "2", "3", "4", "5", "6"];

/// Memory and vcore.
type Pair = [i64; 2];

#[derive(Clone, Copy, Debug)]
enum Op {
    Submit(usize, usize, usize),
    Ask(usize, Pair),
    Release(usize),
    Resize(usize, Pair),
    Remove(usize),
    /// Other limits: one die for each queue.
    Limits([u8; 5]),
}

fn op() -> impl Strategy<Value = Op> {
    let size = || (0_i64..5, 0_i64..4).prop_map(|(memory, vcore)| [memory + 1, vcore]);
    prop_oneof![
        3 => (0..6_usize, 0..3_usize, 0..4_usize).prop_map(|(a, q, u)| Op::Submit(a, q, u)),
        10 => (0..6_usize, size()).prop_map(|(a, size)| Op::Ask(a, size)),
        5 => any::<usize>().prop_map(Op::Release),
        2 => (any::<usize>(), size()).prop_map(|(a, size)| Op::Resize(a, size)),
        1 => (0..6_usize).prop_map(Op::Remove),
        2 => any::<[u8; 5]>().prop_map(Op::Limits),
    ]
}

/// A limit: for whom (`ann`, `*`, `group dev`, `group *`), memory if limited, applications.
type Limit = (&'static str, Option<i64>, u64);

/// The limits that a die gives a queue; named ones in some order, `*` last.
fn limits_of(die: u8) -> Vec<Limit> {
    let amount = Some(i64::from(die % 13) + 3);
    match die % 9 {
        0 => vec![("ann", amount, 0), ("group dev", Some(20), 2)],
        1 => vec![("*", amount, 3), ("group ops", amount, 0), ("group dev", amount, 0)],
        2 => vec![("bob", None, 1), ("*", amount, 0)],
        3 => vec![("group dev", amount, 0), ("group *", Some(15), 0)],
        4 => vec![("group *", amount, 3)],
        5 => vec![("eve", amount, 2), ("ann", Some(9), 0)],
        _ => Vec::new(),
    }
}

#[derive(Debug, Default)]
struct App {
    queue: &'static str,
    user: &'static str,
    groups: &'static [&'static str],
    /// The group, once it was looked for; `""` is none.
    group: Option<&'static str>,
    linked: bool,
    has: BTreeMap<String, Pair>,
    /// Added to the group, and not given back.
    told: Pair,
    runs: bool,
    runs_in_group: bool,
}

#[derive(Default)]
struct Model {
    apps: BTreeMap<&'static str, App>,
    limits: BTreeMap<&'static str, Vec<Limit>>,
}

/// A queue and those above it, the queue first.
fn up(queue: &'static str) -> impl Iterator<Item = &'static str> {
    let above = move |one: &&&str| queue == **one || queue.starts_with(&format!("{one}."));
    let mut path: Vec<_> = QUEUES.iter().filter(above).copied().collect();
    path.sort_by_key(|one| std::cmp::Reverse(one.len()));
    path.into_iter()
}

fn plus(left: Pair, right: Pair) -> Pair {
    [left[0] + right[0], left[1] + right[1]]
}

fn minus(left: Pair, right: Pair) -> Pair {
    [left[0] - right[0], left[1] - right[1]]
}

fn each(pair: Pair, other: Pair, choose: fn(i64, i64) -> i64) -> Pair {
    [choose(pair[0], other[0]), choose(pair[1], other[1])]
}

impl Model {
    fn group_of(&self, app: &App) -> &'static str {
        for queue in up(app.queue).filter(|_| !app.groups.is_empty()) {
            let names = self.limits.get(queue).into_iter().flatten();
            let names: Vec<_> = names.filter_map(|one| one.0.strip_prefix("group ")).collect();
            let first = names.iter().find(|name| app.groups.contains(name));
            if let Some(name) = first.or_else(|| names.iter().find(|name| **name == WILDCARD)) {
                return name;
            }
        }
        ""
    }

    fn look(&mut self, name: &str) {
        let group = self.group_of(&self.apps[name]);
        let app = self.apps.get_mut(name).expect("the model knows it");
        app.linked = true;
        if app.group.is_none() {
            (app.group, app.told, app.runs_in_group) = (Some(group), [0, 0], false);
        }
    }

    fn give(&mut self, name: &str, key: &str, size: Pair) {
        let app = self.apps.get_mut(name).expect("the model knows it");
        let before = app.has.insert(key.into(), size).unwrap_or_default();
        let grown = each(minus(size, before), [0, 0], i64::max);
        let shrunk = each(minus(before, size), [0, 0], i64::max);
        if app.group.is_some_and(|group| !group.is_empty()) {
            app.told = minus(app.told, each(app.told, shrunk, i64::min));
            app.told = plus(app.told, grown);
            app.runs_in_group |= grown != [0, 0];
        }
        app.runs |= grown != [0, 0];
    }

    /// Whether less went back to the group than to the user.
    fn take(&mut self, name: &str, key: &str) -> bool {
        let app = self.apps.get_mut(name).expect("the model knows it");
        let size = app.has.remove(key).expect("the model knows it");
        let back = each(app.told, size, i64::min);
        app.told = minus(app.told, back);
        app.group.is_some_and(|group| !group.is_empty()) && back != size
    }

    /// Sets other limits. Returns how many applications that look for a group again had usage.
    fn relimit(&mut self, limits: BTreeMap<&'static str, Vec<Limit>>) -> u64 {
        let groups = |all: &BTreeMap<&'static str, Vec<Limit>>, queue: &str| -> Vec<&'static str> {
            let here = all.get(queue).into_iter().flatten();
            here.filter_map(|one| one.0.strip_prefix("group ")).collect()
        };
        let mut dropped = 0;
        for app in self.apps.values_mut().filter(|app| app.linked) {
            let (before, after) = (|q| groups(&self.limits, q), |q| groups(&limits, q));
            let gone = |q| before(q).iter().any(|g| app.group == Some(g) && !after(q).contains(g));
            if !app.runs && up(app.queue).any(|queue| before(queue) != after(queue)) {
                (app.linked, app.group) = (false, None);
            } else if app.runs && up(app.queue).any(gone) {
                (app.group, app.told, app.runs_in_group) = (None, [0, 0], false);
                dropped += 1;
            }
        }
        self.limits = limits;
        dropped
    }

    /// The limit in force: memory, applications, whether it is that of all others.
    fn limit(&self, kind: TrackerKind, name: &str, queue: &str) -> (Option<i64>, u64, bool) {
        let all = self.limits.get(queue).map_or(&[][..], |all| all);
        let wanted = if kind == GROUP { format!("group {name}") } else { name.into() };
        let named = all.iter().find(|one| one.0 == wanted);
        let others = all.iter().find(|one| one.0 == WILDCARD && kind == USER);
        let found = named.or(others);
        let (_, memory, apps) = found.copied().unwrap_or_default();
        (memory, apps, named.is_none() && others.is_some())
    }

    /// What is charged, who runs and who is tied, at every queue.
    fn sums(&self) -> BTreeMap<(TrackerKind, &str, &str), (Pair, u64, u64)> {
        let mut sums = BTreeMap::new();
        for app in self.apps.values().filter(|app| app.linked) {
            let has = app.has.values().copied().fold([0, 0], plus);
            let group = app.group.filter(|group| !group.is_empty());
            let group = group.map(|group| (GROUP, group, app.told, app.runs_in_group));
            for (kind, name, used, runs) in
                std::iter::once((USER, app.user, has, app.runs)).chain(group)
            {
                for queue in up(app.queue) {
                    let sum: &mut (Pair, u64, u64) = sums.entry((kind, name, queue)).or_default();
                    *sum = (plus(sum.0, used), sum.1 + u64::from(runs), sum.2 + 1);
                }
            }
        }
        sums
    }
}

struct Player<'counts> {
    scene: Scene,
    model: Model,
    counts: &'counts mut Counts,
    keys: u32,
}

impl Player<'_> {
    fn count(&mut self, what: &str, times: u64) {
        *self.counts.entry(what.into()).or_default() += times;
    }

    fn play(&mut self, op: Op) {
        let holders = self.model.apps.iter();
        let held = holders.flat_map(|(app, row)| row.has.keys().map(|key| (*app, key.clone())));
        let held: Vec<(&str, String)> = held.collect();
        let pick = |number: usize| held.get(number % held.len().max(1)).cloned();
        match op {
            Op::Submit(app, queue, user) if !self.model.apps.contains_key(APPLICATIONS[app]) => {
                let (name, queue, (user, groups)) = (APPLICATIONS[app], LEAVES[queue], USERS[user]);
                self.scene.app(name, queue, user, groups);
                self.model.apps.insert(name, App { queue, user, groups, ..App::default() });
            }
            Op::Ask(app, size) if self.model.apps.contains_key(APPLICATIONS[app]) => {
                self.keys += 1;
                let key = format!("k{}", self.keys);
                let size = format!("memory={} vcore={}", size[0], size[1]);
                self.following(|scene| {
                    scene.ask(&key, APPLICATIONS[app], &size);
                });
            }
            Op::Release(number) => {
                let Some((app, key)) = pick(number) else { return };
                self.following(|scene| scene.release(app, &key));
            }
            Op::Resize(number, size) => {
                let Some((_, key)) = pick(number) else { return };
                let size = format!("memory={} vcore={}", size[0], size[1]);
                self.following(|scene| {
                    scene.resize(&key, &size);
                    scene.command(&headroom_core::Command::Tick);
                });
            }
            Op::Remove(app) if self.model.apps.contains_key(APPLICATIONS[app]) => {
                self.following(|scene| scene.remove(APPLICATIONS[app]));
            }
            Op::Limits(dice) => self.relimit(dice),
            _ => {}
        }
    }

    fn relimit(&mut self, dice: [u8; 5]) {
        let limits: BTreeMap<_, _> = QUEUES.into_iter().zip(dice.map(limits_of)).collect();
        let mut text = String::new();
        for (queue, all) in &limits {
            for (who, memory, apps) in all {
                let who =
                    if who.starts_with("group") { (*who).into() } else { format!("user {who}") };
                let memory = memory.map_or_else(String::new, |memory| format!("memory={memory}"));
                text.extend([*queue, " ", &*who, " ", &*memory, &*format!(" apps={apps}\n")]);
            }
        }
        let dropped = self.model.relimit(limits);
        self.count("groups dropped with use", dropped);
        self.count("limits changed", 1);
        self.following(|scene| scene.configure(&text));
    }

    /// Let the model follow the events, which say who was served, and not what is counted.
    fn following(&mut self, act: impl FnOnce(&mut Scene)) {
        let from = self.scene.world.journal.len();
        let before = self.scene.books().clone();
        act(&mut self.scene);
        let trackers = |books: &Books| {
            books.partitions().values().map(|one| one.trackers.names(USER).len()).sum::<usize>()
        };
        if trackers(&before) > trackers(self.scene.books()) {
            self.count("user trackers removed", 1);
        }
        let (mut replayed, journal) = (before, self.scene.world.journal[from..].to_vec());
        for (at, event) in journal {
            self.follow(&replayed, &event);
            replayed.apply(at, &event);
        }
        self.compare();
    }

    fn follow(&mut self, books: &Books, event: &Event) {
        let name = |application| name_of(books, application);
        match event {
            Event::Application(ApplicationEvent::Linked { application, group }) => {
                let name = name(*application);
                let late = self.model.apps[name].runs;
                self.model.look(name);
                let chosen = self.model.apps[name].group.expect("it was just looked for");
                assert_eq!(group.as_deref().unwrap_or(""), chosen, "the group of {name}");
                self.count("linked late", u64::from(late && !chosen.is_empty()));
                self.count("linked", 1);
            }
            Event::Ask(AskEvent::Placed { ask, .. }) => {
                let row = books.allocation(*ask);
                let size = pair(books, books.resources_of(*ask));
                self.model.give(name(row.application), &row.key, size);
                self.count("placed", 1);
            }
            Event::Allocation(AllocationEvent::Resized { allocation, resources }) => {
                let row = books.allocation(*allocation);
                let size =
                    ["memory", "vcore"].map(|one| resources.get(one).map_or(0, Quantity::get));
                self.model.give(name(row.application), &row.key, size);
                self.count("resized", 1);
            }
            Event::Allocation(AllocationEvent::Released { allocation, .. }) => {
                let row = books.allocation(*allocation);
                let less = self.model.take(name(row.application), &row.key);
                self.count("released", 1);
                self.count("gave back less to the group", u64::from(less));
            }
            Event::Application(ApplicationEvent::Unlinked { application }) => {
                let app = self.model.apps.get_mut(name(*application)).expect("it was submitted");
                (app.linked, app.group, app.runs) = (false, None, false);
            }
            Event::Application(ApplicationEvent::Removed { application }) => {
                self.model.apps.remove(name(*application));
            }
            _ => {}
        }
    }

    fn compare(&mut self) {
        let sums = self.model.sums();
        let trackers = &self.scene.here().trackers;
        let mut seen = BTreeSet::new();
        let mut held = 0;
        for (id, level) in trackers.levels() {
            let tracker = trackers.tracker(level.tracker);
            let queue = &*self.scene.books().queue(level.queue).path;
            let key = (tracker.kind, &*tracker.name, queue);
            let (used, running, links) = sums.get(&key).copied().unwrap_or_default();
            let books = self.scene.books();
            assert_eq!(pair(books, &level.used()), used, "used by {key:?}");
            assert!(used.iter().all(|amount| *amount >= 0), "{key:?} is below zero");
            assert_eq!(
                (level.running, level.links()),
                (running, links),
                "runs and links of {key:?}"
            );
            let (memory, apps, others) = self.model.limit(tracker.kind, &tracker.name, queue);
            let max = level.max().map(|max| pair(books, max)[0]);
            let limit = (max, level.max_applications(), level.from_wildcard);
            assert_eq!(limit, (memory, apps, others), "limit of {key:?}");
            let left = level.left().map(|left| pair(books, &left)[0]);
            assert_eq!(left, memory.map(|memory| memory - used[0]), "left for {key:?}");
            let needed = links > 0 || level.is_limited() || trackers.children(id).count() > 0;
            assert!(needed, "{key:?} has neither use nor limit");
            held += u64::from(left.is_some_and(|left| left < 0));
            seen.insert((key.0, key.1.to_owned(), queue.to_owned()));
        }
        for (kind, name, queue) in sums.keys() {
            let key = (*kind, (*name).to_owned(), (*queue).to_owned());
            assert!(seen.contains(&key), "{key:?} is tied, and has no level");
        }
        self.count("levels over their limit", held);
    }
}

fn name_of(books: &Books, application: ApplicationId) -> &'static str {
    let name: &Name = &books.application(application).name;
    APPLICATIONS.into_iter().find(|one| name == *one).expect("the model knows it")
}

fn pair(books: &Books, resources: &Resources) -> Pair {
    let amounts = books.types().amounts(resources);
    ["memory", "vcore"].map(|name| amounts.get(name).map_or(0, Quantity::get))
}

#[test]
fn random_changes_of_use_and_limits_agree_with_sums_by_path() {
    let counts = std::cell::RefCell::new(Counts::new());
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    let chance = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, chance);
    let outcome = runner.run(&prop::collection::vec(op(), 1..120), |ops| {
        let mut counts = counts.borrow_mut();
        let scene = Scene::new("root.a.x root.a.y root.b", "");
        let mut player = Player { scene, model: Model::default(), counts: &mut counts, keys: 0 };
        for op in ops {
            player.play(op);
        }
        for name in APPLICATIONS.into_iter().rev() {
            if player.model.apps.contains_key(name) {
                player.following(|scene| scene.remove(name));
            }
        }
        player.relimit([8; 5]);
        let trackers = &player.scene.here().trackers;
        assert_eq!(trackers.levels().count(), 0, "without use and limits nothing is left");
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
    let counts = counts.into_inner();
    for what in [
        "linked",
        "linked late",
        "placed",
        "resized",
        "released",
        "gave back less to the group",
        "limits changed",
        "groups dropped with use",
        "user trackers removed",
        "levels over their limit",
    ] {
        let count = counts.get(what).copied().unwrap_or_default();
        println!("{count:>9} {what}");
        assert!(count > 0, "{what} never happened");
    }
}
