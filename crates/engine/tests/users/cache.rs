//! What is remembered, and for how long.

use headroom_core::Millis;
use headroom_engine::users::testkit::FixedDatabase;
use headroom_engine::users::{ByNumber, CacheSettings, Echo, LookupFailure, UserCache, UserError};

use super::{at, cache, info, name, unresolved};

#[test]
#[doc(alias = "queues W30")]
fn user_cache() {
    let (directory, cache) = cache();
    directory.set("v", &["dev"]);
    let (u, v) = (name("u"), name("v"));
    let failed = Err(unresolved("u", LookupFailure::NoSuchUser));

    assert_eq!(cache.look_up(&u, at(0)), failed);
    assert_eq!(cache.look_up(&v, at(0)), Ok(info("v", &["dev"])));
    // From here on the directory knows u, and the cache does not.
    directory.set("u", &["ops"]);
    assert_eq!(cache.look_up(&u, at(20)), failed);
    assert_eq!(cache.tick(at(45)), at(60), "the cleaner's turn");
    assert_eq!(cache.look_up(&u, at(45)), failed);
    assert_eq!(directory.asked("u"), 1);

    assert_eq!(cache.tick(at(60)), at(120), "the cleaner's next turn");
    assert_eq!(cache.entry("u"), None);
    assert_eq!(cache.look_up(&u, at(60)), Ok(info("u", &["ops"])));

    assert_eq!(cache.look_up(&v, at(299)), Ok(info("v", &["dev"])));
    assert_eq!(directory.asked("v"), 1, "at 299 s it is remembered");
    assert_eq!(cache.look_up(&v, at(300)), Ok(info("v", &["dev"])));
    assert_eq!(directory.asked("v"), 2, "at 300 s it is asked for");
}

#[test]
#[doc(alias = "SD-04")]
fn a_group_change_counts_once_the_cache_entry_has_expired() {
    let (directory, cache) = cache();
    let user = name("user1");
    directory.set("user1", &["dev"]);
    assert_eq!(cache.look_up(&user, at(0)), Ok(info("user1", &["dev"])), "app1");
    directory.set("user1", &["test"]);
    assert_eq!(cache.look_up(&user, at(299)), Ok(info("user1", &["dev"])), "still remembered");
    assert_eq!(cache.look_up(&user, at(300)), Ok(info("user1", &["test"])), "app2");
}

#[test]
fn an_entry_resolved_again_does_not_have_its_groups_twice() {
    let (directory, cache) = cache();
    directory.set("ann", &["dev", "ops"]);
    for second in [0, 300, 600] {
        assert_eq!(cache.look_up(&name("ann"), at(second)), Ok(info("ann", &["dev", "ops"])));
    }
    assert_eq!(directory.asked("ann"), 3);
    assert_eq!(cache.entry("ann").unwrap().groups, ["dev", "ops"]);
}

#[test]
fn an_entry_resolved_again_may_fail_and_is_then_a_failure() {
    let (directory, cache) = cache();
    directory.set("ann", &["dev"]);
    assert!(cache.look_up(&name("ann"), at(0)).is_ok());
    directory.fail("ann", &[], LookupFailure::NoSuchUser);
    let failed = Err(unresolved("ann", LookupFailure::NoSuchUser));
    assert_eq!(cache.look_up(&name("ann"), at(300)), failed);
    assert_eq!(cache.entry("ann").unwrap().groups.len(), 0, "the old groups are gone");
}

#[test]
fn a_failed_list_of_groups_is_an_error_and_leaves_the_primary_group_in_the_entry() {
    let cache = UserCache::new(ByNumber(FixedDatabase), CacheSettings::default(), at(0));
    let failure = LookupFailure::Groups { reason: name("list failed") };
    let failed = Err(unresolved("no-list", failure.clone()));
    for second in [0, 30, 300] {
        assert_eq!(cache.look_up(&name("no-list"), at(second)), failed, "at {second} s");
    }
    let entry = cache.entry("no-list").unwrap();
    assert_eq!(
        (entry.groups, entry.failure, entry.resolved),
        (vec![name("dev")], Some(failure), at(0))
    );
}

#[test]
fn an_empty_name_is_an_error_and_not_remembered() {
    let (directory, cache) = cache();
    assert_eq!(cache.look_up(&name(""), at(0)), Err(UserError::Empty));
    assert_eq!(cache.entry(""), None);
    assert_eq!(directory.asked(""), 0);
}

#[test]
fn the_cleaner_takes_what_is_strictly_too_old() {
    for (positive, turn, remembered) in
        [(false, 30, true), (false, 31, false), (true, 300, true), (true, 301, false)]
    {
        let (directory, _) = cache();
        let settings = CacheSettings { clean_every: Millis::from_secs(turn), ..Default::default() };
        let cache = UserCache::new(super::Shared(directory.clone()), settings, at(0));
        if positive {
            directory.set("u", &["dev"]);
        }
        let unknown = Err(unresolved("u", LookupFailure::NoSuchUser));
        let expected = if positive { Ok(info("u", &["dev"])) } else { unknown };
        assert_eq!(cache.look_up(&name("u"), at(0)), expected);
        cache.tick(at(turn));
        assert_eq!(cache.entry("u").is_some(), remembered, "positive {positive} at {turn} s");
    }
}

#[test]
fn ages_are_counted_in_whole_seconds() {
    let (directory, cache) = cache();
    directory.set("ann", &["dev"]);
    let millis = headroom_core::Timestamp::from_millis;
    assert!(cache.look_up(&name("ann"), millis(1_999)).is_ok());
    assert_eq!(cache.entry("ann").unwrap().resolved, at(1));
    assert!(cache.look_up(&name("ann"), millis(300_999)).is_ok());
    assert_eq!(directory.asked("ann"), 1, "second 300 of an entry of second 1");
    assert!(cache.look_up(&name("ann"), millis(301_000)).is_ok());
    assert_eq!(directory.asked("ann"), 2, "second 301");
}

#[test]
fn the_cleaner_goes_by_the_wall_clock_and_a_step_back_does_not_stop_it() {
    let (_, cache) = cache();
    assert_eq!(cache.tick(at(1_000_000)), at(1_000_060));
    let unknown = Err(unresolved("u", LookupFailure::NoSuchUser));
    assert_eq!(cache.look_up(&name("u"), at(1_000_000)), unknown);
    assert_eq!(cache.tick(at(500)), at(560), "within a minute of the time that it is now");
    assert_eq!(cache.tick(at(560)), at(620));
    assert!(cache.entry("u").is_some(), "from the future, so not old");
    cache.tick(at(1_000_031));
    assert_eq!(cache.entry("u"), None);
}

#[test]
fn names_without_end_take_no_memory_without_end() {
    let settings = CacheSettings { bytes_max: 100_000, ..Default::default() };
    let cache = UserCache::new(Echo, settings, at(0));
    for number in 0..10_000 {
        let user = name(&format!("u{number}"));
        assert!(cache.look_up(&user, at(0)).is_ok());
        assert!(cache.entry(&user).is_some(), "{user} is remembered");
        assert!(cache.bytes() <= 100_000, "{} bytes after {user}", cache.bytes());
    }
    assert!(cache.bytes() > 99_000, "the room is used: {} bytes", cache.bytes());
}

#[test]
fn unknown_names_push_out_each_other_before_known_ones() {
    let (directory, _) = cache();
    directory.set("ann", &["dev"]);
    let settings = CacheSettings { bytes_max: 100_000, ..Default::default() };
    let cache = UserCache::new(super::Shared(directory), settings, at(0));
    assert!(cache.look_up(&name("ann"), at(0)).is_ok());
    for number in 0..10_000 {
        let user = format!("u{number}");
        let unknown = Err(unresolved(&user, LookupFailure::NoSuchUser));
        assert_eq!(cache.look_up(&name(&user), at(1)), unknown);
    }
    assert!(cache.entry("ann").is_some());
}

#[test]
fn the_oldest_leaves_first_when_there_is_no_room() {
    let settings = CacheSettings { bytes_max: 1_000, ..Default::default() };
    let cache = UserCache::new(Echo, settings, at(0));
    for (second, user) in [(3, "a"), (1, "b"), (2, "c")] {
        assert!(cache.look_up(&name(user), at(second)).is_ok());
    }
    let there = ["a", "b", "c"].map(|user| cache.entry(user).is_some());
    assert_eq!(there, [true, false, true]);
}
