//! Users and their groups, from what a client sends to who is charged.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod cache;
mod convert;
mod model;
mod parallel;
mod partitions;

use std::sync::Arc;

use headroom_core::{Name, Timestamp};
use headroom_engine::users::testkit::Scripted;
use headroom_engine::users::{
    Answer, CacheSettings, Directory, LookupFailure, UserCache, UserError, UserInfo,
};

/// A directory that the test goes on using while a cache owns it.
struct Shared<D>(Arc<D>);

impl<D: Directory> Directory for Shared<D> {
    fn look_up(&self, user: &str) -> Answer {
        self.0.look_up(user)
    }
}

/// A cache made at second 0, and its directory.
fn cache() -> (Arc<Scripted>, UserCache) {
    let directory = Arc::new(Scripted::default());
    let cache = UserCache::new(Shared(Arc::clone(&directory)), CacheSettings::default(), at(0));
    (directory, cache)
}

fn at(second: u64) -> Timestamp {
    Timestamp::from_millis(second * 1_000)
}

fn name(text: &str) -> Name {
    Name::new(text)
}

fn info(user: &str, groups: &[&str]) -> UserInfo {
    UserInfo { name: name(user), groups: groups.iter().map(|group| name(group)).collect() }
}

fn unresolved(user: &str, failure: LookupFailure) -> UserError {
    UserError::Unresolved { user: name(user), failure }
}
