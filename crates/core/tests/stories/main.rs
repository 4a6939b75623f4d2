//! Stories: a few lines in, what happened out. Each name says the behaviour that it holds.
//!
//! The lines that there are stand at `headroom_core::testkit::tell`. Expected texts are written
//! by `UPDATE_EXPECT=1 cargo test -p headroom-core --test stories` and read by a person.
#![allow(clippy::needless_raw_string_hashes, reason = "the tool that writes the texts adds them")]

mod activation;
mod applications;
mod capacity;
mod closed_queues;
mod gangs;
mod gangs_confirmations;
mod gangs_life;
mod gangs_repaired;
mod hints;
mod holds;
mod holds_and_nodes;
mod impossible;
mod labels;
mod lending;
mod life;
mod lifetimes;
mod limits;
mod lines;
mod nodes;
mod obstacles;
mod order;
mod preemption;
mod preemption_quota;
mod preemption_rules;
mod questions;
mod questions_kept;
mod questions_victims;
mod queues;
mod queues_examples;
mod reclaim;
mod refusals;
mod reload;
mod required_nodes;
mod reservations;
mod reservations_end;
mod reservations_limited;
mod scheduling_examples;
mod states;
mod tasks;
mod tasks_together;
mod tenants;
mod tenants_change;
mod tenants_checked;
mod tenants_lowered;
mod user_limits;
mod victims;
mod whole_gangs;

use expect_test::Expect;

/// Tell the story and compare. Nothing else in these tests calls the core.
#[expect(clippy::needless_pass_by_value, reason = "`expect!` stands at the call")]
fn check(script: &str, expected: Expect) {
    expected.assert_eq(&headroom_core::testkit::tell(script));
}
