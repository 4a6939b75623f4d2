//! Random histories of the trackers alone, compared with a model that has one number for each user or group, queue,
//! and type: charges at leaves and above them, by applications of the queue and by others, amounts that overflow,
//! types beyond the eighth, and limits that are added and removed.

use std::collections::BTreeMap;

use headroom_core::Name;
use headroom_core::books::tracker::{LimitSettings, LimitSubject, TrackerKind, Trackers};
use headroom_core::id::{LevelId, QueueId};
use headroom_core::resource::{Amounts, Resources};
use headroom_core::testkit::{Counts, vector};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

use super::{GROUP, Scene, USER};

const LEAVES: &str = "root.a.b.c root.a.b.d root.a.e root.f.g.h";
const QUEUES: [&str; 9] = [
    "root",
    "root.a",
    "root.a.b",
    "root.a.b.c",
    "root.a.b.d",
    "root.a.e",
    "root.f",
    "root.f.g",
    "root.f.g.h",
];
const WHO: [(TrackerKind, &str); 5] =
    [(USER, "ann"), (USER, "bob"), (USER, "eve"), (GROUP, "dev"), (GROUP, "*")];

/// Types that the model has. The last ones exceed those that are stored inline.
const TYPES: usize = 10;
type Row = [i64; TYPES];

#[derive(Clone, Copy, Debug)]
enum Op {
    /// An application comes: who, at which queue.
    Link(usize, usize),
    /// One of those tied goes, or is charged, or starts.
    Unlink(usize),
    Charge(usize, Row),
    Refund(usize, Row),
    Start(usize),
    /// Charge and give back where nobody needs to be tied: who, at which queue.
    ChargeAt(usize, usize, Row),
    RefundAt(usize, usize, Row),
    /// Other limits of a queue, by a die.
    Limits(usize, u8),
}

fn row() -> impl Strategy<Value = Row> {
    let amount =
        prop_oneof![8 => Just(0), 24 => 1..5_i64, 1 => Just(1 << 61), 1 => Just(i64::MAX - 3)];
    let amounts = prop::collection::vec(amount, TYPES);
    // Most amounts are of few types: any beyond the eighth keeps all from being taken at once.
    (amounts, prop_oneof![1 => Just(TYPES), 5 => 1..9_usize]).prop_map(|(amounts, types)| {
        core::array::from_fn(|lane| if lane < types { amounts[lane] } else { 0 })
    })
}

fn op() -> impl Strategy<Value = Op> {
    let (who, queue) = (|| 0..WHO.len(), || 0..QUEUES.len());
    // More often at a leaf.
    let place = move || prop_oneof![queue(), prop::sample::select(vec![3_usize, 4, 5, 8])];
    prop_oneof![
        6 => (who(), place()).prop_map(|(who, queue)| Op::Link(who, queue)),
        4 => any::<usize>().prop_map(Op::Unlink),
        8 => (any::<usize>(), row()).prop_map(|(link, row)| Op::Charge(link, row)),
        5 => (any::<usize>(), row()).prop_map(|(link, row)| Op::Refund(link, row)),
        1 => any::<usize>().prop_map(Op::Start),
        1 => (who(), queue(), row()).prop_map(|(who, queue, row)| Op::ChargeAt(who, queue, row)),
        1 => (who(), queue(), row()).prop_map(|(who, queue, row)| Op::RefundAt(who, queue, row)),
        4 => (queue(), any::<u8>()).prop_map(|(queue, die)| Op::Limits(queue, die)),
    ]
}

/// For whom, by their place in `WHO` (nobody: all other users), and how much.
type Limit = (Option<usize>, Row);

/// What a die limits a queue to: nothing below zero is a type that is not named.
fn limits_of(die: u8) -> Vec<Limit> {
    let amount = i64::from(die / 8);
    let max = |some: fn(usize) -> bool| {
        core::array::from_fn(|lane| if some(lane) { amount + 2 } else { -1 })
    };
    match die % 8 {
        0 => vec![(Some(0), max(|_| true)), (Some(3), max(|lane| lane == 1))],
        1 => vec![(None, max(|lane| lane < 8))],
        2 => vec![(Some(1), max(|lane| lane > 5)), (None, max(|lane| lane % 2 == 0))],
        3 => vec![(Some(3), max(|lane| lane < 3)), (Some(4), max(|lane| lane > 1))],
        4 => vec![(Some(0), max(|_| false)), (Some(1), max(|lane| lane < 8))],
        _ => Vec::new(),
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Count {
    used: Row,
    links: u64,
    running: u64,
}

#[derive(Debug)]
struct Link {
    who: usize,
    queue: usize,
    level: LevelId,
    charged: Row,
    running: u64,
}

struct Player<'counts> {
    trackers: Trackers,
    paths: Vec<Vec<QueueId>>,
    /// Whether only those are charged who are tied, and give all back before they go.
    orderly: bool,
    links: Vec<Link>,
    counts: BTreeMap<(usize, usize), Count>,
    limits: BTreeMap<usize, Vec<Limit>>,
    seen: &'counts mut Counts,
}

/// A queue and those above it, the queue first.
fn up(queue: usize) -> impl Iterator<Item = usize> {
    let above = move |one: &usize| {
        let (queue, above) = (QUEUES[queue], QUEUES[*one]);
        queue == above || queue.starts_with(&format!("{above}."))
    };
    let path: Vec<usize> = (0..QUEUES.len()).filter(above).collect();
    path.into_iter().rev()
}

fn resources(row: &Row) -> Resources {
    vector(row.iter().copied().enumerate().filter(|(_, amount)| *amount > 0))
}

fn maximum(row: &Row) -> Option<Resources> {
    let max = vector(row.iter().copied().enumerate().filter(|(_, amount)| *amount >= 0));
    Some(max).filter(|max| !max.is_empty())
}

impl Player<'_> {
    fn note(&mut self, what: &'static str) {
        *self.seen.entry(what.into()).or_default() += 1;
    }

    fn each_up(&mut self, who: usize, queue: usize, change: impl Fn(&mut Count)) {
        for queue in up(queue) {
            change(self.counts.entry((who, queue)).or_default());
        }
    }

    fn charge(&mut self, (who, queue, level): (usize, usize, LevelId), row: &Row) {
        self.trackers.increase(level, &resources(row)).expect("it is there");
        self.each_up(who, queue, |count| {
            for (used, more) in count.used.iter_mut().zip(row) {
                *used = used.saturating_add(*more);
            }
        });
    }

    fn refund(&mut self, (who, queue, level): (usize, usize, LevelId), row: &Row) {
        self.trackers.decrease(level, &resources(row)).expect("it is there");
        self.each_up(who, queue, |count| {
            for (used, less) in count.used.iter_mut().zip(row) {
                *used = (*used - less).max(0);
            }
        });
    }

    fn link(&mut self, who: usize, queue: usize) -> LevelId {
        let (kind, name) = WHO[who];
        let level = self.trackers.link(kind, &Name::new(name), &self.paths[queue]);
        self.each_up(who, queue, |count| count.links += 1);
        level.expect("the path is right")
    }

    fn unlink(&mut self, link: &Link) {
        let place = (link.who, link.queue, link.level);
        if self.orderly {
            self.refund(place, &link.charged);
        }
        for _ in 0..link.running {
            self.trackers.stop_application(link.level).expect("it runs");
        }
        self.trackers.unlink(link.level).expect("it is tied");
        self.each_up(link.who, link.queue, |count| {
            count.links -= 1;
            count.running -= link.running;
        });
    }

    fn limit(&mut self, queue: usize, die: u8) {
        let limits = limits_of(die);
        let subject = |who: Option<usize>| match who.map(|who| WHO[who]) {
            None => LimitSubject::AnyUser,
            Some((GROUP, "*")) => LimitSubject::AnyGroup,
            Some((GROUP, name)) => LimitSubject::Group(Name::new(name)),
            Some((USER, name)) => LimitSubject::User(Name::new(name)),
        };
        let settings = |(who, _): &Limit| LimitSettings {
            subject: subject(*who),
            max: Amounts::EMPTY,
            max_applications: 0,
        };
        let settings: Vec<LimitSettings> = limits.iter().map(settings).collect();
        let max = limits.iter().map(|(_, max)| maximum(max)).collect();
        self.trackers.set_limits(&self.paths[queue], &settings, max).expect("the path is right");
        self.limits.insert(queue, limits);
    }

    fn max_of(&self, who: usize, queue: usize) -> Option<Resources> {
        let limits = self.limits.get(&queue)?;
        let own = limits.iter().find(|(whom, _)| *whom == Some(who));
        let others = limits.iter().find(|(whom, _)| whom.is_none() && WHO[who].0 == USER);
        own.or(others).and_then(|(_, max)| maximum(max))
    }

    /// The tied one, of as many as there are.
    fn nth(&self, number: usize) -> Option<(usize, (usize, usize, LevelId))> {
        let at = number.checked_rem(self.links.len())?;
        let link = &self.links[at];
        Some((at, (link.who, link.queue, link.level)))
    }

    fn play(&mut self, op: Op) {
        match op {
            Op::Link(who, queue) => {
                let level = self.link(who, queue);
                self.links.push(Link { who, queue, level, charged: [0; TYPES], running: 0 });
            }
            Op::Unlink(number) => {
                let Some((at, _)) = self.nth(number) else { return };
                let link = self.links.swap_remove(at);
                self.unlink(&link);
            }
            Op::Charge(number, row) => {
                let Some((at, place)) = self.nth(number) else { return };
                // An orderly application releases what it was charged, so that must not overflow.
                let row = if self.orderly { row.map(|amount| amount % 1_000) } else { row };
                self.charge(place, &row);
                for (charged, more) in self.links[at].charged.iter_mut().zip(row) {
                    *charged = charged.saturating_add(more);
                }
            }
            Op::Refund(number, row) => {
                let Some((at, place)) = self.nth(number) else { return };
                let mut row = row;
                if self.orderly {
                    for (less, charged) in row.iter_mut().zip(&mut self.links[at].charged) {
                        *less = (*less).min(*charged);
                        *charged -= *less;
                    }
                }
                self.refund(place, &row);
            }
            Op::Start(number) => {
                let Some((at, (who, queue, level))) = self.nth(number) else { return };
                self.trackers.start_application(level).expect("it is there");
                self.each_up(who, queue, |count| count.running += 1);
                self.links[at].running += 1;
            }
            Op::ChargeAt(who, queue, row) | Op::RefundAt(who, queue, row) => {
                let (kind, name) = WHO[who];
                let level = self.trackers.level_of(kind, name, self.paths[queue][depth(queue)]);
                let Some(level) = level.filter(|_| !self.orderly) else { return };
                self.note("charged without being tied");
                match op {
                    Op::ChargeAt(..) => self.charge((who, queue, level), &row),
                    _ => self.refund((who, queue, level), &row),
                }
            }
            Op::Limits(queue, die) => self.limit(queue, die),
        }
    }

    fn compare(&mut self) {
        let (mut levels, mut free) = (BTreeMap::new(), 0);
        for (id, level) in self.trackers.levels() {
            let tracker = self.trackers.tracker(level.tracker);
            let who = WHO.iter().position(|who| *who == (tracker.kind, &*tracker.name));
            let at = |queue: &usize| self.paths[*queue].last() == Some(&level.queue);
            let queue = (0..QUEUES.len()).find(at);
            let (who, queue) = (who.expect("a known name"), queue.expect("a known queue"));
            let key = format!("{} at {}", WHO[who].1, QUEUES[queue]);
            let count = self.counts.get(&(who, queue)).cloned().unwrap_or_default();
            assert_eq!(level.used(), resources(&count.used), "used by {key}");
            assert_eq!((level.links(), level.running), (count.links, count.running), "{key}");
            assert_eq!(level.max(), self.max_of(who, queue).as_ref(), "limit of {key}");
            assert!(self.trackers.is_in_place(id), "{key} is not where it is looked for");
            let leans = self.trackers.leans_if_it_may(id);
            assert!(leans || !self.orderly, "{key} stands without need");
            free += u64::from(!leans);
            levels.insert((who, queue), id);
        }
        for (key, count) in self.counts.iter().filter(|(_, count)| **count != Count::default()) {
            assert!(levels.contains_key(key), "{key:?} has {count:?}, and no level");
        }
        assert!(self.trackers.shared_are_counted(), "shared ceilings");
        *self.seen.entry("stands without need".into()).or_default() += free;
    }

    /// Who is refused this much, by the model.
    fn refusing(
        &self,
        who: usize,
        queue: usize,
        lifted: usize,
        row: &Row,
    ) -> Option<(usize, usize)> {
        up(queue).skip(lifted).find_map(|queue| {
            let (max, used) = (self.max_of(who, queue)?, self.counts[&(who, queue)].used);
            let short = max.iter().find(|(resource, max)| {
                let left = max.get() - used[resource.lane()];
                row[resource.lane()] > left.max(0)
            });
            Some((queue, short?.0.lane()))
        })
    }

    fn check(&mut self, number: usize, row: &Row) {
        let Some((_, (who, queue, level))) = self.nth(number) else { return };
        for lifted in 0..5 {
            let refused = self.trackers.refusing(level, lifted, &resources(row));
            let refused = refused.map(|(level, short)| {
                let at = self.trackers.level(level).queue;
                let queue = (0..QUEUES.len()).find(|one| self.paths[*one].last() == Some(&at));
                (queue.expect("a known queue"), short.resource.lane())
            });
            let expected = self.refusing(who, queue, lifted, row);
            assert_eq!(refused, expected, "{row:?} for {:?} at {queue}, {lifted}", WHO[who]);
            self.note(if refused.is_some() { "refused" } else { "allowed" });
        }
    }
}

fn depth(queue: usize) -> usize {
    QUEUES[queue].matches('.').count()
}

#[test]
fn random_charges_at_any_level_agree_with_one_number_each() {
    let scene = Scene::new(LEAVES, "");
    let path = |queue: &&str| scene.books().path_of(scene.queue(queue));
    let paths: Vec<Vec<QueueId>> = QUEUES.iter().map(path).collect();
    let counts = std::cell::RefCell::new(Counts::new());
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    let chance = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, chance);
    let history = prop::collection::vec((op(), any::<usize>(), row()), 1..100);
    let outcome = runner.run(&(any::<bool>(), history), |(orderly, history)| {
        let mut seen = counts.borrow_mut();
        let player = |seen| Player {
            trackers: Trackers::default(),
            paths: paths.clone(),
            orderly,
            links: Vec::new(),
            counts: BTreeMap::new(),
            limits: BTreeMap::new(),
            seen,
        };
        let (mut one, mut early) = (player(&mut seen), None);
        for (step, (op, number, row)) in history.iter().enumerate() {
            one.play(*op);
            one.compare();
            one.check(*number, row);
            if step == history.len() / 2 {
                early = Some(one.trackers.clone());
            }
        }
        let late = one.trackers.clone();
        for link in core::mem::take(&mut one.links) {
            one.unlink(&link);
        }
        (0..QUEUES.len()).for_each(|queue| one.limit(queue, 7));
        one.compare();
        let left = one.trackers.levels().count();
        assert!(left == 0 || !orderly, "without use and limits nothing is left");

        let mut unseen = Counts::new();
        let mut again = player(&mut unseen);
        for (step, (op, ..)) in history.iter().enumerate() {
            again.play(*op);
            if step == history.len() / 2 {
                assert_eq!(Some(&again.trackers), early.as_ref(), "a clone sees no later change");
            }
        }
        assert_eq!(again.trackers, late, "the same history makes the same trackers");
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
    let counts = counts.into_inner();
    for what in ["refused", "allowed", "charged without being tied", "stands without need"] {
        let count = counts.get(what).copied().unwrap_or_default();
        println!("{count:>9} {what}");
        assert!(count > 0, "{what} never happened");
    }
}
