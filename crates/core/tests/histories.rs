//! Random histories keep every invariant, and every decision is the one that sorting and
//! scanning everything would take.

use std::cell::RefCell;

use headroom_core::testkit::{Counts, history, play, tree};
use proptest::test_runner::{Config, TestRunner};

/// How many histories to play: `HEADROOM_HISTORIES`, or enough for every day.
fn histories() -> u32 {
    std::env::var("HEADROOM_HISTORIES").ok().and_then(|text| text.parse().ok()).unwrap_or(2_000)
}

#[test]
fn random_histories_keep_every_invariant_and_reach_every_refusal() {
    let counts = RefCell::new(Counts::new());
    let mut runner = TestRunner::new(Config { cases: histories(), ..Config::default() });
    runner
        .run(&(tree(), history(60)), |(tree, ops)| {
            play(&tree, &ops, &mut counts.borrow_mut());
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
    let counts = counts.into_inner();
    for (what, count) in &counts {
        println!("{count:>9} {what}");
    }
    for what in [
        "refused ASK_SIZE",
        "refused DUPLICATE_APPLICATION",
        "refused DUPLICATE_KEY",
        "refused DUPLICATE_NODE",
        "refused NODE_SIZE",
        "refused SUM_TOO_LARGE",
        "refused UNKNOWN_APPLICATION",
        "refused UNKNOWN_KEY",
        "refused UNKNOWN_NODE",
        "refused UNKNOWN_QUEUE",
        "waits ABS_GROUP_LIMIT",
        "waits ABS_USER_LIMIT",
        "waits GROUP_APPS",
        "waits MAX_APPS",
        "waits NO_NODE_FITS",
        "waits QUEUE_MAX",
        "waits ROOT_CAPACITY",
        "waits USER_APPS",
        "ApplicationLinked to a named group",
        "ApplicationLinked to no group",
        "ApplicationLinked to the others",
        "ApplicationMoved Completed",
        "ApplicationMoved Completing",
        "ApplicationMoved Running",
        "ApplicationRemoved",
        "AskRemoved",
        "NodeRemoved",
        "NodeResized",
        "NodeScheduling",
        "Placed",
        "Released NodeRemoved",
        "Released StoppedByRm",
    ] {
        assert!(counts.contains_key(what), "{what} never happened in {} histories", histories());
    }
}
