//! Stories of the state machine between Kubernetes and the core.

#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes the texts")]

mod bind;
mod foreign;
mod gang;
mod life;
mod nodes;
mod random;
mod recovery;
mod story;

use expect_test::Expect;

fn check(story: &str, expected: &Expect) {
    expected.assert_eq(&story::play(story));
}
