//! From what a client sent to who is charged.

use headroom_core::Timestamp;
use headroom_engine::users::{
    CacheSettings, Echo, LookupFailure, Submitted, UserCache, UserError, UserInfo,
};
use serde_json::Value;

use super::{at, cache, info, name, unresolved};

fn submitted(user: &str, groups: &[&str], forced: bool) -> Submitted {
    let UserInfo { name, groups } = info(user, groups);
    Submitted { user: name, groups, forced }
}

fn illegal(user: &str) -> UserError {
    UserError::IllegalName { user: name(user) }
}

#[test]
fn every_kind_of_submission_has_its_answer() {
    let failed = || unresolved("eve", LookupFailure::NoSuchUser);
    for (user, groups, forced, expected) in [
        // Without a user.
        ("", &[][..], false, Err(UserError::Empty)),
        ("", &["g"], false, Err(UserError::Empty)),
        ("", &[], true, Ok(info("nobody", &["nogroup"]))),
        ("", &["g"], true, Ok(info("nobody", &["nogroup"]))),
        // With groups: nobody else is asked, and nobody looks at them.
        ("eve", &["g"], false, Ok(info("eve", &["g"]))),
        ("eve", &["g"], true, Ok(info("eve", &["g"]))),
        (
            "ann",
            &["b", "a", "b", "", "*", "a b"],
            false,
            Ok(info("ann", &["b", "a", "b", "", "*", "a b"])),
        ),
        // Without groups.
        ("ann", &[], false, Ok(info("ann", &["dev", "ops"]))),
        ("ann", &[], true, Ok(info("ann", &["dev", "ops"]))),
        ("eve", &[], false, Err(failed())),
        ("eve", &[], true, Ok(info("eve", &["nogroup"]))),
        ("alone", &[], false, Ok(info("alone", &[]))),
        // Illegal names, on every path.
        ("b!b", &["g"], false, Err(illegal("b!b"))),
        ("b!b", &["g"], true, Err(illegal("b!b"))),
        ("b!b", &[], false, Err(illegal("b!b"))),
        ("b!b", &[], true, Err(illegal("b!b"))),
        ("*", &["g"], false, Err(illegal("*"))),
    ] {
        let (directory, cache) = cache();
        directory.set("ann", &["dev", "ops"]);
        directory.set("alone", &[]);
        directory.set("b!b", &["dev"]);
        let found = cache.convert(&submitted(user, groups, forced), at(0));
        assert_eq!(found, expected, "user {user:?}, groups {groups:?}, forced {forced}");
    }
}

#[test]
fn an_illegal_name_reaches_neither_the_directory_nor_the_cache() {
    let (directory, cache) = cache();
    for groups in [&[][..], &["g"]] {
        let found = cache.convert(&submitted("b!b", groups, true), at(0));
        assert_eq!(found, Err(illegal("b!b")), "groups {groups:?}");
    }
    assert_eq!(directory.asked("b!b"), 0);
    assert_eq!(cache.entry("b!b"), None);
}

#[test]
fn groups_that_were_sent_are_remembered_in_place_of_what_was() {
    let (directory, cache) = cache();
    let without = submitted("eve", &[], false);
    let unknown = Err(unresolved("eve", LookupFailure::NoSuchUser));
    assert_eq!(cache.convert(&without, at(0)), unknown);
    assert!(cache.convert(&submitted("eve", &["g"], false), at(10)).is_ok());
    assert_eq!(cache.convert(&without, at(309)), Ok(info("eve", &["g"])));
    assert!(cache.convert(&submitted("eve", &["h"], false), at(309)).is_ok());
    assert_eq!(cache.convert(&without, at(608)), Ok(info("eve", &["h"])));
    assert_eq!(directory.asked("eve"), 1);
    assert_eq!(cache.convert(&without, at(609)), unknown, "asked for again 300 s later");
    assert_eq!(directory.asked("eve"), 2);
}

#[test]
fn what_a_forced_application_was_given_is_remembered() {
    let (_, cache) = cache();
    assert!(cache.convert(&submitted("eve", &[], true), at(0)).is_ok());
    assert_eq!(cache.convert(&submitted("eve", &[], false), at(1)), Ok(info("eve", &["nogroup"])));
    assert!(cache.convert(&submitted("", &[], true), at(0)).is_ok());
    assert_eq!(
        cache.convert(&submitted("nobody", &[], false), at(1)),
        Ok(info("nobody", &["nogroup"]))
    );
}

#[test]
fn an_entry_too_large_to_keep_takes_the_old_one_with_it() {
    let settings = CacheSettings { bytes_max: 1_000, ..Default::default() };
    let cache = UserCache::new(Echo, settings, at(0));
    assert!(cache.convert(&submitted("ann", &["dev"], false), at(0)).is_ok());
    let many = ["a group of some length"; 100];
    assert_eq!(cache.convert(&submitted("ann", &many, false), at(0)), Ok(info("ann", &many)));
    assert_eq!((cache.entry("ann"), cache.bytes()), (None, 0));
}

#[test]
fn groups_that_no_limit_can_name_are_pointed_out() {
    let info = info("ann", &["dev", "domain users", "", "a:b", "*"]);
    let found: Vec<_> = info.groups_without_legal_name().map(ToString::to_string).collect();
    assert_eq!(found, ["domain users", "", "*"]);
}

/// Every recorded submission has or has not a user as `YuniKorn` says; whether it is then
/// placed is not decided here.
#[test]
fn recorded_submissions_have_the_users_that_yunikorn_gave_them() {
    let file = "../../conformance/yunikorn/placement/placement.jsonl";
    let text = std::fs::read_to_string(file).unwrap();
    let (mut seen, mut refused) = (0, 0);
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let application = &case["application"];
        let user = application["ugi"]["user"].as_str().unwrap_or_default();
        let groups = application["ugi"]["groups"].as_array().cloned().unwrap_or_default();
        let groups: Vec<&str> = groups.iter().map(|group| group.as_str().unwrap()).collect();
        let forced = matches!(
            application["tags"]["application.create.force"].as_str(),
            Some("1" | "t" | "T" | "true" | "TRUE" | "True")
        );
        let cache = UserCache::new(Echo, CacheSettings::default(), Timestamp::ZERO);
        let found = cache.convert(&submitted(user, &groups, forced), Timestamp::ZERO);
        let reason = case["reason"].as_str().unwrap_or_default();
        let expected = match reason {
            "empty user cannot resolve" => Some("U-EMPTY"),
            "invalid username, it contains invalid characters" => Some("U-NAME"),
            _ => None,
        };
        let found = found.as_ref().err().map(UserError::code);
        assert_eq!(found, expected, "{}: {reason}", case["name"]);
        seen += 1;
        refused += usize::from(expected.is_some());
    }
    assert!(seen >= 400 && refused >= 10, "{seen} cases, {refused} without a user");
}
