//! Where applications are placed. Each name says the behaviour that it holds.
//!
//! The lines of the stories stand at `headroom_core::testkit::tell`. Expected texts are written
//! by `UPDATE_EXPECT=1 cargo test -p headroom-core --test placement` and read by a person.
#![allow(clippy::needless_raw_string_hashes, reason = "the tool that writes the texts adds them")]
#![allow(clippy::unwrap_used, reason = "a test says what failed")]

mod access;
mod many;
mod property;
mod queues;
mod reload;
mod rules;
mod scenes;

use expect_test::Expect;

/// Tell the story and compare.
#[expect(clippy::needless_pass_by_value, reason = "`expect!` stands at the call")]
fn check(script: &str, expected: Expect) {
    expected.assert_eq(&headroom_core::testkit::tell(script));
}
