//! Applications of which it is not known who is charged.

use headroom_core::{Name, Timestamp};
use headroom_engine::users::testkit::FixedDatabase;
use headroom_engine::users::{ByNumber, CacheSettings, Submitted, UserCache};

use crate::example::Example;

pub(crate) fn examples() -> Vec<Example> {
    vec![
        rejected("U-EMPTY", "Application `app-1` is submitted without a user:", ""),
        rejected("U-NAME", "Application `app-1` is submitted by `ann smith`:", "ann smith"),
        rejected(
            "U-UNRESOLVED",
            "The queue file sets `usergroupresolver: {type: os}`. Application `app-1` is submitted by `sue` without groups, and the machine has no such user:",
            "sue",
        ),
    ]
}

/// Returns the answer to a submission by this user without groups.
fn rejected(code: &str, asked: &str, user: &str) -> Example {
    let cache = UserCache::new(ByNumber(FixedDatabase), CacheSettings::default(), Timestamp::ZERO);
    let submitted = Submitted { user: Name::new(user), ..Submitted::default() };
    let why = cache.convert(&submitted, Timestamp::ZERO).expect_err(asked);
    Example::sentence(code, asked, (why.code(), &why.to_string()))
}
