//! On random histories, the first failed check in an explanation is the one at which a scheduler without stored
//! results has stopped.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use headroom_core::books::{Allocation, Books};
use headroom_core::config::Configuration;
use headroom_core::config::GangPlacement;
use headroom_core::explain::{Check, Explanation, LINE_MAX, Verdict, explain, first_in, first_of};
use headroom_core::id::{AllocationId, PartitionId};
use headroom_core::resource::Quantity;
use headroom_core::testkit::{
    Counts, Op, World, history, lending_history, lending_tree, play, tree,
};
use headroom_core::{Blocker, Kind, Scheduler, Timestamp};
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::never;
use crate::order;
use crate::remedies;
use crate::shown::shown;
use crate::supposed;

/// How many histories: `HEADROOM_EXPLAINED`, or enough for every day.
fn histories() -> u32 {
    number_in("HEADROOM_EXPLAINED").unwrap_or(1_000)
}

fn number_in(variable: &str) -> Option<u32> {
    std::env::var(variable).ok().and_then(|text| text.parse().ok())
}

/// What must have been explained at least once, or the histories do not test it.
const REACHED: &[&str] = &[
    "ABS_USER_LIMIT",
    "GANG_INCOMPLETE",
    "AWAITING_RM",
    "BEHIND_HEAD",
    "DRIVER_LIMIT_QUEUE",
    "GROUP_APPS",
    "HELD_FOR_HEAD",
    "IMPOSSIBLE",
    "MAX_APPS",
    "NODE_BLOCKED",
    "NODE_CONSTRAINT",
    "NODE_RESOURCES",
    "NO_NODE_FITS",
    "PARALLEL_LIMIT",
    "PREEMPTION_PENDING",
    "QUEUE_MAX",
    "QUEUE_STATE",
    "REQUIRED_NODE_FULL",
    "ROOT_CAPACITY",
    "USER_APPS",
    "USER_HARD_CAP",
    "USER_SHARE",
    "heldBack",
    "impossible",
    "waiting",
];

#[test]
fn the_first_check_that_fails_is_the_one_at_which_the_scheduler_stops() {
    each_settled((tree(), history(60)), histories(), REACHED, look_at_all);
}

#[test]
fn the_same_where_nodes_are_lent() {
    each_settled((lending_tree(), lending_history(50)), histories() / 4, &[], look_at_all);
}

#[test]
fn each_remedy_starts_its_ask_and_nothing_less_does() {
    let mut kinds = vec!["raise", "release", "shrink", "add", "starts alone"];
    if histories() >= 3_000 {
        kinds.push("resume"); // Few tenants are suspended while something of them waits.
    }
    each_settled((tree(), history(60)), histories() / 4, &kinds, remedies::are_minimal);
}

#[test]
fn what_is_supposed_is_what_follows_a_submission() {
    let kinds = ["startsNext", "waiting", "impossible", "rejected"];
    each_settled((tree(), history(60)), histories() / 4, &kinds, supposed::is_what_follows);
}

#[test]
fn the_one_that_is_said_to_be_next_is_the_next_that_is_placed() {
    let orders =
        ["PRIORITY_BEHIND", "ORDER_BEHIND", "startsNext", "placed as said", "named as placed"];
    each_state((tree(), history(60)), histories(), &orders, &between, order::is_kept);
}

/// Where every eleventh event of a history is the last: mostly something could move there.
fn between(world: &World) -> Vec<(usize, Timestamp)> {
    (11..world.journal.len()).step_by(11).map(|count| (count, world.journal[count - 1].0)).collect()
}

/// Where nothing can move, every third time.
fn settled(world: &World) -> Vec<(usize, Timestamp)> {
    let mut all: Vec<_> = world.settled.iter().skip(3).step_by(3).copied().collect();
    all.dedup_by_key(|(count, _)| *count);
    all
}

/// Play histories, and look at every ask that waits in states in which nothing can move.
fn each_settled(
    strategy: impl Strategy<Value = (Configuration, Vec<Op>)>,
    histories: u32,
    reached: &[&str],
    look: impl Fn(&Books, Timestamp, &mut BTreeMap<&'static str, u64>),
) {
    each_state(strategy, histories, reached, &settled, look);
}

/// Play histories, and look at these states of them.
#[expect(clippy::print_stdout, reason = "how often what was explained is worth knowing")]
fn each_state(
    strategy: impl Strategy<Value = (Configuration, Vec<Op>)>,
    histories: u32,
    reached: &[&str],
    states: &dyn Fn(&World) -> Vec<(usize, Timestamp)>,
    look: impl Fn(&Books, Timestamp, &mut BTreeMap<&'static str, u64>),
) {
    let counts = RefCell::new(BTreeMap::new());
    let config = Config { cases: histories, failure_persistence: None, ..Config::default() };
    let mut start = [0; 32];
    start[..4].copy_from_slice(&number_in("HEADROOM_SEED").unwrap_or(0).to_le_bytes());
    let chance = TestRng::from_seed(RngAlgorithm::ChaCha, &start);
    let mut runner = TestRunner::new_with_rng(config, chance);
    runner
        .run(&strategy, |(tree, ops)| {
            let world = play(&tree, &ops, &mut Counts::new());
            for (count, now) in states(&world) {
                look(&world.replayed_to(count), now, &mut counts.borrow_mut());
            }
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
    let counts = counts.into_inner();
    for (what, count) in &counts {
        println!("{count:>9} {what}");
    }
    for what in reached {
        assert!(counts.contains_key(what), "{what} was never explained in {histories} histories");
    }
}

fn look_at_all(books: &Books, now: Timestamp, counts: &mut BTreeMap<&'static str, u64>) {
    let (mut scheduler, mut events) = (Scheduler::new(books), Vec::new());
    scheduler.next(books, now, &mut events);
    assert_eq!(events, [], "nothing can move");
    let waiting = books.allocations().iter().filter(|(_, row)| row.is_pending());
    for (ask, row) in waiting {
        let partition = partition_of(books, ask);
        let root = books.partition(partition).root;
        if books.has_asked_enough(partition) || books.queue(root).max.is_none() {
            continue; // Nothing is looked at there, or not all.
        }
        let explanation = explain(books, &scheduler, ask).expect("it waits");
        let own = row.application;
        assert_eq!(first_in(books, &scheduler, own), first_of(books, own), "{ask}: {row:?}");
        let first = explanation.blocked_by().next().cloned();
        let told = || format!("{ask}: {row:?}\n{}", shown(books, &explanation));
        let first = first.unwrap_or_else(|| panic!("it waits for something, {}", told()));
        is_where_it_stopped(books, &scheduler, (ask, &first), &told);
        is_right(books, &explanation, &told);
        let wait = scheduler.wait_of(books, ask).expect("it waits");
        assert_eq!(wait.code(books, ask), first.code, "{}", told());
        *counts.entry(first.code.as_str()).or_default() += 1;
        *counts.entry(explanation.verdict.word()).or_default() += 1;
        if explanation.verdict == Verdict::Impossible {
            assert!(!never::starts(books, now, ask), "some releases start it, {}", told());
        }
    }
}

/// Whether a check is the one under which the scheduler put the ask aside.
fn is_where_it_stopped(
    books: &Books,
    scheduler: &Scheduler,
    (ask, first): (AllocationId, &Check),
    told: &dyn Fn() -> String,
) {
    assert_eq!(first.wait, scheduler.wait_of(books, ask), "{}", told());
    let class = scheduler.class_of(books, ask);
    if class.and_then(|class| scheduler.first_of(class)) != Some(ask) {
        return; // It is the first of its equals that was judged.
    }
    let raw = scheduler.parked_under(books, ask);
    let same = match (raw, first.blocker) {
        // A stopped queue is not checked, and neither are asks that wait for others of their leaf, or any ask before
        // the nodes have reported. The same applies to a paused partition, whatever the earlier reason of the wait.
        (None, Blocker::QueueState(_)) | (_, Blocker::RmAway(_) | Blocker::NoNodes(_)) => true,
        // So does an ask that became impossible since then, or whose application is visited as a whole.
        (_, never) if never.row().is_permanent => true,
        (_, Blocker::PartitionPaused(partition)) if books.is_recovering(partition) => true,
        (None, _) if books.is_recovering(partition_of(books, ask)) => true,

        (None, _) => {
            let application = books.application(books.allocation(ask).application);
            books.users_of(application.queue).is_some()
                || application.link.is_none()
                || books.waits_for_activation(books.allocation(ask).application)
        }
        (Some(Blocker::BehindHead(leaf, _)), Blocker::BehindHead(other, _)) => leaf == other,
        // Of nodes it is found out for who asks what is wrong with them.
        (Some(raw), first) if raw.row().kind == Kind::Node => first.row().kind == Kind::Node,
        (Some(raw), first) => raw == first,
    };
    assert!(same, "it was put aside under {raw:?}, {}", told());
}

fn partition_of(books: &Books, ask: AllocationId) -> PartitionId {
    books.application(books.allocation(ask).application).partition
}

/// Whether an explanation says nothing that is not so.
fn is_right(books: &Books, explanation: &Explanation, told: &dyn Fn() -> String) {
    let line = explanation.line(books);
    assert!(line.chars().count() <= LINE_MAX && line.starts_with(explanation.verdict.word()));
    let last = explanation.history.last();
    if let Some(since) = explanation.since {
        assert!(last.is_some_and(|mark| mark.at <= since), "{last:?} {}", told());
    }
    let place = explanation.place.unwrap_or_else(|| panic!("it stands somewhere, {}", told()));
    assert!(1 <= place.position && place.position <= place.of, "{}", told());
    assert!(place.ahead_in_partition + 1 >= place.position, "{}", told());
    assert!(place.position > own_before(books, explanation.ask), "{}", told());
    // Of several members that start together some may have a node, and not all.
    let row = books.allocation(explanation.ask);
    let partition = books.application(row.application).partition;
    let placement = books.partition(partition).settings.gang_placement;
    let together = books.members_of(row.application) > 1
        || row.placeholder && placement == GangPlacement::Whole;
    for check in &explanation.checks {
        let short =
            |short: bool| check.amounts.iter().all(|one| (one.short() > Quantity::ZERO) == short);
        assert!(short(check.failed) || is_by_share(check), "{check:?} {}", told());
        assert!(check.holders.len() <= 5 && (check.failed || check.holders.is_empty()));
        if let Some(nodes) = &check.nodes {
            let refused: usize = nodes.refused.values().sum();
            assert_eq!(nodes.fitting + refused, nodes.looked_at, "{}", told());
            assert!(nodes.nearest.len() <= 3);
            let some = nodes.fitting > 0 && !together;
            assert!(!check.failed || !some || is_lane_of_its_own(check), "{}", told());
        }
    }
}

/// How many asks of its application come before one.
fn own_before(books: &Books, ask: AllocationId) -> u64 {
    let row = books.allocation(ask);
    let key = |row: &Allocation| (Reverse(row.priority), row.created, row.number);
    let others = books.allocations_of(row.application).filter(|(_, one)| one.is_pending());
    others.filter(|(_, one)| key(one) < key(row)).count() as u64
}

/// Whether types are compared together, or what is used alone.
fn is_by_share(check: &Check) -> bool {
    matches!(
        check.blocker,
        Blocker::UserCap(..)
            | Blocker::UserShare(..)
            | Blocker::DriverQueue(_)
            | Blocker::DriverUser(..)
    )
}

/// Whether something else than room on any node is waited for.
fn is_lane_of_its_own(check: &Check) -> bool {
    matches!(
        check.blocker,
        Blocker::NodeConstraint(_) | Blocker::ReservedNodeFull(_) | Blocker::PreemptionPending(_)
    )
}
