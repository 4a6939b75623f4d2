//! Records: which events are reported, in which order, and which are stored; and usage over time.
//!
//! Expected texts are written by `UPDATE_EXPECT=1 cargo test -p headroom-core --test records` and
//! read by a person.
#![allow(clippy::needless_raw_string_hashes, reason = "the tool that writes the texts adds them")]
#![allow(clippy::unwrap_used, reason = "a helper of tests fails like a test")]

mod gangs;
mod life;
mod nodes;
mod queues;
mod ring;
mod swaps;
mod usage;

use expect_test::Expect;

/// Tell the records of a story and compare.
#[expect(clippy::needless_pass_by_value, reason = "`expect!` stands at the call")]
fn check(script: &str, expected: Expect) {
    expected.assert_eq(&headroom_core::testkit::tell_records(script));
}
