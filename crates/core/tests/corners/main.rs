//! Corner cases of queues and amounts, as `docs/corner-cases.toml` lists them, of scheduling, as
//! `docs/corner-cases-scheduling.toml` does, and scenes about quotas that were asked for. Names of tests say the behaviour.
//!
//! The lines of the stories stand at `headroom_core::testkit::tell`. Expected texts are written
//! by `UPDATE_EXPECT=1 cargo test -p headroom-core --test corners` and read by a person.
#![allow(clippy::needless_raw_string_hashes, reason = "the tool that writes the texts adds them")]
#![allow(clippy::unwrap_used, reason = "a helper of tests fails like a test")]

mod application;
mod cluster;
mod gang;
mod node;
mod node_sizes;
mod properties;
mod protocol;
mod queues;
mod recovery;
mod resources;
mod scenes;
mod tree;
mod user_limits;

use expect_test::Expect;

/// Tell the story and compare.
#[expect(clippy::needless_pass_by_value, reason = "`expect!` stands at the call")]
fn check(script: &str, expected: Expect) {
    expected.assert_eq(&headroom_core::testkit::tell(script));
}
