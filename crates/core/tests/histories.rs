//! Random histories keep every invariant, and every decision is the one that sorting and
//! scanning everything would take.

use std::cell::RefCell;

use headroom_core::Millis;
use headroom_core::config::Configuration;
use headroom_core::testkit::{Counts, Op, history, lending_history, lending_tree, play, tree};
use headroom_core::userlimit::Decimal;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// How many histories to play: `HEADROOM_HISTORIES`, or enough for every day.
fn histories() -> u32 {
    number_in("HEADROOM_HISTORIES").unwrap_or(4_000)
}

/// How long to look for a smaller history that fails as well: `HEADROOM_SHRINKS`, or as long as it
/// takes.
fn shrinks() -> u32 {
    number_in("HEADROOM_SHRINKS").unwrap_or(u32::MAX)
}

/// Where chance begins: `HEADROOM_SEED`, or the same every day.
fn seed() -> u32 {
    number_in("HEADROOM_SEED").unwrap_or(0)
}

fn number_in(variable: &str) -> Option<u32> {
    std::env::var(variable).ok().and_then(|text| text.parse().ok())
}

/// What must have happened at least once, or the histories do not test it.
const REACHED: &[&str] = &[
    "Ask.Answered",
    "Ask.Asked",
    "Partition.QuestionsSet",
    "Node.VerdictsVoid",
    "RM has enough to answer",
    "answered late",
    "answered twice",
    "asked about victims",
    "asked again because a node changed",
    "given up, refused by the RM",
    "reserved after an answer",
    "placed after an answer",
    "preempted nobody, refused by the RM",
    "swap after an answer",
    "swap elsewhere after an answer",
    "refused NODE_NOT_ASKED",
    "refused UNKNOWN_QUESTION",
    "refused VICTIMS_NOT_ASKED",
    "refused by the RM",
    "waits AWAITING_RM",
    "waits NODE_CONSTRAINT",
    "woke from NODE_CONSTRAINT",
    "Application.Moved Failed",
    "Application.Moved Failing",
    "Application.Moved Resuming",
    "Application.LifetimeOver",
    "Application.DeadlineSet",
    "Application.Overtaken",
    "waits BEHIND_GANG",
    "woke from BEHIND_GANG",
    "waits BEHIND_HEAD",
    "waits HELD_FOR_HEAD",
    "woke from BEHIND_HEAD",
    "Application.LifetimeSet",
    "Application.PlaceholdersExpired",
    "an ask waits that repairs a gang",
    "Allocation.ReleaseAsked",
    "Allocation.SwapConfirmed",
    "Allocation.SwapDropped",
    "Application.TimerStopped",
    "confirmed twice",
    "gang complete",
    "rejected GANG_ORDER",
    "rejected GANG_SIZE",
    "swap dropped by the loss of a node",
    "swap on another node",
    "swap on the same node",
    "waits GANG_INCOMPLETE",
    "Application.Linked to a named group",
    "Application.Linked to no group",
    "Application.Linked to the others",
    "Application.Moved Completed",
    "Application.Moved Completing",
    "Application.Moved Running",
    "Application.Removed",
    "Ask.Removed",
    "Application.GroupUnlinked",
    "Queue.LimitsChanged",
    "Node.Removed",
    "Node.Resized",
    "Node.Scheduling",
    "Partition.Added",
    "Partition.Changed",
    "Partition.Removed",
    "Node.Reported",
    "Ask.Placed",
    "Allocation.Preempted for a guarantee",
    "Allocation.Preempted for a quota",
    "Allocation.Preempted for a required node",
    "Tenant.Set",
    "Tenant.Draining",
    "Tenant.Removed",
    "Tenant.DefaultsSet",
    "Task.Added",
    "Task.Throttled",
    "Task.Moved Cancelling",
    "Task.Moved Confirmed",
    "Task.Moved Ended Cancelled",
    "Task.Moved Ended Expired",
    "Task.Moved Ended Failed",
    "Task.Moved Ended Succeeded",
    "Task.Moved Measured",
    "Task.Moved Restarted",
    "started as a whole",
    "Task.Moved Waited",
    "refused TASK_ASK",
    "refused TASK_EXISTS",
    "refused TASK_STATE",
    "refused UNKNOWN_TASK",
    "stopped for the quota of a tenant",
    "Ask.PreemptionTried",
    "Ask.PreemptionTriggered",
    "Queue.Added",
    "Partition.RecoverySet",
    "Partition.ManagerAway",
    "Queue.Added by a rule",
    "Queue.Changed",
    "Queue.Changed by a tag",
    "Queue.Moved Active",
    "Queue.Moved Draining",
    "Queue.Moved Stopped",
    "refused LIFETIME_OVER",
    "refused NO_PARTITION_ACCESS",
    "lent a node",
    "waits NODE_BLOCKED",
    "waits NO_PARTITION_ACCESS",
    "rejected LIFETIME",
    "Queue.Removed",
    "Queue.QuotaClockStopped",
    "Allocation.Resized",
    "Allocation.Released NodeRemoved",
    "Allocation.Released PartitionRemoved",
    "Allocation.Released Preempted",
    "Allocation.Released StoppedByRm",
    "Application.BackedOff",
    "Ask.Reserved",
    "Ask.Unreserved",
    "expired",
    "linked to a group again",
    "looked at between steps",
    "placed by the RM",
    "placed in the second partition",
    "placed where applications tie",
    "placed on a required node",
    "placed on another than reserved",
    "placed on its reserved node",
    "placed where nodes tie",
    "reservation ended otherwise",
    "reserved a node",
    "reserved a required node",
    "restarted",
    "refused ASK_SIZE",
    "refused DUPLICATE_KEY",
    "refused DUPLICATE_NODE",
    "refused DUPLICATE_PARTITION",
    "refused EMPTY_NAME",
    "refused NODE_SIZE",
    "refused SUM_TOO_LARGE",
    "refused UNKNOWN_APPLICATION",
    "refused UNKNOWN_KEY",
    "refused UNKNOWN_NODE",
    "refused UNKNOWN_PARTITION",
    "rejected DUPLICATE_APPLICATION",
    "rejected PL-REJECTED",
    "waits ABS_GROUP_LIMIT",
    "waits ABS_USER_LIMIT",
    "waits BACKOFF",
    "waits GROUP_APPS",
    "waits MAX_APPS",
    "waits NODE_RESERVED",
    "waits NODE_RESOURCES",
    "waits NO_NODE_FITS",
    "waits REQUIRED_NODE_ABSENT",
    "waits IMPOSSIBLE",
    "waits QUEUE_STATE",
    "waits QUEUE_MAX",
    "waits ROOT_CAPACITY",
    "waits USER_APPS",
    "refused ABOVE_MAXIMUM_ALLOCATION",
    "woke from USER_HARD_CAP",
    "woke from USER_SHARE",
    "waits USER_HARD_CAP",
    "waits USER_SHARE",
    "Application.Activated",
    "waits PARALLEL_LIMIT",
    "waits DRIVER_LIMIT_QUEUE",
    "waits DRIVER_LIMIT_USER",
    "woke from PARALLEL_LIMIT",
    "woke from DRIVER_LIMIT_QUEUE",
    "rejected MAX_APPS_QUEUE",
    "rejected MAX_APPS_USER",
    "woke from ABS_USER_LIMIT",
    "woke from GROUP_APPS",
    "woke from MAX_APPS",
    "woke from NO_NODE_FITS",
    "woke from QUEUE_MAX",
    "woke from ROOT_CAPACITY",
    "woke from USER_APPS",
    "woken by a release",
    "woken by time",
];

/// What must have happened where nodes are lent.
const LENT: &[&str] = &[
    "lent a node",
    "took back a node that was lent",
    "Allocation.Preempted for a guarantee",
    "reserved a node",
    "restarted",
    "waits ROOT_CAPACITY",
    "waits QUEUE_MAX",
    "waits ABS_USER_LIMIT",
    "woken by a release",
];

/// What must have happened where queues hold room.
const HELD: &[&str] = &[
    "hold begins",
    "hold ends",
    "restarted",
    "waits HELD",
    "waits QUEUE_MAX",
    "Ask.Reserved",
    "Allocation.Preempted for a guarantee",
];

/// What happens where reservations are limited and queues hold room.
const LIMITED: &[&str] = &[
    "restarted",
    "hold begins",
    "Ask.Reserved",
    "woken by time",
    "placed with a hold from a line",
];

/// What a few of 2,500 histories come to: where queues hold room, and where reservations are limited besides.
const RARELY_HELD: &[&str] = &["woke from HELD"];
const RARELY_LIMITED: &[&str] =
    &["reservation given up for a hold", "reservation given up in vain"];

/// What a few of ten thousand histories come to: whether one of fewer does is a matter of the seed.
const RARE: &[&str] = &[
    "swap confirmed by the loss of a node",
    "woke from ABS_GROUP_LIMIT",
    "woke from GANG_INCOMPLETE",
];

/// How many histories are enough for what is rare.
const ENOUGH: u32 = 10_000;

/// This, if there are enough histories for it to happen.
fn if_enough(rare: &'static [&'static str]) -> &'static [&'static str] {
    if histories() >= ENOUGH { rare } else { &[] }
}

#[test]
fn random_histories_keep_every_invariant_and_reach_every_refusal() {
    reach(histories(), (tree(), history(60)), &[REACHED, if_enough(RARE)].concat());
}

#[test]
fn nodes_are_lent_and_taken_back_as_by_a_look_at_everything() {
    reach(histories() / 4, (lending_tree(), lending_history(50)), LENT);
}

#[test]
#[doc(alias = "NS-20")]
#[doc(alias = "NS-21")]
fn queues_hold_room_as_the_rules_allow_and_nobody_takes_it() {
    let holding = (tree(), 1_u64..20).prop_map(|(mut tree, seconds)| {
        for partition in &mut tree.partitions {
            partition.starvation_after = Millis::from_secs(seconds);
        }
        tree
    });
    let reached = [HELD, if_enough(RARELY_HELD)].concat();
    reach(histories() / 4, (holding, history(60)), &reached);
}

#[test]
#[doc(alias = "NS-12")]
fn reservations_stay_within_their_limits_and_pass_on() {
    let limited = (tree(), 0_i64..4, 1_u64..20).prop_map(|(mut tree, tenths, seconds)| {
        for partition in &mut tree.partitions {
            partition.reservation_share = Decimal::parse(&format!("0.{tenths}"));
            partition.starvation_after = Millis::from_secs(seconds);
        }
        tree
    });
    let reached = [LIMITED, if_enough(RARELY_LIMITED)].concat();
    reach(histories() / 4, (limited, history(60)), &reached);
}

/// Play so many histories, and see that all of this has happened.
#[expect(clippy::print_stdout, reason = "how often what happened is worth knowing")]
fn reach(
    histories: u32,
    strategy: impl Strategy<Value = (Configuration, Vec<Op>)>,
    reached: &[&str],
) {
    let counts = RefCell::new(Counts::new());
    let config = Config {
        cases: histories,
        failure_persistence: None,
        max_shrink_iters: shrinks(),
        ..Config::default()
    };
    let mut start = [0; 32];
    start[..4].copy_from_slice(&seed().to_le_bytes());
    let chance = TestRng::from_seed(RngAlgorithm::ChaCha, &start);
    let mut runner = TestRunner::new_with_rng(config, chance);
    runner
        .run(&strategy, |(tree, ops)| {
            play(&tree, &ops, &mut counts.borrow_mut());
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("HEADROOM_SEED={}: {failure}", seed()));
    let counts = counts.into_inner();
    for (what, count) in &counts {
        println!("{count:>9} {what}");
    }
    for what in reached {
        assert!(counts.contains_key(*what), "{what} never happened in {histories} histories");
    }
}
