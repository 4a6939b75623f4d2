//! A day of clusters whose demand always exceeds their capacity: preemption settles. No queue preempts the one that
//! preempted it, except leaves that users share: these do so once at most.

use std::collections::{BTreeMap, BTreeSet};

use headroom_core::PreemptionCause;
use headroom_core::id::AllocationId;
use headroom_core::resource::{Amounts, Quantity};
use headroom_core::testkit::{World, amounts};
use headroom_core::{
    AddNode, AllocationEvent, Ask, Command, Event, Name, Step, Submit, Termination, Timestamp,
};

use crate::situation::{Chance, Kind, application_of, leaves, some_amounts, tree};

/// How many days: `HEADROOM_DAYS`, or enough for every day.
fn days() -> u64 {
    let text = std::env::var("HEADROOM_DAYS").ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(300)
}

const BEGIN: Timestamp = Timestamp::from_millis(1_000_000);
const DAY: u64 = 24 * 60 * 60 * 1_000;
/// Time by which it has settled: a reservation is dropped after two hours, and a consequence of that can be dropped
/// two hours later.
const SETTLED: u64 = 12 * 60 * 60 * 1_000;

/// Who takes from whom: applications where users of a leaf share it, otherwise leaves.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    among_users: bool,
    taker: Name,
    giver: Name,
}

impl Pair {
    fn reversed(&self) -> Self {
        let (taker, giver) = (self.giver.clone(), self.taker.clone());
        Self { among_users: self.among_users, taker, giver }
    }
}

/// Whatever is stopped is asked for again at once, and nothing ends by itself. So room changes
/// hands by preemption alone.
struct Day {
    world: World,
    chance: Chance,
    /// What the RM is about to stop, and when.
    stops: BTreeSet<(Timestamp, AllocationId)>,
    /// When whose asks had whose allocations stopped.
    taken: BTreeMap<Pair, Vec<Timestamp>>,
    asked: u64,
    /// How many were stopped for other users of the same leaf.
    within: u64,
}

impl Day {
    fn of(seed: u64, kind: Kind) -> Option<Self> {
        let mut chance = Chance::of(seed);
        let configuration = tree(&mut chance, kind);
        let paths = leaves(&configuration);
        let world = World { now: BEGIN, ..World::default() };
        let (stops, taken) = (BTreeSet::new(), BTreeMap::new());
        let mut day = Self { world, chance, stops, taken, asked: 0, within: 0 };
        day.world.command(&Command::Configure(Box::new(configuration))).ok()?;
        for number in 0..=day.chance.below(3) {
            let mut size = || i64::try_from(3 + day.chance.below(6)).unwrap();
            let capacity = amounts([("c", size()), ("m", size()), ("g", size())]);
            let node = Name::from(format!("n{number}"));
            let partition = Name::new("default");
            let add =
                AddNode { partition, node, capacity, schedulable: true, ..AddNode::default() };
            day.world.command(&Command::AddNode(add)).ok()?;
        }
        let users: &[&str] = if kind == Kind::Shared { &["ann", "bob"] } else { &["ann"] };
        for (path, user) in
            users.iter().flat_map(|user| paths.iter().map(move |path| (path, *user)))
        {
            let application = application_of(path, user);
            let submit = Submit {
                partition: Name::new("default"),
                application: application.clone(),
                queue: Name::from(path.clone()),
                user: Name::new(user),
                ..Submit::default()
            };
            day.world.command(&Command::Submit(submit)).ok()?;
            // They come one after another, so that those who come first take what is free.
            for _ in 0..2 {
                let resources = some_amounts(&mut day.chance, 4);
                for _ in 0..6 {
                    day.ask(application.clone(), resources.clone(), 1);
                }
            }
            day.settle();
        }
        Some(day)
    }

    fn ask(&mut self, application: Name, resources: Amounts, priority: i32) {
        self.asked += 1;
        let is_nothing = resources.iter().all(|(_, amount)| amount == Quantity::ZERO);
        let ask = Ask {
            partition: Name::new("default"),
            application,
            key: Name::from(format!("k{}", self.asked)),
            resources,
            priority,
            may_preempt: true,
            preemptable: !self.asked.is_multiple_of(3),
            ..Ask::default()
        };
        // One of nothing is refused.
        let refused = self.world.command(&Command::Ask(ask)).err();
        let code = refused.map(|refusal| refusal.code().as_str());
        assert_eq!(code, is_nothing.then_some("ASK_SIZE"));
    }

    fn settle(&mut self) {
        for event in self.world.settle() {
            let (victim, ask, among_users) = match event {
                Event::Allocation(AllocationEvent::Preempted {
                    victim,
                    cause: PreemptionCause::Guarantee(ask),
                }) => (victim, ask, false),
                Event::Allocation(AllocationEvent::Preempted {
                    victim,
                    cause: PreemptionCause::Share(ask),
                }) => {
                    assert_eq!(self.leaf_of(ask), self.leaf_of(victim), "users of one leaf");
                    self.within += 1;
                    (victim, ask, true)
                }
                _ => continue,
            };
            let name = |id| if among_users { self.application_of(id) } else { self.leaf_of(id) };
            let pair = Pair { among_users, taker: name(ask), giver: name(victim) };
            self.taken.entry(pair).or_default().push(self.world.now);
            let delay = 1 + self.chance.below(60_000);
            let at = Timestamp::from_millis(self.world.now.as_millis() + delay);
            self.stops.insert((at, victim));
        }
    }

    fn leaf_of(&self, id: AllocationId) -> Name {
        let books = &self.world.books;
        let leaf = books.application(books.allocation(id).application).queue;
        books.queue(leaf).path.clone()
    }

    fn application_of(&self, id: AllocationId) -> Name {
        let books = &self.world.books;
        books.application(books.allocation(id).application).name.clone()
    }

    /// Let the day pass, from one point at which something happens to the next.
    fn pass(&mut self) {
        let end = Timestamp::from_millis(BEGIN.as_millis() + DAY);
        while self.world.now < end {
            self.settle();
            let (books, now) = (&self.world.books, self.world.now);
            let step = self.world.scheduler.next(books, now, &mut Vec::new());
            let Step::Idle { wake_at } = step else { unreachable!("it has settled") };
            let timer = books.next_deadline().filter(|at| *at > now);
            let stop = self.stops.first().map(|(at, _)| *at);
            let next = wake_at.into_iter().chain(timer).chain(stop).min().unwrap_or(end);
            self.world.now = next.min(end);
            self.stop_due();
            self.world.command(&Command::Tick).unwrap();
        }
        self.world.books.check().unwrap();
    }

    fn stop_due(&mut self) {
        while let Some((_, id)) =
            self.stops.first().copied().filter(|(at, _)| *at <= self.world.now)
        {
            self.stops.pop_first();
            let books = &self.world.books;
            let row = books.allocation(id);
            let application = books.application(row.application).name.clone();
            let resources = books.types().amounts(books.resources_of(id));
            let (key, priority) = (row.key.clone(), row.priority);
            let release = Command::Release {
                partition: Name::new("default"),
                application: application.clone(),
                key: Some(key),
                termination: Termination::Preempted,
            };
            self.world.command(&release).unwrap();
            self.ask(application, resources, priority);
        }
    }
}

#[test]
fn nobody_takes_back_within_a_day_from_whoever_took_from_him() {
    for kind in [Kind::Strict, Kind::Shared] {
        println!("{}", nobody_takes_back(kind));
    }
}

/// How often two sides took from each other in turn: 1 where one of them alone ever took.
fn turns(times: &[Timestamp], back: &[Timestamp]) -> usize {
    let mut all: Vec<_> = times.iter().map(|at| (*at, true)).collect();
    all.extend(back.iter().map(|at| (*at, false)));
    all.sort();
    all.dedup_by_key(|(_, forth)| *forth);
    all.len()
}

/// What was counted, as a sentence.
fn nobody_takes_back(kind: Kind) -> String {
    let (mut takings, mut busy, mut within, mut returned) = (0, 0, 0, 0);
    for seed in 0..days() {
        let Some(mut day) = Day::of(seed, kind) else { continue };
        day.pass();
        within += day.within;
        let count: usize = day.taken.values().map(Vec::len).sum();
        takings += count;
        busy += u64::from(count > 0);
        for (pair, times) in &day.taken {
            let Pair { taker, giver, .. } = pair;
            let back = day.taken.get(&pair.reversed());
            let turns = turns(times, back.map_or(&[], Vec::as_slice));
            // In a leaf that users share, what was freed for one ask may go to another user who is next: the
            // leaf it came from takes it back, and what was taken first is taken once more.
            let is_shared = kind == Kind::Shared && !pair.among_users;
            let most = if is_shared { 3 } else { 1 };
            assert!(
                turns <= most,
                "{kind:?}, seed {seed}: {pair:?} took at {times:?}, and the other way at {back:?}"
            );
            returned += u64::from(turns > 1);
            let last = times.last().map_or(0, |at| at.as_millis() - BEGIN.as_millis());
            assert!(
                last < SETTLED,
                "{kind:?}, seed {seed}: {taker} still takes from {giver}: {times:?}"
            );
        }
    }
    let text = format!(
        "{kind:?}: {takings} allocations were stopped, {within} for other users of the same leaf, in {busy} of {} days; {} pairs of leaves took from each other",
        days(),
        returned / 2
    );
    assert!(within > 0 || kind != Kind::Shared, "no user takes from another");
    assert!(busy * 10 > days(), "too few days on which anything is stopped");
    text
}
