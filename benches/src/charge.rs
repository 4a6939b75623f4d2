//! Trackers alone: what a check and a charge cost, by depth, types, users and queues.

use headroom_core::books::Books;
use headroom_core::books::tracker::{LimitSettings, LimitSubject, TrackerKind, Trackers};
use headroom_core::config::{Configuration, LimitConfig, PartitionConfig, QueueConfig};
use headroom_core::id::{LevelId, QueueId};
use headroom_core::resource::{Amounts, Quantity, ResourceType, Resources};
use headroom_core::{Command, Name, Timestamp, decide};

/// Trackers, and which user is charged at which queue.
#[derive(Clone, Debug)]
pub struct Charges {
    /// The subject.
    pub trackers: Trackers,
    /// The level of a user, and the level of the group if the group counts.
    linked: Vec<(LevelId, Option<LevelId>)>,
    /// Which of them is charged, one after another.
    order: Vec<u32>,
    amount: Resources,
    charged: usize,
    paths: Vec<Vec<QueueId>>,
}

impl Charges {
    /// Queues `depth` deep, a limit for every user and every group at each with `types` types,
    /// this many users in 100 groups, and charges that fall on them by Zipf's law (exponent 1).
    pub fn zipf(depth: usize, types: usize, users: usize, charges: usize) -> Self {
        let (books, paths) = tree(1, depth);
        let mut trackers = Trackers::default();
        let groups: Vec<Name> = (0..100).map(|number| format!("g{number}").into()).collect();
        let groups_limited = groups.iter().map(|name| LimitSubject::Group(name.clone()));
        let subjects = groups_limited.chain([LimitSubject::AnyUser]).collect::<Vec<_>>();
        limit_all(&mut trackers, &paths, &subjects, &vector(&books, types, i64::MAX / 2));
        let linked = (0..users).map(|number| {
            let name = Name::from(format!("user-{number}"));
            let user = trackers.link(TrackerKind::User, &name, &paths[0]);
            let group = trackers.link(TrackerKind::Group, &groups[number % 100], &paths[0]);
            (user.expect("a fresh path"), Some(group.expect("a fresh path")))
        });
        let linked: Vec<_> = linked.collect();
        let order = zipf(users, charges);
        Self { trackers, linked, order, amount: vector(&books, types, 1), charged: 0, paths }
    }

    /// The same, with an application of each user and group at the queues above the leaf too: no
    /// two levels of theirs use the same by their structure, so each is looked at by itself.
    pub fn branched(depth: usize, types: usize, users: usize, charges: usize) -> Self {
        let mut all = Self::zipf(depth, types, users, charges);
        for level in all.linked.clone().into_iter().flat_map(|(user, group)| [Some(user), group]) {
            let level = level.map(|level| all.trackers.level(level).tracker);
            let tracker = level.map(|tracker| all.trackers.tracker(tracker).clone());
            let Some(tracker) = tracker else { continue };
            for end in 1..depth {
                let linked = all.trackers.link(tracker.kind, &tracker.name, &all.paths[0][..end]);
                linked.expect("a known path");
            }
        }
        all
    }

    /// This many users, each in `queues` queues that are `depth` deep and share only the root,
    /// with a limit for every user in each, charged all alike.
    pub fn nested(depth: usize, queues: usize, users: usize, charges: usize) -> Self {
        let (books, paths) = tree(queues, depth);
        let mut trackers = Trackers::default();
        let max = vector(&books, 2, i64::MAX / 2);
        limit_all(&mut trackers, &paths, &[LimitSubject::AnyUser], &max);
        let mut linked = Vec::new();
        for number in 0..users {
            let name = Name::from(format!("user-{number}"));
            for path in &paths {
                let level = trackers.link(TrackerKind::User, &name, path).expect("a fresh path");
                linked.push((level, None));
            }
        }
        let mut random = Random(7);
        let order = (0..charges).map(|_| random.below(linked.len())).collect();
        Self { trackers, linked, order, amount: vector(&books, 2, 1), charged: 0, paths }
    }

    /// Check every charge against all limits, and charge it.
    pub fn charge_all(&mut self) {
        self.charged += self.order.len();
        for place in &self.order {
            let (user, group) = self.linked[*place as usize];
            for level in core::iter::once(user).chain(group) {
                let refused = self.trackers.refusing(level, 0, &self.amount);
                assert!(refused.is_none(), "there is room for all");
            }
            for level in core::iter::once(user).chain(group) {
                self.trackers.increase(level, &self.amount).expect("the levels are linked");
            }
        }
    }

    /// Link a new application of a user to its queue and unlink it, once for each charge.
    pub fn link_all(&mut self) {
        for place in &self.order {
            let place = *place as usize;
            let (level, _) = self.linked[place];
            let user = self.trackers.tracker(self.trackers.level(level).tracker).name.clone();
            let path = &self.paths[place % self.paths.len()];
            let level = self.trackers.link(TrackerKind::User, &user, path).expect("a known path");
            self.trackers.unlink(level).expect("it was just linked");
        }
    }

    /// The root's use of all users is the sum of the charges.
    ///
    /// # Panics
    /// When it is not.
    pub fn check(&self) {
        let users = self.trackers.names(TrackerKind::User).iter();
        let used = users.map(|(_, id)| {
            let root = self.trackers.level(self.trackers.tracker(*id).root);
            root.used().get_or_zero(ResourceType::MEMORY).get()
        });
        let charged = i64::try_from(self.charged).unwrap_or(i64::MAX);
        assert_eq!(used.sum::<i64>(), charged, "every charge is counted once");
    }
}

/// The types of these benchmarks: memory, vcore, and others.
pub(crate) fn amounts(types: usize, amount: i64) -> Amounts {
    let mut amounts = Amounts::EMPTY;
    for lane in 0..types {
        let other = format!("other-{lane}");
        amounts.set(["memory", "vcore"].get(lane).copied().unwrap_or(&other), Quantity::of(amount));
    }
    amounts
}

fn vector(books: &Books, types: usize, amount: i64) -> Resources {
    books.types().resolve(&amounts(types, amount)).expect("the file names all types")
}

fn limit_all(
    trackers: &mut Trackers,
    paths: &[Vec<QueueId>],
    subjects: &[LimitSubject],
    max: &Resources,
) {
    let settings: Vec<LimitSettings> = subjects
        .iter()
        .map(|subject| LimitSettings {
            subject: subject.clone(),
            max: Amounts::EMPTY,
            max_applications: 0,
        })
        .collect();
    for path in paths {
        for depth in 1..=path.len() {
            let max = vec![Some(max.clone()); settings.len()];
            let set = trackers.set_limits(&path[..depth], &settings, max);
            set.expect("a path of the tree");
        }
    }
}

/// The paths of this many leaves, each below queues of its own, `depth` queues with the root.
fn tree(leaves: usize, depth: usize) -> (Books, Vec<Vec<QueueId>>) {
    let chain = |number: usize| {
        let mut below = None;
        for _ in 1..depth {
            let name = if below.is_none() { "leaf".into() } else { format!("c{number}") };
            let children = below.into_iter().collect::<Vec<_>>();
            below = Some(QueueConfig { name: name.into(), children, ..QueueConfig::default() });
        }
        below.map(|top| QueueConfig { name: format!("c{number}").into(), ..top })
    };
    let children = (0..leaves).filter_map(chain).collect();
    // Only so that the books know all types.
    let limits = vec![LimitConfig {
        users: vec![Name::new("nobody")],
        max_resources: amounts(8, 1),
        ..LimitConfig::default()
    }];
    let name = Name::new("root");
    let root = QueueConfig { name, parent: true, children, limits, ..QueueConfig::default() };
    let partitions = vec![PartitionConfig::new("default", root)];
    let file = Configuration { partitions, ..Configuration::default() };
    let (mut books, now) = (Books::default(), Timestamp::ZERO);
    let events = decide(&books, now, &Command::Configure(Box::new(file)));
    for event in &events.expect("a benchmark's file is legal") {
        books.apply(now, event);
    }
    let ends = books.queues().iter().filter(|(_, queue)| queue.child_count == 0);
    let paths = ends.map(|(id, _)| books.path_of(id)).collect();
    (books, paths)
}

/// A small generator of numbers that look random; the same every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        // Source: Sebastiano Vigna's splitmix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> u32 {
        let bound = u64::try_from(bound).unwrap_or(u64::MAX);
        u32::try_from(self.next() % bound).unwrap_or(u32::MAX)
    }
}

/// Numbers below `count` by Zipf's law with exponent 1, spread over the range.
#[expect(clippy::cast_precision_loss, reason = "a draw needs no more precision")]
pub(crate) fn zipf(count: usize, draws: usize) -> Vec<u32> {
    let mut total = 0.0;
    let sums: Vec<f64> = (1..=count)
        .map(|rank| {
            total += 1.0 / rank as f64;
            total
        })
        .collect();
    let mut random = Random(1);
    let mut places: Vec<u32> = (0..count).map(|place| u32::try_from(place).unwrap_or(0)).collect();
    for last in (1..count).rev() {
        places.swap(last, random.below(last + 1) as usize);
    }
    (0..draws)
        .map(|_| {
            let point = random.next() as f64 / u64::MAX as f64 * total;
            let rank = sums.partition_point(|sum| *sum < point).min(count - 1);
            places[rank]
        })
        .collect()
}
